"""How true are the targets of self-play? Those of Connect Four 6×7 beside exact values.

    pip install bitbully
    python -m benchmarks.target_truth RUN "" "selfplay.temperature=0" "selfplay.temperature=0 selfplay.td_lambda=0.8"

Plays an iteration with the network that plays best in a run, for each of the texts with the run's settings and the
settings in the text. All games begin with random moves, and these are the same each time: the first position of a game
that is searched, and learned from, is the same for all texts. A line says of these positions, by plies: the mean
square of target minus truth (won 1, drawn 0, lost -1), their correlation, and the policy's share of right moves
where something can be lost.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from palaestra.base.types import Float64s, Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.examples import Examples
from palaestra.learn.selfplay import play_games
from palaestra.learn.settings import make_config, merge, parse_sets
from palaestra.players.runs import open_run

RANGES = ((1, 4), (5, 8), (9, 12))  # plies
FIXED = (
    "selfplay.games=600", "selfplay.opening_fraction=1", "selfplay.opening_plies=12", "threads=1", "seed=5",
    "selfplay.first_simulations=none",
)  # fmt: skip


def main(name: str, texts: list[str]) -> None:
    from bitbully import BitBully

    run, solver = open_run(name), BitBully(opening_book="default")
    game, model = make_game(run.game), run.network(run.best)
    known: dict[bytes, tuple[int, Float64s]] = {}
    for text in texts:
        config = make_config(merge(run.manifest.config, parse_sets([*FIXED, *text.split()])))
        began = time.process_time()
        made = play_games(game, model, config, 1)
        spent, examples = time.process_time() - began, made.examples
        firsts = np.flatnonzero(np.append(True, examples.game[1:] != examples.game[:-1]))
        for row in firsts:
            state = examples.states[row]
            if examples.ply[row] and state.tobytes() not in known:
                known[state.tobytes()] = truth(solver, game, state)
        told = [judged(examples, firsts, known, low, high) for low, high in RANGES]
        print(f"{text or 'as the run'}: {spent:.0f} s, {made.mean_plies:.1f} plies; {'; '.join(told)}", flush=True)


def judged(examples: Examples, firsts: Any, known: dict[bytes, tuple[int, Float64s]], low: int, high: int) -> str:
    """What is said of the first positions in a range of plies."""
    rows = [row for row in firsts if low <= examples.ply[row] <= high]
    found = [known[examples.states[row].tobytes()] for row in rows]
    true, target = np.array([value for value, _ in found]), examples.value[rows]
    right = [examples.policy[row] @ good for row, (_, good) in zip(rows, found, strict=True) if 0 in good]
    square, alike = np.mean((target - true) ** 2), np.corrcoef(target, true)[0, 1]
    return f"plies {low}-{high} ({len(rows)}) {square:.3f}, {alike:.3f}, {np.mean(right):.3f}"


def truth(solver: Any, game: Game, state: Int8s) -> tuple[int, Float64s]:
    """A position's value for the player to move, and which of its legal moves [L] keep it, as 1 and 0."""
    from bitbully import Board

    own, other = game.observe(state[None])[0][:2]
    first, second = (own, other) if game.to_play(state[None])[0] == 0 else (other, own)
    scores = solver.score_all_moves(Board((first + 2 * second).astype(int).tolist()))
    counts, actions = game.legal(state[None])
    values = np.sign([scores[action] for action in actions[0, : counts[0]].tolist()])
    good = np.ones(actions.shape[1])  # the columns after the legal moves carry no policy
    good[: counts[0]] = values == values.max()
    return int(values.max()), good


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or [""])
