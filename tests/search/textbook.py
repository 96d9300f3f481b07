"""A textbook Monte Carlo tree search: one tree, one node an object, one simulation at a time, plain Python.

The kernels of `palaestra.search` must equal it visit for visit. It is written from (sources: search; Alg. 11) and the
definition of score-bounded proof propagation, with no thought of speed; it shares with the package only the game,
the evaluator and the random stream (so that playouts are the same playouts).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from palaestra.base.streams import gamma, next_word, uniform
from palaestra.games.base import Game
from palaestra.rewards.base import Reward
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Evaluator, Leaves


@dataclass
class Node:
    state: np.ndarray
    mover: int
    actions: list[int]
    value: float = 0.0  # for the mover
    prior: list[float] = field(default_factory=list)
    N: list[int] = field(default_factory=list)
    W: list[float] = field(default_factory=list)  # for the mover
    rave_N: list[int] = field(default_factory=list)
    rave_W: list[float] = field(default_factory=list)
    children: list[Node | None] = field(default_factory=list)
    low: float = -1.0  # proven bounds, for the mover
    high: float = 1.0

    @property
    def over(self) -> bool:
        return not self.actions

    @property
    def proven(self) -> bool:
        return self.low == self.high


class Textbook:
    def __init__(self, game: Game, evaluator: Evaluator, config: SearchConfig, reward: Reward) -> None:
        self.game, self.evaluator, self.config, self.reward = game, evaluator, config, reward

    def run(self, state: np.ndarray, seed: int) -> Node:
        self.stream = np.array([seed], dtype=np.uint64)
        root, _, _ = self.make(state, self.stream)
        self.root, self.noise = root, self.draw_noise(len(root.actions))
        for simulation in range(self.config.simulation_limit):
            if self.config.solver and root.proven:
                break
            self.simulation = simulation
            self.simulate(root)
        return root

    def draw_noise(self, count: int) -> list[float]:
        if self.config.gumbel_root:
            return [-math.log(-math.log(uniform(self.stream, 0))) * self.config.temperature for _ in range(count)]
        if self.config.dirichlet_fraction == 0:
            return []
        draws = [gamma(self.stream, 0, self.config.dirichlet_alpha) for _ in range(count)]
        return [draw / sum(draws) for draw in draws]

    def make(self, state: np.ndarray, stream: np.ndarray) -> tuple[Node, float, list[tuple[int, int]]]:
        """A node with its value for the FIRST player and the moves of its playout."""
        counts, actions = self.game.legal(state[None])
        node = Node(state, int(state[0]), [int(a) for a in actions[0, : counts[0]]])
        sign = 1 if node.mover == 0 else -1
        if node.over:
            value = float(self.reward.value(self.game.outcome(state[None]))[0])
            node.low = node.high = node.value = sign * value
            return node, value, []
        answer = self.evaluator(Leaves(state[None], counts, actions, stream))
        node.value = float(answer.values[0])
        if answer.logits is None:
            node.prior = [float(np.float32(1 / len(node.actions)))] * len(node.actions)
        else:
            logits = [float(answer.logits[0, a]) for a in node.actions]
            weights = [math.exp(x - max(logits)) for x in logits]
            node.prior = [float(np.float32(w / sum(weights))) for w in weights]
        zeros = len(node.actions)
        node.N, node.rave_N, node.children = [0] * zeros, [0] * zeros, [None] * zeros
        node.W, node.rave_W = [0.0] * zeros, [0.0] * zeros
        moves: list[tuple[int, int]] = []
        if self.config.rave_playouts and answer.playouts is not None:
            p = answer.playouts
            moves = [(int(p.movers[0, i]), int(p.moves[0, i])) for i in range(p.lengths[0])]
        return node, sign * node.value, moves

    def simulate(self, root: Node) -> None:
        path: list[tuple[Node, int]] = []
        playout: list[tuple[int, int]] = []
        node = root
        while True:
            i = self.pick(node)
            path.append((node, i))
            child = node.children[i]
            if child is None:
                stream = np.array([next_word(self.stream, 0)], dtype=np.uint64)
                after = self.game.advance(node.state[None], np.array([node.actions[i]], dtype=np.int32))[0]
                child, value, playout = self.make(after, stream)
                node.children[i] = child
                break
            if child.over or (self.config.solver and child.proven):
                value = child.low if child.mover == 0 else -child.low
                break
            node = child
        self.back_up(path, value, playout)

    def back_up(self, path: list[tuple[Node, int]], value: float, playout: list[tuple[int, int]]) -> None:
        """`value` is the first player's."""
        leaf_value = value
        for node, i in reversed(path):
            sign = 1 if node.mover == 0 else -1
            child = node.children[i]
            if self.config.solver:
                bounds = [self.bounds(node, k) for k in range(len(node.actions))]
                node.low, node.high = max(low for low, _ in bounds), max(high for _, high in bounds)
                if child.proven:
                    value = sign * bounds[i][0]
            node.N[i] += 1
            node.W[i] += sign * value
        if self.config.rule == "rave":
            for start, (node, _) in enumerate(path):
                sequence = [(n.mover, n.actions[i]) for n, i in path[start:]] + playout
                later = set(sequence)
                if self.config.rave_amaf == "cell":
                    later = {(who, a) for i, (who, a) in enumerate(sequence) if a not in [b for _, b in sequence[:i]]}
                for k, action in enumerate(node.actions):
                    if (node.mover, action) in later:
                        node.rave_W[k] += leaf_value if node.mover == 0 else -leaf_value
                        node.rave_N[k] += 1

    def bounds(self, node: Node, k: int) -> tuple[float, float]:
        """Proven bounds of a move, for the player who makes it."""
        child = node.children[k]
        if child is None:
            return -1.0, 1.0
        return (child.low, child.high) if child.mover == node.mover else (-child.high, -child.low)

    def q(self, node: Node, k: int, unvisited: float) -> float:
        low, high = self.bounds(node, k)
        if low == high:  # ended games are exact even when nothing is proven from them
            return low
        return node.W[k] / node.N[k] if node.N[k] else unvisited

    def pick(self, node: Node) -> int:
        config = self.config
        candidates = range(len(node.actions))
        if node is self.root and config.gumbel_root:
            return self.pick_halving(node)
        if config.solver:
            candidates = [k for k in candidates if self.bounds(node, k)[1] > node.low]
        score = {"uct": self.uct, "puct": self.puct, "rave": self.rave, "gumbel": self.lag}[config.rule]
        return max(candidates, key=lambda k: (score(node, k), -k))

    def uct(self, node: Node, k: int) -> float:
        if node.N[k] == 0:
            return math.inf
        return self.q(node, k, 0.0) + self.config.c_uct * math.sqrt(math.log(sum(node.N)) / node.N[k])

    def prior(self, node: Node, k: int) -> float:
        f = self.config.dirichlet_fraction
        if node is self.root and f > 0:
            return (1 - f) * node.prior[k] + f * self.noise[k]
        return node.prior[k]

    def puct(self, node: Node, k: int) -> float:
        unvisited = 0.0
        if self.config.fpu is not None:
            mean = sum(node.W) / sum(node.N) if sum(node.N) else node.value
            unvisited = mean - self.config.fpu
        q = self.q(node, k, unvisited)
        return q + self.config.c_puct * self.prior(node, k) * math.sqrt(sum(node.N) + 1e-8) / (1 + node.N[k])

    def rave(self, node: Node, k: int) -> float:
        half = self.config.rave_k or self.config.simulations
        beta = math.sqrt(half / (3 * sum(node.N) + half))
        q = node.rave_W[k] / node.rave_N[k] if node.rave_N[k] else 0.0
        bonus = self.config.c_puct * self.prior(node, k) * math.sqrt(sum(node.rave_N)) / (1 + node.rave_N[k])
        return (1 - beta) * self.puct(node, k) + beta * (q + bonus)

    # Gumbel search (Danihelka et al., 2022).

    def improved_logits(self, node: Node) -> list[float]:
        seen = [k for k in range(len(node.actions)) if node.N[k] > 0]
        total = sum(node.N)
        mixed = node.value
        if seen:
            weighted = sum(node.prior[k] * self.q(node, k, 0.0) for k in seen) / sum(node.prior[k] for k in seen)
            mixed = (node.value + total * weighted) / (1 + total)
        scale = (self.config.gumbel_visits + max(node.N)) * self.config.gumbel_scale
        return [
            math.log(max(node.prior[k], 1e-30)) + scale * 0.5 * (self.q(node, k, mixed) + 1)
            for k in range(len(node.actions))
        ]

    def lag(self, node: Node, k: int) -> float:
        logits = self.improved_logits(node)
        weights = [math.exp(x - max(logits)) for x in logits]
        return weights[k] / sum(weights) - node.N[k] / (1 + sum(node.N))

    def pick_halving(self, node: Node) -> int:
        considered = min(self.config.gumbel_considered, len(node.actions))
        wanted = halving_visits(considered, self.config.simulation_limit)[self.simulation]
        logits = self.improved_logits(node)
        alive = [k for k in range(len(node.actions)) if node.N[k] == wanted]
        return max(alive, key=lambda k: (self.noise[k] + logits[k], -k))


def halving_visits(considered: int, simulations: int) -> list[int]:
    """Visits that the move of each simulation has had before: sequential halving, spelled out move by move."""
    if considered == 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(considered))
    visits = {move: 0 for move in range(considered)}
    sequence: list[int] = []
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * len(visits)))):
            for move in visits:
                sequence.append(visits[move])
                visits[move] += 1
        survivors = max(2, len(visits) // 2)
        visits = {move: n for move, n in visits.items() if move < survivors}
    return sequence[:simulations]
