"""`palaestra sweep` on the command line: what it explains, and what it refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

GIVEN = ("sweep", "tic_tac_toe-3x3", "--trials", "2", "--out", "s")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_game_it_lists_the_spaces(cli: Cli) -> None:
    done = cli("sweep")
    assert done.code == 0 and "thesis-3.4" in done.out and "Table 3.1" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*GIVEN, "--space", "fasst"), "did you mean"),
        ((*GIVEN, "--space", "nowhere.toml"), "cannot read the space"),
        ((*GIVEN, "--objectives", "elo,minuets"), "did you mean"),
        ((*GIVEN, "--sampler", "tp"), "unknown sampler"),
        ((*GIVEN, "--storage", "mysql"), "unknown storage"),
        ((*GIVEN, "--games", "3"), "even number"),
        ((*GIVEN, "--set", "learn.rl=1"), "unknown setting"),
        ((*GIVEN, "--against", "nobody"), "nobody"),
        (("sweep", "tic_tac_toe-3x3", "--out", "s"), "--trials 40"),
        (("sweep", "morpion-5d", "--trials", "2", "--preset", "record", "--out", "s"), "one player"),
        (("sweep", "--report", "nowhere"), "is no sweep"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_leaves_nothing_behind(
    cli: Cli, own_folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = cli(*arguments)
    assert done.code == 2 and words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(own_folder.iterdir())
