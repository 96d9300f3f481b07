"""What a run does where there is one player: sampling, deep search, exploration, solutions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.arena.solutions import check_solution
from palaestra.games.registry import make_game
from palaestra.learn import events, solo
from palaestra.learn.best_solutions import BestSolutions, best_file
from palaestra.learn.config import SoloConfig
from palaestra.learn.events import Event
from palaestra.learn.loop import resume, train
from palaestra.learn.sampling import Sampling
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.rewards.registry import make_reward
from palaestra.runs.game_record import GameRecord
from palaestra.runs.metrics import MetricsLine, RankedReward
from palaestra.runs.solutions import parse_solution
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves
from tests.learn import run_folders
from tests.learn.fakes import FAKES, SOLO, tiny, tree_of
from tests.learn.run_folders import metrics_line
from tests.learn.selfplay_games import model, run_config

pytestmark = pytest.mark.usefixtures("quick_disk")
CONFIG = SoloConfig(patience=2, widening=1.5, widest=3.0)


def line(threshold: float, stuck: bool = False, solved: bool = False) -> MetricsLine:
    """A line of metrics with the state of a ranked reward."""
    return replace(metrics_line(1), ranked=RankedReward(threshold, 10, stuck, solved))


def factors(entries: list[MetricsLine], config: SoloConfig = CONFIG) -> list[float | None]:
    """The factor after each of these lines, where every line carries the one before it."""
    lines: list[MetricsLine] = []
    for entry in entries:
        lines.append(replace(entry, exploration=solo.exploration(config, lines)))
    return [entry.exploration for entry in lines[1:]] + [solo.exploration(config, lines)]


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in (folder / "metrics.jsonl").read_text().splitlines()]


# Exploration.


def test_a_threshold_that_stands_still_widens_up_to_the_cap_and_one_that_moves_narrows() -> None:
    still = [line(50.0) for _ in range(6)]
    assert factors(still) == [1.0, 1.0, 1.5, 2.25, 3.0, 3.0], "two iterations of patience, then 1.5 each, at most 3"
    moving = [*still, line(51.0), line(52.0), line(53.0), line(52.0)]
    assert factors(moving)[6:] == [2.0, pytest.approx(4 / 3), 1.0, 1.0], "either way it moves, and never below 1"


def test_a_stuck_window_widens_at_once_and_a_solved_game_never() -> None:
    assert factors([line(50.0, stuck=True), line(51.0, stuck=True)]) == [1.5, 2.25]
    assert factors([line(84.0, stuck=True, solved=True) for _ in range(5)]) == [1.0] * 5


def test_in_between_exploration_stays_as_it_is() -> None:
    entries = [line(50.0)] * 4 + [line(51.0), line(51.0), line(51.0)]
    assert factors(entries) == [1.0, 1.0, 1.5, 2.25, 1.5, 1.5, 2.25]


def test_without_patience_or_a_ranked_reward_nothing_widens() -> None:
    assert factors([line(50.0, stuck=True)] * 4, SoloConfig()) == [1.0] * 4
    assert solo.exploration(CONFIG, []) == 1.0
    assert solo.exploration(CONFIG, [metrics_line(1, exploration=1.0, ranked=None)]) == 1.0


def test_a_factor_multiplies_temperature_and_noise() -> None:
    config = tiny(*SOLO, "selfplay.search.dirichlet_fraction=0.4", "selfplay.late_temperature=0.1", game="morpion-4d")
    wider = solo.exploring(config, 2.0).selfplay
    assert (wider.temperature, wider.late_temperature, wider.search.dirichlet_fraction) == (2.0, 0.2, 0.8)
    assert solo.exploring(config, 3.0).selfplay.search.dirichlet_fraction == 1.0
    assert solo.exploring(config, 1.0) is config


# Deep search.


def test_a_deep_search_takes_the_best_move_from_a_new_tree_and_draws_nothing() -> None:
    sets = ("selfplay.sampling=true", "selfplay.opening_fraction=0.5", "selfplay.opening_plies=3")
    config = solo.deep_config(tiny(*SOLO, *sets, "solo.simulations=20000", game="morpion-4d"))
    play = config.selfplay
    assert (play.games, play.search.simulations, play.search.reuse, play.sampling) == (2, 20_000, False, False)
    assert (play.temperature, play.late_temperature, play.opening_plies) == (0.0, 0.0, 0)
    assert play.search.leaves_per_step == 32
    assert [i for i in range(1, 31) if solo.is_deep(SoloConfig(every=10), i)] == [10, 20, 30]
    assert not solo.is_deep(SoloConfig(), 10)


def test_deep_games_join_the_window_the_buffer_and_the_metrics(tmp_path: Path) -> None:
    stages: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, events.StageStarted):
            stages.append(event.stage)

    train(tiny(*SOLO, game="morpion-4d", iterations=2), tmp_path / "run", [listen], FAKES)
    assert stages == ["selfplay", "training", "saving", "selfplay", "deep", "training", "evaluation", "saving"]
    first, second = lines_of(tmp_path / "run")
    assert (first["games"], second["games"]) == (6, 8) and second["buffer"] == 14
    assert first["scores"]["deep"] is None and second["scores"]["deep"]["highest"] > 0
    assert set(second["seconds"]) == {"selfplay", "deep", "training", "gate", "evaluation"}
    assert (second["results"], second["elo"], second["learned"]) == (None, None, None)
    assert second["ranked"]["window"] == 8 and second["score"]["anchors"][0]["player"] == "random"
    text = (tmp_path / "run/games/0002.pgn").read_text()
    assert text.count('[White "deep search"]') == 2 and text.count('[White "self-play"]') == 6


def test_a_deep_search_of_a_real_network_plays_on_in_its_own_numbers() -> None:
    game = make_game("morpion-4d")
    config = run_config(game.id, games=3).model_copy(update={"solo": SoloConfig(every=1, games=2, simulations=70)})
    reward = make_reward("ranked(tau=0.5, window=20)", game)
    own = play_games(game, model(game.id), config, 1, reward=reward)
    deep = play_games(game, model(game.id), solo.deep_config(config), 1, reward=reward)
    both = own.with_games(deep, solo.DEEP)
    assert [record.number for record in both.records] == [0, 1, 2, 3, 4]
    assert both.records[3].first == "deep search" and both.simulations == own.simulations
    assert both.examples.game.tolist() == [*own.examples.game, *(deep.examples.game + 3)]
    assert len(reward.state()["results"]) == 5
    assert deep.records[0].moves == deep.records[1].moves, "one start, and nothing is drawn"


# Sampling.


class Fixed(Evaluator):
    """Logits that grow with the action."""

    def __call__(self, leaves: Leaves) -> Evaluation:
        rows = np.tile(np.linspace(0.0, 3.0, 2912, dtype=np.float32), (len(leaves.states), 1))
        return Evaluation(rows, np.full(len(leaves.states), 0.25, dtype=np.float32))


def test_moves_are_drawn_at_their_temperature_and_the_favourite_at_zero() -> None:
    game = make_game("morpion-5d")
    states = np.repeat(game.start(np.zeros(1, dtype=np.int64)), 4000, axis=0)
    streams = np.arange(4000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    counts, actions = game.legal(states[:1])
    legal = actions[0, : counts[0]]
    for temperature in (0.5, 2.0):
        result = Sampling(game, Fixed()).run(states, streams, np.arange(4000), np.full(4000, temperature))
        weights = np.exp(np.linspace(0.0, 3.0, 2912)[legal] / temperature)
        shares = np.array([(result.chosen == action).mean() for action in legal])
        assert np.abs(shares - weights / weights.sum()).max() < 0.03
        assert (result.values == 0.25).all()
    assert (Sampling(game, Fixed()).run(states, streams, np.arange(4000), np.zeros(4000)).chosen == legal[-1]).all()


def sampled(threads: int = 1, slots: int = 64, failures: float | None = None, **others: Any) -> SelfPlay:
    game = make_game("morpion-4d")
    reward = make_reward("ranked(tau=0.5, window=10)", game)
    play = {"games": 9, "sampling": True, "temperature_moves": 8, "failures": failures} | others
    return play_games(game, model(game.id), run_config(game.id, threads=threads, slots=slots, **play), 3, reward=reward)


@pytest.mark.parametrize("failures", [None, 0.5])
def test_threads_and_slots_change_no_sampled_game(failures: float | None) -> None:
    reference = sampled(failures=failures)
    for threads, slots in ((1, 2), (3, 64)):
        other = sampled(threads, slots, failures)
        assert other.records == reference.records
        for name, array in reference.examples.to_arrays().items():
            assert np.array_equal(array, other.examples.to_arrays()[name]), name


def test_the_policy_learns_the_moves_of_games_that_beat_the_threshold_and_nothing_else() -> None:
    game, made = make_game("morpion-4d"), sampled()
    examples = made.examples
    assert set(examples.value.tolist()) == {-1.0, 1.0} and made.simulations == 0
    for number, record in enumerate(made.records):
        rows = examples.game == number
        counts, actions = game.legal(examples.states[rows])
        policy = examples.policy[rows]
        if examples.value[rows][0] < 0:
            assert not policy.any()
        else:
            assert (policy.sum(axis=1) == 1).all()
            assert tuple(actions[np.arange(len(counts)), policy.argmax(axis=1)].tolist()) == record.moves


def test_positions_are_those_that_the_moves_lead_to_and_those_of_openings_are_left_out() -> None:
    game, made = make_game("morpion-4d"), sampled(opening_fraction=0.7, opening_plies=4, failures=1.0)
    examples = made.examples
    assert len({record.opening_plies for record in made.records}) > 2
    for state, number, ply in zip(examples.states, examples.game.tolist(), examples.ply.tolist(), strict=True):
        record = made.records[number]
        reached = game.start(np.array([record.start]))
        for action in record.moves[:ply]:
            reached = game.advance(reached, np.array([action], dtype=np.int32))
        assert np.array_equal(state, reached[0]) and ply >= record.opening_plies
    wanted = sum(len(record.moves) - record.opening_plies for record in made.records)
    assert len(sampled(opening_fraction=0.7, opening_plies=4).examples) == wanted


def test_all_positions_of_successes_are_kept_and_as_many_of_failures_as_are_asked_for() -> None:
    everything = sampled().examples
    successes, others = (int((everything.value == side).sum()) for side in (1.0, -1.0))
    keys = set(zip(everything.game.tolist(), everything.ply.tolist(), strict=True))
    for failures, expected in ((0.5, round(0.5 * successes)), (1e-3, 1), (1000.0, others)):
        made = sampled(failures=failures).examples
        assert [int((made.value == side).sum()) for side in (1.0, -1.0)] == [successes, expected]
        assert set(zip(made.game.tolist(), made.ply.tolist(), strict=True)) <= keys
        assert (made.policy.any(axis=1) == (made.value > 0)).all()


# Solutions.


def test_every_new_best_is_a_verified_file_that_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(*SOLO, "evaluation.every=1", game="morpion-4d", iterations=6), run, stages=FAKES)
    files = sorted((run / "solutions").glob("*.txt"))
    bests = [entry["scores"]["best"] for entry in lines_of(run)]
    assert bests == sorted(bests)
    scores = []
    for path in files:
        solution = parse_solution(path.read_text(), path.name)
        verdict = check_solution(solution)
        assert verdict.valid and verdict.independent and path.with_suffix(".svg").read_text().startswith("<svg")
        scores.append(verdict.score)
    assert len(set(scores)) == len(scores), "an equal one is not a new best"
    found = best_file(run)
    assert found is not None and found.name.startswith(f"{bests[-1]:03d}-") and max(filter(None, scores)) == bests[-1]


def test_a_solution_of_a_game_with_many_starts_names_its_start(tmp_path: Path) -> None:
    game = make_game("bin_packing-2d")
    ends = game.rollout(game.start(np.array([7])), np.ones(1, dtype=np.uint64), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    moves = tuple(ends.moves[0, : ends.lengths[0]].tolist())
    keeper = BestSolutions(tmp_path, game, "a test", None)
    keeper.see([GameRecord(0, 7, moves, 0, int(ends.outcomes[0]), first="self-play")], 1)
    found = best_file(tmp_path)
    assert found is not None and "@7" in found.read_text()
    assert check_solution(parse_solution(found.read_text(), "x"), game).score == int(ends.outcomes[0]) == keeper.best
    keeper.see([GameRecord(0, 7, moves, 0, int(ends.outcomes[0]), first="self-play")], 2)
    assert len(list((tmp_path / "solutions").iterdir())) == 2


def test_a_window_that_stands_still_widens_the_self_play_of_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    seen: list[float] = []

    def play(game: Any, model: Any, config: Any, *arguments: Any, **options: Any) -> Any:
        seen.append(config.selfplay.temperature)
        return FAKES.play_games(game, model, config, *arguments, **options)

    config = tiny(*SOLO, "solo.every=0", "reward=ranked(tau=0.5, window=1000)", game="morpion-4d", iterations=8)
    train(config, run, stages=replace(FAKES, play_games=play))
    lines = run_folders.lines_of(run)
    assert [entry.exploration for entry in lines] == seen
    assert seen == [solo.exploration(config.solo, lines[:i]) for i in range(8)] and max(seen) > 1.0


# Going on.


def test_alg_7_teaches_the_networks_own_policy_in_all_games() -> None:
    made = sampled(sampled_policy="network", temperature_moves=5)
    examples = made.examples
    assert len(examples) == sum(len(record.moves) for record in made.records)
    np.testing.assert_allclose(examples.policy.sum(axis=1), 1.0, atol=1e-5)
    early = examples.ply < 5
    assert (examples.policy[early].max(axis=1) < 1).any() and (examples.policy[~early].max(axis=1) == 1).all()
    game = make_game("morpion-4d")
    _, actions = game.legal(examples.states)
    for row in np.flatnonzero(~early)[:20].tolist():
        move = made.records[int(examples.game[row])].moves[int(examples.ply[row])]
        assert actions[row, examples.policy[row].argmax()] == move
    assert made.records == sampled(temperature_moves=5).records


@pytest.mark.parametrize("sampling", ["true", pytest.param("false", marks=pytest.mark.slow)])
def test_a_real_run_that_is_stopped_and_resumed_is_the_same_bit_for_bit(tmp_path: Path, sampling: str) -> None:
    sets = (*SOLO, "net=mlp8x1", f"selfplay.sampling={sampling}", "selfplay.search.simulations=4")
    config = tiny(*sets, "evaluation.simulations=4", game="bin_packing-2d-3", iterations=4, threads=2)

    def stop(event: Event) -> None:
        if isinstance(event, events.IterationEnded) and event.iteration == 2:
            raise KeyboardInterrupt

    train(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "stopped", [stop])
    resume(tmp_path / "stopped")
    whole, stopped = tree_of(tmp_path / "whole"), tree_of(tmp_path / "stopped")
    assert set(whole) == set(stopped) and any(name.startswith("solutions/") for name in whole)
    for name, content in whole.items():
        assert stopped[name] == content, name
