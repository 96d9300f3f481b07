"""What the processes of a page are asked: a move, an analysis while it grows. Texts in, objects of `live` out.

Games and players are made once a process and kept while they are used.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from palaestra.arena.openings import default_plies, make_book
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.live.analysis import PositionAnalysis, analyse_live
from palaestra.live.position import Position
from palaestra.live.role_play import RoleDocument, RoleMover, RolePlay
from palaestra.players.base import Analysis, Player
from palaestra.players.exact import InstantJudge
from palaestra.players.registry import make_player
from palaestra.work.asked import Tell

EVERY = 0.15  # seconds between two thoughts: a page shows more than five a second
KEPT = 16  # players a process keeps; a network takes a few megabytes


@lru_cache(maxsize=KEPT)
def _player(text: str, game: str) -> Player:
    return make_player(text, make_game(game))


def choose(game: str, moves: str, player: str, seed: int, tell: Tell) -> int:
    """The action that a player chooses after these moves; the seed and the ply decide its random numbers."""
    position = Position(make_game(game), moves)
    stream = keyed_seeds(seed, len(position.states))
    return int(_player(player, game).act(position.state[None], stream)[0])


def think(game: str, moves: str, player: str, seed: int, tell: Tell) -> PositionAnalysis:
    """What a player thinks of a position: told while it thinks, and its last word."""
    position = Position(make_game(game), moves)
    last = None
    for last in analyse_live(position, player=_player(player, game), seed=seed, every=EVERY):
        tell(last)
    assert last is not None
    return last


def warm(game: str, tell: Tell) -> None:
    """Load what the first search of a game needs, so that nobody waits for it later."""
    rules = make_game(game)
    make_player("uct(simulations=2)" if rules.players == 2 else "random", rules).act(
        rules.initial(1, np.random.default_rng(0)), np.random.default_rng(0)
    )


def look(game: str, moves: str, player: str, seed: int, tell: Tell) -> Analysis:
    """What a player thinks of a position, with the certain result of each move where that takes a moment."""
    position = Position(make_game(game), moves)
    rng = np.random.default_rng([seed, len(position.actions)])
    return _judge(game).complete(position.state, _player(player, game).analyse(position.state, rng))


def opening(game: str, seed: int, tell: Tell) -> str:
    """The moves of a random opening."""
    rules = make_game(game)
    (found,) = make_book(rules, 1, default_plies(rules, 1), seed)
    position = Position.at_start(rules, found.start)
    for action in found.moves:
        position = position.after(action)
    return position.text


def roles(game: str, turns: list[list[str]], tell: Tell) -> RoleDocument:
    """A game of several roles after some turns."""
    return _role_play(game).go(turns).document()


def choose_role(game: str, turns: list[list[str]], role: str, player: str, seed: int, tell: Tell) -> str:
    """The move that a player chooses in a role."""
    return _role_mover(game, role, player, seed).choose(turns)


@lru_cache(maxsize=KEPT)
def _judge(game: str) -> InstantJudge:
    return InstantJudge(make_game(game))


@lru_cache(maxsize=4)
def _role_play(game: str) -> RolePlay:
    return RolePlay(game)


@lru_cache(maxsize=KEPT)
def _role_mover(game: str, role: str, player: str, seed: int) -> RoleMover:
    return RoleMover(game, role, player, seed)
