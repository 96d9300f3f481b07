"""Running Elo: how strong the networks of a run are by the matches that the run itself plays (sources: training Elo).

Whenever the gate meets a candidate, or an evaluation with `evaluation.history` meets the network evaluated before, two
networks of the run play each other. Rated together, over the whole history, these matches give every network an Elo.
It is known to flatter: a gate lets pass whoever was lucky in its few games, and nothing ties the chain of networks to
players outside it (sources: traps). A tournament of the same checkpoints shows by how much. Who moved first is
counted: with the newer network always named first, ratings would sink by the first move's worth (sources: L8).

All of it is a function of the lines of metrics.jsonl, so that a resumed run goes on with the same numbers. The earliest
network is 0 Elo. Nothing here plays, and a network is known by the iteration that made it and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from palaestra.arena.match import MatchResult, a_first, points_of_a
from palaestra.arena.ratings import RatingConfig, Results, rate

Lines = Sequence[Mapping[str, Any]]  # of metrics.jsonl
Tally = tuple[int, int, int]  # wins, draws, losses
POINTS = (1.0, 0.5, 0.0)  # of a win, a draw and a loss


@dataclass(frozen=True)
class Encounter:
    """A match between two networks of a run, from the view of `network`."""

    network: int
    against: int
    wins: int
    draws: int
    losses: int
    first: Tally  # in the games that `network` began
    games: int
    distinct_games: int

    @classmethod
    def of(cls, match: MatchResult, network: int, against: int) -> Encounter:
        first = tally_of_first(match)
        return cls(network, against, match.wins, match.draws, match.losses, first, match.games, match.distinct_games)

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Encounter:
        """What an entry of metrics.jsonl tells of; one of the gate holds more than is needed here."""
        return cls(**{field.name: line[field.name] for field in fields(cls)})

    def results(self) -> Iterator[tuple[str, str, float]]:
        """(who moved first, who moved second, points of the first) of every game."""
        one, other = str(self.network), str(self.against)
        for points, whole, began in zip(POINTS, (self.wins, self.draws, self.losses), self.first, strict=True):
            yield from began * [(one, other, points)]
            yield from (whole - began) * [(other, one, 1.0 - points)]


@dataclass(frozen=True)
class RunningElo:
    """A network's Elo above the earliest one; the 95 % interval is elo - minus … elo + plus."""

    network: int
    elo: float
    plus: float
    minus: float


def tally_of_first(match: MatchResult) -> Tally:
    """A's wins, draws and losses in the games that A began."""
    points = [points_of_a(record) for record in match.records if a_first(record)]
    return points.count(1.0), points.count(0.5), points.count(0.0)


def playing(lines: Lines) -> int:
    """The network that plays after these iterations: the last that no gate rejected, 0 before any."""
    accepted = (line["iteration"] for line in reversed(lines) if line["gate"] is None or line["gate"]["accepted"])
    return int(next(accepted, 0))


def evaluated_before(lines: Lines) -> int:
    """The network that the last evaluation saw; the untrained one before any."""
    last = next((count for count in range(len(lines), 0, -1) if lines[count - 1]["elo"] is not None), 0)
    return playing(lines[:last])


def encounters(lines: Lines) -> list[Encounter]:
    """The matches between networks in these lines; a run that did not yet count who began has none."""
    entries = (entry for line in lines for entry in (line.get("gate"), line.get("history")))
    return [Encounter.from_line(entry) for entry in entries if entry and "first" in entry]


def running_elos(lines: Lines) -> dict[int, RunningElo]:
    """network -> its running Elo after these iterations, rejected candidates included; empty before any match.

    Matches that no chain of matches connects with the network that plays are left out: they say nothing about it.
    """
    matches = _connected(encounters(lines), playing(lines))
    if not matches:
        return {}
    earliest = min(match.against for match in matches)
    ratings = rate(_count(matches), RatingConfig(anchor=(str(earliest), 0.0)))
    rows = zip(ratings.players, ratings.elo, ratings.plus, ratings.minus, strict=True)
    return {
        int(player): RunningElo(int(player), float(elo), float(plus), float(minus)) for player, elo, plus, minus in rows
    }


def running_line(lines: Lines) -> dict[str, Any] | None:
    """The running Elo of the network that plays, as a line of metrics keeps it; None where it has played no match.

    Numbers are rounded to 0.01: their last bits are linear algebra's, which may depend on threads, and a resumed run
    must write the same line.
    """
    found = running_elos(lines).get(playing(lines))
    return None if found is None else {name: round(value, 2) for name, value in asdict(found).items()}


def _count(matches: Sequence[Encounter]) -> Results:
    return Results.count(game for match in matches for game in match.results())


def _connected(matches: Sequence[Encounter], network: int) -> list[Encounter]:
    """The matches that a chain of matches connects with this network, in their order."""
    results = _count(matches)
    group = dict(zip(results.players, results.groups().tolist(), strict=True))
    own = group.get(str(network))
    return [match for match in matches if group[str(match.network)] == own]
