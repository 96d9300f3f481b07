"""Lockstep search over many trees: select → game.advance → evaluate → expand and back up, one kernel call each.

The driver knows games only through `Game.step` and networks only through an `Evaluator`. Trees are independent: which
trees share a batch changes nothing in any of them. A tree whose leaf ended the game, or is known to the evaluator
already, goes on at once; only leaves that need an evaluation wait for the batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from palaestra.games.base import Game, Playouts
from palaestra.games.kernel_game import KernelGame
from palaestra.rewards.base import Reward, default_reward
from palaestra.search import decide, kernels
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves, Rollout
from palaestra.search.rules import RULES, SETTINGS, halving_schedule
from palaestra.search.tree import NO_NODE, Forest, Records
from palaestra.streams import Rng, seeds_from
from palaestra.types import Bools, Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s

SLICE = 50_000  # leaves that a compiled search judges before an interrupt can be heard
TIMED_SLICE = 200  # the same when the clock is watched


@dataclass(frozen=True, eq=False)
class SearchResult:
    """One row a root; columns are its legal moves in ascending order (the rest of a row is 0)."""

    counts: Int32s  # [M] number of legal moves
    actions: Int32s  # [M, L]
    visits: Int32s  # [M, L] N(s,a)
    q: Float32s  # [M, L] for the player to move; exact where proven, nan where never visited
    prior: Float32s  # [M, L] P(s,a), without noise
    policy: Float32s  # [M, L] π, sums to 1
    values: Float32s  # [M] of the root, for the player to move
    proven: Bools  # [M]
    chosen: Int32s  # [M] the action to play
    simulations: Int32s  # [M] finished in this search


@dataclass(eq=False)
class _Batch:
    """Buffers for the leaves of one step; grown when more are needed."""

    row: Int64s
    node: Int32s
    edge: Int32s
    child: Int32s
    stream: UInt64s
    state: Int8s
    action: Int32s

    @staticmethod
    def of(size: int, state_size: int) -> _Batch:
        return _Batch(
            np.empty(size, dtype=np.int64),
            np.empty(size, dtype=np.int32),
            np.empty(size, dtype=np.int32),
            np.empty(size, dtype=np.int32),
            np.empty(size, dtype=np.uint64),
            np.empty((size, state_size), dtype=np.int8),
            np.empty(size, dtype=np.int32),
        )


@dataclass(frozen=True, eq=False)
class _Waiting:
    """Leaves that wait for the evaluator."""

    row: Int64s
    node: Int32s
    edge: Int32s
    child: Int32s
    leaves: Leaves

    def take(self, rows: Int64s) -> _Waiting:
        return _Waiting(self.row[rows], self.node[rows], self.edge[rows], self.child[rows], self.leaves.take(rows))


class Search:
    """A search for one game, evaluator and configuration; its trees live in `forest`."""

    def __init__(self, game: Game, evaluator: Evaluator, config: SearchConfig, reward: Reward | None = None) -> None:
        self.game, self.evaluator, self.config = game, evaluator, config
        self.reward = reward or default_reward(game)
        self._settings = _settings(config)
        self._schedules: dict[int, Int32s] = {}  # of a Gumbel root, by number of simulations
        self._schedule = np.zeros((1, 1), dtype=np.int32)
        self._one_leaf = config.leaves_per_step == 1
        self._fused = self._bind_fused()
        # No outcome is larger: they count plies, moves or cells (DESIGN D2).
        self._widest = max(game.max_plies, game.observation_shape[1] * game.observation_shape[2]) + 1
        self._marks = np.zeros((2, game.num_actions), dtype=np.int64)
        self._clock = np.zeros(1, dtype=np.int64)
        expected = min(config.simulation_limit, 4096) + config.leaves_per_step + 1
        self.forest = Forest(0, game.state_size, game.max_legal, config.node_budget, expected)
        self._batch = _Batch.of(0, game.state_size)

    @property
    def is_fused(self) -> bool:
        """Whether searches run wholly in compiled code, so that one tree is as fast as many."""
        return self._fused is not None

    def _bind_fused(self) -> ModuleType | None:
        """Compiled searches for this game, where leaves are judged by its own random games one at a time."""
        evaluator, game = self.evaluator, self.game
        if type(evaluator) is Rollout and isinstance(game, KernelGame) and evaluator.game is game and self._one_leaf:
            return game.rules.bind("palaestra.search.fused_loops")
        return None

    def run(
        self,
        states: Int8s,
        rng: Rng,
        rows: Int64s | None = None,
        temperatures: Float64s | None = None,
        simulations: int | None = None,
    ) -> SearchResult:
        """Search from every state int8[M, S], none of them over.

        `rows` [M] names the tree of each state; with `reuse`, a tree that already contains the state goes on from
        there. Without `rows` every search is a new one. `temperatures` [M] and `simulations` replace the configured
        ones in this call.
        """
        count = len(states)
        self._plan(self.config.simulation_limit if simulations is None else simulations)
        if rows is None:
            rows = np.arange(count)
            self.forest.plant(rows[: self.forest.count])
        if count and int(rows.max()) >= self.forest.count:
            self.forest.add_trees(int(rows.max()) + 1 - self.forest.count)
        self.forest.streams[rows] = seeds_from(rng, count)
        self._make_room(count * self.config.leaves_per_step)
        if temperatures is None:
            temperatures = np.full(count, self.config.temperature)
        try:
            self._set_roots(states, rows, temperatures)
            self._simulate(np.sort(rows))
        except BaseException:  # an interrupt, a network that fails: what was under way must not be gone on from
            self.forest.plant(rows)
            raise
        return self._decide(rows, temperatures)

    def principal_variation(self, row: int = 0, limit: int = 64) -> list[int]:
        """Actions of the most visited line in one tree."""
        moves = np.empty(limit, dtype=np.int32)
        length = decide.principal_variation(self.forest.nodes[row], self.forest.edges[row], moves)
        return [int(a) for a in moves[:length]]

    # Roots.

    def _plan(self, simulations: int) -> None:
        """Bound the coming search; a Gumbel root's order of visits depends on the bound."""
        self._settings["limit"] = simulations
        if not self.config.gumbel_root:
            return
        if simulations not in self._schedules:
            considered = min(self.config.gumbel_considered, self.game.max_legal)
            self._schedules[simulations] = halving_schedule(considered, simulations)
        self._schedule = self._schedules[simulations]

    def _set_roots(self, states: Int8s, rows: Int64s, temperatures: Float64s) -> None:
        forest = self.forest
        fresh = np.ones(len(rows), dtype=np.bool_)
        if self.config.reuse:
            for i, row in enumerate(rows):
                fresh[i] = not self._resume(int(row), states[i])
        new = np.flatnonzero(fresh)
        if new.size:
            roots = np.ascontiguousarray(states[new])
            counts, actions = self.game.legal(roots)
            forest.plant(rows[new])
            forest.grow(1)
            kernels.plant(rows[new], roots, counts, actions, forest.trees, forest.nodes, forest.edges, forest.states)
            streams = forest.streams[rows[new]]
            evaluation = self.evaluator(Leaves(roots, counts, actions, streams))
            forest.streams[rows[new]] = streams
            logits = _logits(evaluation, len(new))
            kernels.expand_roots(rows[new], logits, evaluation.values, forest.nodes, forest.edges)
        forest.trees["done"][rows] = 0
        forest.trees["waiting"][rows] = 0
        if self.config.gumbel_root:
            decide.draw_gumbels(rows, forest.nodes, forest.streams, forest.noise, temperatures)
        elif self.config.dirichlet_fraction > 0:
            decide.draw_dirichlet(rows, forest.nodes, forest.streams, forest.noise, self.config.dirichlet_alpha)

    def _resume(self, row: int, state: Int8s) -> bool:
        """Move the root of a tree to `state`, if the tree contains it."""
        forest = self.forest
        used = int(forest.trees[row]["nodes"])
        node = kernels.find_state(forest.nodes[row], forest.states[row], used, np.ascontiguousarray(state))
        if node == NO_NODE:
            return False
        if node != 0:
            kernels.move_root(row, node, forest.trees, forest.nodes, forest.edges, forest.states)
        return True

    # Simulations.

    def _simulate(self, rows: Int64s) -> None:
        if self._fused is not None:
            self._simulate_fused(rows)
        else:
            self._simulate_lockstep(rows)

    def _simulate_fused(self, rows: Int64s) -> None:
        """One tree after the other in compiled code, in slices that can be interrupted; visits as in lockstep."""
        assert self._fused is not None and isinstance(self.game, KernelGame) and isinstance(self.evaluator, Rollout)
        forest, limit, timed = self.forest, self.config.milliseconds, self.config.milliseconds is not None
        outcomes = np.arange(-self._widest, self._widest + 1, dtype=np.int32)
        rewards, playout_rewards = self.reward.value(outcomes), self.evaluator.reward.value(outcomes)
        trace = self.config.rave_playouts and self.evaluator.trace
        done, row_began = 0, time.perf_counter()
        while done < len(rows):
            forest.reserve(1)
            before = done
            done = int(
                self._fused.run_trees(
                    rows[: done + 1] if timed else rows, done, TIMED_SLICE if timed else SLICE, *forest.may_grow,
                    trace, self.game.max_plies, rewards, playout_rewards, self.game.params,
                    forest.trees, forest.nodes, forest.edges, forest.states, forest.streams, forest.noise,
                    self._settings, self._schedule, self._marks, self._clock,
                )
            )  # fmt: skip
            if limit is not None:
                now = time.perf_counter()
                if done > before or now - row_began >= limit / 1000.0:
                    done, row_began = before + 1, now

    def _simulate_lockstep(self, rows: Int64s) -> None:
        deadline = None
        if self.config.milliseconds is not None:
            deadline = time.perf_counter() + len(rows) * self.config.milliseconds / 1000.0
        ready = rows
        while ready.size:
            waiting, ready = self._fill(ready)
            if waiting is None:
                return
            question = self.evaluator.ask if self._one_leaf else self.evaluator
            self._absorb(waiting, question(waiting.leaves))
            ready = self._distinct(waiting.row, ready)
            if deadline is not None and time.perf_counter() >= deadline:
                return

    def _fill(self, ready: Int64s) -> tuple[_Waiting | None, Int64s]:
        """Select in the trees `ready` until their leaves need an evaluation; trees that did not get their turn are
        returned. With one leaf a step, a few stragglers may wait for the next batch without any tree noticing."""
        parts: list[_Waiting] = []
        few = len(ready) // 8 if self._one_leaf else 0
        while ready.size > few or (ready.size and not parts):
            found = self._select(ready)
            if found == 0:
                ready = ready[:0]
                break
            part, ready = self._attach(found)
            if part is not None:
                parts.append(part)
        return _joined(parts), ready

    def _select(self, ready: Int64s) -> int:
        forest, batch = self.forest, self._batch
        forest.grow(self.config.leaves_per_step)
        return int(
            kernels.select(
                ready, forest.trees, forest.nodes, forest.edges, forest.states, forest.streams, forest.noise,
                self._settings, self._schedule, self._marks, self._clock,
                batch.row, batch.node, batch.edge, batch.stream, batch.state, batch.action,
            )
        )  # fmt: skip

    def _attach(self, found: int) -> tuple[_Waiting | None, Int64s]:
        """Advance the games to the leaves just selected; the leaves to evaluate, and the trees that can go on."""
        forest, batch = self.forest, self._batch
        after, counts, actions = self.game.step(batch.state[:found], batch.action[:found])
        over = counts == 0
        values = np.zeros(found, dtype=np.float32)
        if over.any():
            values[over] = self.reward.value(self.game.outcome(after[over]))
        still_open = kernels.attach(
            found, batch.row, batch.node, batch.edge, after, counts, actions, values,
            forest.trees, forest.nodes, forest.edges, forest.states, self._settings, self._marks, self._clock,
            batch.child,
        )  # fmt: skip
        if still_open == 0:
            return None, self._distinct(batch.row[:found].copy())
        everything = Leaves(after, counts, actions, batch.stream[:found].copy())
        waiting = _Waiting(
            batch.row[:found].copy(), batch.node[:found].copy(), batch.edge[:found].copy(), batch.child[:found].copy(),
            everything,
        )  # fmt: skip
        if still_open == found:
            return self._use_known(waiting, waiting.row[:0])
        return self._use_known(waiting.take(np.flatnonzero(~over)), self._distinct(waiting.row[over]))

    def _use_known(self, waiting: _Waiting, ready: Int64s) -> tuple[_Waiting | None, Int64s]:
        """Finish the leaves that the evaluator has seen before: their trees need not wait.

        Not with several leaves a step: there, what is backed up early would change which leaves are chosen next, and
        a search would depend on what happened to be remembered.
        """
        answers = self.evaluator.lookup(waiting.leaves.states) if self._one_leaf else None
        if answers is None:
            return waiting, ready
        known, logits, values = answers
        hits = np.flatnonzero(known)
        if hits.size == 0:
            return waiting, ready
        self._absorb(waiting.take(hits), Evaluation(logits[hits], values[hits]))
        ready = self._distinct(ready, waiting.row[hits])
        misses = np.flatnonzero(~known)
        return (waiting.take(misses) if misses.size else None), ready

    def _absorb(self, waiting: _Waiting, evaluation: Evaluation) -> None:
        forest, count = self.forest, len(waiting.row)
        playouts = evaluation.playouts if self.config.rave_playouts else None
        lengths, moves, movers = _trace(playouts, count)
        kernels.absorb(
            waiting.row, waiting.node, waiting.edge, waiting.child, waiting.leaves.states[:, 0].copy(),
            _logits(evaluation, count), evaluation.values, lengths, moves, movers,
            forest.trees, forest.nodes, forest.edges, self._settings, self._marks, self._clock,
        )  # fmt: skip

    # Answers.

    def _decide(self, rows: Int64s, temperatures: Float64s) -> SearchResult:
        forest, count, width = self.forest, len(rows), self.game.max_legal
        visits = np.zeros((count, width), dtype=np.int32)
        q = np.zeros((count, width), dtype=np.float32)
        prior = np.zeros((count, width), dtype=np.float32)
        policy = np.zeros((count, width), dtype=np.float32)
        values = np.zeros(count, dtype=np.float32)
        proven = np.zeros(count, dtype=np.int32)
        choices = np.zeros(count, dtype=np.int32)
        decide.decide(
            rows, forest.nodes, forest.edges, forest.streams, forest.noise, temperatures, self._settings,
            visits, q, prior, policy, values, proven, choices,
        )  # fmt: skip
        counts, actions = self.game.legal(forest.states[rows, 0])
        chosen = actions[np.arange(count), choices]
        simulations = forest.trees["done"][rows].copy()
        return SearchResult(
            counts, actions, visits, q, prior, policy, values, proven.astype(np.bool_), chosen, simulations
        )

    def _distinct(self, *rows: Int64s) -> Int64s:
        """The trees named in any of these; with one leaf a step none is named twice."""
        joined = np.concatenate(rows) if len(rows) > 1 and rows[1].size else rows[0]
        return joined if self._one_leaf else np.unique(joined)

    def _make_room(self, leaves: int) -> None:
        if len(self._batch.row) < leaves:
            self._batch = _Batch.of(leaves, self.game.state_size)


