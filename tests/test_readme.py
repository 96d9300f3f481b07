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


def section(title: str) -> str:
    """The text under a heading, up to the next one."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= 200


def test_its_table_of_players_holds_every_kind_and_every_text_is_right() -> None:
    rows = [line.split("|")[1] for line in section("Players").splitlines() if line.startswith("| `")]
    texts = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    assert {read_player(text).name for text in texts} == set(KINDS)


def test_its_table_of_verbs_holds_every_verb() -> None:
    named = re.findall(r"^\| `([a-z-]+)", section("Verbs"), re.MULTILINE)
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
