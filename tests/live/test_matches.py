"""Matches, tournaments and ratings, while they are made and when they are done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.arena.rating_model import RatingConfig
from palaestra.base.errors import ConfigError, RecordError
from palaestra.live.match import MatchStanding, match
from palaestra.live.ratings import rate, rating_config
from palaestra.live.tournament import TournamentStanding, tournament
from palaestra.players.registry import make_player

GAME = "tic_tac_toe-3x3"


def test_a_match_is_heard_while_it_is_played() -> None:
    heard: list[MatchStanding] = []
    played = match(GAME, "perfect", "random", 20, threads=1, lockstep=2, listen=heard.append)
    last = json.loads(json.dumps(heard[-1].document()))
    assert len(heard) > 3 and last["finished"] == last["games"] == 20
    assert last["score"] == played.score == played.document()["score"]
    assert heard[-1].words.startswith(f"+{played.result.wins} ")


def test_a_player_object_plays_the_games_that_its_text_plays() -> None:
    from palaestra.games.registry import make_game

    game = make_game(GAME)
    texts = match(GAME, "uct(simulations=20)", "random", 10)
    objects = match(game, make_player("uct(simulations=20)", game), "random", 10)
    assert texts.result.records == objects.result.records


def test_objects_show_themselves() -> None:
    played = match(GAME, "perfect", "random", 4)
    assert repr(played).startswith("perfect against random on tic_tac_toe-3x3\n  score")
    page = played._repr_html_()
    assert "Elo difference" in page and "<table" in page


def test_a_tournament_shows_its_standings_and_ratings(tmp_path: Path) -> None:
    heard: list[TournamentStanding] = []
    file = str(tmp_path / "games.pgn")
    played = tournament(GAME, ["random", "greedy", "perfect"], 4, pgn=file, listen=heard.append)
    standing = json.loads(json.dumps(heard[-1].document()))
    assert standing["finished"] == standing["total"] == 12
    assert standing["scores"] == sorted(standing["scores"], reverse=True)
    document = played.document()
    assert document["pgn"] == file and document["players"][0] == standing["players"][0]
    assert "random" in repr(played) and played._repr_html_().count("<table") == 2
    rated = rate(file)
    elos = [{row["player"]: round(row["elo"], 6) for row in one.as_json()} for one in (rated.ratings, played.ratings)]
    assert elos[0] == elos[1], "the same games give the same ratings"
    assert rated.document()["games"] == 12 and "Bayesian Elo" in repr(rated) and "<table" in rated._repr_html_()


def test_the_defaults_of_ratings_are_those_of_the_model() -> None:
    assert rating_config() == RatingConfig()
    assert rating_config("fit", "fit").advantage is None
    assert rating_config(anchor="uct(simulations=50)=100").anchor == ("uct(simulations=50)", 100.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: match(GAME, "random", "random", 4, openings="all:2", opening_plies=3), "exclude each other"),
        (lambda: tournament(GAME, ["random", "greedy"], resume=True), "--resume goes on with a file"),
        (lambda: tournament(GAME, ["random", "greedy"], anchor="perfect=0"), "not among the players"),
        (lambda: tournament(GAME, ["random", "human"]), "a person cannot play many games"),
        (lambda: rate(__file__, prior=-1), "--prior is '-1'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(ConfigError, match=words):
        call()


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(RecordError, match="cannot read nowhere"):
        rate("nowhere.pgn")
