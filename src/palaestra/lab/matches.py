"""Matches of networks and players for experiments: one alone, or many at once on one table.

On a table every player is asked once a step about all its games, whoever it meets, so that a tournament of small
networks takes a fraction of the time that its matches take one by one. A game is the same either way. Knows runs and
players, and neither experiments nor jobs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palaestra.lab.data import Row

if TYPE_CHECKING:
    from palaestra.arena.match import MatchResult
    from palaestra.games.base import Game
    from palaestra.players.base import Player

MEMORY = 2**15  # positions that an agent remembers: a tournament has many agents at once
GAMES_A_PLAYER = 64  # that run at once, counted once for both players


@dataclass(frozen=True)
class Match:
    """A pairing: places in a list of players, how many games, and the seed of its openings and moves."""

    a: int
    b: int
    games: int
    seed: int


def play_matches(game: Game, players: Sequence[Player], matches: Sequence[Match]) -> Iterator[tuple[int, MatchResult]]:
    """Each match by its place in the list, as it ends: the games that `play_match` would play, all on one table."""
    from palaestra.arena.match import LOCKSTEP, MatchResult, check_match
    from palaestra.arena.openings import default_plies, make_book
    from palaestra.arena.table import Scheduled, Table
    from palaestra.runs.game_record import GameRecord

    lockstep = max(LOCKSTEP, GAMES_A_PLAYER * len(players))
    plies = {games: default_plies(game, games // 2) for games in {match.games for match in matches}}
    schedule: list[Scheduled] = []
    owners: list[int] = []  # the match of each game
    for place, match in enumerate(matches):
        check_match(game, match.games, lockstep)
        book, first = make_book(game, match.games // 2, plies[match.games], match.seed), len(schedule)
        for n in range(match.games):
            sides = (match.a, match.b) if n % 2 == 0 else (match.b, match.a)
            schedule.append(Scheduled(first + n, *sides, book[n // 2], match.seed, n))
        owners += [place] * match.games
    ended: dict[int, list[GameRecord]] = {}
    for records in Table(game, players, schedule).play(lockstep):
        for record in records:
            place = owners[record.number]
            own = ended.setdefault(place, [])
            own.append(record)
            match = matches[place]
            if len(own) == match.games:
                in_order = tuple(sorted(ended.pop(place), key=lambda one: one.number))
                texts = players[match.a].text, players[match.b].text
                yield place, MatchResult(game.id, *texts, in_order, plies[match.games], math.nan, (math.nan, math.nan))


def final_agent(game: Game, folder: Path | str, name: str, simulations: int, iteration: int | None = None) -> Player:
    """The network that a run plays with, or that of an iteration, under the reward that the run has learned."""
    from palaestra.nets.cache import Cached
    from palaestra.nets.evaluator import OnnxEvaluator
    from palaestra.players.runs import open_run, playing_search
    from palaestra.players.tree import TreePlayer

    run = open_run(str(folder))
    search, reward = playing_search(run.search, simulations), run.make_reward(game)
    model = run.network(run.best if iteration is None else iteration)
    return TreePlayer(game, name, Cached(OnnxEvaluator(game, model, reward=reward), game, MEMORY), search, reward)


def match_row(match: MatchResult) -> Row:
    """What a match says: results, how many games differ, margins and lengths, from A's view."""
    from palaestra.arena.match import a_first, points_of_a

    won, lost = (_mean(len(r.moves) for r in match.records if points_of_a(r) == points) for points in (1.0, 0.0))
    own = ((r.outcome or 0) * (1 if a_first(r) else -1) for r in match.records)
    return {
        "wins": match.wins,
        "draws": match.draws,
        "losses": match.losses,
        "distinct_games": match.distinct_games,
        "margin": _mean(own),
        "won_plies": won,
        "lost_plies": lost,
    }


def _mean(numbers: Iterable[float]) -> float | None:
    known = [number for number in numbers if math.isfinite(number)]
    return sum(known) / len(known) if known else None
