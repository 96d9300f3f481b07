"""What the experiments on loss functions share: runs, scales, rows, Elo and tables (sources: loss functions)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import Arm, Claim, Scale, Scales, Verdict
from palaestra.lab.measures import Calls
from palaestra.lab.statistics import Estimate, best_chances, elo_by_arm, least_difference, mean

if TYPE_CHECKING:
    from palaestra.lab.plan import Plan
    from palaestra.runs.metrics import MetricsLine

PRESET = "thesis"
LOSSES = ("policy", "value", "sum", "product")
BOARDS = ("othello-5x5", "othello-6x6", "connect_four-5x5", "connect_four-6x6", "gobang-5x5", "gobang-6x6")
NAMES = {
    "policy": "the policy's loss alone",
    "value": "the value's loss alone",
    "sum": "the sum",
    "product": "the product",
}
LAST = 5  # iterations whose mean losses are those that a run ends with


def arm(name: str, game: str, *sets: str) -> Arm:
    """A run of the chapter, which has 100 iterations on 6×6 boards; strength is measured when it is finished."""
    end = "iterations=100" if "6x6" in game else "iterations=200"
    return Arm(name, game, (end, "evaluation.every=0", "evaluation.anchors=[]", *sets))


def four_losses(game: str, defect: str = "", *sets: str) -> tuple[Arm, ...]:
    """The arms of a board, one a loss; a defect is named behind a comma."""
    behind = f", {defect}" if defect else ""
    return tuple(arm(f"{loss}{behind}", game, f"learn.loss={loss}", *sets) for loss in LOSSES)


SMALL = (
    "iterations=12", "net=b2c16", "selfplay.games=40", "selfplay.search.simulations=32", "learn.window=6",
    "learn.epochs=2", "gate.games=20", "gate.simulations=32",
)  # fmt: skip
TINY = (
    "iterations=2", "net=mlp8x1", "selfplay.games=2", "selfplay.search.simulations=2", "learn.epochs=1",
    "gate.games=2", "gate.simulations=2",
)  # fmt: skip
SCALES = Scales(
    smoke=Scale(
        "one seed, 2 iterations of 2 games with 2 simulations, 1 epoch, gates and pairings of 2 games, network mlp8x1",
        1,
        {"games": 2, "simulations": 2, "solved": 0},
        TINY,
    ),
    laptop=Scale(
        "5 seeds; 12 iterations of 40 games, 32 simulations, 2 epochs over 6 iterations, gates of 20 games, network"
        " b2c16; 10 games a pairing",
        5,
        {"games": 10, "simulations": 32, "solved": 1},
        SMALL,
    ),
    paper=Scale(
        "games of a pairing begin with random openings, sides swapped",
        8,
        {"games": 20, "simulations": 100, "solved": 1},
    ),
)


def read_losses(lines: Sequence[MetricsLine]) -> Iterable[Row]:
    """The four losses of every iteration, the Elo that the run gives itself, and the time so far."""
    from palaestra.learn.running_elo import running_elos

    rated = running_elos(lines)
    rows, playing = [], 0
    for line in lines:
        playing = line.iteration if line.is_accepted else playing
        elo = rated[playing].elo if playing in rated else None
        losses = {name: getattr(line.losses, name) for name in LOSSES}
        rows.append({"iteration": line.iteration, **losses, "running_elo": elo, "seconds": line.elapsed})
    return rows


def mistakes_of_run(game: str, seed: int, simulations: int, solved: int, runs: Sequence[Path]) -> list[Row]:
    """Mistakes of a run's final network, alone and with search, where perfect play is known; none where it is not.

    `solved` is 0 where solving positions would take longer than all the rest.
    """
    from palaestra.games.registry import make_game
    from palaestra.learn.oracles import error_rates, own_oracle
    from palaestra.players.runs import open_run

    rules = make_game(game)
    positions = own_oracle(rules) if solved else None
    if positions is None:
        return []
    run = open_run(str(runs[0]))
    rates = error_rates(rules, run.network(run.best), run.search, [positions], [0, simulations], seed=seed)
    return [{"simulations": rate.simulations, "mistakes": rate.rate, "positions": rate.positions} for rate in rates]


def _oracle(plan: Plan) -> Mapping[str, Value]:
    return {name: plan.values[name] for name in ("simulations", "solved")}


MISTAKES = Calls(mistakes_of_run, arguments=_oracle, preset=PRESET, name="mistakes")
MISTAKE_HEADS = ("mistakes of the network, % (95 %)", "with search, %")


def mistakes(data: Data, game: str, arm: str) -> tuple[Estimate, Estimate]:
    """In percent of the positions whose best moves are known: of the networks alone, and with search."""
    wrong = data.where(measured="mistakes", game=game, arm=arm)
    alone = wrong.where(simulations=0)
    searched = Data.of(row for row in wrong.rows if row.get("simulations") != 0)
    return mean(100 * alone.per_seed("mistakes")), mean(100 * searched.per_seed("mistakes"))


def ends_with(data: Data, loss: str) -> Float64s:
    """float64[S]: what a loss is at the end of the runs of one arm, by seed."""
    at, curves = data.curve(loss)
    return curves[:, -LAST:].mean(axis=1) if at.size else np.full(len(curves), np.nan)


def elo_of_losses(data: Data, game: str, defect: str = "") -> dict[str, Float64s]:
    """loss -> Elo float64[S] in the tournament of a board, with its defect; empty where it was not played."""
    behind = f", {defect}" if defect else ""
    names = tuple(f"{loss}{behind}" for loss in LOSSES)
    rows = data.where(measured="tournament", game=game, arm=names)
    rated = elo_by_arm(rows) if len(rows) else {}
    return {name.partition(",")[0]: elos for name, elos in rated.items() if name in names}


def lead(elos: Mapping[str, Float64s], one: str) -> tuple[Estimate, str]:
    """By how much one leads all others, seed by seed, and who comes closest."""
    return least_difference({name: (elos[one], others) for name, others in elos.items() if name != one})


def strongest(game: str, loss: str, defect: str = "", *, ours: bool = False) -> Claim:
    """One loss makes the strongest players of a board."""

    def check(data: Data) -> Verdict:
        elos = elo_of_losses(data, game, defect)
        if len(elos) < len(LOSSES):
            return Verdict.open(f"{game} was not played")
        ahead, other = lead(elos, loss)
        chance = best_chances(elos)[loss]
        return Verdict.above(ahead, 0.0, f"Elo, {loss} minus {other}; chance that {loss} is best {chance:.0%}")

    words = f" with {defect}" if defect else ""
    return Claim(f"{NAMES[loss]} is the best to learn from at {game}{words}", check, ours=ours)


def elo_estimates(data: Data, defect: str = "") -> dict[str, dict[str, dict[str, Estimate]]]:
    """Board -> loss -> its mean Elo over seeds, for a figure."""
    found = {game: elo_of_losses(data, game, defect) for game in data.texts("game")}
    return {game: {loss: {"here": mean(elos[loss])} for loss in LOSSES} for game, elos in found.items() if elos}
