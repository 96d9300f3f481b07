"""docs/extend/selection-rule.md: its rules work in every place that it names."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend" / "selection-rule.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
SETS = (
    "net=b1c8", "selfplay.games=4", "selfplay.search.simulations=2", "evaluation.games=2", "evaluation.simulations=2",
    'evaluation.anchors=["random"]', "selfplay.search.rule=my_rule:rule", "selfplay.search.gumbel_root=false",
)  # fmt: skip


@pytest.fixture(
    params=[EXAMPLES[0], pytest.param(EXAMPLES[1], marks=pytest.mark.slow)], ids=["of one move", "of all moves"]
)
def here(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with an example of the page in `my_rule.py`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_rule.py").write_text(request.param)
    paths = list(sys.path)
    yield tmp_path
    sys.path[:] = paths
    sys.modules.pop("my_rule", None)


def test_an_example_is_short(here: Path) -> None:
    assert len((here / "my_rule.py").read_text().splitlines()) <= 60


def test_the_rule_plays_is_trained_and_judged(cli: Any, here: Path) -> None:
    mine, game = "uct(simulations=20, rule=my_rule:rule, c=1)", "tic_tac_toe-3x3"
    sets = [word for text in SETS for word in ("--set", text)]
    for words in (
        ["match", game, mine, "random", "--games", "2"],
        ["analyse", game, "--player", mine],
        ["tournament", game, mine, "random", "--games", "2"],
        ["train", game, "--out", "mine", "--iterations", "1", "--threads", "1", *sets],
        ["evaluate", "mine", "--games", "2", "--simulations", "2"],  # the file is remembered
        ["match", game, "run:mine(simulations=2)", "run:mine(simulations=2, rule=puct)", "--games", "2"],
    ):
        done = cli(*words)
        assert done.code == 0, (words, done.err)


def test_a_rule_that_a_strangers_run_names_is_not_loaded(cli: Any, here: Path, own_state: Path) -> None:
    sets = [word for text in SETS for word in ("--set", text)]
    assert cli("train", "tic_tac_toe-3x3", "--out", "mine", "--iterations", "1", "--threads", "1", *sets).code == 0
    (here / "my_rule.py").write_text("raise SystemExit('bitten')\n")  # no longer the file that was used
    sys.modules.pop("my_rule")
    for words in (["evaluate", "mine", "--games", "2"], ["match", "tic_tac_toe-3x3", "run:mine", "random"]):
        done = cli(*words)
        assert done.code == 2 and "add --trust my_rule:rule to this command" in done.err and "bitten" not in done.err
