"""How `palaestra solve` looks while it runs, and its summary: the histogram of scores, and when each was first met.

Knows no search: a session's journal is all that is shown.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, Group
    from rich.table import Table

    from palaestra.lab.restarts import Restarts
    from palaestra.lab.solve_folder import Entry

ROWS = 14  # scores that are shown, the best of them
BAR = 30
REASONS = {
    "time": "the time is up",
    "restarts": "all restarts were made",
    "target": "the target is reached",
    "interrupt": "interrupted",
}


class SolveView:
    """One line on stderr for every score that is met for the first time above all others."""

    def __init__(self, session: Restarts, console: Console) -> None:
        self.session, self.console = session, console
        self.best = session.folder.journal.best

    def shown(self) -> AbstractContextManager[object]:
        """What is on the screen while the session runs; begins with its heading."""
        self.say(heading(self.session))
        return nullcontext()

    def heard(self, entry: Entry) -> None:
        """A restart ended."""
        best = max(entry.scores)
        if self.best is None or best > self.best:
            self.best = best
            self.say(f"{clock(entry.seconds)}  new best {best}, restart {restarts_of(entry)}")

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)


class LiveSolveView(SolveView):
    """The same journal as a picture that is redrawn in place, and gone at the end."""

    def __init__(self, session: Restarts, console: Console) -> None:
        super().__init__(session, console)
        from rich.live import Live

        self.live = Live(get_renderable=self.draw, console=console, refresh_per_second=4, transient=True)

    def shown(self) -> AbstractContextManager[object]:
        return self.live

    def heard(self, entry: Entry) -> None:
        return None

    def draw(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        session, now = self.session, time.perf_counter()
        left = session.seconds_left
        ages = [f"{first} ({clock(now - began)})" for first, began in sorted(session.under_way.copy().values())]
        under_way = f"under way: {', '.join(ages) or 'nothing'}; Ctrl-C ends"
        lines = [
            Text(heading(session), style="bold"),
            Text(standing(session) + (f", {clock(left)} left" if left is not None else "")),
            Text(under_way, style="dim", no_wrap=True, overflow="ellipsis"),
        ]
        return Group(*lines, histogram(session))


def make_solve_view(session: Restarts) -> SolveView:
    """The live view on a terminal, plain lines elsewhere; both on stderr."""
    from palaestra.cli.output import stderr

    console = stderr()
    return LiveSolveView(session, console) if console.is_terminal else SolveView(session, console)


def heading(session: Restarts) -> str:
    about, count = session.folder.journal.about, len(session.players)
    opening = f" after {about.opening}" if about.opening else ""
    threads = f"{count} thread{'s' * (count > 1)}"
    return f"{about.game}{opening}, {about.player}, seed {about.seed}, {threads}, in {session.folder.path}"


def standing(session: Restarts) -> str:
    """ "best 81, 203 restarts in 25:03, 8.1 a minute"."""
    journal, seconds = session.folder.journal, session.seconds
    made = sum(dict(journal.scores).values())
    best = "no restart has ended yet" if journal.best is None else f"best {journal.best}"
    rate = 60 * made / max(seconds, 1e-9)
    pace = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
    return f"{best}, {made:,} restarts in {clock(seconds)}, {pace} a minute"


def histogram(session: Restarts) -> Table:
    """The best scores, how often each was met, and after what time first."""
    from rich.table import Table

    counts, met = dict(session.folder.journal.scores), dict(session.folder.journal.first_met)
    total, most = sum(counts.values()), max(counts.values(), default=1)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("score", "restarts", "share", "first met"):
        table.add_column(name, justify="right")
    table.add_column("")
    shown = sorted(counts, reverse=True)
    for score in shown[:ROWS]:
        bar = "█" * max(1, round(BAR * counts[score] / most))
        share = f"{100 * counts[score] / total:.3g} %"
        table.add_row(str(score), f"{counts[score]:,}", share, clock(met[score]), bar)
    if rest := shown[ROWS:]:
        below = sum(counts[score] for score in rest)
        table.add_row(f"≤ {rest[0]}", f"{below:,}", f"{100 * below / total:.3g} %", "", "")
    return table


def print_summary(session: Restarts, plot: Path | None) -> None:
    """What was found, and where it is."""
    from shlex import quote

    from rich.text import Text

    from palaestra.cli.output import command_name, stdout

    console, files = stdout(), session.folder.best_files()
    console.print(Text(heading(session), style="bold"), soft_wrap=True)
    console.print(f"{standing(session)}; {REASONS[session.stopped_by]}", markup=False, soft_wrap=True)
    if files:
        console.print(histogram(session))
        kept = f"{len(files)} different solutions, the first" if files[1:] else "The best"
        console.print(f"{kept} is in {files[0]} and .svg; to verify it:", markup=False, soft_wrap=True)
        console.print(f"  {command_name()} check-solution {quote(str(files[0]))}", markup=False, soft_wrap=True)
    if session.stopped_by in ("time", "interrupt"):
        console.print("The same command again goes on from here.", markup=False)
    if plot is not None:
        console.print(f"Scores over time are in {plot}.", markup=False, soft_wrap=True)


def restarts_of(entry: Entry) -> str:
    """ "17", or "0 to 16383"."""
    return str(entry.restart) if entry.count == 1 else f"{entry.restart} to {entry.restart + entry.count - 1}"


def clock(seconds: float) -> str:
    """ "0:03", "1:02:05"."""
    from palaestra.cli.training_view import clock

    return clock(seconds)
