"""A tournament's file while it grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import RecordError
from palaestra.live.tournament import PlayedTournament, tournament
from palaestra.live.tournament_file import TournamentFile
from palaestra.runs.pgn_games import read_games

Played = tuple[bytes, PlayedTournament]
PLAYERS = ("random", "greedy", "uct(simulations=5)")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    file = tmp_path_factory.mktemp("tournament") / "games.pgn"
    found = tournament("tic_tac_toe-3x3", PLAYERS, games=4, pgn=str(file), threads=1)
    return file.read_bytes(), found


def test_the_whole_file_gives_the_tables_of_the_tournament_itself(tmp_path: Path, played: Played) -> None:
    data, found = played
    (tmp_path / "games.pgn").write_bytes(data)
    file = TournamentFile(tmp_path / "games.pgn", PLAYERS)
    assert file.look() and len(file.games) == 12
    assert file.crosstable().tallies == found.played.crosstable.tallies
    assert file.ratings().elo == pytest.approx(found.ratings.elo)


def test_a_file_that_grows_byte_by_byte_gives_each_game_once(tmp_path: Path, played: Played) -> None:
    data, _ = played
    path = tmp_path / "games.pgn"
    file, counts = TournamentFile(path, PLAYERS), []
    assert not file.look()
    for end in range(0, len(data) + 97, 97):
        path.write_bytes(data[:end])
        file.look()
        counts.append(len(file.games))
    assert counts[-1] == 12 and sorted(counts) == counts and len(set(counts)) > 6
    assert [game.moves for game in file.games] == [game.moves for game in read_games(data.decode())]
    assert not file.look()


def test_players_without_a_game_are_listed(tmp_path: Path) -> None:
    file = TournamentFile(tmp_path / "none.pgn", PLAYERS)
    assert not file.look()
    assert file.crosstable().players == PLAYERS
    assert file.ratings().games.tolist() == [0, 0, 0]


def test_a_file_that_is_no_pgn_is_an_error_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.mkdir()
    with pytest.raises(RecordError, match="it is a folder"):
        TournamentFile(path).look()
