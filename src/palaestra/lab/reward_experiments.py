"""Beyond the paper: does a CDF reward teach more than winning? Margins, speed, and the bonus between them.

A duel has, for each seed, an agent under a CDF reward and one under the primitive reward, alike in all else, both
with an outcome head and equal time. They meet each other and players that never change, and what is looked at is not
only who wins but by how much, how soon, and how long a lost game is held. `bonus_configs` sweeps α of the CDF reward
with bonus on opposition, where demerits say all of that in one number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palaestra.arena.match import MatchResult, a_first, points_of_a
from palaestra.arena.parallel import Team, play_parallel
from palaestra.base.types import Float64s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.lab.trained import refuse_own_settings
from palaestra.learn.config import RunConfig
from palaestra.learn.presets import configure
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, open_run, playing_search

NET = "b3c32-outcome"
REWARDS = {"CDF": "cdf(generations=5)", "primitive": "primitive"}
ANCHORS = ("uct(simulations=200)", "alphabeta(depth=4)")
SIMULATIONS = 100  # of the agents when they meet anybody
EXPERIMENTS: dict[str, tuple[str, ...]] = {"margins": ("othello-6x6",), "speed": ("connect_four-5x5", "gobang-6x6")}
# What is drawn of a duel, and what only stands in the table: properties of `Duel`.
DRAWN = {"margins": ("win_rate", "margin"), "speed": ("win_rate", "won_plies", "lost_plies")}
LISTED = ("score", "distinct_games")
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
BONUS_GAME = "opposition-3x9"


@dataclass(frozen=True, eq=False)
class Duel:
    """One match of an agent: the reward it learned under, whom it met, and the seed of its run."""

    game: str
    agent: str
    opponent: str
    seed: int
    match: MatchResult

    @property
    def win_rate(self) -> float:
        """Share of its games that the agent won."""
        return self.match.wins / self.match.games

    @property
    def score(self) -> float:
        """Wins and half of the draws, as a share of its games."""
        return self.match.score

    @property
    def distinct_games(self) -> float:
        return self.match.distinct_games

    @property
    def margin(self) -> float:
        """The agent's mean outcome: the disc difference where games are ordered by margins."""
        return float(
            np.mean(
                [record.final_outcome if a_first(record) else -record.final_outcome for record in self.match.records]
            )
        )

    @property
    def won_plies(self) -> float:
        """Mean length of the games that it won; NaN if there is none."""
        return self._mean_plies(1.0)

    @property
    def lost_plies(self) -> float:
        """Mean length of the games that it lost: how long it held them; NaN if there is none."""
        return self._mean_plies(0.0)

    def _mean_plies(self, points: float) -> float:
        lengths = [len(record.moves) for record in self.match.records if points_of_a(record) == points]
        return sum(lengths) / len(lengths) if lengths else math.nan


def duel_configs(
    experiment: str, seeds: Iterable[int], minutes: float, *, sets: Sequence[str] = (), threads: int = 2
) -> dict[tuple[str, str, int], RunConfig]:
    """(game, agent, seed) -> run of the preset `fast`; strength is measured afterwards, all time is for learning."""
    refuse_own_settings(sets)
    return {
        (game, agent, seed): configure(
            game,
            "fast",
            sets,
            minutes=minutes,
            seed=seed,
            threads=threads,
            net=NET,
            reward=reward,
            evaluation={"every": 0, "anchors": []},
        )
        for game in EXPERIMENTS[experiment]
        for seed in seeds
        for agent, reward in REWARDS.items()
    }


def folders(folder: Path, configs: Mapping[tuple[str, str, int], RunConfig]) -> dict[Path, RunConfig]:
    """The runs by where they are kept."""
    return {_run(folder, *key): config for key, config in configs.items()}


def duels(
    folder: Path,
    configs: Mapping[tuple[str, str, int], RunConfig],
    games: int,
    threads: int,
    begins: Callable[[str], None] | None = None,
) -> Iterator[Duel]:
    """The trained CDF agent of each seed meets the primitive one, and both the anchors."""
    for id, agent, seed in configs:
        game = make_game(id)
        for opponent in ("primitive", *ANCHORS) if agent == "CDF" else ANCHORS:
            if begins is not None:
                begins(f"{agent} against {opponent} on {id}, seed {seed}")
            teams: list[Team] = [
                (
                    _agent(folder, game, agent, seed),
                    make_player(opponent, game) if opponent in ANCHORS else _agent(folder, game, opponent, seed),
                )
                for _ in range(threads)
            ]
            yield Duel(id, agent, opponent, seed, play_parallel(game, teams, games, seed=seed))


def by_seed(found: Sequence[Duel], names: Iterable[str]) -> dict[tuple[str, str, str], dict[str, Float64s]]:
    """(game, agent, opponent) -> property of `Duel` -> its values float64[S]; NaN where a seed has none."""
    rows: dict[tuple[str, str, str], list[Duel]] = {}
    for duel in found:
        rows.setdefault((duel.game, duel.agent, duel.opponent), []).append(duel)
    return {
        key: {name: np.array([getattr(duel, name) for duel in duels], dtype=np.float64) for name in names}
        for key, duels in rows.items()
    }


def bonus_configs(
    seeds: Iterable[int], generations: int, *, sets: Sequence[str] = (), threads: int = 2
) -> dict[tuple[str, int], RunConfig]:
    """Runs of the preset `opposition-fast`, one for each α and seed; `schmidt.demerits_of` trains them."""
    refuse_own_settings(sets)
    return {
        (f"alpha-{alpha:g}", seed): configure(
            BONUS_GAME,
            "opposition-fast",
            sets,
            iterations=generations,
            seed=seed,
            threads=threads,
            reward=f"cdf_bonus(alpha={alpha}, generations=5)",
        )
        for alpha in ALPHAS
        for seed in seeds
    }


def _agent(folder: Path, game: Game, agent: str, seed: int) -> Player:
    """The agent of a run, under the reward that it learned, as it stands now."""
    run = open_run(str(_run(folder, game.id, agent, seed)))
    search = playing_search(run.search, SIMULATIONS)
    return make_agent(game, agent, run.network(run.best), search, reward=run.make_reward(game))


def _run(folder: Path, game: str, agent: str, seed: int) -> Path:
    return folder / f"{game}-{agent.lower()}-{seed}"
