"""Table 5.1 of the thesis: small matches, the published numbers beside them."""

from __future__ import annotations

from palaestra.lab.table_5_1 import GAMES, PUBLISHED, table_5_1


def test_every_pairing_is_played_on_every_game_from_the_initial_position() -> None:
    told: list[str] = []
    cells = list(table_5_1(games=2, seed=1, listen=told.append))
    assert [(c.match.game, c.column, c.row) for c in cells] == [(g, *p) for g in GAMES for p in PUBLISHED]
    assert len(told) == len(cells) == 18
    assert all(c.match.games == 2 and c.match.opening_plies == 0 and not c.match.faults for c in cells)
    assert "simulations=100" in cells[0].match.a and cells[0].match.b == "random"


def test_a_published_number_agrees_exactly_when_it_lies_in_the_interval() -> None:
    for cell in table_5_1(games=2, seed=2):
        low, high = cell.match.interval
        assert cell.agrees == (100 * low <= cell.published <= 100 * high)
