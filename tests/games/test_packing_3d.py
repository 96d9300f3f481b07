"""Bin packing in three dimensions: cuts, places and outcomes against the referee, and the cube put together again."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.arena import packing_referee
from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.laws import check
from palaestra.games.packing_3d import Packing3dGame, make
from palaestra.games.registry import make_game
from palaestra.search.nested import nmcs

GAME = make(10)
Box = tuple[int, int, int, int, int, int]  # column, row, layer, width, depth, height


def cut_boxes(items: int, number: int) -> list[Box]:
    """The pieces of the cube and where they were in it."""
    boxes: list[Box] = [(0, 0, 0, 10, 10, 10)]
    words = packing_referee.words_of(number)
    while len(boxes) < items:
        cuts = [(i, axis, at) for i, one in enumerate(boxes) for axis in range(3) for at in range(1, one[3 + axis])]
        i, axis, at = cuts[((next(words) >> 32) * len(cuts)) >> 32]
        one, other = list(boxes[i]), list(boxes[i])
        one[3 + axis] = at
        other[axis] += at
        other[3 + axis] -= at
        boxes[i] = tuple(one)  # type: ignore[assignment]
        boxes.append(tuple(other))  # type: ignore[arg-type]
    return boxes


def play(game: Packing3dGame, state: Int8s, words: list[str]) -> Int8s:
    for word in words:
        action = game.text_to_action(state, word)
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    return state


@pytest.mark.parametrize("id", ["bin_packing-3d", "bin_packing-3d-2", "bin_packing-3d-50"])
def test_every_size_obeys_the_laws(id: str) -> None:
    assert check(make_game(id), games=6).violations == [] and make_game(id).id == id


@pytest.mark.parametrize("items", [10, 20])
def test_the_cube_can_always_be_built_again_and_is_the_best_outcome(items: int) -> None:
    game = make(items)
    for number in range(25):
        boxes = sorted(cut_boxes(items, number), key=lambda box: (box[2], box[1], box[0]))
        words = [
            part for col, row, _, *sides in boxes for part in ("x".join(map(str, sides)), f"{chr(97 + col)}{row + 1}")
        ]
        state = play(game, game.start(np.array([number]))[0], words)
        assert game.outcome(state[None])[0] == 376 == game.largest_outcome
        assert [(col, row, layer, *sides) for col, row, layer, sides in game.placed(state)] == boxes
    assert game.reward(np.array([376, 0, 1], dtype=np.int32)).tolist() == pytest.approx([1, 0, 300 / 675])


@pytest.mark.parametrize("items", [10, 30])
def test_random_games_are_worth_what_the_referee_counts(items: int) -> None:
    game = make(items)
    ends = game.rollout(game.start(np.arange(60)), keyed_seeds(1, np.arange(60)), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    for number in range(60):
        line = ends.moves[number, : ends.lengths[number]].tolist()
        words = game.line_to_texts(game.start(np.array([number]))[0], line)
        assert packing_referee.judge(game.id, number, words) == ends.outcomes[number]
    assert items != 10 or 0 in ends.outcomes, "an item that fits nowhere ends the game with nothing"


def test_places_are_exactly_those_that_the_referee_lets_pass() -> None:
    state = play(GAME, GAME.start(np.array([3]))[0], ["5x4x1", "a1", "5x6x7", "a5", "10x7x2", "a1", "2x3x10"])
    counts, actions = GAME.legal(state[None])
    legal = {GAME.action_to_text(state, int(action)) for action in actions[0, : counts[0]]}
    filled = {
        (col + x, row + y, layer + z)
        for col, row, layer, (width, depth, height) in GAME.placed(state)
        for x in range(width)
        for y in range(depth)
        for z in range(height)
    }
    found = set()
    for place in (f"{col}{row}" for col in "abcdefghijklmno" for row in range(1, 16)):
        try:
            packing_referee._let_down((2, 3, 10), place, filled)
            found.add(place)
        except packing_referee.Wrong:
            continue
    assert legal == found and found


def test_an_item_counts_in_all_its_orientations_once() -> None:
    game = make(2)
    state = game.start(np.array([0]))[0]
    counts, actions = game.legal(state[None])
    texts = [game.action_to_text(state, int(action)) for action in actions[0, : counts[0]]]
    assert len(set(texts)) == len(texts)
    for item in game.left(state):
        ways = {f"{a}x{b}x{c}" for a, b, c in (item, item[::-1], (item[1], item[0], item[2]))}
        assert ways <= set(texts)


def test_nested_search_packs_far_better_than_random_play() -> None:
    states = GAME.start(np.arange(3))
    chance = GAME.rollout(GAME.start(np.arange(200)), keyed_seeds(0, np.arange(200))).outcomes.mean()
    found = [nmcs(GAME, state, np.array([1], dtype=np.uint64), 1).outcome for state in states]
    assert min(found) > chance + 60


def test_a_drawing_shows_every_item_and_the_places_of_the_chosen_one() -> None:
    state = play(GAME, GAME.start(np.array([3]))[0], ["5x4x1", "a1", "2x3x10"])
    assert "to be placed: 2x3x10" in GAME.render(state) and "box 5x4x1, reward 1.000 at most" in GAME.render(state)
    assert GAME.svg(state).count("stroke-linejoin") == 3 * 10, "three sides of each of ten items"
    action = GAME.text_to_action(state, "f1")
    spot = GAME.spot(state, action, state)
    assert spot is not None and len(spot.outline) == 4
    start = GAME.start(np.array([3]))[0]
    one, other = (GAME.spot(start, GAME.text_to_action(start, text), start) for text in ("5x6x7", "7x6x5"))
    assert one == other is not None, "an item is chosen by its picture, whichever way it is to stand"
    assert GAME.spot(start, 0, start) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("9x9x9", "is no item that is left; choose one"),
        ("a1", "is no item that is left"),
        ("zz", "is no item that is left"),
    ],
)
def test_a_move_that_cannot_be_is_told_what_can(text: str, words: str) -> None:
    state = GAME.start(np.array([3]))[0]
    with pytest.raises(MoveError, match=words):
        GAME.text_to_action(state, text)
    chosen = play(GAME, state, ["5x4x1"])
    with pytest.raises(MoveError, match="is no place for 5x4x1 here; there are a1"):
        GAME.text_to_action(chosen, "b2")
    for wrong in ("", "//", "5x4x1@a1//", "5x4x1@b2//5x6x7", "1x1x1@a1/2x2x2/1000x1x1"):
        with pytest.raises(MoveError, match="is not a position of bin_packing-3d"):
            GAME.state_from_text(wrong)
    with pytest.raises(GameError, match="2 to 50 items"):
        make_game("bin_packing-3d-1")


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (["9x9x9", "a1"], "not among the items"),
        (["5x4x1", "b1"], "could slide left"),
        (["5x4x1", "a2"], "could slide back"),
        (["5x4x1", "o1"], "does not fit on the bench"),
        (["5x4x1", "a1"], "9 items are left"),
        (["5x4x1"], "chosen and not placed"),
        (["big"], "is no item"),
        (["5x4x1", "z9"], "is no place"),
    ],
)
def test_the_referee_says_what_is_wrong(moves: list[str], words: str) -> None:
    with pytest.raises(packing_referee.Wrong, match=words):
        packing_referee.judge("bin_packing-3d", 3, moves)
