"""Programs as players: what they are told, and what becomes of one that dies, hangs, lies or talks nonsense."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.arena.tournament import play_tournament
from palaestra.base.errors import EngineError, PlayerError
from palaestra.base.user_code import begin_command
from palaestra.games.registry import make_game
from palaestra.live.game_in_play import GameInPlay
from palaestra.players.engines import MOST_FAILURES, EnginePlayer
from palaestra.players.engines_notation import UciMoves, Vertices
from palaestra.players.registry import make_player, read_player
from tests.protocols.commands import fake
from tests.protocols.squares import GAME as RACE

TIC = make_game("tic_tac_toe-3x3")


def test_a_program_plays_whole_games_in_lockstep() -> None:
    result = play_match(TIC, make_player(fake("gtp"), TIC), make_player("random", TIC), 8, seed=1)
    assert result.faults == [] and result.games == 8
    vertices = Vertices(TIC)
    for record in result.records:  # it plays the first free point, counted from the bottom
        state = TIC.initial(1)[0]
        for ply, move in enumerate(record.moves):
            if ply >= record.opening_plies and (ply % 2 == 0) == (record.number % 2 == 0):
                assert vertices.vertex(state, move) == min(vertices.legal(state), key=lambda text: (text[1], text[0]))
            state = TIC.advance(state[None], np.array([move], np.int32))[0]


def test_a_program_that_speaks_uci_plays_whole_games() -> None:
    engine = make_player(fake("uci", options='"Skill Level=3"', nodes=20), RACE)
    result = play_match(RACE, engine, make_player("random", RACE), 6, opening_plies=1, seed=2)
    assert result.faults == []
    own = [
        UciMoves(RACE).text(RACE.initial(1)[0], record.moves[0]) for record in result.records if not record.number % 2
    ]
    assert len(own) == 3


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("die", "died: no answer to 'genmove black', exit code 3; it said 'out of memory'"),
        ("hang", "hung: no answer to 'genmove black' in time"),
        ("illegal", "answered 'Z9', which is not a legal move"),
        ("nonsense", "answered 'what?' to 'genmove black', which is not GTP"),
        ("flood", "genmove black"),
        ("refuse", "refused 'genmove black': 'no'"),
        ("resign", "resigned"),
        ("once", "died"),
    ],
)
def test_a_program_that_fails_loses_that_game_and_no_other(mode: str, words: str) -> None:
    engine = make_player(fake("gtp", mode, wait=0.5 if mode in ("hang", "flood") else 60), TIC)
    result = play_match(TIC, engine, make_player("random", TIC), 2, opening_plies=0, seed=3)
    assert result.losses == 2
    assert len(result.faults) == 2 and words in result.faults[0]
    assert "Error" not in result.faults[0]


@pytest.mark.parametrize("mode", ["die", "hang", "illegal"])
def test_a_program_of_uci_that_fails_loses_too(mode: str) -> None:
    engine = make_player(fake("uci", mode, wait=0.5 if mode == "hang" else 60, ms=10), RACE)
    result = play_match(RACE, engine, make_player("random", RACE), 2, opening_plies=0, seed=3)
    assert result.losses == 2 and len(result.faults) == 2


def test_a_tournament_goes_on_without_the_program_that_fails() -> None:
    players = [make_player(text, TIC) for text in (fake("gtp", "die"), "random", "greedy")]
    played = play_tournament(TIC, players, 4, seed=5)
    assert len(played.games) == 12
    assert len(played.faults) == 8 and all("fake_gtp.py die" in fault for fault in played.faults)


def test_a_program_that_hangs_is_waited_for_a_few_times_only() -> None:
    engine = make_player(fake("gtp", "hang", wait=0.2), TIC)
    began = time.monotonic()
    result = play_match(TIC, engine, make_player("random", TIC), 40, seed=6)
    assert result.losses == 40
    assert time.monotonic() - began < 40 * 0.2  # each game alone would have taken as long
    assert sum("hung" in fault for fault in result.faults) == MOST_FAILURES
    assert "failed 3 times in a row and is not asked any more" in result.faults[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (lambda: fake("gtp", "mute", wait=0.3), "hung"),
        (lambda: fake("gtp", "old"), "speaks version '1' of GTP, not 2"),
        (lambda: fake("uci", "mute", wait=0.3), "hung: no uciok in time"),
        (lambda: fake("uci", options='"Skil Level=3"'), "has no option 'Skil Level' (did you mean Skill Level?)"),
    ],
)
def test_a_program_that_cannot_play_is_refused_before_the_first_game(
    text: Callable[[], str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = text()
    if "mute" in made:
        monkeypatch.setattr("palaestra.players.engines.START", 0.3)
    with pytest.raises(PlayerError) as error:
        make_player(made, TIC if made.startswith("gtp") else RACE)
    assert words in str(error.value)


def test_another_size_is_refused_by_a_program_that_has_it_not() -> None:
    with pytest.raises(PlayerError, match="refused 'boardsize 4': 'unacceptable size'"):
        make_player(fake("gtp"), make_game("tic_tac_toe-4x4"))


def test_a_program_hears_of_its_time_in_whole_seconds(tmp_path: Path) -> None:
    make_player(fake("gtp", "clocks", str(tmp_path / "heard"), ms=1500), TIC)
    assert (tmp_path / "heard").read_text() == "time_settings 0 2 1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gtp:no-such-program --mode gtp", "there is no program 'no-such-program' to start"),
        ("gtp(command=\"'no such program' x\")", "a command with blanks stands in double quotes"),
        ("gtp:'unclosed", "cannot be read"),
        ("uci:no-such-program", "there is no program"),
    ],
)
def test_a_program_that_is_not_there_is_one_line(text: str, words: str) -> None:
    begin_command([text])
    with pytest.raises(PlayerError) as error:
        make_player(text, TIC if text.startswith("gtp") else RACE)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("gtp:gnugo --mode gtp", "gtp:gnugo --mode gtp"),
        ("gtp:gnugo --mode gtp(ms=500)", "gtp:gnugo --mode gtp(ms=500)"),
        ('gtp(command="gnugo --mode gtp", wait=60)', "gtp:gnugo --mode gtp"),
        ('gtp(command="palaestra gtp hex --player uct(ms=5)")', 'gtp(command="palaestra gtp hex --player uct(ms=5)")'),
        ("uci:stockfish", "uci:stockfish(ms=1000)"),
        ('uci:stockfish(options="Hash=16; Skill Level=3")', 'uci:stockfish(ms=1000, options="Hash=16; Skill Level=3")'),
    ],
)
def test_a_command_has_one_canonical_text(text: str, canonical: str) -> None:
    assert str(read_player(text)) == canonical


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gtp", "gtp needs command"),
        ("uci:x(options=Hash)", "must be NAME=VALUE"),
        ("gtp:x(wait=0)", "wait is 0"),
        ("gtp:x(seconds=3)", "no argument 'seconds'"),
    ],
)
def test_a_wrong_text_of_a_program_is_one_line(text: str, words: str) -> None:
    with pytest.raises(PlayerError) as error:
        read_player(text)
    assert words in str(error.value)


def test_a_person_meets_a_program_and_takes_moves_back() -> None:
    playing = GameInPlay(TIC, [None, fake("gtp")])
    playing.play("b2").play_on()
    assert playing.position.moves == ("b2", "a3")
    playing.undo().play("a3").play_on()
    assert playing.position.moves == ("a3", "b3")


def test_a_program_must_be_told_the_moves() -> None:
    engine = make_player(fake("gtp"), TIC)
    with pytest.raises(PlayerError, match="must be told the moves"):
        engine.act(TIC.from_moves("b2")[None], np.random.default_rng(0))


def test_a_program_ends_with_its_player() -> None:
    engine = make_player(fake("gtp"), TIC)
    assert isinstance(engine, EnginePlayer) and engine._process is not None
    process = engine._process._process
    del engine
    assert process.wait(10) == 0  # it left when its input ended
    stuck = make_player(fake("gtp", "hang", wait=0.1), TIC)
    assert isinstance(stuck, EnginePlayer) and stuck._process is not None
    process = stuck._process._process
    with pytest.raises(EngineError):
        stuck.act(TIC.initial(1), np.random.default_rng(0))
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
