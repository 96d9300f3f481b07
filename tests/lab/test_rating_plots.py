"""Pictures of ratings: files of the right kind, whole, and showing what they were given."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from palaestra.arena.ratings import Results, rate
from palaestra.base.errors import PalaestraError
from palaestra.lab.elo_curves import Curve, Point
from palaestra.lab.rating_plots import (
    crosstable_figure,
    elo_over_iterations_figure,
    figure_format,
    labels,
    ratings_figure,
    save_figure,
    scores_of,
    tournament_figures,
)
from tests.learn.run_folders import make_run

GAMES = [*3 * [("a", "b", 1.0)], ("b", "a", 1.0), ("b", "c", 0.5), ("c", "a", 0.0)]


def texts_of(path: Path) -> list[str]:
    """The words of an SVG."""
    return ["".join(node.itertext()).strip() for node in ElementTree.parse(path).iter() if node.tag.endswith("text")]


def tournament(games: list[tuple[str, str, float]], players: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(results=Results.count(games, players))


def test_scores_are_the_rows_points_against_the_column_whoever_began() -> None:
    scores = scores_of(Results.count(GAMES), ["c", "a", "b"])
    expected = [[np.nan, 0, 0.5], [1, np.nan, 0.75], [0.5, 0.25, np.nan]]
    np.testing.assert_allclose(scores, expected)
    apart = scores_of(Results.count([("a", "b", 1.0), ("c", "d", 0.5)]), ["a", "b", "c", "d"])
    assert np.isnan(apart[0, 2]) and apart[3, 2] == 0.5


def test_a_tournament_without_checkpoints_gives_two_pictures(tmp_path: Path) -> None:
    written = tournament_figures(tournament(GAMES), tmp_path / "out.svg")
    assert written == [tmp_path / "out.svg", tmp_path / "out-crosstable.svg"]
    assert sorted(tmp_path.iterdir()) == sorted(written)
    ratings, table = (texts_of(path) for path in written)
    assert [text for text in ratings if text in "abc"] == ["a", "b", "c"] and "Elo, with 95 % intervals" in ratings
    numbers = [text for text in table if text.isdigit()]
    assert numbers == ["75", "100", "25", "50", "0", "50"], "best player first, row by row"


def test_checkpoints_of_runs_give_a_third_with_both_elos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs" / "one")
    games = [("run:one@2", "run:one@0", 1.0), ("run:one@0", "random", 1.0), ("random", "run:one@2", 0.0)]
    written = tournament_figures(tournament(games), tmp_path / "out.svg")
    assert written[-1] == tmp_path / "out-iterations.svg"
    words = texts_of(written[-1])
    assert "tournament Elo" in words and any(text.startswith("running Elo of training") for text in words)
    assert "Elo, run one, 95 % intervals" in words


def test_ratings_that_are_given_are_the_ones_drawn(tmp_path: Path) -> None:
    results = Results.count(GAMES)
    rated = rate(results)
    shifted = type(rated)(**{**rated.__dict__, "elo": rated.elo + 3000})
    tournament_figures(tournament(GAMES), tmp_path / "own.svg")
    tournament_figures(tournament(GAMES), tmp_path / "given.svg", shifted)
    assert "3000" in texts_of(tmp_path / "given.svg") and "3000" not in texts_of(tmp_path / "own.svg")


@pytest.mark.parametrize(("name", "begins"), [("p.png", b"\x89PNG"), ("p.PNG", b"\x89PNG"), ("p.svg", b"<?xml")])
def test_the_ending_says_the_format_and_the_same_figure_gives_the_same_bytes(
    tmp_path: Path, name: str, begins: bytes
) -> None:
    figure = ratings_figure(rate(Results.count(GAMES)))
    save_figure(figure, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert data.startswith(begins)
    save_figure(ratings_figure(rate(Results.count(GAMES))), tmp_path / name)
    assert (tmp_path / name).read_bytes() == data


@pytest.mark.parametrize("name", ["p.pdf", "p", "p.png.gz"])
def test_other_formats_are_refused_in_one_line_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(PalaestraError, match=r"must end in \.png or \.svg, not .*; for example ratings\.png"):
        tournament_figures(tournament(GAMES), tmp_path / name)
    assert not list(tmp_path.iterdir())
    with pytest.raises(PalaestraError, match="cannot write"):
        tournament_figures(tournament(GAMES), tmp_path / "missing" / "p.png")
    assert figure_format(Path("a.Svg")) == "svg"


def test_a_player_without_games_is_not_drawn(tmp_path: Path) -> None:
    tournament_figures(tournament(GAMES, ("idle",)), tmp_path / "out.svg")
    assert "idle" not in texts_of(tmp_path / "out.svg")


def test_names_are_shortened_only_where_they_stay_different() -> None:
    long = [f"run:{'x' * 30}{number}{'y' * 30}@best" for number in (1, 2)]
    assert labels(long) == long
    (short,) = labels(long[:1])
    assert len(short) == 42 and short.startswith("run:xx") and short.endswith("y@best")
    assert labels(["random", "greedy"]) == ["random", "greedy"]


def test_the_heat_map_grows_with_its_players_and_leaves_pairings_without_games_blank(tmp_path: Path) -> None:
    small, large = (crosstable_figure([f"p{i}" for i in range(n)], np.full((n, n), 0.5)) for n in (2, 40))
    assert large.get_figwidth() > 3 * small.get_figwidth()
    save_figure(crosstable_figure(["a", "b"], np.array([[np.nan, np.nan], [0.25, np.nan]])), tmp_path / "t.svg")
    assert [text for text in texts_of(tmp_path / "t.svg") if text.isdigit()] == ["25"]


def test_elo_over_iterations_names_every_way_of_playing_and_the_number_of_runs(tmp_path: Path) -> None:
    def curve(run: str, way: str, height: float) -> Curve:
        points = {at: Point(height + at, 10, 12) for at in (0, 5, 10)}
        return Curve(run, 10, way, points, {at: Point(2 * at, 5, 5) for at in points})

    runs = [curve(run, way, height) for run, height in (("r", 0), ("s", 40)) for way in ("run(simulations=50)", "net")]
    save_figure(elo_over_iterations_figure(runs), tmp_path / "several.svg")
    words = texts_of(tmp_path / "several.svg")
    assert "Elo, mean of 2 runs, 95 % intervals" in words
    assert {"tournament Elo, run(simulations=50)", "tournament Elo, net"} <= set(words)
    assert sum(text.startswith("running Elo") for text in words) == 1
    alone = elo_over_iterations_figure([Curve("r", 10, "net", runs[0].tournament, {})])
    save_figure(alone, tmp_path / "alone.svg")
    words = texts_of(tmp_path / "alone.svg")
    assert "Elo, run r, 95 % intervals" in words and not any(text.startswith("running") for text in words)
