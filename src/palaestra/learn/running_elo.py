"""Running Elo: how strong the networks of a run are by the matches that the run itself plays (sources: training Elo).

Whenever the gate meets a candidate, or an evaluation with `evaluation.history` meets the network evaluated before, two
networks of the run play each other. Rated together, over the whole history, these matches give every network an Elo.
In a curriculum they are those at the game that is learned now. It is known to flatter: a gate lets pass whoever was
lucky in its few games, and nothing ties the chain of networks to players outside it (sources: traps). A tournament of
the same checkpoints shows by how much. Who moved first is counted: with the newer network always named first, ratings
would sink by the first move's worth (sources: L8).

All of it is a function of the lines of metrics.jsonl, so that a resumed run goes on with the same numbers. The earliest
network is 0 Elo. Nothing here plays, and a network is known by the iteration that made it and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from palaestra.arena.match import MatchResult, a_first, points_of_a
from palaestra.arena.ratings import RatingConfig, Results, rate
from palaestra.runs.metrics import Encounter, Lines, RunningElo, Tally

POINTS = (1.0, 0.5, 0.0)  # of a win, a draw and a loss


def tally_of_first(match: MatchResult) -> Tally:
    """A's wins, draws and losses in the games that A began."""
    points = [points_of_a(record) for record in match.records if a_first(record)]
    return points.count(1.0), points.count(0.5), points.count(0.0)


def encounter(match: MatchResult, network: int, against: int) -> Encounter:
    """A match in which the networks of two iterations were A and B."""
    first = tally_of_first(match)
    return Encounter(network, against, match.wins, match.draws, match.losses, first, match.games, match.distinct_games)


def games_of(met: Encounter) -> Iterator[tuple[str, str, float]]:
    """(who moved first, who moved second, points of the first) of every game of a match."""
    one, other = str(met.network), str(met.against)
    for points, whole, began in zip(POINTS, (met.wins, met.draws, met.losses), met.first, strict=True):
        yield from began * [(one, other, points)]
        yield from (whole - began) * [(other, one, 1.0 - points)]


def playing(lines: Lines) -> int:
    """The network that plays after these iterations: the last that no gate rejected, 0 before any."""
    return next((line.iteration for line in reversed(lines) if line.is_accepted), 0)


def evaluated_before(lines: Lines) -> int:
    """The network that the last evaluation saw; the untrained one before any."""
    last = next((count for count in range(len(lines), 0, -1) if lines[count - 1].elo is not None), 0)
    return playing(lines[:last])


def encounters(lines: Lines) -> list[Encounter]:
    """The matches between networks in these lines; a run that did not yet count who began has none."""
    found = (
        met
        for line in _at_this_game(lines)
        for met in (line.gate.encounter if line.gate is not None else None, line.history)
    )
    return [met for met in found if met is not None]


def _at_this_game(lines: Lines) -> Lines:
    """The lines since a curriculum went on to another game: networks met at the one before do not compare."""
    ends = (count for count in range(len(lines), 0, -1) if (at := lines[count - 1].course) is not None and at.ended)
    # The line in which a game ended is still of that game.
    return lines[next((count for count in ends if count < len(lines)), 0) :]


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


def latest_elo(lines: Lines) -> RunningElo | None:
    """The running Elo of the network that plays, as a line of metrics keeps it; None where it has played no match.

    Numbers are rounded to 0.01: their last bits are linear algebra's, which may depend on threads, and a resumed run
    must write the same line.
    """
    found = running_elos(lines).get(playing(lines))
    if found is None:
        return None
    return RunningElo(found.network, round(found.elo, 2), round(found.plus, 2), round(found.minus, 2))


def _count(matches: Sequence[Encounter]) -> Results:
    return Results.count(game for match in matches for game in games_of(match))


def _connected(matches: Sequence[Encounter], network: int) -> list[Encounter]:
    """The matches that a chain of matches connects with this network, in their order."""
    results = _count(matches)
    group = dict(zip(results.players, results.groups().tolist(), strict=True))
    own = group.get(str(network))
    return [match for match in matches if group[str(match.network)] == own]
