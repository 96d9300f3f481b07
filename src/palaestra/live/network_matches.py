"""Matches over the network, as JSON: what every match came to, and what every player reached on the whole.

Knows the records of `ggp` and no connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from palaestra.base.types import JsonLike
    from palaestra.ggp.record import MatchRecord


class PlayerSummary(TypedDict):
    """What one player reached in all its matches."""

    player: str  # its address
    who: str  # its name, or who plays in its place
    matches: int
    mean_goal: float
    interval: list[float] | None  # 95 %, of the mean goal


class MatchesSummary(TypedDict):
    """Over all matches: the mean goal of every player, the moves that were missed, and the faults by code."""

    game: str
    mean_goals: dict[str, float]
    players: list[PlayerSummary]
    missed_moves: int
    faults: dict[str, int]


class MatchesDocument(MatchesSummary):
    """The summary, and every match in full."""

    matches: list[dict[str, JsonLike]]


def summary(records: Sequence[MatchRecord]) -> MatchesSummary:
    """What some matches of one game say of their players."""
    goals: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    faults: dict[str, int] = {}
    for one in records:
        for seat, goal in zip(one.seats, one.goals or (), strict=False):
            goals.setdefault(seat.player, []).append(goal)
            names[seat.player] = seat.who
        for fault in one.faults:
            faults[fault.code] = faults.get(fault.code, 0) + 1
    means = {name: sum(own) / len(own) for name, own in goals.items()}
    players: list[PlayerSummary] = [
        {"player": name, "who": names[name], "matches": len(own), "mean_goal": means[name], "interval": interval(own)}
        for name, own in goals.items()
    ]
    return {
        "game": records[0].game,
        "mean_goals": means,
        "players": players,
        "missed_moves": sum(one.missed_moves for one in records),
        "faults": faults,
    }


def document(records: Sequence[MatchRecord]) -> MatchesDocument:
    """The summary and every match."""
    return {**summary(records), "matches": [one.as_json() for one in records]}


def interval(goals: Sequence[int]) -> list[float] | None:
    """95 % for the mean of some goals, that of a score where they are wins, draws and losses; None where unknown."""
    import numpy as np

    from palaestra.arena.statistics import mean_and_margin, score_interval

    if set(goals) <= {0, 50, 100}:
        return [100.0 * bound for bound in score_interval(goals.count(100), goals.count(50), goals.count(0))]
    mean, margin = mean_and_margin(np.array(goals, dtype=np.float64)[:, None])
    if margin is None:
        return None
    return [max(0.0, float(mean[0] - margin[0])), min(100.0, float(mean[0] + margin[0]))]
