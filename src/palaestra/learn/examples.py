"""What self-play leaves to learn from: positions, each with a policy, a value and its game's outcome, as plain arrays.

Nothing here knows how the games were played or how the network is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import RunError
from palaestra.base.types import Arrays, Bools, Float32s, Int8s, Int32s, Int64s

# dtype and number of dimensions of each array, in the order of the fields
_FORM: dict[str, tuple[type, int]] = {
    "states": (np.int8, 2),
    "policy": (np.float32, 2),
    "value": (np.float32, 1),
    "game": (np.int32, 1),
    "ply": (np.int32, 1),
    "outcome": (np.int32, 1),
}


@dataclass(frozen=True, eq=False)
class Examples:
    """n positions, sorted by (game, ply) as self-play makes them."""

    states: Int8s  # [n, S]
    policy: Float32s  # [n, L] π over the legal moves in ascending order; the rest of a row is 0
    value: Float32s  # [n] in [-1, 1], for the player to move
    game: Int32s  # [n] number of the game in its iteration
    ply: Int32s  # [n] plies before the position
    outcome: Int32s  # [n] of the game that the position is from, for the first player

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: Int64s | Bools | slice) -> Examples:
        """Some of the examples, in the order of `rows`."""
        return Examples(*(getattr(self, name)[rows] for name in _FORM))

    @staticmethod
    def concatenate(parts: Sequence[Examples]) -> Examples:
        """All examples of one or more parts, one part after the other."""
        return Examples(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FORM))

    def to_arrays(self) -> Arrays:
        """Arrays by name, from which `from_arrays` makes the same examples."""
        return {name: np.ascontiguousarray(getattr(self, name)) for name in _FORM}

    @staticmethod
    def from_arrays(arrays: Arrays) -> Examples:
        """Examples that were saved with `to_arrays`; RunError if the arrays are not that."""
        if set(arrays) != set(_FORM):
            found = ", ".join(sorted(arrays)) or "none"
            raise RunError(f"saved positions have the arrays {found}; needed are {', '.join(_FORM)}")
        for name, (dtype, dimensions) in _FORM.items():
            array = arrays[name]
            if array.dtype != dtype or array.ndim != dimensions or len(array) != len(arrays["value"]):
                raise RunError(
                    f"saved positions: {name} is {array.dtype}{list(array.shape)}; needed are"
                    f" {np.dtype(dtype)} in {dimensions} dimensions, one row for each of {len(arrays['value'])} values"
                )
        return Examples(*(np.asarray(arrays[name], dtype) for name, (dtype, _) in _FORM.items()))


class ExampleQueue:
    """Examples that come at one end and go at the other, side by side in memory.

    What comes is copied once; what stays is moved when the end of the memory is reached, and there is room for half as
    many again at least. So an iteration costs what it brings, however long the window is.
    """

    def __init__(self) -> None:
        self._room: Examples | None = None
        self._first, self._end = 0, 0

    def __len__(self) -> int:
        return self._end - self._first

    def all(self) -> Examples:
        """The examples, oldest first, until the next `append`: views, not copies."""
        if self._room is None:
            raise ValueError("an empty queue does not know what its examples look like")
        return self._room.take(slice(self._first, self._end))

    def drop(self, count: int) -> None:
        """Forget the oldest ones."""
        self._first += count

    def append(self, examples: Examples) -> None:
        """Take these in, after the others; RunError if their rows are of another length."""
        for name in _FORM if self._room is not None else ():
            before, row = getattr(self._room, name).shape[1:], getattr(examples, name).shape[1:]
            if before != row:
                raise RunError(f"positions have {list(row)} numbers in {name}; those before have {list(before)}")
        room = self._room_for(examples)
        for name in _FORM:
            getattr(room, name)[self._end : self._end + len(examples)] = getattr(examples, name)
        self._end += len(examples)

    def _room_for(self, examples: Examples) -> Examples:
        """Memory with room for more examples after the end."""
        kept, needed = len(self), len(self) + len(examples)
        if self._room is None or 3 * needed > 2 * len(self._room):
            shapes = {name: (2 * needed, *getattr(examples, name).shape[1:]) for name in _FORM}
            room = Examples(*(np.empty(shapes[name], dtype) for name, (dtype, _) in _FORM.items()))
        elif self._end + len(examples) > len(self._room):
            room = self._room
        else:
            return self._room
        if self._room is not None:
            for name in _FORM:
                getattr(room, name)[:kept] = getattr(self._room, name)[self._first : self._end]
        self._room, self._first, self._end = room, 0, kept
        return room
