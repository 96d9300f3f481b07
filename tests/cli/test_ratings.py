from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from palaestra.arena.ratings import RatingConfig, Results, rate
from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s
from palaestra.cli.ratings import print_ratings, ratings_table, superiority_table
from palaestra.live.ratings import rating_config
from tests.arena.simulated import simulate

WIDTH = 100
GAMES = [("uct(simulations=50)", "random", 1.0)] * 9 + [("random", "uct(simulations=50)", 0.5)] * 3


def lines(table: Table) -> list[str]:
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def round_robin(elo: Float64s) -> Results:
    pairs = [(i, j) for i in range(len(elo)) for j in range(len(elo)) if i != j]
    results = simulate(np.random.default_rng(1), elo, pairs, 4)
    names = tuple(f"run:a-long-name/of-a-run@{i}(simulations={100 + i})" for i in range(len(elo)))
    return Results(names, results.first, results.second, results.wins, results.draws, results.losses)


def test_the_table_has_a_line_a_player_with_the_figures_of_the_ratings() -> None:
    rated = rate(Results.count(GAMES, players=["idle"]))
    heading, best, worst, idle = lines(ratings_table(rated))
    assert heading.split() == ["player", "Elo", "+", "−", "games", "score", "oppo.", "draws"]
    elo, plus, minus = (f"{values[1]:.0f}" for values in (rated.elo, rated.plus, rated.minus))
    assert best.split() == ["1", "uct(simulations=50)", elo, plus, minus, "12", "87.5", "%", f"−{elo}", "25.0", "%"]
    assert worst.split()[:5] == ["2", "random", f"−{elo}", minus, plus]
    assert idle.split() == ["idle", "–", "0"]


def test_groups_that_cannot_be_compared_stand_apart() -> None:
    rated = rate(Results.count([*GAMES, ("a", "b", 1.0)]))
    assert lines(ratings_table(rated))[3].strip() == ""
    assert lines(superiority_table(rated))[1].split()[-2:] == ["–", "–"]


@pytest.mark.parametrize("size", [2, 8, 12])
def test_a_matrix_of_superiority_fits_into_the_columns_and_tells_players_apart(size: int) -> None:
    rated = rate(round_robin(np.linspace(150, -150, size)))
    order, chances = rated.order(), rated.superiority()
    shown = lines(superiority_table(rated, WIDTH))
    assert len(shown) == size  # the last player is above nobody
    assert max(map(len, shown)) <= WIDTH
    assert shown[0].split()[2:] == [str(place) for place in range(2, size + 1)]
    for place, line in enumerate(shown[1:], start=1):
        rank, name, *cells = line.split()
        assert rank == str(place) and name.endswith(rated.players[order[place - 1]][-5:])
        assert cells == [f"{100 * chances[order[place - 1], j]:.0f}" for j in order[place:]]


def test_with_more_players_only_neighbours_are_compared() -> None:
    rated = rate(round_robin(np.linspace(150, -150, 18)))
    order, chances = rated.order(), rated.superiority()
    shown = lines(superiority_table(rated))
    assert len(shown) == 19
    best = [f"{100 * chances[order[0], j]:.0f}" for j in order[1:3]]
    assert shown[1].split() == ["1", rated.players[order[0]], *best]
    assert len(shown[-1].split()) == 2


def test_what_made_the_ratings_and_what_to_know_about_them_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_ratings(rate(Results.count([*GAMES, ("random", "random", 1.0)]), rating_config("0", anchor="random=0")))
    words = " ".join(capsys.readouterr().out.split())
    assert "Bayesian Elo, random is 0, 95 % intervals; advantage 0.0, draw 97.3, prior 2." in words
    assert "Note: games of a player against itself, left out: 1." in words


def test_the_comparison_of_players_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    for superiority in (True, False):
        print_ratings(rate(Results.count(GAMES)), superiority=superiority)
        assert ("Likelihood of superiority" in capsys.readouterr().out) is superiority


def test_the_options_are_those_of_the_configuration() -> None:
    assert rating_config() == RatingConfig()
    assert rating_config("fit", " fit", "0.5", "uct(simulations=50)=-20.5") == RatingConfig(
        advantage=None, draw=None, prior=0.5, anchor=("uct(simulations=50)", -20.5)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"advantage": "much"}, "--advantage is 'much'; it must be a number from -2000 to 2000, or fit; for example"),
        ({"advantage": "nan"}, "--advantage is 'nan'"),
        ({"draw": "-1"}, "--draw is '-1'; it must be a number from 0 to 2000, or fit; for example 97.3"),
        ({"prior": "fit"}, "--prior is 'fit'; it must be a number from 0.001 to 1000; for example 2"),
        ({"prior": "0"}, "--prior is '0'"),
        ({"anchor": "uct(simulations=50)"}, "--anchor is 'uct(simulations=50)'; write a player, = and its Elo"),
        ({"anchor": "=3"}, "for example --anchor random=0"),
    ],
)
def test_an_option_that_cannot_be_used_is_named_with_what_is_accepted(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        rating_config(**options)
    assert message in str(refusal.value)
