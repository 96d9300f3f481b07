"""docs/strength.md and its picture, made from the cards of the agents of the package: how strong after how long?

python -m palaestra.lab.strength_page docs/strength.svg > docs/strength.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from palaestra.lab.experiment import Table
from palaestra.lab.plots import STYLE
from palaestra.lab.rating_plots import save_figure
from palaestra.lab.strength_curves import Rated, draw_strength
from palaestra.players.shipped import Card, Elo, cards

PANEL = (3.0, 2.3)  # inches
COLUMNS = 3
MINUTES = (1, 5, 30, 120)  # that the table asks about
INTRO = """# How strong after how long?

What a run of each game has reached after some minutes, by the agents that come with the package
([Agents of the package](players.md#agents-of-the-package)). Elo is above `random`, with its 95 % interval, from one
tournament a game, with the simulations of `hard`. Minutes are those that the run's threads computed, so that what else
the machine did does not count. Every curve is one run of one seed: another seed differs, as does another machine. The
learning rate falls towards the end of a run, so that a run planned for 5 minutes is stronger after 5 minutes than one
that goes on. Games without an agent are missing. Made by `make pages` from the cards; do not edit.
"""


def make_page(found: Mapping[str, Card], picture: str) -> str:
    """The page; `picture` is where the picture lies, seen from it."""
    curves = [card for card in found.values() if card.curve]
    heads = ("game", *(f"{minutes} min" for minutes in MINUTES), "at the end", "uct(1000)")
    table = Table(heads, tuple(_row(card) for card in curves))
    ways = Table(
        ("game", "network", "minutes", "threads", "mistakes, %", "command"),
        tuple(
            (card.game, card.net, f"{card.minutes:.1f}", str(card.threads), _mistakes(card), f"`{card.command}`")
            for card in curves
        ),
    )
    note = (
        "An empty cell: the run had no network yet, or had ended before. A run with `--from` began with the weights\n"
        "of a smaller board's agent, whose minutes are not counted.\n"
    )
    shown = f"![Elo over minutes, a panel a game]({picture})\n"
    return "\n".join([INTRO, shown, table.markdown(), note, "## How they were made\n", ways.markdown()])


def _row(card: Card) -> tuple[str, ...]:
    cells = []
    for minutes in MINUTES:
        # A run of 20 minutes says nothing of what 30 would give.
        stage = card.after(minutes) if minutes <= math.ceil(card.curve[-1].minutes) else None
        cells.append("" if stage is None else _elo(stage))
    last = card.curve[-1]
    return (card.game, *cells, f"{_elo(last)} after {last.minutes:.0f} min", _elo(card.anchors[-1]))


def _mistakes(card: Card) -> str:
    """ "all positions of hex-5x5, 0 simulations: 1.2; … 400 simulations: 0.1"."""
    return "; ".join(f"{where}: {rate:g}" for where, rate in card.mistakes.items())


def _elo(one: Elo) -> str:
    return f"{one.elo:.0f} ({one.elo - one.minus:.0f} to {one.elo + one.plus:.0f})"


def strength_panels(found: Mapping[str, Card]) -> Figure:
    """A panel a game, drawn as the curve of any run."""
    curves = [card for card in found.values() if card.curve]
    rows = math.ceil(len(curves) / COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(PANEL[0] * COLUMNS, PANEL[1] * rows), layout="constrained")
        for number, card in enumerate(curves, start=1):
            axes = figure.add_subplot(rows, COLUMNS, number)
            draw_strength(axes, _rated(card))
            axes.set_title(card.game, fontsize=9, loc="left")
            if number % COLUMNS == 1:
                axes.set_ylabel("Elo above random")
    return figure


def _rated(card: Card) -> list[Rated]:
    def with_interval(player: str, one: Elo) -> Rated:
        return Rated(player, one.elo, one.elo - one.minus, one.elo + one.plus)

    stages = [replace(with_interval(card.text(), one), minutes=one.minutes) for one in card.curve]
    return [*stages, *(with_interval(one.player, one) for one in card.anchors)]


def main(picture: str) -> None:
    """Print the page and draw its picture."""
    found = cards()
    save_figure(strength_panels(found), Path(picture))
    print(make_page(found, Path(picture).name))


if __name__ == "__main__":
    main(sys.argv[1])
