"""Elo over the minutes of a run: its networks at times that double, and fixed players, in one tournament."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palaestra.arena.rating_model import RatingConfig
from palaestra.arena.ratings import rate
from palaestra.arena.tournament import TournamentListener, play_tournament
from palaestra.games.base import Game
from palaestra.lab.mistake_curves import minutes_axis
from palaestra.lab.plots import BLUE, GREY, SIZE, STYLE
from palaestra.players.base import Player
from palaestra.players.registry import make_player

LABEL_SIZE, LABEL_HEIGHT = 7, 9  # points, of an anchor's name
PRIOR = 0.5  # networks of the first and of the last minute are far apart (`RatingConfig`)


@dataclass(frozen=True)
class Rated:
    """A player of the tournament: a network of the run, or an anchor. Elo with its 95 % interval."""

    player: str
    elo: float
    low: float
    high: float
    iteration: int | None = None  # of the network
    minutes: float | None = None  # of the run when it was made


def elo_curve(
    game: Game,
    agents: Mapping[int, Player],
    minutes: Mapping[int, float],
    anchors: Sequence[str],
    games: int,
    *,
    seed: int,
    threads: int,
    listen: TournamentListener | None = None,
) -> list[Rated]:
    """The networks by iteration and then the anchors, of which the last has Elo 0."""
    fixed = [make_player(anchor, game) for anchor in anchors]
    players = [*agents.values(), *fixed]
    played = play_tournament(game, players, games, seed=seed, threads=threads, listen=listen)
    ratings = rate(played.results, RatingConfig(anchor=(fixed[-1].text, 0.0), prior=PRIOR))
    rated: list[Rated] = []
    for number, iteration in enumerate([*agents, *(None for _ in fixed)]):
        elo = float(ratings.elo[number])
        interval = elo - float(ratings.minus[number]), elo + float(ratings.plus[number])
        at = None if iteration is None else minutes[iteration]
        rated.append(Rated(players[number].text, elo, *interval, iteration, at))
    return rated


def strength_figure(rated: Sequence[Rated]) -> Figure:
    """The networks as a curve, the anchors as lines across."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        draw_strength(axes, rated)
        axes.set_ylabel("Elo")
    return figure


def draw_strength(axes: Axes, rated: Sequence[Rated]) -> None:
    networks = [(one, one.minutes) for one in rated if one.minutes is not None]
    minutes, elo = np.array([at for _, at in networks]), np.array([one.elo for one, _ in networks])
    below, above = (np.array([getattr(one, end) for one, _ in networks]) for end in ("low", "high"))
    axes.plot(minutes, elo, color=BLUE, marker="o", markersize=3.5, linewidth=1.5)
    axes.fill_between(minutes, below, above, color=BLUE, alpha=0.15, linewidth=0)
    anchors = sorted((one for one in rated if one.minutes is None), key=lambda one: -one.elo)
    for anchor in anchors:
        axes.axhline(anchor.elo, color=GREY, linewidth=0.9, linestyle="--", zorder=1.1)  # the curve lies above
    least, most = axes.get_ylim()
    gap = (most - least) * LABEL_HEIGHT / 72 * axes.figure.dpi / axes.get_window_extent().height
    for anchor, place in zip(anchors, spread([one.elo for one in anchors], gap), strict=True):
        axes.annotate(
            anchor.player, (1, place), xycoords=("axes fraction", "data"), ha="right", va="center",
            fontsize=LABEL_SIZE, color=GREY, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3}, zorder=1.2,
        )  # fmt: skip
    minutes_axis(axes, minutes)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Descending places, moved down as far as is needed for each to be `gap` below the one before."""
    moved: list[float] = []
    for place in places:
        moved.append(min(place, moved[-1] - gap) if moved else place)
    return moved
