"""Rolling-horizon evolution against a plain loop over plans, genes and plies (sources: Alg. 15)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search.evolution import NO_GENE, Evolution, evolve
from tests.search.toy_games import Stream, after, legal_list, outcome_of, random_positions, tree_game, uncompiled

SETTINGS = Evolution(population=4, horizon=5, mutation=0.3, playouts=2, evaluations=12)
ANY = replace(SETTINGS, sequences="any")


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


def slow_line(game: Game, root: Int8s, parent: list[int], mutation: float, stream: Stream, horizon: int) -> list[int]:
    """Own moves of a random game in which the parent's genes are kept where they are legal."""
    state, genes = root, []
    while len(genes) < horizon and outcome_of(game, state) is None:
        moves, own = legal_list(game, state), state[0] == root[0]
        action = parent[len(genes)] if own and stream.uniform() >= mutation else None
        if action not in moves:
            action = moves[stream.below(len(moves))]
        if own:
            genes.append(action)
        state = after(game, state, action)
    return genes + [NO_GENE] * (horizon - len(genes))


def slow_evolve(game: Game, root: Int8s, seed: int, settings: Evolution) -> tuple[Plan, int]:
    """The best plan and the action played."""
    stream, sign = Stream(seed), 1.0 if root[0] == 0 else -1.0

    def judged(genes: list[int]) -> Plan:
        games = [slow_playout(game, root, genes, stream) for _ in range(settings.playouts)]
        rewards = [sign * float(default_reward(game).value(np.array([outcome]))[0]) for outcome, _ in games]
        fitness = np.mean([reward / plies for reward, (_, plies) in zip(rewards, games, strict=True)])
        return Plan(genes, float(fitness), float(np.mean(rewards)))

    def new_plan() -> list[int]:
        if settings.sequences == "any":
            return [stream.below(game.num_actions) for _ in range(settings.horizon)]
        return slow_line(game, root, [], 1.0, stream, settings.horizon)

    def clone(genes: list[int]) -> list[int]:
        if settings.sequences == "any":
            return [stream.below(game.num_actions) if stream.uniform() < settings.mutation else gene for gene in genes]
        return slow_line(game, root, genes, settings.mutation, stream, settings.horizon)

    first = [new_plan() for _ in range(settings.population)]
    plans = [judged(genes) for genes in first]
    for _ in range(settings.evaluations - settings.population):
        parent = plans[stream.below(settings.population)]
        plans.append(judged(clone(parent.genes)))
        worst = min(range(len(plans)), key=lambda i: plans[i].fitness)
        plans[worst] = plans[-1]  # the newcomer takes the place of the one that goes, be it its own
        plans.pop()
    best = max(plans, key=lambda plan: plan.fitness)
    moves = legal_list(game, root)
    return best, best.genes[0] if best.genes[0] in moves else moves[stream.below(len(moves))]


@pytest.mark.parametrize("settings", [SETTINGS, ANY], ids=["valid", "any"])
@pytest.mark.parametrize("name", ["tic_tac_toe-3x3", "gobang-5x5", "connect_four-4x4", "othello-4x4", "tree"])
def test_plans_and_moves_are_those_of_the_plain_loop(name: str, settings: Evolution) -> None:
    game = tree_game(5) if name == "tree" else make_game(name)
    states, seeds = random_positions(game, 12, seed=11), keyed_seeds(2, np.arange(12))
    found = evolve(game, default_reward(game), states, seeds.copy(), settings)
    plain = evolve(uncompiled(game), default_reward(game), states, seeds.copy(), settings)
    for row, state in enumerate(states):
        best, action = slow_evolve(game, state, int(seeds[row]), settings)
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


def test_valid_plans_begin_with_legal_moves_and_any_plans_seldom_do() -> None:
    game = make_game("othello-6x6")
    states, seeds = random_positions(game, 8, seed=4), keyed_seeds(5, np.arange(8))
    valid, anything = (evolve(game, default_reward(game), states, seeds.copy(), some) for some in (SETTINGS, ANY))
    for row, state in enumerate(states):
        assert set(valid.first[row].tolist()) <= set(legal_list(game, state))
    illegal = [
        gene not in legal_list(game, state) for state, row in zip(states, anything.first, strict=True) for gene in row
    ]
    assert np.mean(illegal) > 0.5


def test_an_immediate_win_has_fitness_one() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("a1 a2 b1 b2")  # X completes the first row at c1
    settings = Evolution(population=30, horizon=3, mutation=0.5, playouts=8, evaluations=200)  # no plan wins 8 by luck
    found = evolve(game, default_reward(game), state[None, :], keyed_seeds(1), settings)
    assert found.fitness.tolist() == [1.0]
    assert game.action_to_text(state, int(found.actions[0])) == "c1"
