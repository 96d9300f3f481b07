"""Figures 5.1 and 5.2 and Table A.3 of the thesis: final networks of baseline and warm starts against each other.

Each kind of run is trained with eight seeds, the first I′ = 5 iterations with an enhancement, and all networks and a
random player meet. RHEA as a sixth warm start is ours: the thesis's outlook only names it. Table A.3 is the list behind
Figure 5.2 and looks at the same matches (sources: tournaments of chapter 5).

The published list was rated from records that name the player listed first White in all games (sources: L8). The table
has both ratings: those from the true results, and those that such records give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Claim, Experiment, Published, Table, Verdict
from palaestra.lab.experiments._warm import (
    BASELINE,
    NAMES,
    PRESET,
    RHEA,
    alike,
    baseline,
    beats,
    elo_at,
    fixed,
    rating_figure,
    rating_table,
    scales,
    strongest,
)
from palaestra.lab.measures import Tournament
from palaestra.lab.statistics import elo_by_arm, elo_list, mean, paired_difference, pooled_score, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.lab.experiment import Arm

GOBANG, CONNECT_FOUR, OTHELLO = "gobang-6x6", "connect_four-6x6", "othello-6x6"
WARM = tuple(NAMES.values())
ORDER = (BASELINE, *WARM)  # as the thesis lists them
WHERE = "tournaments of chapter 5"
# Means over eight runs: Gobang as the text says, "about"; Othello computed from the 49 lines of Table A.3.
ELO = {
    (GOBANG, BASELINE): -100.0,
    **{(GOBANG, name): 50.0 for name in WARM if name != "Rave"},
    **{
        (OTHELLO, name): elo
        for name, elo in zip(ORDER, (-7.0, -18.0, 18.0, 25.0, 37.0, 69.0), strict=True)
    },
}  # fmt: skip
RESULTS = ("wins", "draws", "losses")
SCORES = dict(zip(ORDER, (50.8, 48.4, 50.1, 52.1, 51.3, 53.9), strict=True))  # of Table A.3, %


def _arms(game: str, *, rhea: bool = True) -> tuple[Arm, ...]:
    return (baseline(game), *(fixed(game, name) for name in (*NAMES, *(("rhea",) if rhea else ()))))


def _draw(data: Data) -> Figure:
    return rating_figure(data, (*ORDER, RHEA), ELO)


def _tournament(id: str, games: tuple[str, ...], claims: tuple[Claim, ...]) -> Experiment:
    return Experiment(
        identity=published(id),
        arms=tuple(arm for game in games for arm in _arms(game)),
        scales=scales(8),
        measures=(Tournament(PRESET),),
        claims=(
            *claims,
            *(beats(game, RHEA, BASELINE, f"a warm start by evolution helps at {game}", ours=True) for game in games),
        ),
        table=lambda data: rating_table(data, ELO),
        draw=_draw,
        published=tuple(
            Published(arm, game, elo, WHERE, "Elo") for (game, arm), elo in ELO.items() if game in games
        ),
        reading="weights of random games fall from 1 by 1 / I′ an iteration; ratings have no advantage of a side",
    )  # fmt: skip


def _helps(game: str, *names: str) -> tuple[Claim, ...]:
    return tuple(beats(game, name, BASELINE) for name in names)


# Table A.3: the rating list.


def _random_loses(data: Data) -> Verdict:
    score = pooled_score(data.where(opponent="random")).times(100)
    return Verdict.above(score, 99.0, "% of the points of the networks against the random player")


def _no_draws(data: Data) -> Verdict:
    games = sum(round(data.total(name)) for name in RESULTS)
    return Verdict.below(share(round(data.total("draws")), games).times(100), 0.5, "% of all games are drawn")


def _runs_differ_more(data: Data) -> Verdict:
    """The range of the runs of a kind, as a mean over kinds, minus the range of the kinds' means."""
    elos = elo_at(data, OTHELLO)
    if len(elos) < len(ORDER) or min(map(len, elos.values())) < 2:
        return Verdict.open("there are not two runs of every kind")
    kinds = float(np.ptp([one.mean() for one in elos.values()]))
    return Verdict.above(
        mean([float(np.ptp(one)) - kinds for one in elos.values()]),
        0.0,
        "Elo, range within a kind minus range of kinds",
    )


