"""One table of names: what one command lists the others take, or refuse in a sentence."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from toprank import methods
from toprank.cli.app import toprank
from toprank.cli.models import build
from toprank.report.words import title_of
from toprank.selection.comparison.models import ModelMaker
from toprank.selection.named_models import fit_command, named_model, named_models


def test_every_method_has_a_name() -> None:
    every = {name.lower() for name in methods.__all__}
    heads = {"head", "head-fast", "head-best", "trees", "lightgbm", "forest"}
    assert set(named_models()) == {*heads, "logistic", *every}
    for name, model in named_models().items():
        assert model.help.endswith("."), name
        assert title_of(name) == model.title
    assert title_of("bbr") == "BBR"
    assert title_of("mine") == "mine"


def test_toprank_models_lists_them() -> None:
    shown = json.loads(CliRunner().invoke(toprank, ["models", "--json"]).stdout)
    assert shown == {name: model.help for name, model in named_models().items()}


@pytest.mark.parametrize("name", list(named_models()))
def test_what_compare_makes_fit_makes(name: str) -> None:
    maker = ModelMaker([[0.0]], "auc", None, cv=3, random_state=0)
    assert hasattr(maker.make(name.upper()), "fit")
    assert str(fit_command(name)).startswith(f"toprank fit --model {name}")
    made = build(
        name,
        alpha=None,
        folds=None,
        capacity=None,
        list_size=None,
        budget=None,
        n_rows=100,
        sparse=False,
    )
    assert hasattr(made, "fit")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"no model 'topush'\. Is it 'toppush'\? The models are"):
        named_model("topush")
    with pytest.raises(ValueError, match=r"no model 'xgb'\. .*head, head-fast,.*logistic,.*wsvm\."):
        named_model("xgb")


def test_the_command_fits_as_compare_does() -> None:
    assert fit_command("toppush") == "toprank fit --model toppush --cv 5"
    assert fit_command("head") == "toprank fit --model head"
    assert fit_command("head-best") == "toprank fit --model head-best"
    assert fit_command("rankboost") == "toprank fit --model rankboost"
    assert fit_command("BBR()") is None
