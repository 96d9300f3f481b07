"""What a network has said about positions, kept for the network's lifetime.

In self-play about half of all questions repeat earlier ones (sources: prototype of Connect Four), and a table answers
them without the network: `palaestra.search.memory`, where searches look before they ask.
A `Cached` is not made for several threads at once: give each thread its own.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating
from palaestra.base.types import Float32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves
from palaestra.search.memory import Memory, equal_rows, hash_row, words_of

_32 = np.uint64(32)


def default_entries(game: Game, megabytes: int = 256) -> int:
    """2**18 entries, or as many as fit into the given memory."""
    return fitting_entries(game, 2**18, megabytes)


def fitting_entries(game: Game, wanted: int, megabytes: int) -> int:
    """As many entries as are wanted, or as fit into the given memory. How many there are changes no search."""
    return min(wanted, megabytes * 2**20 // entry_bytes(game))


def entry_bytes(game: Game) -> int:
    """Memory of one entry: state, tag, value and logits."""
    return game.state_size + 8 + 4 + 4 * game.num_actions


class Cached(Evaluator):
    """Asks `inner`, which must be deterministic and give logits, about each position once, as long as it is remembered.

    What is kept are values, so a `Cached` belongs to one network under one reward as it stands: when the reward
    has learned, make a new one. Memory is `entries` · `entry_bytes(game)`, touched as it fills. Counters, for a
    benchmark: `asked` positions, of which `hits` came from the table and `repeats` were asked twice in one call.
    """

    memory: Memory

    def __init__(self, inner: Evaluator, game: Game, entries: int) -> None:
        if entries < 0:
            raise ValueError(f"a cache cannot have {entries} entries")
        self.inner = inner
        self.memory = Memory(entries, game.state_size, game.num_actions)
        self.repeats = 0

    def __call__(self, leaves: Leaves) -> Evaluation:
        known, logits, values = self.memory.find(leaves.states)
        missing = np.flatnonzero(~known)
        if missing.size:
            answer = self.ask(leaves if missing.size == len(known) else leaves.take(missing))
            logits[missing], values[missing] = answer.logits, answer.values
        return Evaluation(logits, values)

    @property
    def asked(self) -> int:
        return self.memory.asked

    @property
    def hits(self) -> int:
        return self.memory.hits

    @property
    def network_seconds(self) -> float | None:
        return self.inner.network_seconds

    def ask(self, leaves: Leaves) -> Evaluation:
        """Ask `inner` about leaves that are not in the memory, each position once, and remember the answers."""
        first = np.empty(len(leaves.states), dtype=np.int64)
        distinct = int(first_of_equals(words_of(leaves.states), first))
        if distinct == len(first):
            answer = self._inner(leaves)
            self.memory.store(leaves.states, *answer)
            return Evaluation(*answer)
        self.repeats += len(first) - distinct
        alone = np.flatnonzero(first == np.arange(len(first)))
        logits, values = self._inner(leaves.take(alone))
        self.memory.store(leaves.states[alone], logits, values)
        place = np.searchsorted(alone, first)
        return Evaluation(logits[place], values[place])

    def _inner(self, leaves: Leaves) -> tuple[Float32s, Float32s]:
        answer = self.inner(leaves)
        if answer.logits is None or answer.playouts is not None:
            raise ValueError("only evaluators that give logits and draw no random numbers can be cached")
        return np.ascontiguousarray(answer.logits), np.ascontiguousarray(answer.values)


@allocating
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
