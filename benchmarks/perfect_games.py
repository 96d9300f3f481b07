"""Games of Connect Four 6×7 against perfect play: does the first player, who can win, win?

    pip install bitbully
    python -m benchmarks.perfect_games RUN [games] [simulations]

The agent begins on the empty board. Its opponent knows the exact score of every move, and draws at random among the
best ones: while it is lost, those that lose latest. The network is the one that plays best in the run.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.players.runs import make_agent, open_run, playing_search

SEED = 1


def main(name: str, games: int = 100, simulations: int = 600) -> None:
    from bitbully import BitBully

    run, solver = open_run(name), BitBully(opening_book="default")
    game = make_game(run.game)
    search = playing_search(run.search, simulations, reuse=False)
    agent = make_agent(game, "the agent", run.network(run.best), search, False, None)
    rng, known = np.random.default_rng(SEED), dict[str, list[int]]()
    states, played = game.initial(games), [""] * games
    for ply in range(game.max_plies):
        running = np.flatnonzero(game.outcome(states) == ONGOING)
        if not running.size:
            break
        if ply % 2 == 0:
            chosen = agent.act(states[running], keyed_seeds(SEED, ply, running))
        else:
            best = [_best(solver, played[number], known) for number in running]
            chosen = np.array([rng.choice(columns) for columns in best], dtype=np.int32)
        states[running] = game.advance(states[running], chosen)
        for number, action in zip(running.tolist(), chosen.tolist(), strict=True):
            played[number] += str(action + 1)
    ends = np.sign(game.outcome(states))
    counts = f"{np.sum(ends > 0)} won, {np.sum(ends == 0)} drawn, {np.sum(ends < 0)} lost"
    about = f"{name}, {simulations} simulations, {games} games against perfect play"
    print(f"{about}, {len(set(played))} of them different: {counts}")
    for end, moves in sorted({(int(end), moves) for end, moves in zip(ends, played, strict=True) if end <= 0})[:10]:
        print(f"{('drawn', 'lost')[-end]}: {moves}")


def _best(solver: Any, moves: str, known: dict[str, list[int]]) -> list[int]:
    """The columns of the best score, counted from 0."""
    from bitbully import Board

    if moves not in known:
        board = Board()
        for column in moves:
            board.play(int(column) - 1)
        scores = solver.score_all_moves(board)
        legal = board.legal_moves()
        best = max(scores[column] for column in legal)
        known[moves] = [column for column in legal if scores[column] == best]
    return known[moves]


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
