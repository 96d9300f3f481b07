"""Tables of action values that were learned by playing, and what their curve says, as an object and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from palaestra.arena.statistics import mean_and_margin
from palaestra.base.types import Float64s, JsonLike
from palaestra.games.base import Game
from palaestra.learn.tabular import Curve, Learned, TabularConfig, learn_table
from palaestra.learn.tabular_ceiling import best_response

RANDOM = "random"

TableListener = Callable[[int, int], None]  # (number of the table from 0, matches of it that have just ended)


class CurvePoint(TypedDict):
    """Win rates from 0 to 1 over the matches since the point before, and `so_far` over all up to here."""

    matches: int
    win_rate: float
    plus_minus: float | None  # 95 % over the tables; None for a single one
    so_far: float
    so_far_plus_minus: float | None


@dataclass(frozen=True, eq=False)
class LearnedTables:
    """Tables that were learned independently, each from the same settings."""

    game: Game
    opponent: str
    config: TabularConfig
    seed: int
    first: Learned  # the only table that is kept
    curve: Curve
    states: list[int]  # rows of each table
    seconds: float
    ceiling: tuple[float, float] | None  # the best possible win rates moving first and second; known against random

    def points(self) -> list[CurvePoint]:
        """The curve, with intervals over the tables."""
        mean, margin = mean_and_margin(self.curve.rates)
        so_far, so_far_margin = mean_and_margin(self.curve.so_far)
        return [
            {
                "matches": int(at),
                "win_rate": float(mean[i]),
                "plus_minus": None if margin is None else float(margin[i]),
                "so_far": float(so_far[i]),
                "so_far_plus_minus": None if so_far_margin is None else float(so_far_margin[i]),
            }
            for i, at in enumerate(self.curve.matches)
        ]

    def document(self) -> dict[str, JsonLike]:
        """The settings, the curve and what came of it, as JSON."""
        points = self.points()
        return {
            "game": self.game.id,
            "opponent": self.opponent,
            "repeats": len(self.states),
            "seed": self.seed,
            **self.config.model_dump(),
            "horizon": self.config.horizon,
            "final_win_rate": points[-1]["win_rate"],
            "overall_win_rate": points[-1]["so_far"],
            "curve": [dict(point) for point in points],
            "ceiling": None if self.ceiling is None else sum(self.ceiling) / 2,
            "ceiling_by_side": None if self.ceiling is None else list(self.ceiling),
            "states": self.states,
            "seconds": self.seconds,
        }


def learn_tables(
    game: Game,
    config: TabularConfig,
    opponent: str = RANDOM,
    *,
    repeats: int = 5,
    seed: int = 0,
    listen: TableListener | None = None,
) -> LearnedTables:
    """Learn `repeats` tables against an opponent, one after the other."""
    goals, states, seconds = list[Float64s](), list[int](), 0.0
    for repeat in range(repeats):

        def heard(ended: int, repeat: int = repeat) -> None:
            if listen is not None:
                listen(repeat, ended)

        learned = learn_table(game, config, opponent, seed, repeat, heard)
        if repeat == 0:
            first = learned
        goals.append(learned.goals)
        states.append(len(learned.table))
        seconds += learned.seconds
    ceiling = best_response(game) if opponent == RANDOM else None
    return LearnedTables(game, opponent, config, seed, first, Curve.of(config, goals), states, seconds, ceiling)


def rate_in_words(rates: Float64s) -> str:
    """ "86.5 ± 0.4" of win rates [R], in percent, over the tables that have one; "–" if none has."""
    known = 100 * rates[np.isfinite(rates)]
    if not known.size:
        return "–"
    mean, margin = mean_and_margin(known[:, None])
    return f"{mean[0]:.1f}" if margin is None else f"{mean[0]:.1f} ± {margin[0]:.1f}"
