"""Positions whose every move is known to win, draw or lose, and how often an agent errs on them.

A mistake is a move when another one has a strictly better sign (win > draw > loss); how soon or by how much does not
count. The error rate is mistakes over all positions of a set, those too where no mistake is possible.

Sets come from four places: all reachable positions of a game that has few (`all_positions`), positions of random games
on small boards that a solver judges (`solved_sample`), the same near the end of a game on larger ones (`late_sample`),
or a file of scored positions (`read_positions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.arena.parallel import split
from palaestra.arena.statistics import score_interval
from palaestra.base.errors import MoveError, RecordError
from palaestra.base.reading import MOST_TEXT, parse_json, read_bytes
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Bools, Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.players.base import Player
from palaestra.players.exact import Judge, solved_moves
from palaestra.players.perfect import RETROGRADE
from palaestra.players.policy import PolicyPlayer
from palaestra.players.runs import make_agent, playing_search
from palaestra.rewards.base import Reward
from palaestra.search.config import SearchConfig
from palaestra.search.connect_four_solver import solver_for
from palaestra.search.retrograde import Retrograde

ILLEGAL = -2  # in place of a sign
NOT_LEGAL = np.iinfo(np.int32).min  # in place of an outcome
MOST_POSITIONS = 10_000  # a game with more is sampled
LARGEST_BOARD = 27  # cells up to which a sample can be solved
SAMPLE = 200  # positions of a sample
ATTEMPTS = 3  # as many positions are tried for one that is kept
NODES = 300_000  # a move that needs more to be solved leaves its position out: on 5×5 boards, some of the earliest
LATE = 16  # plies before the end of a random game, from which a position of a larger board is solved
LATE_NODES = 3_000_000  # of those: Othello needs some
PARTS = 2  # a sample is solved in so many threads; fixed, because it says which positions are tried
AT_ONCE = 1024  # positions searched in one lockstep batch


@dataclass(frozen=True, eq=False)
class PositionSet:
    """Positions int8[N, S] with the sign int8[N, A] of each move for the mover: 1, 0, -1, or ILLEGAL.

    `outcomes` int32[N, A] say by how much, for the mover, where that is known too; of illegal moves they mean nothing.
    """

    name: str
    states: Int8s
    signs: Int8s
    outcomes: Int32s | None = None

    def mistakes(self, actions: Int32s) -> Bools:
        """bool[N]: whether another move has a strictly better sign than the chosen one."""
        chosen = self.signs[np.arange(len(self.signs)), actions]
        return np.asarray(chosen < self.signs.max(axis=1))

    def lost(self, actions: Int32s) -> float | None:
        """How much the chosen moves give away of the best outcome, on average; None where outcomes are not known."""
        if self.outcomes is None:
            return None
        rows = np.arange(len(self.outcomes))
        best = np.where(self.signs == ILLEGAL, NOT_LEGAL, self.outcomes).max(axis=1)
        return float((best - self.outcomes[rows, actions]).mean())

    @property
    def fallible(self) -> int:
        """How many positions have a move that is a mistake."""
        worst = np.where(self.signs == ILLEGAL, 2, self.signs).min(axis=1)
        return int((worst < self.signs.max(axis=1)).sum())


@dataclass(frozen=True)
class ErrorRate:
    """Mistakes of an agent on one set; 0 simulations is the network alone."""

    positions_of: str
    simulations: int
    mistakes: int
    positions: int
    fallible: int  # of the positions, those that have a move that is a mistake
    lost: float | None = None  # of the outcome, such as discs, on average over all positions; None: not known

    @property
    def rate(self) -> float:
        return self.mistakes / self.positions

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval (Wilson, corrected), as if the set were a sample of its kind of positions."""
        return score_interval(self.mistakes, 0, self.positions - self.mistakes)


def error_rates(
    game: Game,
    model: bytes,
    search: SearchConfig,
    sets: Sequence[PositionSet],
    simulations: Sequence[int],
    *,
    threads: int = 1,
    seed: int = 0,
    averaged: bool = False,
    reward: Reward | None = None,
) -> list[ErrorRate]:
    """For every number of simulations (0: the network alone) and every set, how often the agent errs.

    A search with `averaged` asks the network in every orientation; the network alone is always as it is. Searches are
    under `reward`, by default the game's own.
    """
    rates = []
    for count in simulations:
        players = [_player(game, model, search, count, averaged, reward) for _ in range(threads)]
        for positions in sets:
            chosen = choose(players, positions.states, seed)
            mistakes, of = int(positions.mistakes(chosen).sum()), len(positions.states)
            rates.append(ErrorRate(positions.name, count, mistakes, of, positions.fallible, positions.lost(chosen)))
    return rates


