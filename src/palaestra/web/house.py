"""What all pages share: what browsers may name, who thinks for them, and where runs are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from palaestra.base.cores import usable_cores
from palaestra.games.registry import example_ids
from palaestra.web.allowed import Allowed
from palaestra.work.asked import Asked


@dataclass
class House:
    """One server. Moves and analyses have processes of their own, so that no analysis keeps an opponent waiting."""

    runs: Path
    own_games: Sequence[str] = ()
    searches: int = field(default_factory=usable_cores)  # at once, of each kind; more wait in line

    def __post_init__(self) -> None:
        self.allowed = Allowed(self.runs, tuple(self.own_games))
        self.moves = Asked(self.searches, "palaestra-move")
        self.analyses = Asked(self.searches, "palaestra-analysis")
        self.readings = Asked(2, "palaestra-reading")  # files that take long to read: results, ratings, sweeps
        self.building = (
            asyncio.Lock()
        )  # a page is built without a pause: one after the other, others are served between
        self.ready: set[str] = set()  # games whose compiled code is loaded
        self.for_roles: set[str] = set()  # own games in GDL that are not played in turn

    def games(self) -> list[str]:
        """Texts of the games that a list shows: one's own first, every size, then rules in GDL."""
        return [*self.own_games, *example_ids(), *self.allowed.sheets]

    def close(self) -> None:
        self.moves.close()
        self.analyses.close()
        self.readings.close()
