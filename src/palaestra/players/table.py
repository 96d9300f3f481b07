"""A table of action values with one row a (role, state): a growing open-addressing hash table in arrays, and its file.

What tells rows apart is the state's own bytes. The outcome is left out (only positions that are not over have rows),
and the ply may be: in games where stones are only added it follows from the board, so that it costs nothing to keep
it; where positions come back, leaving it out makes the table smaller, and blind to how close a limit on plies is. Byte
1 of the header, which games do not use (`palaestra.games.rows`), holds the role: off its turn a role has a row, too,
with one value, as in GDL, where it plays `noop` then.

Values lie one after the other, as many for a row as it has legal actions, in their order. A file is safetensors; its
hash is inside, and nothing in it is executed. How values are learned is not known here.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.jit import inlined, kernel
from palaestra.base.reading import parse_json, read_bytes
from palaestra.base.streams import below, mix
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games import bits
from palaestra.games.base import Game

Arrays = dict[str, np.ndarray[Any, Any]]
EMPTY = -1  # a slot that no row lies in
NO_ROW = -1
ROWS, VALUES = 0, 1  # entries of `sizes`
FORMAT = 1
_MOVER, _PLY = 0xFF, 0xFFFF0000  # bits of the header's word
_STEP, _ROLE_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(8)


class Rows(NamedTuple):
    """The arrays of a table, as kernels take them."""

    slots: Int32s  # [C] number of the row that lies here, or EMPTY; C is a power of two, at least half of them empty
    keys: UInt64s  # [E, K] the words of each row's state; word 0 holds role and mover, and the ply if it counts
    first: Int64s  # [E+1] where a row's values begin; the next row's begin where they end
    values: Float64s  # [V]
    sizes: Int64s  # [2] rows and values in use
    header: np.uint64  # which bits of the state's header count


@inlined
def _word(rows: Rows, state: Int8s, role: int, index: int) -> np.uint64:
    """Word `index` of a row's key."""
    word = bits.load(state, index)
    return (word & rows.header) | (np.uint64(role) << _ROLE_SHIFT) if index == 0 else word


@kernel
def _slot(rows: Rows, state: Int8s, role: int) -> np.int64:
    """Where a (role, state) lies, or the empty slot where it would."""
    hashed = np.uint64(0)
    for k in range(rows.keys.shape[1]):
        hashed = mix((hashed ^ _word(rows, state, role, k)) + _STEP)
    mask = rows.slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while rows.slots[slot] != EMPTY:
        row, same = rows.slots[slot], True
        for k in range(rows.keys.shape[1]):
            same &= rows.keys[row, k] == _word(rows, state, role, k)
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def find(rows: Rows, state: Int8s, role: int) -> np.int64:
    """The row of a (role, state), or NO_ROW."""
    return np.int64(rows.slots[_slot(rows, state, role)])


@kernel
def find_or_add(rows: Rows, state: Int8s, role: int, count: int) -> np.int64:
    """The row of a (role, state); a new one has `count` values, all 0. There must be room (`Table.reserve`)."""
    slot = _slot(rows, state, role)
    if rows.slots[slot] != EMPTY:
        return np.int64(rows.slots[slot])
    row, begin = rows.sizes[ROWS], rows.sizes[VALUES]
    rows.slots[slot] = row
    for k in range(rows.keys.shape[1]):
        rows.keys[row, k] = _word(rows, state, role, k)
    for i in range(begin, begin + count):
        rows.values[i] = 0.0
    rows.first[row + 1] = begin + count
    rows.sizes[ROWS] += 1
    rows.sizes[VALUES] += count
    return np.int64(row)


@inlined
def best_value(rows: Rows, row: int) -> np.float64:
    """max Q of a row."""
    best = rows.values[rows.first[row]]
    for i in range(rows.first[row] + 1, rows.first[row + 1]):
        best = max(best, rows.values[i])
    return best


@kernel
def greedy(rows: Rows, row: int, streams: UInt64s, stream: int) -> np.int64:
    """The place of the largest value; of several, one is drawn from the stream, which is otherwise left alone."""
    best, ties = best_value(rows, row), 0
    for i in range(rows.first[row], rows.first[row + 1]):
        ties += rows.values[i] == best
    left = below(streams, stream, ties) if ties > 1 else np.int64(0)
    place = np.int64(0)
    for i in range(rows.first[row], rows.first[row + 1]):
        if rows.values[i] == best:
            if left == 0:
                place = i - rows.first[row]
            left -= 1
    return place


@kernel
def find_rows(rows: Rows, states: Int8s, roles: Int8s, found: Int64s) -> None:
    """`find` for states [B, S]."""
    for i in range(states.shape[0]):
        found[i] = find(rows, states[i], roles[i])


@kernel
def greedy_rows(rows: Rows, found: Int64s, streams: UInt64s, places: Int64s) -> None:
    """`greedy` for rows [B]; NO_ROW stays what it is."""
    for i in range(found.shape[0]):
        places[i] = greedy(rows, found[i], streams, i) if found[i] != NO_ROW else NO_ROW


@kernel
def _fill_slots(keys: UInt64s, count: int, slots: Int32s) -> None:
    """Put the first `count` rows into empty slots."""
    mask = slots.shape[0] - 1
    for row in range(count):
        hashed = np.uint64(0)
        for k in range(keys.shape[1]):
            hashed = mix((hashed ^ keys[row, k]) + _STEP)
        slot = np.int64(hashed & np.uint64(mask))
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = row


