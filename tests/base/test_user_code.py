"""Code is imported when the user names it, or has used this very file before; never because a file says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from palaestra.base import user_code
from palaestra.base.errors import GameError
from palaestra.base.text import Parts
from palaestra.base.user_code import begin_command, call, code_names, in_words, is_code, load, to_be_named, trust
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
    begin_command(())
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write_module(folder: Path, name: str = "own_game") -> Path:
    """A module with a game that leaves the file `ran` beside itself when it is imported."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(SOURCE.format(mark=str(folder / "ran")))
    return folder


def use(*names: str) -> None:
    """A command in which the user names code, and its end: what it imported and was trusted with is gone."""
    begin_command(names)
    for name in names:
        load(name, GameError, "a game")
    begin_command(())
    for module in ("own_game", "helper"):
        sys.modules.pop(module, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("my_game:GAME", True),
        ("runs.stranger.payload:GAME", True),
        ("my:player(simulations=50)", True),
        ("hex-3x3", False),
        ("gdl:tic.kif", False),
        ("run:first@best(simulations=3)", False),
        ('uct(rule="my:rule")', False),
    ],
)
def test_a_colon_means_code_but_for_the_prefixes_of_built_in_kinds(text: str, code: bool) -> None:
    assert is_code(text) == code


def test_names_of_code_are_found_inside_arguments_and_not_inside_paths() -> None:
    texts = ("uct(rule=my:rule)", 'evaluation.anchors=["a.b:C(x=1)", "run:mine"]', "runs/evil:GAME", "--set", "x=1:2")
    assert code_names(texts) == ["my:rule", "a.b:C"]


def test_a_stored_text_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    with pytest.raises(GameError, match=r"runs/x names 'own_game:GAME'.*add --trust own_game:GAME to this command"):
        make_stored_game("own_game:GAME", "runs/x")
    assert not (tmp_path / "ran").exists() and "own_game" not in sys.modules


def test_the_user_may_name_it_and_need_not_name_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    use("own_game:GAME")
    monkeypatch.chdir("/")
    assert make_stored_game("own_game:GAME", "runs/x").id == "tic_tac_toe-3x3"


def test_a_command_trusts_its_words_until_the_next_one_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    monkeypatch.setenv("PALAESTRA_STATE", "/dev/null")  # nothing is remembered
    begin_command(["match", "hex-3x3", "uct(rule=own_game:GAME)"])
    assert make_game("own_game:GAME").players == 2
    begin_command(["report", "x"])
    with pytest.raises(GameError, match="add --trust"):
        make_game("own_game:GAME")
    (tmp_path / "own_game:GAME").touch()
    begin_command(["review", "own_game:GAME"])
    with pytest.raises(GameError, match="add --trust"):
        make_game("own_game:GAME")


def test_words_that_a_page_has_put_together_name_no_program_and_no_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    user_code.trust("mine:GAME")
    monkeypatch.setenv(*next(iter(user_code.for_a_page().items())))
    user_code.begin_command(["train", "mine:GAME", "--set", "net=others:NET", "gtp:gnugo --mode gtp", "x:y"])
    assert user_code.trusted() == ["mine:GAME"]
    assert not user_code.may_start("gnugo --mode gtp")
    user_code.begin_command(["games"])
    assert user_code.trusted() == []


def test_consent_is_to_one_name_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    trust("own_game:GAME")
    load("own_game:GAME", GameError, "a game")
    with pytest.raises(GameError, match="add --trust own_game:make_game"):
        load("own_game:make_game", GameError, "a game")


def test_a_file_that_has_changed_since_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    use("own_game:GAME")
    assert to_be_named(["own_game:GAME"]) == []
    with (tmp_path / "own_game.py").open("a") as file:
        file.write("# edited\n")
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]
    with pytest.raises(GameError, match="add --trust"):
        make_stored_game("own_game:GAME", "runs/x")


BY_STATEMENT = "from helper import GAME"
BY_NAME = "import importlib\nGAME = importlib.import_module('helper').GAME"


def test_a_module_that_brings_one_without_a_file_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_module(tmp_path)
    monkeypatch.chdir(folder)
    lines = (
        "import sys, types",
        "made = sys.modules['made_by_code'] = types.ModuleType('made_by_code')",
        "made.__file__ = '_none.py'",
        (folder / "own_game.py").read_text(),
    )
    (folder / "own_game.py").write_text("\n".join(lines))
    begin_command(["match", "own_game:GAME"])
    make_game("own_game:GAME")
    del sys.modules["made_by_code"]
    assert to_be_named(["own_game:GAME"]) == []


@pytest.mark.parametrize("way", [BY_STATEMENT, BY_NAME])
def test_a_module_beside_it_that_has_changed_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    write_module(tmp_path, "helper")
    (tmp_path / "own_game.py").write_text(way)
    monkeypatch.chdir(tmp_path)
    use("own_game:GAME")
    assert to_be_named(["own_game:GAME"]) == []
    with (tmp_path / "helper.py").open("a") as file:
        file.write("# edited\n")
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]
    with pytest.raises(GameError, match="add --trust"):
        make_stored_game("own_game:GAME", "runs/x")


def test_a_new_file_that_an_import_would_find_first_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    use("own_game:GAME")
    (tmp_path / "elsewhere.py").touch()
    assert to_be_named(["own_game:GAME"]) == []
    (tmp_path / "pathlib.py").touch()  # which the module imports
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]


