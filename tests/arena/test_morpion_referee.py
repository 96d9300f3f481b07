"""The plain rules of Morpion against the kernels, and against the rules in words (sources: Morpion solitaire)."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from palaestra.arena import morpion_referee as referee
from palaestra.arena.morpion_referee import Wrong, start, write_point
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING

IDS = ["morpion-4d", "morpion-4t", "morpion-5d", "morpion-5t"]


def test_the_referee_imports_nothing_of_the_project() -> None:
    tree = ast.parse(Path(referee.__file__).read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert imported <= {"__future__", "re", "dataclasses"}


@pytest.mark.parametrize("id", [*IDS, "morpion-5d-12x12", "morpion-4t-9x9"])
def test_referee_and_engine_allow_the_same_lines_in_random_games(id: str) -> None:
    game, rng = make_game(id), np.random.default_rng(3)
    for _ in range(2):
        state, grid = game.initial(1)[0], start(id)
        while True:
            counts, actions = game.legal(state[None])
            texts = [game.action_to_text(state, action) for action in actions[0, : counts[0]].tolist()]
            assert sorted(texts) == grid.legal()
            if game.outcome(state[None])[0] != ONGOING:
                break
            place = int(rng.integers(counts[0]))
            grid.draw(texts[place])
            state = game.advance(state[None], actions[:, place])[0]
        assert len(grid.lines) == game.outcome(state[None])[0]
        assert len(set(grid.points)) == len(grid.points)


@pytest.mark.parametrize("id", IDS)
def test_every_line_that_the_engine_forbids_is_wrong(id: str) -> None:
    """All lines of the grid, tried in a position in the middle of a random game."""
    game, rng = make_game(id), np.random.default_rng(5)
    state, grid = game.initial(1)[0], start(id)
    for _ in range(10):
        counts, actions = game.legal(state[None])
        action = actions[0, rng.integers(counts[0])]
        grid.draw(game.action_to_text(state, int(action)))
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    counts, actions = game.legal(state[None])
    legal = set(actions[0, : counts[0]].tolist())
    for action in range(game.num_actions):
        if action not in legal:
            with pytest.raises(Wrong):
                grid.draw(game.action_to_text(state, action))
    assert len(grid.lines) == 10


def test_each_reason_is_told() -> None:
    """Row 14 of 5D, the fourth of the cross, is oooo..oooo from k to t."""
    grid = start("morpion-5d")
    grid.draw("K14E")  # brings o14
    assert write_point(grid.lines[0].new) == "o14"
    with pytest.raises(Wrong, match=r"shares o14 with line 1, K14E; such lines may share no point"):
        grid.draw("o14e")
    with pytest.raises(Wrong, match=r"all its 5 points are there already"):
        grid.draw("k14e")
    with pytest.raises(Wrong, match=r"l15, m15, n15, o15 are missing, and a line brings only one"):
        grid.draw("k15e")
    for text in ("k14", "14ke", "k14n", "k0e", "", "k14ee"):
        with pytest.raises(Wrong, match="not a line"):
            grid.draw(text)
    with pytest.raises(Wrong, match="leaves the board of 12×12 points"):
        start("morpion-5d-12x12").draw("k5e")
    touching = start("morpion-5t")  # the same row, two columns and rows further
    touching.draw("m16e")
    touching.draw("q16e")
    with pytest.raises(Wrong, match=r"shares m16, n16, o16, p16 with line 1, m16e; such lines may share at most one"):
        touching.draw("l16e")
    assert [line.text for line in touching.lines] == ["m16e", "q16e"]


@pytest.mark.parametrize("id", ["morpion-6d", "morpion-5", "morpion", "morpion-5d-22x20", "hex-3x3", "5d"])
def test_other_games_are_not_known(id: str) -> None:
    assert not referee.knows(id)