def _settings(config: SearchConfig) -> Records:
    settings = np.zeros(1, dtype=SETTINGS)
    settings["rule"] = RULES[config.rule]
    settings["solver"] = config.solver
    settings["gumbel_root"] = config.gumbel_root
    settings["has_fpu"] = config.fpu is not None
    settings["fpu"] = config.fpu or 0.0
    settings["leaves"] = config.leaves_per_step
    for name in ("c_puct", "c_uct", "rave_k", "dirichlet_fraction", "gumbel_visits", "gumbel_scale"):
        settings[name] = getattr(config, name)
    return settings


def _logits(evaluation: Evaluation, count: int) -> Float32s:
    return np.empty((count, 0), dtype=np.float32) if evaluation.logits is None else evaluation.logits


def _trace(playouts: Playouts | None, count: int) -> tuple[Int32s, Int32s, Int8s]:
    if playouts is None or playouts.lengths is None or playouts.moves is None or playouts.movers is None:
        return np.zeros(count, np.int32), np.empty((count, 0), np.int32), np.empty((count, 0), np.int8)
    return playouts.lengths, playouts.moves, playouts.movers


def _joined(parts: list[_Waiting]) -> _Waiting | None:
    if len(parts) <= 1:
        return parts[0] if parts else None
    leaves = [part.leaves for part in parts]
    return _Waiting(
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.edge for part in parts]),
        np.concatenate([part.child for part in parts]),
        Leaves(
            np.concatenate([part.states for part in leaves]),
            np.concatenate([part.counts for part in leaves]),
            np.concatenate([part.actions for part in leaves]),
            np.concatenate([part.streams for part in leaves]),
        ),
    )
