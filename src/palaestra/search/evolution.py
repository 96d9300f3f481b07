"""Rolling-horizon evolution (sources: Alg. 15): a population of plans, one new plan at a time, the worst dropped.

A plan (genome) is `horizon` genes, and a gene is an action number: the k-th gene is played at one's own k-th move from
here if it is legal there, and a uniform legal move stands in where it is not. The opponent, and everybody beyond the
horizon, plays uniformly. Plans are one's own moves of a random game, and a clone's are, too (`valid`, as Alg. 15
prints); or genes are drawn from all A actions (`any`), and then most say nothing where few actions are legal.

Fitness is the mean over a plan's playouts of reward / h, h the plies to the end of the game: win soon, lose late.
All B rows evolve in lockstep and draw from their own streams only. This module knows no game's rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Literal

import numpy as np

from palaestra.base.jit import allocating, kernel
from palaestra.base.streams import below, uniform
from palaestra.base.types import Bools, Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, pick_rows
from palaestra.games.kernel_game import KernelGame, Rules
from palaestra.games.rows import ONGOING
from palaestra.rewards.base import Reward

NO_GENE = -1  # after the end of the game that a plan was made from


@dataclass(frozen=True)
class Evolution:
    """The settings of Alg. 15, with the thesis's values."""

    population: int = 10
    horizon: int = 10
    mutation: float = 0.2  # probability that a gene of the clone is drawn anew
    playouts: int = 2  # random games that judge one plan
    evaluations: int = 50  # plans judged in all, the first population among them
    sequences: Literal["valid", "any"] = "valid"  # where genes come from: a game that could be played, or anywhere


@dataclass(frozen=True, eq=False)
class Evolved:
    """The best plans of B rows."""

    genomes: Int32s  # [B, H]
    fitness: Float64s  # [B]
    values: Float64s  # [B] mean reward of its playouts, for the player to move
    actions: Int32s  # [B] its first gene, or a uniform legal move where that gene is illegal
    first: Int32s  # [B, P] the first genes of the last population


def evolve(game: Game, reward: Reward, states: Int8s, streams: UInt64s, settings: Evolution) -> Evolved:
    """Evolve plans for a batch of positions, none of them over."""
    batch = len(states)
    rows = np.arange(batch)
    genomes = np.empty((batch, settings.population, settings.horizon), dtype=np.int32)
    if settings.sequences == "valid":
        play_plans(game, states, np.full_like(genomes, NO_GENE), streams, 1.0, genomes)
    else:
        draw_genes(genomes, streams, game.num_actions)
    fitness, values = judge(game, reward, states, genomes, streams, settings.playouts)
    child, parent = np.empty((2, batch, 1, settings.horizon), dtype=np.int32)
    for _ in range(settings.evaluations - settings.population):
        if settings.sequences == "valid":
            choose_parents(genomes, streams, parent)
            play_plans(game, states, parent, streams, settings.mutation, child)
        else:
            breed(genomes, streams, settings.mutation, game.num_actions, child)
        child_fitness, child_values = judge(game, reward, states, child, streams, settings.playouts)
        # The worst of population and child goes; among equals the one in the first place, the child last.
        worst = np.argmin(fitness, axis=1)
        stays = np.flatnonzero(child_fitness[:, 0] >= fitness[rows, worst])
        genomes[stays, worst[stays]] = child[stays, 0]
        fitness[stays, worst[stays]] = child_fitness[stays, 0]
        values[stays, worst[stays]] = child_values[stays, 0]
    best = np.argmax(fitness, axis=1)
    winners = genomes[rows, best]
    actions = first_moves(game, states, winners, streams)
    return Evolved(winners, fitness[rows, best], values[rows, best], actions, genomes[:, :, 0])


def judge(
    game: Game, reward: Reward, states: Int8s, genomes: Int32s, streams: UInt64s, playouts: int
) -> tuple[Float64s, Float64s]:
    """Fitness and mean reward, both float64[B, P], of genomes [B, P, H], for the player to move."""
    shape = (len(genomes), genomes.shape[1], playouts)
    outcomes = np.empty(shape, dtype=np.int32)
    plies = np.empty(shape, dtype=np.int32)
    if isinstance(game, KernelGame):
        evaluate = _loops(game.rules).evaluate_rows
        evaluate(np.ascontiguousarray(states), genomes, streams, game.params, game.max_legal, outcomes, plies)
    else:
        for i in range(shape[1]):
            for q in range(playouts):
                outcomes[:, i, q], plies[:, i, q] = follow(game, states, genomes[:, i], streams)
    rewards = reward.value(outcomes) * np.where(game.to_play(states) == 0, 1.0, -1.0)[:, None, None]
    return (rewards / plies).mean(axis=2), rewards.mean(axis=2)


@lru_cache(maxsize=64)
def _loops(rules: Rules) -> ModuleType:
    """The loops bound to a game, kept because binding reads source files and this is called at every step."""
    return rules.bind("palaestra.search.evolution_loops")


