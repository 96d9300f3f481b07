"""Chapter 4 of the thesis, Figures 4.2 to 4.8: four losses are measured while one of them is minimised.

The chapter finds that learning from the value's loss alone makes the strongest players on most boards. All figures look
at the same runs. Final losses and ratings that were published come from much longer runs, so the claims are about
which loss ends lower and which player is stronger, not about the numbers themselves (sources: losses of chapter 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Experiment, Published, Table, Verdict
from palaestra.lab.experiments._losses import (
    BOARDS,
    LOSSES,
    MISTAKE_HEADS,
    MISTAKES,
    PRESET,
    SCALES,
    elo_estimates,
    elo_of_losses,
    ends_with,
    four_losses,
    mistakes,
    read_losses,
    strongest,
)
from palaestra.lab.measures import Curves, Tournament
from palaestra.lab.statistics import best_chances, bounded, least_difference, mean, paired_difference, spearman

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = dict(zip(("fig-4.2", "fig-4.3", "fig-4.4", "fig-4.5", "fig-4.6"), BOARDS, strict=False))
ALIKE = 0.1  # a difference of losses below it is small
SMALL_LEAD = 30.0  # Elo: a difference below it is small
LOW = 0.1  # what the chapter calls a very low loss of the value, from the beginning

# What losses end with, as the text of chapter or paper says: (board, minimised) -> policy's loss, value's loss.
ENDS = {
    ("othello-5x5", "policy"): (0.6, 1.0),
    ("othello-5x5", "value"): (3.3, 0.2),
    ("othello-5x5", "sum"): (0.5, 0.0),
    ("othello-5x5", "product"): (0.5, 0.0),
    ("othello-6x6", "policy"): (0.75, 1.05),
    ("othello-6x6", "value"): (None, 0.25),
    ("othello-6x6", "sum"): (0.4, 0.2),
    ("connect_four-5x5", "policy"): (0.6, 0.2),
    ("connect_four-5x5", "value"): (1.6, 0.15),
    ("connect_four-5x5", "sum"): (None, 0.0),
    ("connect_four-5x5", "product"): (None, 0.0),
    ("connect_four-6x6", "policy"): (0.7, 0.4),
    ("gobang-5x5", "policy"): (1.25, 0.5),
}
# Elo in the released rating lists, the mean over a loss's eight entries; all 33 players have a mean of 0.
RATED = {
    "othello-5x5": {"product": 45, "value": 36, "policy": 26, "sum": -15},
    "othello-6x6": {"value": 415, "product": 61, "sum": -47, "policy": -320},
    "connect_four-5x5": {"value": 325, "product": 21, "sum": -103, "policy": -177},
    "connect_four-6x6": {"value": 405, "policy": -39, "product": -70, "sum": -194},
}
BEST = {"othello-6x6": "value", "connect_four-5x5": "value", "connect_four-6x6": "value", "gobang-6x6": "policy"}


def _above(text: str, loss: str, one: str, other: str) -> Claim:
    """A measured loss ends higher when `one` is minimised than when `other` is."""

    def check(data: Data) -> Verdict:
        higher, lower = (ends_with(data.where(arm=name), loss) for name in (one, other))
        return Verdict.above(paired_difference(higher, lower), 0.0, f"{loss}'s loss, {one} minus {other} minimised")

    return Claim(text, check)


def _alike(data: Data) -> Verdict:
    one, other = (ends_with(data.where(arm=name), "policy") for name in ("sum", "product"))
    return Verdict.within(paired_difference(one, other), ALIKE, "policy's loss, sum minus product minimised")


def _low_at_once(data: Data) -> Verdict:
    _, curves = data.where(arm="value").curve("value")
    return Verdict.below(mean(curves[:, :5].mean(axis=1)), LOW, "value's loss in the first 5 iterations")


def _loss_claims(game: str) -> tuple[Claim, ...]:
    claims = (
        _above("minimising the value's loss alone leaves the policy's high", "policy", "value", "sum"),
        _above("minimising the policy's loss alone leaves the value's high", "value", "policy", "sum"),
        Claim(f"sum and product lead to the same losses (here: within {ALIKE:g})", _alike),
    )
    low = Claim(f"minimised alone, the value's loss is below {LOW:g} at once", _low_at_once)
    return (*claims, low) if game.startswith("gobang") else claims


def _loss_table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        for minimised, runs in some.by("arm").items():
            cells = (str(mean(ends_with(runs, loss))) for loss in LOSSES)
            known = ENDS.get((game, minimised), (None, None))
            words = (
                f"{name} {value:g}" for name, value in zip(("policy", "value"), known, strict=True) if value is not None
            )
            rows.append((game, minimised, *cells, ", ".join(words) or "–"))
    return Table(("game", "minimised", *LOSSES, "published"), tuple(rows))


def _draw_losses(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels = {
        f"{minimised} minimised": {loss: runs.curve(loss) for loss in LOSSES}
        for minimised, runs in data.by("arm").items()
    }
    return curves_figure(panels, "iteration", "mean loss", limits=(0, None))


def _losses(id: str, game: str) -> Experiment:
    return Experiment(
        identity=published(id),
        arms=four_losses(game),
        scales=SCALES,
        measures=(Curves(PRESET, read_losses),),
        claims=_loss_claims(game),
        table=_loss_table,
        draw=_draw_losses,
        published=tuple(
            Published(minimised, game, value, "losses of chapter 4", f"{loss}'s loss at the end")
            for (board, minimised), values in ENDS.items()
            for loss, value in zip(("policy", "value"), values, strict=True)
            if board == game and value is not None
        ),
        reading="the plain sum of both means is Eq. 3.1; the product is that of the two means of a batch",
    )


# Figure 4.7: the Elo that runs give themselves.


def _running(data: Data, game: str) -> Data:
    return data.where(measured="curve", game=game)


def _last_elo(runs: Data) -> list[float]:
    """The running Elo of every seed's last network; those without any match of networks are left out."""
    return [float(known[-1]) for one in runs.by("seed").values() if (known := _known(one)).size]


