"""The laws hold for every registered game, and each law is broken by the game that is made to break it."""

from __future__ import annotations

import importlib.util
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palaestra.games.base import Game
from palaestra.games.laws import FOUNDATIONS, LAWS, check, violations_of
from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import FAMILIES, make_game
from palaestra.games.rows import ONGOING
from palaestra.games.sample import Sample
from palaestra.games.symmetry import Symmetry

# Every family, at sizes and along moves that Hypothesis chooses.


def sides(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


def rectangles(low: int, high: int) -> st.SearchStrategy[str]:
    return st.builds("{}x{}".format, sides(low, high), sides(low, high))


def squares(low: int, high: int) -> st.SearchStrategy[str]:
    return sides(low, high).map(lambda n: f"{n}x{n}")


SIZES: dict[str, st.SearchStrategy[str]] = {
    "tic_tac_toe": rectangles(3, 6),
    "gobang": st.one_of(rectangles(4, 9), st.builds("{}-{}".format, rectangles(4, 12), sides(2, 4))),
    "connect_four": rectangles(4, 9),
    "othello": squares(4, 10),
    "hex": squares(2, 7),
    "opposition": st.builds("{}x{}".format, sides(2, 5), sides(3, 9)),
    "morpion": st.sampled_from(["4d", "4t", "5d", "5t"]),
    "bin_packing": st.one_of(sides(2, 50).map("2d-{}".format), sides(2, 20).map("3d-{}".format)),
    "tsp": sides(4, 40).map(str),
}
CHOSEN = settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def test_every_registered_family_is_put_to_the_laws() -> None:
    assert set(SIZES) == set(FAMILIES)


def draw_game(data: st.DataObject, family: str) -> Game:
    module = FAMILIES[family].maker.partition(":")[0]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not there")
    return make_game(f"{family}-{data.draw(SIZES[family])}")


@pytest.mark.parametrize("family", SIZES)
@CHOSEN
@given(data=st.data())
def test_the_laws_hold_over_random_games(family: str, data: st.DataObject) -> None:
    game = draw_game(data, family)
    report = check(game, seed=data.draw(st.integers(0, 2**32)), games=3)
    assert report.violations == []
    assert report.laws == [*FOUNDATIONS, *(law for law in LAWS if law != "exchange" or game.exchange is not None)]


@pytest.mark.parametrize("family", SIZES)
@CHOSEN
@given(data=st.data())
def test_the_laws_hold_along_chosen_moves(family: str, data: st.DataObject) -> None:
    game = draw_game(data, family)
    sample = sample_along(game, data.draw(sides(0, game.num_starts - 1)), data.draw(st.lists(st.integers(0, 10**6))))
    for name, law in LAWS.items():
        if name not in ("rollout", "inputs", "repeatable") and (name != "exchange" or game.exchange is not None):
            assert (name, violations_of(law, sample)) == (name, [])


def sample_along(game: Game, choice: int, picks: list[int]) -> Sample:
    """One game, row by row: the i-th move is number picks[i] of the legal ones, round and round; first beyond picks."""
    state = game.start(np.array([choice]))
    start, befores, actions, afters = state, [], [], []
    while game.outcome(state)[0] == ONGOING:
        counts, listed = game.legal(state)
        pick = picks[len(actions)] if len(actions) < len(picks) else 0
        actions.append(listed[0, pick % counts[0]])
        befores.append(state)
        state = game.advance(state, listed[:1, pick % counts[0]])
        afters.append(state)
    length = len(actions)
    return Sample(
        game, 0, np.array([choice]), [[int(a) for a in actions]], start, state, np.zeros(length, dtype=np.int64),
        np.arange(length), np.concatenate(befores), np.array(actions, dtype=np.int32), np.concatenate(afters),
    )  # fmt: skip


# Games that break one law each.

TIC_TAC_TOE = make_game("tic_tac_toe-3x3")


def spoiled(facts: dict[str, Any] | None = None, **methods: Any) -> Game:
    """Tic-tac-toe with other facts and methods."""
    kind = type("Spoiled", (type(TIC_TAC_TOE),), methods)
    known = {field.name: getattr(TIC_TAC_TOE, field.name) for field in fields(TIC_TAC_TOE) if field.init}
    return kind(**known | (facts or {}))


def honest(name: str) -> Any:
    return getattr(type(TIC_TAC_TOE), name)


def started_before(self: Game, choices: Any) -> Any:
    states = honest("start")(self, choices)
    states[:, 2] = 1
    return states


def descending(self: Game, states: Any) -> Any:
    counts, actions = honest("legal")(self, states)
    for count, row in zip(counts, actions, strict=True):
        row[:count] = row[:count][::-1].copy()
    return counts, actions


def none_when_few(self: Game, states: Any) -> Any:
    counts, actions = honest("legal")(self, states)
    return np.where(counts <= 2, 0, counts).astype(np.int32), actions


def some_after_the_end(self: Game, states: Any) -> Any:
    counts, actions = honest("legal")(self, states)
    return np.maximum(counts, 1), actions


def out_of_range(self: Game, states: Any) -> Any:
    counts, actions = honest("legal")(self, states)
    return counts, actions + 1


def advance_in_place(self: Game, states: Any, actions: Any) -> Any:
    states[:] = honest("advance")(self, states, actions)
    return states.copy()


def empty_step(self: Game, states: Any, actions: Any) -> Any:
    after, counts, listed = honest("step")(self, states, actions)
    return after, np.zeros_like(counts), listed


def other_streams(self: Game, states: Any, streams: Any, trace: bool = False) -> Any:
    return honest("rollout")(self, states, streams + np.uint64(1), trace)


def trace_without_movers(self: Game, states: Any, streams: Any, trace: bool = False) -> Any:
    played = honest("rollout")(self, states, streams, trace)
    if trace:
        played.movers[:] = 0
    return played


class Forgetful:
    """An `initial` that is another one every second time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, count: int, rng: Any = None) -> Any:
        self.calls += 1
        states = TIC_TAC_TOE.start(np.zeros(count, dtype=np.int64))
        return TIC_TAC_TOE.advance(states, np.full(count, self.calls % 2, dtype=np.int32))


def marked_corner(self: Game, states: Any) -> Any:
    planes = honest("observe")(self, states)
    planes[:, 0, 0, 0] += 1
    return planes


def same_players(self: Game, states: Any, symmetry: Symmetry, swap: bool = False) -> Any:
    return honest("permute")(self, states, symmetry, False)


def without_ply(self: Game, text: str) -> Any:
    state = honest("state_from_text")(self, text)
    state[2] = 0
    return state


class Solo(PlainRules[tuple[int, ...]]):
    """One player counts to three."""

    turn, reward = 0, 3

    def start(self, choice: int) -> tuple[int, ...]:
        return (0,)

    def mover(self, state: tuple[int, ...]) -> int:
        return self.turn * (state[0] % 2)

    def moves(self, state: tuple[int, ...]) -> list[int]:
        return [0, 1]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (state[0] + 1,)

    def result(self, state: tuple[int, ...]) -> int | None:
        return self.reward if state[0] == 3 else None


class Stalled(PythonGame):
    def plies(self, states: Any) -> Any:
        return np.minimum(super().plies(states), 1)


def solo(kind: type[PythonGame] = PythonGame, turn: int = 0, reward: int = 3) -> Game:
    rules = Solo()
    rules.turn, rules.reward = turn, reward
    return kind.of(rules, id="solo", num_actions=2, max_plies=3, players=1, tiebreak="score")


SYMMETRIES = TIC_TAC_TOE.symmetries
UNMIRRORED = Symmetry("mirror", SYMMETRIES[4].cells, SYMMETRIES[0].actions)  # (sources: L1)
NO_PERMUTATION = Symmetry("fold", SYMMETRIES[0].cells // 2, SYMMETRIES[0].actions)
BREAKERS: dict[str, tuple[str, Game]] = {
    "a start that has a ply": ("start", spoiled(start=started_before)),
    "a start of another dtype": ("start", spoiled(start=lambda self, c: honest("start")(self, c).astype(np.int64))),
    "legal in descending order": ("legal", spoiled(legal=descending)),
    "legal empty before the end": ("legal", spoiled(legal=none_when_few)),
    "legal not empty after the end": ("legal", spoiled(legal=some_after_the_end)),
    "legal beyond num_actions": ("legal", spoiled(legal=out_of_range)),
    "legal beyond max_legal": ("legal", spoiled({"max_legal": 8})),
    "legal of floats": ("legal", spoiled(legal=lambda self, s: (honest("legal")(self, s)[0] * 1.0, s))),
    "play beyond max_plies": ("ends", spoiled({"max_plies": 4})),
    "advance of the wrong shape": ("ends", spoiled(advance=lambda self, s, a: honest("advance")(self, s, a)[:, :8])),
    "plies that stop counting": ("plies", solo(Stalled)),
    "a second player in a game of one": ("turns", solo(turn=1)),
    "a single player who loses": ("outcome", solo(reward=-1)),
    "wins that are not all alike": ("outcome", spoiled({"tiebreak": "none"})),
    "an outcome that is larger than the largest": ("outcome", solo(reward=4)),
    "wins that do not count plies": ("outcome", spoiled({"max_plies": 10})),
    "advance in place": ("inputs", spoiled(advance=advance_in_place)),
    "observe that sees the batch": (
        "batch",
        spoiled(observe=lambda self, s: honest("observe")(self, s) + np.float32(len(s))),
    ),
    "step without legal": ("step", spoiled(step=empty_step)),
    "rollout from other streams": ("rollout", spoiled(rollout=other_streams)),
    "rollout with wrong movers": ("rollout", spoiled(rollout=trace_without_movers)),
    "playouts that leave the stream as it was": (
        "playouts",
        spoiled(playout_outcomes=lambda self, s, streams: honest("playout_outcomes")(self, s, streams.copy())),
    ),
    "playouts that see the batch": (
        "playouts",
        spoiled(playout_outcomes=lambda self, s, streams: streams.__iadd__(1).astype(np.int32) * 0 + np.int32(len(s))),
    ),
    "one leaf too many": ("leaves", spoiled(count_leaves=lambda self, s, d: honest("count_leaves")(self, s, d) + 1)),
    "initial that ignores its generator": ("repeatable", spoiled(initial=Forgetful())),
    "observations of another dtype": (
        "observation",
        spoiled(observe=lambda self, s: honest("observe")(self, s).astype(np.float64)),
    ),
    "observations that are no numbers": (
        "observation",
        spoiled(observe=lambda self, s: honest("observe")(self, s) * np.float32(np.nan)),
    ),
    "a score in floats": ("score", spoiled(score=lambda self, s: np.zeros(len(s)))),
    "a score of ONGOING": ("score", spoiled(score=lambda self, s: np.full(len(s), ONGOING, dtype=np.int32))),
    "symmetries that are not closed": ("group", spoiled({"symmetries": SYMMETRIES[:2]})),
    "symmetries without identity first": ("group", spoiled({"symmetries": SYMMETRIES[::-1]})),
    "cells that are folded": ("group", spoiled({"symmetries": (SYMMETRIES[0], NO_PERMUTATION), "exchange": None})),
    "a mirror that leaves actions alone": (
        "symmetry",
        spoiled({"symmetries": (SYMMETRIES[0], UNMIRRORED), "action_layout": ""}),
    ),
    "directions that are called columns": ("layout", replace(make_game("opposition-8x8"), action_layout="columns")),
    "observe with a marked corner": ("symmetry", spoiled(observe=marked_corner)),
    "exchange that keeps the colours": ("exchange", spoiled(permute=same_players)),
    "a position's text without the ply": ("state text", spoiled(state_from_text=without_ply)),
    "a position's text of two lines": ("state text", spoiled(state_to_text=lambda self, s: "a\nb")),
    "moves that are written alike": ("action text", spoiled(action_to_text=lambda self, s, a: "move")),
    "moves that read as two": ("action text", spoiled(action_to_text=lambda self, s, a: f"cell {a}")),
    "moves that read as another": ("action text", spoiled(text_to_action=lambda self, s, text: -1)),
    "an empty drawing": ("drawing", spoiled(render=lambda self, s: "")),
    "a broken SVG": ("drawing", spoiled(svg=lambda self, s: "<svg>")),
}  # fmt: skip


@pytest.mark.parametrize("breaker", BREAKERS)
def test_a_broken_game_is_caught_by_exactly_its_law(breaker: str) -> None:
    law, game = BREAKERS[breaker]
    violations = check(game, seed=1, games=8).violations
    assert {violation.law for violation in violations} == {law}, [str(violation) for violation in violations]
    assert all("\n" not in str(violation) for violation in violations)


def test_every_law_has_a_game_that_breaks_it() -> None:
    assert {law for law, _ in BREAKERS.values()} == {*FOUNDATIONS, *LAWS}


def test_an_honest_game_breaks_nothing() -> None:
    assert check(spoiled(), seed=1, games=8).violations == []
    assert check(solo(), seed=1, games=8).violations == []


METHODS = [
    "start", "advance", "legal", "observe", "permute", "step", "rollout", "score", "count_leaves", "outcome", "plies",
    "to_play", "initial", "render", "svg", "action_to_text", "text_to_action", "state_to_text", "state_from_text",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("answer", ["raises", "nothing", "nonsense"])
def test_a_rule_that_fails_is_a_violation_and_never_an_exception(method: str, answer: str) -> None:
    def failing(self: Game, *arguments: Any, **named: Any) -> Any:
        if answer == "raises":
            raise ZeroDivisionError("first line\nsecond line")
        return None if answer == "nothing" else np.zeros((3, 1, 4))

    violations = check(spoiled(**{method: failing}), seed=1, games=4).violations
    assert violations
    assert all("\n" not in str(violation) for violation in violations)
    if answer == "raises":
        assert any("ZeroDivisionError: first line second line" in violation.line for violation in violations)


def test_a_violation_names_the_position_and_the_action() -> None:
    game = spoiled(step=empty_step)
    line = check(game, seed=1, games=1).violations[0].line
    assert line.startswith("at the start, action ")
    place = line.partition("(")[2].partition(")")[0]
    assert game.text_to_action(game.initial(1)[0], place) >= 0


def test_equal_seeds_give_equal_reports_and_other_seeds_other_games() -> None:
    game = spoiled(step=empty_step)
    assert check(game, seed=1, games=4) == check(game, seed=1, games=4)
    assert check(game, seed=1, games=4) != check(game, seed=2, games=4)
