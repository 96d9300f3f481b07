"""After how many iterations the adaptive warm start switches to plain self-play (sources: Table 6.2).

Every run plays E games of an enhancement against the default search in each iteration, learns from all of them, and
switches after the first iteration in which the default search has the better balance (sources: Alg. 6). The published
numbers are means over 8 runs with the network `thesis256`; a smaller network or fewer runs are called smaller.

A run ends with its switch, because nothing after it is asked for. Runs stand in folders of their own below one folder:
what is finished there is read, what was cut off goes on, so that a long table can be made in parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from palaestra.arena.statistics import student_95
from palaestra.base.errors import ConfigError
from palaestra.lab.trained import trained
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener
from palaestra.learn.presets import configure

GAMES = ("connect_four-6x6", "othello-6x6", "gobang-6x6")
# Mean and standard deviation over 8 runs, on the three games (Gobang with m = 200).
PUBLISHED = {
    "rollout": ((6.63, 3.04), (5.50, 1.73), (1.38, 0.48)),
    "rave": ((2.38, 1.22), (3.13, 2.67), (1.13, 0.33)),
    "rora": ((7.75, 4.74), (5.13, 1.36), (1.13, 0.33)),
    "wro": ((4.25, 1.56), (4.38, 1.65), (1.13, 0.33)),
    "wrora": ((4.38, 1.58), (4.00, 1.00), (1.25, 0.43)),
}
PUBLISHED_RUNS = 8


@dataclass(frozen=True)
class Row:
    """One enhancement on one game: the iteration after which each run switched, None where it had not at the limit."""

    game: str
    enhancement: str
    switches: tuple[int | None, ...]
    limit: int

    @property
    def published(self) -> tuple[float, float]:
        """Mean and standard deviation in the thesis."""
        return PUBLISHED[self.enhancement][GAMES.index(self.game)]

    @property
    def open(self) -> int:
        """Runs that had not switched at the limit; they count as having switched there, so the mean is too small."""
        return self.switches.count(None)

    @property
    def mean(self) -> float:
        return sum(self._numbers) / len(self._numbers)

    @property
    def spread(self) -> float:
        """Standard deviation between runs; 0 of a single one."""
        freedom = len(self._numbers) - 1
        return math.sqrt(sum((number - self.mean) ** 2 for number in self._numbers) / freedom) if freedom else 0.0

    @property
    def agrees(self) -> bool:
        """Whether the two means differ by less than 95 % of differences between equal ones (Welch)."""
        mean, spread = self.published
        runs = len(self._numbers)
        error = math.sqrt(self.spread**2 / runs + spread**2 / PUBLISHED_RUNS)
        return abs(self.mean - mean) <= student_95(max(1, runs - 1)) * error

    @property
    def _numbers(self) -> list[int]:
        return [self.limit if number is None else number for number in self.switches]


def table_configs(
    game: str, seeds: Iterable[int], limit: int, *, sets: Sequence[str] = ("net=b3c32",), threads: int = 1
) -> dict[tuple[str, int], RunConfig]:
    """(enhancement, seed) -> its run of one game; `sets` are departures from the thesis's settings."""
    if game not in GAMES:
        raise ConfigError(f"table-6.2 has no {game!r}; it has {', '.join(GAMES)}")
    configs = {name: settings(game, name, limit, sets, threads) for name in PUBLISHED}
    numbers = tuple(seeds)
    return {(name, seed): configs[name].model_copy(update={"seed": seed}) for name in PUBLISHED for seed in numbers}


def folders(folder: Path, runs: Mapping[tuple[str, int], RunConfig]) -> dict[Path, RunConfig]:
    """The runs by where they are kept."""
    return {run_folder(folder, name, seed, config): config for (name, seed), config in runs.items()}


def rows(folder: Path, runs: Mapping[tuple[str, int], RunConfig]) -> list[Row]:
    """One row an enhancement; trains what is not trained yet."""
    switches: dict[str, list[int | None]] = {}
    for (name, seed), config in runs.items():
        switches.setdefault(name, []).append(switch_of(run_folder(folder, name, seed, config), config))
    any_run = next(iter(runs.values()))
    return [Row(any_run.game, name, tuple(some), _limit(any_run)) for name, some in switches.items()]


def run_folder(folder: Path, enhancement: str, seed: int, config: RunConfig) -> Path:
    return folder / f"{config.game}-{enhancement}-{seed}"


def settings(game: str, enhancement: str, limit: int, sets: Sequence[str], threads: int) -> RunConfig:
    """The thesis's run with an adaptive warm start of at most `limit` iterations."""
    search = [f"selfplay.search.simulations={200 if game.startswith('gobang') else 100}"]
    warm = [f"warm.enhancement={enhancement}", "warm.adaptive=true", f"warm.length={limit}", "warm.weight=harmonic"]
    watch = ["evaluation.every=0", "evaluation.anchors=[]"]
    return configure(game, "thesis", [*search, *sets, *warm, *watch], iterations=limit, threads=threads)


def switch_of(folder: Path, config: RunConfig, listeners: Iterable[Listener] = ()) -> int | None:
    """The iteration after which a run switches; it is looked at after every one, so that none is trained in vain.

    A warm start that the limit ends has not switched: only a better balance of the default search counts (Alg. 6).
    """
    for iteration in range(1, _limit(config) + 1):
        latest = trained(folder, config.model_copy(update={"iterations": iteration}), listeners)[-1]
        if latest.warm is not None and (latest.warm.balance or 0) > 0:
            return iteration
    return None


def _limit(config: RunConfig) -> int:
    assert config.iterations is not None, "settings gives a limit"
    return config.iterations
