"""Games of ordinary Python classes: the same interface, clear errors, and the tutorial's two files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.laws import check
from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import make_game
from palaestra.games.rows import HEADER, ONGOING

ROOT = Path(__file__).parents[2]


class Race(PlainRules[tuple[int, ...]]):
    """One adds 1 or 2; who says 10 wins. (The example of the module's docstring.)"""

    def start(self, choice: int) -> tuple[int, ...]:
        return (0, 0)

    def mover(self, state: tuple[int, ...]) -> int:
        return state[1]

    def moves(self, state: tuple[int, ...]) -> Any:
        return [a for a in (1, 0) if state[0] + a < 10]

    def play(self, state: tuple[int, ...], action: int) -> Any:
        return (state[0] + action + 1, 1 - state[1])

    def result(self, state: tuple[int, ...]) -> Any:
        return None if state[0] < 10 else (1 if state[1] == 1 else -1)


def race(rules: PlainRules[Any] | None = None, **facts: Any) -> PythonGame:
    return PythonGame.of(rules or Race(), **{"id": "race", "num_actions": 2, "max_plies": 10} | facts)


class Board:
    """A state with attributes, changed in place."""

    def __init__(self) -> None:
        self.stones: dict[int, int] = {}
        self.turn = 0


class OwnClass(PlainRules[Board]):
    """Tic-tac-toe on objects: `encode` and `decode` are all that it needs beyond the rules."""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def start(self, choice: int) -> Board:
        return Board()

    def mover(self, state: Board) -> int:
        return state.turn

    def moves(self, state: Board) -> set[int]:
        return set(range(9)) - set(state.stones)

    def play(self, state: Board, action: int) -> Board:
        state.stones[action] = 1 - 2 * state.turn
        state.turn = 1 - state.turn
        return state

    def result(self, state: Board) -> int | None:
        for line in self.LINES:
            total = sum(state.stones.get(cell, 0) for cell in line)
            if abs(total) == 3:
                return total
        return 0 if len(state.stones) == 9 else None

    def encode(self, state: Board) -> list[int]:
        return [state.stones.get(cell, 0) for cell in range(9)] + [state.turn]

    def decode(self, numbers: tuple[int, ...]) -> Board:
        board = Board()
        board.stones = {cell: stone for cell, stone in enumerate(numbers[:9]) if stone}
        board.turn = numbers[9]
        return board


OBJECTS = PythonGame.of(OwnClass(), id="objects", num_actions=9, max_plies=9, tiebreak="plies")


@pytest.mark.parametrize("game", [race(), race(tiebreak="plies"), OBJECTS], ids=["tuples", "plies", "objects"])
def test_plain_games_obey_the_laws(game: Game) -> None:
    assert check(game, seed=3, games=10).violations == []


def same_games(one: Game, other: Game, picks: list[int], body: int) -> None:
    """Both games along the same picks: legal moves, movers, plies, outcomes, texts and the first bytes of the body."""
    states = [game.start(np.zeros(1, dtype=np.int64)) for game in (one, other)]
    for pick in [*picks, *[0] * one.max_plies]:
        (counts, listed), (other_counts, other_listed) = one.legal(states[0]), other.legal(states[1])
        assert listed[0, : counts[0]].tolist() == other_listed[0, : other_counts[0]].tolist()
        assert states[0][:, :HEADER].tolist() == states[1][:, :HEADER].tolist()
        assert states[0][:, HEADER : HEADER + body].tolist() == states[1][:, HEADER : HEADER + body].tolist()
        if counts[0] == 0:
            return
        action = listed[:, pick % counts[0]]
        assert one.action_to_text(states[0][0], action[0]) == other.action_to_text(states[1][0], action[0])
        states = [game.advance(state, action) for game, state in zip((one, other), states, strict=True)]
    raise AssertionError("the game did not end")


def test_a_plain_game_equals_the_kernel_game_of_the_same_rules() -> None:
    kernel_game = make_game("tic_tac_toe-3x3")
    streams = keyed_seeds(5, np.arange(200))
    compiled = kernel_game.rollout(kernel_game.initial(200), streams.copy(), trace=True)
    plain = OBJECTS.rollout(OBJECTS.initial(200), streams.copy(), trace=True)
    assert compiled.moves.tolist() == plain.moves.tolist()
    assert compiled.outcomes.tolist() == plain.outcomes.tolist()
    assert compiled.lengths.tolist() == plain.lengths.tolist()
    assert compiled.movers.tolist() == plain.movers.tolist()


def test_moves_may_come_in_any_order() -> None:
    counts, actions = race().legal(race().initial(1))
    assert (counts.tolist(), actions.tolist()) == ([2], [[0, 1]])


def test_equal_states_have_equal_bytes() -> None:
    game = OBJECTS
    assert game.from_moves("0 1 2").tobytes() == game.from_moves("2 1 0").tobytes()
    assert game.from_moves("0 1 2").tobytes() != game.from_moves("0 2 1").tobytes()


def test_a_win_is_worth_more_the_sooner_it_comes_only_where_the_tiebreak_says_so() -> None:
    quick, slow = "1 1 1 1 1", " ".join("0" * 9) + " 0"  # 2 + 2 + … by the first player, and ten single steps
    for tiebreak, outcomes in {"none": (1, -1), "plies": (6, -1)}.items():
        game = race(tiebreak=tiebreak)
        assert tuple(int(game.outcome(game.from_moves(text)[None])[0]) for text in (quick, slow)) == outcomes


def test_with_margin_the_number_itself_is_the_outcome() -> None:
    class Margin(Race):
        def result(self, state: tuple[int, ...]) -> Any:
            return None if state[0] < 10 else -37

    game = race(Margin(), tiebreak="margin")
    assert int(game.outcome(game.from_moves("1 1 1 1 1")[None])[0]) == -37


def test_initial_positions_are_numbered() -> None:
    class Handicap(Race):
        def start(self, choice: int) -> tuple[int, ...]:
            return (choice, 0)

    game = race(Handicap(), num_starts=4)
    assert game.start(np.array([0, 3]))[:, HEADER].tolist() == [0, 3]
    assert game.from_moves("@3 1")[HEADER] == 5
    with pytest.raises(GameError, match="4 initial positions"):
        game.initial(2)


def test_the_default_observation_is_the_numbers_and_the_turn() -> None:
    game = race()
    assert game.observation_shape == (2, 1, 2)
    assert game.observe(game.from_moves("1")[None]).tolist() == [[[[2.0, 1.0]], [[1.0, 1.0]]]]


def test_drawings_texts_and_scores_are_the_author_s() -> None:
    class Pretty(Race):
        def draw(self, state: tuple[int, ...]) -> str:
            return "#" * state[0] or "nothing"

        def move_text(self, state: tuple[int, ...], action: int) -> str:
            return f"+{action + 1}"

        def planes(self, state: tuple[int, ...]) -> Any:
            return [[[state[0] / 10]]]

        def score(self, state: tuple[int, ...]) -> int:
            return 5 - state[0]

    game = race(Pretty())
    state = game.from_moves("+2 +1")
    assert game.render(state) == "###"
    assert "###" in game.svg(state)
    assert game.score(state[None]).tolist() == [2]
    assert game.observe(state[None]).tolist() == [[[[pytest.approx(0.3)]]]]
    with pytest.raises(MoveError, match=r"'\+3' is not a legal move here; legal: \+1, \+2"):
        game.text_to_action(state, "+3")


MISUSE: dict[str, tuple[str, Any, str]] = {
    "a state of another length": ("play", lambda self, s, a: (1, 2, 3), "a state of 3 numbers; the initial one has 2"),
    "a number beyond a byte": ("play", lambda self, s, a: (200, 0), "-128 to 127 fit into a byte"),
    "a state of floats": ("play", lambda self, s, a: (0.5, 0), "encode gave 0.5 among its numbers"),
    "a state that is no tuple": ("play", lambda self, s, a: 7, "encode raised TypeError"),
    "a mover called 2": ("mover", lambda self, s: 2, "mover gave 2; it is 0 or 1"),
    "a result in words": ("result", lambda self, s: "won", "result gave 'won'; None, or a whole number"),
    "a result beyond 32 bits": ("result", lambda self, s: -(2**31), "result gave -2147483648"),
    "a float result": ("result", lambda self, s: 0.5, "result gave 0.5"),
    "an action out of range": ("moves", lambda self, s: [0, 2], r"moves gave \[0, 2\]; actions are 0 to 1"),
    "too many moves": ("moves", lambda self, s: [0, 1, 1], "moves gave 3 actions; max_legal is 2"),
    "moves that are no list": ("moves", lambda self, s: None, "moves gave None; whole numbers in a tuple or list"),
    "planes that change shape": ("planes", lambda self, s: np.zeros((1, 1, 1 + s[0])), r"planes gave \[1, 1, 2\]"),
    "planes without channels": ("planes", lambda self, s: [1, 2], "channels × height × width are needed"),
    "a rule that raises": ("play", lambda self, s, a: s[9], "play raised IndexError: tuple index out of range"),
}


@pytest.mark.parametrize("case", MISUSE)
def test_misuse_is_one_clear_line(case: str) -> None:
    method, wrong, message = MISUSE[case]
    with pytest.raises(GameError, match=message) as caught:
        game = race(type("Wrong", (Race,), {method: wrong})())
        state = game.initial(1)
        state = game.advance(state, np.array([0], dtype=np.int32))
        game.legal(state)
        game.observe(state)
    assert str(caught.value).startswith("race: ") and "\n" not in str(caught.value)


def test_misuse_is_a_violation_for_the_laws() -> None:
    class Odd(Race):
        def play(self, state: tuple[int, ...], action: int) -> Any:
            return (state[0] + action + 1,) if state[0] == 4 else super().play(state, action)

    violations = check(race(Odd()), seed=0, games=10).violations
    assert [violation.law for violation in violations] == ["ends"]
    assert "GameError: race: a state of 1 numbers; the initial one has 2" in violations[0].line


# The tutorial's files.


def example(name: str) -> ModuleType:
    module_name = f"example_{name}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, ROOT / "examples" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    return sys.modules[module_name]


def test_the_tutorial_games_are_short() -> None:
    compiled, plain = ((ROOT / "examples" / name).read_text() for name in ("domineering.py", "domineering_plain.py"))
    assert len(compiled.splitlines()) <= 60
    assert len(plain.splitlines()) < len(compiled.splitlines())
    assert "numba" not in plain


@pytest.mark.parametrize("name", ["domineering", "domineering_plain"])
def test_the_tutorial_games_obey_the_laws(name: str) -> None:
    assert check(example(name).GAME, seed=0, games=10).violations == []


@settings(max_examples=25, deadline=None, derandomize=True)
@given(picks=st.lists(st.integers(0, 10**6), max_size=18))
def test_the_two_tutorial_games_are_the_same_move_by_move(picks: list[int]) -> None:
    same_games(example("domineering").GAME, example("domineering_plain").GAME, picks, body=36)


def test_the_tutorial_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "extend" / "game.md").read_text()
    for name in ("domineering.py", "domineering_plain.py"):
        assert (ROOT / "examples" / name).read_text().strip() in page


@pytest.mark.parametrize(("size", "first_wins"), [(2, True), (3, True), (4, True)])
def test_small_domineering_boards_have_their_known_winner(size: int, first_wins: bool) -> None:
    rules = example("domineering_plain").Domineering()
    known: dict[tuple[int, ...], bool] = {}

    def mover_wins(state: tuple[int, ...]) -> bool:
        if state not in known:
            known[state] = any(not mover_wins(rules.play(state, action)) for action in rules.moves(state))
        return known[state]

    outside = tuple(int(cell // 6 >= size or cell % 6 >= size) for cell in range(36))  # only a corner is empty
    assert mover_wins((*outside, 0)) is first_wins


def test_an_unfinished_position_is_ongoing() -> None:
    game = example("domineering").GAME
    assert game.outcome(game.from_moves("a1 c3 b2")[None])[0] == ONGOING