def _records_help(data: Data) -> Verdict:
    """How much more WRoRa, listed last, leads the baseline, listed first, where the records name sides wrongly."""
    leads = []
    for wrong in (True, False):
        elos = elo_by_arm(data, first_listed_white=wrong)
        if any(name not in elos for name in ("WRoRa", BASELINE)):
            return Verdict.open(f"{OTHELLO} was not played")
        leads.append(elos["WRoRa"] - elos[BASELINE])
    return Verdict.above(paired_difference(*leads), 0.0, "Elo that the records add to WRoRa minus Baseline")


def _list_table(data: Data) -> Table:
    wrong = {(one.arm, one.seed): one.elo.value for one in elo_list(data, first_listed_white=True)}
    rows = []
    for rank, one in enumerate(elo_list(data), start=1):
        low, high = one.elo.interval or (np.nan, np.nan)
        run = "" if one.seed is None else f" run {one.seed + 1}"
        numbers = (one.elo.value, high - one.elo.value, one.elo.value - low)
        cells = (f"{number:.0f}".replace("-", "−") for number in numbers)
        rows.append(
            (
                f"{rank}", f"{one.arm}{run}", *cells, f"{one.games}", f"{one.score:.0%}",
                f"{one.opponents:.0f}".replace("-", "−"), f"{one.drawn:.0%}",
                f"{wrong[one.arm, one.seed]:.0f}".replace("-", "−"),
            )
        )  # fmt: skip
    heads = ("rank", "name", "Elo", "+", "−", "games", "score", "opponents", "draws", "Elo with L8")
    return Table(heads, tuple(rows))


def _draw_list(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    true, wrong = (elo_by_arm(data, first_listed_white=defect) for defect in (False, True))
    kinds = {arm: {"here": mean(true[arm]), "with L8": mean(wrong[arm])} for arm in ORDER if arm in true}
    crosses = {(OTHELLO, arm, "with L8"): ELO[OTHELLO, arm] for arm in ORDER}
    return estimates_figure({OTHELLO: kinds}, "Elo, mean of all players 0", published=crosses, span=ELO_SPAN)


EXPERIMENTS = (
    _tournament(
        "fig-5.1",
        (GOBANG, CONNECT_FOUR),
        (
            *_helps(GOBANG, *WARM),
            *(beats(GOBANG, name, "Rave") for name in ("Rollout", "RoRa", "WRo", "WRoRa")),
            alike(GOBANG, "RoRa", "Rollout"),
            *_helps(CONNECT_FOUR, *WARM),
            *(beats(CONNECT_FOUR, one, other) for one, other in (("WRo", "Rollout"), ("WRoRa", "Rave"))),
            *(beats(CONNECT_FOUR, "RoRa", other) for other in ("Rollout", "Rave")),
            *(strongest(game, ("WRoRa",), ORDER) for game in (GOBANG, CONNECT_FOUR)),
        ),
    ),
    _tournament(
        "fig-5.2",
        (OTHELLO,),
        (
            *_helps(OTHELLO, *(name for name in WARM if name != "Rollout")),
            alike(OTHELLO, "Rollout", BASELINE),
            alike(OTHELLO, "RoRa", "Rollout"),
            strongest(OTHELLO, ("WRoRa",), ORDER),
        ),
    ),
    Experiment(
        identity=published("table-a.3"),
        arms=_arms(OTHELLO, rhea=False),
        scales=scales(8),
        measures=(Tournament(PRESET),),
        claims=(
            Claim("the random player scores 0 %", _random_loses),
            Claim("no game is drawn", _no_draws),
            Claim("runs of one kind differ more than kinds do", _runs_differ_more, ours=True),
            Claim("the records' wrong sides put WRoRa further ahead of the baseline", _records_help, ours=True),
        ),
        table=_list_table,
        draw=_draw_list,
        published=(
            *(Published(arm, OTHELLO, ELO[OTHELLO, arm], WHERE, "Elo") for arm in ORDER),
            *(Published(arm, OTHELLO, score, WHERE, "% of the points") for arm, score in SCORES.items()),
        ),
        reading="ties at Othello are draws; the released code called them losses, so that none is listed (L10)",
    ),
)
