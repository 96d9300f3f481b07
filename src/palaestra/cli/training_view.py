"""A run on the terminal while it goes on: a live view, or plain lines on stderr where that is not a terminal.

Both are listeners of the loop's events and know nothing else of it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from palaestra.learn import events
from palaestra.learn.events import Event
from palaestra.live.run import STAGES, RunProgress
from palaestra.live.words import clock, mean_in_words
from palaestra.runs.metrics import Elo, MetricsLine, RunningElo, Score

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

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
        words = [
            f"iteration {metrics.iteration}",
            f"{metrics.games} games of {metrics.mean_plies:.1f} plies",
            f"policy {number(metrics.losses.policy)}, value {number(metrics.losses.value)}",
        ]
        if metrics.gate is not None:
            words.append(f"{'accepted' if metrics.gate.accepted else 'rejected'}: {metrics.gate.reason}")
        if metrics.demerits is not None:
            words.append(f"{metrics.demerits.demerits:.2f} demerits")
        if metrics.running_elo is not None:
            words.append(f"running Elo {running_words(metrics.running_elo)}")
        words += [f"against {anchor} {elo_words(elo)}" for anchor, elo in (metrics.elo or {}).items()]
        words += solo_words(metrics)
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
        return Group(Text(self.title, style="bold"), self.bars, iterations(self.lines, self.console.width))


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
        table.add_row(*cells, *(elo_words(elo[anchor]) if anchor in elo else "" for anchor in anchors))
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


def solo_words(metrics: MetricsLine) -> list[str]:
    """What a line says of a game for one player only."""
    scores, ranked, score = metrics.scores, metrics.ranked, metrics.score
    if scores is None:
        return []
    words = [f"score {scores.mean:.1f}, at most {scores.highest}, best so far {scores.best}"]
    words += [f"{ranked.threshold:g} to beat"] if ranked else []
    words += [f"deep search {scores.deep.highest}"] if scores.deep else []
    words += [f"exploring ×{metrics.exploration:.2f}"] if (metrics.exploration or 1.0) > 1 else []
    words += [f"{one.player} {score_words(one)}" for one in ([score, *score.anchors] if score else [])]
    return words


def score_words(score: Score) -> str:
    """ "61.3 (60.1–62.5), best 66"."""
    return f"{mean_in_words(score.mean, score.low, score.high)}, best {score.best}"


def gate_words(line: MetricsLine) -> str:
    """ "✓ 21=4−15"."""
    gate = line.gate
    return "" if gate is None else f"{'✓' if gate.accepted else '✗'} {gate.wins}={gate.draws}−{gate.losses}"


def running_words(running: RunningElo | None) -> str:
    """ "+312 ±40", the larger half of the interval; nothing where there is none."""
    return "" if running is None else f"{running.elo:+.0f} ±{max(running.plus, running.minus):.0f}"


def elo_words(elo: Elo) -> str:
    """ "+312 (+240 to +420)"; what has no end is left open."""
    from palaestra.arena.statistics import elo_in_words

    return elo_in_words(elo)


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def make_view() -> View:
    """The live view on a terminal, plain lines elsewhere; both on stderr."""
    from palaestra.cli.output import stderr

    console = stderr()
    return LiveView(console) if console.is_terminal else PlainView(console)
