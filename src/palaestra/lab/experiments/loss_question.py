"""Is "learn from the value's loss alone" a law, or made by defects of the released code? (sources: L1; L2)

The runs of chapter 4 again with the defect that its code had on each board, each set in a tournament of its own; the
weighted sum of Eq. 4.1 at five weights; and the four losses under the settings of the preset `fast`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.lab.data import Data
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.experiments._losses import (
    LOSSES,
    MISTAKE_HEADS,
    MISTAKES,
    SCALES,
    arm,
    elo_of_losses,
    four_losses,
    mistakes,
    strongest,
)
from palaestra.lab.measures import Tournament
from palaestra.lab.statistics import Estimate, best_chances, elo_by_arm, mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHAPTER = "chapter-4"
DEFECTS = {  # the defect that the released code has on a board, and its switch
    "connect_four-5x5": ("L1", "defects.unturned_policies=true"),
    "connect_four-6x6": ("L1", "defects.unturned_policies=true"),
    "gobang-5x5": ("L2", "defects.winners_colour=true"),
    "gobang-6x6": ("L2", "defects.winners_colour=true"),
}
LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0)
WEIGHED = "connect_four-5x5"
FAST_BOARDS = ("connect_four-5x5", "othello-6x6", "gobang-6x6")


def defect_of(one: Arm) -> str:
    """What sets tournaments on one board apart."""
    return one.name.partition(", ")[2]


def _shift(game: str, one: str, other: str) -> Claim:
    """A defect moves the order: the lead of one loss over another is larger with it than without, seed by seed."""
    defect = DEFECTS[game][0]

    def check(data: Data) -> Verdict:
        both = [elo_of_losses(data, game, which) for which in (defect, "")]
        if any(loss not in elos for elos in both for loss in (one, other)):
            return Verdict.open(f"{game} was not played")
        leads = [elos[one] - elos[other] for elos in both]
        what = f"Elo, lead of {one} over {other} with {defect} minus without"
        return Verdict.above(paired_difference(*leads), 0.0, what)

    return Claim(f"{defect} helps {one} against {other} at {game}", check, ours=True)


def _defect_table(data: Data) -> Table:
    rows = []
    for game, (defect, _) in DEFECTS.items():
        for which in ("", defect):
            elos = elo_of_losses(data, game, which)
            chances = best_chances(elos) if elos else {}
            behind = f", {which}" if which else ""
            rows += [
                (game, which or "none", loss, str(mean(by_seed)), f"{chances[loss]:.0%}",
                 *map(str, mistakes(data, game, f"{loss}{behind}")))
                for loss, by_seed in elos.items()
            ]  # fmt: skip
    heads = ("game", "defect", "minimised", "Elo (95 %)", "chance to be best", *MISTAKE_HEADS)
    return Table(heads, tuple(rows))


def _draw_defects(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {}
    for game, (defect, _) in DEFECTS.items():
        found = {"without": elo_of_losses(data, game), f"with {defect}": elo_of_losses(data, game, defect)}
        if any(found.values()):
            panels[game] = {
                loss: {words: mean(elos[loss]) for words, elos in found.items() if loss in elos} for loss in LOSSES
            }
    return estimates_figure(panels, "Elo, mean of its tournament 0", level=0, span=ELO_SPAN)


def _elo_table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        elos = {name: by_seed for name, by_seed in elo_by_arm(some).items() if name != "random"}
        chances = best_chances(elos)
        rows += [(game, name, str(mean(by_seed)), f"{chances[name]:.0%}") for name, by_seed in elos.items()]
    return Table(("game", "arm", "Elo (95 %)", "chance to be best"), tuple(rows))


def _draw_elos(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels = {
        game: {name: {"here": mean(by_seed)} for name, by_seed in sorted(elo_by_arm(some).items()) if name != "random"}
        for game, some in data.by("game").items()
    }
    return estimates_figure(panels, "Elo, mean of all players 0", span=ELO_SPAN)


def _lambda(value: float) -> str:
    return f"λ = {value:g}"


def _half_above(end: float, words: str) -> Claim:
    def check(data: Data) -> Verdict:
        elos = elo_by_arm(data) if len(data) else {}
        if any(name not in elos for name in (_lambda(0.5), _lambda(end))):
            return Verdict.open(f"{WEIGHED} was not played")
        gain = paired_difference(elos[_lambda(0.5)], elos[_lambda(end)])
        return Verdict.above(gain, 0.0, f"Elo, λ = ½ minus λ = {end:g}")

    return Claim(f"an even weight is stronger than {words}", check, ours=True)


def _scale(scale: Scale) -> Scale:
    """A scale of chapter 4 without what only its own measures read."""
    values = {name: value for name, value in scale.values.items() if name != "solved"}
    return Scale(scale.departs, scale.seeds, values, scale.sets)


TOURNAMENTS = Scales(*(_scale(SCALES[name]) for name in ("smoke", "laptop", "paper")))
FAST = {"minutes": 1.0, "games": 20, "simulations": 50}

EXPERIMENTS = (
    Experiment(
        identity=Identity(
            "loss-defects", OURS, "Losses and defects", "the four losses with the released defects", CHAPTER
        ),
        arms=tuple(
            one
            for game, (defect, switch) in DEFECTS.items()
            for one in (*four_losses(game), *four_losses(game, defect, switch))
        ),
        scales=SCALES,
        measures=(Tournament("thesis", apart=defect_of), MISTAKES),
        claims=(
            *(strongest(game, "value", "L1", ours=True) for game in DEFECTS if DEFECTS[game][0] == "L1"),
            *(strongest(game, "policy", "L2", ours=True) for game in DEFECTS if DEFECTS[game][0] == "L2"),
            *(_shift(game, "value", "sum") for game in DEFECTS if DEFECTS[game][0] == "L1"),
            *(_shift(game, "policy", "value") for game in DEFECTS if DEFECTS[game][0] == "L2"),
        ),
        table=_defect_table,
        draw=_draw_defects,
        reading="L2 is in the public code of Gobang; the copy that the thesis used was never released",
    ),
    Experiment(
        identity=Identity(
            "loss-weights", OURS, "Eq. 4.1", "weighted sums of both losses, from value alone to policy alone", CHAPTER
        ),
        arms=tuple(
            arm(_lambda(value), WEIGHED, "learn.loss=weighted", f"learn.loss_lambda={value}") for value in LAMBDAS
        ),
        scales=TOURNAMENTS,
        measures=(Tournament("thesis"),),
        claims=(_half_above(0.0, "the value's loss alone"), _half_above(1.0, "the policy's loss alone")),
        table=_elo_table,
        draw=_draw_elos,
    ),
    Experiment(
        identity=Identity(
            "loss-fast", OURS, "Losses under fast", "the four losses with the preset fast, at equal time", CHAPTER
        ),
        arms=tuple(
            Arm(loss, game, ("evaluation.every=0", "evaluation.anchors=[]", f"learn.loss={loss}"))
            for game in FAST_BOARDS
            for loss in LOSSES
        ),
        scales=Scales(
            smoke=Scale(
                "one seed, a moment of training",
                1,
                {"minutes": 0.001, "games": 2, "simulations": 2},
                ("net=mlp8x1", "selfplay.games=2", "selfplay.search.simulations=2"),
            ),
            laptop=Scale(NO_DEPARTURE, 5, FAST),
            paper=Scale(NO_DEPARTURE, 8, {**FAST, "minutes": 10.0}),
        ),
        measures=(Tournament("fast"),),
        claims=tuple(strongest(game, "sum", ours=True) for game in FAST_BOARDS),
        table=_elo_table,
        draw=_draw_elos,
    ),
)
