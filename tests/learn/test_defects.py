"""Each defect that is switched on changes what it is about (sources: defects of public code)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn.config import DefectsConfig, LearnConfig, RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.gate import judge
from palaestra.learn.loop import train
from palaestra.learn.replay import Replay
from palaestra.learn.selfplay import play_games
from palaestra.learn.trainer import Trainer
from tests.learn.fakes import FAKES, tiny
from tests.learn.selfplay_games import model, run_config
from tests.learn.test_replay import random_examples
from tests.players.run_folders import random_model

FOUR = make_game("connect_four-4x4")


def with_defect(config: RunConfig, **defects: bool) -> RunConfig:
    return config.model_copy(update={"defects": DefectsConfig(**defects)})


def test_l1_turns_boards_and_not_their_policies() -> None:
    replay = Replay(1)
    replay.add(1, random_examples(FOUR, 40))
    right, wrong = (
        next(replay.batches(FOUR, LearnConfig(batch=64), np.random.default_rng(2), turn_policies=turned))
        for turned in (True, False)
    )
    assert np.array_equal(right.planes, wrong.planes)
    mirrored = [row for row in range(64) if not np.array_equal(right.policy[row], wrong.policy[row])]
    assert 20 < len(mirrored) < 44, "about half of all boards are mirrored"
    for row in mirrored:
        assert np.array_equal(right.policy[row], wrong.policy[row, ::-1])


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("setting", ["defects.unturned_policies=true", "learn.count_symmetries=true"])
def test_what_is_drawn_and_how_often_reaches_a_run(tmp_path: Path, setting: str) -> None:
    networks = []
    for name, sets in (("plain", ()), ("changed", (setting,))):
        train(tiny(*sets, "gate.kind=off", "learn.batch=4", iterations=1), tmp_path / name, stages=FAKES)
        networks.append((tmp_path / name / "checkpoints" / "0001.onnx").read_bytes())
    assert networks[0] != networks[1]


def test_l2_labels_every_decided_game_as_lost_by_the_first_player() -> None:
    game, config = make_game("gobang-5x5"), run_config("gobang-5x5", games=12)
    right, wrong = (
        play_games(game, model("gobang-5x5"), some, 1) for some in (config, with_defect(config, winners_colour=True))
    )
    assert right.records == wrong.records, "the search knows who won"
    decided, mover = wrong.examples.outcome != 0, wrong.examples.states[:, 0]
    assert set(wrong.examples.value[decided & (mover == 0)].tolist()) == {-1.0}
    assert set(wrong.examples.value[decided & (mover == 1)].tolist()) == {1.0}
    assert set(right.examples.value[decided & (mover == 0)].tolist()) == {-1.0, 1.0}
    assert (wrong.examples.value[~decided] == 0).all()


def test_l2_is_refused_where_it_would_change_nothing() -> None:
    config = with_defect(run_config("gobang-5x5"), winners_colour=True)
    with pytest.raises(ConfigError, match="learns how games end"):
        trainable(config.model_copy(update={"net": "b1c8-outcome"}), make_game("gobang-5x5"))
    alone = config.model_copy(update={"gate": config.gate.model_copy(update={"kind": "off"})})
    with pytest.raises(ConfigError, match="one player"):
        trainable(alone, make_game("morpion-4d"))


def test_l3_makes_dropout_idle() -> None:
    def losses(share: float, idle: bool) -> float:
        config = run_config("connect_four-5x5").model_copy(
            update={"net": "mlp64x2", "learn": LearnConfig(dropout=share, batch=32)}
        )
        game = make_game("connect_four-5x5")
        replay = Replay(1)
        replay.add(1, random_examples(game, 40))
        batches = replay.batches(game, config.learn, np.random.default_rng(3))
        return Trainer(game, with_defect(config, idle_dropout=idle)).train(islice(batches, 5), 5, 0.0).losses.sum

    assert losses(0.3, True) == losses(0.4, True) == losses(0.0, False) != losses(0.3, False)


def gated(**settings: Any) -> RunConfig:
    gate = {"simulations": 8, "games": 6, **settings}
    search = {"selfplay": {"search": {"solver": False}}}
    return RunConfig.model_validate({"game": FOUR.id, "iterations": 1, "seed": 7, "threads": 1, "gate": gate, **search})


def test_l4_accepts_a_network_that_won_no_game(monkeypatch: pytest.MonkeyPatch) -> None:
    from palaestra.arena.match import MatchResult

    drawn = MatchResult.__post_init__

    def all_draws(self: MatchResult) -> None:
        drawn(self)
        for name, count in (("wins", 0), ("draws", len(self.records)), ("losses", 0)):
            object.__setattr__(self, name, count)

    monkeypatch.setattr(MatchResult, "__post_init__", all_draws)
    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    assert not judge(FOUR, one, other, gated(), 1).accepted
    assert judge(FOUR, one, other, with_defect(gated(), drawn_gate=True), 1).accepted


def test_l6_games_from_one_beginning_differ_because_trees_are_kept() -> None:
    one, other = random_model(FOUR, 1), random_model(FOUR, 2)
    config = with_defect(gated(games=12, simulations=30), lasting_trees=True)
    kept = judge(FOUR, one, other, config, 1)
    assert 2 < kept.distinct_games <= 12
    assert kept.wins + kept.draws + kept.losses == 12
    again = judge(FOUR, one, other, config, iteration=9)
    assert (again.wins, again.draws, again.losses) == (kept.wins, kept.draws, kept.losses), "nothing is drawn at random"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"defects": {"unturned_policies": True}, "learn": {"symmetries": False}}, "needs learn.symmetries=true"),
        ({"defects": {"drawn_gate": True}, "gate": {"kind": "off"}}, "needs gate.kind=threshold"),
        ({"defects": {"lasting_trees": True}}, "selfplay.search.solver=false"),
        ({"learn": {"count_symmetries": True, "symmetries": False}}, "learn.symmetries=true only"),
    ],
)
def test_a_defect_that_nothing_would_read_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RunConfig.model_validate({"game": FOUR.id, "iterations": 1, **changed})
