"""The propositional network of a game: a machine over single states, and over batches of any size.

A batch of states is uint64[B, K]: fact f of `all_facts` is bit f % 64 of word f // 64 in a row. Moves are numbered as
in `moves`, each role from 0 on. A single state is the bytes of its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import GdlError
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Bools, Int32s, UInt64s
from palaestra.ggp import kernels
from palaestra.ggp.budget import Budget
from palaestra.ggp.ground import ground
from palaestra.ggp.kernels import LANES, Gates
from palaestra.ggp.machine import NODES, SECONDS, Machine, State
from palaestra.ggp.network import Network, build_network
from palaestra.ggp.terms import Rules, Term

MOST_WORDS = 8  # of a block: 512 games, whose values fit the cache next to the processor for most games
LONGEST = 10_000  # joint moves of a random game, which is then given up


@dataclass(frozen=True, eq=False)
class RandomGames:
    """Ends of random games: states uint64[B, K], goals int32[B, roles], joint moves made int32[B]."""

    states: UInt64s
    goals: Int32s
    lengths: Int32s


class PropNet(Machine):
    """A game as gates; `all_facts` and `moves` say what its bits and numbers mean."""

    def __init__(self, rules: Rules, seconds: float = SECONDS, nodes: int = NODES) -> None:
        """BudgetError if grounding takes longer than `seconds` or gives more than `nodes` instances of rules."""
        budget = Budget(seconds, nodes)
        grounding = ground(rules, budget)
        self.roles = rules.roles
        self.all_facts: tuple[Term, ...] = grounding.facts
        self.moves: tuple[tuple[Term, ...], ...] = grounding.moves
        self.network = build_network(grounding, budget)
        self.gates = _arrays(self.network, len(grounding.facts), grounding.moves)
        self.words = max(1, -(-len(grounding.facts) // LANES))
        self._move_numbers = [{move: number for number, move in enumerate(own)} for own in self.moves]
        bits = np.zeros(self.words * LANES, dtype=np.uint8)
        bits[: len(grounding.facts)] = grounding.initial
        self._initial = np.packbits(bits, bitorder="little").view(np.uint64)

    # Batches.

    def initial_states(self, count: int) -> UInt64s:
        """uint64[count, K], all the same."""
        return np.tile(self._initial, (count, 1))

    def survey(self, states: UInt64s) -> tuple[Bools, Bools]:
        """Which states are over, bool[B], and which moves are legal, bool[B, moves of all roles one after another]."""
        over, legal = kernels.survey(self.gates, states, block_words(len(states)))
        return over, legal

    def advance(self, states: UInt64s, joint: Int32s) -> UInt64s:
        """The states after legal moves int32[B, roles], each a number among its role's moves."""
        offsets = self.gates.roles[:-1]
        return kernels.follow(self.gates, states, (joint + offsets).astype(np.int32), block_words(len(states)))

    def score(self, states: UInt64s) -> Int32s:
        """int32[B, roles]: the highest goal of each role that holds, 0 where none does."""
        return kernels.score(self.gates, states, block_words(len(states)))

    def random_playouts(
        self, count: int, rng: Rng, states: UInt64s | None = None, longest: int = LONGEST
    ) -> RandomGames:
        """`count` uniform random games from the start, or one from each of `states`; game i draws from stream i alone.

        GdlError if a game comes to a state that is not over and where a role has no move, or does not end.
        """
        begin = self.initial_states(count) if states is None else states
        if begin.shape != (count, self.words):
            raise ValueError(f"{count} games need states of shape {(count, self.words)}, not {begin.shape}")
        ends, lengths, failed = kernels.play_out(self.gates, begin, seeds_from(rng, count), block_words(count), longest)
        if failed >= 0 and lengths[failed] < 0:
            raise GdlError("the rules lead to a state that is not terminal and where a role has no legal move")
        if failed >= 0:
            raise GdlError(f"a random game did not end within {longest} moves")
        return RandomGames(ends, self.score(ends), lengths)

    # Single states.

    def initial(self) -> State:
        return self._initial.tobytes()

    def legal(self, state: State) -> list[list[Term]]:
        hits = self.survey(self._row(state))[1][0]
        bounds = self.gates.roles
        return [
            [own[number] for number in np.flatnonzero(hits[bounds[role] : bounds[role + 1]])]
            for role, own in enumerate(self.moves)
        ]

    def terminal(self, state: State) -> bool:
        return bool(self.survey(self._row(state))[0][0])

    def goals(self, state: State) -> list[int]:
        return [int(value) for value in self.score(self._row(state))[0]]

    def facts(self, state: State) -> frozenset[Term]:
        bits = np.unpackbits(self._row(state).view(np.uint8), bitorder="little")
        return frozenset(self.all_facts[fact] for fact in np.flatnonzero(bits))

    def _follow(self, state: State, joint: Sequence[Term]) -> State:
        numbers = [own[move] for own, move in zip(self._move_numbers, joint, strict=True)]
        return self.advance(self._row(state), np.array([numbers], dtype=np.int32)).tobytes()

    def _row(self, state: State) -> UInt64s:
        assert isinstance(state, bytes)
        return np.frombuffer(state, dtype=np.uint64).reshape(1, self.words)


def block_words(count: int) -> int:
    """Words of a block for a batch: no more than it needs."""
    return min(MOST_WORDS, max(1, -(-count // LANES)))


def _arrays(network: Network, facts: int, moves: Sequence[Sequence[Term]]) -> Gates:
    goals = [(literal, value, role) for role, own in enumerate(network.goals) for value, literal in own]
    literals, values, owners = np.array(goals, dtype=np.int32).reshape(-1, 3).T.copy()
    return Gates(
        facts=facts,
        starts=network.starts.astype(np.int32),
        literals=network.literals.astype(np.int32),
        loops=network.loops.astype(np.int64),
        parts=np.array([0, *network.parts], dtype=np.int64),
        next=network.next.astype(np.int32),
        legal=network.legal.astype(np.int32),
        roles=np.cumsum([0, *map(len, moves)]).astype(np.int32),
        terminal=np.array([network.terminal], dtype=np.int32),
        goals=literals,
        values=values,
        owners=owners,
    )
