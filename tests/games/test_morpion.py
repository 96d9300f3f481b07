"""Morpion solitaire: the rules against a slow reference and OpenSpiel, leaf counts, bounds of the grid and of play."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.laws import check
from palaestra.games.morpion import DIRECTIONS, MAX_PLIES, MorpionGame, make, make_morpion
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from tests.games.openspiel import assert_equal_random_games

VARIANTS = ["4d", "4t", "5d", "5t"]
Line = frozenset[tuple[int, int]]

CROSS_5 = """
...oooo...
...o..o...
...o..o...
oooo..oooo
o........o
o........o
oooo..oooo
...o..o...
...o..o...
...oooo..."""
CROSS_4 = """
..ooo..
..o.o..
ooo.ooo
o.....o
ooo.ooo
..o.o..
..ooo.."""


def slow_legal(points: set[tuple[int, int]], drawn: list[tuple[str, Line]], k: int, touching: bool) -> set[Line]:
    """Lines with one point missing that overlap no line of their direction (sources: Morpion solitaire)."""
    found = set()
    for name, (d_row, d_col) in DIRECTIONS.items():
        for row, col in points:
            for back in range(-1, k + 1):
                start = row - back * d_row, col - back * d_col
                line = frozenset((start[0] + i * d_row, start[1] + i * d_col) for i in range(k))
                shared = max((len(line & other) for way, other in drawn if way == name), default=0)
                if len(line - points) == 1 and shared <= int(touching):
                    found.add(line)
    return found


def lines_of(game: MorpionGame, state: Int8s) -> set[Line]:
    counts, actions = game.legal(state[None])
    return {frozenset(game.points_of(action)) for action in actions[0, : counts[0]].tolist()}


@pytest.mark.parametrize(("k", "picture"), [(5, CROSS_5), (4, CROSS_4)])
def test_the_cross_is_in_the_middle_of_the_grid(k: int, picture: str) -> None:
    for letter in "dt":
        game = make((f"{k}{letter}",))
        rows = picture.split()
        margin = (game.side - len(rows)) // 2
        wanted = {(margin + r, margin + c) for r, row in enumerate(rows) for c, glyph in enumerate(row) if glyph == "o"}
        assert set(game.points(game.initial(1)[0])) == wanted
        assert 2 * margin + len(rows) == game.side


@pytest.mark.parametrize(("variant", "leaves"), [("5d", [28, 740, 18416]), ("5t", [28, 748, 18992])])
def test_leaf_counts_are_those_of_the_sources(variant: str, leaves: list[int]) -> None:
    game = make_game(f"morpion-{variant}")
    assert [game.count_leaves(game.initial(1)[0], depth) for depth in (1, 2, 3)] == leaves


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_games_equal_the_plain_rules_at_every_ply(variant: str) -> None:
    game, rng = make((variant,)), np.random.default_rng(7)
    for _ in range(3):
        state = game.initial(1)[0]
        points, drawn = set(game.points(state)), []
        while True:
            legal = slow_legal(points, drawn, int(variant[0]), variant[1] == "t")
            assert lines_of(game, state) == legal
            assert (int(game.outcome(state[None])[0]) == ONGOING) == bool(legal)
            if not legal:
                break
            counts, actions = game.legal(state[None])
            action = int(rng.choice(actions[0, : counts[0]]))
            line = frozenset(game.points_of(action))
            points |= line
            drawn.append((game.lines[action][2], line))
            state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
            assert set(game.points(state)) == points
        assert game.outcome(state[None])[0] == len(drawn)


def test_lines_of_one_direction_may_touch_in_t_games_only() -> None:
    """Row 4 of the cross is oooo..oooo. After a line over its first five points one gap is left: a line from the fifth
    on shares an end point with the first line, those from the sixth and the seventh on share nothing.
    """
    for variant, touches in (("5d", False), ("5t", True)):
        game = make((variant,))
        margin = (game.side - 10) // 2
        names = [f"{chr(ord('a') + margin + i)}{margin + 4}e" for i in range(10)]
        state = game.from_moves(names[0])
        counts, actions = game.legal(state[None])
        legal = {game.action_to_text(state, action) for action in actions[0, : counts[0]].tolist()}
        assert [name in legal for name in names] == [False] * 4 + [touches, True, True] + [False] * 3


def test_a_line_with_nothing_to_add_is_no_move() -> None:
    game = make_game("morpion-4d")
    state = game.from_moves("o15e")  # row 3 of the cross is ooo.ooo: filling the gap completes seven in a row
    full = [a for a in range(game.num_actions) if set(game.points_of(a)) <= set(game.points(state))]
    counts, actions = game.legal(state[None])
    assert len(full) > 1
    assert not set(full) & set(actions[0, : counts[0]].tolist())


@pytest.mark.parametrize(
    ("variant", "mean", "shortest"), [("5d", 43, 20), ("5t", 54, 20), ("4d", 24, 16), ("4t", 37, 22)]
)
def test_random_play_is_as_long_as_it_should_be(variant: str, mean: float, shortest: int) -> None:
    """About 43 and 54 for 5D and 5T (sources: random play); no game is shorter than the proven least."""
    game = make_game(f"morpion-{variant}")
    ends = game.rollout(game.initial(20_000), keyed_seeds(1, np.arange(20_000)))
    assert ends.outcomes.mean() == pytest.approx(mean, abs=1)
    assert shortest <= ends.outcomes.min() and ends.outcomes.max() <= MAX_PLIES[variant]
    assert np.array_equal(ends.outcomes, game.plies(ends.states))


@pytest.mark.parametrize("games", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_games_equal_open_spiel_on_its_own_grid(games: int) -> None:
    """OpenSpiel's 4D is played on 13×13, whose edge some games do reach; ours is as small here so as to equal it."""
    game = make_morpion("morpion-4d on 13x13", 4, touching=False, side=13, max_plies=35)
    assert_equal_random_games(game, "morpion_solitaire", games=games, seed=4, returns=float)


