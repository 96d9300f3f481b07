"""Every registered game on one core: steps (advance and legal) and random games, beside OpenSpiel's C++ playouts."""

from __future__ import annotations

import statistics

from benchmarks.open_spiel_peer import NAMES, Playouts
from benchmarks.table import Table
from benchmarks.timing import per_second, ratio
from palaestra.games.registry import example_ids, make_game
from palaestra.search.search_speed import GameSpeed, measure_rollouts

GAMES = 1024

NOTE = (
    "One core. A step is `advance` and the list of legal moves, over 1,024 positions spread over random games; playouts"
    " are uniform random games from the start. Theirs are playouts of OpenSpiel's C++ RandomRolloutEvaluator, for the"
    " games and sizes that OpenSpiel has and its search accepts."
)


def run(rounds: int, seconds: float) -> Table:
    columns = ("game", "steps/s", "playouts/s", "moves/s in playouts", "OpenSpiel playouts/s", "ratio")
    table = Table("Games", columns, NOTE)
    for id in example_ids():
        ours, theirs = list[GameSpeed](), list[float]()
        peer = Playouts(id) if id in NAMES else None
        for _ in range(rounds):
            ours.append(measure_rollouts(make_game(id), GAMES, seconds))
            if peer is not None:
                theirs.append(per_second(peer.play, seconds / 2))
        playouts = [speed.playouts_per_second for speed in ours]
        table.add(
            id,
            statistics.median(speed.steps_per_second for speed in ours),
            statistics.median(playouts),
            statistics.median(speed.plies_per_second for speed in ours),
            statistics.median(theirs) if theirs else None,
            ratio(playouts, theirs) if theirs else None,
        )
    return table
