"""One table of names: what one command lists the others take, or refuse in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from toprank import methods
from toprank.cli.app import toprank
from toprank.report.words import title_of
from toprank.selection.comparison.roster import Roster
from toprank.selection.model_names import (
    COMPARED_TREES,
    FITTED_TREES,
    TREES,
    compared_model,
    fit_command,
    fitted_model,
    named_models,
)


def test_every_method_has_a_name() -> None:
    every = {name.lower() for name in methods.__all__}
    assert set(named_models()) == {"head", "logistic", *TREES, *every}
    for name, model in named_models().items():
        assert model.help.endswith("."), name
        assert title_of(name) == model.title
    assert title_of("bbr") == "BBR"
    assert title_of("mine") == "mine"


def test_toprank_models_lists_them() -> None:
    shown = json.loads(CliRunner().invoke(toprank, ["models", "--json"]).stdout)
    assert shown == {name: model.help for name, model in named_models().items()}


@pytest.mark.parametrize("name", list(named_models()))
def test_what_compare_makes_fit_makes_or_says_why_not(name: str) -> None:
    roster = Roster([[0.0]], "auc", None, cv=3, random_state=0)
    if name in TREES and name not in COMPARED_TREES:
        with pytest.raises(ValueError, match=f"does not fit '{name}' yet; .* trees"):
            roster.make(name)
    else:
        assert hasattr(roster.make(name.upper()), "fit")
    if name in TREES and name not in FITTED_TREES:
        assert fit_command(name) is None
        with pytest.raises(ValueError, match=f"--model {name}: `toprank fit` does not fit"):
            fitted_model(name)
    else:
        assert str(fit_command(name)).startswith(f"toprank fit --model {name}")
        assert fitted_model(name.upper()).ranker is not None


@pytest.mark.parametrize("of", [fitted_model, compared_model])
def test_an_unknown_name_lists_what_there_is(of: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match=r"no model 'topush'\. Is it 'toppush'\? The models are"):
        of("topush")
    with pytest.raises(ValueError, match=r"no model 'xgb'\. .*head, logistic, trees,.*wsvm\."):
        of("xgb")


def test_the_command_fits_as_compare_does() -> None:
    assert fit_command("toppush") == "toprank fit --model toppush --cv 5"
    assert fit_command("head") == "toprank fit --model head"
    assert fit_command("rankboost") == "toprank fit --model rankboost"
    assert fit_command("BBR()") is None
