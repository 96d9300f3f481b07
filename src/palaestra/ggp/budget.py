"""What evaluating rules may cost: time and memory. Rules come from strangers, and some of them never end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from palaestra.base.errors import GdlError

MEGABYTE = 2**20


class BudgetError(GdlError):
    """The rules need more time or memory than they were given."""


@dataclass
class Budget:
    """Seconds from now on, rows of any one table, and megabytes of all tables that are kept."""

    seconds: float = float("inf")
    rows: int = 4_000_000
    megabytes: float = 1024.0
    began: float = field(default_factory=time.monotonic)
    held: int = 0  # bytes that are kept

    def check(self, rows: int, what: str) -> None:
        """Refuse a table of `rows` rows, or any further work once the time is over."""
        if rows > self.rows:
            raise BudgetError(f"{what} has {rows:,} instances; {self.rows:,} are allowed")
        if time.monotonic() - self.began > self.seconds:
            raise BudgetError(f"{what} was not finished within {self.seconds:g} s")

    def part(self, share: float) -> Budget:
        """A share of the time that is left, with as much memory, none of which is kept here."""
        left = self.seconds - (time.monotonic() - self.began)
        return Budget(max(0.0, share * left), self.rows, self.megabytes)

    def hold(self, size: int, what: str) -> None:
        """So many bytes more are kept, or fewer if negative; refuse what goes beyond the memory."""
        self.held += size
        if self.held > self.megabytes * MEGABYTE:
            raise BudgetError(f"{what} needs more than {self.megabytes:g} MB")
