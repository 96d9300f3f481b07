from __future__ import annotations

import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.text import Parts
from palaestra.players.text import parse_player


def test_a_player_is_read_by_the_common_grammar() -> None:
    assert parse_player("run:NAME@best(ms=20)") == Parts("run", "NAME@best", keywords={"ms": 20})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("UCT", r"'UCT' is not a player: .*; for example uct\(simulations=200\)"),
        ("run:", r"nothing stands after the colon; for example run:NAME@best\(simulations=100\)"),
    ],
)
def test_an_unreadable_player_is_refused_in_the_words_of_players(text: str, complaint: str) -> None:
    with pytest.raises(PlayerError, match=complaint):
        parse_player(text)
