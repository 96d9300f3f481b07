"""Lockstep search over many trees: select → game.advance → evaluate → expand and back up, one kernel call each.

The driver knows games only through `Game.step` and networks only through an `Evaluator`. Trees are independent: which
trees share a batch changes nothing in any of them. A tree whose leaf ended the game, or is known to the evaluator
already, goes on at once; only leaves that need an evaluation wait for the batch.

Where a game's rules are compiled and a tree has one leaf a step, all steps but the evaluation are one kernel call
(`fused_loops`); visits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from palaestra.base.compiling import clock
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Bools, Float32s, Float64s, Int8s, Int32s, Int64s
from palaestra.games.base import Game, Playouts
from palaestra.games.kernel_game import KernelGame
from palaestra.rewards.base import Reward, default_reward
from palaestra.search import decide, kernels
from palaestra.search.config import SearchConfig
from palaestra.search.decide import Answers, SearchResult
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves, Rollout
from palaestra.search.memory import Memory
from palaestra.search.rule_registry import make_rule
from palaestra.search.rules.gumbel import halving_schedule
from palaestra.search.selection import DESCENT, SETTINGS, Method, Rule, refusing
from palaestra.search.tree import Forest, Records
from palaestra.search.waiting import Batch, Traces, Waiting, joined

# Simulations of one tree after which clock and interrupts are heard even if all of them end in nodes whose value is
# exact: those never leave compiled code, and without the solver a tree can be full of them. No visit depends on it
# while a tree has one leaf a step; several leaves are all waited for at the end of a round.
ROUND = 2**18
SLICE = 50_000  # leaves that a compiled search judges before an interrupt can be heard
TIMED_SLICE = 200  # the same when the clock, or the search itself, is watched


class Search:
    """A search for one game, evaluator and configuration; its trees live in `forest`."""

    def __init__(self, game: Game, evaluator: Evaluator, config: SearchConfig, reward: Reward | None = None) -> None:
        self.game, self.evaluator, self.config = game, evaluator, config
        self.reward = reward or default_reward(game)
        self._rule = make_rule(config.rule)
        self._descent = self._rule.bind(DESCENT)
        self._settings = _settings(config, self._rule)
        marks, marked = np.zeros((2, game.num_actions), dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._method: Method = self._settings, np.zeros((1, 1), dtype=np.int32), marks, marked
        self._schedules: dict[int, Int32s] = {}  # of a Gumbel root, by number of simulations
        self._one_leaf = config.leaves_per_step == 1
        self._loops = _compiled_loops(game, self._descent) if self._one_leaf else None
        self._memory = evaluator.memory or Memory(0, game.state_size, game.num_actions)
        self._rewards = np.empty(0, dtype=np.float32)  # of all outcomes, while a compiled search runs
        expected = min(config.simulation_limit, 4096) + config.leaves_per_step + 1
        self.forest = Forest(0, game.state_size, game.max_legal, config.node_budget, expected)
        self._batch = Batch(0, game.state_size, game.max_legal)
        self._asked = np.empty(0, dtype=np.int64), np.empty(0)  # rows and temperatures of the search under way
        self._slice = SLICE

    @property
    def is_fused(self) -> bool:
        """Whether searches run wholly in compiled code, so that one tree is as fast as many."""
        judge = self.evaluator
        return self._loops is not None and type(judge) is Rollout and judge.game is self.game

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
        for _ in self.steps(states, rng, rows, temperatures, simulations):
            pass
        return self.result()

    def steps(
        self,
        states: Int8s,
        rng: Rng,
        rows: Int64s | None = None,
        temperatures: Float64s | None = None,
        simulations: int | None = None,
        leaves: int = SLICE,
    ) -> Iterator[None]:
        """`run` in steps of at most `leaves` compiled leaves, or of one evaluation; `result` may be asked after each.

        How a search is cut into steps changes nothing in it. Whoever has seen enough goes no further: closing the
        iterator drops the trees.
        """
        count = len(states)
        self._plan(self.config.simulation_limit if simulations is None else simulations)
        if rows is None:
            rows = np.arange(count)
            self.forest.plant(rows[: self.forest.count])
        if count and int(rows.max()) >= self.forest.count:
            self.forest.add_trees(int(rows.max()) + 1 - self.forest.count)
        self.forest.streams[rows] = seeds_from(rng, count)
        if (size := count * self.config.leaves_per_step) > self._batch.size:
            self._batch = Batch(size, self.game.state_size, self.game.max_legal)
        if temperatures is None:
            temperatures = np.full(count, self.config.temperature)
        self._asked = rows, temperatures
        self._slice = leaves if self.config.ms is None else min(leaves, TIMED_SLICE)
        try:
            self._set_roots(states, rows, temperatures)
            yield from self._simulate(np.sort(rows))
        except BaseException:  # an interrupt, a network that fails: what was under way must not be gone on from
            self.forest.plant(rows)
            raise

    def result(self) -> SearchResult:
        """What the search under way, or the last one, says of the states it was given. Asking changes nothing."""
        rows, temperatures = self._asked
        streams = self.forest.streams[rows]
        found = self._decide(rows, temperatures)
        self.forest.streams[rows] = streams
        return found

    def principal_variation(self, row: int = 0, limit: int = 64) -> list[int]:
        """Actions of the most visited line in one tree."""
        moves = np.empty(limit, dtype=np.int32)
        length = decide.principal_variation(self.forest.nodes[row], self.forest.edges[row], moves)
        return [int(a) for a in moves[:length]]

    def proven_moves(self, row: int = 0) -> Bools:
        """bool[count]: which of the root's legal moves have an exact value, in one tree."""
        root = self.forest.nodes[row, 0]
        edges = self.forest.edges[row, root["first"] : root["first"] + root["count"]]
        return np.asarray(edges["low"] == edges["high"])

    # Roots.

    def _plan(self, simulations: int) -> None:
        """Bound the coming search; a Gumbel root's order of visits depends on the bound."""
        self._limit = simulations
        if not self.config.gumbel_root:
            return
        if simulations not in self._schedules:
            considered = min(self.config.gumbel_considered, self.game.max_legal)
            self._schedules[simulations] = halving_schedule(considered, simulations)
        _, _, marks, marked = self._method
        self._method = self._settings, self._schedules[simulations], marks, marked

    def _set_roots(self, states: Int8s, rows: Int64s, temperatures: Float64s) -> None:
        forest = self.forest
        fresh = np.ones(len(rows), dtype=np.bool_)
        if self.config.reuse:
            fresh = ~self._resume(rows, states)
        new = np.flatnonzero(fresh)
        if new.size:
            roots = np.ascontiguousarray(states[new])
            counts, actions = self.game.legal(roots)
            forest.plant(rows[new])
            forest.grow(1)
            kernels.plant(rows[new], roots, counts, actions, forest.arrays)
            streams = forest.streams[rows[new]]
            evaluation = self.evaluator(Leaves(roots, counts, actions, streams))
            forest.streams[rows[new]] = streams
            kernels.expand_roots(rows[new], self._logits(evaluation), evaluation.values, forest.nodes, forest.edges)
        forest.trees["done"][rows] = 0
        forest.trees["waiting"][rows] = 0
        if self.config.gumbel_root:
            decide.draw_gumbels(rows, forest.nodes, forest.streams, forest.noise, temperatures)
        elif self.config.dirichlet_fraction > 0:
            decide.draw_dirichlet(rows, forest.nodes, forest.streams, forest.noise, self.config.dirichlet_alpha)

    def _resume(self, rows: Int64s, states: Int8s) -> Bools:
        """Move the roots of the trees that contain their states; bool[M], which do."""
        kept = np.zeros(len(rows), dtype=np.bool_)
        kernels.resume(rows, np.ascontiguousarray(states), self.forest.arrays, kept)
        return kept

    # Simulations.

    @property
    def _limit(self) -> int:
        """How many simulations a tree may have for now."""
        return int(self._settings["limit"][0])

    @_limit.setter
    def _limit(self, simulations: int) -> None:
        self._settings["limit"] = simulations

    def _simulate(self, rows: Int64s) -> Iterator[None]:
        if self._loops is not None:
            self._rewards = self._worths(self.reward)  # anew for every search: a reward may have learned
        return self._simulate_fused(rows) if self.is_fused else self._simulate_lockstep(rows)

    def _simulate_fused(self, rows: Int64s) -> Iterator[None]:
        """One tree after the other in compiled code, in slices that can be interrupted; visits as in lockstep."""
        assert self._loops is not None and isinstance(self.game, KernelGame) and isinstance(self.evaluator, Rollout)
        forest, limit, total = self.forest, self.config.ms, self._limit
        playout_rewards = self._worths(self.evaluator.reward)
        traced = self.game.max_plies if self.config.rave_playouts and self.evaluator.trace else 0
        singly = limit is not None or total > ROUND
        done, row_began = 0, clock()
        while done < len(rows):
            forest.reserve(1)
            before, row = done, rows[done]
            self._limit = min(total, int(forest.trees["done"][row]) + ROUND)
            done = int(
                self._call(
                    self._loops.run_trees,
                    rows[: done + 1] if singly else rows, done, self._slice, self._rewards, self.game.params,
                    forest.arrays, forest.may_grow, self._method, playout_rewards, traced,
                )
            )  # fmt: skip
            if singly:
                now = clock()
                finished = done > before and not self._limit <= forest.trees["done"][row] < total
                out_of_time = limit is not None and now - row_began >= limit / 1000.0
                done, row_began = (before + 1, now) if finished or out_of_time else (before, row_began)
            yield

    def _simulate_lockstep(self, rows: Int64s) -> Iterator[None]:
        deadline = None
        if self.config.ms is not None:
            deadline = clock() + len(rows) * self.config.ms / 1000.0
        fill, ready = self._fill if self._loops is None else self._gather, rows
        question = self.evaluator.ask if self._one_leaf else self.evaluator
        total, self._limit = self._limit, min(self._limit, ROUND)
        while ready.size:
            waiting, ready = fill(ready)
            if waiting is not None:
                self._absorb(waiting, question(waiting.leaves))
                ready = self._distinct(waiting.row, ready)
            if deadline is not None and clock() >= deadline:
                return
            if not ready.size and self._limit < total:
                ready = rows[self.forest.trees["done"][rows] >= self._limit]
                self._limit = min(total, self._limit + ROUND)
            yield

    def _gather(self, ready: Int64s) -> tuple[Waiting | None, Int64s]:
        """`_fill` in compiled code. The slice is shared out, so that under a clock no tree runs ahead of the others."""
        assert self._loops is not None and isinstance(self.game, KernelGame)
        forest, memory, batch = self.forest, self._memory, self._batch
        quota = self._slice // len(ready)
        found, left, hits = self._call(
            self._loops.gather_leaves, ready, max(quota, 1), self._rewards, self.game.params,
            forest.arrays, forest.may_grow, self._method, memory.table, batch.arrays,
        )  # fmt: skip
        memory.count(found + hits, hits)
        if left:
            forest.reserve(1)
        return (batch.waiting(found) if found else None), ready[:left]

    def _fill(self, ready: Int64s) -> tuple[Waiting | None, Int64s]:
        """Select in the trees `ready` until their leaves need an evaluation; trees that did not get their turn are
        returned. With one leaf a step, a few stragglers may wait for the next batch without any tree noticing."""
        parts: list[Waiting] = []
        few = len(ready) // 8 if self._one_leaf else 0
        while ready.size > few or (ready.size and not parts):
            found = self._select(ready)
            if found == 0:
                ready = ready[:0]
                break
            part, ready = self._attach(found)
            if part is not None:
                parts.append(part)
        return joined(parts), ready

    def _select(self, ready: Int64s) -> int:
        self.forest.grow(self.config.leaves_per_step)
        return int(self._call(self._descent.select, ready, self.forest.arrays, self._method, self._batch.arrays))

    def _attach(self, found: int) -> tuple[Waiting | None, Int64s]:
        """Advance the games to the leaves just selected; the leaves to evaluate, and the trees that can go on."""
        batch = self._batch
        after, counts, actions = self.game.step(batch.state[:found], batch.action[:found])
        over = counts == 0
        values = np.zeros(found, dtype=np.float32)
        if over.any():
            values[over] = self.reward.value(self.game.outcome(after[over]))
        still_open = kernels.attach(
            found, batch.places, after, counts, actions, values, self.forest.arrays, self._method
        )
        if still_open == 0:
            return None, self._distinct(batch.places[0][:found].copy())
        everything = Leaves(after, counts, actions, batch.stream[:found].copy())
        row, node, edge, child = batch.places
        places = row[:found].copy(), node[:found].copy(), edge[:found].copy(), child[:found].copy()
        waiting = Waiting(places, everything)
        if still_open == found:
            return self._use_known(waiting, waiting.row[:0])
        return self._use_known(waiting.take(np.flatnonzero(~over)), self._distinct(waiting.row[over]))

    def _use_known(self, waiting: Waiting, ready: Int64s) -> tuple[Waiting | None, Int64s]:
        """Finish the leaves that the evaluator has seen before: their trees need not wait.

        Not with several leaves a step: there, what is backed up early would change which leaves are chosen next, and
        a search would depend on what happened to be remembered.
        """
        if self.evaluator.memory is None or not self._one_leaf:
            return waiting, ready
        known, logits, values = self.evaluator.memory.find(waiting.leaves.states)
        hits = np.flatnonzero(known)
        if hits.size == 0:
            return waiting, ready
        self._absorb(waiting.take(hits), Evaluation(logits[hits], values[hits]))
        ready = self._distinct(ready, waiting.row[hits])
        misses = np.flatnonzero(~known)
        return (waiting.take(misses) if misses.size else None), ready

    def _absorb(self, waiting: Waiting, evaluation: Evaluation) -> None:
        traces = _traces(evaluation.playouts) if self.config.rave_playouts else None
        kernels.absorb(
            waiting.places, waiting.leaves.states, self._logits(evaluation), evaluation.values,
            traces or self._batch.no_traces, self.forest.arrays, self._method,
        )  # fmt: skip

    def _logits(self, evaluation: Evaluation) -> Float32s:
        """[n, A], or [n, 0] for none."""
        return self._batch.no_logits if evaluation.logits is None else evaluation.logits

    def _call(self, loop: Any, *arguments: Any) -> Any:
        """Call a loop that is bound with the rule, and perhaps with the game's rules; what fails becomes one line."""
        with refusing(self.config.rule):
            return self.game.call(loop, *arguments) if isinstance(self.game, KernelGame) else loop(*arguments)

    def _worths(self, reward: Reward) -> Float32s:
        """The first player's value of every outcome that the game may have; the draw is in the middle."""
        largest = self.game.largest_outcome
        return reward.value(np.arange(-largest, largest + 1, dtype=np.int32))

    # Answers.

    def _decide(self, rows: Int64s, temperatures: Float64s) -> SearchResult:
        forest, count, width = self.forest, len(rows), self.game.max_legal
        visits = np.zeros((count, width), dtype=np.int32)
        q = np.zeros((count, width), dtype=np.float32)
        prior = np.zeros((count, width), dtype=np.float32)
        policy = np.zeros((count, width), dtype=np.float32)
        values = np.zeros(count, dtype=np.float32)
        proven = np.zeros(count, dtype=np.bool_)
        choices = np.zeros(count, dtype=np.int32)
        answers: Answers = visits, q, prior, policy, values, proven, choices
        decide.decide(rows, temperatures, forest.arrays, self._settings, answers)
        counts, actions = self.game.legal(forest.states[rows, 0])
        chosen = actions[np.arange(count), choices]
        simulations = forest.trees["done"][rows].copy()
        return SearchResult(counts, actions, visits, q, prior, policy, values, proven, chosen, simulations)

    def _distinct(self, *rows: Int64s) -> Int64s:
        """The trees named in any of these; with one leaf a step none is named twice."""
        joined = np.concatenate(rows) if len(rows) > 1 and rows[1].size else rows[0]
        return joined if self._one_leaf else np.unique(joined)


def _compiled_loops(game: Game, descent: ModuleType) -> ModuleType | None:
    if not isinstance(game, KernelGame):
        return None
    return game.rules.bind("palaestra.search.fused_loops", {"select_leaf": descent.select_leaf})


def _settings(config: SearchConfig, rule: Rule) -> Records:
    settings = np.zeros(1, dtype=SETTINGS)
    settings["rave"] = rule.rave
    settings["solver"] = config.solver
    settings["gumbel_root"] = config.gumbel_root
    settings["has_fpu"] = config.fpu is not None
    settings["fpu"] = config.fpu or 0.0
    settings["leaves"] = config.leaves_per_step
    settings["rave_k"] = config.k
    settings["rave_cell"] = config.rave_amaf == "cell"
    for name in ("c", "dirichlet_fraction", "gumbel_visits", "gumbel_scale"):
        settings[name] = getattr(config, name)
    return settings


def _traces(playouts: Playouts | None) -> Traces | None:
    if playouts is None or playouts.lengths is None or playouts.moves is None or playouts.movers is None:
        return None
    return playouts.lengths, playouts.moves, playouts.movers
