"""Claims that many experiments make: agreement with a published number, and one arm above another.

Each is made of a function of the data, so that a declaration only says what is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from palaestra.base.types import Float64s
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Published, Verdict
from palaestra.lab.statistics import Estimate, least_difference, mean, order_chance, paired_difference


def agrees(known: Published, of: Callable[[Data], Estimate], within: float, what: str) -> Claim:
    """The published number lies in our interval; `of` estimates it from the rows of its game and arm.

    Open where the interval is wider than ±within, or where the game was not played, as on the smaller boards of smoke.
    """

    def check(data: Data) -> Verdict:
        rows = data.where(game=known.game, arm=known.arm)
        if not len(rows):
            return Verdict.open(f"{known.game} was not played")
        return Verdict.near(of(rows), known.value, within, f"{what}; published {known.value:g}")

    return Claim(f"{known.arm}, {known.game}: {known.value:g} {known.unit}".rstrip(), check)


def arm_above(text: str, one: str, other: str, column: str, what: str, *, game: str | None = None) -> Claim:
    """The mean of a column is larger in one arm than in the other, seed by seed."""

    def check(data: Data) -> Verdict:
        rows = data if game is None else data.where(game=game)
        a, b = (rows.where(arm=name).per_seed(column) for name in (one, other))
        if len(a) != len(b) or not len(a):
            return Verdict.open(f"{one} and {other} have not the same seeds")
        return Verdict.above(paired_difference(a, b), 0.0, f"{what}, {one} minus {other}")

    return Claim(text, check)


def in_order(text: str, groups: Callable[[Data], dict[str, Float64s]], order: tuple[str, ...], what: str) -> Claim:
    """The arms' means fall in this order, from the largest down; decided by the smallest step between neighbours."""

    def check(data: Data) -> Verdict:
        found = groups(data)
        if any(name not in found for name in order):
            return Verdict.open(f"not all of {', '.join(order)} took part")
        least, step = least_difference({f"{a} minus {b}": (found[a], found[b]) for a, b in pairwise(order)})
        chance = order_chance(found, order)
        return Verdict.above(least, 0.0, f"{what}, {step}, smallest step; chance of the order {chance:.0%}")

    return Claim(text, check)


def mean_of(column: str, factor: float = 1.0) -> Callable[[Data], Estimate]:
    """The mean of a column over seeds, for `agrees`."""
    return lambda data: mean(factor * data.per_seed(column))
