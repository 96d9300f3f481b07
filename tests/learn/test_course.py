from __future__ import annotations

from itertools import repeat
from pathlib import Path

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.base.errors import ConfigError, RunError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.course import Course, make_course
from palaestra.learn.events import Event, IterationEnded
from palaestra.learn.examples import Examples
from palaestra.learn.learner import Batch, MixedBatch
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.learn.replays import Replays
from palaestra.learn.running_elo import encounters
from palaestra.learn.stages import Stages
from palaestra.learn.trainer import Trainer
from palaestra.players.registry import make_player
from palaestra.players.runs import open_run
from palaestra.runs.folder import unpack
from palaestra.runs.metrics import Encounter
from palaestra.runs.pgn_games import read_games
from palaestra.search.search_speed import scattered
from tests.learn.fakes import FAKES, tiny, tree_of
from tests.learn.run_folders import lines_of, metrics_line

pytestmark = pytest.mark.usefixtures("quick_disk")
SMALL = (
    "net=r1c8", "selfplay.games=6", "selfplay.search.simulations=4", "learn.batch=8", "evaluation.every=1",
    "evaluation.games=2", "evaluation.simulations=2", 'evaluation.anchors=["random"]',
)  # fmt: skip


def course(*sets: str, game: str = "othello-8x8") -> Course:
    return make_course(configure(game, "fast", ("net=r1c8", *sets), iterations=2), make_game(game))


def small(game: str, *sets: str, iterations: int = 2) -> RunConfig:
    return configure(game, "fast", (*SMALL, *sets), iterations=iterations, threads=1)


def met(wins: int, draws: int, losses: int) -> Encounter:
    return Encounter(2, 1, wins, draws, losses, (wins, draws, losses), wins + draws + losses, 1)


# The games of a course.


def test_a_run_of_one_game_is_a_course_of_it_alone() -> None:
    found = course()
    assert [game.id for game in found.games] == ["othello-8x8"] and found.own == 0 and found.shared is None
    assert found.counts(50, found.played(())) == {0: 50}


def test_sizes_stand_for_smaller_boards_of_the_run_s_own_game() -> None:
    found = course('course.games=["5x5", "6x6", "8x8", "10x10"]', game="gobang-8x8-5")
    assert [game.id for game in found.games] == ["gobang-5x5-5", "gobang-6x6-5", "gobang-8x8-5"]
    assert found.shared is None and found.shares == (1 / 3, 1 / 3, 1 / 3)


def test_shares_say_how_many_games_of_each_are_played() -> None:
    found = course('course.games=["4x4", "6x6"]', "course.shares=[1, 2, 7]")
    assert found.counts(100, found.played(())) == {0: 10, 1: 20, 2: 70}
    assert found.counts(2, found.played(())) == {0: 1, 1: 1, 2: 1}, "every game is played"


