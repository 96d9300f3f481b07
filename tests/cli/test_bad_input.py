"""Bad input: exit code 2, exactly one line on stderr, nothing on stdout, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import PalaestraError

UCT = "uct(simulations=10)"


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        # games
        (("perft", "chess", "2"), ["unknown game 'chess'", "connect_four"]),
        (("perft", "connect_four-0x7", "2"), ["connect_four-0x7"]),
        (("perft", "connect_four-", "2"), ["connect_four-ROWSxCOLS"]),
        (("perft", "connect4", "2"), ["unknown game 'connect4' (did you mean connect_four-6x7?)"]),
        (("perft", "othello-3x3", "2"), ["othello-3x3"]),
        (("perft", "othello-6x8", "2"), ["othello-6x8"]),
        (("perft", "gobang-99x99", "2"), ["gobang-99x99"]),
        (("perft", "hex-0x0", "2"), ["hex-0x0"]),
        (("perft", "opposition-3x1", "2"), ["opposition-3x1"]),
        (("perft", "morpion-6d", "2"), ["morpion-6d"]),
        (("match", "morpion-4d", UCT, "uct(simulations=11)"), ["one player"]),
        # moves
        (("analyse", "tic_tac_toe-3x3", "--moves", "a1 a1"), ["move 2", "'a1' is not a legal move", "legal: b1"]),
        (("analyse", "tic_tac_toe-3x3", "--moves", "a1 %%"), ["move 2", "'%%'"]),
        (("analyse", "tic_tac_toe-3x3", "--moves", "@5"), ["'@5' is not an initial position"]),
        (("analyse", "tic_tac_toe-3x3", "--moves", "a1 a2 b1 b2 c1"), ["the game is over"]),
        (("analyse", "tic_tac_toe-3x3", "--moves", "a1 a2 b1 b2 c1 c2"), ["move 6", "over"]),
        (("play", "tic_tac_toe-3x3", "--moves", "z9"), ["move 1", "'z9'"]),
        (("perft", "connect_four-6x7", "2", "--moves", "8"), ["move 1", "'8'", "legal: 1"]),
        # players
        (("match", "hex-3x3", "minimax", UCT), ["unknown player 'minimax'", "known: random"]),
        (("match", "hex-3x3", "utc", UCT), ["unknown player 'utc' (did you mean uct?)"]),
        (("match", "hex-3x3", UCT, "uct(temprature=1)"), ["'temprature' (did you mean temperature?)"]),
        (("match", "hex-3x3", UCT, "uct(milliseconds=50)"), ["'milliseconds' (did you mean ms?)"]),
        # settings, presets, verbs, experiments
        (("train", "hex-3x3", "--set", "lr=0.01"), ["unknown setting 'lr' (did you mean learn.lr?)"]),
        (("train", "hex-3x3", "--preset", "fats"), ["unknown preset 'fats' (did you mean fast?)"]),
        (("train", "hex-3x3", "--from", "run:nothing"), ["'nothing' is not a run"]),
        (("train", "hex-3x3", "--from", "nothing.onnx"), ["nothing.onnx: cannot read this file"]),
        (("train", "hex-3x3", "--set", 'course.games=["2x2"]'), ["belong to one", "net=r3c32"]),
        (("train", "hex-3x3", "--preset", "curriculum"), ["5x5, 6x6 are no smaller boards than that of hex-3x3"]),
        (("settings", "learnlr"), ["no setting has 'learnlr'", "did you mean learn.lr?"]),
        (("gams",), ["No such command 'gams'. Did you mean 'games'?"]),
        (("reproduce", "margin"), ["unknown experiment 'margin' (did you mean margins?)"]),
        (("match", "hex-3x3", UCT, "uct(sims=3)"), ["no argument 'sims'", "simulations"]),
        (("match", "hex-3x3", UCT, "uct(simulations=0)"), ["simulations is 0", "from 1 to"]),
        (("match", "hex-3x3", UCT, "uct(simulations=x)"), ["simulations is x", "whole number"]),
        (("match", "hex-3x3", UCT, "uct(simulations=3"), ["not closed"]),
        (("match", "hex-3x3", UCT, "nrpa(level=1)"), ["one player"]),
        (("match", "hex-3x3", UCT, "puct(nothing-here.onnx)"), ["nothing-here.onnx"]),
        (("analyse", "hex-3x3", "--player", "human"), ["cannot explain"]),
        (("play", "hex-3x3", "--against", "uct(ms=-1)"), ["ms is -1"]),
        (("play", "hex-3x3", "--side", "third"), ["'--side': 'third' is not one of 'first', 'second'"]),
        (("play", "hex-3x3", "--adviser", "nobody"), ["unknown player 'nobody'"]),
        # settings
        (("match", "hex-3x3", UCT, "rave", "--games", "7"), ["even number", "7"]),
        (("match", "hex-3x3", UCT, "rave", "--games", "0"), ["even number"]),
        (("match", "hex-3x3", UCT, "rave", "--opening-plies", "-1"), ["-1 plies"]),
        (("match", "hex-3x3", UCT, "rave", "--opening-plies", "9"), ["always end"]),
        (("match", "hex-3x3", "human", "rave", "--games", "2"), ["the input has ended"]),
        (("analyse", "hex-3x3", "--svg", "no/such/folder/x.svg", "--player", UCT), ["cannot write"]),
        # more than anyone would type
        (("match", "hex-3x3", f"uct(simulations={'9' * 40_000}x)", UCT), ["40,018 characters", "at most 4,096"]),
        (("match", "hex-3x3", f"uct(simulations={'9' * 4_000}x)", UCT), ["simulations is 999", "whole number"]),
        (("analyse", "tic_tac_toe-3x3", "--moves", "@" + "9" * 5_000), ["is not an initial position"]),
        (("play", "tic_tac_toe-3x3", "--moves", "@" + "9" * 5_000), ["is not an initial position"]),
        (("perft", "hex-" + "3" * 5_000, "2"), ["5,004 characters"]),
        (("train", "hex-3x3", "--set", "seed=" + "[" * 3_000), ["seed is '[[[", "whole number"]),
        (("train", "hex-3x3", "--set", "seed=" + "[" * 9_000), ["9,005 characters"]),
        (("train", "hex-3x3", "--set", "seed=" + "9" * 4_000), ["seed is 999", "whole number"]),
        (("train", "hex-3x3", "--set", "seed={" + "a." * 1_000 + "a=1}"), ["seed is '{a.a", "whole number"]),
        (("train", "hex-3x3", "--out", "a" * 300), ["300 characters", "the name of a run has at most 200"]),
        (("resume", "a" * 300), ["300 characters", "the name of a run has at most 200"]),
        (("evaluate", "a" * 300), ["is not a run"]),
        (("evaluate", "x", "--simulations", "9" * 5_000), ["100,600"]),
        (("solve", "morpion-4d", "--player", "random", "--restarts", "1", "--out", "a" * 300), ["file name too long"]),
        (("tournament", "hex-3x3", UCT, "random", "--pgn", "a" * 300), ["file name too long"]),
        # usage
        (("no-such-verb",), ["No such command", "palaestra --help"]),
        (("match", "hex-3x3"), ["Missing argument", "palaestra match --help"]),
        (("perft", "hex-3x3", "deep"), ["DEPTH"]),
        (("perft", "hex-3x3", "-1"), ["-1"]),
        (("play", "hex-3x3", "--side", "third"), ["third", "first"]),
        (("games", "--jsn"), ["--jsn"]),
        (("check-game", "hex-3x3", "--games", "0"), ["--games"]),
    ],
)  # fmt: skip
def test_bad_input_gets_one_line_and_exit_code_2(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], pieces: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2
    line = last_line_alone(done.err) if "human" not in arguments else done.err.splitlines()[-1]
    assert line.startswith("error: ")
    for piece in pieces:
        assert piece in line
    assert done.out == ""
    assert list(tmp_path.iterdir()) == []


def last_line_alone(text: str) -> str:
    assert len(text.splitlines()) == 1, text
    return text.splitlines()[0]


@pytest.mark.parametrize("content", [b"", b"this is no network", b"\x08\x07" + bytes(200)])
def test_a_corrupt_network_file_is_bad_input(cli: Any, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    for kind in ("puct", "gumbel", "rave"):
        done = cli("match", "hex-3x3", UCT, f'{kind}("{path}")')
        assert (done.code, done.out) == (2, "")
        assert "broken.onnx" in last_line_alone(done.err)


BROKEN_GAMES = {
    "raises_on_import": "raise RuntimeError('two\\nlines')",
    "syntax": "def (",
    "no_game": "GAME = 3",
    "breaks_a_law": """
