"""Self-play without a search: moves drawn from the network's policy (Alg. 7; sources: ranked reward).

`Sampling` answers a table of games as a search does. What is learned from is decided when the games are over: in a
success, z > 0, the policy is the move that was played. In a failure it is a row of zeros, from which -πᵀ log p learns
nothing; its value is learned all the same. Most games fail, and more the higher the threshold: `failures` keeps some of
their positions, for the value's sake. So few positions are kept that the games are played again to have them: those of
20,000 games of Morpion would take eight gigabytes.

Alg. 7 has the network's own policy in all games, from which a network learns nothing that it does not know;
`selfplay.sampled_policy=network` asks for it.

Knows no network: an evaluator answers for positions. Nothing is remembered from one move to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palaestra.base.types import Bools, Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.learn.examples import Examples
from palaestra.players.policy import ask, draw_rows
from palaestra.runs.game_record import GameRecord
from palaestra.search.decide import SearchResult
from palaestra.search.evaluator import Evaluator


class Sampling:
    """Draws moves from policy^(1/T); T = 0 takes the network's favourite, of equals the first."""

    def __init__(self, game: Game, evaluator: Evaluator, *, keep: bool = False) -> None:
        self.game, self.evaluator = game, evaluator
        self.keep = keep  # whether policies are told, to be learned from

    def run(
        self, states: Int8s, streams: UInt64s, rows: Int64s, temperatures: Float64s, simulations: int | None = None
    ) -> SearchResult:
        """A move for every state int8[M, S] by one evaluation; `rows` and `simulations` mean something to trees only.

        Values are the network's own, for the player to move; what only a tree knows of its moves has no columns.
        """
        counts, actions, logits, values = ask(self.game, self.evaluator, states)
        chosen = np.empty(len(states), dtype=np.int32)
        draw_rows(counts, actions, logits, temperatures, streams.copy(), chosen)
        none = np.empty((len(states), 0), dtype=np.float32)
        policy = _policies(counts, actions, logits, temperatures, chosen) if self.keep else none
        return SearchResult(
            counts=np.zeros(len(states), dtype=np.int32),
            actions=none.astype(np.int32),
            visits=none.astype(np.int32),
            q=none,
            prior=none,
            policy=policy,
            values=values,
            proven=np.zeros(len(states), dtype=np.bool_),
            chosen=chosen,
            simulations=np.zeros(len(states), dtype=np.int32),
        )


def _policies(counts: Int32s, actions: Int32s, logits: Float32s, temperatures: Float64s, chosen: Int32s) -> Float32s:
    """float32[M, L]: what the moves were drawn from; all weight on the favourite, which is chosen, at T = 0."""
    legal = np.arange(actions.shape[1]) < counts[:, None]
    warm = temperatures > 0.0
    scaled = (
        np.take_along_axis(logits, np.where(legal, actions, 0), axis=1) / np.where(warm, temperatures, 1.0)[:, None]
    )
    scaled = np.where(legal, scaled, -np.inf)
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    weights[~warm] = (legal & (actions == chosen[:, None]))[~warm]
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def examples_of_games(
    game: Game,
    records: Sequence[GameRecord],
    settled: Float32s,
    failures: float | None,
    rng: np.random.Generator,
    *,
    all_moves: bool = False,
) -> Examples:
    """The positions of successes with the move played, and `failures` times as many others without (None: all).

    `settled` [E] is what each game was worth to the first player; a position is a success where its game was one to
    the player who moved there. Moves of random openings are not learned from. With `all_moves` policies are the moves
    played in failures, too.
    """
    drawn = [np.arange(record.opening_plies, len(record.moves)) for record in records]
    numbers = np.repeat(np.arange(len(records)), [len(some) for some in drawn])
    moved = np.concatenate(drawn)
    if game.players == 1:  # who moves is known without the positions, of which few are kept
        kept = _with_failures(settled[numbers] > 0, failures, rng)
        numbers, moved = numbers[kept], moved[kept]
        states = positions_of(game, records, numbers, moved)
    else:
        states = positions_of(game, records, numbers, moved)
        kept = _with_failures(_worth(settled[numbers], game.to_play(states)) > 0, failures, rng)
        numbers, moved, states = numbers[kept], moved[kept], states[kept]
    worth = _worth(settled[numbers], game.to_play(states))
    counts, actions = game.legal(states)
    pairs = zip(numbers.tolist(), moved.tolist(), strict=True)
    played = np.array([records[number].moves[at] for number, at in pairs], dtype=np.int32)
    listed = np.arange(actions.shape[1]) < counts[:, None]
    policy = listed & (actions == played[:, None]) & ((worth > 0) | all_moves)[:, None]
    outcomes = np.array([record.final_outcome for record in records], dtype=np.int32)
    return Examples(
        states=states,
        policy=policy.astype(np.float32),
        value=worth,
        game=numbers.astype(np.int32),
        ply=game.plies(states),
        outcome=outcomes[numbers],
    )


def _worth(settled: Float32s, movers: Int8s) -> Float32s:
    """What games are worth to these players, where it is `settled` to the first; a draw is 0, not -0."""
    return np.where(movers == 0, settled, -settled) + np.float32(0)


def positions_of(game: Game, records: Sequence[GameRecord], numbers: Int64s, moved: Int64s) -> Int8s:
    """int8[n, S]: the games `numbers` [n] after so many of their moves, `moved` [n]; they are played in lockstep."""
    needed, rows = np.unique(numbers, return_inverse=True)
    last = np.zeros(len(needed), dtype=np.int64)
    np.maximum.at(last, rows, moved)
    played = [records[number] for number in needed.tolist()]
    states = game.start(np.array([record.start for record in played], dtype=np.int64))
    found = np.empty((len(numbers), states.shape[1]), dtype=np.int8)
    for at in range(int(last.max(initial=-1)) + 1):
        wanted = moved == at
        found[wanted] = states[rows[wanted]]
        running = np.flatnonzero(last > at)
        chosen = np.array([played[row].moves[at] for row in running.tolist()], dtype=np.int32)
        states[running] = game.advance(states[running], chosen)
    return found


def _with_failures(success: Bools, failures: float | None, rng: np.random.Generator) -> Bools:
    """The positions of successes [n], and `failures` times as many others, at least one; None: all of them."""
    others = np.flatnonzero(~success)
    if failures is None or not len(others):
        return np.ones_like(success)
    count = min(len(others), max(1, round(failures * np.count_nonzero(success))))
    kept = success.copy()
    kept[rng.choice(others, count, replace=False)] = True
    return kept
