"""`palaestra perft`: count the leaves of the game tree, the classical test of a move generator."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import GameId, Json, Moves

if TYPE_CHECKING:
    from palaestra.base.types import Int8s
    from palaestra.games.base import Game

SPLIT = 2  # plies expanded in Python, so that an interrupt is heard between the parts


def perft(
    game: GameId,
    depth: Annotated[int, typer.Argument(min=0, max=60, metavar="DEPTH", help="Plies below the position.")],
    moves: Moves = "",
    json: Json = False,
) -> None:
    """Count move sequences of every length up to DEPTH; a game that ends earlier counts once."""
    from palaestra.cli.output import print_json, say
    from palaestra.games.registry import make_game

    rules = make_game(game)
    state = rules.from_moves(moves)
    count_leaves(rules, state, min(depth, SPLIT + 1))  # whatever must be compiled is compiled here, untimed
    if not json:
        say(f"{'depth':>5} {'leaves':>16} {'seconds':>9} {'leaves/s':>14}")
    leaves, seconds = [], 0.0
    for plies in range(depth + 1):
        before = time.perf_counter()
        leaves.append(count_leaves(rules, state, plies))
        spent = time.perf_counter() - before
        seconds += spent
        if not json:
            speed = f"{leaves[-1] / spent:,.0f}" if spent > 1e-3 else ""
            say(f"{plies:5d} {leaves[-1]:16,} {spent:9.3f} {speed:>14}")
    if json:
        print_json(
            {"game": rules.id, "depth": depth, "leaves": leaves[-1], "leaves_by_depth": leaves, "seconds": seconds}
        )


def count_leaves(game: Game, state: Int8s, depth: int) -> int:
    """`game.count_leaves`, in parts."""
    import numpy as np

    from palaestra.games.rows import ONGOING

    frontier, ended = state[None], 0
    for _ in range(min(depth, SPLIT)):
        over = game.outcome(frontier) != ONGOING
        ended += int(over.sum())
        frontier = frontier[~over]
        counts, actions = game.legal(frontier)
        chosen = actions[np.arange(actions.shape[1]) < counts[:, None]]
        frontier = game.advance(np.repeat(frontier, counts, axis=0), chosen)
    if depth <= SPLIT:
        return ended + len(frontier)
    return ended + sum(game.count_leaves(row, depth - SPLIT) for row in frontier)
