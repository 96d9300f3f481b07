"""Beyond Schmidt et al.: does a CDF reward teach more than winning? Margins at Othello, speed at two other games.

For each seed an agent under a CDF reward and one under the primitive reward, alike in all else, both with an outcome
head and equal time. They meet each other and players that never change, and what is looked at is not only who wins but
by how much, how soon, and how long a lost game is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.lab.data import Data
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.measures import FinalMatches
from palaestra.lab.statistics import Estimate, mean, paired_difference, pooled_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CDF, PRIMITIVE = "CDF", "primitive"
REWARDS = {CDF: "cdf(generations=5)", PRIMITIVE: "primitive"}
ANCHORS = ("uct(simulations=200)", "alphabeta(depth=4)")
HEADINGS = {
    "score": "score, %",
    "margin": "mean margin, discs",
    "won_plies": "plies of won games",
    "lost_plies": "plies of lost games",
}


def _value(column: str, data: Data) -> Estimate:
    return pooled_score(data).times(100) if column == "score" else mean(data.per_seed(column))


def _lead(text: str, column: str, game: str, sign: int) -> Claim:
    """CDF above primitive in a column, seed by seed, over the games against the players that never change."""

    def check(data: Data) -> Verdict:
        rows = [data.where(game=game, arm=arm, opponent=ANCHORS) for arm in (CDF, PRIMITIVE)]
        if not len(rows[0]):
            return Verdict.open(f"{game} was not played")
        one, other = (sign * some.per_seed(column) for some in rows)
        what = f"{HEADINGS[column]}, CDF minus primitive" if sign > 0 else f"{HEADINGS[column]}, primitive minus CDF"
        return Verdict.above(paired_difference(one, other), 0.0, what)

    return Claim(text, check, ours=True)


def _duel(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        rows = data.where(game=game, arm=CDF, opponent=PRIMITIVE)
        if not len(rows):
            return Verdict.open(f"{game} was not played")
        return Verdict.above(pooled_score(rows).times(100), 50.0, "% of the points of CDF against primitive")

    return Claim(f"the CDF agent beats the primitive one at {game}", check, ours=True)


def _duels(id: str, caption: str, games: tuple[str, ...], columns: tuple[str, ...], minutes: float,
           claims: tuple[Claim, ...]) -> Experiment:  # fmt: skip
    def table(data: Data) -> Table:
        rows = [
            (
                game,
                arm,
                opponent,
                *(str(_value(column, one)) for column in columns),
                f"{one.total('distinct_games'):.0f}",
            )
            for game, some in data.by("game").items()
            for arm, own in some.by("arm").items()
            for opponent, one in own.by("opponent").items()
        ]
        return Table(("game", "agent", "against", *(HEADINGS[c] for c in columns), "distinct games"), tuple(rows))

    def draw(data: Data) -> Figure:
        from palaestra.lab.experiment_plots import estimates_figure

        panels = {
            f"{game}: {HEADINGS[column]}": {
                f"against\n{opponent}": {arm: _value(column, rows) for arm, rows in one.by("arm").items()}
                for opponent, one in some.by("opponent").items()
            }
            for game, some in data.by("game").items()
            for column in columns
        }
        return estimates_figure(panels, "")

    small = ("net=mlp8x1-outcome", "selfplay.games=2", "selfplay.search.simulations=2")
    full = {"minutes": minutes, "games": 100, "simulations": 100}
    return Experiment(
        identity=Identity(id, OURS, id.capitalize(), caption),
        arms=tuple(
            Arm(
                name,
                game,
                ("net=b3c32-outcome", f"reward={reward}", "evaluation.every=0", "evaluation.anchors=[]"),
            )
            for game in games
            for name, reward in REWARDS.items()
        ),
        scales=Scales(
            smoke=Scale(
                "one seed, a moment of training, 2 games of 2 simulations", 1,
                {"minutes": 0.001, "games": 2, "simulations": 2}, small,
            ),
            laptop=Scale(NO_DEPARTURE, 5, full),
            paper=Scale(NO_DEPARTURE, 5, full),
        ),
        measures=(FinalMatches("fast", ANCHORS, ((CDF, PRIMITIVE),)),),
        claims=(*(_duel(game) for game in games), *claims),
        table=table,
        draw=draw,
    )  # fmt: skip


EXPERIMENTS = (
    _duels(
        "margins",
        "a CDF reward over disc differences against win or loss alone, at Othello",
        ("othello-6x6",),
        ("score", "margin"),
        10.0,
        (_lead("the CDF agent wins by more discs", "margin", "othello-6x6", 1),),
    ),
    _duels(
        "speed",
        "a CDF reward over lengths against win or loss alone: how soon games are won",
        ("connect_four-5x5", "gobang-6x6"),
        ("score", "won_plies", "lost_plies"),
        5.0,
        tuple(
            claim
            for game in ("connect_four-5x5", "gobang-6x6")
            for claim in (
                _lead(f"the CDF agent wins sooner at {game}", "won_plies", game, -1),
                _lead(f"and holds lost games longer at {game}", "lost_plies", game, 1),
            )
        ),
    ),
)
