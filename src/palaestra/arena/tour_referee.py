"""The travelling salesman a second time, in plain Python, so that a tour can be verified by other code than that which
found it (sources: travelling salesman). It imports nothing of this project.

A city is (row, column), counted from 0 at the top left, and is written column letter, row number: (6, 2) is `c7`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

City = tuple[int, int]

SIDE = 16
_ID = re.compile(r"tsp-([0-9]{1,3})")
_WRITTEN = re.compile(r"([a-p])([1-9]|1[0-6])")
_WORD = 2**64 - 1


class Wrong(Exception):
    """Moves that are no tour; the text says why."""


def knows(game: str) -> bool:
    return _ID.fullmatch(game) is not None


def judge(game: str, start: int, moves: Sequence[str]) -> int:
    """The score of a tour of initial position `start`: 212 for each city, less the length of the tour."""
    cities = instance(int(game.removeprefix("tsp-")), start)
    tour = [cities[0], *map(_city, moves)]
    if sorted(tour) != sorted(cities):
        strange = next((city for city in tour if city not in cities), None)
        twice = next((city for city in tour if tour.count(city) > 1), None)
        if strange is not None:
            raise Wrong(f"there is no city at {_written(strange)}")
        raise Wrong(
            f"{_written(twice)} is visited twice" if twice else f"{len(cities) - len(tour)} cities are left out"
        )
    return 212 * len(cities) - sum(map(_way, tour, [*tour[1:], tour[0]]))


def instance(count: int, start: int) -> list[City]:
    """The cities of an initial position, that where the tour begins first."""
    found: list[City] = []
    for word in words_of(start):
        city = divmod(((word >> 32) * SIDE * SIDE) >> 32, SIDE)
        if city not in found:
            found.append(city)
        if len(found) == count:
            break
    return found


def _way(one: City, other: City) -> int:
    return round(10 * math.dist(one, other))


def words_of(start: int) -> Iterator[int]:
    """The random words that an initial position is made of: splitmix64 from its scattered number."""
    state = _scattered(start)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        yield _scattered(state)


def _scattered(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def _city(text: str) -> City:
    match = _WRITTEN.fullmatch(text.lower())
    if match is None:
        raise Wrong(f"{text[:20]!r} is no city: they are written a1 to p16")
    return int(match[2]) - 1, ord(match[1]) - ord("a")


def _written(city: City) -> str:
    return f"{chr(ord('a') + city[1])}{city[0] + 1}"
