"""OpenSpiel's states behind rows of bytes: a row holds the moves that were made, and here they become a state again.

    byte   0 … 7                             8 …
           header of palaestra.games.rows    one unsigned number a ply, the action: 1 byte, or 2 where there are more
                                             than 256 actions; zeros after the last ply

So a row can be stored, sent and read without OpenSpiel's help. States that were met lately are kept by their moves; one
that is not there is played again from the longest beginning that is. A kept state is never changed, only copied. Knows
no rules and no players.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.base.types import Int8s, Int32s
from palaestra.games.rows import HEADER

KEPT = 2**14  # states in each of two generations; one of go 19×19 takes some 20 kB


class Histories:
    """States by the moves that led to them."""

    def __init__(self, first: Any, num_actions: int, max_plies: int) -> None:
        self.first = first
        self.width = 1 if num_actions <= 2**8 else 2
        self.max_plies = max_plies
        self.dtype = np.dtype("<u1" if self.width == 1 else "<u2")
        self.state_size = HEADER + -(-self.width * max_plies // 8) * 8
        self._young: dict[bytes, Any] = {}
        self._old: dict[bytes, Any] = {}

    def __reduce__(self) -> Any:
        raise TypeError("states of OpenSpiel stay in their process")

    def keys(self, rows: Int8s) -> list[bytes]:
        """The moves of each row, as bytes."""
        size, width = self.state_size, self.width
        plies = np.ascontiguousarray(rows[:, 2:4]).view(np.int16)[:, 0].tolist()
        data = rows.tobytes()
        return [data[at : at + width * ply] for at, ply in zip(range(HEADER, len(data), size), plies, strict=True)]

    def actions(self, rows: Int8s) -> NDArray[Any]:
        """A view of the moves of contiguous rows: unsigned [B, max_plies]."""
        return rows[:, HEADER : HEADER + self.width * self.max_plies].view(self.dtype)

    def images(self, rows: Int8s, becomes: Int32s) -> Int8s:
        """The rows with other moves in place of those that were made: action a is becomes[a]."""
        changed = np.array(rows, dtype=np.int8, order="C")
        moves, plies = self.actions(changed), np.ascontiguousarray(changed[:, 2:4]).view(np.int16)
        made = np.arange(self.max_plies) < plies
        moves[made] = becomes[moves[made]]
        return changed

    def key_of(self, actions: list[int]) -> bytes:
        """These moves, as bytes."""
        return bytes(actions) if self.width == 1 else struct.pack(f"<{len(actions)}H", *actions)

    def after(self, key: bytes, action: int) -> bytes:
        """The moves with one more."""
        return key + action.to_bytes(self.width, "little")

    def get(self, key: bytes) -> Any:
        """The state after these moves; whoever wants to change it clones it."""
        state = self._young.get(key)
        if state is None:
            state = self._old.get(key)
            if state is None:
                state = self._played_again(key)
            self.put(key, state)
        return state

    def put(self, key: bytes, state: Any) -> None:
        """Keep a state that nobody will change. Two generations: threads may do this at once and lose nothing."""
        if len(self._young) >= KEPT:
            self._old, self._young = self._young, {}
        self._young[key] = state

    def _played_again(self, key: bytes) -> Any:
        end = len(key)
        known: Any = None
        while known is None and end > 0:
            end -= self.width
            known = self._young.get(key[:end]) or self._old.get(key[:end])
        state = (known or self.first).clone()
        for action in np.frombuffer(key[end:], dtype=self.dtype).tolist():
            state.apply_action(action)
        return state
