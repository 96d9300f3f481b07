"""Tabular learners: the kernels equal plain Python, both ways of playing matches agree, and tables learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from palaestra.arena.statistics import mean_and_margin
from palaestra.base.errors import ConfigError, GameError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import make_game
from palaestra.learn import tabular
from palaestra.learn.tabular import Curve, Learned, learn_table, read_config
from palaestra.learn.tabular_matches import Matches, play_lockstep
from palaestra.players.registry import make_player
from palaestra.players.table import Table
from tests.learn.plain_tabular import PlainLearner

TIC = make_game("tic_tac_toe-3x3")


class Race(PlainRules[tuple[int, ...]]):
    """Who says 7 wins; one adds 1 or 2: a game without compiled rules."""

    def start(self, choice: int) -> tuple[int, ...]:
        return (0, 0)

    def mover(self, state: tuple[int, ...]) -> int:
        return state[1]

    def moves(self, state: tuple[int, ...]) -> list[int]:
        return [action for action in (0, 1) if state[0] + action < 7]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (state[0] + action + 1, 1 - state[1])

    def result(self, state: tuple[int, ...]) -> int | None:
        return None if state[0] < 7 else (1 if state[1] == 1 else -1)


RACE = PythonGame.of(Race(), id="race", num_actions=2, max_plies=7)
LEARNERS: dict[str, dict[str, Any]] = {
    "decaying ε": {"learner": "q"},
    "fixed ε": {"learner": "q", "epsilon": 0.2, "alpha": 0.4, "gamma": 0.8},
    "own turns only": {"learner": "q", "noops": False},
    "TD": {"learner": "td", "epsilon": 0.1},
    "QM": {"learner": "qm", "playouts": 12},
    "QN": {"learner": "qn", "playouts": 30},
}


def rows_of(table: Table) -> dict[tuple[int, bytes], list[float]]:
    """The table by (role, state), the role taken out of the key, where games have nothing, and the outcome put back."""
    rows = {}
    for row in range(len(table)):
        state = table.rows.keys[row].copy().view(np.int8)
        role, state[1] = int(state[1]), 0
        state[4:8] = np.array([-(2**31)], dtype=np.int32).view(np.int8)
        rows[role, state.tobytes()] = table.values(row).tolist()
    return rows


def in_lockstep(game: Game, config: Any, opponent: str, lockstep: int, seed: int = 0) -> Learned:
    """`learn_table` by the path that serves any player."""
    numbers = np.arange(config.matches)
    seeds = np.stack([keyed_seeds(seed, 0, numbers, who) for who in (0, 1)], axis=1)
    starts = np.zeros(config.matches, dtype=np.int64)
    goals = np.zeros(config.matches)
    matches = Matches(game, config.settings(), config.ms, config.epsilons(), seeds, starts, goals)
    table = Table(game, config.ply)
    assert sum(play_lockstep(matches, table, make_player(opponent, game), lockstep)) == config.matches
    return Learned(config, table, goals, 0.0)


@pytest.mark.parametrize("settings", LEARNERS.values(), ids=LEARNERS)
def test_the_compiled_learner_equals_plain_python_value_for_value(settings: dict[str, Any]) -> None:
    config = read_config(matches={"qm": 40, "qn": 12}.get(settings["learner"], 400), **settings)
    learned = learn_table(TIC, config, seed=3, repeat=1)
    plain = PlainLearner(TIC, config)
    goals = [
        plain.match(number, float(epsilon), *(int(keyed_seeds(3, 1, number, who)[0]) for who in (0, 1)))
        for number, epsilon in enumerate(config.epsilons())
    ]
    assert learned.goals.tolist() == goals
    rows = rows_of(learned.table)
    assert rows.keys() == plain.table.keys()
    for key, values in plain.table.items():
        np.testing.assert_allclose(rows[key], values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("settings", LEARNERS.values(), ids=LEARNERS)
def test_matches_one_at_a_time_in_lockstep_make_the_same_table_as_the_compiled_loop(settings: dict[str, Any]) -> None:
    config = read_config(matches=60, **settings)
    compiled, lockstep = learn_table(TIC, config), in_lockstep(TIC, config, "random", 1)
    assert compiled.goals.tolist() == lockstep.goals.tolist()
    assert rows_of(compiled.table) == rows_of(lockstep.table)


def test_a_block_of_matches_is_played_with_the_table_as_it_was_before() -> None:
    config = read_config(matches=8, learner="q", epsilon=0.0, noops=False)
    learned = in_lockstep(TIC, config, "random", 8)
    alone = [in_lockstep(TIC, read_config(matches=n + 1, epsilon=0.0, noops=False), "random", 8) for n in range(8)]
    assert [one.goals[-1] for one in alone] == learned.goals.tolist()  # no match knows of another


def test_any_player_can_be_the_opponent_and_any_game_of_two_is_learned() -> None:
    config = read_config(matches=200, learner="q", epsilon=0.1, lockstep=16)
    weak, strong = (learn_table(TIC, config, who).goals.mean() for who in ("random", "perfect"))
    assert weak > strong and strong <= 0.5
    race = learn_table(RACE, read_config(matches=300, epsilon=0.2, lockstep=4), seed=1)
    assert len(race.table) and race.goals.mean() > 0.5


def test_qm_by_time_searches_states_it_has_not_seen() -> None:
    config = read_config(matches=4, learner="qm", ms=0.2, epsilon=0.0)
    learned = learn_table(TIC, config)
    assert config.playouts is None and learned.about.ms == 0.2
    assert len(learned.table) > 4


def test_the_same_seed_gives_the_same_table_and_another_repeat_another() -> None:
    config = read_config(matches=300)
    one, same, other = (learn_table(TIC, config, repeat=repeat) for repeat in (0, 0, 1))
    assert rows_of(one.table) == rows_of(same.table) != rows_of(other.table)


def test_leaving_the_ply_out_joins_positions_that_come_back() -> None:
    game = make_game("opposition-3x3")
    exact, joined = (learn_table(game, read_config(matches=300, ply=ply)) for ply in (True, False))
    assert len(joined.table) < len(exact.table) / 2
    boards = [learn_table(TIC, read_config(matches=300, ply=ply)) for ply in (True, False)]
    assert boards[0].goals.tolist() == boards[1].goals.tolist() and len(boards[0].table) == len(boards[1].table)


def test_rows_off_turn_have_one_value() -> None:
    with_, without = (rows_of(learn_table(TIC, read_config(matches=200, noops=noops)).table) for noops in (True, False))
    assert {len(values) for (role, state), values in with_.items() if state[0] != role} == {1}
    assert all(state[0] == role for role, state in without)


def test_epsilon_follows_equation_2_3() -> None:
    decaying = read_config(matches=15, decay=10, a=0.5, b=0.1).epsilons()
    expected = [0.5 * np.cos(np.pi * k / 20) + 0.1 for k in range(11)] + 4 * [0.0]
    np.testing.assert_allclose(decaying, expected, atol=1e-12)
    assert read_config(matches=3, epsilon=0.3).epsilons().tolist() == [0.3, 0.3, 0.3]
    assert read_config(matches=3, learner="td").epsilons().tolist() == [0.01, 0.01, 0.01]
    assert read_config(matches=30, learner="td", decay=20).epsilons()[0] == 0.5


def test_settings_that_are_left_out_are_the_papers() -> None:
    q, td, qm = (read_config(learner=learner) for learner in ("q", "td", "qm"))
    assert (q.alpha, q.gamma, q.epsilon, q.horizon, q.a, q.b) == (0.1, 0.9, None, 20_000, 0.5, 0.0)
    assert (td.alpha, td.gamma, td.lambda_, td.epsilon) == (0.3, 1.0, 0.7, 0.01)
    assert (qm.alpha, qm.gamma, qm.playouts, qm.ms) == (0.1, 0.9, 50, None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"alpha": 0.0}, "alpha is 0.0; it must be a number above 0 and at most 1"),
        ({"gamma": 1.5}, "gamma is 1.5"),
        ({"matches": 0}, "matches is 0"),
        ({"learner": "sarsa"}, "learner is sarsa; it must be one of q, qm, qn, td"),
        ({"epsilon": 0.1, "decay": 5}, "either epsilon"),
        ({"a": 0.8, "b": 0.4}, "a + b is 1.2"),
        ({"lambda_": 0.5}, "lambda belongs to the learner td"),
        ({"playouts": 5}, "belong to the learners qm and qn"),
        ({"learner": "qm", "playouts": 5, "ms": 5.0}, "either playouts or ms"),
        ({"learner": "qn", "ms": 5.0}, "ms belongs to the learner qm"),
        ({"lockstep": 0}, "lockstep is 0"),
        ({"speed": 1}, "speed is no setting"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_one_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config(**values)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_game_for_one_is_refused() -> None:
    with pytest.raises(GameError, match="has one player"):
        learn_table(make_game("morpion-4d"), read_config(matches=1))


def test_a_curve_counts_the_matches_from_point_to_point_and_all_so_far() -> None:
    config = read_config(matches=7, epsilon=0.0, learner="q")
    assert config.logged().tolist() == [1, 2, 3, 4, 5, 6, 7]
    config = read_config(matches=45, decay=30)
    assert config.logged().tolist() == list(range(3, 46, 3))
    goals = [np.array([1.0, 1.0, 0.5, 0.0] + 3 * [1.0]), np.zeros(7)]
    config = read_config(matches=7, decay=20)
    curve = Curve.of(config, goals)
    assert curve.matches.tolist() == [2, 4, 7]  # no point stands for a single match that is left over
    np.testing.assert_allclose(curve.rates, [[1.0, 0.25, 1.0], 3 * [0.0]])
    np.testing.assert_allclose(curve.so_far, [[1.0, 0.625, 5.5 / 7], 3 * [0.0]])


def test_intervals_are_students_over_the_repeats() -> None:
    mean, margin = mean_and_margin(np.array([[0.5], [0.7], [0.9]]))
    assert mean[0] == pytest.approx(0.7) and margin is not None
    assert margin[0] == pytest.approx(4.303 * 0.2 / np.sqrt(3), rel=0.01)
    assert mean_and_margin(np.array([[0.5]]))[1] is None


def test_tic_tac_toe_is_learned_far_beyond_chance_and_qm_begins_higher() -> None:
    configs = [read_config(matches=15_000, learner=learner) for learner in ("q", "qm")]
    q, qm = (Curve.of(config, [learn_table(TIC, config).goals]) for config in configs)
    assert q.rates[0, -1] > 0.8 > q.rates[0, 0]
    assert qm.rates[0, 0] > q.rates[0, 0] + 0.05 and qm.rates[0, -1] > 0.82


def test_every_setting_is_read_when_a_table_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[str] = set()
    plain = tabular.TabularConfig.__getattribute__

    def noting(self: Any, name: str) -> Any:
        read.add(name)
        return plain(self, name)

    config = read_config(matches=2, learner="td", decay=1)
    monkeypatch.setattr(tabular.TabularConfig, "__getattribute__", noting)
    assert learn_table(TIC, config, "greedy").about.matches == 2
    assert set(tabular.TabularConfig.model_fields) <= read
