"""Bin packing: cuts and rules against slow references, the square put together again, corners that lose nothing."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import groupby

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.bin_packing import BinPackingGame, make_2d
from palaestra.games.laws import check
from palaestra.games.registry import FAMILIES, make_game
from palaestra.games.rows import ONGOING
from palaestra.search.nested import nmcs

LISTED = tuple(id for id in FAMILIES["bin_packing"].examples if "2d" in id)
BENCH, SQUARE = 15, 10
WORD = 2**64

Cell = tuple[int, int]
Box = tuple[int, int, int, int]  # row, column, height, width


# The slow references.


class Stream:
    """Splitmix64 in Python's integers."""

    def __init__(self, seed: int) -> None:
        self.word = self.mix(seed)

    @staticmethod
    def mix(z: int) -> int:
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
        return z ^ z >> 31

    def below(self, n: int) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) % WORD
        return (self.mix(self.word) >> 32) * n >> 32


def slow_cuts(choice: int, items: int) -> list[Box]:
    """The pieces of the square and where they were in it."""
    stream, pieces = Stream(choice), [(0, 0, SQUARE, SQUARE)]
    while len(pieces) < items:
        ways = [
            halves
            for number, (row, col, height, width) in enumerate(pieces)
            for halves in (
                *((number, (row, col, k, width), (row + k, col, height - k, width)) for k in range(1, height)),
                *((number, (row, col, height, k), (row, col + k, height, width - k)) for k in range(1, width)),
            )
        ]
        number, one, other = ways[stream.below(len(ways))]
        pieces[number] = one
        pieces.append(other)
    return pieces


@cache
def covered(box: Box) -> frozenset[Cell]:
    row, col, height, width = box
    return frozenset((r, c) for r in range(row, row + height) for c in range(col, col + width))


def slow_legal(occupied: set[Cell], left: Counter[tuple[int, int]]) -> list[int]:
    """Every item left, both ways round, wherever it lies on free cells and can slide neither left nor up."""
    found = []
    for height, width in {shape for item in left for shape in (item, item[::-1])}:
        rows, cols = range(BENCH - height + 1), range(BENCH - width + 1)
        fits = {(r, c) for r in rows for c in cols if covered((r, c, height, width)).isdisjoint(occupied)}
        corners = [(r, c) for r, c in fits if (r - 1, c) not in fits and (r, c - 1) not in fits]
        found += [number_of((row, col, height, width)) for row, col in corners]
    return sorted(found)


def number_of(box: Box) -> int:
    """The action that places an item so."""
    row, col, height, width = box
    return 225 * (10 * (height - 1) + width - 1) + 15 * row + col


def box_of(action: int) -> Box:
    shape, cell = divmod(action, 225)
    return cell // 15, cell % 15, shape // 10 + 1, shape % 10 + 1


def half_perimeter(occupied: set[Cell]) -> int:
    return max(row for row, _ in occupied) + max(col for _, col in occupied) + 2


def texts(boxes: list[Box]) -> str:
    """Placed items as a position's text has them."""
    return ",".join(f"{width}x{height}@{chr(ord('a') + col)}{row + 1}" for row, col, height, width in boxes)


def listed(game: Game, states: Int8s) -> list[list[int]]:
    counts, actions = game.legal(states)
    return [row[:count].tolist() for count, row in zip(counts, actions, strict=True)]


# Starts.


@pytest.mark.parametrize("id", [*LISTED, "bin_packing-2d-2"])
def test_items_are_cut_as_the_plain_rule_cuts_them(id: str) -> None:
    game = make_game(id)
    assert isinstance(game, BinPackingGame)
    choices = [*range(50), game.num_starts - 1]
    for choice, state in zip(choices, game.start(np.array(choices)), strict=True):
        pieces = slow_cuts(choice, game.num_items)
        assert Counter(game.left(state)) == Counter((max(h, w), min(h, w)) for _, _, h, w in pieces)
        assert game.placed(state) == []


def test_initial_positions_stay_what_they_are() -> None:
    """Results are reported for numbered starts, so these must never change without a new version of the game."""
    game = make_game("bin_packing-2d")
    assert [game.state_to_text(state) for state in game.start(np.array([0, 99_999]))] == [
        "/7x4,7x3,9x2,3x3,4x2,7x1,3x1,2x1,2x1,2x1",
        "/6x6,7x4,6x1,3x2,3x2,3x2,2x2,3x1,3x1,2x1",
    ]


