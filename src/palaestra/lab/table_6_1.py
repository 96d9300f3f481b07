"""Each warm-start enhancement against the default search, with untrained networks (sources: Table 6.1).

Both sides use the same network, 100 simulations and argmax; w = ½. As in the thesis nothing is proven and the tree is
kept during a game. Unlike there, the games are spread over many random networks and begin with pairs of random
openings, sides swapped: an untrained network is a random player of its own, and from one start two deterministic
searches play two games, however often they are asked (sources: L6; traps).

Games of one network are not independent, so the interval is that of the mean over networks (Student's t). The network
of the thesis is `thesis256`; the default here is smaller, and is called so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from palaestra.arena.match import MatchResult, play_match
from palaestra.arena.statistics import score_interval, student_95
from palaestra.base.errors import ConfigError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.warm_start import enhanced, leaf_evaluator
from palaestra.nets.architecture import GameFacts, parse_net, random_weights
from palaestra.nets.cache import Cached, default_entries
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.graph import build_model
from palaestra.players.base import Player
from palaestra.players.tree import TreePlayer
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig

GAMES = ("connect_four-6x6", "othello-6x6", "gobang-6x6")
# Percent against the default search, on the three games.
PUBLISHED = {
    "rollout": (64.0, 93.0, 65.0),
    "rave": (27.5, 53.0, 43.0),
    "rora": (76.0, 98.0, 70.0),
    "wro": (82.0, 96.0, 57.0),
    "wrora": (82.5, 99.0, 62.0),
}
NAMES = {"rollout": "Rollout", "rave": "Rave", "rora": "RoRa", "wro": "WRo", "wrora": "WRoRa"}
WEIGHT = 0.5  # w
DEFAULT = SearchConfig(rule="puct", simulations=100, c_puct=1.0, rave_k=100.0, solver=False)
FEWEST_NETWORKS = 2


@dataclass(frozen=True)
class Cell:
    """One entry of the table: a match for every random network, and the published percentage."""

    game: str
    enhancement: str
    published: float
    matches: tuple[MatchResult, ...]

    @property
    def scores(self) -> list[float]:
        return [match.score for match in self.matches]

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)

    @property
    def spread(self) -> float:
        """Standard deviation of the score between networks."""
        return math.sqrt(sum((score - self.score) ** 2 for score in self.scores) / (len(self.scores) - 1))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean over random networks, and never narrower than that of so many independent games:

        a handful of networks that happen to score alike say less than their spread of 0.
        """
        half = student_95(len(self.scores) - 1) * self.spread / math.sqrt(len(self.scores))
        low, high = score_interval(self.total("wins"), self.total("draws"), self.total("losses"))
        return max(0.0, min(low, self.score - half)), min(1.0, max(high, self.score + half))

    @property
    def agrees(self) -> bool:
        """Whether the published number lies within our interval."""
        low, high = self.interval
        return low <= self.published / 100 <= high

    @property
    def games(self) -> int:
        return sum(match.games for match in self.matches)

    def total(self, what: str) -> int:
        """Sum of `wins`, `draws`, `losses` or `distinct_games` over the networks."""
        return sum(getattr(match, what) for match in self.matches)


def table_6_1(
    games: int = 400,
    seed: int = 0,
    net: str = "b3c32",
    networks: int = 20,
    threads: int = 2,
    listen: Callable[[str], None] | None = None,
) -> Iterator[Cell]:
    """The cells one after the other, game by game; `games` are shared evenly among the networks, in pairs."""
    parse_net(net)
    if networks < FEWEST_NETWORKS or games % (2 * networks):
        raise ConfigError(
            f"{games} games cannot be shared by {networks} networks in pairs; give at least {FEWEST_NETWORKS} networks"
            " and a multiple of twice their number, for example 400 games and 20 networks"
        )
    for index, id in enumerate(GAMES):
        game = make_game(id)
        for enhancement, published in PUBLISHED.items():
            if listen is not None:
                listen(f"{NAMES[enhancement]} on {id}")
            with ThreadPoolExecutor(threads) as pool:
                matches = pool.map(
                    lambda number, game=game, enhancement=enhancement: _match(
                        game, net, enhancement, games // networks, seed, number
                    ),
                    range(networks),
                )
            yield Cell(id, enhancement, published[index], tuple(matches))


def _match(game: Game, net: str, enhancement: str, games: int, seed: int, number: int) -> MatchResult:
    """The enhancement against the default search, both with random network `number`, from openings of its own."""
    facts, spec = GameFacts.of(game), parse_net(net)
    model = build_model(spec, facts, random_weights(spec, facts, np.random.default_rng([seed, number])))
    network = Cached(OnnxEvaluator(game, model), game, default_entries(game))
    own_seed = int(keyed_seeds(seed, number)[0] >> 1)

    def player(name: str) -> Player:
        plan = enhanced(DEFAULT, name, WEIGHT)
        return TreePlayer(game, name, leaf_evaluator(game, network, plan, default_reward(game)), plan.search)

    return play_match(game, player(enhancement), player("none"), games, opening_plies=2, seed=own_seed)
