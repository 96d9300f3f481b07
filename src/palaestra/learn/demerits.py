"""Demerits: what an agent gives away against a perfect opponent (Schmidt et al.; sources: demerits).

From every initial position two games are played, one on each side, without noise. The hand-tuned score of a game is
±(1 - t / max_plies) for a result at ply t and 0 for a draw; demerits are minus its sum. Perfect play has 0: what it
wins on one side of a start it loses on the other after as many plies; 18 games lost at once would have 18. On
opposition-3x9 an agent that keeps every result and ignores how long games last has about 5.55, random play 16.5.

Only games that `perfect` has solved before the first move can be judged so, in every generation and in little time.
Knows no training and no network: agents are players.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palaestra.arena.match import MatchListener, a_first
from palaestra.arena.openings import Opening
from palaestra.arena.parallel import Team, play_parallel
from palaestra.base.errors import ConfigError, PlayerError
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.players.perfect import RETROGRADE, PerfectPlayer
from palaestra.rewards.registry import make_reward
from palaestra.runs.metrics import Demerits


def check_demerits(game: Game) -> None:
    """ConfigError if demerits are not defined for a game."""
    if game.id.partition("-")[0] not in RETROGRADE:
        raise ConfigError(
            f"demerits need a game that is solved beforehand ({', '.join(RETROGRADE)}), not {game.id}; "
            "for example opposition-3x9, or evaluation.demerits=false"
        )


def demerit_games(game: Game) -> int:
    """How many games are played: each initial position from both sides."""
    return 2 * game.num_starts


def play_demerits(game: Game, agents: Sequence[Player], seed: int = 0, listen: MatchListener | None = None) -> Demerits:
    """The demerits of an agent; `agents` are equal copies of it, one for each thread.

    The seed decides only between moves of the perfect player that are equally good, and what the agent itself draws.
    """
    check_demerits(game)
    book = [Opening(start, ()) for start in range(game.num_starts)]
    teams: list[Team] = [(agent, PerfectPlayer(game, "perfect")) for agent in agents]
    match = play_parallel(game, teams, demerit_games(game), book=book, seed=seed, listen=listen)
    if match.faults:
        raise PlayerError(f"demerits: {match.faults[0]}")
    outcomes = np.array([record.final_outcome for record in match.records], dtype=np.int32)
    sides = np.array([1.0 if a_first(record) else -1.0 for record in match.records])
    scores = sides * make_reward("hand_tuned", game).value(outcomes)
    return Demerits(
        0.0 - float(scores.sum()),  # and not -0.0 for perfect play
        match.wins, match.draws, match.losses, match.mean_plies,
    )  # fmt: skip