from dataclasses import dataclass
from palaestra.games.base import Game
from palaestra.games.registry import make_game

TIC = make_game("tic_tac_toe-3x3")

@dataclass(frozen=True, eq=False, kw_only=True)
class Wrong(Game):
    def start(self, choices): return TIC.start(choices)
    def legal(self, states): return TIC.legal(states)
    def observe(self, states): return TIC.observe(states)
    def advance(self, states, actions):
        states[:] = TIC.advance(states, actions)
        return states

GAME = Wrong(id="wrong", num_actions=9, max_plies=9, max_legal=9, state_size=TIC.state_size,
             observation_shape=TIC.observation_shape, tiebreak="plies")
""",
}


@pytest.mark.parametrize("name", BROKEN_GAMES)
def test_a_users_broken_game_is_bad_input(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    (tmp_path / f"{name}.py").write_text(BROKEN_GAMES[name])
    done = cli("check-game", f"{name}:GAME")
    assert (done.code, done.out) == (2, "")
    line = last_line_alone(done.err)
    assert ("breaks a law: " if name == "breaks_a_law" else name) in line
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.py"]


def test_a_module_that_does_not_exist_is_bad_input(cli: Any) -> None:
    done = cli("check-game", "no_such_module:GAME")
    assert (done.code, done.out) == (2, "")
    assert "module:attribute" in last_line_alone(done.err)


def test_an_unexpected_failure_is_one_line_with_the_way_to_see_more(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("palaestra.games.registry.make_game", fail)
    done = cli("perft", "hex-3x3", "2")
    assert (done.code, done.out) == (1, "")
    assert "PALAESTRA_DEBUG=1" in last_line_alone(done.err)
    monkeypatch.setenv("PALAESTRA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        from palaestra.cli.main import run

        run(["perft", "hex-3x3", "2"])


def test_every_error_of_the_family_is_bad_input(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PalaestraError("that\nwill not do")

    monkeypatch.setattr("palaestra.live.game_list.make_game", refuse)
    done = cli("games")
    assert (done.code, done.err) == (2, "error: that will not do\n")
