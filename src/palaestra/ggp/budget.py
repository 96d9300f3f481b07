"""What evaluating rules may cost: time and memory. Rules come from strangers, and some of them never end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from palaestra.errors import GdlError


class BudgetError(GdlError):
    """The rules need more time or memory than they were given."""


@dataclass
class Budget:
    """Seconds from now on, and rows of any one table."""

    seconds: float = float("inf")
    rows: int = 4_000_000
    began: float = field(default_factory=time.monotonic)

    def check(self, rows: int, what: str) -> None:
        """Refuse a table of `rows` rows, or any further work once the time is over."""
        if rows > self.rows:
            raise BudgetError(f"{what} has {rows:,} instances; {self.rows:,} are allowed")
        if time.monotonic() - self.began > self.seconds:
            raise BudgetError(f"{what} was not finished within {self.seconds:g} s")
