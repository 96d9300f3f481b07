"""The folder of a search for one player, while another process writes it. A look reads what came since the last."""

from __future__ import annotations

from pathlib import Path

from palaestra.base.errors import RecordError
from palaestra.base.reading import MOST_TEXT, read_bytes
from palaestra.lab.solve_folder import JOURNAL, SOLUTIONS, Journal, read_journal, read_on
from palaestra.live.words import clock
from palaestra.runs.solutions import Solution, parse_solution

MOST_POINTS = 2000  # of a curve


class SolveFile:
    """The journal and the best solutions of a folder; RunError if it is no such folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal: Journal = read_journal(path, lines=False)
        self._length = 0

    def look(self) -> bool:
        """Read the restarts that ended since the last look; whether there are any."""
        before = len(self.journal.entries)
        self._length = read_on(self.path, self.journal, self._length)
        return len(self.journal.entries) > before

    @property
    def size(self) -> int:
        """Bytes of the journal: grows with every piece of work."""
        try:
            return (self.path / JOURNAL).stat().st_size
        except OSError:
            return 0

    @property
    def title(self) -> str:
        about = self.journal.about
        opening = f" after {about.opening}" if about.opening else ""
        return f"{about.game}{opening}, {about.player}, seed {about.seed}"

    @property
    def standing(self) -> str:
        """ "best 81, 203 restarts in 25:03"."""
        journal = self.journal
        if journal.best is None:
            return "no restart has ended yet"
        return f"best {journal.best}, {journal.restarts:,} restarts in {clock(journal.seconds)}"

    def best_files(self) -> list[Path]:
        """The solutions of the best score in the journal, in the order in which they were found."""
        best = self.journal.best
        return [] if best is None else sorted((self.path / SOLUTIONS).glob(f"{best:03d}-restart-*.txt"))

    def solution(self, file: Path) -> Solution:
        """What one of the files holds; RecordError if it cannot be read."""
        try:
            return parse_solution(read_bytes(file, MOST_TEXT).decode(), file.name)
        except (OSError, UnicodeDecodeError):
            raise RecordError(f"cannot read the solution {file.name}") from None

    def best_over_time(self) -> list[tuple[float, int]]:
        """Seconds and best score so far: where it rises, and where the journal ends."""
        points: list[tuple[float, int]] = []
        for entry in sorted(self.journal.entries, key=lambda one: one.seconds):
            score = max(entry.scores)
            if not points or score > points[-1][1]:
                points.append((entry.seconds, score))
        if points:
            points.append((self.journal.seconds, points[-1][1]))
        return points

    def pieces_over_time(self) -> list[tuple[float, int]]:
        """Seconds and best score of each piece of work; of many, every n-th."""
        entries = self.journal.entries
        every = max(1, -(-len(entries) // MOST_POINTS))
        return [(entry.seconds, max(entry.scores)) for entry in entries[::every]]