def test_a_memory_of_before_neighbours_were_hashed_holds_for_a_module_without_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    use("own_game:GAME")
    memory = own_state / "used_code.json"
    old = json.loads(memory.read_text())
    assert old["own_game:GAME"][0].pop("others") == {}
    memory.write_text(json.dumps(old))
    assert to_be_named(["own_game:GAME"]) == []
    write_module(tmp_path, "helper")
    (tmp_path / "own_game.py").write_text(BY_STATEMENT)
    use("own_game:GAME")
    new = json.loads(memory.read_text())
    assert list(new["own_game:GAME"][0].pop("others")) == [str(tmp_path / "helper.py")]
    memory.write_text(json.dumps(new))
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]


@pytest.mark.parametrize("shadowed", [False, True])
def test_a_module_of_the_same_name_elsewhere_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shadowed: bool
) -> None:
    mine, strangers = write_module(tmp_path / "mine"), write_module(tmp_path / "strangers")
    monkeypatch.chdir(mine)
    use("own_game:GAME")
    (mine / "ran").unlink()
    monkeypatch.chdir(strangers)
    if shadowed:  # as with python -m, and the user's folder in PYTHONPATH
        sys.path[:] = [str(strangers), *sys.path, str(mine)]
    make_stored_game("own_game:GAME", "runs/x")
    assert (mine / "ran").exists() and not (strangers / "ran").exists()


def test_two_modules_of_one_name_cannot_both_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_module(tmp_path / "mine"))
    use("own_game:GAME")
    monkeypatch.chdir(write_module(tmp_path / "other"))
    trust("own_game:make_game")
    load("own_game:make_game", GameError, "a game")
    with pytest.raises(GameError, match="only one of two modules of the same name can be used"):
        make_stored_game("own_game:GAME", "runs/x")


def test_of_two_files_of_one_name_that_of_the_current_folder_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        monkeypatch.chdir(write_module(tmp_path / name))
        use("own_game:GAME")
        (tmp_path / name / "ran").unlink()
    monkeypatch.chdir(tmp_path)
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]
    monkeypatch.chdir(tmp_path / "a")
    make_stored_game("own_game:GAME", "runs/x")
    assert (tmp_path / "a" / "ran").exists() and not (tmp_path / "b" / "ran").exists()


def test_a_module_inside_a_package_is_found_from_the_packages_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    write_module(tmp_path / "pack" / "inner")
    monkeypatch.chdir(tmp_path)
    use("pack.inner.own_game:GAME")
    (entry,) = json.loads((own_state / "used_code.json").read_text())["pack.inner.own_game:GAME"]
    assert entry["root"] == str(tmp_path)


def test_another_game_than_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"runs/x is of 'hex-3x3', and hex-5x5 is hex-5x5"):
        make_stored_game("hex-3x3", "runs/x", id="hex-3x3", given="hex-5x5")


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"own_game:GAME": 3}', '{"own_game:GAME": [{"file": "x"}]}', "[" * 100_000]
)
def test_a_memory_that_is_not_whole_remembers_nothing(own_state: Path, content: str) -> None:
    (own_state / "used_code.json").write_text(content)
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]


def test_without_a_place_to_remember_the_command_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    own_state.rmdir()
    own_state.write_text("a file, no folder")
    monkeypatch.chdir(write_module(tmp_path))
    assert make_stored_game("own_game:GAME", "runs/x", given="own_game:GAME").players == 2
    assert to_be_named(["own_game:GAME"]) == ["own_game:GAME"]


def test_what_is_remembered_names_the_file_and_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    use("own_game:GAME")
    (entry,) = json.loads((own_state / "used_code.json").read_text())["own_game:GAME"]
    assert entry["file"] == str(tmp_path / "own_game.py") and len(entry["sha256"]) == 64


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own_game:GAM", r"own_game has no GAM \(did you mean GAME\?\); a game is module:attribute"),
        ("no_such:GAME", r"cannot import 'no_such' \(ModuleNotFoundError: .*\); a game is module:attribute"),
        ("rn:first", r"cannot import 'rn' \(did you mean run\?\)"),
        ("own-game:GAME", r"'own-game:GAME' is not a game: code of your own is module:attribute"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.chdir(write_module(tmp_path))
    trust(name)
    with pytest.raises(GameError, match=words):
        load(name, GameError, "a game")


def own_player(game: object, depth: int = 3) -> tuple[object, int]:
    if depth < 0:
        raise KeyError("depth")
    return game, depth


def test_arguments_of_a_text_reach_the_users_function_or_are_told_not_to_fit() -> None:
    def made(**keywords: int) -> object:
        parts = Parts("my", "player", (), dict(keywords))
        return call(own_player, parts, ("game",), GameError, "my:player(game, ...) gives a player")

    assert made(depth=5) == ("game", 5)
    with pytest.raises(GameError, match=r"'my:player\(deep=5\)' does not fit my:player\(game.*depth.*'deep'"):
        made(deep=5)
    with pytest.raises(GameError, match=r"my:player failed \(KeyError: 'depth'\); expected: my:player\(game, ...\)"):
        made(depth=-1)
    with (
        pytest.raises(GameError, match=r"my:player failed \(ValueError: two lines\)"),
        in_words("my:player", GameError, "anything"),
    ):
        raise ValueError("two\nlines")
