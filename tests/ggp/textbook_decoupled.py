"""Decoupled UCT as one would write it on a page: objects, dictionaries and no arrays. The compiled tree equals it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from palaestra.ggp.decoupled_tree import NEAR
from palaestra.ggp.machine import Machine, State
from palaestra.ggp.terms import Term

MASK = 2**64 - 1


class Stream:
    """splitmix64 in Python's own integers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (((z ^ (z >> 31)) >> 32) * n) >> 32


@dataclass
class Arm:
    """One move of one role at one node."""

    move: Term
    begun: int = 0
    done: int = 0
    total: float = 0.0


@dataclass
class Node:
    state: State
    arms: list[list[Arm]] | None = None  # of each role, once the rules were asked
    children: dict[tuple[Term, ...], Node] = field(default_factory=dict)
    passes: int = 0


class Textbook:
    """`nodes` in the order in which they came to be."""

    def __init__(self, machine: Machine, state: State, seed: int, result: Callable[[State], list[float]]) -> None:
        self.machine, self.result, self.stream = machine, result, Stream(seed)
        self.nodes = [Node(state)]
        self._read(self.nodes[0])

    def search(self, simulations: int, batch: int, exploration: float) -> None:
        """Every batch begins all its simulations before one of them is judged."""
        for _ in range(simulations // batch):
            known = len(self.nodes)
            paths = [self._select(exploration) for _ in range(batch)]
            for node in self.nodes[known:]:
                self._read(node)
            for leaf, arms in paths:
                for chosen in arms:
                    for arm, value in zip(chosen, self.result(leaf.state), strict=True):
                        arm.done += 1
                        arm.total += value

    def _read(self, node: Node) -> None:
        over = self.machine.terminal(node.state)
        legal = [[] for _ in self.machine.roles] if over else self.machine.legal(node.state)
        node.arms = []
        for moves in legal:
            moves = list(moves)
            for place in range(len(moves) - 1, 0, -1):
                other = self.stream.below(place + 1)
                moves[place], moves[other] = moves[other], moves[place]
            node.arms.append([Arm(move) for move in moves])

    def _select(self, exploration: float) -> tuple[Node, list[list[Arm]]]:
        node, path = self.nodes[0], []
        while node.arms is not None and all(node.arms):
            chosen = [self._ucb1(arms, node.passes, exploration) for arms in node.arms]
            joint = tuple(arm.move for arm in chosen)
            node.passes += 1
            for arm in chosen:
                arm.begun += 1
            if joint not in node.children:
                node.children[joint] = Node(self.machine.step(node.state, joint))
                self.nodes.append(node.children[joint])
            path.append(chosen)
            node = node.children[joint]
        return node, path

    def _ucb1(self, arms: list[Arm], passes: int, exploration: float) -> Arm:
        if passes < len(arms):
            return arms[passes]
        width = exploration * math.sqrt(math.log(max(passes, 1)))
        bounds = [arm.total / max(arm.done, 1) + width / math.sqrt(arm.begun) for arm in arms]
        near = [arm for arm, bound in zip(arms, bounds, strict=True) if bound >= max(bounds) - NEAR]
        return near[self.stream.below(len(near))] if len(near) > 1 else near[0]
