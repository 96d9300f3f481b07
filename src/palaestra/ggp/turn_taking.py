"""What random games show about rules that are to become a Game: who waits for whom, and how games end.

Rules do not say that players take turns; `look` plays random games and refuses rules that do not. What no random game
met, the compiled rules meet later and refuse then. Equal rules give equal answers: the random games are always the
same. Knows no Game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import GameError
from palaestra.base.types import Bools, Int32s, UInt64s
from palaestra.ggp.board_layout import Board
from palaestra.ggp.game_length import CAP, Counters, Growth, random_moves
from palaestra.ggp.kernels import LANES
from palaestra.ggp.propnet import PropNet


class NotInTurn(GameError):
    """Rules of a game that is sound, but of more roles than two or of moves at once."""


@dataclass(frozen=True, eq=False)
class Habits:
    """What was seen."""

    idle: Bools  # [moves of all roles]: made by some role while another one had a choice
    ends: Int32s  # [games that ended, roles]: the goals
    counter: tuple[int, ...]  # facts that hold one after another, from the start to the last ply; or nothing
    max_plies: int  # of the counter, or of a board that fills up, or CAP


def look(net: PropNet, board: Board | None) -> Habits:
    """Play as many random games as a word has bits; GameError if they are not played in turn, or get stuck."""
    if len(net.roles) > 2:
        raise NotInTurn(f"there are {len(net.roles)} roles ({', '.join(net.roles)}), and a Game has 1 or 2")
    rng, bounds = np.random.default_rng(0), net.gates.roles
    states = net.initial_states(LANES)
    idle = np.zeros(len(net.gates.legal), dtype=np.bool_)
    counters, growth = Counters(net), Growth(net, board)
    met: list[UInt64s] = []
    ends: list[Int32s] = []
    if net.survey(states)[0].any():
        raise GameError("the initial state is terminal, and a Game has moves")
    for _ in range(CAP):
        over, legal = net.survey(states)
        ends.append(net.score(states[over]))
        states, legal = states[~over], legal[~over]
        counters.observe(states)
        if not len(states):
            break
        counts = np.stack([legal[:, bounds[r] : bounds[r + 1]].sum(axis=1) for r in range(len(net.roles))], axis=1)
        refuse(stuck=bool((counts == 0).any()), at_once=bool(((counts > 1).sum(axis=1) > 1).any()))
        for role in range(len(net.roles)):
            waiting = (np.delete(counts, role, axis=1) > 1).any(axis=1)
            idle[bounds[role] : bounds[role + 1]] |= legal[waiting, bounds[role] : bounds[role + 1]].any(axis=0)
        met.append(states[rng.integers(len(states))][None])
        after = net.advance(states, random_moves(legal, bounds, rng))
        growth.observe(states, after)
        states = after
    sample = np.concatenate(met)
    counter = counters.settle(sample)
    lengths = [len(counter) - 1 if counter else None, growth.settle(sample)]
    max_plies = min((length for length in lengths if length is not None), default=CAP)
    return Habits(_of_all_roles(net, idle), np.concatenate(ends), counter, max_plies)


def _of_all_roles(net: PropNet, idle: Bools) -> Bools:
    """What is waiting for one role is waiting for the other: noop is noop."""
    moves = [move for own in net.moves for move in own]
    waiting = {moves[number] for number in np.flatnonzero(idle)}
    return np.array([move in waiting for move in moves], dtype=np.bool_)


def refuse(stuck: bool, at_once: bool) -> None:
    """GameError for a state that no Game can have, NotInTurn for one that is sound all the same."""
    if stuck:
        raise GameError("the rules lead to a state that is not terminal and where a role has no legal move")
    if at_once:
        raise NotInTurn("both roles can choose in the same state, and a Game is played in turn")
