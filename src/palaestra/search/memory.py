"""A table of what an evaluator has said about positions, open to compiled searches.

The key is the whole state: two positions share an entry only if all their bytes are equal, the ply too, because a game
may show its network anything that stands in the state. The hash only says where to look; a hit is always exact, and so
the answers are the same, bit for bit, whatever the size of the table, 0 included.

The table has buckets of four entries; a new position takes the place of the oldest of its bucket. It is not made for
several threads at once. It knows no game and no network: states are bytes, answers are numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palaestra.base.jit import inlined, kernel
from palaestra.base.streams import mix
from palaestra.base.types import Bools, Float32s, Int8s, UInt64s

WAYS = 4
_USED = np.uint64(1)  # in every tag but those of free entries, which are 0
_32 = np.uint64(32)
_START = np.uint64(0x51_7C_C1_B7_27_22_0A_95)


# A memory as kernels take it.
Table = tuple[
    UInt64s,  # tags: [E] hashes of the states; 0: free
    UInt64s,  # keys: [E, S/8] the states
    Float32s,  # logits: [E, A]
    Float32s,  # values: [E] for the player to move
    NDArray[np.uint8],  # oldest: [E / WAYS] the entry of each bucket that is written over next
]


class Memory:
    """At least `entries` answers about states of `state_size` bytes; memory is touched as it fills.

    Counters, kept by whoever looks: `asked` positions, of which `hits` were there.
    """

    def __init__(self, entries: int, state_size: int, num_actions: int) -> None:
        buckets = -(-entries // WAYS)
        self.entries, self._num_actions = buckets * WAYS, num_actions
        self.table: Table = (
            np.zeros(self.entries, dtype=np.uint64),
            np.zeros((self.entries, state_size // 8), dtype=np.uint64),
            np.zeros((self.entries, num_actions), dtype=np.float32),
            np.zeros(self.entries, dtype=np.float32),
            np.zeros(buckets, dtype=np.uint8),
        )
        self.asked = self.hits = 0

    def find(self, states: Int8s) -> tuple[Bools, Float32s, Float32s]:
        """Which rows of `states` [N, S] are here, bool[N], and their logits [N, A] and values [N]; zeros elsewhere."""
        known = np.zeros(len(states), dtype=np.bool_)
        logits = np.zeros((len(states), self._num_actions), dtype=np.float32)
        values = np.zeros(len(states), dtype=np.float32)
        hits = find_rows(words_of(states), self.table, known, logits, values)
        self.count(len(states), int(hits))
        return known, logits, values

    def store(self, states: Int8s, logits: Float32s, values: Float32s) -> None:
        """Keep answers; a position that is there already is left as it is."""
        if self.entries:
            store_rows(words_of(states), logits, values, self.table)

    def count(self, asked: int, hits: int) -> None:
        """Note that `asked` positions were looked for and `hits` of them found."""
        self.asked += asked
        self.hits += hits


def words_of(states: Int8s) -> UInt64s:
    """States int8[N, S] as 64-bit words [N, S/8]."""
    return np.ascontiguousarray(states).view(np.uint64)


@inlined
def hash_row(words: UInt64s, row: int) -> np.uint64:
    """A hash of one state, never 0."""
    code = _START
    for i in range(words.shape[1]):
        code = mix(code ^ words[row, i])
    return code | _USED


@inlined
def equal_rows(a: UInt64s, i: int, b: UInt64s, j: int) -> bool:
    for k in range(a.shape[1]):
        if a[i, k] != b[j, k]:
            return False
    return True


@inlined
def find_place(words: UInt64s, row: int, code: np.uint64, tags: UInt64s, keys: UInt64s) -> np.int64:
    """The entry of one state with hash `code`, or -1 - b where b is its bucket; the table has entries."""
    buckets = np.uint64(tags.shape[0] // WAYS)
    bucket = np.int64(((code >> _32) * buckets) >> _32)
    for entry in range(bucket * WAYS, bucket * WAYS + WAYS):
        if tags[entry] == code and equal_rows(words, row, keys, entry):
            return np.int64(entry)
    return np.int64(-1 - bucket)


@inlined
def find_entry(words: UInt64s, row: int, tags: UInt64s, keys: UInt64s) -> np.int64:
    """The entry of one state, negative if it is not there; the table may be empty."""
    if tags.shape[0] == 0:
        return np.int64(-1)
    return find_place(words, row, hash_row(words, row), tags, keys)


@kernel
def find_rows(words: UInt64s, table: Table, known: Bools, out_logits: Float32s, out_values: Float32s) -> int:
    """Copy what is kept about each row and mark it in `known`; returns how many there were."""
    tags, keys, logits, values, _ = table
    hits = 0
    for row in range(words.shape[0]):
        entry = find_entry(words, row, tags, keys)
        if entry >= 0:
            known[row] = True
            for a in range(logits.shape[1]):
                out_logits[row, a] = logits[entry, a]
            out_values[row] = values[entry]
            hits += 1
    return hits


@kernel
def store_rows(words: UInt64s, new_logits: Float32s, new_values: Float32s, table: Table) -> None:
    """Write rows that are not yet there over the oldest entry of their bucket."""
    tags, keys, logits, values, oldest = table
    for row in range(words.shape[0]):
        code = hash_row(words, row)
        entry = find_place(words, row, code, tags, keys)
        if entry >= 0:
            continue
        bucket = -1 - entry
        entry = bucket * WAYS + oldest[bucket]
        oldest[bucket] = (oldest[bucket] + 1) % WAYS
        tags[entry] = code
        for i in range(keys.shape[1]):
            keys[entry, i] = words[row, i]
        for a in range(logits.shape[1]):
            logits[entry, a] = new_logits[row, a]
        values[entry] = new_values[row]
