"""What an experiment has observed: tidy rows, one an observation, kept as CSV. Knows no experiment.

Every row has the columns of `ALWAYS`: which measure made it, the game, the arm and the seed. A number that is not there
is an empty cell in the file and NaN in arrays.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palaestra.base.errors import RecordError
from palaestra.base.reading import read_bytes
from palaestra.base.types import Float64s

Value = str | int | float | None
Row = Mapping[str, Value]
ALWAYS = ("measured", "game", "arm", "seed")
TEXTS = frozenset(("measured", "game", "arm", "opponent"))  # a text here stays one, whatever it looks like
MOST_BYTES = 200_000_000


@dataclass(frozen=True, eq=False)
class Data:
    """Rows of observations."""

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Data:
        return cls(tuple(rows))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> list[str]:
        """Names of all columns: those of every row first, then in the order of appearance."""
        return list(dict.fromkeys([*ALWAYS, *(name for row in self.rows for name in row)]))

    def where(self, **wanted: Value | tuple[Value, ...]) -> Data:
        """The rows whose columns have these values, or one of several values."""
        sets = {name: value if isinstance(value, tuple) else (value,) for name, value in wanted.items()}
        return Data(tuple(row for row in self.rows if all(row.get(name) in some for name, some in sets.items())))

    def unique(self, column: str) -> list[Value]:
        """The values of a column in the order of their first appearance; rows without one are passed over."""
        return list(dict.fromkeys(row[column] for row in self.rows if row.get(column) is not None))

    def texts(self, column: str) -> list[str]:
        """`unique`, as texts."""
        return [str(value) for value in self.unique(column)]

    def by(self, column: str) -> dict[str, Data]:
        """The rows of each value of a column."""
        return {str(value): self.where(**{column: value}) for value in self.unique(column)}

    def numbers(self, column: str) -> Float64s:
        """float64[rows]: a column, NaN where a row has no number."""
        values = (row.get(column) for row in self.rows)
        return np.array([v if isinstance(v, int | float) else math.nan for v in values], dtype=np.float64)

    def total(self, column: str) -> float:
        """The sum of a column; rows without a number count 0."""
        return float(np.nansum(self.numbers(column)))

    def per_seed(self, column: str) -> Float64s:
        """float64[S]: for each seed, ascending, the mean of a column over its rows; NaN where a seed has none."""
        seeds = sorted(self.unique("seed"), key=float_of)
        means = (self.where(seed=seed).numbers(column) for seed in seeds)
        return np.array([np.mean(known) if (known := m[np.isfinite(m)]).size else math.nan for m in means])

    def curve(self, column: str, over: str = "iteration") -> tuple[Float64s, Float64s]:
        """float64[X] and float64[S, X]: a column over another, seed by seed, where every seed has a value."""
        series = [dict(zip(one.numbers(over), one.numbers(column), strict=True)) for one in self.by("seed").values()]
        known = [{x for x, y in one.items() if math.isfinite(y)} for one in series]
        at = sorted(set.intersection(*known)) if known else []
        return np.array(at), np.array([[one[x] for x in at] for one in series]).reshape(len(series), len(at))

    def to_csv(self) -> bytes:
        """The file's content; numbers are written so that they are read back exactly."""
        columns, out = self.columns, io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row.get(name)) for name in columns] for row in self.rows)
        return out.getvalue().encode()


def read_csv(path: Path) -> Data:
    """The observations in a file; RecordError if it is not as `to_csv` wrote it."""
    try:
        text = read_bytes(path, MOST_BYTES).decode()
        table = list(csv.reader(io.StringIO(text), strict=True))
    except FileNotFoundError:
        raise RecordError(f"there is no {path}") from None
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, str(error)) from None
    if not table or tuple(table[0][: len(ALWAYS)]) != ALWAYS:
        raise damaged(path, f"it does not begin with {','.join(ALWAYS)}")
    names = table[0]
    for number, cells in enumerate(table[1:], start=2):
        if len(cells) != len(names):
            raise damaged(path, f"line {number} has {len(cells)} of {len(names)} cells")
    return Data.of({name: _value(name, cell) for name, cell in zip(names, cells, strict=True)} for cells in table[1:])


def damaged(path: Path, why: str) -> RecordError:
    return RecordError(
        f"{path} is damaged ({' '.join(why.split())}); give the experiment's command again, which writes it anew from"
        " its finished jobs"
    )


def float_of(value: Value) -> float:
    """A number as a float; texts and nothing come last."""
    return float(value) if isinstance(value, int | float) else math.inf


def _cell(value: Value) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _value(name: str, cell: str) -> Value:
    if name in TEXTS:
        return cell
    if not cell:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
