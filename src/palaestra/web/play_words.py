"""Sentences about a game at the board: whose turn it is, and how it ended."""

from __future__ import annotations

from palaestra.live.game_in_play import GameInPlay
from palaestra.live.words import SIDES


def status_words(game: GameInPlay, is_thinking: bool, is_paused: bool) -> tuple[str, str]:
    """A sentence for people, and the mood that it is shown in: a class of the style sheet, or nothing."""
    if game.is_over:
        return _ended(game)
    player, people = game.mover, game.players.count(None)
    if is_thinking and player is not None:
        return f"{player.text} is thinking …", ""
    side = SIDES[game.position.to_play]
    if player is not None:
        return (f"{player.text} is to move" if is_paused else f"{player.text} moves"), ""
    if game.game.players == 1:
        return "Your move", ""
    return (f"Your turn: you are the {side} player" if people == 1 else f"The {side} player's turn"), ""


def _ended(game: GameInPlay) -> tuple[str, str]:
    result = game.result or ""
    shown = result[:1].upper() + result[1:]
    if game.points is None or game.players.count(None) != 1:
        return shown, ""
    own = game.points if game.players[0] is None else 1 - game.points
    how = {1.0: "You win", 0.5: "A draw", 0.0: "You lose"}[own]
    if own == 0.5:
        return shown, ""
    return f"{how}: {result}", "pl-won" if own else "pl-lost"
