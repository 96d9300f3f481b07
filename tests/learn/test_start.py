from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.live.exported import export_network
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.players.runs import open_run
from palaestra.players.shipped import find_card, network
from palaestra.runs.manifest import digest
from palaestra.runs.overview import describe
from tests.learn.fakes import tree_of
from tests.learn.test_course import SMALL, with_stops
from tests.nets.reference import leaves_of, random_model, random_positions

pytestmark = pytest.mark.usefixtures("quick_disk")
WITHOUT_NET = SMALL[1:]


def start_from(text: str | Path, *sets: str, game: str = "othello-6x6", **given: Any) -> RunConfig:
    return configure(game, "fast", (*WITHOUT_NET, *sets), iterations=2, threads=1, start=str(text), **given)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on a small board."""
    folder = tmp_path_factory.mktemp("runs") / "old"
    train(configure("othello-4x4", "fast", SMALL, iterations=2, threads=1), folder)
    return folder


def test_a_run_starts_with_another_s_weights_and_with_its_network(tmp_path: Path, old: Path) -> None:
    config = start_from(f"run:{old}")
    assert config.net == "r1c8", "and not the preset's"
    train(config, tmp_path / "new")
    before, after = open_run(str(old)), open_run(str(tmp_path / "new"))
    for id in ("othello-4x4", "othello-6x6"):
        game = make_game(id)
        leaves = leaves_of(game, random_positions(game, 40))
        one, other = (OnnxEvaluator(game, model)(leaves) for model in (before.network(2), after.network(0)))
        np.testing.assert_allclose(one.logits, other.logits, atol=2e-5)
        np.testing.assert_allclose(one.values, other.values, atol=2e-5)
    taken = digest(before.network(2))
    note = f"started with the weights of run:{old}@2: r1c8 for othello-4x4, SHA-256 {taken}"
    assert after.manifest.history == ({"after_iteration": 0, "changed": [note]},)
    assert note in (tmp_path / "new/config.toml").read_text()
    assert describe(tmp_path / "new").start == f"run:{old}"


def test_resuming_does_not_need_the_old_run_and_gives_the_same_bits(tmp_path: Path, old: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(old, copy)
    config = start_from(f"run:{copy}@1")
    train(config, tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    with_stops(config, tmp_path / "parts")
    shutil.rmtree(copy)
    resume(tmp_path / "again", iterations=3)
    resume(tmp_path / "whole", iterations=3)
    assert tree_of(tmp_path / "again") == tree_of(tmp_path / "whole")
    with pytest.raises(ConfigError, match=r"start cannot change from .* it began from those weights"):
        resume(tmp_path / "parts", ["start=none"])


def test_an_agent_of_the_package_is_as_good_as_its_file(tmp_path: Path) -> None:
    card = find_card("tic_tac_toe-3x3")
    config = configure(card.game, "fast", WITHOUT_NET, iterations=1, threads=1, start=f"agent:{card.game}")
    assert config.net == card.net
    train(config, tmp_path / "run")
    run, game = open_run(str(tmp_path / "run")), make_game(card.game)
    leaves = leaves_of(game, random_positions(game, 40))
    one, other = (OnnxEvaluator(game, model)(leaves) for model in (network(card), run.network(0)))
    np.testing.assert_allclose(one.logits, other.logits, atol=2e-5)
    assert f"started with the weights of agent:{card.game}" in str(run.manifest.history)


def test_an_exported_file_is_as_good_as_the_run_it_came_from(tmp_path: Path, old: Path) -> None:
    export_network(str(old), tmp_path / "old.onnx", game="othello-5x5")
    train(start_from(tmp_path / "old.onnx"), tmp_path / "file")
    train(start_from(f"run:{old}"), tmp_path / "run")
    networks = [open_run(str(tmp_path / name)).network(0) for name in ("file", "run")]
    assert networks[0] == networks[1]


def test_a_run_of_several_kinds_starts_from_one_of_the_same_kinds_only(tmp_path: Path, old: Path) -> None:
    both = ("net=r1c8", 'course.games=["hex-4x4"]')
    train(start_from_nothing(*both), tmp_path / "both")
    train(start_from(f"run:{tmp_path / 'both'}", 'course.games=["hex-5x5"]'), tmp_path / "larger")
    with pytest.raises(PalaestraError, match=r"learned hex, othello and this run has othello-6x6: .* planes name them"):
        train(start_from(f"run:{tmp_path / 'both'}"), tmp_path / "one")
    assert not (tmp_path / "one").exists()


def start_from_nothing(*sets: str) -> RunConfig:
    return configure("othello-4x4", "fast", (*WITHOUT_NET, *sets), iterations=1, threads=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": "run:{old}", "net": "r1c4"}, "r1c8 cannot grow into r1c4: a network grows in blocks and channels"),
        ({"start": "run:{old}", "net": "b1c8"}, "r1c8 cannot grow into b1c8: that is another kind of network; --set"),
        ({"start": "run:{old}", "game": "hex-5x5"}, "sees in 2 planes, and hex-5x5 has 3"),
        ({"start": "run:{old}", "game": "connect_four-4x4"}, "does not fit connect_four-4x4: .* lacks the weights"),
        ({"start": "run:{old}@9"}, "has no network '9'; it has best, last, 0, 1, 2"),
        ({"start": "run:{old}(simulations=3)"}, "without a search: run:NAME@best"),
        ({"start": "run:nothing"}, "'nothing' is not a run"),
        ({"start": "agent:nothing"}, "no agent for 'nothing' comes with the package"),
        ({"start": "agent:tic_tac_toe-3x3(level=easy)"}, "without a search: run:NAME@best"),
        ({"start": "agent:tic_tac_toe-3x3"}, "does not fit othello-6x6"),
        ({"start": "{files}/nothing.onnx"}, "cannot read this file"),
        ({"start": "{files}/broken.onnx"}, "cannot be read as ONNX"),
        ({"start": "{files}/b.onnx"}, "the weights of b1c8 belong to one board, those of r3c32 to none"),
        ({"start": "{files}/stranger.onnx"}, "was not written by Palaestra"),
    ],
)
def test_weights_that_do_not_fit_are_refused_in_one_line_and_leave_nothing(
    tmp_path: Path, old: Path, given: dict[str, str], message: str
) -> None:
    from onnx import helper, save

    save(helper.make_model(helper.make_graph([], "g", [], [])), str(tmp_path / "stranger.onnx"))
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff\xff")
    (tmp_path / "b.onnx").write_bytes(random_model(make_game("othello-4x4"), "b1c8"))
    texts = {name: text.format(old=old, files=tmp_path) for name, text in given.items()}
    with pytest.raises(PalaestraError, match=message) as error:
        train(start_from(texts.pop("start"), **texts), tmp_path / "new")
    assert "\n" not in str(error.value) and not (tmp_path / "new").exists()
