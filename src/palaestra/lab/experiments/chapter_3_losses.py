"""Chapter 3 of the thesis, Figures 3.3 and 3.4: the loss over iterations and epochs, by twelve hyper-parameters."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Experiment, Table, Verdict
from palaestra.lab.experiments._hyper_parameters import LEAST, MOST, USUAL, Stretches, read_epochs, read_loss
from palaestra.lab.experiments._one_at_a_time import (
    ARMS,
    SCALES,
    SHARED,
    SPACE,
    chances,
    ends,
    idle,
    less,
    symbols,
    three,
    value,
)
from palaestra.lab.statistics import mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Figure 3.3: the loss of every epoch.


def _falls_in_iterations(data: Data) -> Verdict:
    epochs = data.numbers("epoch")
    last = float(epochs.max()) if epochs.size else 1.0
    first, end = (data.where(epoch=int(epoch)).per_seed("loss") for epoch in (1, last))
    return Verdict.above(paired_difference(first, end), 0.0, "loss, first minus last epoch of an iteration")


def _thirds(data: Data, over: str) -> list[Float64s]:
    """float64[S] three times: the mean loss in the first, middle and last third of the runs."""
    _, curves = data.curve("loss", over)
    cuts = [len(curves[0]) * number // 3 for number in range(4)] if len(curves) else [0] * 4
    parts = [curves[:, a:b] for a, b in pairwise(cuts)]
    return [part.mean(axis=1) if part.size else np.full(len(curves), np.nan) for part in parts]


def _falls(over: str, arm: str) -> Claim:
    def check(data: Data) -> Verdict:
        first, _, last = _thirds(data.where(arm=arm), over)
        return Verdict.above(paired_difference(first, last), 0.0, "loss, first minus last third of the iterations")

    return Claim("the loss falls over iterations", check)


def _settles(over: str, arm: str) -> Claim:
    def check(data: Data) -> Verdict:
        first, middle, last = _thirds(data.where(arm=arm), over)
        slower = paired_difference(first - middle, middle - last)
        return Verdict.above(slower, 0.0, "loss, fall from the first to the middle third minus fall to the last")

    return Claim("the loss comes to a stable level: it falls less in later iterations", check)


def _epoch_table(data: Data) -> Table:
    rows = [
        (epoch, *(str(mean(part)) for part in _thirds(some, "iteration"))) for epoch, some in data.by("epoch").items()
    ]
    return Table(("epoch", "loss, first third", "middle third", "last third of the iterations (95 %)"), tuple(rows))


def _draw_epochs(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    last = max(data.numbers("epoch"), default=1.0)
    ends = data.where(epoch=int(last))
    curves = {"every epoch": data.curve("loss", "at"), "last epoch of an iteration": ends.curve("loss", "at")}
    return curves_figure({"loss with default settings": curves}, "iteration", "mean loss")


# Figure 3.4: the loss of every iteration.


def _lower(text: str, symbol: str, one: str, other: str) -> Claim:
    def check(data: Data) -> Verdict:
        return less(three(data, symbol), symbol, one, other)

    return Claim(text, check)


def _curve_table(data: Data) -> Table:
    rows = []
    for symbol in symbols():
        values = three(data, symbol)
        lowest = chances({level: -ends(some) for level, some in values.items()})
        rows += [
            (symbol, value(some, symbol), str(mean(ends(some))), lowest.get(level, "–"))
            for level, some in values.items()
        ]
    return Table(("", "value", "loss at the end (95 %)", "chance to be lowest"), tuple(rows))


def _draw_curves(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels = {}
    for letter, symbol in zip("abcdefghijkl", symbols(), strict=True):
        values = three(data, symbol)
        title = f"({letter}) {symbol} = {', '.join(value(some, symbol) for some in values.values())}"
        panels[title] = {level: some.curve("loss") for level, some in values.items()}
    return curves_figure(panels, "iteration", "mean loss")


EXPERIMENTS = (
    Experiment(
        identity=published("fig-3.3"),
        arms=ARMS[:1],
        scales=SCALES,
        measures=(Stretches(SPACE, read_epochs),),
        claims=(
            Claim("within an iteration the loss falls from epoch to epoch", _falls_in_iterations),
            _falls("at", USUAL),
            _settles("at", USUAL),
        ),
        table=_epoch_table,
        draw=_draw_epochs,
    ),
    Experiment(
        identity=published("fig-3.4"),
        arms=ARMS,
        scales=SCALES,
        measures=(Stretches(SPACE, read_loss),),
        claims=(
            _falls("iteration", "I max"),
            _settles("iteration", "I max"),
            _lower("with E = 100 the loss ends lower than with 50", "E", MOST, USUAL),
            _lower("T′ = 10 is a good value: less loss than 15", "T′", LEAST, USUAL),
            _lower("m = 200 has less loss than 100", "m", MOST, USUAL),
            _lower("more exploitation, c = 0.5, has less loss than 1", "c", LEAST, USUAL),
            _lower("examples of one iteration, rs = 1, have less loss than those of 20", "rs", LEAST, USUAL),
            _lower("ep = 15 has less loss than 10", "ep", MOST, USUAL),
            _lower("bs = 96 has less loss than 64", "bs", MOST, USUAL),
            _lower("lr = 0.001 has less loss than 0.005", "lr", LEAST, USUAL),
            idle("d makes no clear difference", "d"),
            idle("n makes no clear difference", "n"),
            _lower("u = 0.7 is too high: 0.6 has less loss", "u", USUAL, MOST),
        ),
        table=_curve_table,
        draw=_draw_curves,
        reading=f"{SHARED}; where a curve has a lowest point in between, the mean of the last 5 iterations is taken",
    ),
)
