"""The kernels equal the textbook search visit for visit."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator, Mixed, Rollout, Scripted, Uniform
from tests.search.textbook import Textbook, halving_visits

GAMES = [
    "tic_tac_toe-3x3",
    "gobang-5x5",
    "connect_four-4x4",
    "connect_four-6x7",
    "othello-4x4",  # passes
    "othello-6x6",
    "hex-3x3",
    "opposition-3x5",  # several starts
    "morpion-4d",  # one player
]

CONFIGS = {
    "puct": SearchConfig(simulations=60, solver=False),
    "puct with the solver": SearchConfig(simulations=60, c_puct=1.5),
    "puct with noise": SearchConfig(simulations=50, dirichlet_fraction=0.25, dirichlet_alpha=0.3),
    "puct with first-play urgency": SearchConfig(simulations=50, fpu=0.2, solver=False),
    "uct": SearchConfig(rule="uct", simulations=80, solver=False),
    "uct with the solver": SearchConfig(rule="uct", simulations=80),
    "rave": SearchConfig(rule="rave", simulations=60, rave_k=30, solver=False),
    "rave with playouts, noise and the solver": SearchConfig(
        rule="rave", simulations=60, rave_playouts=True, dirichlet_fraction=0.5
    ),
    "rave by cell": SearchConfig(rule="rave", simulations=60, rave_playouts=True, rave_amaf="cell", solver=False),
    "gumbel": SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=40, solver=False, temperature=1),
    "gumbel root over puct": SearchConfig(
        gumbel_root=True, reuse=False, simulations=40, gumbel_considered=4, gumbel_scale=0.3, temperature=0.5
    ),
}


def scripted(game: Game) -> Evaluator:
    """Arbitrary but fixed opinions: logits and values are hashes of the state's bytes."""

    weights = np.random.default_rng(5).integers(1, 2**31, size=game.state_size)

    def script(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = (states * weights).sum(axis=1)[:, None]  # whole numbers: the same in every batch
        numbers = np.sin(codes % np.arange(9973, 9974 + game.num_actions)).astype(np.float32)
        return 2 * numbers[:, 1:], numbers[:, 0].copy()

    return Scripted(script)


def random_positions(game: Game, count: int, seed: int) -> np.ndarray:
    """Positions of different ages, none of them over."""
    rng = np.random.default_rng(seed)
    kept = []
    while len(kept) < count:
        state = game.initial(1, rng)
        line = [state]
        while True:
            counts, actions = game.legal(state)
            state = game.advance(state, actions[:, rng.integers(counts[0])])
            if game.outcome(state)[0] != ONGOING:
                break
            line.append(state)
        kept.extend(line[k][0] for k in {int(rng.integers(len(line))), len(line) - 1})
    return np.stack(kept[:count])


def evaluators(game: Game, config: SearchConfig) -> dict[str, Evaluator]:
    rollout = Rollout(game, default_reward(game), trace=config.rave_playouts)
    return {"scripted": scripted(game), "rollout": rollout, "mixed": Mixed(scripted(game), rollout, 0.4)}


QUICK = ("tic_tac_toe-3x3", "connect_four-6x7", "othello-4x4")  # every game is compiled anew for every rule


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("game_id", [id if id in QUICK else pytest.param(id, marks=pytest.mark.slow) for id in GAMES])
def test_visits_equal_the_textbook_on_random_positions(game_id: str, name: str) -> None:
    game, config = make_game(game_id), CONFIGS[name]
    states = random_positions(game, 6, seed=len(name))
    seeds = np.arange(100, 100 + len(states), dtype=np.uint64)
    for label, evaluator in evaluators(game, config).items():
        result = Search(game, evaluator, config).run(states, seeds)
        for row, state in enumerate(states):
            root = Textbook(game, evaluator, config, default_reward(game)).run(state, int(seeds[row]))
            where = f"{label}, row {row}:\n{game.render(state)}"
            assert result.actions[row, : result.counts[row]].tolist() == root.actions, where
            assert result.visits[row, : result.counts[row]].tolist() == root.N, where
            assert bool(result.proven[row]) == (config.solver and root.proven), where
            if not root.proven:
                np.testing.assert_allclose(result.values[row], sum(root.W) / sum(root.N), atol=1e-6)


@pytest.mark.parametrize("considered", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("simulations", [1, 5, 16, 50, 200])
def test_sequential_halving_visits_moves_as_spelled_out(considered: int, simulations: int) -> None:
    from palaestra.search.rules.gumbel import halving_schedule

    assert halving_schedule(considered, simulations)[considered].tolist() == halving_visits(considered, simulations)


def test_uniform_evaluator_visits_all_moves_alike() -> None:
    game = make_game("gobang-6x6")
    result = Search(game, Uniform(), SearchConfig(simulations=72)).run(game.initial(1), np.array([1], np.uint64))
    assert (result.visits == 2).all()
