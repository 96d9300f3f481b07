"""Self-play: the same games whatever plays them, and examples that say what happened in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import ModelError
from palaestra.base.types import Float32s, Int8s, Int32s
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.learn.lockstep import deal
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.nets.inference_speed import model_bytes
from palaestra.rewards.base import Reward, default_reward
from palaestra.rewards.registry import make_reward
from palaestra.search.config import SearchConfig
from tests.learn.double_moves import double_moves
from tests.learn.selfplay_games import GUMBEL, PUCT, model, played, run_config

EVERYTHING: dict[str, Any] = {
    "games": 11,
    "opening_fraction": 0.6,
    "opening_plies": 5,
    "quick_fraction": 0.4,
    "quick_simulations": 5,
    "value_target": "td",
}


def assert_same_games(one: SelfPlay, other: SelfPlay) -> None:
    assert one.records == other.records
    assert one.simulations == other.simulations and one.positions == other.positions
    for name, array in one.examples.to_arrays().items():
        assert array.tobytes() == other.examples.to_arrays()[name].tobytes(), name


def positions_of(game_id: str, record: Any) -> list[Int8s]:
    """Every position of a recorded game, the last one over."""
    game = make_game(game_id)
    state = game.start(np.array([record.start]))
    states = [state[0]]
    for move in record.moves:
        counts, legal = game.legal(state)
        assert move in legal[0, : counts[0]]
        state = game.advance(state, np.array([move], dtype=np.int32))
        states.append(state[0])
    return states


@pytest.mark.parametrize(
    ("game_id", "search"),
    [
        pytest.param("connect_four-5x5", PUCT, id="connect_four-5x5-puct"),
        pytest.param("connect_four-5x5", GUMBEL, id="connect_four-5x5-gumbel"),
        pytest.param("opposition-3x9", PUCT, id="opposition-3x9-puct", marks=pytest.mark.slow),
        pytest.param("opposition-3x9", GUMBEL, id="opposition-3x9-gumbel"),
    ],
)
def test_threads_slots_and_memory_change_no_example(game_id: str, search: SearchConfig) -> None:
    reference = played(game_id, search=search, **EVERYTHING)
    assert len({record.moves for record in reference.records}) > 5, "games that are all alike would prove nothing"
    for threads, slots, cache in ((1, 1, 256), (1, 3, 0), (2, 64, 16), (2, 2, 256), (3, 2, 256), (3, 64, 0)):
        assert_same_games(
            reference, played(game_id, threads=threads, slots=slots, cache=cache, search=search, **EVERYTHING)
        )


@pytest.mark.slow
def test_threads_and_slots_change_nothing_under_a_reward_that_learns() -> None:
    game = make_game("opposition-3x9")
    network = model_bytes(game, "b1c8-outcome")
    assert isinstance(network, bytes)

    def made(threads: int, slots: int) -> tuple[SelfPlay, Reward]:
        reward = make_reward("cdf(generations=2)", game)
        reward.observe(np.array([-100, -80, 0, 50, 90, 91], dtype=np.int32))
        config = run_config(game.id, threads=threads, slots=slots, games=7)
        return play_games(game, network, config, 1, reward=reward), reward

    reference, learned = made(1, 64)
    outcomes = np.array([record.outcome for record in reference.records], dtype=np.int32)
    assert learned.state()["outcomes"].tolist()[6:] == outcomes.tolist()
    examples = reference.examples
    assert np.array_equal(examples.outcome, outcomes[examples.game])
    side = 1 - 2 * examples.states[:, 0]
    assert np.array_equal(examples.value, side * learned.value(examples.outcome)), "as it judges once it has learned"
    for threads, slots in ((1, 2), (2, 2), (3, 64)):
        assert_same_games(reference, made(threads, slots)[0])


def test_one_players_targets_are_settled_against_its_own_results() -> None:
    game = make_game("morpion-4d")
    reward = make_reward("ranked(tau=0.5, window=4)", game)
    reward.observe(np.array([12, 12, 12], dtype=np.int32))
    made = play_games(game, model(game.id), run_config(game.id, games=12), 1, reward=reward)
    per_game = {number: set(made.examples.value[made.examples.game == number].tolist()) for number in range(12)}
    assert all(values in ({1.0}, {-1.0}) for values in per_game.values())
    results = [record.outcome for record in made.records]
    assert reward.state()["results"].tolist() == results[-4:]
    assert per_game[0] == {float(np.sign(results[0] - 12))} or results[0] == 12


@pytest.mark.parametrize("reuse", [False, True])
def test_kept_trees_stay_with_their_game(reuse: bool) -> None:
    search = SearchConfig(simulations=20, reuse=reuse)
    reference = played("othello-4x4", search=search, games=7)
    for threads, slots in ((1, 2), (3, 1), (2, 64)):
        assert_same_games(reference, played("othello-4x4", search=search, games=7, threads=threads, slots=slots))


def test_seed_iteration_and_number_each_give_other_games() -> None:
    game = make_game("connect_four-5x5")
    config = run_config(game.id)
    one = play_games(game, model(game.id), config, 1)
    moves = {record.moves for record in one.records}
    assert len(moves) > 1
    for other in (
        play_games(game, model(game.id), config, 2),
        play_games(game, model(game.id), config.model_copy(update={"seed": 1}), 1),
    ):
        assert {record.moves for record in other.records} != moves


@pytest.mark.parametrize("search", [PUCT, GUMBEL], ids=["puct", "gumbel"])
@pytest.mark.parametrize("game_id", ["tic_tac_toe-3x3", "othello-4x4", "morpion-4d", "opposition-3x9"])
def test_examples_say_what_happened_in_the_records(game_id: str, search: SearchConfig) -> None:
    game = make_game(game_id)
    made = played(game_id, games=8, search=search, opening_fraction=0.5, opening_plies=3)
    examples = made.examples
    row = 0
    for record in made.records:
        states = positions_of(game_id, record)
        assert record.number == examples.game[row]
        assert (record.first, record.second) == ("self-play", "self-play")
        outcomes = game.outcome(np.array(states))
        assert (outcomes[:-1] == ONGOING).all() and outcomes[-1] == record.outcome
        result = float(default_reward(game).value(outcomes[-1:])[0])
        for ply in range(record.opening_plies, len(record.moves)):
            assert examples.game[row] == record.number and examples.ply[row] == ply
            assert examples.states[row].tolist() == states[ply].tolist()
            counts, legal = game.legal(states[ply][None])
            policy = examples.policy[row]
            assert policy.sum() == pytest.approx(1.0, abs=1e-5) and (policy >= 0).all()
            assert (policy[counts[0] :] == 0).all()
            if search is PUCT:
                assert policy[legal[0, : counts[0]].tolist().index(record.moves[ply])] > 0
            assert examples.value[row] == (result if game.to_play(states[ply][None])[0] == 0 else -result)
            row += 1
    assert row == len(examples) == made.positions
    assert made.results.games == (8 if game.players == 2 else 0)
    assert made.mean_plies == np.mean([len(record.moves) for record in made.records])
    assert 0 < made.evaluations <= made.simulations + made.positions
    assert 0 < made.network_share <= 1


def test_a_forced_pass_is_learned_from_like_any_move() -> None:
    made = played("othello-4x4", games=8)
    passes = [(record.number, ply) for record in made.records for ply, move in enumerate(record.moves) if move == 16]
    assert passes
    for number, ply in passes:
        row = np.flatnonzero((made.examples.game == number) & (made.examples.ply == ply))
        assert made.examples.policy[row, 0] == [1.0]


def test_values_follow_the_mover_where_turns_do_not_alternate() -> None:
    game = double_moves()
    network = model_bytes(game, "b1c8")
    assert isinstance(network, bytes)
    made = play_games(game, network, run_config(game.id, games=12, search=SearchConfig(simulations=4)), 1)
    assert made.examples.states[:6, 0].tolist() == [0, 0, 1, 1, 0, 0]
    results = np.array([np.sign(made.records[number].outcome) for number in made.examples.game])
    assert len(np.unique(results)) > 1
    assert np.array_equal(made.examples.value, np.where(made.examples.states[:, 0] == 0, results, -results))


def test_every_start_of_a_game_is_used() -> None:
    assert len({record.start for record in played("opposition-3x9", games=60).records}) == 9


def test_policies_are_stored_at_the_temperature_of_their_move() -> None:
    search = SearchConfig(simulations=30, solver=False)
    made = played("gobang-5x5", search=search, temperature_moves=3, late_temperature=0.0)
    largest = made.examples.policy.max(axis=1)
    assert (largest[made.examples.ply < 3] < 1).all()
    assert (largest[made.examples.ply >= 3] == 1).all()
    warm = played("gobang-5x5", search=search, temperature_moves=3, late_temperature=1.0).examples
    cool = played("gobang-5x5", search=search, temperature_moves=3, late_temperature=0.5).examples
    assert warm.policy[warm.ply >= 3].max(axis=1).mean() < cool.policy[cool.ply >= 3].max(axis=1).mean() < 1
    flat = played("gobang-5x5", search=search, temperature_moves=3, temperature=50.0).examples
    assert flat.policy[flat.ply < 3].max(axis=1).mean() < largest[made.examples.ply < 3].mean()


def test_openings_are_random_plies_that_never_end_the_game() -> None:
    game = make_game("tic_tac_toe-3x3")
    numbers = np.arange(400)
    settings = run_config(game.id, opening_fraction=0.5, opening_plies=20).selfplay
    dealt = deal(game, settings, 0, 1, numbers)
    assert (game.outcome(dealt.states) == ONGOING).all()
    lengths = np.array([len(opening) for opening in dealt.openings])
    assert game.plies(dealt.states).tolist() == lengths.tolist()
    assert 0.4 < (lengths == 0).mean() < 0.64, "half of them, and one in 21 of the other half"
    assert lengths.max() >= 7
    short = run_config(game.id, opening_fraction=1.0, opening_plies=2).selfplay
    counts = np.bincount([len(opening) for opening in deal(game, short, 0, 1, numbers).openings])
    assert len(counts) == 3 and (counts > 100).all(), "their number is uniform from 0"
    alone = deal(game, settings, 0, 1, numbers[37:38])
    assert alone.openings[0] == dealt.openings[37] and alone.starts[0] == dealt.starts[37]


@pytest.mark.parametrize("search", [PUCT, GUMBEL], ids=["puct", "gumbel"])
def test_quick_moves_are_searched_less_and_not_learned_from(search: SearchConfig) -> None:
    plain = SearchConfig.model_validate({**search.model_dump(), "solver": False})
    made = played("connect_four-5x5", search=plain, games=12, quick_fraction=0.5, quick_simulations=3)
    full = len(made.examples)
    quick = made.positions - full
    assert 0.3 < quick / made.positions < 0.7
    assert made.simulations == 12 * full + 3 * quick
    assert sum(len(record.moves) for record in made.records) == made.positions


def test_the_value_target_is_what_was_asked_for() -> None:
    z = played("connect_four-5x5").examples.value
    mixed = played("connect_four-5x5", value_target="mixed", q_weight=0.25).examples.value
    q = played("connect_four-5x5", value_target="mixed", q_weight=1.0).examples.value
    np.testing.assert_allclose(mixed, 0.75 * z + 0.25 * q, atol=1e-6)
    assert (np.abs(q) < 1).any() and set(np.unique(z)) <= {-1.0, 0.0, 1.0}
    td = played("connect_four-5x5", value_target="td", td_lambda=0.0).examples.value
    np.testing.assert_allclose(td, q, atol=1e-6)


def test_a_reward_gives_the_values_of_search_and_targets() -> None:
    class Half(Reward):
        def value(self, outcomes: Int32s) -> Float32s:
            return (0.5 * np.sign(outcomes)).astype(np.float32)

    game = make_game("tic_tac_toe-3x3")
    made = play_games(game, model(game.id), run_config(game.id), 1, reward=Half())
    assert set(np.unique(np.abs(made.examples.value))) <= {0.0, 0.5} and np.abs(made.examples.value).any()


def test_a_cache_spares_evaluations() -> None:
    few = played("tic_tac_toe-3x3", games=12, cache=4096)
    many = played("tic_tac_toe-3x3", games=12, cache=0)
    assert few.evaluations < many.evaluations
    assert_same_games(few, many)


def test_a_listener_hears_of_all_games_and_its_error_stops_them() -> None:
    heard: list[tuple[int, int]] = []
    game = make_game("tic_tac_toe-3x3")
    play_games(game, model(game.id), run_config(game.id, threads=2), 1, lambda *progress: heard.append(progress))
    assert heard[-1] == (6, 6) and heard == sorted(heard)

    def complain(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_games(game, model(game.id), run_config(game.id, threads=2, games=100_000), 1, complain)


def test_a_network_of_another_game_is_refused() -> None:
    with pytest.raises(ModelError, match="another game"):
        play_games(make_game("othello-4x4"), model("tic_tac_toe-3x3"), run_config("othello-4x4"), 1)
