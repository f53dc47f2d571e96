"""One vocabulary for the whole catalogue: parameters, their order and defaults, attributes."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import toprank
from support.toy_rows import overlapping
from toprank import methods
from toprank.solvers.watch import HISTORY

X, Y = overlapping(30, 60, 4)
CATALOGUE = [getattr(toprank, name) for name in methods.__all__]
every = pytest.mark.parametrize("estimator", CATALOGUE, ids=lambda estimator: estimator.__name__)

#: What a method is first of all, and may be given by position.
FIRST = ["alpha", "fraction", "alphas", "epsilon", "n_estimators", "C", "p", "radius"]
#: Those that several methods have, in the order in which each has them.
ORDER = [*FIRST, "loss", "tol", "max_iter", "solver", "warm_start"]
#: The last ones, which every method has, but for `random_state` where there is no chance.
LAST = ["n_threads", "random_state", "verbose", "pos_label"]
#: Defaults: what is not the first value has a reason.
DEFAULTS: dict[str, dict[Any, tuple[str, list[str]]]] = {
    "alpha": {
        1e-3: ("a mean loss of one beside |w|^2 / 2000", []),
        None: ("1e-3, or 0 where a radius is given", ["BBR", "LCBR"]),
        1 / 800: ("the paper's C is 0.1 then, with 8000 pairs", ["ASCRC", "ASRankSVM"]),
    },
    "tol": {
        1e-4: ("more digits change no list", []),
        1e-3: (
            "the hinge, and worst cases over rankings, whose last digits cost most",
            ["AATP", "ASCRC", "ASRankSVM", "OWPC", "RankSVM", "SVMMAP", "SVMpAUC", "WSVM"],
        ),
        1e-6: ("the fall of a criterion in a step, not a gap", ["QuantileSigmoid"]),
        1e-5: ("margins are told to the fifth digit", ["LPPair", "SoftMarginRank"]),
    },
    "max_iter": {
        1000: ("far more steps than a fit takes", []),
        10_000: (
            "epochs of dual descent, which are cheap",
            ["InfinitePush", "RectPush", "ReverseRectPush", "TopPush"],
        ),
        5: ("passes, where steps have settled", ["AdaOAM", "OPAUC", "SPAM"]),
        1: ("a pass: online a row is seen once", ["OAM"]),
        100_000: ("steps on single pairs", ["CRR"]),
    },
    "epsilon": {
        0.5: ("the worse half of the pairs", []),
        0.2: ("boosting guarantees (1 - sqrt(epsilon))^2 of the pairs", ["SoftRankBoost"]),
    },
    "weak_learners": {
        "linear": ("a linear score at heart", []),
        "stumps": ("what boosting is used with", ["RankBoost", "SoftRankBoost"]),
    },
    "loss": {
        "squared_hinge": ("smooth, and zero where a row is clear", []),
        "hinge": ("the loss of the paper", ["CRR", "InfinitePush", "RankSVM"]),
    },
    "n_estimators": {
        100: ("rounds that regularise", []),
        2000: ("rounds that go up as 1 / delta^2", ["SoftRankBoost"]),
    },
    "learning_rate": {
        "auto": ("as long as no step can blow up", []),
        0.1: ("adaptive: the first step moves every weight by that much", ["AdaOAM"]),
        10.0: ("the cap holds the first steps back", ["SPAM"]),
    },
    "p": {
        4.0: ("the head counts, and steps stay stable", []),
        1.0: ("RankBoost itself; above it is the P-Norm Push", ["RankBoost"]),
    },
    "fraction": {0.1: ("a tenth of a list", [])},
    "solver": {"auto": ("chosen by what it costs", [])},
    "warm_start": {False: ("as in scikit-learn", [])},
    "gamma": {0.5: ("as many pairs as points", [])},
    "radius": {None: ("no ball", [])},
    "nu": {None: ("epsilon says it", [])},
    "nonnegative": {False: ("weights of both signs", [])},
    "shuffle": {True: ("rows may come sorted", [])},
    "on_trivial": {"raise_epsilon": ("a list is wanted", [])},
    "n_threads": {None: ("all cores", [])},
    "random_state": {None: ("as in scikit-learn", [])},
    "verbose": {0: ("silent", [])},
    "pos_label": {None: ("the greater label, and it is said", [])},
    "n_pairs": {
        8000: ("the paper's B", []),
        "auto": ("by the number of features", ["LCBR"]),
    },
    "batch_size": {100: ("the paper's b", [])},
    "strategy": {"soft-correct": ("pairs with a loss only", [])},
    "weighting": {"rate": ("what was unlikely to be drawn counts for more, within bounds", [])},
}


def parameters(estimator: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(estimator).parameters)


def shared() -> dict[str, list[Any]]:
    """The parameters of more than one method, and the methods that have them."""
    found: dict[str, list[Any]] = {}
    for estimator in CATALOGUE:
        for name in parameters(estimator):
            found.setdefault(name, []).append(estimator)
    return {name: having for name, having in found.items() if len(having) > 1}


@every
def test_parameters_come_in_one_order(estimator: Any) -> None:
    names = list(parameters(estimator))
    last = [name for name in LAST if name in names]
    assert names[-len(last) :] == last
    assert {"n_threads", "verbose", "pos_label"} <= set(last)
    ordered = [name for name in names if name in ORDER]
    assert ordered == [name for name in ORDER if name in names]


@every
def test_only_what_a_method_is_about_goes_by_position(estimator: Any) -> None:
    kinds = [one.kind for one in parameters(estimator).values()]
    by_position = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert 1 <= by_position <= 2
    assert set(list(parameters(estimator))[:by_position]) <= set(FIRST)


def test_defaults_are_the_same_or_have_a_reason() -> None:
    for name, having in shared().items():
        for estimator in having:
            default = parameters(estimator)[name].default
            assert default in DEFAULTS[name], (name, estimator.__name__, default)
            usual = next(iter(DEFAULTS[name]))
            reason, exceptions = DEFAULTS[name][default]
            assert reason
            assert default == usual or estimator.__name__ in exceptions, (name, estimator.__name__)


def test_no_reason_is_left_over() -> None:
    assert set(DEFAULTS) == set(shared())
    for name, values in DEFAULTS.items():
        for value, (_, exceptions) in values.items():
            for exception in exceptions:
                assert parameters(getattr(toprank, exception))[name].default == value


def fitted(estimator: Any) -> Any:
    few = {"n_estimators": 5, "n_pairs": 200, "epsilon": 0.5, "random_state": 0}
    ranker = estimator()
    ranker.set_params(**{k: v for k, v in few.items() if k in ranker.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(X, Y)


#: Attributes of every fit; then those where a name means one thing wherever it is found.
ALWAYS = {"classes_", "n_features_in_", "n_iter_", "intercept_"}
MEANINGS = {
    "coef_": lambda ranker, value: value.shape == (1, X.shape[1]),
    "intercept_": lambda ranker, value: value.shape == (1,),
    "n_iter_": lambda ranker, value: value > 0,
    "certificate_": lambda ranker, value: isinstance(value, toprank.Certificate),
    "history_": lambda ranker, value: value.dtype == HISTORY and len(value) > 0,
    "trivial_": lambda ranker, value: value is False,
    "solver_": lambda ranker, value: re.fullmatch("[a-z]+(-[a-z]+)*", value),
    "pairs_guaranteed_": lambda ranker, value: 1 < value <= (Y == 1).sum() * (Y == 0).sum(),
    "share_guaranteed_": lambda ranker, value: 0 < value < 1,
    "ranker_weights_": lambda ranker, value: value.ndim == 1,
    "features_": lambda ranker, value: value.dtype == np.int64,
    "t_": lambda ranker, value: value >= ranker.n_iter_,
    "n_pairs_": lambda ranker, value: value > 1,
    "gamma_upper_": lambda ranker, value: 0 < value <= 1,
}
#: Methods without a certificate: they take steps, and end near no optimum that could be bounded.
STEPS = {"AdaOAM", "CRR", "OAM", "OPAUC", "QuantileSigmoid", "RankBoost", "SPAM", "SoftRankBoost"}


@every
def test_a_name_means_one_thing(estimator: Any) -> None:
    ranker = fitted(estimator)
    names = {name for name in vars(ranker) if name.endswith("_")}
    assert names >= ALWAYS
    for name in names & MEANINGS.keys():
        assert MEANINGS[name](ranker, getattr(ranker, name)), name
    if estimator.__name__ not in STEPS:
        assert names >= {"certificate_", "history_", "trivial_", "solver_"}


@every
def test_every_attribute_is_documented_and_every_documented_one_is_there(estimator: Any) -> None:
    ranker = fitted(estimator)
    text = inspect.getdoc(estimator) or ""
    section = text[text.index("Attributes\n---") :]
    section = section[: section.index("See Also\n---")]
    documented = {
        name
        for line in re.findall(r"^(\w+_(?:, \w+_)*) :", section, re.MULTILINE)
        for name in line.split(", ")
    }
    own = {name for name in vars(ranker) if name.endswith("_") and not name.startswith("_")}
    assert own <= documented
    # Names are there where X has names; these depend on the weak learners that were asked for.
    others = {"feature_names_in_", "coef_", "features_", "thresholds_", "missing_above_"}
    assert documented - own <= others | {"feature_importances_"}


@every
def test_nothing_is_left_of_the_fit_before(estimator: Any) -> None:
    ranker = fitted(estimator)
    ranker.left_over_ = 1
    again = fitted(lambda: clone(ranker))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(X, Y)
    assert vars(ranker).keys() - {"_solution"} == vars(again).keys() - {"_solution"}
