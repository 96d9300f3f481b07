"""A run on the terminal while it goes on: a live view, or plain lines on stderr where that is not a terminal.

Both are listeners of the loop's events and know nothing else of it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from palaestra.arena.statistics import elo_in_words
from palaestra.learn import events
from palaestra.learn.events import Event
from palaestra.live.line_words import ages_words, gate_words, line_in_words, number, running_words, workers_words
from palaestra.live.run import STAGES, RunProgress
from palaestra.live.words import clock
from palaestra.runs.metrics import MetricsLine

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table
    from rich.text import Text

SHOWN = 8  # iterations in the table
WIDTH, ANCHOR_WIDTH = 62, 25  # columns of the terminal that the table takes, and each anchor with its interval
DEMERITS_WIDTH = 10


class View(RunProgress):
    """A run in progress, shown."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def shown(self) -> AbstractContextManager[object]:
        """What is on the screen while the run goes on."""
        return nullcontext()


class PlainView(View):
    """One line an iteration."""

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        match event:
            case events.RunStarted():
                done = f", {event.iteration} iterations done" if event.iteration else ""
                self.say(f"{self.title}{done}")
            case events.IterationEnded():
                self.say(self.line(event.metrics))
            case events.Warned():
                self.say(f"note: {event.message}")

    def line(self, metrics: MetricsLine) -> str:
        left = self.seconds_left()
        return f"{line_in_words(metrics)}; {clock(self.seconds)}" + (f", {clock(left)} left" if left else "")

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)


class LiveView(View):
    """Bars for the run and its stage, and a table of the last iterations; redrawn in place, gone at the end."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description:<10}", style="bold"),
            BarColumn(bar_width=36),
            TextColumn("{task.fields[words]}"),
        )
        self.bars = Progress(*columns, console=console)
        self.run_bar = self.bars.add_task("run", total=1.0, words="")
        self.stage_bar = self.bars.add_task("loading", total=None, words="")
        self.live = Live(get_renderable=self.draw, console=console, refresh_per_second=8, transient=True)

    def shown(self) -> AbstractContextManager[object]:
        return self.live

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        match event:
            case events.StageStarted():
                self.bars.reset(self.stage_bar, description=STAGES[event.stage], total=event.total, words="")
            case events.StageProgress():
                of = f" of {event.total:,}" if event.total else ""
                unit = "" if self.stage is None else self.stage.unit
                words = f"{event.done:,}{of} {unit}, {self.stage_rate:,.0f}/s"
                self.bars.update(self.stage_bar, completed=event.done, total=event.total, words=words)
            case events.Warned():
                self.live.console.print(f"note: {event.message}", markup=False, soft_wrap=True)

    def draw(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        left = self.seconds_left()
        words = f"{len(self.lines)} iterations, {clock(self.seconds)}" + (f", {clock(left)} left" if left else "")
        self.bars.update(self.run_bar, completed=self.share(), words=words)
        table = iterations(self.lines, self.console.width)
        return Group(Text(self.title, style="bold"), self.bars, *self.workers(), table)

    def workers(self) -> list[Text]:
        """Who plays, how fast each is, and how old their networks are; nothing before that is known."""
        from rich.text import Text

        ages = self.lines[-1].ages if self.lines else None
        words = [workers_words(self.speeds)] if self.speeds else []
        words += [ages_words(ages)] if ages is not None else []
        return [Text("; ".join(words), style="dim")] if words else []


def iterations(lines: list[MetricsLine], width: int) -> Table:
    """The last iterations, and the last evaluation before them so that there is always one to see.

    The running Elo has a column where `width` holds it beside the anchors'.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = lines[-SHOWN:]
    evaluated = [line for line in lines[:-SHOWN] if line.is_evaluated][-1:]
    shown = shown if any(line.is_evaluated for line in shown) else [*evaluated, *shown]
    if any(line.scores for line in shown):
        return solo_iterations(shown)
    anchors = list(dict.fromkeys(anchor for line in shown for anchor in line.elo or {}))
    gated = any(line.gate for line in shown)
    table = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    counted = any(line.demerits for line in shown)
    taken = WIDTH + DEMERITS_WIDTH * counted + ANCHOR_WIDTH * len(anchors)
    rated = any(line.running_elo for line in shown) and width >= taken
    headings = ["#", "games/s", "plies", "policy", "value", *(["gate"] if gated else [])]
    headings += ["demerits"] if counted else []
    headings += ["running Elo"] if rated else []
    for name in headings:
        table.add_column(name, justify="right")
    for anchor in anchors:
        table.add_column(f"Elo against {anchor}", justify="right")
    for line in shown:
        cells = [
            str(line.iteration),
            f"{line.games / max(line.seconds.selfplay, 1e-9):,.0f}",
            f"{line.mean_plies:.1f}",
            number(line.losses.policy),
            number(line.losses.value),
        ]
        if gated:
            cells.append(gate_words(line))
        if counted:
            cells.append(f"{line.demerits.demerits:.2f}" if line.demerits else "")
        if rated:
            cells.append(running_words(line.running_elo))
        elo = line.elo or {}
        table.add_row(*cells, *(elo_in_words(elo[anchor]) if anchor in elo else "" for anchor in anchors))
    return table


def solo_iterations(lines: list[MetricsLine]) -> Table:
    """Iterations of a game for one player: scores of self-play and deep search, the threshold, and evaluations."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for name in ("#", "games/s", "mean", "highest", "deep", "best", "to beat", "explore", "policy", "value"):
        table.add_column(name, justify="right")
    evaluated = any(line.score for line in lines)
    if evaluated:
        table.add_column("with search", justify="right")
    for line in lines:
        scores, score = line.scores, line.score
        if scores is None:
            continue
        cells = [
            str(line.iteration),
            f"{line.games / max(line.seconds.selfplay + (line.seconds.deep or 0.0), 1e-9):,.1f}",
            f"{scores.mean:.1f}",
            str(scores.highest),
            str(scores.deep.highest) if scores.deep else "",
            str(scores.best),
            f"{line.ranked.threshold:g}" if line.ranked else "–",
            f"×{line.exploration or 1.0:.2f}",
            number(line.losses.policy),
            number(line.losses.value),
        ]
        judged = f"{score.mean:.1f}, best {score.best}" if score else ""
        table.add_row(*cells, *([judged] if evaluated else []))
    return table


def make_view() -> View:
    """The live view on a terminal, plain lines elsewhere; both on stderr."""
    from palaestra.cli.output import stderr

    console = stderr()
    return LiveView(console) if console.is_terminal else PlainView(console)
