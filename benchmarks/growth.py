"""How a search grows: memory with its simulations up to the node budget, and time with simulations and games."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.table import Table
from benchmarks.timing import timed
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.inference_speed import model_bytes
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator, Rollout

GAME, NET = "connect_four-6x7", "b3c32"
NODE_BUDGET = 400_000
MEMORY_SIMULATIONS = (1_000, 10_000, 100_000, 400_000, 1_000_000)
SIMULATIONS, GAMES_FIXED = (50, 100, 200, 400, 800), 128
GAMES, SIMULATIONS_FIXED = (1, 4, 16, 64, 256, 1024), 100


def memory() -> Table:
    """Bytes and seconds of one tree for growing numbers of simulations."""
    game = make_game(GAME)
    table = Table(
        f"Memory of one tree, {GAME}, budget of {NODE_BUDGET:,} nodes",
        ("simulations", "nodes", "megabytes", "bytes a simulation", "seconds", "simulations made", "answer"),
        "UCT with random playouts, 32 leaves a step. Arrays grow by doubling, so memory is within a factor of two of"
        " linear; past the budget it stays as it is, and the search goes on in the tree it has.",
    )
    for simulations in MEMORY_SIMULATIONS:
        config = SearchConfig(
            rule="uct", simulations=simulations, leaves_per_step=32, node_budget=NODE_BUDGET, solver=False
        )
        search = Search(game, Rollout(game, default_reward(game)), config)
        start = game.initial(1)
        began = time.perf_counter()
        result = search.run(start, np.random.default_rng(1))
        seconds = time.perf_counter() - began
        size = search.forest.bytes
        table.add(
            simulations,
            int(search.forest.trees["nodes"][0]),
            size / 1e6,
            size / simulations,
            seconds,
            int(result.simulations[0]),
            game.action_to_text(start[0], int(result.chosen[0])),
        )
    return table


def cost(rounds: int, most: int) -> Table:
    """Microseconds of one simulation of one game, for more simulations and for more games, up to `most` in all."""
    game = make_game(GAME)
    evaluators: dict[str, Evaluator] = {
        "random games": Rollout(game, default_reward(game)),
        NET: OnnxEvaluator(game, model_bytes(game, NET)),
    }
    table = Table(
        f"Time of one simulation of one game, {GAME}, one thread",
        ("simulations", "games", *(f"µs with {name}" for name in evaluators)),
        "From the start of the game, new trees, best of the rounds. Flat down the first rows: time is linear in the"
        " simulations. With more games it falls until a step fills the core, then it is flat: linear in the games.",
    )
    sizes = [(m, GAMES_FIXED) for m in SIMULATIONS] + [(SIMULATIONS_FIXED, b) for b in GAMES]
    for m, b in (size for size in sizes if size[0] * size[1] <= most):
        table.add(m, b, *(1e6 * _seconds(game, evaluator, m, b, rounds) / (m * b) for evaluator in evaluators.values()))
    return table


def _seconds(game: Game, evaluator: Evaluator, simulations: int, games: int, rounds: int) -> float:
    rule = "uct" if isinstance(evaluator, Rollout) else "puct"
    config = SearchConfig(rule=rule, simulations=simulations, reuse=False)
    states = game.initial(games)
    search = Search(game, evaluator, config)
    search.run(states, np.random.default_rng(0))  # compiles, and makes the trees as large as they will be
    return min(timed(partial(search.run, states, np.random.default_rng(seed))) for seed in range(rounds))
