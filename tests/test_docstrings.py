"""A name means one thing: parameters and attributes of the same name have the same text."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

import pytest

from toprank import methods

#: Names whose texts begin alike and go on differently, with the beginning and the reason.
BEGIN_ALIKE = {
    "alpha": ("Strength of the regularisation", "the paper's symbol for it differs"),
    "certificate_": ("`primal`, `dual`, `gap` and `relative_gap`", "of which problem"),
    "classes_": ("The labels; the second is the positive class.", "LCBR may see pairs only"),
    "coef_": ("The weights", "of what"),
    "converged_": ("Whether", "the rule that ends boosting differs"),
    "epsilon": ("The share of", "what the share may do differs"),
    "feature_importances_": (
        "The share of every feature in the sizes of `ranker_weights_`; they sum to one.",
        "LPPair and SoftMarginRank have stumps among others",
    ),
    "features_": (
        "The feature of every base ranker in the score",
        "boosting has one for each round",
    ),
    "fraction": ("f, the share of ", "the negatives' weight, or all rows"),
    "gamma": ("The probability", "of a proposal, or of a step"),
    "gamma_lower_": (
        "The soft margin over all pairs that the weights have",
        "SoftMarginRank has its optimum from another problem",
    ),
    "gamma_upper_": (
        "The soft margin over all pairs that",
        "one text of both bounds, or of the upper one alone",
    ),
    "history_": ("One row for each", "what a step is differs"),
    "intercept_": (
        "Minus the threshold above which `predict` calls a row positive: ",
        "each method puts it where it belongs",
    ),
    "learning_rate": ("The length of the", "steps shrink by different rules"),
    "loss": ("l(", "the losses on offer differ"),
    "max_iter": ("The most", "what a step is differs"),
    "multiplier_": ("What the ball adds to alpha: 0", "BBRCV has no ball"),
    "n_estimators": ("The most rounds.", "few rounds regularise RankBoost"),
    "n_features_in_": ("Features", "LCBR may see pairs only"),
    "n_pairs": ("Pairs that", "of one kind, of two, or by the number of features"),
    "n_pairs_": ("Pairs", "drawn, or seen"),
    "n_threads": ("Threads for", "what is done by threads differs"),
    "p": ("How hard the highest negatives are pushed down, at least 1: ", "three losses do it"),
    "pair_weight_": ("c_q. They sum to one", "ASCRC has pairs of two kinds"),
    "pairs_": ("The positive and the negative row of every pair", "ASCRC has points too"),
    "pairs_guaranteed_": (
        "The number (not the share) of pairs that are guaranteed a margin of at least `rho_`",
        "which pairs",
    ),
    "random_state": ("Decides the", "what is drawn differs"),
    "ranker_weights_": (
        "The weight of every base ranker in the score",
        "boosting has one for each round",
    ),
    "rho_": ("The margin that `pairs_guaranteed_` pairs are guaranteed", "where it comes from"),
    "solver_": ("The algorithm that finished the fit: ", "those there are"),
    "strategy": ("How pairs are drawn, by", "a margin of a point is another formula"),
    "t_": ("Counted since the weights were zero: ", "of rows, or of draws"),
    "thresholds_": (
        "The threshold of every base ranker in the score",
        "boosting has two kinds with a threshold",
    ),
    "tol": ("The relative ", "gap, of which solver or round; or the fall in a step"),
    "trivial_": ("Whether", "no weights are better than none, or no base ranker has an edge"),
    "verbose": ("Print", "what there is to print differs"),
    "warm_start": ("Start from the last fit: ", "what for, or what CRR keeps of it"),
    "weak_learners": ("The base rankers h", "those on offer differ"),
    "weighting": ("What c_q is proportional to", "ASCRC has pairs of two kinds"),
}
#: Names whose texts have nothing in common, and why.
DIFFER = {
    "n_iter_": "each method counts what takes its time",
    "solver": "each has solvers of its own",
}
REFERENCE = re.compile(r"\b[Aa]s (?:for|in) `(\w+)`")


def fields(name: str) -> dict[str, tuple[str, str]]:
    """The type, without a default, and the text of every parameter and attribute of a class."""
    sections = re.split(
        r"^([\w ]+)\n-+$", inspect.getdoc(getattr(methods, name)), flags=re.MULTILINE
    )
    found = {}
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        if title in ("Parameters", "Attributes"):
            entries = re.finditer(r"^(\S.*?) : (.*)\n((?: {4}.*\n|\n)*)", body + "\n", re.MULTILINE)
            for names, kind, text in (entry.groups() for entry in entries):
                for one in names.split(", "):
                    found[one] = (kind.partition(", default=")[0], " ".join(text.split()))
    return found


FIELDS = {name: fields(name) for name in methods.__all__}
OWNERS = defaultdict(list)
for _owner, _own in FIELDS.items():
    for _name in _own:
        OWNERS[_name].append(_owner)
SHARED = sorted(name for name, owners in OWNERS.items() if len(owners) > 1)


@pytest.mark.parametrize("name", SHARED)
def test_a_name_has_one_text(name: str) -> None:
    texts = {}
    for owner in OWNERS[name]:
        kind, text = FIELDS[owner][name]
        reference = REFERENCE.search(text)
        if reference:
            assert name in FIELDS[reference[1]], f"{owner} refers to what is not there"
        else:
            texts[owner] = (kind, text)
    if name in DIFFER:
        assert len(set(texts.values())) > 1, "it differs no more: take it off the list"
    elif name in BEGIN_ALIKE:
        beginning, _ = BEGIN_ALIKE[name]
        assert len(set(texts.values())) > 1, "it differs no more: take it off the list"
        assert [owner for owner, (_, text) in texts.items() if not text.startswith(beginning)] == []
    else:
        assert len(set(texts.values())) == 1, texts


def test_the_lists_hold_names_that_are_shared() -> None:
    assert set(BEGIN_ALIKE) | set(DIFFER) <= set(SHARED)
    assert not set(BEGIN_ALIKE) & set(DIFFER)
    # What makes an estimator one of scikit-learn's is said everywhere.
    for name in ("classes_", "n_features_in_"):
        assert len(OWNERS[name]) == len(methods.__all__)