@pytest.mark.parametrize("id", LISTED)
def test_the_square_can_always_be_put_together_again_and_is_the_best_outcome(id: str) -> None:
    game = make_game(id)
    assert isinstance(game, BinPackingGame)
    for choice in range(60):
        state = game.state_from_text(texts(slow_cuts(choice, game.num_items)) + "/")
        assert game.outcome(state[None])[0] == game.largest_outcome == 11
        assert game.plies(state[None])[0] == game.num_items == game.max_plies
    assert game.reward(np.array([11, 10, 1, 0])).tolist() == pytest.approx([1.0, 20 / 21, 20 / 30, 0.0])


# Rules.


@pytest.mark.parametrize(
    ("items", "games"), [(10, 100), (50, 10), *[pytest.param(n, 1000, marks=pytest.mark.slow) for n in (6, 10, 20, 30)]]
)
def test_random_games_equal_the_plain_rules_at_every_ply(items: int, games: int) -> None:
    game, rng = make_2d(items), np.random.default_rng(items)
    states = game.start(np.arange(games))
    boards: list[set[Cell]] = [set() for _ in states]
    left = [Counter(game.left(state)) for state in states]
    running = np.arange(games)
    while running.size:
        legal = listed(game, states[running])
        assert legal == [slow_legal(boards[number], left[number]) for number in running]
        chosen = np.array([rng.choice(actions) for actions in legal], dtype=np.int32)
        states[running] = game.advance(states[running], chosen)
        for number, action in zip(running, chosen.tolist(), strict=True):
            box = box_of(action)
            boards[number] |= covered(box)
            left[number] -= Counter([(max(box[2:]), min(box[2:]))])
        over = game.outcome(states[running]) != ONGOING
        for number in running[over]:
            stuck = bool(left[number])
            assert not stuck or slow_legal(boards[number], left[number]) == []
            assert game.outcome(states[number][None])[0] == (0 if stuck else 31 - half_perimeter(boards[number]))
        running = running[~over]


def test_leaf_counts_are_those_of_the_plain_rules() -> None:
    game = make_game("bin_packing-2d")
    state = game.start(np.zeros(1, dtype=np.int64))[0]
    frontier: list[tuple[set[Cell], Counter[tuple[int, int]]]] = [(set(), Counter(make_2d(10).left(state)))]
    for depth in (1, 2):
        following = []
        for board, left in frontier:
            for box in map(box_of, slow_legal(board, left)):
                following.append((board | covered(box), left - Counter([(max(box[2:]), min(box[2:]))])))
        frontier = following
        assert game.count_leaves(state, depth) == len(frontier)
    assert [game.count_leaves(state, depth) for depth in (1, 2, 3, 4)] == [15, 388, 10302, 272078]


def test_any_packing_slid_into_the_corner_can_be_played_in_a_box_no_larger() -> None:
    """What the module says about corners: they lose nothing. Boxes are strewn over the bench, then slide."""
    game, rng, tried = make_2d(6), np.random.default_rng(3), 0
    for choice in range(100):
        boxes: list[Box] = []
        for _, _, height, width in sorted(slow_cuts(choice, 6), key=lambda box: -box[2] * box[3]):
            taken: set[Cell] = set().union(*map(covered, boxes))
            places = [(r, c, height, width) for r in range(BENCH - height + 1) for c in range(BENCH - width + 1)]
            free = [box for box in places if covered(box).isdisjoint(taken)]
            boxes += free and [free[rng.integers(len(free))]]
        if len(boxes) < 6:
            continue
        tried += 1
        before = half_perimeter(set().union(*map(covered, boxes)))
        boxes = slid(boxes)
        after = half_perimeter(set().union(*map(covered, boxes)))
        state = game.state_from_text(texts(boxes) + "/")
        assert game.outcome(state[None])[0] == 31 - after
        assert after <= before
    assert tried > 50


