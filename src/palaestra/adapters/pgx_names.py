"""Which games of PGX are games here, and why the others are not. Light: completion of the command line reads it."""

from __future__ import annotations

from typing import NamedTuple

EXAMPLE = "pgx:gardner_chess"


class Facts(NamedTuple):
    """What PGX does not say of a game: its longest play, and the most legal actions, where they are not all."""

    max_plies: int
    max_legal: int | None = None


GAMES = {
    "animal_shogi": Facts(256),
    "chess": Facts(512, 218),
    "connect_four": Facts(42),
    "gardner_chess": Facts(256),
    "go_9x9": Facts(162),
    "go_19x19": Facts(722),
    "hex": Facts(122),
    "othello": Facts(128),
    "shogi": Facts(512, 593),
    "tic_tac_toe": Facts(9),
}
REFUSED = {
    "2048": "chance decides something",
    "backgammon": "chance decides something",
    "bridge_bidding": "something is hidden from a player",
    "kuhn_poker": "something is hidden from a player",
    "leduc_holdem": "something is hidden from a player",
    "mahjong": "something is hidden from a player",
    "sparrow_mahjong": "something is hidden from a player",
}
