"""What a network has said about positions, kept for the network's lifetime.

In self-play about half of all questions repeat earlier ones (FACTS §10), and a table answers them without the network.

The key is the whole state: two positions share an entry only if all their bytes are equal, the ply too, because a game
may show its network anything that stands in the state. The hash only says where to look; a hit is always exact, and so
the answers are the same, bit for bit, whatever the size of the table, 0 included.

The table has buckets of four entries; a new position takes the place of the oldest of its bucket. It is not made for
several threads at once: give each thread its own `Cached`.
"""

from __future__ import annotations

import numpy as np

from palaestra.games.base import Game
from palaestra.jit import inlined, kernel
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves
from palaestra.streams import mix
from palaestra.types import Bools, Float32s, Int8s, Int64s, UInt64s

WAYS = 4
_FREE = np.uint64(0)  # tag of an unused entry
_USED = np.uint64(1)
_32 = np.uint64(32)
_START = np.uint64(0x51_7C_C1_B7_27_22_0A_95)

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def default_entries(game: Game, megabytes: int = 256) -> int:
    """2**18 entries (FACTS §10), or as many as fit into the given memory."""
    return min(2**18, megabytes * 2**20 // entry_bytes(game))


def entry_bytes(game: Game) -> int:
    """Memory of one entry: state, tag, value and logits."""
    return game.state_size + 8 + 4 + 4 * game.num_actions


class Cached(Evaluator):
    """Asks `inner`, which must be deterministic and give logits, about each position once, as long as it is remembered.

    Memory is `entries` · `entry_bytes(game)`, touched as it fills. Counters, for the figures of a benchmark:
    `asked` positions, of which `hits` came from the table and `repeats` were asked twice in one call.
    """

    def __init__(self, inner: Evaluator, game: Game, entries: int) -> None:
        if entries < 0:
            raise ValueError(f"a cache cannot have {entries} entries")
        self.inner, self.game = inner, game
        buckets = -(-entries // WAYS)
        self.entries = buckets * WAYS
        self._tags = np.zeros(self.entries, dtype=np.uint64)
        self._keys = np.zeros((self.entries, game.state_size // 8), dtype=np.uint64)
        self._logits = np.zeros((self.entries, game.num_actions), dtype=np.float32)
        self._values = np.zeros(self.entries, dtype=np.float32)
        self._oldest = np.zeros(buckets, dtype=np.uint8)
        self.asked = self.hits = self.repeats = 0

    def __call__(self, leaves: Leaves) -> Evaluation:
        known, logits, values = self.lookup(leaves.states)
        missing = np.flatnonzero(~known)
        if missing.size:
            answer = self.ask(leaves if missing.size == len(known) else leaves.take(missing))
            logits[missing], values[missing] = answer.logits, answer.values
        return Evaluation(logits, values)

    @property
    def network_seconds(self) -> float | None:
        return self.inner.network_seconds

    def lookup(self, states: Int8s) -> tuple[Bools, Float32s, Float32s]:
        """Which rows of `states` are remembered, bool[N], and their logits [N, A] and values [N].

        Rows that are not remembered hold zeros. A search lets the known leaves go on at once and keeps the others for
        `ask`.
        """
        words = _words(states)
        known = np.zeros(len(states), dtype=np.bool_)
        logits = np.zeros((len(states), self.game.num_actions), dtype=np.float32)
        values = np.zeros(len(states), dtype=np.float32)
        self.asked += len(states)
        if self.entries:
            self.hits += int(
                find_rows(words, self._tags, self._keys, self._logits, self._values, known, logits, values)
            )
        return known, logits, values

    def ask(self, leaves: Leaves) -> Evaluation:
        """Ask `inner` about leaves that `lookup` did not know, each position once, and remember the answers."""
        first = np.empty(len(leaves.states), dtype=np.int64)
        distinct = int(first_of_equals(_words(leaves.states), first))
        if distinct == len(first):
            answer = self._inner(leaves)
            self.store(leaves.states, *answer)
            return Evaluation(*answer)
        self.repeats += len(first) - distinct
        alone = np.flatnonzero(first == np.arange(len(first)))
        logits, values = self._inner(leaves.take(alone))
        self.store(leaves.states[alone], logits, values)
        place = np.searchsorted(alone, first)
        return Evaluation(logits[place], values[place])

    def store(self, states: Int8s, logits: Float32s, values: Float32s) -> None:
        """Remember answers; a position that is there already is left as it is."""
        if self.entries:
            store_rows(_words(states), logits, values, self._tags, self._keys, self._logits, self._values, self._oldest)

    def _inner(self, leaves: Leaves) -> tuple[Float32s, Float32s]:
        answer = self.inner(leaves)
        if answer.logits is None or answer.playouts is not None:
            raise ValueError("only evaluators that give logits and draw no random numbers can be cached")
        return np.ascontiguousarray(answer.logits), np.ascontiguousarray(answer.values)


def _words(states: Int8s) -> UInt64s:
    """States int8[N, S] as 64-bit words [N, S/8]."""
    return np.ascontiguousarray(states).view(np.uint64)


@inlined
def hash_row(words: UInt64s, row: int) -> np.uint64:
    """A hash of one state, never `_FREE`."""
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
def find_entry(words: UInt64s, row: int, code: np.uint64, tags: UInt64s, keys: UInt64s) -> np.int64:
    """The entry of one state, or -1 - b where b is its bucket."""
    buckets = np.uint64(tags.shape[0] // WAYS)
    bucket = np.int64(((code >> _32) * buckets) >> _32)
    for entry in range(bucket * WAYS, bucket * WAYS + WAYS):
        if tags[entry] == code and equal_rows(words, row, keys, entry):
            return np.int64(entry)
    return np.int64(-1 - bucket)


@kernel
def find_rows(
    words: UInt64s, tags: UInt64s, keys: UInt64s, logits: Float32s, values: Float32s,
    known: Bools, out_logits: Float32s, out_values: Float32s,
) -> int:  # fmt: skip
    """Copy what is remembered about each row and mark it in `known`; returns how many there were."""
    hits = 0
    for row in range(words.shape[0]):
        entry = find_entry(words, row, hash_row(words, row), tags, keys)
        if entry >= 0:
            known[row] = True
            for a in range(logits.shape[1]):
                out_logits[row, a] = logits[entry, a]
            out_values[row] = values[entry]
            hits += 1
    return hits


@kernel
def store_rows(
    words: UInt64s, new_logits: Float32s, new_values: Float32s,
    tags: UInt64s, keys: UInt64s, logits: Float32s, values: Float32s, oldest: Bytes,
) -> None:  # fmt: skip
    """Write rows that are not yet there over the oldest entry of their bucket."""
    for row in range(words.shape[0]):
        code = hash_row(words, row)
        entry = find_entry(words, row, code, tags, keys)
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


@kernel
def first_of_equals(words: UInt64s, first: Int64s) -> int:
    """For each row the first row with the same words (often itself); returns the number of different rows."""
    count = words.shape[0]
    size = 4
    while size < 2 * count:
        size *= 2
    places = np.full(size, -1, dtype=np.int64)
    mask = np.uint64(size - 1)
    distinct = 0
    for row in range(count):
        place = np.int64((hash_row(words, row) >> _32) & mask)
        while places[place] >= 0 and not equal_rows(words, row, words, places[place]):
            place = (place + 1) & (size - 1)
        if places[place] < 0:
            places[place] = row
            distinct += 1
        first[row] = places[place]
    return distinct
