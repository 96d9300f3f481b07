"""Code is imported when the user names it, or has used this very file before; never because a file says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from palaestra.base.errors import GameError
from palaestra.base.user_code import is_code, load, remember, remembered
from palaestra.games.registry import make_game, make_stored_game

SOURCE = """\
import pathlib
pathlib.Path({mark!r}).touch()
from palaestra.games.registry import make_game
GAME = make_game("tic_tac_toe-3x3")
"""


@pytest.fixture(autouse=True)
def fresh_imports() -> Iterator[None]:
    """Modules and search paths of a test end with it."""
    modules, paths = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write_module(folder: Path, name: str = "own_game") -> Path:
    """A module with a game that leaves the file `ran` beside itself when it is imported."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(SOURCE.format(mark=str(folder / "ran")))
    return folder


def forget_imports() -> None:
    sys.modules.pop("own_game", None)


@pytest.mark.parametrize(
    ("text", "code"),
    [("my_game:GAME", True), ("runs.stranger.payload:GAME", True), ("hex-3x3", False), ("gdl:tic.kif", False)],
)
def test_a_colon_means_code_but_for_rules_in_gdl(text: str, code: bool) -> None:
    assert is_code(text) == code


def test_a_stored_text_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    with pytest.raises(GameError, match=r"runs/x names 'own_game:GAME'.*add --game own_game:GAME to this command"):
        make_stored_game("own_game:GAME", "runs/x")
    assert not (tmp_path / "ran").exists() and "own_game" not in sys.modules


def test_the_user_may_name_it_and_need_not_name_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    assert make_stored_game("own_game:GAME", "runs/x", given="own_game:GAME").id == "tic_tac_toe-3x3"
    forget_imports()
    monkeypatch.chdir("/")
    assert make_stored_game("own_game:GAME", "runs/x").id == "tic_tac_toe-3x3"


def test_a_file_that_has_changed_since_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    make_game("own_game:GAME")
    remember("own_game:GAME")
    assert remembered("own_game:GAME") == str(tmp_path)
    with (tmp_path / "own_game.py").open("a") as file:
        file.write("# edited\n")
    assert remembered("own_game:GAME") is None
    with pytest.raises(GameError, match="add --game"):
        make_stored_game("own_game:GAME", "runs/x")


def test_a_module_of_the_same_name_elsewhere_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path / "mine"))
    load("own_game:GAME", GameError, "a game")
    remember("own_game:GAME")
    forget_imports()
    (tmp_path / "mine" / "ran").unlink()
    monkeypatch.chdir(write_module(tmp_path / "strangers"))
    make_stored_game("own_game:GAME", "runs/x")
    assert (tmp_path / "mine" / "ran").exists() and not (tmp_path / "strangers" / "ran").exists()


def test_of_two_files_of_one_name_that_of_the_current_folder_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        monkeypatch.chdir(write_module(tmp_path / name))
        forget_imports()
        load("own_game:GAME", GameError, "a game", str(tmp_path / name))
        sys.path.remove(str(tmp_path / name))
        remember("own_game:GAME")
    assert remembered("own_game:GAME") == str(tmp_path / "b")
    monkeypatch.chdir(tmp_path / "a")
    assert remembered("own_game:GAME") == str(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    assert remembered("own_game:GAME") is None


def test_a_module_inside_a_package_is_found_from_the_packages_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path / "pack" / "inner")
    monkeypatch.chdir(tmp_path)
    make_game("pack.inner.own_game:GAME")
    remember("pack.inner.own_game:GAME")
    assert remembered("pack.inner.own_game:GAME") == str(tmp_path)


def test_another_game_than_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"runs/x is of 'hex-3x3', and hex-5x5 is hex-5x5"):
        make_stored_game("hex-3x3", "runs/x", id="hex-3x3", given="hex-5x5")


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"own_game:GAME": 3}', '{"own_game:GAME": [{"file": "x"}]}', "[" * 100_000]
)
def test_a_memory_that_is_not_whole_remembers_nothing(own_state: Path, content: str) -> None:
    (own_state / "used_code.json").write_text(content)
    assert remembered("own_game:GAME") is None


def test_without_a_place_to_remember_the_command_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    own_state.rmdir()
    own_state.write_text("a file, no folder")
    monkeypatch.chdir(write_module(tmp_path))
    assert make_stored_game("own_game:GAME", "runs/x", given="own_game:GAME").players == 2
    assert remembered("own_game:GAME") is None


def test_what_is_remembered_names_the_file_and_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    make_game("own_game:GAME")
    remember("own_game:GAME")
    (entry,) = json.loads((own_state / "used_code.json").read_text())["own_game:GAME"]
    assert entry["file"] == str(tmp_path / "own_game.py") and len(entry["sha256"]) == 64
