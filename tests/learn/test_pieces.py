"""Self-play in pieces: however the games are divided, wherever and how often they are played, the same comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig, WarmStartConfig
from palaestra.learn.pieces import Piece, play_piece
from palaestra.learn.selfplay import SelfPlay, play_games, settle
from palaestra.nets.inference_speed import model_bytes
from palaestra.rewards.base import Reward
from palaestra.rewards.registry import make_reward
from palaestra.search.config import SearchConfig
from palaestra.work.jobs import Job
from palaestra.work.workers import make_workers
from tests.learn.selfplay_games import GUMBEL, PUCT, run_config
from tests.learn.test_selfplay import EVERYTHING, assert_same_games

RUNS: dict[str, tuple[str, str, str, dict[str, Any]]] = {  # game, network, reward, settings
    "puct": ("connect_four-5x5", "b1c8", "primitive", {"search": PUCT, **EVERYTHING}),
    "gumbel": ("opposition-3x9", "b1c8-outcome", "cdf(generations=2)", {"search": GUMBEL, **EVERYTHING}),
    "sampled": ("morpion-4d", "b1c8", "ranked(window=5)", {"games": 11, "sampling": True, "failures": 1.0}),
    "warm": (
        "tic_tac_toe-3x3", "b1c8", "primitive",
        {"games": 11, "search": SearchConfig(simulations=6),
         "warm": WarmStartConfig(enhancement="wrora", length=3, adaptive=True)},
    ),
}  # fmt: skip


class Iteration:
    """The games of iteration 2 with some settings, in pieces and as a whole."""

    def __init__(self, game_id: str, net: str, reward: str, settings: dict[str, Any]) -> None:
        self.game = make_game(game_id)
        network = model_bytes(self.game, net)
        assert isinstance(network, bytes)
        self.model, self.reward_text = network, reward
        self.config: RunConfig = run_config(game_id, **settings)

    def reward(self) -> Reward:
        made = make_reward(self.reward_text, self.game)
        made.observe(np.array([1, 12, 3, 7] if self.game.players == 1 else [-1, 1, 0, 1], dtype=np.int32))
        return made

    def job(self, numbers: range | list[int]) -> Job:
        given = (self.game, self.model, self.config, 2, numbers, False, self.reward())
        return Job(f"games {numbers}", play_piece, given)

    def piece(self, numbers: range | list[int]) -> Piece:
        job = self.job(numbers)
        piece = job.function(*job.arguments)
        assert isinstance(piece, Piece)
        return piece

    def settled(self, pieces: list[Piece], reward: Reward) -> SelfPlay:
        return settle(pieces, self.game, self.config, 2, False, reward)


@pytest.mark.parametrize(
    "name", ["puct", *(pytest.param(name, marks=pytest.mark.slow) for name in RUNS if name != "puct")]
)
def test_pieces_in_any_order_twice_and_from_another_process_give_the_same_games(name: str) -> None:
    iteration = Iteration(*RUNS[name])
    games, learned = iteration.config.selfplay.games, iteration.reward()
    whole = play_games(iteration.game, iteration.model, iteration.config, 2, reward=learned)
    assert len(set(whole.records)) == games > 10
    with make_workers("processes:1") as workers:
        away = dict(workers.run(iteration.job(numbers) for numbers in (range(0, 4), range(8, games))))
    one_by_one = [iteration.piece([number]) for number in range(games)]
    divisions: dict[str, list[Piece]] = {
        "one by one, backwards": one_by_one[::-1],
        "in another process": [away[iteration.job(range(8, games))], iteration.piece(range(4, 8)), *away.values()],
        "twice in part": [iteration.piece(range(0, 7)), one_by_one[3], iteration.piece(range(5, games)), *one_by_one],
    }
    for words, pieces in divisions.items():
        reward = iteration.reward()
        made = iteration.settled(pieces, reward)
        if words == "twice in part":  # what it took to play a game twice counts
            assert made.simulations >= whole.simulations
            made = replace(made, simulations=whole.simulations)
        assert_same_games(made, whole)
        assert made.warm == whole.warm
        assert all(np.array_equal(array, learned.state()[key]) for key, array in reward.state().items())


def test_settling_needs_every_game() -> None:
    iteration = Iteration(*RUNS["warm"])
    with pytest.raises(KeyError, match="10"):
        iteration.settled([iteration.piece(range(10))], iteration.reward())