def test_random_numbers_of_the_run_s_own_game_are_the_run_s_and_those_of_others_their_own() -> None:
    config = configure("othello-8x8", "fast", ("net=r1c8", 'course.games=["4x4", "6x6"]'), iterations=2, seed=5)
    found = make_course(config, make_game("othello-8x8"))
    seeds = [found.settings(config, number, 10).seed for number in range(3)]
    assert seeds[2] == 5 and len(set(seeds)) == 3
    assert found.settings(config, 1, 10).selfplay.games == 10


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (('course.games=["6x6"]', "net=b1c8"), "belong to one; take --set net=r3c32"),
        (('course.games=["connect_four-6x7"]',), "connect_four-6x7 cannot share a network with othello"),
        (('course.games=["9x9"]',), "9x9 are no smaller boards than that of othello-8x8"),
        (('course.games=["othello-6x6", "6x6"]',), "othello-6x6 is there twice"),
        (('course.games=["othello-8x8"]',), "othello-8x8 is there twice; the run's own game"),
        (('course.games=["morpion-4d"]',), "morpion-4d has one player"),
        (('course.games=["6x6"]', "net=r1c8-categorical"), "othello-6x6 needs other weights of r1c8-categorical"),
        (('course.games=["6x6"]', "warm.enhancement=rave", "warm.adaptive=true"), "warm.adaptive is decided at one"),
        (('course.games=["6x6"]', "course.shares=[1]"), "course.shares are 1: give a positive number for each"),
        (('course.games=["6x6"]', "course.shares=[1, 0]"), "a positive number"),
        (("course.judged=each",), "need course.games"),
        (('course.games=["6x6"]', "course.mode=curriculum"), "sees by evaluation.history that progress stalls"),
        (
            ('course.games=["6x6"]', "net=r1c8-outcome", "reward=cdf(generations=2)"),
            "it learns from one game, and course.games has others",
        ),
    ],
)
def test_a_course_that_cannot_be_is_refused_in_one_line(sets: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        trainable(configure("othello-8x8", "fast", ("net=r1c8", *sets), iterations=2), make_game("othello-8x8"))
    assert message in str(error.value) and "\n" not in str(error.value)


# A curriculum.

STAGED = ('course.games=["4x4", "6x6"]', "course.mode=curriculum", "evaluation.history=4")


def test_a_curriculum_goes_on_when_a_network_no_longer_beats_the_one_before() -> None:
    found = course(*STAGED, "course.progress=0.6")
    assert found.ended(0, 0.0, None) is None
    assert found.ended(0, 0.0, met(6, 0, 4)) is None
    assert found.ended(0, 0.0, met(5, 1, 4)) == "scored 55 % against the network evaluated before"
    assert found.ended(2, 0.0, met(0, 0, 4)) is None, "the last game is the run's own"


def test_a_curriculum_goes_on_at_the_latest_when_a_game_s_share_of_the_run_has_passed() -> None:
    found = course(*STAGED, "course.shares=[1, 1, 2]")
    assert found.ended(0, 0.24, None) is None and found.ended(0, 0.25, None) == "25 % of the run have passed"
    assert found.ended(1, 0.49, None) is None and found.ended(1, 0.5, None) == "25 % of the run have passed"


def test_where_a_curriculum_stands_and_its_running_elo_are_functions_of_the_lines() -> None:
    found = course(*STAGED)
    ended = {"games": [], "ended": "a reason"}
    lines = [metrics_line(1), metrics_line(2, course=ended), metrics_line(3), metrics_line(4, course=ended)]
    assert [found.stage(lines[:count]) for count in range(5)] == [0, 0, 1, 1, 2]
    assert [len(encounters(lines[:count])) for count in range(5)] == [0, 1, 2, 1, 2], "those at one game"


class Stopped(BaseException):
    """The process is gone."""


def stop(event: Event) -> None:
    if isinstance(event, IterationEnded):
        raise Stopped


def with_stops(config: RunConfig, folder: Path, stages: Stages | None = None) -> None:
    """A run that stops after every iteration, and is resumed each time."""
    with pytest.raises(Stopped):
        train(config, folder, [stop], stages)
    for _ in range((config.iterations or 0) - 1):
        with pytest.raises(Stopped):
            resume(folder, listeners=[stop], stages=stages)
    resume(folder, stages=stages)


def test_a_curriculum_switches_at_the_same_iterations_when_it_is_resumed(tmp_path: Path) -> None:
    sets = ("net=r1c8", 'course.games=["2x2", "3x3"]', *STAGED[1:], "evaluation.every=1", "gate.kind=off")
    config = tiny(*sets, game="hex-4x4", iterations=8)
    train(config, tmp_path / "whole", stages=FAKES)
    whole = lines_of(tmp_path / "whole")
    played = [line.course.games[0].game for line in whole if line.course is not None]
    assert len(played) == 8 and list(dict.fromkeys(played)) == ["hex-2x2", "hex-3x3", "hex-4x4"]
    with_stops(config, tmp_path / "parts", FAKES)
    assert tree_of(tmp_path / "parts") == tree_of(tmp_path / "whole")


# With real stages.


def test_mixed_sizes_are_played_learned_and_kept_by_game(tmp_path: Path) -> None:
    train(small("hex-4x4", 'course.games=["3x3"]', "course.shares=[1, 2]"), tmp_path / "run")
    (line, _) = lines_of(tmp_path / "run")
    assert line.course is not None and line.games == 6
    assert [(one.game, one.games) for one in line.course.games] == [("hex-3x3", 2), ("hex-4x4", 4)]
    assert line.positions == sum(one.positions for one in line.course.games)
    assert len(read_games((tmp_path / "run/games/0001.hex-3x3.pgn").read_text())) == 2
    assert len(read_games((tmp_path / "run/games/0001.pgn").read_text())) == 4
    saved = unpack((tmp_path / "run/replay/0001.safetensors").read_bytes(), tmp_path)
    assert [len(saved[f"{number}.value"]) for number in (0, 1)] == [one.positions for one in line.course.games]


def test_several_kinds_are_learned_by_one_network_and_its_run_plays_each_of_them(tmp_path: Path) -> None:
    games = ("hex-4x4", "gobang-4x4", "othello-4x4")
    train(small(games[2], f'course.games=["{games[0]}", "{games[1]}"]', "course.judged=each"), tmp_path / "run")
    last = lines_of(tmp_path / "run")[-1]
    assert last.course is not None and [one.game for one in last.course.games] == list(games)
    assert [bool(one.against) for one in last.course.games] == [True, True, False] and last.against
    for id in (*games, "hex-5x5"):
        game = make_game(id)
        player = make_player(f"run:{tmp_path / 'run'}(simulations=4)", game)
        assert play_match(game, player, make_player("random", game), 2).games == 2
    assert not open_run(str(tmp_path / "run")).plays(make_game("connect_four-4x4"))


def mixed(other: str, threads: int) -> tuple[RunConfig, MixedBatch]:
    """A run of hex-4x4 and another game, and a batch that has twice as many positions of hex-4x4."""
    config = small("hex-4x4", f'course.games=["{other}"]', "learn.batch=96").model_copy(update={"threads": threads})
    course = make_course(config, make_game("hex-4x4"))
    replay, rng = Replays(course, config.learn), np.random.default_rng(1)
    replay.add(1, {number: examples(game, rng) for number, game in enumerate(course.games)})
    batch = next(replay.batches({0: 1, 1: 2}, rng))
    assert isinstance(batch, MixedBatch) and [len(part) for part in batch.parts] == [32, 64]
    return config, batch


def test_saved_positions_that_another_version_laid_out_otherwise_are_refused() -> None:
    config = small("hex-4x4")
    course, rng = make_course(config, make_game("hex-4x4")), np.random.default_rng(1)
    replay, again = Replays(course, config.learn), Replays(course, config.learn)
    replay.add(1, {0: examples(course.games[0], rng)})
    saved = replay.save_iteration(1)
    again.load(1, saved)
    assert len(again) == len(replay)
    wider = np.pad(saved["states"], ((0, 0), (0, 8)))
    with pytest.raises(RunError, match=r"hex-4x4 have 40 bytes, and now they have 32: another version .* start a new"):
        Replays(course, config.learn).load(1, {**saved, "states": wider})


def test_a_step_learns_games_on_boards_of_one_size_as_one_batch() -> None:
    config, batch = mixed("gobang-4x4", threads=1)
    columns = ("planes", "policy", "value", "outcome", "ply", "mover")
    one = Batch(*(np.concatenate([getattr(part, name) for part in batch.parts]) for name in columns))
    states = []
    for given in (batch, one):
        trainer = Trainer(make_game("hex-4x4"), config)
        trainer.train(repeat(given), 3, 0.0)
        states.append(trainer.state())
    assert all(states[0][name].tobytes() == states[1][name].tobytes() for name in states[1])


@pytest.mark.parametrize("threads", [1, 2])
def test_losses_of_a_step_on_boards_of_several_sizes_are_means_over_all_rows(threads: int) -> None:
    config, batch = mixed("hex-3x3", threads)
    whole, *alone = (
        Trainer(make_game("hex-4x4"), config).train(repeat(given), 1, 0.0).losses for given in (batch, *batch.parts)
    )
    for name in ("policy", "value"):  # a new network finds all moves almost equal, however it is normalised
        rows = sum(getattr(losses, name) * len(part) for losses, part in zip(alone, batch.parts, strict=True))
        assert getattr(whole, name) == pytest.approx(rows / len(batch), rel=0.1)


def examples(game: Game, rng: np.random.Generator) -> Examples:
    """Positions of random play with a random legal move as policy."""
    states = scattered(game, 50, rng)
    counts, _ = game.legal(states)
    policy = np.zeros((50, game.max_legal), dtype=np.float32)
    policy[np.arange(50), rng.integers(counts)] = 1.0
    zeros = np.zeros(50, dtype=np.int32)
    return Examples(states, policy, rng.uniform(-1, 1, 50).astype(np.float32), zeros, zeros, zeros)


@pytest.mark.parametrize(
    "sets",
    [
        ('course.games=["3x3"]',),
        ('course.games=["gobang-4x4"]',),
        ('course.games=["2x2", "3x3"]', "course.mode=curriculum", "evaluation.history=2"),
    ],
)
def test_a_real_run_that_stops_after_every_iteration_ends_with_the_same_bits(
    tmp_path: Path, sets: tuple[str, ...]
) -> None:
    config = small("hex-4x4", *sets, iterations=3)
    train(config, tmp_path / "whole")
    with_stops(config, tmp_path / "run")
    assert tree_of(tmp_path / "run") == tree_of(tmp_path / "whole")
