"""Chapter 3 of the thesis, Tables 3.3 and 3.4: what values of hyper-parameters cost, and which ones matter.

The hours are another machine's and of single runs: ratios to the default's are compared (sources: tables 3.3 and 3.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Experiment, Published, Table, Verdict
from palaestra.lab.experiments._hyper_parameters import (
    GAME,
    LEAST,
    MOST,
    SECONDS,
    USUAL,
    WORK,
    Stretches,
    by_both,
    read_totals,
)
from palaestra.lab.experiments._one_at_a_time import (
    ARMS,
    LEVELS,
    SCALES,
    SHARED,
    SPACE,
    arm_name,
    chances,
    ends,
    idle,
    printed,
    symbols,
    three,
    value,
)
from palaestra.lab.statistics import Estimate, least_difference, mean, paired_difference, spearman

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMILAR = 0.2  # a share of time below it is small; the table's own "similar" times differ by up to 18 %
WHERE = "tables 3.3 and 3.4"
HOURS = {  # of runs with the least and the largest value (Table 3.3); a run with all defaults took 44.0
    "I": (23.8, 60.3), "E": (17.4, 87.7), "T′": (41.6, 40.4), "m": (26.0, 64.8), "c": (50.7, 49.1), "rs": (26.5, 50.7),
    "ep": (43.4, 55.7), "bs": (47.7, 37.7), "lr": (47.8, 40.3), "d": (51.9, 51.4), "n": (33.5, 57.4), "u": (39.7, 40.4),
}  # fmt: skip
USUAL_HOURS = 44.0
LOWEST = {  # the value with the least loss (Table 3.4)
    "I": USUAL, "E": LEAST, "T′": LEAST, "m": MOST, "c": LEAST, "rs": LEAST, "ep": MOST, "bs": MOST, "lr": LEAST,
    "d": USUAL,
}  # fmt: skip
IDLE = ("n", "u")  # those without significance for the loss
SLOWER = ("I", "E", "m", "rs", "ep", "n")  # time-sensitive: larger values take longer; bs the other way round
FRIENDLY = ("T′", "c", "lr", "d", "u")


# Table 3.3: time.


def ratio(data: Data, symbol: str, level: str, column: str) -> Estimate:
    """The time of a value's runs over that of the default's, seed by seed."""
    own, usual = (data.where(arm=name).per_seed(column) for name in (arm_name(symbol, level), USUAL))
    return mean(own / usual) if len(own) == len(usual) and len(own) else Estimate(float("nan"))


def _longer(data: Data, symbol: str, column: str) -> Verdict:
    most, least = (data.where(arm=arm_name(symbol, level)).per_seed(column) for level in (MOST, LEAST))
    return Verdict.above(mean(most / least), 1.0, f"time of a run, largest {symbol} over least")


def _takes_longer(symbol: str) -> Claim:
    return by_both(f"a smaller {symbol} takes less time", lambda data, column: _longer(data, symbol, column))


def _larger_batches(data: Data) -> Verdict:
    verdict = _longer(data, "bs", SECONDS)
    return Verdict.below(verdict.estimate, 1.0, f"{verdict.what}, in seconds: work counts samples, not batches")


def _similar(symbol: str) -> Claim:
    def check(data: Data, column: str) -> Verdict:
        ratios = [ratio(data, symbol, level, column) for level in (LEAST, MOST)]
        widest = max(ratios, key=lambda one: abs(one.value - 1))
        low, high = widest.interval or (float("nan"),) * 2
        change = Estimate(widest.value - 1, (low - 1, high - 1) if widest.interval else None)
        return Verdict.within(change, SIMILAR, f"change of time by the value of {symbol} that changes it most")

    return by_both(f"{symbol} hardly changes the time (here: within {SIMILAR:.0%})", check)


def _follow(data: Data, column: str) -> Verdict:
    pairs = [
        (hours / USUAL_HOURS, ratio(data, symbol, level, column).value)
        for symbol, two in HOURS.items()
        for level, hours in zip((LEAST, MOST), two, strict=True)
    ]
    known = [pair for pair in pairs if np.isfinite(pair[1])]
    found = spearman([pair[0] for pair in known], [pair[1] for pair in known])
    # Which seeds were drawn is not in this interval: with one seed, nobody can say how far the ratios would move.
    found = found if len(data.unique("seed")) > 1 else Estimate(found.value)
    return Verdict.above(found, 0.0, f"rank correlation of {len(known)} ratios with the printed ones")


def _time_table(data: Data) -> Table:
    rows = []
    for symbol in symbols():
        for level, hours in zip((LEAST, MOST), HOURS[symbol], strict=True):
            some = data.where(arm=arm_name(symbol, level))
            rows.append(
                (
                    symbol,
                    f"{value(some, symbol)} : {value(data.where(arm=USUAL), symbol)}",
                    *(str(ratio(data, symbol, level, column)) for column in (SECONDS, WORK)),
                    f"{hours / USUAL_HOURS:.2f}",
                    str(mean(some.per_seed(SECONDS))),
                )
            )
    return Table(
        ("", "value : default", "ratio of seconds (95 %)", "ratio of work (95 %)", "published", "seconds (95 %)"),
        tuple(rows),
    )


def _draw_times(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    titles = {"seconds": SECONDS, "work: questions to the network": WORK}
    panels = {
        title: {symbol: {level: ratio(data, symbol, level, column) for level in (LEAST, MOST)} for symbol in symbols()}
        for title, column in titles.items()
    }
    known = {
        (title, symbol, level): hours / USUAL_HOURS
        for title in titles
        for symbol, two in HOURS.items()
        for level, hours in zip((LEAST, MOST), two, strict=True)
    }
    return estimates_figure(panels, "time of a run over the default's", published=known, level=1)


# Table 3.4: importance.


def correlation(data: Data, symbol: str, column: str) -> Estimate:
    """Spearman's, of a hyper-parameter's three values with a column, over all seeds."""
    rows = [
        (number, figure)
        for number, some in enumerate(three(data, symbol).values())
        for figure in some.per_seed(column)
        if np.isfinite(figure)
    ]
    return spearman([row[0] for row in rows], [row[1] for row in rows])


def _lowest(symbol: str, best: str) -> Claim:
    def check(data: Data) -> Verdict:
        values = three(data, symbol)
        own = ends(values[best])
        lead, closest = least_difference({level: (ends(values[level]), own) for level in LEVELS if level != best})
        shown = (f"{symbol} = {value(values[level], symbol)}" for level in (closest, best))
        return Verdict.above(lead, 0.0, f"loss at the end, {' minus '.join(shown)}, which comes closest")

    return Claim(f"{printed(symbol, best)} has the lowest loss", check)


def _spread(data: Data, symbol: str, column: str) -> Float64s:
    """float64[S]: by how much the time changes between least and largest value, as a logarithm to base 2."""
    most, least = (data.where(arm=arm_name(symbol, level)).per_seed(column) for level in (MOST, LEAST))
    return np.abs(np.log2(most / least))


def _sensitive(data: Data, column: str) -> Verdict:
    more, fewer = (
        np.mean([_spread(data, symbol, column) for symbol in some], axis=0) for some in ((*SLOWER, "bs"), FRIENDLY)
    )
    return Verdict.above(
        paired_difference(more, fewer), 0.0, "doublings of time from least to largest value, mean lead"
    )


def _importance_table(data: Data) -> Table:
    rows = []
    for symbol in symbols():
        values = three(data, symbol)
        losses = chances({level: -ends(some) for level, some in values.items()})
        times = chances({level: -some.per_seed(SECONDS) for level, some in values.items()})
        best, quick = (
            ", ".join(f"{value(values[level], symbol)}: {chance}" for level, chance in some.items() if chance != "0%")
            for some in (losses, times)
        )
        rows.append((symbol, best or "–", quick or "–",
                     *(str(correlation(data, symbol, column)) for column in ("loss", SECONDS, WORK)),
                     printed(symbol, LOWEST[symbol]) if symbol in LOWEST else "insignificant"))  # fmt: skip
    return Table(
        ("", "chance of the lowest loss", "of the least time", "rank correlation with loss (95 %)", "with seconds",
         "with work", "published for loss"),
        tuple(rows),
    )  # fmt: skip


def _draw_importance(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    panels = {
        f"with {title}": {symbol: {"here": correlation(data, symbol, column)} for symbol in symbols()}
        for title, column in {"the loss at the end": "loss", "seconds": SECONDS, "work": WORK}.items()
    }
    return estimates_figure(panels, "rank correlation", level=0, limits=(-1.05, 1.05))


EXPERIMENTS = (
    Experiment(
        identity=published("table-3.3"),
        arms=ARMS,
        scales=SCALES,
        measures=(Stretches(SPACE, read_totals, name="totals"),),
        claims=(
            *(_takes_longer(symbol) for symbol in SLOWER),
            Claim("a larger bs takes less time", _larger_batches),
            *(_similar(symbol) for symbol in FRIENDLY),
            by_both("what each value costs, as a ratio to the default, follows the table", _follow, ours=True),
        ),
        table=_time_table,
        draw=_draw_times,
        published=tuple(
            Published(arm_name(symbol, level), GAME, round(hours / USUAL_HOURS, 3), WHERE, "of the default's hours")
            for symbol, two in HOURS.items()
            for level, hours in zip((LEAST, MOST), two, strict=True)
        ),
        reading=f"{SHARED}; work is the number of questions to the network, 1 a simulation and 3 a sample of training",
    ),
    Experiment(
        identity=published("table-3.4"),
        arms=ARMS,
        scales=SCALES,
        measures=(Stretches(SPACE, read_totals, name="totals"),),
        claims=(
            *(_lowest(symbol, best) for symbol, best in LOWEST.items()),
            *(idle(f"{symbol} does not matter for the loss", symbol) for symbol in IDLE),
            by_both("I, E, m, rs, ep, bs and n change the time more than T′, c, lr, d and u", _sensitive),
        ),
        table=_importance_table,
        draw=_draw_importance,
        reading=f"{SHARED}; the table has E = 10 as the best for the loss, the text of Figure 3.4 says 100",
    ),
)
