"""Decoupled UCT over a state machine: a tree search for any number of roles, moving at once or in turn.

Where the machine is a propositional network, simulations go in batches, whose new states and random games are computed
64 to a word; on any other machine they go one by one. The tree is kept from one search to the next. Stops at its
deadline. Knows neither the protocol nor what a Player is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from palaestra.base.errors import GdlError
from palaestra.base.streams import seeds_from
from palaestra.base.types import Bools, Float64s, Int32s, UInt64s
from palaestra.ggp import decoupled_tree
from palaestra.ggp.decoupled_tree import EDGES, NO_NODE, NODES, ROOT, new_tree
from palaestra.ggp.machine import Machine, State
from palaestra.ggp.monte_carlo import BATCH_SECONDS, MOST_TURNS, random_game
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.terms import Term

EXPLORATION = 0.7  # of UCB1, for results between 0 and 1
MOST_NODES, MOST_EDGES = 1_000_000, 8_000_000  # of a tree, in which search goes on when it is full
MOST_STATES = 20_000  # nodes of a tree whose states are sets of facts, of some kilobytes each
STATE_BYTES = 2**28  # of all states that are rows of bits
BATCHES = (64, 256)  # simulations at once in a network: a word at least

Publish = Callable[[Term], None]


class World(Protocol):
    """The states of a tree's nodes, by the rules."""

    batches: tuple[int, int]  # simulations at once, at first and at most
    most_nodes: int

    def plant(self, state: State) -> tuple[Bools, Int32s]:
        """Node 0 is this state; its legal moves as `decoupled_tree.read` takes them."""

    def grow(self, parents: Int32s, joints: Int32s) -> tuple[Bools, Int32s]:
        """The next nodes follow from these by the moves int32[n, R]; their legal moves, none where a game is over."""

    def judge(self, nodes: Int32s, deadline: float) -> Float64s | None:
        """Results float64[B, R] in [0, 1] of one random game from each node; None if the deadline came first."""

    def find(self, state: State) -> list[int]:
        """The nodes with this state."""

    def moves(self, node: int, seat: int) -> list[Term]:
        """What the numbers of a role's moves mean at a node."""


