"""SVG documents are well-formed and show the stones that are on the board."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from palaestra.games.registry import FAMILIES, make_game
from palaestra.games.svg import LOOKS, document, grid_document, label, text_document

SVG = "{http://www.w3.org/2000/svg}"
CELLS = np.array([[1, 0, -1], [0, 1, 0]], dtype=np.int8)


def elements(text: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iter(SVG + tag))


@pytest.mark.parametrize("look", LOOKS)
def test_a_grid_shows_one_circle_per_stone_in_its_player_colour(look: str) -> None:
    fills = [circle.get("fill") for circle in elements(grid_document(CELLS, look), "circle")]
    _, first, second, hole = LOOKS[look]
    assert [fill for fill in fills if fill != hole] == [first, second, first]
    assert len(fills) == (3 if hole is None else CELLS.size)


def test_stones_stand_where_their_cells_are() -> None:
    places = [(float(c.get("cx")), float(c.get("cy"))) for c in elements(grid_document(CELLS), "circle")]
    (x, y), (right_x, right_y), (below_x, below_y) = places
    assert right_y == y and right_x > below_x > x and below_y > y


def test_rows_and_columns_are_named_around_the_grid() -> None:
    names = [text.text for text in elements(grid_document(CELLS), "text")]
    assert sorted(names) == ["1", "2", "a", "b", "c"]
    renamed = [text.text for text in elements(grid_document(CELLS, row_names=["2", "1"]), "text")]
    assert [name for name in renamed if name.isdigit()] == ["2", "1"]


def test_a_document_is_as_large_as_it_says() -> None:
    root = ElementTree.fromstring(document(120, 80.5, []))
    assert (root.tag, root.get("width"), root.get("height")) == (SVG + "svg", "120", "80.5")
    assert root.get("viewBox") == "0 0 120 80.5"


@pytest.mark.parametrize("text", ["<&>\"'", "a < b\n  & c", ""])
def test_text_is_escaped_and_kept_line_by_line(text: str) -> None:
    lines = [element.text or "" for element in elements(text_document(text), "text")]
    assert lines == (text.splitlines() or [""])
    assert elements(document(9, 9, [label(1, 2, text)]), "text")[0].text in (text, None)


@pytest.mark.parametrize("id", [entry.examples[0] for entry in FAMILIES.values()])
def test_every_family_draws_its_positions(id: str) -> None:
    game = make_game(id)
    start = game.start(np.zeros(1, dtype=np.int64))[0]
    played = game.rollout(start[None], np.ones(1, dtype=np.uint64)).states[0]
    drawings = [game.svg(start), game.svg(played)]
    assert all(ElementTree.fromstring(drawing).tag == SVG + "svg" for drawing in drawings)
    assert drawings[0] != drawings[1]
