"""What is laid over a drawing stands where the moves are, and nothing that is text gets out of its element."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.overlay import DECIDING, LAST, SHADE, has_spots, overlaid
from palaestra.games.python_game import PythonGame
from palaestra.games.registry import FAMILIES, make_game
from palaestra.games.svg import CELL, MARGIN
from tests.live.test_targets import Heap

SVG = "{http://www.w3.org/2000/svg}"
FIRST_IDS = [entry.examples[0] for entry in FAMILIES.values()]


def paths(text: str, colour: str) -> list[str]:
    found = ElementTree.fromstring(text).iter(SVG + "path")
    return [path.get("d", "") for path in found if colour in (path.get("fill"), path.get("stroke"))]


def words(text: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(text).iter(SVG + "text")]


def played(game: Game, plies: int) -> list[Int8s]:
    states = [game.start(np.zeros(1, dtype=np.int64))[0]]
    for _ in range(plies):
        action = game.legal(states[-1][None])[1][0, :1]
        states.append(game.advance(states[-1][None], action)[0])
    return states


@pytest.mark.parametrize("id", FIRST_IDS)
def test_every_family_places_its_moves_inside_its_drawing(id: str) -> None:
    game = make_game(id)
    assert has_spots(game)
    for state in played(game, 2):
        root = ElementTree.fromstring(game.svg(state))
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        counts, actions = game.legal(state[None])
        for action in actions[0, : counts[0]].tolist():
            spot = game.spot(state, action, state)
            assert spot is not None
            for x, y in (*spot.outline, spot.at):
                assert -0.01 <= x <= width + 0.01 and -0.01 <= y <= height + 0.01


@pytest.mark.parametrize("id", FIRST_IDS)
def test_the_last_move_is_marked_in_every_family(id: str) -> None:
    game = make_game(id)
    before, after = played(game, 1)
    action = int(game.legal(before[None])[1][0, 0])
    assert len(paths(overlaid(game, after, last=(before, action)), LAST)) == 1


def test_a_stone_falls_to_the_lowest_free_cell() -> None:
    game = make_game("connect_four-6x7")
    state = game.from_moves("44")
    spot = game.spot(state, 3, state)
    assert spot is not None and spot.at == (MARGIN + 3.5 * CELL, MARGIN + 3.5 * CELL)


def test_likelier_moves_are_darker_and_every_move_has_its_number() -> None:
    game = make_game("tic_tac_toe-3x3")
    text = overlaid(game, game.from_moves("b2"), {0: 0.9, 1: 0.1}, {0: "+.50", 1: "-1"})
    shades = [path for path in ElementTree.fromstring(text).iter(SVG + "path") if path.get("fill") == SHADE]
    opacity = {path.get("d", "").split("L")[0]: float(path.get("fill-opacity", 0)) for path in shades}
    assert opacity[f"M{MARGIN:.2f} {MARGIN:.2f}"] > opacity[f"M{MARGIN + CELL:.2f} {MARGIN:.2f}"] > 0
    assert {"+.50", "-1"} <= set(words(text))


@pytest.mark.parametrize(
    ("id", "moves", "count"),
    [
        ("connect_four-6x7", "1213141", 4),
        ("gobang-6x6", "a1 a2 b1 b2 d1 d2 c1", 4),
        ("tic_tac_toe-3x3", "a3 a1 b2 b1 c1", 3),
        ("hex-3x3", "a1 b2 b1 c1 a2 c2 a3", 4),
        ("connect_four-6x7", "121314", 0),
        ("othello-4x4", "", 0),
    ],
)
def test_the_winning_line_is_marked(id: str, moves: str, count: int) -> None:
    game = make_game(id)
    assert len(paths(overlaid(game, game.from_moves(moves)), DECIDING)) == count


def test_a_pass_has_no_place() -> None:
    game = make_game("othello-4x4")
    state = game.initial(1)[0]
    assert game.spot(state, game.num_actions - 1, state) is None
    assert paths(overlaid(game, state, {game.num_actions - 1: 1.0}), SHADE) == []


def test_text_is_escaped() -> None:
    game = make_game("tic_tac_toe-3x3")
    text = overlaid(game, game.initial(1)[0], {0: 1.0}, {0: "</svg><script>"})
    assert "<script" not in text and "</svg><script>" in words(text)


def test_moves_that_would_cover_each_other_are_drawn_once() -> None:
    game = make_game("bin_packing-2d")
    state = game.from_moves("@0")
    counts, actions = game.legal(state[None])
    legal = actions[0, : counts[0]].tolist()
    shown = [word for word in words(overlaid(game, state, dict.fromkeys(legal, 0.1), dict.fromkeys(legal, "!")))]
    assert 1 <= shown.count("!") < len(legal)


def test_a_game_without_a_board_is_drawn_as_it_is() -> None:
    game = PythonGame.of(Heap(), id="heap", num_actions=2, max_plies=5)
    state = game.initial(1)[0]
    assert not has_spots(game)
    assert overlaid(game, state, {0: 1.0}, {0: "x"}) == game.svg(state)
