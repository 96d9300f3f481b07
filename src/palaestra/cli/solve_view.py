"""How `palaestra solve` looks while it runs, and its summary: the histogram of scores, and when each was first met.

Knows no search: a session's journal is all that is shown.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from palaestra.live.words import clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console, Group
    from rich.table import Table

    from palaestra.lab.solve_folder import Entry
    from palaestra.live.solving import SolveSession

ROWS = 14  # scores that are shown, the best of them
BAR = 30


class SolveView:
    """One line on stderr for every score that is met for the first time above all others."""

    def __init__(self, session: SolveSession, console: Console) -> None:
        self.session, self.console = session, console
        self.best = session.folder.journal.best

    def shown(self) -> AbstractContextManager[object]:
        """What is on the screen while the session runs; begins with its heading."""
        self.say(self.session.title)
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

    def __init__(self, session: SolveSession, console: Console) -> None:
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
        left = session.restarts.seconds_left
        waiting = sorted(session.restarts.under_way.copy().values())
        ages = [f"{first} ({clock(now - began)})" for first, began in waiting]
        under_way = f"under way: {', '.join(ages) or 'nothing'}; Ctrl-C ends"
        lines = [
            Text(session.title, style="bold"),
            Text(session.standing + (f", {clock(left)} left" if left is not None else "")),
            Text(under_way, style="dim", no_wrap=True, overflow="ellipsis"),
        ]
        return Group(*lines, histogram(session))


def shown(session: SolveSession) -> tuple[AbstractContextManager[object], Callable[[Entry], None]]:
    """The live view on a terminal, plain lines elsewhere, both on stderr; and what hears of every piece of work."""
    from palaestra.cli.output import stderr

    console = stderr()
    view = LiveSolveView(session, console) if console.is_terminal else SolveView(session, console)
    return view.shown(), view.heard


def histogram(session: SolveSession) -> Table:
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


def print_summary(session: SolveSession, plot: Path | None) -> None:
    """What was found, and where it is."""
    from shlex import quote

    from rich.text import Text

    from palaestra.cli.output import command_name, stdout
    from palaestra.live.solving import REASONS

    console, files, ended = stdout(), session.solutions, session.restarts.stopped_by
    console.print(Text(session.title, style="bold"), soft_wrap=True)
    console.print(f"{session.standing}; {REASONS[ended]}", markup=False, soft_wrap=True)
    if files:
        console.print(histogram(session))
        kept = f"{len(files)} different solutions, the first" if files[1:] else "The best"
        console.print(f"{kept} is in {files[0]} and .svg; to verify it:", markup=False, soft_wrap=True)
        console.print(f"  {command_name()} check-solution {quote(str(files[0]))}", markup=False, soft_wrap=True)
    if ended in ("time", "interrupt"):
        console.print("The same command again goes on from here.", markup=False)
    if plot is not None:
        console.print(f"Scores over time are in {plot}.", markup=False, soft_wrap=True)


def restarts_of(entry: Entry) -> str:
    """ "17", or "0 to 16383"."""
    return str(entry.restart) if entry.count == 1 else f"{entry.restart} to {entry.restart + entry.count - 1}"
