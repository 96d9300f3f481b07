"""Estimates that are made together: what one of them has measured serves the others, as far as it hardly differs.

A chapter compares dozens of settings on several boards. How long a step of training or a call of the network takes is
measured for each of them. How games go is measured once for a board, whatever else is set; and when the time for
measuring is used up, how games change and what a warm start costs are taken from another board, as factors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from palaestra.games.base import Game
from palaestra.learn.speed_memory import code_digest, memory_file, read_memory
from palaestra.learn.time_model import SearchSpeed

IDLE, SELFPLAY, WARM, MATCHES, DRIFT = (
    "a run that does nothing",
    "self-play",
    "self-play of the warm start",
    "matches",
    "how games change",
)
# What must be the same for a measurement to serve another run; of other kinds, everything.
SAME = {
    IDLE: ("net", "device", "threads"),
    SELFPLAY: ("game", "version", "threads", "remembers"),
    WARM: ("game", "version", "threads", "remembers", "enhancement"),
    MATCHES: ("game", "version", "threads"),
    DRIFT: ("game", "version", "threads", "anchors", "judged"),
}
OF_THE_BOARD = ("game", "version")
SECONDS = 9.0  # of measuring, after which another board will do


class Together:
    """Measurements in mind, and the seconds that are left for new ones."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.left = seconds
        self.path = memory_file()
        self.known = read_memory(self.path)
        self.fresh: set[str] = set()  # names of what one of these estimates has measured
        self._codes: dict[str, str] = {}
        self._keys: dict[str, tuple[str, dict[str, Any]]] = {}

    def code(self, game: Game) -> str:
        if game.id not in self._codes:
            self._codes[game.id] = code_digest(game)
        return self._codes[game.id]

    def nearest(self, what: str, key: Mapping[str, Any], old: bool) -> Any:
        """What was measured under a key that differs least and agrees in all that counts; None if nothing was."""
        found, fewest = None, len(key) + 1
        for name, other in self._usable(what, old):
            if all(other.get(field) == key[field] for field in SAME.get(what, tuple(key))):
                differing = sum(other.get(field) != value for field, value in key.items())
                if differing < fewest:
                    found, fewest = self.known[name]["measured"], differing
        return found

    def elsewhere(self, what: str, key: Mapping[str, Any], old: bool) -> Mapping[str, Any] | None:
        """The key of such a measurement on any board; None if there is none, or still time to measure."""
        if self.left > 0 and not old:
            return None
        fields = [field for field in SAME[what] if field not in OF_THE_BOARD]
        like = (other for _, other in self._usable(what, old) if all(other.get(name) == key[name] for name in fields))
        return next(like, None)

    def _usable(self, what: str, old: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Names and keys of measurements of this kind, with the code of today unless `old` ones will do."""
        for name, kept in self.known.items():
            kind, key = self._key(name)
            if kind == what and "measured" in kept:
                if old or name in self.fresh or kept.get("code") == self._codes.get(key.get("game", "")):
                    yield name, key

    def _key(self, name: str) -> tuple[str, dict[str, Any]]:
        if name not in self._keys:
            what, _, rest = name.partition(" {")
            self._keys[name] = what, json.loads("{" + rest) if rest else {}
        return self._keys[name]


def as_there(own: SearchSpeed, warm: SearchSpeed, plain: SearchSpeed) -> SearchSpeed:
    """A search that differs from `own` as on another board `warm` differs from `plain`, for a position searched."""
    pairs = list(zip(warm.probes, plain.probes, strict=False))

    def ratio(count: str) -> float:
        there, usual = (sum(getattr(one[i], count) / one[i].positions for one in pairs) for i in (0, 1))
        return float(there / usual) if usual else 1.0

    asked, cost = ratio("evaluations"), ratio("other_seconds")
    probes = [
        replace(one, evaluations=round(one.evaluations * asked), other_seconds=one.other_seconds * cost)
        for one in own.probes
    ]
    return replace(own, probes=tuple(probes))
