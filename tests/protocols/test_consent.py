"""Only the user's own words start a program: no file, setting, journal or configuration does."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

import palaestra as pl
from palaestra.base.errors import PlayerError
from palaestra.base.user_code import begin_command, command_of, may_start, trust, trusted
from palaestra.games.registry import make_game
from palaestra.live.game_in_play import GameInPlay
from palaestra.players.registry import make_player
from tests.cli.conftest import Cli, cli
from tests.protocols.commands import HERE

__all__ = ["cli"]  # the fixture

GAME = "tic_tac_toe-3x3"
TIC = make_game(GAME)


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once the program was started."""
    monkeypatch.chdir(tmp_path)
    begin_command(())
    return tmp_path / "started"


def program(mark: Path) -> str:
    return f"gtp:{shlex.join([sys.executable, '-S', str(HERE / 'fake_gtp.py'), 'touch', str(mark)])}"


def write_pgn(path: Path, first: str, second: str = "random") -> None:
    tags = {"Event": "?", "White": first, "Black": second, "Result": "1-0", "Variant": GAME}
    lines = [f"[{name} {json.dumps(value)}]" for name, value in tags.items()]
    path.write_text("\n".join(lines) + "\n\n1. a1 a2 2. b1 b2 3. c1 1-0\n\n")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("gtp:gnugo --mode gtp", "gnugo --mode gtp"),
        ("uci:stockfish(ms=5)", "stockfish"),
        ("--against=gtp:gnugo", "gnugo"),
        ('gtp(command="a (b)", ms=5)', "a (b)"),
        ("gtp:sh -c x:y", "sh -c x:y"),
        ("run:gtp", None),
        ("games.pgn", None),
        ("evaluation.anchors=gtp:gnugo", None),
        ('evaluation.anchors=["gtp:gnugo"]', None),
        ('{"anchors": ["gtp:gnugo"]}', None),
        ("my:gtp", None),
        ("random\ngtp:gnugo", None),
        ("gtp:", None),
        ("gtp(command=5)", None),
    ],
)
def test_a_text_gives_consent_as_a_whole_or_not_at_all(text: str, command: str | None) -> None:
    assert command_of(text) == command


def test_consent_is_for_one_very_command_and_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_command(["match", GAME, "gtp:touch safe", "random"])
    assert may_start("touch safe")
    assert not any(map(may_start, ("touch", "touch saf", "touch safe x", " touch safe", "")))
    assert trusted() == []  # other processes are given none of it
    begin_command(["match", GAME, "random"])
    assert not may_start("touch safe")
    trust("gtp:touch safe")  # which is about code that is imported
    assert not may_start("touch safe")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gtp:touch x").touch()
    begin_command(["review", "gtp:touch x"])  # a file's name, as a shell's * makes it
    assert not may_start("touch x")


def test_a_program_that_was_not_typed_is_not_started(mark: Path) -> None:
    with pytest.raises(PlayerError, match="is not started because a file, a setting or a page names it"):
        make_player(program(mark), TIC)
    assert not mark.exists()


def test_a_typed_one_is(mark: Path, cli: Cli) -> None:
    done = cli("match", GAME, program(mark), "random", "--games", "2")
    assert done.code == 0 and mark.exists(), done.err


def test_a_person_wins_against_a_program_that_fails(mark: Path, cli: Cli) -> None:
    typed = program(mark).replace(" touch ", " die ")
    done = cli("play", GAME, "--against", typed, stdin="b2\n")
    assert done.code == 0 and "out of memory" in " ".join(done.out.split())
    assert "The second player resigns: the first player wins: you win!" in " ".join(done.out.split())


def test_functions_of_the_package_start_what_they_are_given(mark: Path) -> None:
    assert pl.match(GAME, program(mark), "random", games=2).result.games == 2
    assert mark.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("review", "games.pgn", "--player", "uct(simulations=5)"),
        ("rate", "games.pgn"),
        ("match", GAME, "random", "greedy", "--games", "2", "--openings", "games.pgn:2"),
    ],
)
def test_a_file_of_games_starts_nothing(arguments: tuple[str, ...], mark: Path, cli: Cli) -> None:
    write_pgn(mark.parent / "games.pgn", program(mark))
    done = cli(*arguments)
    assert done.code == 0, done.err
    assert not mark.exists()


def test_a_game_that_is_gone_on_with_starts_nothing(mark: Path) -> None:
    write_pgn(mark.parent / "games.pgn", program(mark))
    GameInPlay.from_pgn((mark.parent / "games.pgn").read_text())
    assert not mark.exists()


def test_a_tournament_s_file_starts_nothing(mark: Path, cli: Cli) -> None:
    write_pgn(mark.parent / "games.pgn", program(mark))
    done = cli("tournament", GAME, "random", "greedy", "--games", "2", "--pgn", "games.pgn", "--resume")
    assert done.code == 2 and "is not of this tournament" in done.err
    assert not mark.exists()


def test_a_run_s_configuration_starts_nothing(mark: Path, cli: Cli) -> None:
    folder = mark.parent / "runs" / "begun"
    folder.mkdir(parents=True)
    anchors = f"anchors = {json.dumps([program(mark)])}"
    (folder / "config.toml").write_text(f'game = "{GAME}"\niterations = 1\nnet = "b1c4"\n[evaluation]\n{anchors}\n')
    done = cli("resume", "begun")
    assert done.code == 2 and "is not started because a file, a setting or a page names it" in done.err
    assert not mark.exists()


def test_a_setting_starts_nothing(mark: Path, cli: Cli) -> None:
    anchors = f"evaluation.anchors={json.dumps([program(mark)])}"
    done = cli("train", GAME, "--iterations", "1", "--set", anchors, "--out", "own")
    assert done.code == 2 and "is not started because" in done.err
    assert not mark.exists() and not (mark.parent / "runs" / "own").exists()


@pytest.mark.parametrize("verb", [("gtp", GAME), ("uci", "--game", "tests.protocols.squares:GAME")])
def test_what_the_other_program_sends_starts_nothing(verb: tuple[str, ...], mark: Path, cli: Cli) -> None:
    sent = f"setoption name Player value {program(mark)}\nplay b {program(mark)}\nposition startpos\ngo\nquit\n"
    done = cli(*verb, stdin=sent)
    assert done.code == 0, done.err
    assert not mark.exists()
