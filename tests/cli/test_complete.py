"""What Tab offers, asked for as the shells ask: by environment variables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def tab(cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The words that bash is offered at the end of a line, in a folder with the run `first-try`."""
    (tmp_path / "runs" / "first-try").mkdir(parents=True)
    (tmp_path / "runs" / "first-try" / "manifest.json").touch()
    monkeypatch.chdir(tmp_path)

    def ask(line: str) -> set[str]:
        monkeypatch.setenv("_PALAESTRA_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        monkeypatch.setenv("_PALAESTRA_BEFORE_COLON", "")  # which asking may change
        done = cli()
        assert done.code == 0 and done.err == ""
        return set(done.out.split())

    return ask


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("palaestra ga", {"games"}),
        ("palaestra re", {"resume", "report", "reproduce", "review"}),
        ("palaestra reproduce table-6", {"table-6.1", "table-6.2"}),
        ("palaestra train --pre", {"--preset"}),
        ("palaestra train connect_four-6", {"connect_four-6x6", "connect_four-6x7"}),
        ("palaestra match hex alp", {"alphabeta"}),
        ("palaestra match hex uct run", {"run:first-try"}),
        ("palaestra match hex uct run : f", {"first-try"}),  # bash takes run:f for three words, and run: for two
        ("palaestra play hex --against run :", {"first-try"}),
        ("palaestra match hex run : first-try ne", {"net:first-try"}),
        ("palaestra train gdl : eig", {"eight_puzzle"}),
        ("palaestra tournament hex uct nm", {"nmcs"}),
        ("palaestra play hex --against rh", {"rhea"}),
        ("palaestra analyse hex --player ra", {"random", "rave"}),
        ("palaestra train hex --preset the", {"thesis", "thesis-small", "thesis-ranked"}),
        ("palaestra settings --preset fa", {"fast"}),
        ("palaestra train hex --set learn.lr", {"learn.lr=", "learn.lr_end="}),
        ("palaestra resume f", {"first-try"}),
        ("palaestra evaluate f", {"first-try"}),
        ("palaestra export f", {"first-try"}),
        ("palaestra report f", {"first-try"}),
        ("palaestra resume nothing", set()),
        ("palaestra qlearn hex --oppo", set()),  # an old name is read and not offered
    ],
)
def test_tab_completes(tab: Any, line: str, offered: set[str]) -> None:
    assert tab(line) == offered


def test_other_shells_are_answered_too(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in ("zsh", "fish"):
        monkeypatch.setenv("_PALAESTRA_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "palaestra gam")
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        done = cli()
        assert done.code == 0 and "games" in done.out


def test_a_shell_that_is_not_known_is_an_error_and_no_broken_pipe(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PALAESTRA_COMPLETE", "complete_tcsh")
    assert cli().code == 1


def test_the_script_for_a_shell_is_shown(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = cli("--show-completion", "bash")
    assert done.code == 0 and "complete_bash" in done.out


def test_verbs_load_nothing_for_completion() -> None:
    code = (
        "import sys; from palaestra.cli.main import build_app; build_app();"
        "print([name for name in sys.modules if name in"
        " ('pydantic', 'numpy', 'tomlkit', 'palaestra.players.registry', 'palaestra.learn.config')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.strip() == "[]"