def choose(players: Sequence[Player], states: Int8s, seed: int) -> Int32s:
    """The players' moves int32[N]: equal copies of one player share the positions, one thread each."""
    chosen = np.empty(len(states), dtype=np.int32)

    def work(player: Player, rows: range) -> None:
        for at in range(rows.start, rows.stop, AT_ONCE):
            part = range(at, min(at + AT_ONCE, rows.stop))
            streams = keyed_seeds(seed, np.array(part))
            chosen[part.start : part.stop] = player.act(states[part.start : part.stop], streams)

    with ThreadPoolExecutor(len(players)) as pool:
        shares = split(range(len(states)), len(players))
        list(pool.map(work, players, shares))
    return chosen


def _player(
    game: Game, model: bytes, search: SearchConfig, simulations: int, averaged: bool, reward: Reward | None
) -> Player:
    if simulations == 0:
        return PolicyPlayer(game, "the network alone", OnnxEvaluator(game, model))
    return make_agent(game, "the agent", model, playing_search(search, simulations, reuse=False), averaged, reward)


def own_oracle(game: Game, seed: int = 0) -> PositionSet | None:
    """All positions of a game that has few, a solved sample of a small board, or None for anything larger.

    Only compiled rules are fast enough for a sample: a solver asks them millions of times, one state after the other.
    Made once a process for each game and seed.
    """
    return _own_oracle(game, seed)


@lru_cache(maxsize=8)
def _own_oracle(game: Game, seed: int) -> PositionSet | None:
    _, height, width = game.observation_shape
    if game.players != 2 or height * width > LARGEST_BOARD:
        return None
    if (every := all_positions(game)) is not None or not isinstance(game, KernelGame):
        return every
    return solved_sample(game, SAMPLE, seed)


def all_positions(game: Game, most: int = MOST_POSITIONS) -> PositionSet | None:
    """Every reachable position that is not over, solved backwards; None if there are more than `most`.

    A state holds its ply, so that the positions of one ply follow only from those of the ply before.
    """
    levels: list[Int8s] = []
    level = np.unique(game.start(np.arange(game.num_starts)), axis=0)
    while len(level):
        levels.append(level)
        if sum(map(len, levels)) > most:
            return None
        _, _, after = _children(game, level)
        level = np.unique(after[game.outcome(after) == ONGOING], axis=0)
    signs: list[Int8s] = []
    known: dict[bytes, int] = {}  # sign for the first player, of the positions of the next ply
    for level in reversed(levels):
        parents, moves, after = _children(game, level)
        ends = game.outcome(after)
        first = np.array(
            [
                np.sign(end) if end != ONGOING else known[state.tobytes()]
                for end, state in zip(ends, after, strict=True)
            ],
            dtype=np.int8,
        )
        table = np.full((len(level), game.num_actions), ILLEGAL, dtype=np.int8)
        table[parents, moves] = first * (1 - 2 * level[parents, 0])
        known = {
            state.tobytes(): int(best)
            for state, best in zip(level, table.max(axis=1) * (1 - 2 * level[:, 0]), strict=True)
        }
        signs.append(table)
    return PositionSet(f"all positions of {game.id}", np.concatenate(levels), np.concatenate(signs[::-1]))


def solved_sample(game: Game, count: int, seed: int = 0, nodes: int = NODES) -> PositionSet:
    """Up to `count` distinct positions, each from a uniformly chosen ply of a random game, every move solved.

    A position with a move that is not solved within `nodes` is left out.
    """
    return _solved(game, _random_positions(game, ATTEMPTS * count, seed), count, nodes, exact=False)


@lru_cache(maxsize=8)
def late_sample(game: Game, count: int = SAMPLE, seed: int = 0) -> PositionSet | None:
    """The same of a board that is too large to be solved: the position is one of the last LATE of its game.

    Where outcomes are margins they are solved, too. None for a game whose rules are not compiled, or for one player.
    """
    if game.players != 2 or not isinstance(game, KernelGame):
        return None
    states = _random_positions(game, ATTEMPTS * count, seed, last=LATE)
    found = _solved(game, states, count, LATE_NODES, exact=game.tiebreak == "margin")
    return replace(found, name=f"{len(found.states)} late positions of {game.id}")


