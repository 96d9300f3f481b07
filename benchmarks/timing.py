"""Fair comparisons on a noisy machine: both sides take turns, and each round gives one ratio.

A machine that slows down slows both neighbours in a round, so ratios of neighbours are steadier than the speeds. This
module knows nothing of what is measured.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")


@dataclass(frozen=True)
class Ratio:
    """Ours over theirs: the median of the rounds, and the lowest and highest round."""

    median: float
    low: float
    high: float


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """The ratios of rounds that were measured one after the other."""
    rounds = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Ratio(statistics.median(rounds), min(rounds), max(rounds))


def alternate(ours: Callable[[], Ours], theirs: Callable[[], Theirs], rounds: int) -> tuple[list[Ours], list[Theirs]]:
    """Measure both sides once a round, A B A B …; the answers of each in the order of the rounds."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def per_second(work: Callable[[], int], seconds: float) -> float:
    """Repeat `work`, which returns how much it did, for `seconds`; how much was done a second. Warm up first."""
    done, began = 0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            return done / elapsed


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