def _known(data: Data) -> Float64s:
    numbers = data.numbers("running_elo")
    return numbers[np.isfinite(numbers)]


def _ends(data: Data, game: str) -> dict[str, Float64s]:
    """loss -> running Elo float64[S] of the last networks; empty where a run of the board has none."""
    found = {loss: np.array(_last_elo(_running(data, game).where(arm=loss))) for loss in LOSSES}
    seeds = len(_running(data, game).unique("seed"))
    return found if seeds and all(len(one) == seeds for one in found.values()) else {}


def _rises(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        if not (ends := _ends(data, game)):
            return Verdict.open(f"not all runs of {game} have a running Elo")
        least, slowest = least_difference({loss: (elos, np.zeros(len(elos))) for loss, elos in ends.items()})
        return Verdict.above(least, 0.0, f"running Elo at the end, {slowest}, the slowest")

    return Claim(f"the running Elo rises for every loss at {game}", check)


def _rises_fastest(text: str, game: str, *ones: str) -> Claim:
    """The running Elo ends higher with some losses than with each of the others."""

    def check(data: Data) -> Verdict:
        if not (ends := _ends(data, game)):
            return Verdict.open(f"not all runs of {game} have a running Elo")
        others = [loss for loss in LOSSES if loss not in ones]
        pairs = {f"{one} minus {other}": (ends[one], ends[other]) for one in ones for other in others}
        least, closest = least_difference(pairs)
        return Verdict.above(least, 0.0, f"running Elo at the end, {closest}, which comes closest")

    return Claim(f"{text} at {game}", check)


def _falls(data: Data) -> Verdict:
    if not (ends := _ends(data, "connect_four-5x5")):
        return Verdict.open("not all runs of connect_four-5x5 have a running Elo")
    return Verdict.below(mean(np.mean(list(ends.values()), axis=0)), 0.0, "running Elo at the end, mean of all losses")


def _misleads(data: Data) -> Verdict:
    """Whether the running Elo of a run's last network says how strong that network is beside those of other runs."""
    found = []
    for game in data.texts("game"):
        own, true = _ends(data, game), elo_of_losses(data, game)
        if own and len(true) == len(own):
            both = ([some[loss] for loss in LOSSES] for some in (own, true))
            found.append(spearman(*(np.concatenate(one) for one in both)).value)
    what = f"rank correlation of running Elo and tournament Elo on a board, mean of {len(found)} boards"
    return Verdict.below(bounded(mean(found)), 0.5, what)


def _running_table(data: Data) -> Table:
    rows = [
        (game, loss, str(mean(_last_elo(runs))), str(mean(runs.per_seed("seconds"))))
        for game, some in data.where(measured="curve").by("game").items()
        for loss, runs in some.by("arm").items()
    ]
    return Table(("game", "minimised", "running Elo at the end (95 %)", "mean seconds since the start"), tuple(rows))


def _draw_running(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, curves_figure

    panels = {
        game: {loss: runs.curve("running_elo") for loss, runs in some.by("arm").items()}
        for game, some in data.where(measured="curve").by("game").items()
    }
    return curves_figure(panels, "iteration", "running Elo", span=ELO_SPAN)


# Figure 4.8: final networks against each other.


def _small_difference(data: Data) -> Verdict:
    elos = elo_of_losses(data, "othello-5x5")
    if not elos:
        return Verdict.open("othello-5x5 was not played")
    order = sorted(elos, key=lambda loss: -float(elos[loss].mean()))
    spread = paired_difference(elos[order[0]], elos[order[-1]])
    return Verdict.within(spread, SMALL_LEAD, f"Elo, {order[0]}, the best, minus {order[-1]}")


def _usual_is_better(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        elos = elo_of_losses(data, game)
        if any(loss not in elos for loss in ("sum", "value")):
            return Verdict.open(f"{game} was not played")
        return Verdict.above(paired_difference(elos["sum"], elos["value"]), 0.0, "Elo, sum minus value minimised")

    return Claim(f"the usual sum is better to learn from than the value's loss alone at {game}", check, ours=True)


def _rating_table(data: Data) -> Table:
    rows = []
    for game in data.where(measured="tournament").texts("game"):
        elos = elo_of_losses(data, game)
        chances = best_chances(elos)
        for loss, by_seed in elos.items():
            known = RATED.get(game, {}).get(loss)
            shown = "–" if known is None else f"{known:+d}".replace("-", "−")
            wrong = (str(one) for one in mistakes(data, game, loss))
            rows.append((game, loss, str(mean(by_seed)), f"{chances[loss]:.0%}", *wrong, shown))
    heads = ("game", "minimised", "Elo (95 %)", "chance to be best", *MISTAKE_HEADS, "published Elo")
    return Table(heads, tuple(rows))


def _draw_ratings(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    crosses = {(game, loss, "here"): float(elo) for game, row in RATED.items() for loss, elo in row.items()}
    return estimates_figure(elo_estimates(data), "Elo, mean of all players 0", published=crosses, span=ELO_SPAN)


ALL = tuple(one for game in BOARDS for one in four_losses(game))
TOURNAMENT = Tournament(PRESET)

EXPERIMENTS = (
    *(_losses(id, game) for id, game in FIGURES.items()),
    Experiment(
        identity=published("fig-4.7"),
        arms=ALL,
        scales=SCALES,
        measures=(Curves(PRESET, read_losses), TOURNAMENT),
        claims=(
            _rises("othello-5x5"),
            _rises("othello-6x6"),
            _rises_fastest("the running Elo rises fastest with the policy's loss alone", "othello-5x5", "policy"),
            _rises_fastest("it rises faster with sum and product than with one loss", "othello-6x6", "sum", "product"),
            _rises_fastest("it rises fastest with the value's loss alone", "connect_four-6x6", "value"),
            Claim("the running Elo falls at connect_four-5x5", _falls),
            Claim("the running Elo does not tell which of two runs is stronger (here: correlation < ½)", _misleads),
        ),
        table=_running_table,
        draw=_draw_running,
    ),
    Experiment(
        identity=published("fig-4.8"),
        arms=ALL,
        scales=SCALES,
        measures=(TOURNAMENT, MISTAKES),
        claims=(
            *(strongest(game, loss) for game, loss in BEST.items()),
            Claim(f"the difference is small at othello-5x5 (here: within {SMALL_LEAD:g} Elo)", _small_difference),
            *map(_usual_is_better, BOARDS),
        ),
        table=_rating_table,
        draw=_draw_ratings,
        published=tuple(
            Published(loss, game, float(elo), "ratings of chapter 4", "Elo", read_off=False)
            for game, row in RATED.items()
            for loss, elo in row.items()
        ),
    ),
)
