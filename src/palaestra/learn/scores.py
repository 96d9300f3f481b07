"""How good an agent is where there is one player: its scores, beside those of players that never change.

All of them play from the same beginnings: starts of the game, or where it has few, some random plies from there, as in
a match; without them the games of a player that draws nothing would be one game many times (sources: traps). A nested
search plays a beginning by one search, as in `palaestra solve`. Game k draws from streams keyed by (seed, k) alone, so
that the number of threads changes nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from palaestra.arena.openings import Opening, default_plies, make_book
from palaestra.arena.parallel import split
from palaestra.arena.statistics import student_95
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, playing_search
from palaestra.players.solo import WholeGames, play_each
from palaestra.rewards.base import Reward
from palaestra.runs.game_record import GameRecord, distinct_courses
from palaestra.runs.metrics import Score
from palaestra.search.config import SearchConfig

ScoreListener = Callable[[str, int], None]  # (player, its games that are finished)
AGENT = "evaluation"  # who played, as solutions say
LOCKSTEP = 64  # games of one thread at once


class Scored(NamedTuple):
    """The games of one player, and what they say."""

    score: Score
    records: tuple[GameRecord, ...]


def play_scores(
    game: Game,
    model: bytes,
    search: SearchConfig,
    anchors: Sequence[str],
    *,
    games: int,
    simulations: int,
    threads: int,
    seed: int,
    averaged: bool = False,
    reward: Reward | None = None,
    listen: ScoreListener | None = None,
) -> list[Scored]:
    """The agent and each anchor from the same beginnings; `search` is that of the agent's self-play."""
    book = make_book(game, games, 0 if game.num_starts >= 2 * games else default_plies(game, games), seed)
    playing, text = playing_search(search, simulations), f"agent(simulations={simulations})"
    agents = [make_agent(game, text, model, playing, averaged, reward=reward) for _ in range(threads)]
    scores = [_play(agents, book, seed, listen)]
    for anchor in anchors:
        scores.append(_play([make_player(anchor, game) for _ in range(threads)], book, seed, listen))
    return scores


def score_of(player: str, records: Sequence[GameRecord]) -> Score:
    """What these games of a player say."""
    outcomes = np.array([record.final_outcome for record in records], dtype=np.float64)
    mean, games = float(outcomes.mean()), len(outcomes)
    margin = student_95(games - 1) * float(outcomes.std(ddof=1)) / math.sqrt(games) if games > 1 else None
    return Score(
        player,
        mean,
        None if margin is None else mean - margin,
        None if margin is None else mean + margin,
        int(outcomes.max()),
        games,
        distinct_courses(records),
    )


def _play(players: Sequence[Player], book: Sequence[Opening], seed: int, listen: ScoreListener | None) -> Scored:
    """All beginnings by equal players, one a thread; an error or an interrupt stops all at their next move."""
    game, stop = players[0].game, threading.Event()
    states = np.stack([_begin(game, opening) for opening in book])
    finished: list[int] = []

    def play(player: Player, share: range) -> list[WholeGames]:
        parts = []
        for at in range(share.start, share.stop, LOCKSTEP):
            numbers = range(at, min(at + LOCKSTEP, share.stop))
            parts.append(play_each(player, states[at : numbers.stop], seed, numbers, stop))
            finished.append(len(numbers))
            if listen is not None:
                listen(players[0].text, sum(finished))
        return parts

    shares = split(range(len(book)), len(players))
    with ThreadPoolExecutor(len(shares)) as pool:
        try:
            under_way = [pool.submit(play, player, share) for player, share in zip(players, shares, strict=False)]
            parts = [part for future in under_way for part in future.result()]
        except BaseException:
            stop.set()
            raise
    ends = [int(outcome) for part in parts for outcome in part.outcomes]
    lines = [line for part in parts for line in part.lines]
    records = tuple(
        GameRecord(number, opening.start, (*opening.moves, *map(int, line)), len(opening.moves), end, first=AGENT)
        for number, (opening, line, end) in enumerate(zip(book, lines, ends, strict=True))
    )
    return Scored(score_of(players[0].text, records), records)


def _begin(game: Game, opening: Opening) -> Int8s:
    """The state int8[S] after an opening."""
    state = game.start(np.array([opening.start], dtype=np.int64))
    for move in opening.moves:
        state = game.advance(state, np.array([move], dtype=np.int32))
    return np.asarray(state[0])