def _solved(game: Game, states: Int8s, count: int, nodes: int, exact: bool) -> PositionSet:
    """The first `count` of the positions whose every move is solved within `nodes`."""
    backwards = game.id.partition("-")[0] in RETROGRADE

    # Made here and not in the threads: compiled loops are bound to a game by one thread at a time.
    judges: list[Judge] = [
        Retrograde(game).solve if backwards else partial(solver_for(game, nodes).solve, exact=exact)
        for _ in range(PARTS)
    ]

    def solve(judge: Judge, part: range) -> list[Int32s | None]:
        found: list[Int32s | None] = []
        for row in part:
            found.append(_outcomes(game, judge, states[row]))
            if sum(one is not None for one in found) >= -(-count // PARTS):
                break
        return found

    parts = split(range(len(states)), PARTS)
    with ThreadPoolExecutor(PARTS) as pool:
        solved = [
            (row, one)
            for part, found in zip(parts, pool.map(solve, judges, parts), strict=True)
            for row, one in zip(part, found, strict=False)
            if one is not None
        ]
    rows = [row for row, _ in solved[:count]]
    outcomes = np.array([one for _, one in solved[:count]], dtype=np.int32).reshape(-1, game.num_actions)
    legal = outcomes != NOT_LEGAL
    signs = np.where(legal, np.sign(outcomes), ILLEGAL).astype(np.int8)
    return PositionSet(f"{len(rows)} positions of {game.id}", states[rows], signs, outcomes if exact else None)


def _outcomes(game: Game, judge: Judge, state: Int8s) -> Int32s | None:
    """The outcome int32[A] of each move for the mover, or its sign; None if one is too hard."""
    outcomes = np.full(game.num_actions, NOT_LEGAL, dtype=np.int32)
    for move, outcome in solved_moves(game, judge, state):
        if outcome is None:
            return None
        outcomes[move] = outcome * (1 - 2 * int(state[0]))
    return outcomes


def _children(game: Game, states: Int8s) -> tuple[Int64s, Int32s, Int8s]:
    """For every legal move of every state: the state's row, the move, and the state after it."""
    counts, actions = game.legal(states)
    parents = np.repeat(np.arange(len(states)), counts)
    moves = actions[np.arange(actions.shape[1]) < counts[:, None]]
    return parents, moves, game.advance(states[parents], moves)


def _random_positions(game: Game, count: int, seed: int, last: int | None = None) -> Int8s:
    """Distinct positions that are not over, in a random order: at most `count`, one of each random game.

    It is one of the `last` of its game, or any.
    """
    streams = keyed_seeds(seed, np.arange(count))
    rng = np.random.default_rng([seed, count])
    states = game.initial(count, rng)
    played = game.rollout(states, streams, trace=True)
    assert played.lengths is not None and played.moves is not None
    among = played.lengths if last is None else np.minimum(played.lengths, last)
    stops = played.lengths - among + (rng.random(count) * among).astype(np.int64)
    for ply in range(int(stops.max())):
        rows = np.flatnonzero(stops > ply)
        states[rows] = game.advance(states[rows], played.moves[rows, ply])
    _, first = np.unique(states, axis=0, return_index=True)
    return states[np.sort(first)]


def read_positions(path: Path | str, game: Game) -> list[PositionSet]:
    """The sets of a JSON file: {"set": [{"moves": "3216…", "scores": [3, null, -1, …]}, …], …}.

    `moves` are in the game's notation; `scores` are by action for the mover, > 0 wins, null where a move is illegal.
    """
    try:
        body = parse_json(read_bytes(path, MOST_TEXT))
    except OSError as error:
        raise RecordError(f"cannot read {path} ({(error.strerror or str(error)).lower()})") from None
    except ValueError:
        raise RecordError(f"{path} is not JSON; a file of positions is JSON, see: palaestra evaluate --help") from None
    if not isinstance(body, dict) or not body:
        raise RecordError(
            f'{path} holds no sets of positions; it should be {{"name": [{{"moves": …, "scores": […]}}]}}'
        )
    return [_read_set(path, game, str(name), entries) for name, entries in body.items()]


def _read_set(path: Path | str, game: Game, name: str, entries: Any) -> PositionSet:
    if not isinstance(entries, list) or not entries:
        raise RecordError(f"{path}: the set {name!r} is empty or not a list of positions")
    states = np.empty((len(entries), game.state_size), dtype=np.int8)
    signs = np.full((len(entries), game.num_actions), ILLEGAL, dtype=np.int8)
    for row, entry in enumerate(entries):
        where = f"{path}: position {row + 1} of {name!r}"
        try:
            moves, scores = entry["moves"], entry["scores"]
            states[row] = game.from_moves(moves)
            given = [ILLEGAL if score is None else int(np.sign(score)) for score in scores]
        except MoveError as error:
            raise RecordError(f"{where} cannot be reached in {game.id}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RecordError(f"{where} is not {{moves: text, scores: list}}") from None
        if len(given) != game.num_actions:
            raise RecordError(f"{where} has {len(given)} scores; {game.id} has {game.num_actions} actions")
        signs[row] = given
    counts, actions = game.legal(states)
    legal = np.zeros(signs.shape, dtype=np.bool_)
    listed = np.arange(actions.shape[1]) < counts[:, None]
    legal[np.repeat(np.arange(len(states)), counts), actions[listed]] = True
    wrong = np.flatnonzero(((signs != ILLEGAL) != legal).any(axis=1) | (counts == 0))
    if wrong.size:
        raise RecordError(
            f"{path}: position {wrong[0] + 1} of {name!r} is over, or its scores are not of its legal moves"
        )
    return PositionSet(name, states, signs)
