"""Solutions as text: what is written is read back, one or several, and what is none is refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import MoveError, RecordError
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.runs.solutions import (
    Solution,
    final_state,
    line_of,
    make_solution,
    parse_solution,
    parse_solutions,
    read_text,
)
from tests.arena.test_solutions import random_solution

MORPION = make_game("morpion-4d")


def test_an_opening_stands_before_the_moves() -> None:
    state = MORPION.from_moves("m15e")
    ends = MORPION.rollout(state[None], keyed_seeds(1), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    found = make_solution(MORPION, "m15e", ends.moves[0, : ends.lengths[0]].tolist())
    assert found.rows[0] == "m15e" and found.score == len(found.rows) == ends.outcomes[0]
    assert np.array_equal(final_state(found, MORPION), ends.states[0])


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("", "it has no game and no score and no moves"),
        ("game: morpion-5d\nscore: 5\nmoves:\n", "it has no moves"),
        ("game: morpion-5d\nmoves:\nk14e", "it has no score"),
        ("game: morpion-5d\nscore: many\nmoves: k14e", "the score is 'many', not a whole number"),
        ("game: morpion-5d\ngame: hex-3x3", "line 2 gives game a second time"),
        ("\x00\x01\x02", "line 1 cannot be read"),
        ("#" * 1_000_001, "more than 1,000,000 characters"),
        ("k14e\nl14e", "line 1 cannot be read"),
    ],
)
def test_what_is_no_solution_is_refused_in_one_line(text: str, piece: str) -> None:
    with pytest.raises(RecordError) as error:
        parse_solution(text, "file.txt")
    message = str(error.value)
    assert message.startswith("file.txt") and piece in message and "\n" not in message


def test_a_file_may_hold_several_solutions_one_behind_the_other() -> None:
    first, second = (random_solution(MORPION, seed) for seed in (1, 2))
    text = f"{first}{second}"
    read = parse_solutions(text, "f")
    assert [(one.game, one.score, one.rows) for one in read] == [
        (one.game, one.score, one.rows) for one in (first, second)
    ]
    lines = text.splitlines()
    assert [[lines[place - 1] for place in one.places] for one in read] == [list(one.rows) for one in read]
    assert parse_solutions(str(first), "f") == [parse_solution(str(first), "f")]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("", "it has no game"),
        ("game: morpion-5d\nscore: 5\nmoves: k14e\n\n game : morpion-5d\nscore: 5\n", "it has no moves"),
        ("game: morpion-5d\nscore: 5\nmoves: k14e\ngame: morpion-5d\nnonsense", "line 5 cannot be read"),
        ("#" * 1_000_001, "more than 1,000,000 characters"),
    ],
)
def test_one_of_several_that_is_none_is_named_by_its_line_of_the_file(text: str, piece: str) -> None:
    with pytest.raises(RecordError) as error:
        parse_solutions(text, "file.txt")
    assert str(error.value).startswith("file.txt") and piece in str(error.value) and "\n" not in str(error.value)


def test_a_solution_is_its_initial_position_and_its_actions() -> None:
    game = make_game("bin_packing-2d")
    start = game.start(np.array([3]))
    ends = game.rollout(start, keyed_seeds(1), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    actions = ends.moves[0, : ends.lengths[0]].tolist()
    state, played = line_of(parse_solution(str(make_solution(game, "@3", actions)), "f"), game)
    assert np.array_equal(state, start[0]) and played == actions
    with pytest.raises(MoveError, match="move 1"):
        line_of(Solution("morpion-4d", 1, ("zz",)), MORPION)


def test_a_file_that_is_not_there_or_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x80")
    for name, piece in (("bytes", "it is not text"), ("nothing", "cannot read"), (".", "it is a folder")):
        with pytest.raises(RecordError, match=piece) as error:
            read_text(tmp_path / name)
        assert "\n" not in str(error.value)
