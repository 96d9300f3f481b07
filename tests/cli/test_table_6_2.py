"""`palaestra reproduce table-6.2`, and groups of commands that are given alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.lab.test_table_6_2 import TINY


def test_the_table_stands_beside_the_published_numbers(cli: Cli, tmp_path: Path) -> None:
    sets = [word for setting in TINY for word in ("--set", setting)]
    given = ("reproduce", "table-6.2", "--seeds", "1", "--limit", "1", "--out", str(tmp_path / "runs"), *sets)
    done = cli(*given, "--json")
    assert done.code == 0
    rows = json.loads(done.out)["rows"]
    assert [row["enhancement"] for row in rows] == ["rollout", "rave", "rora", "wro", "wrora"]
    assert rows[0]["published"] == [6.63, 3.04]
    again = cli(*given)  # only reads
    assert again.code == 0
    assert "| runs | not switched at 1 | published | agrees |\n" in again.out, "the heading is one line"
    assert "| WRoRa | 1.00 ± 0.00 | 1 |" in again.out


@pytest.mark.parametrize("group", ["reproduce", "ggp"])
def test_a_group_of_commands_alone_explains_itself(cli: Cli, group: str) -> None:
    done = cli(group)
    assert (done.code, done.err) == (0, "")
    assert "Commands" in done.out