class Table:
    """Rows of one game; `rows` is what kernels take, a new tuple each time that the table has grown."""

    def __init__(self, game: Game, ply: bool = True) -> None:
        self.game, self.ply = game, ply
        self.rows = Rows(
            np.full(2, EMPTY, dtype=np.int32),
            np.empty((0, game.state_size // 8), dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            np.empty(0, dtype=np.float64),
            np.zeros(2, dtype=np.int64),
            np.uint64(_MOVER | (_PLY if ply else 0)),
        )

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.rows.sizes[ROWS])

    def has_room(self, rows: int, values: int) -> bool:
        """Whether so many more rows and values fit as it is."""
        used = self.rows.sizes
        return bool(used[ROWS] + rows <= len(self.rows.keys) and used[VALUES] + values <= len(self.rows.values))

    def reserve(self, rows: int, values: int) -> None:
        """Make room for so many more rows and values; arrays at least double, so that growing stays cheap."""
        if not self.has_room(rows, values):
            old, used = self.rows, self.rows.sizes
            room = max(2 * len(old.keys), int(used[ROWS]) + rows)
            try:
                self._resize(room, max(2 * len(old.values), int(used[VALUES]) + values))
            except MemoryError:
                raise PlayerError(
                    f"a table of {self.game.id} with {len(self):,} rows cannot grow: there is not enough memory; "
                    "take a smaller board or fewer matches"
                ) from None

    def _resize(self, rows: int, values: int) -> None:
        old, (used_rows, used_values) = self.rows, self.rows.sizes
        slots = np.full(1 << (2 * rows).bit_length(), EMPTY, dtype=np.int32)
        keys = np.empty((rows, old.keys.shape[1]), dtype=np.uint64)
        first = np.zeros(rows + 1, dtype=np.int64)
        numbers = np.empty(values, dtype=np.float64)
        keys[:used_rows] = old.keys[:used_rows]
        first[: used_rows + 1] = old.first[: used_rows + 1]
        numbers[:used_values] = old.values[:used_values]
        _fill_slots(keys, int(used_rows), slots)
        self.rows = Rows(slots, keys, first, numbers, old.sizes, old.header)

    def look(self, states: Int8s, roles: Int8s | None = None) -> Int64s:
        """int64[B]: the rows of states [B, S] for the player to move, or for `roles`; NO_ROW where there is none."""
        found = np.empty(len(states), dtype=np.int64)
        find_rows(self.rows, np.ascontiguousarray(states), self.game.to_play(states) if roles is None else roles, found)
        return found

    def values(self, row: int) -> Float64s:
        """The values of a row's legal actions, in their order."""
        begin, end = self.rows.first[row : row + 2]
        return self.rows.values[begin:end].copy()


@dataclass(frozen=True)
class About:
    """What a file says of its table besides the values."""

    learner: str
    matches: int  # that it was learned from
    playouts: int | None = None  # the learner's rule for states without a row: random games shared by the moves,
    ms: float | None = None  # or as many as fit in this time; neither: a random move


def table_bytes(table: Table, about: About) -> bytes:
    """A table as a safetensors file; the same table gives the same bytes."""
    from safetensors.numpy import save

    rows, values = table.rows.sizes
    arrays: Arrays = {
        "first": table.rows.first[: rows + 1].copy(),
        "keys": table.rows.keys[:rows].copy(),
        "values": table.rows.values[:values].copy(),
    }
    facts: dict[str, Any] = {
        "format": FORMAT,
        "game": table.game.id,
        "version": table.game.version,
        "ply": table.ply,
        **asdict(about),
    }
    facts["sha256"] = _digest(arrays, facts)
    # Not safetensors' own metadata, whose order is random.
    arrays["about"] = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), dtype=np.uint8).copy()
    return bytes(save(arrays))


def read_table(path: Path, game: Game) -> tuple[Table, About]:
    """The table in a file; PlayerError in one line where it cannot be read, is damaged or is another game's."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(read_bytes(path))
        facts = parse_json(arrays.pop("about").tobytes())
        if facts["format"] != FORMAT:
            raise PlayerError(f"{path} has format {facts['format']!r}; this version of Palaestra reads {FORMAT}")
        if facts["version"] != game.version or not game.is_called(str(facts["game"])):
            raise PlayerError(
                f"{path} is a table of {facts['game']} (version {facts['version']}), "
                f"not of {game.id} (version {game.version})"
            )
        if facts.pop("sha256") != _digest(arrays, facts):
            raise ValueError
        table = Table(game, bool(facts["ply"]))
        _fill(table, arrays)
        return table, About(**{key: facts[key] for key in About.__dataclass_fields__})
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PlayerError(f"cannot read the table {path} ({reason}); one is made by: {_MAKER}") from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise PlayerError(f"{path} is damaged or not a table; one is made by: {_MAKER}") from None


_MAKER = "palaestra qlearn GAME --save FILE"


def _fill(table: Table, arrays: Arrays) -> None:
    """Take over the arrays of a file; ValueError where they do not fit together."""
    first, keys, values = arrays["first"], arrays["keys"], arrays["values"]
    sizes = np.diff(first)
    fits = (
        (first.dtype, keys.dtype, values.dtype) == (np.int64, np.uint64, np.float64)
        and keys.shape == (len(first) - 1, table.game.state_size // 8)
        and (first[0], first[-1]) == (0, len(values))
        and bool(np.all((sizes > 0) & (sizes <= table.game.max_legal)))
        and bool(np.isfinite(values).all())
    )
    if not fits:
        raise ValueError
    table.reserve(len(keys), len(values))
    rows = table.rows
    rows.keys[: len(keys)], rows.first[: len(first)], rows.values[: len(values)] = keys, first, values
    rows.sizes[:] = len(keys), len(values)
    _fill_slots(rows.keys, len(keys), rows.slots)


def _digest(arrays: Arrays, facts: dict[str, Any]) -> str:
    """Hash of all that a file says."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
