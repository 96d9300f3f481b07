"""Windows of outcomes for the tests, and the slow, obvious rewards that the fast ones must equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from palaestra.base.types import Int32s
from palaestra.rewards.outcomes import OutcomeSpace

WIDTH = 12
PLIES = OutcomeSpace("plies", max_plies=WIDTH, lowest=-WIDTH, highest=WIDTH)
MARGIN = OutcomeSpace("margin", max_plies=63, lowest=-WIDTH, highest=WIDTH)
PLAIN = OutcomeSpace("none", max_plies=9, lowest=-1, highest=1)
SCORE = OutcomeSpace("score", max_plies=20, lowest=0, highest=20)

untimed = settings(deadline=None, max_examples=60)  # the first example may compile
windows = st.lists(st.integers(-WIDTH, WIDTH), max_size=30)
alphas = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)


def int32(outcomes: Sequence[int]) -> Int32s:
    return np.array(outcomes, dtype=np.int32)


def brute_cdf(place: int, window: Sequence[int]) -> float:
    """2f - 1 (sources: CDF reward), f the share of the others that ended worse than game `place`, alike ones half."""
    others = [other for at, other in enumerate(window) if at != place]
    worse = sum(other < window[place] for other in others)
    alike = sum(other == window[place] for other in others)
    return 2 * (worse + alike / 2) / len(others) - 1 if others else 0.0


def match_score(one: int, other: int, alpha: float) -> float:
    """What the first of two games scores against the second in a virtual match (sources: bonus)."""
    if one == other:
        return 0.0
    if (one > 0) == (other > 0) and (one < 0) == (other < 0):
        stake = alpha
    elif 0 in (one, other):
        stake = (1 + alpha) / 2
    else:
        stake = 1.0
    return stake if one > other else -stake


def brute_bonus(place: int, window: Sequence[int], alpha: float) -> float:
    """The mean over virtual matches of the game at `place` of the window against all others."""
    others = [other for at, other in enumerate(window) if at != place]
    return sum(match_score(window[place], other, alpha) for other in others) / max(len(others), 1)
