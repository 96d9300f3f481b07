"""Table 6.1 of the thesis: small matches, intervals over networks, the published numbers beside them."""

from __future__ import annotations

import pytest

from palaestra.arena.match import MatchResult
from palaestra.arena.statistics import student_95
from palaestra.base.errors import ConfigError
from palaestra.lab import table_6_1
from palaestra.lab.table_6_1 import GAMES, PUBLISHED, Cell
from tests.arena.fakes import counted


def fake_match(points: list[float]) -> MatchResult:
    records = tuple(counted(number, p, (number,)) for number, p in enumerate(points))
    return MatchResult("connect_four-6x6", "wro", "none", records, 2, 0.0, (0.0, 0.0))


def test_every_enhancement_is_played_on_every_game_with_every_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_6_1, "DEFAULT", table_6_1.DEFAULT.model_copy(update={"simulations": 4}))
    told: list[str] = []
    cells = list(table_6_1.table_6_1(games=8, networks=2, net="b1c4", threads=2, listen=told.append))
    assert [(cell.game, cell.enhancement) for cell in cells] == [(g, name) for g in GAMES for name in PUBLISHED]
    assert len(told) == 15
    for cell in cells:
        assert [match.games for match in cell.matches] == [4, 4] and cell.games == 8
        assert [match.a for match in cell.matches] == [cell.enhancement] * 2 and cell.matches[0].b == "none"
        assert cell.matches[0].records != cell.matches[1].records
        assert not any(match.faults for match in cell.matches)
    again = next(table_6_1.table_6_1(games=8, networks=2, net="b1c4", threads=1))
    assert [match.records for match in again.matches] == [match.records for match in cells[0].matches]


def test_the_interval_is_that_of_the_mean_over_networks() -> None:
    scores = ([1.0] * 10, [1.0] * 5 + [0.0] * 5, [1.0] * 8 + [0.0] * 2, [0.0] * 10)
    cell = Cell("connect_four-6x6", "wro", 82.0, tuple(fake_match(points) for points in scores))
    assert cell.score == pytest.approx(0.575)
    spread = (((0.425**2) + 0.075**2 + 0.225**2 + 0.575**2) / 3) ** 0.5
    assert cell.spread == pytest.approx(spread)
    assert cell.interval == pytest.approx((0.0, 1.0))  # four networks so far apart say nothing
    assert cell.agrees and cell.total("wins") == 23


def test_networks_that_score_alike_do_not_make_the_interval_vanish() -> None:
    cell = Cell("connect_four-6x6", "wro", 72.0, (fake_match([1.0] * 10), fake_match([1.0] * 10)))
    low, high = cell.interval
    assert cell.spread == 0.0 and high == 1.0 and 0.75 < low < 0.85 and not cell.agrees


@pytest.mark.parametrize(
    ("freedom", "exact"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (19, 2.093), (200, 1.972)]
)
def test_students_t_is_near_its_tables(freedom: int, exact: float) -> None:
    assert student_95(freedom) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(("games", "networks"), [(10, 3), (10, 1), (7, 2)])
def test_games_that_cannot_be_shared_in_pairs_are_refused(games: int, networks: int) -> None:
    with pytest.raises(ConfigError, match="400 games and 20 networks"):
        next(table_6_1.table_6_1(games=games, networks=networks))


def test_an_unknown_network_is_refused_before_anything_is_played() -> None:
    with pytest.raises(ConfigError, match="unknown network"):
        next(table_6_1.table_6_1(games=8, networks=2, net="resnet"))