def slid(boxes: list[Box]) -> list[Box]:
    """The packing after sliding boxes left and up as long as any of them can."""
    boxes, moved = list(boxes), True
    while moved:
        moved = False
        for number, (row, col, height, width) in enumerate(boxes):
            others: set[Cell] = set().union(*(covered(box) for i, box in enumerate(boxes) if i != number))
            for target in ((row, col - 1, height, width), (row - 1, col, height, width)):
                if min(target) >= 0 and covered(target).isdisjoint(others):
                    boxes[number], moved = target, True
                    break
    return boxes


@pytest.mark.parametrize("id", LISTED)
def test_a_shape_never_has_more_corners_than_the_bound_on_legal_moves_counts_on(id: str) -> None:
    game = make_game(id)
    states = game.start(np.arange(100))
    rng = np.random.default_rng(5)
    for placed in range(game.max_plies):
        legal = listed(game, states)
        corners = [len(list(group)) for actions in legal for _, group in groupby(actions, lambda action: action // 225)]
        assert max(corners) <= max(1, 2 * placed)
        chosen = np.array([rng.choice(actions) for actions in legal], dtype=np.int32)
        states = game.advance(states, chosen)
        states = states[game.outcome(states) == ONGOING]
    assert len(states) == 0


def test_play_ends_with_nothing_when_what_is_left_fits_nowhere() -> None:
    """A cell in the very middle of the bench is in the way of 10×8 wherever it lies."""
    game = make_game("bin_packing-2d")
    column = "1x3@a1,1x2@a4,1x2@a6,8x1@a8,1x1@b1,1x1@c1,1x1@d1,1x1@e1"
    going = game.state_from_text(f"{column}/10x8,1x1")
    assert {game.action_to_text(going, action)[:4] for action in listed(game, going[None])[0]} == {"1x1@"}
    stuck = game.state_from_text(f"{column},1x1@f1/10x8")
    assert game.outcome(stuck[None])[0] == 0 and listed(game, stuck[None]) == [[]]
    assert game.render(stuck).splitlines()[16:] == ["left, either way round: 10x8", "it fits nowhere: reward 0"]
    with pytest.raises(MoveError, match="the game is over"):
        game.text_to_action(stuck, "10x8@a1")


def test_the_bounds_on_legal_moves_are_those_of_the_documentation() -> None:
    assert [make_game(id).max_legal for id in LISTED] == [100, 400, 896, 1776]


def test_nested_search_packs_far_better_than_random_play() -> None:
    game = make_game("bin_packing-2d")
    starts = game.start(np.arange(10))
    assert game.rollout(starts, keyed_seeds(1, np.arange(10))).outcomes.mean() < 7
    found = [nmcs(game, state, keyed_seeds(1, number), level=2).outcome for number, state in enumerate(starts)]
    assert min(found) >= 10


@pytest.mark.parametrize("id", LISTED)
def test_bin_packing_obeys_the_laws(id: str) -> None:
    assert check(make_game(id), seed=2, games=3).violations == []


def test_the_compiled_rollout_is_plain_play() -> None:
    game = make_game("bin_packing-2d-20")
    starts = game.start(np.arange(20))
    fast = game.rollout(starts, keyed_seeds(2, np.arange(20)))
    plain = Game.rollout(game, starts, keyed_seeds(2, np.arange(20)))
    assert np.array_equal(fast.states, plain.states)


# What is seen.

FOUR = "3x5@a1,5x7@d1/10x3,5x4"


def test_a_network_sees_the_bench_the_box_and_what_is_left() -> None:
    game = make_2d(4)
    planes = game.observe(game.state_from_text(FOUR)[None])[0]
    assert planes.shape == (13, 15, 15)
    assert planes[0].sum() == 3 * 5 + 5 * 7 and not planes[0, 5:, :3].any()
    assert planes[1].sum() == 7 * 8 and planes[1, :7, :8].all()
    assert {(r, c): planes[2, r, c] for r, c in np.argwhere(planes[2]).tolist()} == {
        (2, 9): 1.0, (9, 2): 1.0, (3, 4): 1.0, (4, 3): 1.0,
    }  # fmt: skip
    assert planes[3:, 14, 14].tolist() == [0, 0, 0.25, 0.25, 0.25, 0, 0, 0, 0, 0.25]
    assert (planes[3:] == planes[3:, :1, :1]).all()


def test_a_square_item_has_two_equal_sides() -> None:
    planes = make_2d(2).observe(make_2d(2).state_from_text("/10x5,10x5")[None])[0]
    assert planes[2, 4, 9] == planes[2, 9, 4] == 2.0 and planes[7, 0, 0] == planes[12, 0, 0] == 1.0
    game = make_2d(3)
    planes = game.observe(game.state_from_text("/10x5,5x5,5x5")[None])[0]
    assert planes[2, 4, 4] == 2.0 and planes[7, 0, 0] == pytest.approx(5 / 3)


def test_a_drawing_shows_numbers_the_box_and_what_is_left() -> None:
    game = make_2d(4)
    lines = game.render(game.state_from_text(FOUR)).splitlines()
    assert lines[0].split() == list("abcdefghijklmno")
    assert lines[1].split() == ["1", *"444", *"11111", *"......."]
    assert lines[6].split() == ["6", *"...", *"11111", *"......."]
    assert lines[16:] == ["left, either way round: 10x3, 5x4", "box 8x7, reward 1.000 at most"]
    done = game.render(game.state_from_text("10x4@a1,10x3@a5,7x3@a8,3x3@h8/")).splitlines()
    assert done[16:] == ["box 10x10, reward 1.000"]


def test_equal_items_are_numbered_from_the_top_left() -> None:
    game = make_2d(4)
    state = game.state_from_text("5x5@a1,5x5@a6/5x5,5x5")
    assert [(number, row) for number, (row, _, _) in game.numbered(state)] == [(1, 0), (2, 5)]


def test_the_picture_shows_every_item_once() -> None:
    game = make_2d(4)
    for text in (FOUR, "/10x4,10x3,7x3,3x3"):
        assert game.svg(game.state_from_text(text)).count('rx="3"') == 4


# Text.


def test_a_position_reads_the_same_in_any_order_and_case() -> None:
    game, rng = make_game("bin_packing-2d"), np.random.default_rng(5)
    ends = game.rollout(game.start(np.arange(10)), keyed_seeds(6, np.arange(10)))
    for end in ends.states:
        words = game.state_to_text(end).rstrip("/").upper().split(",")
        rng.shuffle(words)
        assert np.array_equal(game.state_from_text(",".join(words) + "/"), end)


@pytest.mark.parametrize(
    "text",
    [
        "", "/", "10x5,10x5", "/10x5", "/10x5,10x5,1x1", "/11x5,9x5", "/0x5,10x10", "/10x5x1,10x5", "/ax5,10x5",
        "10x5@b1/10x5", "10x5@a1,10x5@a5/", "10x5@a1,10x5@a1/", "10x5@p1/10x5", "10x5@a0/10x5", "10x5@/10x5",
        "10x5@a1/10x5/",
    ],
)  # fmt: skip
def test_a_position_that_cannot_be_is_one_clear_line(text: str) -> None:
    with pytest.raises(MoveError, match="placed items, a slash, items left, 2 of them with an area of 100") as caught:
        make_2d(2).state_from_text(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("e2", "'e2' is not a move: write WIDTHxHEIGHT@CELL, for example 3x10@"),
        ("10x3@b1", "'10x3@b1' is not a legal move here; 10x3 can be placed at a8"),
        ("2x2@a1", "'2x2@a1' is not a legal move here: 2x2 is not left; left: 10x3, 5x4"),
    ],
)
def test_an_illegal_move_is_told_what_could_be_played_instead(move: str, message: str) -> None:
    game = make_2d(4)
    with pytest.raises(MoveError) as caught:
        game.text_to_action(game.state_from_text(FOUR), move)
    assert message in str(caught.value)


def test_an_item_that_fits_nowhere_is_said_to() -> None:
    game = make_game("bin_packing-2d")
    state = game.state_from_text("1x3@a1,1x2@a4,1x2@a6,8x1@a8/10x8,1x1,1x1,1x1,1x1,1x1")
    with pytest.raises(MoveError, match="10x8 fits nowhere; left: 10x8, 5 of 1x1"):
        game.text_to_action(state, "10x8@a9")


def test_other_numbers_of_items_are_refused_and_ten_is_the_usual_one() -> None:
    for items in (1, 51):
        with pytest.raises(GameError, match="2 to 50 items, for example bin_packing-2d-20"):
            make_2d(items)
    assert make_game("bin_packing-2d-10").id == "bin_packing-2d"
