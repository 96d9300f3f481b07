"""`import palaestra`: the same names, defaults and results as the command."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import palaestra as pl
from palaestra.base.cores import usable_cores
from palaestra.base.errors import GameError
from palaestra.cli.main import build_app
from palaestra.live import defaults
from tests.live.conftest import SMALL

DOCUMENTED = ["palaestra", *sorted({home for home in pl._HOMES.values() if home.startswith("palaestra.live")})]


@pytest.mark.parametrize("module", DOCUMENTED)
def test_examples_in_docstrings_are_true(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, palaestra; dir(palaestra); print([m for m in ('numpy', 'torch', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", pl.__all__)
def test_every_name_is_there_and_says_what_it_is_for(name: str) -> None:
    assert name == "__version__" or inspect.getdoc(getattr(pl, name))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pl.nonsense  # noqa: B018


@pytest.mark.parametrize("verb", ["match", "tournament", "evaluate", "solve", "analyse", "review"])
def test_options_of_the_command_have_the_same_defaults(verb: str) -> None:
    """What both call by the same name; a text option that is empty means None."""
    from palaestra.cli import ratings

    command = next(one.callback for one in build_app().registered_commands if one.name == verb)
    assert command is not None
    own = inspect.signature(getattr(pl, verb)).parameters
    given = inspect.signature(command).parameters
    texts = {"32.8": defaults.ADVANTAGE, "97.3": defaults.DRAW, "2": defaults.PRIOR, "100": 100, "": None}
    assert (ratings.ADVANTAGE, ratings.DRAW, ratings.PRIOR) == ("32.8", "97.3", "2")
    shared = [name for name in own if name in given and own[name].default is not inspect.Parameter.empty]
    assert len(shared) >= 2
    for name in shared:
        expected = given[name].default
        if name != "moves":
            expected = texts.get(expected, expected)
        assert own[name].default == expected, name


def test_a_configuration_is_what_the_command_would_take() -> None:
    solo = pl.configure("morpion-5d")
    assert solo == pl.configure("morpion-5d", "record") and solo.threads == usable_cores()
    assert pl.configure("connect_four").game == "connect_four-6x7"
    assert pl.configure(pl.make_game("hex-5x5"), seed=3) == pl.configure("hex-5x5", seed=3)


def test_a_game_object_of_ones_own_is_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "examples"
    monkeypatch.syspath_prepend(str(source))
    domineering = importlib.import_module("domineering")
    assert pl.configure(domineering.GAME).game == "domineering:GAME"
    from palaestra.games.registry import text_of

    assert pl.make_game(text_of(domineering.GAME)) is domineering.GAME
    from dataclasses import replace

    with pytest.raises(GameError, match="has no name by which"):
        pl.configure(replace(domineering.GAME, id="nameless"))


def test_training_shows_the_commands_view_and_gives_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = pl.configure("tic_tac_toe-3x3", "fast", SMALL, iterations=1, threads=1)
    run = pl.train(config, "first", progress=True)
    assert "iteration 1; 16 games" in capsys.readouterr().err
    assert (run.name, run.iterations, run.state) == ("first", 1, "finished")
    longer = pl.resume(run, iterations=2)
    assert longer.iterations == 2 and longer.curve("losses", "policy")[-1][0] == 2
    assert capsys.readouterr().err == "", "silent unless progress is asked for"
    assert json.loads(json.dumps(longer.document()))["lines"][1]["iteration"] == 2
    assert "tic_tac_toe-3x3, 2 iterations" in repr(longer) and "<svg" in longer._repr_html_()
    assert [row.name for row in pl.list_runs()] == ["first"] and "first" in pl.list_runs()._repr_html_()
    assert pl.load_run("first").player(simulations=5).text == "run:first@best(simulations=5)"
    judged = pl.evaluate(longer, games=2, against=["random"], simulations=2, threads=1)
    assert judged.document()["network"] == longer.best and judged.error_rate is not None
    assert "against" in judged._repr_html_() and "random (2 sims)" in repr(judged)
    assert pl.match("tic_tac_toe-3x3", longer.text(0, simulations=2), "random", 2).result.games == 2


def test_a_network_is_a_torch_module() -> None:
    import torch

    game = pl.make_game("tic_tac_toe-3x3")
    network = pl.make_network("b1c8", game)
    policy, value = network(torch.as_tensor(game.observe(game.initial(2))))
    assert policy.shape == (2, game.num_actions) and len(value) == 2
