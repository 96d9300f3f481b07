"""Rolling-horizon evolution against a plain loop over plans, genes and plies (sources: Alg. 15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search.evolution import Evolution, evolve
from tests.search.toy_games import Stream, after, legal_list, outcome_of, random_positions, tree_game, uncompiled

SETTINGS = Evolution(population=4, horizon=5, mutation=0.3, playouts=2, evaluations=12)


@dataclass
class Plan:
    genes: list[int]
    fitness: float
    value: float


def slow_playout(game: Game, root: Int8s, genes: list[int], stream: Stream) -> tuple[int, int]:
    """Outcome and plies to the end."""
    state, waiting, plies = root, list(genes), 0
    while (outcome := outcome_of(game, state)) is None:
        moves = legal_list(game, state)
        action = waiting.pop(0) if state[0] == root[0] and waiting else None
        if action not in moves:
            action = moves[stream.below(len(moves))]
        state = after(game, state, action)
        plies += 1
    return outcome, plies


def slow_evolve(game: Game, root: Int8s, seed: int, settings: Evolution) -> tuple[Plan, int]:
    """The best plan and the action played."""
    stream, sign = Stream(seed), 1.0 if root[0] == 0 else -1.0

    def judged(genes: list[int]) -> Plan:
        games = [slow_playout(game, root, genes, stream) for _ in range(settings.playouts)]
        rewards = [sign * float(default_reward(game).value(np.array([outcome]))[0]) for outcome, _ in games]
        fitness = np.mean([reward / plies for reward, (_, plies) in zip(rewards, games, strict=True)])
        return Plan(genes, float(fitness), float(np.mean(rewards)))

    first = [[stream.below(game.num_actions) for _ in range(settings.horizon)] for _ in range(settings.population)]
    plans = [judged(genes) for genes in first]
    for _ in range(settings.evaluations - settings.population):
        parent = plans[stream.below(settings.population)]
        genes = [
            stream.below(game.num_actions) if stream.uniform() < settings.mutation else gene for gene in parent.genes
        ]
        plans.append(judged(genes))
        worst = min(range(len(plans)), key=lambda i: plans[i].fitness)
        plans[worst] = plans[-1]  # the newcomer takes the place of the one that goes, be it its own
        plans.pop()
    best = max(plans, key=lambda plan: plan.fitness)
    moves = legal_list(game, root)
    return best, best.genes[0] if best.genes[0] in moves else moves[stream.below(len(moves))]


@pytest.mark.parametrize("name", ["tic_tac_toe-3x3", "gobang-5x5", "connect_four-4x4", "othello-4x4", "tree"])
def test_plans_and_moves_are_those_of_the_plain_loop(name: str) -> None:
    game = tree_game(5) if name == "tree" else make_game(name)
    states, seeds = random_positions(game, 12, seed=11), keyed_seeds(2, np.arange(12))
    found = evolve(game, default_reward(game), states, seeds.copy(), SETTINGS)
    plain = evolve(uncompiled(game), default_reward(game), states, seeds.copy(), SETTINGS)
    for row, state in enumerate(states):
        best, action = slow_evolve(game, state, int(seeds[row]), SETTINGS)
        assert found.genomes[row].tolist() == best.genes
        assert found.actions[row] == action
        assert found.fitness[row] == pytest.approx(best.fitness)
        assert found.values[row] == pytest.approx(best.value)
    assert np.array_equal(plain.genomes, found.genomes)
    assert np.array_equal(plain.actions, found.actions)
    assert np.array_equal(plain.fitness, found.fitness)


def test_the_positions_of_the_equality_test_contain_forced_passes() -> None:
    game = make_game("othello-4x4")
    roots = random_positions(game, 12, seed=11)
    moved = False
    for root in roots:
        for seed in range(5):
            state, stream = root, Stream(seed)
            while outcome_of(game, state) is None:
                moves = legal_list(game, state)
                moved |= moves == [game.num_actions - 1]
                state = after(game, state, moves[stream.below(len(moves))])
    assert moved


def test_a_row_does_not_depend_on_its_batch() -> None:
    game = make_game("gobang-5x5")
    states, seeds = random_positions(game, 4, seed=12), keyed_seeds(3, np.arange(4))
    together = evolve(game, default_reward(game), states, seeds.copy(), SETTINGS)
    alone = evolve(game, default_reward(game), states[2:3], seeds[2:3].copy(), SETTINGS)
    assert together.genomes[2].tolist() == alone.genomes[0].tolist()
    assert together.actions[2] == alone.actions[0]


def test_an_immediate_win_has_fitness_one() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("a1 a2 b1 b2")  # X completes the first row at c1
    settings = Evolution(population=30, horizon=3, mutation=0.5, playouts=8, evaluations=200)  # no plan wins 8 by luck
    found = evolve(game, default_reward(game), state[None, :], keyed_seeds(1), settings)
    assert found.fitness.tolist() == [1.0]
    assert game.action_to_text(state, int(found.actions[0])) == "c1"
