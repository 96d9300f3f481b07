"""Whole games for one player: what a restart of a search is, whichever player makes it.

- a nested search finds a whole line by itself: one search from the position is one game;
- `random` plays compiled random games, thousands to a call;
- every other player is asked for one move after the other, in lockstep where it has a network.

Game k draws from streams keyed by (seed, k) alone, so that it is the same in any company and on any thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from palaestra.base.stopping import stop_if_asked
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s, Int32s
from palaestra.games.rows import ONGOING
from palaestra.players.base import Player
from palaestra.players.nested import NestedPlayer
from palaestra.players.simple import RandomPlayer

RANDOM_GAMES, RANDOM_ROWS = 16_384, 256  # random games at once, and how many of them to a compiled call
NETWORK_GAMES = 32


@dataclass(frozen=True, eq=False)
class WholeGames:
    """Finished games: outcomes int32[N], and of each the actions from the position on, int32[length]."""

    outcomes: Int32s
    lines: list[Int32s]


def games_at_once(player: Player) -> int:
    """How many games of this player make one piece of work: one, unless a batch of them is much faster."""
    if isinstance(player, RandomPlayer):
        return RANDOM_GAMES
    if isinstance(player, NestedPlayer) or player.network_seconds is None:
        return 1
    return NETWORK_GAMES


def is_shared(player: Player) -> bool:
    """Whether several threads may play whole games with this one player."""
    return isinstance(player, NestedPlayer | RandomPlayer)


def play_whole(
    player: Player, state: Int8s, seed: int, numbers: range, stopped: threading.Event | None = None
) -> WholeGames:
    """The games with these numbers from state int8[S], which is not over; `stopped` makes it raise Stopped."""
    if isinstance(player, NestedPlayer):
        found = [player.search(state, keyed_seeds(seed, number), stopped) for number in numbers]
        return WholeGames(
            np.array([one.outcome for one in found], dtype=np.int32),
            [np.array(one.actions, dtype=np.int32) for one in found],
        )
    if isinstance(player, RandomPlayer):
        return _random_games(player, state, seed, numbers, stopped)
    return _lockstep_games(player, np.repeat(state[None], len(numbers), axis=0), seed, numbers, stopped)


def play_each(
    player: Player, states: Int8s, seed: int, numbers: range, stopped: threading.Event | None = None
) -> WholeGames:
    """The games with these numbers, each from a row of states int8[N, S] of its own, none of which is over."""
    if not is_shared(player):
        return _lockstep_games(player, states, seed, numbers, stopped)
    each = [
        play_whole(player, state, seed, range(number, number + 1), stopped)
        for state, number in zip(states, numbers, strict=True)
    ]
    return WholeGames(np.concatenate([games.outcomes for games in each]), [games.lines[0] for games in each])


def _random_games(
    player: RandomPlayer, state: Int8s, seed: int, numbers: range, stopped: threading.Event | None
) -> WholeGames:
    outcomes, lines = [], list[Int32s]()
    for at in range(0, len(numbers), RANDOM_ROWS):
        stop_if_asked(stopped)
        some = np.array(numbers[at : at + RANDOM_ROWS], dtype=np.int64)
        ends = player.game.rollout(np.repeat(state[None], len(some), axis=0), keyed_seeds(seed, some), trace=True)
        assert ends.moves is not None and ends.lengths is not None
        outcomes.append(ends.outcomes)
        lines += [row[:length] for row, length in zip(ends.moves, ends.lengths, strict=True)]
    return WholeGames(np.concatenate(outcomes), lines)


def _lockstep_games(
    player: Player, states: Int8s, seed: int, numbers: range, stopped: threading.Event | None
) -> WholeGames:
    """The stream of a move is keyed by (seed, game, ply), as in a match."""
    game, slots, states = player.game, np.array(numbers, dtype=np.int64), states.copy()
    played: list[list[int]] = [[] for _ in slots]
    running = np.arange(len(slots))
    ply = 0
    try:
        while running.size:
            stop_if_asked(stopped)
            actions = player.act(states[running], keyed_seeds(seed, slots[running], ply), slots[running])
            for row, action in zip(running, actions, strict=True):
                played[row].append(int(action))
            states[running] = game.advance(states[running], actions)
            running = running[game.outcome(states[running]) == ONGOING]
            ply += 1
    finally:
        player.forget(slots)
    return WholeGames(game.outcome(states), [np.array(line, dtype=np.int32) for line in played])
