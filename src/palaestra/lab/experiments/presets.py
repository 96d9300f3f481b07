"""Which preset is strongest for a short time: `fast`, `fast` in float32 alone, or `strong`?

`strong` was made for half an hour and more at Connect Four. Which of them is the better one sooner, and on other games,
decides what a run takes by itself (`learn.presets.default_preset`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.lab.data import Data
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.experiments.sizes import GROWTH, PRESET, QUIET, lead
from palaestra.lab.measures import Tournament
from palaestra.lab.statistics import elo_by_arm, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("connect_four-6x7", "othello-6x6", "gobang-6x6", "hex-7x7")
BYTES = ("selfplay.precision=auto", "learn.precision=auto")
# Runs of experiments have float32 unless they say otherwise; a test holds these beside the presets.
STRONG = (
    *BYTES,
    *GROWTH,
    "selfplay.first_simulations=16",
    "selfplay.search.simulations=128",
    "learn.surprise=0.5",
)
FLOAT32 = "fast in float32"
ARMS = {"fast": BYTES, FLOAT32: (), "strong": STRONG}


def _stronger(game: str, arm: str, over: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.above(lead(data.where(game=game), arm, over), 0.0, f"Elo, {arm} minus {over}")

    return Claim(f"{arm} is stronger than {over} at equal time at {game}", check, ours=True)


def _table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        for arm, elos in elo_by_arm(some).items():
            rows.append((game, arm, str(mean(elos)), "" if arm == PRESET else str(lead(some, PRESET, arm))))
    return Table(("game", "player", "Elo (95 %)", f"Elo, {PRESET} minus this (95 %)"), tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels = {
        game: {name: {"here": mean(elos)} for name, elos in elo_by_arm(some).items() if name in ARMS}
        for game, some in data.by("game").items()
    }
    return estimates_figure(panels, "Elo, mean of all players 0", span=ELO_SPAN)


EXPERIMENT = Experiment(
    identity=Identity("short-runs", OURS, "Presets", "the presets fast and strong for short times, on four games"),
    arms=tuple(Arm(name, game, (*QUIET, *sets)) for game in GAMES for name, sets in ARMS.items()),
    scales=Scales(
        smoke=Scale(
            "one seed, three iterations, small boards",
            1,
            {"iterations": 3, "games": 2, "simulations": 2},
            ("net=b1c8", "selfplay.games=2"),
            boards={
                "connect_four-6x7": "connect_four-4x4",
                "othello-6x6": "othello-4x4",
                "gobang-6x6": "gobang-5x5",
                "hex-7x7": "hex-3x3",
            },
            instead={
                GROWTH[0]: 'growth.nets=["b1c16"]',
                "selfplay.first_simulations=16": "selfplay.first_simulations=2",
                "selfplay.search.simulations=128": "selfplay.search.simulations=4",
            },
        ),
        laptop=Scale(NO_DEPARTURE, 3, {"minutes": 8.0, "games": 100, "simulations": 100}),
        paper=Scale(NO_DEPARTURE, 5, {"minutes": 30.0, "games": 100, "simulations": 100}),
    ),
    measures=(Tournament(PRESET, others=("random", "uct(simulations=1000)")),),
    claims=tuple(_stronger(game, *pair) for game in GAMES for pair in ((PRESET, FLOAT32), ("strong", PRESET))),
    table=_table,
    draw=_draw,
)
