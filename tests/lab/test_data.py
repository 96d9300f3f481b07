"""Tidy rows and their file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from palaestra.base.errors import RecordError
from palaestra.lab.data import ALWAYS, Data, read_csv

ROWS = [
    {"measured": "curve", "game": "hex-3x3", "arm": "1", "seed": seed, "iteration": at, "loss": 1 / (3 * at + seed)}
    for seed in (0, 1)
    for at in (1, 2, 3)
] + [{"measured": "curve", "game": "hex-3x3", "arm": 'a "b", c', "seed": 0, "iteration": 1, "loss": math.nan}]


def test_a_file_gives_back_exactly_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(Data.of(ROWS).to_csv())
    found = read_csv(tmp_path / "data.csv")
    assert found.rows[:6] == tuple(ROWS[:6]), "numbers to the last bit, and an arm called 1 stays a text"
    assert found.rows[6] == {**ROWS[6], "loss": None}
    assert found.columns == [*ALWAYS, "iteration", "loss"]


def test_curves_stand_where_every_seed_has_a_value() -> None:
    at, loss = Data.of(ROWS[:5]).where(arm="1").curve("loss")
    assert at.tolist() == [1, 2] and loss.tolist() == [[1 / 3, 1 / 6], [1 / 4, 1 / 7]]
    assert Data.of(ROWS).where(arm="1", iteration=(1, 3)).per_seed("loss").tolist() == pytest.approx(
        [(1 / 3 + 1 / 9) / 2, (1 / 4 + 1 / 10) / 2]
    )
    assert Data.of([]).curve("loss")[1].size == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin with measured,game,arm,seed"),
        ("a,b\n1,2\n", "does not begin with"),
        ("measured,game,arm,seed,x\na,b,c,0\n", "line 2 has 4 of 5 cells"),
        ('measured,game,arm,seed,x\n"a,b,c,0,1\n', "unexpected end of data"),
        ("measured,game,arm,seed\n\xff", "utf-8"),
    ],
)
def test_a_damaged_file_is_told_of_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "data.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(RecordError, match="writes it anew") as told:
        read_csv(tmp_path / "data.csv")
    assert why in str(told.value) and "\n" not in str(told.value)
