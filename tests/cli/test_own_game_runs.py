"""Runs of the user's own game: every command that the program advises works as printed."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from palaestra.runs.folder import RunFolder

RULES = '''\
"""Take one or two of seven stones; who takes the last one wins."""
import pathlib
from palaestra.games import PlainRules, PythonGame

pathlib.Path("imported").touch()

class Stones(PlainRules):
    def start(self, choice): return (7, 0)
    def mover(self, state): return state[1]
    def moves(self, state): return list(range(min(2, state[0])))
    def play(self, state, action): return (state[0] - action - 1, 1 - state[1])
    def result(self, state): return None if state[0] else 2 * state[1] - 1

GAME = PythonGame.of(Stones(), id="stones-7", num_actions=2, max_plies=7)
'''
SETS = (
    "net=b1c8", "selfplay.games=4", "selfplay.search.simulations=2", "selfplay.opening_fraction=0",
    "selfplay.opening_plies=0", "evaluation.games=2", "evaluation.simulations=2", "evaluation.anchors=[\"random\"]",
)  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the user's game in `stones.py`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stones.py").write_text(RULES)
    paths = list(sys.path)
    yield tmp_path
    sys.path[:] = paths
    sys.modules.pop("stones", None)


def trained(cli: Any) -> str:
    """What `palaestra train` printed for a run `mine` of the user's game."""
    sets = [word for text in SETS for word in ("--set", text)]
    done = cli("train", "stones:GAME", "--out", "mine", "--iterations", "2", "--threads", "1", *sets)
    assert done.code == 0, done.err
    return str(done.out)


def advised(text: str) -> list[list[str]]:
    """The commands below "What to try next", without the program's name."""
    lines = text.partition("What to try next\n")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if "palaestra" in line]


def quick(words: list[str]) -> list[str]:
    """The same command with less to do."""
    less = {"evaluate": ["--games", "2", "--simulations", "2"], "match": ["--games", "2"]}
    words = [word.replace("simulations=1000", "simulations=4") for word in words]
    return [*[word for word in words if word not in ("--games", "100")], *less.get(words[0], [])]


def test_every_advised_command_works_as_printed(cli: Any, here: Path) -> None:
    commands = advised(trained(cli))
    assert [words[0] for words in commands] == [
        "play", "analyse", "match", "evaluate", "report", "resume", "export",
    ]  # fmt: skip
    for words in commands:
        done = cli(*quick(words), stdin="quit\n")
        assert done.code == 0, (words, done.err)
    played = shlex.split(cli("export", "mine", "--out", "again.onnx").out.splitlines()[-1].partition("Play it: ")[2])
    assert cli(*played[1:], stdin="quit\n").code == 0


def test_where_nothing_can_be_remembered_the_advice_names_the_game(cli: Any, here: Path, own_state: Path) -> None:
    own_state.rmdir()
    own_state.write_text("")
    commands = {words[0]: words for words in advised(trained(cli))}
    for verb in ("evaluate", "report", "resume"):
        assert commands[verb][-2:] == ["--trust", "stones:GAME"]
        assert cli(*quick(commands[verb])).code == 0
        without = [word for word in quick(commands[verb]) if word not in ("--trust", "stones:GAME")]
        done = cli(*without)
        assert done.code == 2 and "add --trust stones:GAME to this command" in done.err


def stranger(here: Path, game: str) -> None:
    """Make the run `mine` one that names this game, as whoever made it can."""
    home = RunFolder(here / "runs" / "mine")
    manifest = home.manifest()
    assert manifest is not None
    manifest.config["game"] = game
    for path in (home.path / "manifest.json", *(home.path / "generations").iterdir()):
        path.write_bytes(manifest.to_bytes())
    config = (home.path / "config.toml").read_text()
    (home.path / "config.toml").write_text(config.replace('game = "stones:GAME"', f'game = "{game}"'))


@pytest.mark.parametrize(
    "words",
    [
        ["resume", "mine", "--iterations", "3"],
        ["resume", "mine", "--from", "2", "--iterations", "3"],
        ["evaluate", "mine", "--games", "2"],
        ["report", "mine"],
        ["export", "mine", "--out", "out.onnx"],
        ["analyse", "tic_tac_toe-3x3", "--player", "run:mine"],
        ["tournament", "tic_tac_toe-3x3", "run:mine@*", "random", "--games", "2"],
        ["match", "tic_tac_toe-3x3", "net:mine", "random", "--games", "2"],
    ],
)
def test_a_strangers_run_runs_no_code(cli: Any, here: Path, words: list[str]) -> None:
    trained(cli)
    payload = here / "runs" / "mine" / "payload.py"
    payload.write_text("import pathlib\npathlib.Path('bitten').touch()\n" + RULES)
    stranger(here, "runs.mine.payload:GAME")
    done = cli(*words)
    assert not (here / "bitten").exists()
    if words[0] == "export":
        assert done.code == 0, "which needs no rules"
    else:
        assert done.code == 2 and done.err.count("\n") == 1


def test_the_users_word_is_enough(cli: Any, here: Path) -> None:
    trained(cli)
    (here / "runs" / "mine" / "payload.py").write_text(RULES)
    stranger(here, "runs.mine.payload:GAME")
    done = cli("evaluate", "mine", "--games", "2", "--simulations", "2", "--json", "--game", "stones:GAME")
    assert done.code == 0 and json.loads(done.out)["game"] == "stones-7"
    done = cli("evaluate", "mine", "--games", "2", "--game", "hex-3x3")
    assert done.code == 2 and "run mine is of 'stones-7', and hex-3x3 is hex-3x3" in done.err
