"""Chapter 3 of the thesis, Figures 3.5 to 3.7: Elo of 81 models over I, E, m and ep, and what it costs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Experiment, Table, Verdict
from palaestra.lab.experiments._hyper_parameters import SECONDS, WORK, by_both
from palaestra.lab.experiments._models import (
    ARMS,
    FOUR,
    RATED,
    READING,
    SCALES,
    Pairings,
    Rated,
    at_levels,
    correlation,
    elos,
    gain,
    levels,
    over_seeds,
    slopes,
    trade,
)
from palaestra.lab.statistics import Estimate, mean, paired_difference, pareto

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL_LEAD = 30.0  # Elo: a difference below it is small
ROOM = 60.0  # Elo above and below the means of a figure
NEAR_BEST = 50.0  # Elo: models so close to the best are called high


# Figure 3.5.


def _higher(symbol: str, words: str) -> Claim:
    return Claim(
        f"{words} make stronger players: more {symbol}",
        lambda data: Verdict.above(mean(gain(data, symbol)), 0.0, f"Elo, largest {symbol} minus least, mean of 27"),
    )


def _overfits(data: Data) -> Verdict:
    middle, most = (elos(data, I=2, E=2, m=2, ep=level) for level in (1, 2))
    return Verdict.above(
        paired_difference(middle, most), 0.0, "Elo, middle ep minus largest, where I, E and m are largest"
    )


def _outer(symbol: str) -> Claim:
    def check(data: Data) -> Verdict:
        lead = paired_difference(gain(data, "I"), gain(data, symbol))
        return Verdict.above(lead, 0.0, f"Elo, what three times the I gives minus what three times the {symbol} gives")

    return Claim(f"the number of iterations matters more than {symbol}", check)


def _effect_table(data: Data) -> Table:
    rows = []
    for name, slope in slopes(data).items():
        rho = [str(correlation(data, name, column)) if name in FOUR else "" for column in ("elo", SECONDS, WORK)]
        rows.append((name, str(slope), *rho))
    return Table(
        ("", "Elo for a step (95 %)", "rank correlation with Elo (95 %)", "with seconds", "with work"), tuple(rows)
    )


def _draw_elos(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    rated, panels = data.where(measured=RATED), {}
    for i, e in product(levels(data, "I"), levels(data, "E")):
        some = rated.where(I=i, E=e)
        panels[f"I = {i}, E = {e}"] = {f"ep = {ep:g}": some.where(ep=ep).curve("elo", "m") for ep in levels(data, "ep")}
    means = [values.mean(axis=0) for lines in panels.values() for _, values in lines.values()]
    limits = (float(np.min(means)) - ROOM, float(np.max(means)) + ROOM)
    return curves_figure(panels, "m", "Elo, mean of the tournament 0", limits=limits)


# Figure 3.6.


def _costs_pay(stage: str, words: str) -> Claim:
    def check(data: Data, column: str) -> Verdict:
        return Verdict.above(correlation(data, f"{stage}_{column}", "elo"), 0.0, f"rank correlation of Elo and {words}")

    return by_both(f"more {words} gives higher Elo", check)


def _near_origin(data: Data, column: str) -> Verdict:
    def lost(some: Data) -> float:
        found = some.numbers("elo")
        times = [some.numbers(f"{stage}_{column}") for stage in ("selfplay", "training")]
        cheap = np.all([time <= np.median(time) for time in times], axis=0)
        return float(found.max() - found[cheap].max()) if cheap.any() else float("nan")

    return Verdict.below(
        over_seeds(data, lost), NEAR_BEST, "Elo, best of all minus best of those below the median in both times"
    )


def _trade(symbol: str) -> Claim:
    def check(data: Data, column: str) -> Verdict:
        return Verdict.above(
            trade(data, symbol, column), 0.0, f"Elo for twice the I paid by less {symbol}, at equal time"
        )

    return by_both(f"at equal time, more iterations beat more {symbol}", check)


def _cost_table(data: Data) -> Table:
    rows = []
    for some in data.where(measured=RATED).by("arm").values():
        values = ", ".join(f"{symbol} = {some.rows[0][symbol]:g}" for symbol in FOUR)
        times = (
            str(mean(some.per_seed(f"{stage}_{column}")))
            for column in (SECONDS, WORK)
            for stage in ("selfplay", "training")
        )
        rows.append((float(np.mean(some.per_seed("elo"))), (values, str(mean(some.per_seed("elo"))), *times)))
    rows.sort(key=lambda row: -row[0])
    return Table(
        ("model", "Elo (95 %)", "self-play, s", "training, s", "self-play, questions", "training, questions"),
        tuple(cells for _, cells in rows),
    )


def _draw_map(data: Data) -> Figure:
    from palaestra.lab.time_plots import map_figure

    models = list(data.where(measured=RATED).by("arm").values())

    def means(name: str) -> Float64s:
        return np.array([float(np.mean(some.per_seed(name))) for some in models])

    panels = {
        title: (means(f"selfplay_{column}"), means(f"training_{column}"), means("elo"))
        for title, column in {"seconds": SECONDS, "work: questions to the network": WORK}.items()
    }
    return map_figure(panels, "self-play", "training", "Elo, mean over seeds")


# Figure 3.7.


def _last_panel(data: Data) -> Data:
    """The nine models with the largest I and E."""
    return at_levels(data, I=2, E=2)


def _costs_more(data: Data, column: str) -> Verdict:
    most, least = (at_levels(data, I=2, E=2, m=level).per_seed(column) for level in (2, 0))
    return Verdict.above(mean(most / least), 1.0, "time, largest m over least, where I and E are largest")


def _m_pays(data: Data) -> Verdict:
    return Verdict.above(mean(gain(data, "m", I=2, E=2)), 0.0, "Elo, largest m minus least, where I and E are largest")


def _ep_idle(data: Data) -> Verdict:
    return Verdict.below(
        mean(gain(data, "ep", I=2, E=2)), SMALL_LEAD, "Elo, largest ep minus least, where I and E are largest"
    )


def _few_epochs_best(data: Data) -> Verdict:
    def lead(some: Data) -> float:
        few = some.where(ep=levels(data, "ep")[0]).numbers("elo")
        more = some.where(ep=tuple(levels(data, "ep")[1:])).numbers("elo")
        return float(few.max() - more.max())

    return Verdict.above(
        over_seeds(_last_panel(data), lead), 0.0, "Elo, best with the least ep minus best with more, I and E largest"
    )


TIMES = {"self-play": "selfplay", "training": "training", "total": ""}


def _points(data: Data, stage: str, column: str) -> list[tuple[str, float, Estimate]]:
    """(m, ep), time and Elo of the nine models."""
    name = f"{stage}_{column}" if stage else column
    return [
        (
            f"({some.rows[0]['m']}, {some.rows[0]['ep']:g})",
            float(np.mean(some.per_seed(name))),
            mean(some.per_seed("elo")),
        )
        for some in _last_panel(data).by("arm").values()
    ]


def _front_table(data: Data) -> Table:
    points = {
        (title, column): _points(data, stage, column) for title, stage in TIMES.items() for column in (SECONDS, WORK)
    }
    fronts = {
        key: pareto([(place, elo.value, time) for place, (_, time, elo) in enumerate(some)])
        for key, some in points.items()
    }
    rows = []
    for place, (label, seconds, elo) in enumerate(points["total", SECONDS]):
        on = (", ".join(title for title in TIMES if place in fronts[title, column]) for column in (SECONDS, WORK))
        rows.append((label, str(elo), f"{seconds:.1f}", f"{points['total', WORK][place][1]:,.0f}",
                     *(words or "–" for words in on)))  # fmt: skip
    return Table(
        ("(m, ep)", "Elo (95 %)", "seconds", "questions", "on the front by seconds", "on the front by questions"),
        tuple(rows),
    )


def _draw_fronts(data: Data) -> Figure:
    from palaestra.lab.time_plots import fronts_figure

    panels = {
        f"{title}, {words}": _points(data, stage, column)
        for words, column in {"seconds": SECONDS, "questions to the network": WORK}.items()
        for title, stage in TIMES.items()
    }
    return fronts_figure(panels, "Elo, mean of the tournament 0")


EXPERIMENTS = (
    Experiment(
        identity=published("fig-3.5"),
        arms=ARMS,
        scales=SCALES,
        measures=(Rated(), Pairings()),
        claims=(
            _higher("I", "more iterations"),
            _higher("E", "more games an iteration"),
            _higher("m", "larger searches"),
            _higher("ep", "more epochs"),
            _outer("m"),
            _outer("ep"),
            Claim("more epochs can do harm: ep = 10 beats 15 at I = 75, E = 30, m = 75", _overfits),
        ),
        table=_effect_table,
        draw=_draw_elos,
        reading=READING,
    ),
    Experiment(
        identity=published("fig-3.6"),
        arms=ARMS,
        scales=SCALES,
        measures=(Rated(),),
        claims=(
            _costs_pay("selfplay", "time of self-play"),
            _costs_pay("training", "time of training"),
            by_both(
                "high Elo is reached with little time of self-play and of training"
                f" (here: less than {NEAR_BEST:g} Elo below the best)",
                _near_origin,
            ),
            *(_trade(symbol) for symbol in ("E", "m", "ep")),
        ),
        table=_cost_table,
        draw=_draw_map,
        reading=READING,
    ),
    Experiment(
        identity=published("fig-3.7"),
        arms=ARMS,
        scales=SCALES,
        measures=(Rated(),),
        claims=(
            by_both("a larger m takes more time", _costs_more),
            Claim("a larger m plays better after long runs", _m_pays),
            Claim(f"more epochs an iteration give no higher Elo (here: less than {SMALL_LEAD:g})", _ep_idle),
            Claim("the strongest of long runs has the fewest epochs", _few_epochs_best),
        ),
        table=_front_table,
        draw=_draw_fronts,
        reading=READING,
    ),
)
