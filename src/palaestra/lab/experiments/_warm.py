"""What experiments on warm starts share: runs, scales, Elo, claims, tables (sources: Alg. 3 and 5; Alg. 6; settings).

A run has the same settings in every experiment that looks at it, so that it is trained once: the runs of chapter 5 are
those with I′ = 5 of chapter 6, and the adaptive runs are those of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from palaestra.base.types import Float64s
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Claim, Scale, Scales, Table, Verdict
from palaestra.lab.statistics import Estimate, best_chances, elo_by_arm, least_difference, mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRESET = "thesis"
BASELINE, RHEA = "Baseline", "RHEA"
NAMES = {"rollout": "Rollout", "rave": "Rave", "rora": "RoRa", "wro": "WRo", "wrora": "WRoRa"}  # the thesis's five
LENGTH = 5  # I′ of chapter 5
ALIKE = 30.0  # Elo: a difference below it is small
TINY = (
    "net=mlp8x1", "selfplay.games=2", "selfplay.search.simulations=2", "learn.epochs=1", "gate.games=2",
    "gate.simulations=2",
)  # fmt: skip
SMALL = (
    "net=b2c16", "selfplay.games=30", "selfplay.search.simulations=32", "learn.window=6", "learn.epochs=1",
    "gate.games=16", "gate.simulations=32",
)  # fmt: skip


def baseline(game: str) -> Arm:
    """A run without a warm start; strength is measured when it is finished."""
    return Arm(BASELINE, game, ("evaluation.every=0", "evaluation.anchors=[]"))


def fixed(game: str, enhancement: str, length: int = LENGTH, name: str = "") -> Arm:
    """A run whose first `length` iterations use an enhancement."""
    shown = name or NAMES.get(enhancement, enhancement.upper())
    return Arm(shown, game, (*baseline(game).sets, f"warm.enhancement={enhancement}", f"warm.length={length}"))


def adaptive(game: str, enhancement: str, name: str = "") -> Arm:
    """A run that leaves its enhancement when the plain search wins."""
    shown = name or NAMES[enhancement]
    return Arm(shown, game, (*baseline(game).sets, f"warm.enhancement={enhancement}", "warm.adaptive=true"))


def scales(laptop: int, *, tournament: bool = True, doubled: tuple[str, ...] = ()) -> Scales:
    """The scales of both chapters, with so many seeds at the middle one; on `doubled` games runs have twice the search.

    Chapter 5 has 21 kinds of runs, chapter 6 has 47: that decides the seeds of a small machine.
    """

    def scale(
        departs: str, seeds: int, iterations: int, games: int, simulations: int, sets: tuple[str, ...] = ()
    ) -> Scale:
        matches = {"games": games, "simulations": simulations} if tournament else {}
        twice = (f"selfplay.search.simulations={2 * simulations}", f"gate.simulations={2 * simulations}")
        words = [departs]
        words += [f"{2 * simulations} simulations at {' and '.join(doubled)}"] if doubled and sets else []
        words += [f"{games} games a pairing, which begin with random openings"] if tournament else []
        shown = "; ".join(word for word in words if word) or "nothing"
        return Scale(
            shown, seeds, {"iterations": iterations, **matches}, sets, board_sets=dict.fromkeys(doubled, twice)
        )

    return Scales(
        smoke=scale(
            "one seed, 2 iterations of 2 games with 2 simulations, 1 epoch, gates of 2 games, network mlp8x1",
            1, 2, 2, 2, TINY,
        ),
        laptop=scale(
            f"{laptop} seeds; 12 iterations, so that a warm start is a larger part of a run; 30 games, 32 simulations,"
            " 1 epoch over 6 iterations, gates of 16 games, network b2c16",
            laptop, 12, 6, 32, SMALL,
        ),
        paper=scale("", 8, 100, 20, 100),
    )  # fmt: skip


def elo_at(data: Data, game: str) -> dict[str, Float64s]:
    """arm -> Elo float64[S] in the tournament of a board, the random player apart; empty where it was not played."""
    rows = data.where(measured="tournament", game=game)
    rated = elo_by_arm(rows) if len(rows) else {}
    return {arm: elos for arm, elos in rated.items() if arm != "random"}


def _claim(
    text: str, game: str, arms: Iterable[str], check: Callable[[Mapping[str, Float64s]], Verdict], ours: bool
) -> Claim:
    """A claim about the Elo of some arms, open where one of them did not play."""
    wanted = tuple(arms)

    def checked(data: Data) -> Verdict:
        elos = elo_at(data, game)
        if missing := [arm for arm in wanted if arm not in elos]:
            return Verdict.open(f"{game} was not played by {', '.join(missing)}")
        return check(elos)

    return Claim(text, checked, ours)


def beats(game: str, one: str, other: str, text: str = "", *, ours: bool = False) -> Claim:
    """One kind of run makes stronger players than another."""

    def check(elos: Mapping[str, Float64s]) -> Verdict:
        return Verdict.above(paired_difference(elos[one], elos[other]), 0.0, f"Elo, {one} minus {other}")

    return _claim(text or f"{one} is stronger than {other} at {game}", game, (one, other), check, ours)


def all_beat(game: str, ones: tuple[str, ...], other: str, text: str) -> Claim:
    """Several kinds are each stronger than one; decided by the weakest of them."""

    def check(elos: Mapping[str, Float64s]) -> Verdict:
        lead, least = least_difference({arm: (elos[arm], elos[other]) for arm in ones})
        return Verdict.above(lead, 0.0, f"Elo, {least}, the weakest, minus {other}")

    return _claim(text, game, (*ones, other), check, False)


def alike(game: str, one: str, other: str) -> Claim:
    """Two kinds are about as strong as each other."""

    def check(elos: Mapping[str, Float64s]) -> Verdict:
        return Verdict.within(paired_difference(elos[one], elos[other]), ALIKE, f"Elo, {one} minus {other}")

    text = f"{one} and {other} are alike at {game} (here: within {ALIKE:g} Elo)"
    return _claim(text, game, (one, other), check, False)


def strongest(game: str, ones: tuple[str, ...], among: tuple[str, ...], text: str = "") -> Claim:
    """Some kinds make stronger players than each of the others."""

    def check(elos: Mapping[str, Float64s]) -> Verdict:
        others = [arm for arm in among if arm not in ones]
        pairs = {f"{one} minus {other}": (elos[one], elos[other]) for one in ones for other in others}
        lead, closest = least_difference(pairs)
        return Verdict.above(lead, 0.0, f"Elo, {closest}, which comes closest")

    return _claim(text or f"{' and '.join(ones)} is strongest at {game}", game, among, check, False)


def none_stands_out(game: str, among: tuple[str, ...], text: str) -> Claim:
    """The best kind is hardly better than the next."""

    def check(elos: Mapping[str, Float64s]) -> Verdict:
        first, second = sorted(among, key=lambda arm: -float(elos[arm].mean()))[:2]
        lead = paired_difference(elos[first], elos[second])
        return Verdict.within(lead, ALIKE, f"Elo, {first}, the best, minus {second}, the next")

    return _claim(text, game, among, check, False)


def rating_table(data: Data, known: Mapping[tuple[str, str], float]) -> Table:
    """Every kind of run with its Elo, beside the published one."""
    rows = []
    for game in data.texts("game"):
        elos = elo_at(data, game)
        chances = best_chances(elos)
        for arm, by_seed in elos.items():
            shown = f"{known[game, arm]:+g}".replace("-", "−") if (game, arm) in known else "–"
            rows.append((game, arm, str(mean(by_seed)), f"{chances[arm]:.0%}", shown))
    return Table(("game", "warm start", "Elo (95 %)", "chance to be best", "published Elo"), tuple(rows))


def rating_figure(data: Data, order: tuple[str, ...], known: Mapping[tuple[str, str], float]) -> Figure:
    """A panel a game, the kinds of runs beside each other in the published order."""
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {}
    for game in data.texts("game"):
        elos = elo_at(data, game)
        panels[game] = {arm: {"here": mean(elos[arm])} for arm in order if arm in elos}
    crosses = {(game, arm, "here"): elo for (game, arm), elo in known.items()}
    return estimates_figure(panels, "Elo, mean of all players 0", published=crosses, span=ELO_SPAN)
