"""Tournaments: every pairing is a match, and the PGN file is a journal that nothing is lost from or played twice in."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.journal import Journal
from palaestra.arena.match import play_match
from palaestra.arena.openings import Openings
from palaestra.arena.schedule import Format, Pairing, match_seed
from palaestra.arena.tournament import Progress, Tournament, play_tournament
from palaestra.base.errors import ConfigError, GameError, PlayerError, RecordError
from palaestra.games.registry import make_game
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.inference_speed import model_bytes
from palaestra.players.base import Player
from palaestra.players.policy import PolicyPlayer
from palaestra.players.registry import make_player
from palaestra.runs.game_record import GameRecord
from palaestra.runs.pgn_games import read_games
from tests.arena.fakes import Drawing, Faulty, Lowest

TIC = make_game("tic_tac_toe-3x3")
TEXTS = ("uct(simulations=8)", "random", "mcs(playouts=2)", "greedy")


def team(texts: tuple[str, ...] = TEXTS) -> list[Player]:
    return [make_player(text, TIC) for text in texts]


def to_file(path: Path, format: Format = "round-robin", resume: bool = False, **options: object) -> Tournament:
    journal = Journal(path, resume)
    try:
        settings = {"games": 4, "seed": 3, **options}
        return play_tournament(TIC, team(), format=format, journal=journal, lockstep=6, **settings)  # type: ignore[arg-type]
    finally:
        journal.close()


def test_every_pairing_is_the_match_of_its_two_players() -> None:
    tournament = play_tournament(TIC, team(), 6, seed=5)
    for a, b in combinations(range(4), 2):
        seed = match_seed(5, Pairing(0, a, b))
        match = play_match(TIC, make_player(TEXTS[a], TIC), make_player(TEXTS[b], TIC), 6, seed=seed)
        own = [
            game
            for game in tournament.games
            if {game.first, game.second} == {tournament.players[a], tournament.players[b]}
        ]
        assert [game.moves for game in own] == [record.moves for record in match.records]
        assert tournament.crosstable.tallies[a, b] == (match.wins, match.draws, match.losses)


def test_the_table_adds_up_and_the_results_are_those_of_the_games() -> None:
    tournament = play_tournament(TIC, team(), 10, seed=1)
    table = tournament.crosstable
    assert all(sum(table.total(row)) == 30 for row in range(4))
    assert sum(table.score(row) for row in range(4)) == pytest.approx(2.0)
    results = tournament.results
    assert results.players == tournament.players
    assert int((results.wins + results.draws + results.losses).sum()) == len(tournament.games) == 60
    assert 0 < tournament.distinct_games <= 60


def test_the_standings_go_from_best_to_worst() -> None:
    table = Crosstable(("a", "b", "c"))
    for first, second, points in (("a", "b", 0.0), ("a", "b", 0.0), ("c", "a", 0.5), ("b", "c", 1.0), ("c", "b", 0.5)):
        table.add(GameRecord(0, 0, (), 0, None, points, first, second))
    assert table.standings() == [1, 2, 0]
    assert table.tallies[0, 1] == (0, 0, 2) and table.tallies[1, 0] == (2, 0, 0)
    assert table.total(2) == (0, 2, 1)
    low, high = table.interval(2)
    assert low < table.score(2) < high


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "swiss"])
def test_threads_and_lockstep_change_no_game(format: Format) -> None:
    plain = play_tournament(TIC, team(), 4, format=format, seed=2)
    for threads, lockstep in ((2, 5), (3, 100)):
        other = play_tournament(TIC, team(), 4, format=format, seed=2, threads=threads, lockstep=lockstep)
        assert other.games == plain.games


def test_random_openings_differ_from_pairing_to_pairing_and_those_of_a_list_do_not() -> None:
    def openings(source: Openings) -> list[list[tuple[int, ...]]]:
        games = play_tournament(TIC, [Lowest(TIC, name) for name in "abc"], 8, openings=source).games
        return [
            [game.moves[:2] for game in games if {game.first, game.second} == pairing]
            for pairing in (set("ab"), set("ac"), set("bc"))
        ]

    one, two, three = openings(Openings("random", 2))
    assert one != two != three != one
    one, two, three = openings(Openings("all", 2))
    assert one == two == three


def test_swiss_pairs_by_the_results_of_the_rounds_before() -> None:
    players = [Drawing(TIC, "a"), Faulty(TIC, lambda slots: [99] * len(slots)), Drawing(TIC, "c"), Drawing(TIC, "d")]
    tournament = play_tournament(TIC, players, 4, format="swiss", rounds=2)
    first, second = tournament.games[:8], tournament.games[8:]
    assert {frozenset((g.first, g.second)) for g in first} == {frozenset(("a", "faulty")), frozenset("cd")}
    loser = next(name for name in "cd" if sum(_points(first, name)) <= 2.0)
    assert frozenset(("faulty", loser)) in {frozenset((g.first, g.second)) for g in second}


def _points(games: list[GameRecord], name: str) -> list[float]:
    return [g.points_for((g.first, g.second).index(name)) for g in games if name in (g.first, g.second)]


def test_a_player_that_fails_loses_its_games_with_the_reason_and_the_tournament_goes_on(tmp_path: Path) -> None:
    def refuse(slots: list[int]) -> None:
        raise PlayerError("nothing to say")

    players = [Drawing(TIC, "a"), Faulty(TIC, refuse), Drawing(TIC, "c")]
    journal = Journal(tmp_path / "games.pgn")
    tournament = play_tournament(TIC, players, 4, journal=journal)
    assert tournament.crosstable.total(1) == (0, 0, 8)
    assert len(tournament.faults) == 8 and "faulty failed: PlayerError: nothing to say" in tournament.faults[0]
    written = read_games((tmp_path / "games.pgn").read_text())
    reasons = [game.tags["Termination"] for game in written if "faulty" in (game.tags["White"], game.tags["Black"])]
    assert set(reasons) == {"rules infraction: faulty failed: PlayerError: nothing to say"}
    assert sum(game.tags["Termination"] == "normal" for game in written) == 4


def test_players_with_networks_say_how_long_these_took_and_others_have_none(tmp_path: Path) -> None:
    model = model_bytes(TIC, "b1c8")
    assert isinstance(model, bytes)
    file = tmp_path / "net.onnx"
    file.write_bytes(model)
    texts = (f"puct({file}, simulations=5, averaged=true)", f"rave({file}, simulations=5, w=0.5)")
    asking = [*team(texts), PolicyPlayer(TIC, "policy", OnnxEvaluator(TIC, model))]
    before = [player.network_seconds for player in asking]
    tournament = play_tournament(TIC, [*asking, *team(("uct(simulations=5)",))], 4)
    spent = [after - earlier for player, earlier in zip(asking, before, strict=True)
             if (after := player.network_seconds) is not None and earlier is not None]  # fmt: skip
    assert len(spent) == 3 and min(spent) > 0.0
    assert tournament.network_seconds == pytest.approx(sum(spent))
    assert play_tournament(TIC, team(), 2).network_share is None


def test_the_listener_hears_the_score_up_to_the_end() -> None:
    heard: list[Progress] = []
    tournament = play_tournament(TIC, team(), 4, lockstep=5, listen=heard.append)
    assert [progress.finished for progress in heard] == sorted({progress.finished for progress in heard})
    assert (heard[-1].finished, heard[-1].total, heard[-1].seconds_left) == (24, 24, 0.0)
    assert heard[-1].crosstable.tallies == tournament.crosstable.tallies


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "swiss"])
def test_a_file_cut_off_anywhere_is_completed_to_the_same_bytes(tmp_path: Path, format: Format) -> None:
    whole = to_file(tmp_path / "whole.pgn", format)
    content = (tmp_path / "whole.pgn").read_bytes()
    for cut in (0, 1, len(content) // 3, len(content) // 2, len(content) - 1, len(content)):
        path = tmp_path / f"{cut}.pgn"
        path.write_bytes(content[:cut])
        resumed = to_file(path, format, resume=True)
        assert path.read_bytes() == content
        assert resumed.recalled == content[:cut].count(b"\n\n") // 2
        assert resumed.crosstable.tallies == whole.crosstable.tallies
        assert resumed.distinct_games == whole.distinct_games


def test_games_are_on_the_disk_in_order_while_others_are_still_played(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    journal = Journal(path)
    seen: list[int] = []

    def look(progress: Progress) -> None:
        games = read_games(path.read_text())
        assert len(games) <= progress.finished
        seen.append(len(games))

    play_tournament(TIC, team(), 4, journal=journal, lockstep=4, listen=look)
    assert 0 < seen[len(seen) // 2] < 24 and seen[-1] == 24


def test_a_tournament_of_more_games_goes_on_from_one_of_fewer(tmp_path: Path) -> None:
    openings = Openings("random", 2)
    to_file(tmp_path / "long.pgn", games=8, openings=openings)
    to_file(tmp_path / "short.pgn", games=4, openings=openings)
    assert to_file(tmp_path / "short.pgn", games=8, openings=openings, resume=True).recalled == 24
    assert (tmp_path / "short.pgn").read_bytes() == (tmp_path / "long.pgn").read_bytes()
    with pytest.raises(RecordError, match="48 games and this tournament only 24"):
        to_file(tmp_path / "long.pgn", games=4, openings=openings, resume=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((b"mcs(playouts=2)", b"mcs(playouts=3)"), "its (White|Black) is 'mcs"),
        ((b'Seed "3"', b'Seed "4"'), "its Seed is '4' and not '3'"),
        ((b"tic_tac_toe-3x3", b"tic_tac_toe-4x4"), "tic_tac_toe-4x4"),
        ((b"1-0\n\n", b"*\n\n"), "no result"),
        ((b'[Event "', b"{ what is this \n[Event"), r"games\.pgn, line \d"),
        ((b"", b"[ "), r"games\.pgn, line \d"),
        ((b'[Event "', b"# a shopping list\n\nmilk\n\n"), r"games\.pgn, line \d"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, change: tuple[bytes, bytes], words: str
) -> None:
    path = tmp_path / "games.pgn"
    to_file(path)
    changed = path.read_bytes().replace(*change, 1)[:-1]  # as files are that others wrote
    path.write_bytes(changed)
    with pytest.raises(RecordError, match=words):
        to_file(path, resume=True)
    assert path.read_bytes() == changed


def test_other_openings_are_noticed(tmp_path: Path) -> None:
    to_file(tmp_path / "games.pgn", openings=Openings("random", 2))
    with pytest.raises(RecordError, match="openings"):
        to_file(tmp_path / "games.pgn", openings=Openings("random", 3), resume=True)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text("dear diary")
    with pytest.raises(RecordError, match=r"games\.pgn exists; go on with it by --resume"):
        Journal(tmp_path / "games.pgn")
    journal = Journal(tmp_path / "new.pgn")
    journal.close()
    assert not (tmp_path / "new.pgn").exists(), "no game, no file"
    with pytest.raises(RecordError, match="cannot write"):
        Journal(tmp_path / "no" / "such" / "folder.pgn")


@pytest.mark.parametrize(
    ("texts", "words"),
    [((), "none is given"), (("random",), "only random"), (("random", "greedy", "random"), "random is given twice")],
)
def test_too_few_or_equal_players_are_refused(texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(PlayerError, match=words):
        play_tournament(TIC, team(texts), 4)


def test_odd_numbers_of_games_and_one_player_games_are_refused() -> None:
    with pytest.raises(ConfigError, match="even number"):
        play_tournament(TIC, team(), 3)
    morpion = make_game("morpion-4d")
    with pytest.raises(GameError, match="one player"):
        play_tournament(morpion, [Lowest(morpion, "a"), Lowest(morpion, "b")], 4)
