"""The clock of GTP: main time, then periods of so many seconds for so many moves. Seconds; knows no game."""

from __future__ import annotations

from dataclasses import dataclass, field

from palaestra.protocols.thinking import MOVES_LEFT, share


@dataclass
class GtpClock:
    """What each side has left; before `settings` nobody has a limit."""

    main: float = 0.0
    period: float = 0.0
    moves: int = 0  # in a period; 0 with a period: no limit at all
    running: bool = False
    left: list[tuple[float, int]] = field(
        default_factory=lambda: [(0.0, 0), (0.0, 0)]
    )  # seconds; moves, 0 in main time

    def settings(self, main: float, period: float, moves: int) -> None:
        self.main, self.period, self.moves = main, period, moves
        self.running = not (period > 0 and moves == 0)
        self.restart()

    def restart(self) -> None:
        """A new game: both sides have all their time."""
        fresh = (self.main, 0) if self.main > 0 or self.period <= 0 else (self.period, self.moves)
        self.left = [fresh, fresh]

    def say(self, side: int, seconds: float, moves: int) -> None:
        """What the controller says that a side has left."""
        self.left[side] = seconds, moves
        self.running = True

    def budget(self, side: int, moves_to_come: float) -> float | None:
        """Milliseconds for the next move of a side that has so many moves before it; None without a limit."""
        if not self.running:
            return None
        seconds, moves = self.left[side]
        if moves:
            return share(1000.0 * seconds, moves)
        extra = 1000.0 * self.period / self.moves if self.moves else 0.0
        return share(1000.0 * seconds + extra, max(10.0, min(MOVES_LEFT, moves_to_come)))

    def spend(self, side: int, seconds: float) -> None:
        """A side has moved after so many seconds; the controller may know better, and say so."""
        left, moves = self.left[side]
        left -= seconds
        if moves:
            left, moves = (left, moves - 1) if moves > 1 else (self.period, self.moves)
        elif left <= 0 and self.period > 0:
            left, moves = self.period, self.moves
        self.left[side] = max(0.0, left), moves