def follow(game: Game, states: Int8s, genomes: Int32s, streams: UInt64s) -> tuple[Int32s, Int32s]:
    """Outcomes and plies to the end, int32[B], of one playout a row along genomes [B, H], for any game."""
    me = game.to_play(states)
    states = states.copy()
    plies = np.zeros(len(states), dtype=np.int32)
    genes = np.zeros(len(states), dtype=np.int64)
    running = np.arange(len(states))
    while running.size:
        counts, actions = game.legal(states[running])
        own = (game.to_play(states[running]) == me[running]) & (genes[running] < genomes.shape[1])
        wanted = np.full(running.size, -1, dtype=np.int32)
        wanted[own] = genomes[running[own], genes[running[own]]]
        genes[running[own]] += 1
        usable = own & is_legal(counts, actions, wanted)
        wanted[~usable] = pick_rows(counts[~usable], actions[~usable], streams, running[~usable])
        states[running] = game.advance(states[running], wanted)
        plies[running] += 1
        running = running[game.outcome(states[running]) == ONGOING]
    return game.outcome(states), plies


def play_plans(game: Game, states: Int8s, parents: Int32s, streams: UInt64s, mutation: float, plans: Int32s) -> None:
    """Fill plans [B, P, H] with one's own moves of a random game from each state, NO_GENE after its end.

    A move is the parent's gene [B, P, H], with probability `mutation` or where that is illegal a uniform one.
    """
    if isinstance(game, KernelGame):
        play = _loops(game.rules).play_plans
        play(np.ascontiguousarray(states), parents, streams, mutation, game.params, game.max_legal, plans)
        return
    for i in range(plans.shape[1]):
        _play_plan(game, states, parents[:, i], streams, mutation, plans[:, i])


def _play_plan(game: Game, states: Int8s, parents: Int32s, streams: UInt64s, mutation: float, plans: Int32s) -> None:
    """`play_plans` for one plan a row, [B, H], for any game."""
    me, states = game.to_play(states), states.copy()
    genes = np.zeros(len(states), dtype=np.int64)
    plans.fill(NO_GENE)
    running = np.arange(len(states))
    while running.size:
        counts, actions = game.legal(states[running])
        own = np.flatnonzero(game.to_play(states[running]) == me[running])
        rows = running[own]
        wanted = np.full(running.size, NO_GENE, dtype=np.int32)
        kept = chances(streams, rows) >= mutation
        wanted[own[kept]] = parents[rows[kept], genes[rows[kept]]]
        others = np.flatnonzero(~is_legal(counts, actions, wanted))
        wanted[others] = pick_rows(counts[others], actions[others], streams, running[others])
        plans[rows, genes[rows]] = wanted[own]
        genes[rows] += 1
        states[running] = game.advance(states[running], wanted)
        running = running[(game.outcome(states[running]) == ONGOING) & (genes[running] < plans.shape[1])]


def first_moves(game: Game, states: Int8s, genomes: Int32s, streams: UInt64s) -> Int32s:
    """The first genes, int32[B]; where one is illegal, a uniform legal move."""
    counts, actions = game.legal(states)
    chosen = genomes[:, 0].copy()
    others = np.flatnonzero(~is_legal(counts, actions, chosen))
    chosen[others] = pick_rows(counts[others], actions[others], streams, others)
    return chosen


def is_legal(counts: Int32s, actions: Int32s, wanted: Int32s) -> Bools:
    """bool[B]: whether each row's action is in its list."""
    within = np.arange(actions.shape[1]) < counts[:, None]
    return np.asarray(((actions == wanted[:, None]) & within).any(axis=1))


@kernel
def draw_genes(genomes: Int32s, streams: UInt64s, num_actions: int) -> None:
    """Fill genomes [B, P, H] with uniform action numbers."""
    for b in range(genomes.shape[0]):
        for i in range(genomes.shape[1]):
            for k in range(genomes.shape[2]):
                genomes[b, i, k] = below(streams, b, num_actions)


@allocating
def chances(streams: UInt64s, rows: Int64s) -> Float64s:
    """One number in [0, 1) from the stream of each of these rows."""
    drawn = np.empty(len(rows), dtype=np.float64)
    for i in range(len(rows)):
        drawn[i] = uniform(streams, rows[i])
    return drawn


@kernel
def choose_parents(genomes: Int32s, streams: UInt64s, parent: Int32s) -> None:
    """Fill parent [B, 1, H] with a copy of one uniform plan of each row."""
    for b in range(genomes.shape[0]):
        chosen = below(streams, b, genomes.shape[1])
        for k in range(genomes.shape[2]):
            parent[b, 0, k] = genomes[b, chosen, k]


@kernel
def breed(genomes: Int32s, streams: UInt64s, mutation: float, num_actions: int, child: Int32s) -> None:
    """Fill child [B, 1, H]: a copy of one uniform parent, every gene drawn anew with probability `mutation`."""
    for b in range(genomes.shape[0]):
        parent = below(streams, b, genomes.shape[1])
        for k in range(genomes.shape[2]):
            if uniform(streams, b) < mutation:
                child[b, 0, k] = below(streams, b, num_actions)
            else:
                child[b, 0, k] = genomes[b, parent, k]
