"""What Figures 3.3 and 3.4 and Tables 3.3 and 3.4 share: runs with one of twelve hyper-parameters changed at a time.

The thesis has one run a setting on another machine, so the claims are about which value ends with less loss or takes
less time (sources: sweep of Ch3).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Claim, Scale, Scales, Verdict
from palaestra.lab.experiments._hyper_parameters import LAST, LEAST, MOST, USUAL, instead, make_arm, parameters
from palaestra.lab.statistics import best_chances, paired_difference

SPACE = "thesis-3.4"
ALIKE = 0.1  # a difference of losses below it is small
LEVELS = (LEAST, USUAL, MOST)


def arm_name(symbol: str, level: str) -> str:
    return USUAL if level == USUAL else f"{symbol} {level}"


def _arms() -> tuple[Arm, ...]:
    usual = {one.symbol: 1 for one in parameters(SPACE)}
    found = [make_arm(USUAL, SPACE, usual, True)]
    for one in parameters(SPACE):
        for level, name in ((0, LEAST), (2, MOST)):
            found.append(make_arm(arm_name(one.symbol, name), SPACE, {**usual, one.symbol: level}, one.symbol == "I"))
    return tuple(found)


ARMS = _arms()
SCALES = Scales(
    smoke=Scale(
        "one seed, 3 iterations of 2 games with 2 simulations, network mlp8x1",
        1,
        sets=("net=mlp8x1",),
        instead=instead(
            SPACE, {"I": (1, 2, 3), "E": (1, 2, 3), "m": (1, 2, 3), "rs": (1, 2, 3), "ep": (1, 2, 3), "n": (2, 4, 6)}
        ),
    ),
    laptop=Scale(
        "5 seeds; network b2c16; I 6, 12, 18; E 3, 15, 30; m 6, 24, 48; rs 1, 4, 8; ep 1, 2, 3; n 8, 16, 40",
        5,
        sets=("net=b2c16",),
        instead=instead(
            SPACE,
            {
                "I": (6, 12, 18),
                "E": (3, 15, 30),
                "m": (6, 24, 48),
                "rs": (1, 4, 8),
                "ep": (1, 2, 3),
                "n": (8, 16, 40),
            },
        ),
    ),
    paper=Scale("5 seeds where the thesis has one", 5),
)


def three(data: Data, symbol: str) -> dict[str, Data]:
    """The rows of a hyper-parameter's three values."""
    return {level: data.where(arm=arm_name(symbol, level)) for level in LEVELS}


def symbols() -> list[str]:
    return [one.symbol for one in parameters(SPACE)]


def value(data: Data, symbol: str) -> str:
    """The value that an arm's runs had."""
    found = data.unique(symbol)
    return f"{found[0]:g}" if found and isinstance(found[0], int | float) else "–"


def printed(symbol: str, level: str) -> str:
    """A value of Table 3.1."""
    values = next(one.values for one in parameters(SPACE) if one.symbol == symbol)
    return f"{symbol} = {values[LEVELS.index(level)] + (symbol == 'T′'):g}"


def ends(data: Data) -> Float64s:
    """float64[S]: what the loss is at the end, by seed; of curves or of totals."""
    if "iteration" not in data.columns:
        return data.per_seed("loss")
    at, curves = data.curve("loss")
    return curves[:, -LAST:].mean(axis=1) if at.size else np.full(len(curves), np.nan)


def less(values: dict[str, Data], symbol: str, one: str, other: str) -> Verdict:
    """Whether one value ends with less loss than another."""
    gap = paired_difference(ends(values[one]), ends(values[other]))
    a, b = (value(values[level], symbol) for level in (one, other))
    return Verdict.below(gap, 0.0, f"loss at the end, {symbol} = {a} minus {symbol} = {b}")


def idle(text: str, symbol: str) -> Claim:
    def check(data: Data) -> Verdict:
        gaps = [
            paired_difference(ends(data.where(arm=arm_name(symbol, level))), ends(data.where(arm=USUAL)))
            for level in (LEAST, MOST)
        ]
        widest = max(gaps, key=lambda gap: abs(gap.value))
        return Verdict.within(widest, ALIKE, f"loss, the value of {symbol} that differs most minus the default")

    return Claim(f"{text} (here: within {ALIKE:g})", check)


def chances(groups: dict[str, Float64s]) -> dict[str, str]:
    """How probable it is that each has the largest mean; nothing where a loss is missing."""
    if not groups or not all(some.size and np.isfinite(some).all() for some in groups.values()):
        return {}
    return {name: f"{chance:.0%}" for name, chance in best_chances(groups).items()}


SHARED = "runs of 50 and 100 iterations are the beginnings of those of 150, which are the same bit for bit"
