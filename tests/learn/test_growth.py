from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import PalaestraError, RunError
from palaestra.games.registry import make_game
from palaestra.learn.config_check import trainable
from palaestra.learn.events import Event, Warned
from palaestra.learn.growth import due
from palaestra.learn.learner import TrainReport
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.learn.trainer import Trainer
from palaestra.nets.boards import read_written
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.players.runs import open_run
from tests.learn.fakes import tree_of
from tests.learn.test_course import small, with_stops
from tests.nets.reference import random_positions

pytestmark = pytest.mark.usefixtures("quick_disk")
GROWING = ("net=b1c4", 'growth.nets=["b1c8", "b2c8"]', "growth.after=[0.3, 0.6]")


def test_a_network_grows_when_its_share_of_the_run_has_passed_and_never_shrinks() -> None:
    config = small("othello-4x4", *GROWING)
    shares = (0.0, 0.29, 0.3, 0.59, 0.6, 1.0)
    assert [due(config, "b1c4", share) for share in shares] == ["b1c4", "b1c4", "b1c8", "b1c8", "b2c8", "b2c8"]
    assert due(config, "b2c8", 0.1) == "b2c8", "a run that was extended"


def test_a_run_says_which_network_it_has_and_each_of_its_files_is_of_its_own(tmp_path: Path) -> None:
    heard: list[Event] = []
    train(small("othello-4x4", *GROWING, iterations=4), tmp_path / "run", [heard.append])
    run = open_run(str(tmp_path / "run"))
    assert run.net == "b2c8"
    nets = [read_written(run.network(number), "").net for number in range(5)]
    assert nets == ["b1c4", "b1c4", "b1c4", "b1c8", "b2c8"]
    changed = [(change["after_iteration"], change["changed"]) for change in run.manifest.history]
    assert changed == [(2, ["net grew from b1c4 to b1c8"]), (3, ["net grew from b1c8 to b2c8"])]
    notes = [event.message for event in heard if isinstance(event, Warned)]
    assert notes[0] == "iteration 3: the network grows from b1c4 to b1c8"


def test_what_was_learned_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is trained after it, the grown network says what the smaller one said."""

    def none(self: Trainer, *given: object) -> TrainReport:
        return real(self, iter(()), 0, 0.0)

    real = Trainer.train
    monkeypatch.setattr(Trainer, "train", none)
    train(small("othello-4x4", *GROWING, iterations=4), tmp_path / "run")
    run, game = open_run(str(tmp_path / "run")), make_game("othello-4x4")
    planes = game.observe(random_positions(game, 40))
    before, after = (OnnxEvaluator(game, run.network(number)).forward(planes) for number in (1, 4))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("sets", [GROWING, ("net=r1c4", *GROWING[1:2], *GROWING[2:], 'course.games=["3x3"]')])
def test_a_growing_run_that_stops_after_every_iteration_ends_with_the_same_bits(
    tmp_path: Path, sets: tuple[str, ...]
) -> None:
    sets = tuple(one.replace('"b', '"r') if sets[0] == "net=r1c4" else one for one in sets)
    config = small("hex-4x4", *sets, iterations=4)
    train(config, tmp_path / "whole")
    with_stops(config, tmp_path / "run")
    assert tree_of(tmp_path / "run") == tree_of(tmp_path / "whole")


def test_a_run_that_is_full_can_be_extended_with_a_larger_network(tmp_path: Path) -> None:
    train(small("othello-4x4", "net=b1c4", iterations=1), tmp_path / "run")
    resume(tmp_path / "run", ('growth.nets=["b2c8"]', "growth.after=[0.5]"), iterations=3)
    assert open_run(str(tmp_path / "run")).net == "b2c8"
    with pytest.raises(RunError, match=r"the run has b2c8 now, which growth.nets must keep: b1c4 lack it"):
        resume(tmp_path / "run", ("growth.nets=[]", "growth.after=[]"), iterations=4)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (('growth.nets=["b4c48"]',), "growth.after has to say for each of the 1 growth.nets when it begins"),
        (('growth.nets=["b4c48", "b6c64"]', "growth.after=[0.5, 0.5]"), "each larger than the one before"),
        (('growth.nets=["b4c48"]', "growth.after=[1]"), "between 0 and 1"),
        (('growth.nets=["b4c48"]', "growth.after=[0.5]", "gate.kind=threshold"), "would have to shrink; set it to off"),
        (('growth.nets=["b3c16"]', "growth.after=[0.5]"), "b3c32 cannot grow into b3c16"),
        (('growth.nets=["r4c48"]', "growth.after=[0.5]"), "b3c32 cannot grow into r4c48: that is another kind"),
        (('growth.nets=["b4x48"]', "growth.after=[0.5]"), "unknown network 'b4x48'"),
    ],
)
def test_growth_that_cannot_be_is_refused_in_one_line(sets: tuple[str, ...], message: str) -> None:
    with pytest.raises(PalaestraError, match=message) as refused:
        trainable(configure("othello-4x4", "fast", sets, iterations=2), make_game("othello-4x4"))
    assert "\n" not in str(refused.value)
