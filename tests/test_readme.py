"""The README must not drift away from the program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from palaestra.cli.main import VERBS
from palaestra.games.registry import FAMILIES
from palaestra.players.registry import KINDS, read_player

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN = "my_players:"  # stands for a file of the reader's


def section(title: str) -> str:
    """The text under a heading, up to the next one."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def players(table: str) -> set[str]:
    """The kinds of the texts in the first column of a table; all of them must be right."""
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    texts = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    return {read_player(text).name for text in texts if not text.startswith(OWN)}


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= 180


def test_it_says_what_is_achieved_before_how_it_is_built() -> None:
    top = README.partition("\n## ")[0]
    results = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    commands = re.findall(r"\| `(palaestra [^`]+)` \|", top)
    assert len(commands) == 4 and all(f"`{command.partition(' --')[0]}" in results for command in commands)
    figures = re.findall(r"\b\d+\.\d %|\b\d+:\d\d\b", top)
    assert {"5.8 %", "7.1 %", "2:18"} <= set(figures) and all(figure in results for figure in figures)
    assert top.count("![") == 1


def test_its_players_are_right_and_the_page_of_players_holds_every_kind() -> None:
    page = (ROOT / "docs" / "players.md").read_text(encoding="utf-8")
    assert players(section("Players")) < players(page) == set(KINDS)


def test_its_table_of_verbs_holds_every_verb_once() -> None:
    rows = [line.split("|")[2] for line in section("Verbs").splitlines() if line.startswith("| ")]
    named = [verb for row in rows for verb in re.findall(r"`([a-z-]+)`", row)]
    assert sorted(named) == sorted(verb for verb, _, _ in VERBS)


def test_it_names_every_family_of_games() -> None:
    assert set(FAMILIES) <= set(re.findall(r"`([a-z_]+)`", section("Games")))


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None and "minutes=2)" in code[1]
    monkeypatch.chdir(tmp_path)
    exec(compile(code[1].replace("minutes=2)", "minutes=0.01)"), "README.md", "exec"), {})


def test_links_between_pages_lead_somewhere() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/check_links.py")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
