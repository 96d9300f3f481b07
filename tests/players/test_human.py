from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.games.registry import make_game
from palaestra.players.human import HumanPlayer

TIC = make_game("tic_tac_toe-3x3")


def scripted(*answers: str) -> tuple[HumanPlayer, list[str]]:
    """A person who types these answers, and the list of what was asked."""
    asked: list[str] = []
    waiting = iter(answers)

    def ask(prompt: str) -> str:
        asked.append(prompt)
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    return HumanPlayer(TIC, "human", ask), asked


def test_a_person_is_shown_the_board_and_asked_for_each_state() -> None:
    player, asked = scripted("a1", "c3")
    assert player.act(TIC.initial(2), np.random.default_rng(0)).tolist() == [0, 8]
    assert len(asked) == 2 and TIC.render(TIC.initial(1)[0]) in asked[0]


def test_an_illegal_answer_is_asked_again_with_what_is_legal() -> None:
    player, asked = scripted("b2", "a1")
    assert player.act(TIC.from_moves("b2")[None], np.random.default_rng(0)).tolist() == [0]
    assert "legal: a1" in asked[1]


def test_the_end_of_the_input_is_said() -> None:
    player, _ = scripted()
    with pytest.raises(PlayerError, match="input has ended"):
        player.act(TIC.initial(1), np.random.default_rng(0))
