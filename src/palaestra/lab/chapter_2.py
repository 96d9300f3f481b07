"""Figures 2.2 to 2.7 of the thesis (sources: chapter 2): tabular learners against a random player.

Every learner plays 1.5·l matches: ε sinks to 0 over the first l and stays there. A fixed ε is Eq. 2.3 with a = 0, so
that it, too, is 0 in the end and all learners are compared at their best play. Two win rates are measured, every l/10
matches: over these l/10 alone, and over all matches so far. The published curves can only be the former: one that falls
to 65 % early on and stands at 84 % when l = 5,000 matches are over has no such mean over all of them.

QM-learning has 50 playouts where the thesis has 50 ms, so that the figures do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s
from palaestra.games.registry import make_game
from palaestra.learn.tabular import NAMES, Curve, TabularConfig, learn_table, read_config
from palaestra.learn.tabular_ceiling import best_response

TIC = "tic_tac_toe-3x3"
LENGTHS = (5_000, 10_000, 20_000, 30_000, 40_000, 50_000)  # l in the study of QM-learning
MORE = 1.5  # matches for each of the l


@dataclass(frozen=True)
class Series:
    """One curve of a figure."""

    panel: str
    label: str
    game: str
    l: int
    settings: dict[str, Any]
    published: str = ""  # final win rate in percent, or what is said about it

    def config(self, scale: float) -> TabularConfig:
        """The learner's settings, with `scale` times the matches."""
        l = max(1, round(self.l * scale))
        values = {"decay": l, **self.settings}
        if values.get("epsilon") is not None:
            del values["decay"]
        return read_config(matches=max(1, round(MORE * l)), **values)


@dataclass(frozen=True, eq=False)
class Measured:
    """A series as it was run: R repeats."""

    series: Series
    config: TabularConfig
    curve: Curve
    states: float  # rows of the table, mean over the repeats
    seconds: float  # of all repeats

    @cached_property
    def finals(self) -> Float64s:
        """[R]: win rates over the last l/10 matches."""
        return self.curve.rates[:, -1]

    @cached_property
    def so_far(self) -> Float64s:
        """[R]: win rates over all matches."""
        return self.curve.so_far[:, -1]


Q, QM, TD = {"learner": "q"}, {"learner": "qm"}, {"learner": "td"}
_BY_LENGTH = tuple(
    Series(f"l = {l:,}", NAMES[learner], TIC, l, {"learner": learner}, published)
    for l, q, qm in zip(
        LENGTHS, ("55", "80", "86", "86.5", "86.5", "86.5"), ("85", "", "", "", "", "87.5"), strict=True
    )
    for learner, published in (("q", q), ("qm", qm))
)
FIGURES: dict[str, tuple[Series, ...]] = {
    "figure-2.2": (
        Series(TIC, "ε decays from 0.5", TIC, 30_000, Q, "86.5"),
        Series(TIC, "ε = 0.1", TIC, 30_000, {**Q, "a": 0.0, "b": 0.1}, "4 below"),
        Series(TIC, "ε = 0.2", TIC, 30_000, {**Q, "a": 0.0, "b": 0.2}, "7 below"),
    ),
    "figure-2.3": (
        Series(TIC, NAMES["q"], TIC, 30_000, Q, "86.5"),
        Series(TIC, NAMES["td"], TIC, 30_000, {**TD, "epsilon": 0.01}, "75.5"),
    ),
    "figure-2.4": (
        Series(TIC, NAMES["q"], TIC, 30_000, Q, "86.5"),
        Series("hex-3x3", NAMES["q"], "hex-3x3", 50_000, Q),
        Series("connect_four-4x4", NAMES["q"], "connect_four-4x4", 80_000, Q),
    ),
    "figure-2.5": tuple(
        Series("tic_tac_toe", f"{n}×{n}", f"tic_tac_toe-{n}x{n}", 50_000, Q, published)
        for n, published in ((3, "86.5"), (4, "not converged"), (5, "not converged"))
    ),
    "figure-2.6": _BY_LENGTH,
    "figure-2.7": _BY_LENGTH,
}


def run_figure(
    name: str, repeats: int = 5, seed: int = 0, scale: float = 1.0, heard: Callable[[str, int], None] | None = None
) -> Iterator[Measured]:
    """The curves of a figure, one after the other; `heard` is told (what runs, matches just played)."""
    if name not in FIGURES:
        raise ConfigError(f"{name!r} is no figure; known: {', '.join(FIGURES)}")
    for series in FIGURES[name]:
        game, config = make_game(series.game), series.config(scale)
        what = f"{series.label}, {series.panel}"
        listen = None if heard is None else lambda number, what=what: heard(what, number)
        goals, states, seconds = [], 0, 0.0
        for repeat in range(repeats):
            learned = learn_table(game, config, seed=seed, repeat=repeat, heard=listen)
            goals.append(learned.goals)
            states, seconds = states + len(learned.table), seconds + learned.seconds
            del learned  # large boards make large tables: one at a time
        yield Measured(series, config, Curve.of(config, goals), states / repeats, seconds)


def matches_of(name: str, repeats: int, scale: float) -> int:
    """How many matches `run_figure` will play."""
    return repeats * sum(series.config(scale).matches for series in FIGURES[name])


def ceilings_of(name: str) -> dict[str, float]:
    """For each game of a figure that is small enough: the mean goal of the best first and second player."""
    found = {game: best_response(make_game(game)) for game in dict.fromkeys(s.game for s in FIGURES[name])}
    return {game: sum(goals) / 2 for game, goals in found.items() if goals is not None}
