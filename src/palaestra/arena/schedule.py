"""Who meets whom, and in which order the games are played. Plays nothing, and knows no player.

A tournament goes in stages: a round robin and a gauntlet have one, Swiss one a round, because there the pairings depend
on the results. Every pairing is a match: pairs of games from one opening with sides swapped, so that colours are always
balanced. Within a stage the first pair of every pairing comes before the second pair of any. Games next to each other
thus belong to many pairings, and all players have about equally many games in a window of the schedule: their batches
are even, and whoever leads after half of the games has met everyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Literal, get_args

from palaestra.arena.openings import Opening
from palaestra.arena.table import Scheduled
from palaestra.base.errors import ConfigError
from palaestra.base.streams import keyed_seeds

Format = Literal["round-robin", "gauntlet", "swiss"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True)
class Pairing:
    """Two players, by their places in the list of players, who meet in a round; `a` moves first in its even games."""

    round: int
    a: int
    b: int


def check_plan(format: str, players: int, rounds: int | None) -> int:
    """The number of stages; ConfigError where there is no such tournament."""
    if format not in FORMATS:
        raise ConfigError(f"format is {format!r}; it must be one of {', '.join(FORMATS)}, for example round-robin")
    if rounds is not None and format != "swiss":
        raise ConfigError(f"a {format} has as many rounds as it needs; leave rounds out, or give the format swiss")
    if format != "swiss":
        return 1
    most = (players + 1) // 2
    rounds = ceil(log2(players)) if rounds is None else rounds
    if not 1 <= rounds <= most:
        raise ConfigError(
            f"{rounds} rounds of swiss for {players} players: give 1 to {most}, after which rematches could be"
            " unavoidable; to meet everyone, give the format round-robin"
        )
    return rounds


def pairings_a_stage(format: Format, players: int) -> int:
    """How many pairings every stage has."""
    return {"round-robin": players * (players - 1) // 2, "gauntlet": players - 1, "swiss": players // 2}[format]


def round_robin(players: int) -> list[Pairing]:
    """Everyone against everyone, in rounds in which nobody plays twice.

    One player stays, the others go round a circle of which opposite places meet; with an odd number of players, whoever
    meets the empty place rests.
    """
    size = players + players % 2
    circle = list(range(1, size))
    pairings = []
    for round in range(size - 1):
        seats = [0, *circle]
        for one, other in zip(seats[: size // 2], reversed(seats[size // 2 :]), strict=True):
            if max(one, other) < players:
                pairings.append(Pairing(round, min(one, other), max(one, other)))
        circle = [circle[-1], *circle[:-1]]
    return pairings


def gauntlet(players: int) -> list[Pairing]:
    """The first player against each of the others."""
    return [Pairing(rival - 1, 0, rival) for rival in range(1, players)]


def swiss_round(round: int, points: Sequence[float], before: Sequence[Pairing]) -> list[Pairing]:
    """Neighbours in the standings meet who have not met before.

    With an odd number of players the last one who has not rested yet rests. From the top, everyone takes the next free
    player that it has not met. Two who are left over at the end, u and v, have met each other; then a pairing (x, y) is
    broken up for (u, x) and (v, y), one low in the standings if possible. There is such a pairing as long as at most
    half of the others have been met: n places have n - round ≥ n/2 possible opponents each, all those of u and v are
    paired, in at most (n - 2) / 2 pairings, so that one of these has at least three of their n or more possibilities.
    """
    players = len(points)
    met = {frozenset((pairing.a, pairing.b)) for pairing in before}
    order = sorted(range(players), key=lambda player: -points[player])
    if players % 2:  # the empty place is the last one, and whoever meets it rests
        order.append(players)
        rested = set[int]()
        for earlier in range(round):
            playing = {player for pairing in before if pairing.round == earlier for player in (pairing.a, pairing.b)}
            rested |= set(range(players)) - playing
        met |= {frozenset((player, players)) for player in rested}
    pairs: list[tuple[int, int]] = []
    left: list[int] = []
    free = list(order)
    while free:
        one = free.pop(0)
        other = next((rival for rival in free if frozenset((one, rival)) not in met), None)
        if other is None:
            left.append(one)
        else:
            free.remove(other)
            pairs.append((one, other))
    for u, v in zip(left[::2], left[1::2], strict=True):
        pairs = _rearranged(pairs, u, v, met)
    return [Pairing(round, min(pair), max(pair)) for pair in pairs if max(pair) < players]


def _rearranged(pairs: list[tuple[int, int]], u: int, v: int, met: set[frozenset[int]]) -> list[tuple[int, int]]:
    for place in reversed(range(len(pairs))):
        for x, y in (pairs[place], pairs[place][::-1]):
            if frozenset((u, x)) not in met and frozenset((v, y)) not in met:
                return [*pairs[:place], (u, x), (v, y), *pairs[place + 1 :]]
    raise AssertionError("more rounds were asked for than `check_plan` allows")


def match_seed(seed: int, pairing: Pairing) -> int:
    """The seed of a pairing's match: its games stay the same when further players join at the end of the list."""
    return int(keyed_seeds(seed, pairing.a, pairing.b)[0] >> 1)


Book = Callable[[int], Sequence[Opening]]  # the openings of a pairing's match, by its seed


def games_of(
    pairings: Sequence[Pairing], games: int, seed: int, book: Book, first: int = 0
) -> Iterator[tuple[Pairing, Scheduled]]:
    """The games of a stage, `games` for each pairing, in the order of play, numbered from `first`."""
    matches = [(pairing, own := match_seed(seed, pairing), book(own)) for pairing in pairings]
    number = first
    for key in range(0, games, 2):
        for pairing, own, openings in matches:
            opening = openings[key // 2]
            yield pairing, Scheduled(number, pairing.a, pairing.b, opening, own, key)
            yield pairing, Scheduled(number + 1, pairing.b, pairing.a, opening, own, key + 1)
            number += 2
