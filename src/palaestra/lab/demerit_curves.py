"""What curves of demerits over generations say: when they meet 0, whether they stay there, how long they are flat.

A curve of several seeds is float64[S, G]; of one seed, float64[G]. Knows no agent and no paper.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Float64s

Curve = Float64s
NONE = 1e-6  # demerits that are rounding
NEAR = 0.1  # demerits that a figure hardly tells from 0: on a board of height 9, a ply in each of the 18 games
AFTER, SHARE = 30, 0.8  # a curve has settled if it is 0 in this share of so many generations after its first 0
# A plateau lies below half of a curve's maximum, and within a quarter of it: from one match to the next, the same agent
# that keeps every result and ignores lengths has 3.5 to 7.6 demerits, where random play has 16.5 (sources: demerits).
BELOW, BAND = 0.5, 0.25


def first_zero(curve: Curve, most: float = NONE) -> int | None:
    """The first generation, from 1, of a curve [G] without demerits, or with at most so many."""
    at = np.flatnonzero(curve <= most)
    return int(at[0]) + 1 if at.size else None


def settles(curve: Curve) -> bool | None:
    """Whether a curve [G] stays without demerits after its first such generation; None if too few follow it."""
    first = first_zero(curve)
    if first is None:
        return False
    following = curve[first : first + AFTER]
    return bool((following <= NONE).mean() >= SHARE) if following.size == AFTER else None


def waits(curve: Curve) -> Float64s:
    """float64[S]: the first generation without demerits of every seed of a curve [S, G]; G + 1 where none comes."""
    return np.array([first_zero(one) or len(one) + 1 for one in curve], dtype=np.float64)


def plateau(curve: Curve) -> int:
    """The longest flat stretch, in generations, of a curve [G] between its fall and its first 0.

    It is flat within `BAND` of the maximum, and the fall is over where the curve first lies below `BELOW` of that: the
    generations that nothing has been learned in yet are flat too, and no plateau.
    """
    most = curve.max()
    fallen = int(np.argmax(curve <= BELOW * most)) if (curve <= BELOW * most).any() else len(curve)
    before = curve[fallen : (first_zero(curve) or len(curve) + 1) - 1]
    longest = begin = 0
    for end in range(1, len(before) + 1):
        while np.ptp(before[begin:end]) > BAND * most:
            begin += 1
        longest = max(longest, end - begin)
    return longest


def generations_in_words(curve: Curve, most: float = NONE) -> str:
    """The first 0 of every seed of a curve [S, G], or the first of at most so many: "33, 27, –"."""
    return ", ".join("–" if (first := first_zero(one, most)) is None else str(first) for one in curve)