class NetworkWorld:
    """States are rows of bits, uint64[N, K]."""

    batches = BATCHES

    def __init__(self, machine: PropNet, rng: np.random.Generator) -> None:
        self.machine, self.rng = machine, rng
        self.most_nodes = min(MOST_NODES, STATE_BYTES // (8 * machine.words))
        self.single = MachineWorld(machine, rng)
        self.states: UInt64s = np.empty((0, machine.words), dtype=np.uint64)
        self.count = 0

    def plant(self, state: State) -> tuple[Bools, Int32s]:
        assert isinstance(state, bytes)
        self.count = 0
        return self._add(np.frombuffer(state, dtype=np.uint64)[None])

    def grow(self, parents: Int32s, joints: Int32s) -> tuple[Bools, Int32s]:
        return self._add(self.machine.advance(self.states[parents], joints))

    def _add(self, states: UInt64s) -> tuple[Bools, Int32s]:
        end = self.count + len(states)
        if end > len(self.states):
            room = np.empty((max(2 * len(self.states), end, 1024), self.machine.words), dtype=np.uint64)
            room[: self.count] = self.states[: self.count]
            self.states = room
        self.states[self.count : end] = states
        self.count = end
        over, legal = self.machine.survey(states)
        legal[over] = False
        return legal, self.machine.gates.roles

    def judge(self, nodes: Int32s, deadline: float) -> Float64s | None:
        states = self.states[nodes]
        try:
            return self.machine.random_playouts(len(nodes), self.rng, states, MOST_TURNS).goals / 100.0
        except GdlError:  # among these games one did not end; one by one, the others count
            return self.single.results([row.tobytes() for row in states], deadline)

    def find(self, state: State) -> list[int]:
        assert isinstance(state, bytes)
        same = (self.states[: self.count] == np.frombuffer(state, dtype=np.uint64)).all(axis=1)
        return [int(node) for node in np.flatnonzero(same)]

    def moves(self, node: int, seat: int) -> list[Term]:
        return list(self.machine.moves[seat])


class MachineWorld:
    """States are the machine's own, one after another."""

    batches = (1, 1)

    def __init__(self, machine: Machine, rng: np.random.Generator) -> None:
        self.machine, self.rng = machine, rng
        self.most_nodes = MOST_STATES
        self.states: list[State] = []

    def plant(self, state: State) -> tuple[Bools, Int32s]:
        self.states = []
        return self._add(state)

    def grow(self, parents: Int32s, joints: Int32s) -> tuple[Bools, Int32s]:
        (parent,), (joint,) = parents, joints
        legal = self.machine.legal(self.states[parent])
        return self._add(
            self.machine.step(self.states[parent], [own[move] for own, move in zip(legal, joint, strict=True)])
        )

    def _add(self, state: State) -> tuple[Bools, Int32s]:
        self.states.append(state)
        counts = [0] * len(self.machine.roles)
        if not self.machine.terminal(state):
            counts = [len(own) for own in self.machine.legal(state)]
        return np.ones((1, sum(counts)), dtype=np.bool_), np.cumsum([0, *counts]).astype(np.int32)

    def judge(self, nodes: Int32s, deadline: float) -> Float64s | None:
        return self.results([self.states[node] for node in nodes], deadline)

    def results(self, states: list[State], deadline: float) -> Float64s | None:
        """Of one random game from each state."""
        results = np.empty((len(states), len(self.machine.roles)), dtype=np.float64)
        for row, state in enumerate(states):
            goals = random_game(self.machine, state, deadline, self.rng)
            if goals is None:
                return None
            results[row] = goals
        return results / 100.0

    def find(self, state: State) -> list[int]:
        return [node for node, own in enumerate(self.states) if own == state]

    def moves(self, node: int, seat: int) -> list[Term]:
        return self.machine.legal(self.states[node])[seat]


class Decoupled:
    """Searches of one match; `tree` and `world` hold what they found."""

    def __init__(self, machine: Machine, rng: np.random.Generator, exploration: float = EXPLORATION) -> None:
        self.world: World = NetworkWorld(machine, rng) if isinstance(machine, PropNet) else MachineWorld(machine, rng)
        self.exploration = exploration
        self.roles = len(machine.roles)
        self.streams = seeds_from(rng, 1)
        self.tree = new_tree(0, 0, self.roles)
        self.root = NO_NODE

    def search(
        self, state: State, seat: int, deadline: float, simulations: int | None = None, publish: Publish | None = None
    ) -> Term:
        """The move of role number `seat` that most simulations took, ties to the better mean; there must be one.

        They go on until `deadline` (time.monotonic), or for a number of simulations. `publish` hears the best move so
        far after every batch.
        """
        self._set_root(state)
        batch, most = self.world.batches
        done = 0
        while time.monotonic() < deadline and (simulations is None or done < simulations):
            began = time.monotonic()
            count = batch if simulations is None else min(batch, simulations - done)
            if not self._simulate(count, deadline):
                break
            done += count
            if publish is not None:
                publish(self._best(seat))
            if time.monotonic() - began < BATCH_SECONDS:
                batch = min(2 * batch, most)
        return self._best(seat)

    def _set_root(self, state: State) -> None:
        """Go on where the tree knows the state best, or begin a new one."""
        tree = self.tree
        known = [node for node in self.world.find(state) if tree.counts[node, 0] > 0] if self.root != NO_NODE else []
        if known and 2 * tree.sizes[NODES] < self.world.most_nodes and 2 * tree.sizes[EDGES] < MOST_EDGES:
            self.root = max(known, key=lambda node: int(tree.passes[node]))
            return
        self.tree = new_tree(0, 0, self.roles)
        legal, bounds = self.world.plant(state)
        self._reserve(1, int(legal.sum()))
        self.tree.sizes[NODES] = 1
        decoupled_tree.read(self.tree, ROOT, legal, bounds, self.streams)
        self.root = ROOT

    def _simulate(self, count: int, deadline: float) -> bool:
        """So many simulations at once; whether they were finished by the deadline."""
        before = int(self.tree.sizes[NODES])
        self._reserve(count, 0)
        most = self.world.most_nodes if self.tree.sizes[EDGES] < MOST_EDGES else before
        leaves = np.empty(count, dtype=np.int32)
        decoupled_tree.select(self.tree, self.root, self.exploration, most, leaves, self.streams)
        after = int(self.tree.sizes[NODES])
        if after > before:
            joints = np.empty((after - before, self.roles), dtype=np.int32)
            decoupled_tree.joint_moves(self.tree, before, after, joints)
            legal, bounds = self.world.grow(self.tree.parent[before:after], joints)
            self._reserve(0, int(legal.sum()))
            decoupled_tree.read(self.tree, before, legal, bounds, self.streams)
        results = self.world.judge(leaves, deadline)
        if results is None:
            return False
        decoupled_tree.back_up(self.tree, self.root, leaves, results)
        return True

    def _reserve(self, nodes: int, edges: int) -> None:
        """Room for so many more; arrays at least double, so that growing stays cheap."""
        tree = self.tree
        nodes, edges = int(tree.sizes[NODES]) + nodes, int(tree.sizes[EDGES]) + edges
        if nodes > len(tree.parent) or edges > len(tree.move):
            room = max(nodes, 2 * len(tree.parent), 1024), max(edges, 2 * len(tree.move), 4096)
            self.tree = decoupled_tree.larger(tree, *room)

    def visits(self, seat: int, node: int | None = None) -> dict[Term, int]:
        """How many simulations took each move of a role, at the root or another node."""
        node = self.root if node is None else node
        edges, moves = self._edges(seat, node), self.world.moves(node, seat)
        return {moves[self.tree.move[edge]]: int(self.tree.done[edge]) for edge in edges}

    def _best(self, seat: int) -> Term:
        tree, edges = self.tree, self._edges(seat, self.root)
        best = max(edges, key=lambda edge: (int(tree.done[edge]), float(tree.total[edge])))
        return self.world.moves(self.root, seat)[tree.move[best]]

    def _edges(self, seat: int, node: int) -> range:
        first = int(self.tree.first[node, seat])
        return range(first, first + int(self.tree.counts[node, seat]))
