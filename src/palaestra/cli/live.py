"""A run on the terminal while it goes on: a live view, or plain lines on stderr where that is not a terminal.

Both are listeners of the loop's events and know nothing else of it.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from palaestra.learn import events
from palaestra.learn.events import Event, Metrics

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

SHOWN = 8  # iterations in the table
WIDTH, ANCHOR_WIDTH = 62, 25  # columns of the terminal that the table takes, and each anchor with its interval
STAGES = {
    "selfplay": "self-play",
    "training": "training",
    "gate": "gate",
    "evaluation": "evaluation",
    "saving": "saving",
}


class View:
    """What both views know: where the run is, and how long it will still take."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started: events.RunStarted | None = None
        self.clock = time.perf_counter()
        self.lines: list[Metrics] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, event: Event) -> None:
        if isinstance(event, events.RunStarted):
            self.started, self.lines = event, list(event.history)
            self.clock = time.perf_counter()
        elif isinstance(event, events.IterationEnded):
            self.lines.append(event.metrics)

    @property
    def seconds(self) -> float:
        """Of the run so far."""
        before = self.started.seconds if self.started else 0.0
        return before + time.perf_counter() - self.clock

    def share(self) -> float:
        """How much of the run is done, in [0, 1]."""
        if self.started is None:
            return 0.0
        config, shares = self.started.config, [0.0]
        if config.iterations is not None:
            shares.append(len(self.lines) / config.iterations)
        if config.minutes is not None:
            shares.append(self.seconds / (60 * config.minutes))
        return min(1.0, max(shares))

    def seconds_left(self) -> float | None:
        """An estimate; None before anything is known."""
        if self.started is None:
            return None
        config, left = self.started.config, []
        if config.minutes is not None:
            left.append(max(0.0, 60 * config.minutes - self.seconds))
        if config.iterations is not None and self.lines:
            recent = self.lines[-SHOWN:]
            mean = sum(sum(line["seconds"].values()) for line in recent) / len(recent)
            left.append(mean * (config.iterations - len(self.lines)))
        return min(left, default=None)


class PlainView(View):
    """One line an iteration."""

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        match event:
            case events.RunStarted():
                config = event.config
                done = f", {event.iteration} iterations done" if event.iteration else ""
                self.say(f"{config.game}, {config.net}, seed {config.seed}, in {event.folder}{done}")
            case events.IterationEnded():
                self.say(self.line(event.metrics))
            case events.Warned():
                self.say(f"note: {event.message}")

    def line(self, metrics: Metrics) -> str:
        losses = metrics["losses"]
        words = [
            f"iteration {metrics['iteration']}",
            f"{metrics['games']} games of {metrics['mean_plies']:.1f} plies",
            f"policy {number(losses['policy'])}, value {number(losses['value'])}",
        ]
        if metrics["gate"]:
            words.append(f"{'accepted' if metrics['gate']['accepted'] else 'rejected'}: {metrics['gate']['reason']}")
        if running := metrics.get("running_elo"):
            words.append(f"running Elo {running_words(running)}")
        words += [f"against {anchor} {elo_words(elo)}" for anchor, elo in (metrics["elo"] or {}).items()]
        words.append(f"{clock(self.seconds)}" + (f", {clock(left)} left" if (left := self.seconds_left()) else ""))
        return "; ".join(words)

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
        self.run = self.bars.add_task("run", total=1.0, words="")
        self.stage = self.bars.add_task("loading", total=None, words="")
        self.stage_began = time.perf_counter()
        self.stage_unit = ""
        self.live = Live(get_renderable=self.draw, console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        match event:
            case events.StageStarted():
                self.stage_began, self.stage_unit = time.perf_counter(), event.unit
                self.bars.reset(self.stage, description=STAGES[event.stage], total=event.total, words="")
            case events.StageProgress():
                rate = event.done / max(time.perf_counter() - self.stage_began, 1e-9)
                of = f" of {event.total:,}" if event.total else ""
                words = f"{event.done:,}{of} {self.stage_unit}, {rate:,.0f}/s"
                self.bars.update(self.stage, completed=event.done, total=event.total, words=words)
            case events.Warned():
                self.live.console.print(f"note: {event.message}", markup=False, soft_wrap=True)

    def draw(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        left = self.seconds_left()
        words = f"{len(self.lines)} iterations, {clock(self.seconds)}" + (f", {clock(left)} left" if left else "")
        self.bars.update(self.run, completed=self.share(), words=words)
        title = Text("Palaestra", style="bold")
        if self.started is not None:
            config = self.started.config
            title = Text(f"{config.game}, {config.net}, seed {config.seed}, in {self.started.folder}", style="bold")
        return Group(title, self.bars, iterations(self.lines, self.console.width))


def iterations(lines: list[Metrics], width: int) -> Table:
    """The last iterations, and the last evaluation before them so that there is always one to see.

    The running Elo has a column where `width` holds it beside the anchors'.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = lines[-SHOWN:]
    evaluated = [line for line in lines[:-SHOWN] if line["elo"]][-1:]
    shown = shown if any(line["elo"] for line in shown) else [*evaluated, *shown]
    anchors = list(dict.fromkeys(anchor for line in shown for anchor in line["elo"] or {}))
    gated = any(line["gate"] for line in shown)
    table = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    rated = any(line.get("running_elo") for line in shown) and width >= WIDTH + ANCHOR_WIDTH * len(anchors)
    headings = ["#", "games/s", "plies", "policy", "value", *(["gate"] if gated else [])]
    headings += ["running Elo"] if rated else []
    for name in headings:
        table.add_column(name, justify="right")
    for anchor in anchors:
        table.add_column(f"Elo against {anchor}", justify="right")
    for line in shown:
        cells = [
            str(line["iteration"]),
            f"{line['games'] / max(line['seconds']['selfplay'], 1e-9):,.0f}",
            f"{line['mean_plies']:.1f}",
            number(line["losses"]["policy"]),
            number(line["losses"]["value"]),
        ]
        if gated:
            cells.append(gate_words(line))
        if rated:
            cells.append(running_words(line.get("running_elo")))
        elo = line["elo"] or {}
        table.add_row(*cells, *(elo_words(elo[anchor]) if anchor in elo else "" for anchor in anchors))
    return table


def gate_words(line: Metrics) -> str:
    """ "✓ 21=4−15"."""
    gate = line["gate"]
    return "" if gate is None else f"{'✓' if gate['accepted'] else '✗'} {gate['wins']}={gate['draws']}−{gate['losses']}"


def running_words(running: Metrics | None) -> str:
    """ "+312 ±40", the larger half of the interval; nothing where there is none."""
    return "" if running is None else f"{running['elo']:+.0f} ±{max(running['plus'], running['minus']):.0f}"


def elo_words(elo: list[float | None]) -> str:
    """ "+312 (+240 to +420)"; what has no end is left open."""
    from palaestra.cli.evaluate import elo_in_words

    middle, low, high = elo
    return elo_in_words((middle, low, high))


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def clock(seconds: float) -> str:
    """ "2:05", "1:02:05"."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def make_view() -> View:
    """The live view on a terminal, plain lines elsewhere; both on stderr."""
    from palaestra.cli.output import stderr

    console = stderr()
    return LiveView(console) if console.is_terminal else PlainView(console)