def test_no_random_game_comes_near_the_edge_of_the_grid() -> None:
    for variant in VARIANTS:
        game = make((variant,))
        ends = game.rollout(game.initial(5_000), keyed_seeds(3, np.arange(5_000)))
        occupied = game.observe(ends.states)[:, 0].any(axis=0)
        assert not occupied[:5].any() and not occupied[-5:].any()
        assert not occupied[:, :5].any() and not occupied[:, -5:].any()


def test_a_grid_that_is_too_small_loses_moves_and_nothing_else() -> None:
    game = make_morpion("morpion-5d on 10x10", 5, touching=False, side=10, max_plies=84)
    ends = game.rollout(game.initial(200), keyed_seeds(3, np.arange(200)), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    for end, moves, length in zip(ends.states[:20], ends.moves, ends.lengths, strict=False):
        points = set(game.points(end))
        assert len(points) == 36 + length and max(max(point) for point in points) < 10
        assert sorted(moves[:length].tolist()) == game.drawn(end)
    assert check(game, games=3).violations == []


@pytest.mark.parametrize(("variant", "margin"), [("4d", 12), ("5d", 10)])
def test_counting_keeps_d_games_inside_the_grid(variant: str, margin: int) -> None:
    """The integer program of the module's docstring: no game of at most MAX_PLIES moves gets past the margin.

    Columns are numbered from the left edge of the cross. Unknowns are how many lines that are not vertical begin in
    column a and have their new point in column a + j, and how many vertical lines are drawn in column c. A point is on
    at most one line of each direction. Whoever gets past the margin first has not passed it on the other side, and has
    entered every column on the way by a line that ends there with the new point.
    """
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    game = make((variant,))
    k, cross = game.k, game.points(game.initial(1)[0])
    left = min(col for _, col in cross)
    columns = range(-margin, 3 * (k - 2) + 1 + margin + 1)
    lines = [(a, j) for a in columns for j in range(k) if a + k - 1 in columns]
    index = {unknown: i for i, unknown in enumerate([*lines, *columns])}
    rows, least, most = [], [], []
    for column in columns:
        present = sum(col - left == column for _, col in cross)
        added, covered, entered = np.zeros((3, len(index)))
        added[[index[a, j] for a, j in lines if a + j == column] + [index[column]]] = 1
        covered[[index[a, j] for a, j in lines if a <= column < a + k]] = 1
        vertical = np.zeros(len(index))
        vertical[index[column]] = k
        rows += [covered - 3 * added, vertical - added]
        least += [-np.inf, -np.inf]
        most += [3 * present, present]
        if column > 3 * (k - 2):
            entered[index[column - k + 1, k - 1]] = 1
            rows, least, most = [*rows, entered], [*least, 1], [*most, np.inf]
    rows, least, most = [*rows, np.ones(len(index))], [*least, 0], [*most, MAX_PLIES[variant]]
    found = optimize.milp(
        np.ones(len(index)),
        constraints=optimize.LinearConstraint(np.array(rows), least, most),
        integrality=np.ones(len(index)),
        bounds=optimize.Bounds(0, np.inf),
    )
    assert found.status == 2  # infeasible
    assert game.side == len(columns) - 1  # one column more than fits was asked for


@pytest.mark.parametrize("variant", VARIANTS)
def test_morpion_obeys_the_laws(variant: str) -> None:
    assert check(make_game(f"morpion-{variant}"), seed=2, games=4).violations == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_compiled_rollout_is_plain_play(variant: str) -> None:
    game = make_game(f"morpion-{variant}")
    fast = game.rollout(game.initial(20), keyed_seeds(2, np.arange(20)))
    plain = Game.rollout(game, game.initial(20), keyed_seeds(2, np.arange(20)))
    assert np.array_equal(fast.states, plain.states)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_order_of_lines_leaves_no_trace(variant: str) -> None:
    game, rng = make((variant,)), np.random.default_rng(5)
    ends = game.rollout(game.initial(10), keyed_seeds(6, np.arange(10)))
    for end in ends.states:
        words = game.state_to_text(end).split(",")
        rng.shuffle(words)
        assert np.array_equal(game.state_from_text(",".join(words)), end)


def test_the_initial_position_is_written_as_a_dash() -> None:
    game = make_game("morpion-5t")
    assert game.state_to_text(game.initial(1)[0]) == "-"
    assert np.array_equal(game.state_from_text("-"), game.initial(1)[0])


def test_every_line_is_seen_from_both_of_its_ends() -> None:
    game = make_game("morpion-5d")
    planes = game.observe(game.from_moves("k14e")[None])[0]
    row = 13
    assert planes[0].sum() == 37
    assert np.argwhere(planes[1]).tolist() == [[row, col] for col in (10, 11, 12, 13)]  # towards the east
    assert np.argwhere(planes[5]).tolist() == [[row, col] for col in (11, 12, 13, 14)]  # towards the west
    assert not planes[[2, 3, 4, 6, 7, 8]].any()


def test_a_drawing_shows_points_and_lines() -> None:
    game = make_game("morpion-4d")
    state = game.from_moves("m15e")
    drawn = game.render(state).splitlines()
    assert drawn[0].split() == list("mnopqrs")
    assert drawn[5] == " 15 o-o-o-* o o o"
    svg = game.svg(state)
    assert svg.count("<circle") == 25 and svg.count('stroke-width="2"') == 1


@pytest.mark.parametrize("text", ["", "k14", "k14e,k14e!", "a1e", "k14e,l14e"])
def test_lines_that_cannot_be_drawn_are_refused(text: str) -> None:
    with pytest.raises(MoveError, match="lines joined by commas"):
        make_game("morpion-5d").state_from_text(text)


def test_a_board_of_another_size_is_another_game_with_the_same_rules() -> None:
    small, usual = make_game("morpion-5d-22x22"), make_game("morpion-5d")
    assert small.observation_shape == (9, 22, 22) and small.num_actions < usual.num_actions
    assert small.legal(small.initial(1))[0][0] == usual.legal(usual.initial(1))[0][0] == 28
    assert check(make_game("morpion-4d-9x9"), seed=2, games=4).violations == []
    for id in ("morpion-5d-9x9", "morpion-5d-22x20", "morpion-5d-41x41"):
        with pytest.raises(GameError, match=r"a board is square, from 10x10 to 40x40; for example 22x22"):
            make_game(id)


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(GameError, match="morpion-5d"):
        make(("6d",))
    with pytest.raises(GameError, match="5d, 5t, 4d or 4t"):
        make_game("morpion-6x6")
