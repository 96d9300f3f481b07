"""Who stands where: cross table and ratings as parts of a page. Every text is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.ratings import Ratings
from palaestra.arena.statistics import score_of
from palaestra.base.printable import escape
from palaestra.live.ratings import how_in_words
from palaestra.live.words import percent

TICKS = 4  # of the scale below the whiskers, at most
MOST_SHOWN = 200  # players of a table


def crosstable_html(table: Crosstable) -> str:
    """Percents of the row's player against the column's, the best player first; a darker cell is a better score."""
    order = table.standings()[:MOST_SHOWN]
    heads = "".join(f'<th scope="col" title="{escape(table.players[row])}">{n}</th>' for n, row in enumerate(order, 1))
    rows = []
    for place, row in enumerate(order, start=1):
        cells = "".join(_cell(table, row, column) for column in order)
        rows.append(
            f'<tr><th scope="row"><span class="pc-place">{place}</span>{_name(table.players[row])}</th>'
            f"{cells}{_total(table, row)}</tr>"
        )
    head = f'<tr><th scope="col">player</th>{heads}<th scope="col">score</th><th scope="col">games</th></tr>'
    return f'<table class="pc-cross"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(table: Crosstable, row: int, column: int) -> str:
    if row == column:
        return '<td class="pc-self">·</td>'
    tally = table.tallies.get((row, column))
    if tally is None or not sum(tally):
        return '<td class="pc-none"></td>'
    score = score_of(*tally)
    wins, draws, losses = tally
    words = f"{table.players[row]} against {table.players[column]}: +{wins} ={draws} −{losses}"
    kind = "pc-good" if score >= 0.5 else "pc-bad"
    depth = round(abs(score - 0.5) * 2 * 60)
    return (
        f'<td class="{kind}" style="--depth: {depth}%" title="{escape(words)}"><b>{100 * score:.0f}</b>'
        f"<small>{wins}–{draws}–{losses}</small></td>"
    )


def _total(table: Crosstable, row: int) -> str:
    games = sum(table.total(row))
    if not games:
        return '<td class="pc-total">–</td><td>0</td>'
    low, high = table.interval(row)
    between = f"<small>{100 * low:.0f}–{100 * high:.0f}</small>"
    return f'<td class="pc-total"><b>{100 * table.score(row):.1f} %</b>{between}</td><td>{games:,}</td>'


def ratings_html(ratings: Ratings, brief: bool = False) -> str:
    """A row for each player, best first: Elo, its 95 % interval drawn on one scale; games and score unless `brief`."""
    order = [i for i in ratings.order() if ratings.games[i]]
    without = [i for i in ratings.order() if not ratings.games[i]]
    if not order:
        return '<p class="p-soft">No game has ended yet.</p>'
    ends = [(ratings.elo[i] - ratings.minus[i], ratings.elo[i] + ratings.plus[i]) for i in order]
    scale = Scale.over([float(x) for pair in ends for x in pair])
    rows = []
    for place, i in enumerate(order[:MOST_SHOWN], start=1):
        elo, low, high = float(ratings.elo[i]), float(ends[place - 1][0]), float(ends[place - 1][1])
        rows.append(
            f'<tr><th scope="row"><span class="pc-place">{place}</span>{_name(ratings.players[i])}</th>'
            f'<td class="pc-elo"><b>{_signed(elo)}</b><small>{_signed(low)} to {_signed(high)}</small></td>'
            f'<td class="pc-span">{scale.whisker(elo, low, high)}</td>'
            f"{'' if brief else _played(ratings, i)}</tr>"
        )
    rows += [
        f'<tr><th scope="row"><span class="pc-place"></span>{_name(ratings.players[i])}</th>'
        f'<td class="pc-elo">–</td><td></td>{"" if brief else "<td>0</td><td></td>"}</tr>'
        for i in without[:MOST_SHOWN]
    ]
    more = "" if brief else '<th scope="col">games</th><th scope="col">score</th>'
    head = (
        '<tr><th scope="col">player</th><th scope="col">Elo (95 %)</th><th scope="col" class="pc-span"></th>'
        f"{more}</tr>"
    )
    foot = f'<tr><td></td><td></td><td class="pc-span">{scale.axis()}</td>{"" if brief else "<td></td><td></td>"}</tr>'
    left = len(order) + len(without) - MOST_SHOWN
    notes = [how_in_words(ratings), *(f"Note: {note}." for note in ratings.notes())]
    notes += [f"The best {MOST_SHOWN} are shown, and {left:,} more are rated."] if left > 0 else []
    shown = "".join(f'<p class="p-soft">{escape(note)}</p>' for note in notes)
    body = f"<tbody>{''.join(rows)}</tbody><tfoot>{foot}</tfoot>"
    return f'<div class="p-scroll"><table class="pc-ratings"><thead>{head}</thead>{body}</table></div>{shown}'


def _played(ratings: Ratings, i: int) -> str:
    return f"<td>{int(ratings.games[i]):,}</td><td>{percent(float(ratings.score[i]))}</td>"


class Scale:
    """A scale from a round number to a round number, as parts of a hundred."""

    def __init__(self, low: float, high: float, step: float) -> None:
        self.low, self.high, self.step = low, high, step

    @classmethod
    def over(cls, values: Sequence[float]) -> Scale:
        """The smallest scale with round ends that holds all values."""
        low, high = min(values), max(values)
        rough = max((high - low) / TICKS, 1e-9)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * size for size in (1, 2, 5, 10) if power * size >= rough * 0.999)
        return cls(math.floor(low / step) * step, math.ceil(high / step) * step or step, step)

    def place(self, value: float) -> float:
        return 100 * (value - self.low) / (self.high - self.low)

    def whisker(self, value: float, low: float, high: float) -> str:
        """A dot in its interval."""
        left, right = self.place(low), self.place(high)
        line = f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        dot = f'<u style="left:{self.place(value):.2f}%"></u>'
        return f'<div class="pc-whisker" style="{self._lines()}">{line}{dot}</div>'

    def axis(self) -> str:
        count = round((self.high - self.low) / self.step)
        marks = (self.low + number * self.step for number in range(count + 1))
        shown = "".join(f'<span style="left:{self.place(mark):.2f}%">{_signed(mark)}</span>' for mark in marks)
        return f'<div class="pc-axis" aria-hidden="true">{shown}</div>'

    def _lines(self) -> str:
        count = max(1, round((self.high - self.low) / self.step))
        return f"--lines: {100 / count:.4f}%"


def breakable(text: str) -> str:
    """A player's text that may be broken after a bracket or a comma, and nowhere else."""
    return re.sub(r"([(,@])", r"\1<wbr>", escape(text))


def _name(player: str) -> str:
    return f'<span class="pc-name" title="{escape(player)}">{breakable(player)}</span>'


def _signed(value: float) -> str:
    return f"{round(value)}".replace("-", "−")
