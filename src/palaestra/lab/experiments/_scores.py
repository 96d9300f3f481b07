"""What Tables 5.1 and 6.1 share: cells that are scores of matches in percent, beside published ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from palaestra.lab.data import Data
from palaestra.lab.experiment import Published, Table
from palaestra.lab.statistics import Estimate, pooled_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def percent(data: Data) -> Estimate:
    """The score of some rows of matches."""
    return pooled_score(data).times(100)


def score_table(known: Sequence[Published], what: str) -> Callable[[Data], Table]:
    """A row for each published cell; `what` is the heading of the arms."""

    def row(data: Data, cell: Published) -> tuple[str, ...]:
        some = data.where(game=cell.game, arm=cell.arm)
        won, drawn, lost, distinct = (
            f"{some.total(name):.0f}" for name in ("wins", "draws", "losses", "distinct_games")
        )
        return cell.game, cell.arm, str(percent(some)), f"{won} {drawn} {lost}", f"{cell.value:g}", distinct

    heads = ("game", what, "score, % (95 %)", "+ = −", "published, %", "distinct games")
    return lambda data: Table(heads, tuple(row(data, cell) for cell in known))


def draw_scores(known: Sequence[Published], y: str) -> Callable[[Data], Figure]:
    """A panel a game, a point an arm, and crosses where the published cells are."""

    def draw(data: Data) -> Figure:
        from palaestra.lab.experiment_plots import estimates_figure

        panels = {
            game: {arm: {"here": percent(rows)} for arm, rows in some.by("arm").items()}
            for game, some in data.by("game").items()
        }
        crosses = {(cell.game, cell.arm, "here"): cell.value for cell in known}
        return estimates_figure(panels, y, published=crosses, level=50.0, limits=(-3, 103))

    return draw
