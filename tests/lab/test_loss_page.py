"""The page about losses: what it says is computed, and what was not measured is said to be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.lab.catalogue import declared
from palaestra.lab.data import Data, Row
from palaestra.lab.experiments._losses import BOARDS, LOSSES
from palaestra.lab.experiments.loss_question import DEFECTS
from palaestra.lab.loss_page import make_page
from palaestra.lab.plan import make_plan
from palaestra.lab.reproduce import Outcome
from tests.lab.experiments.test_losses import tournament

DOCS = Path(__file__).parents[2] / "docs"


def outcome(id: str, rows: list[Row]) -> Outcome:
    experiment, data = declared()[id], Data.of(rows)
    verdicts = tuple((claim, claim.check(data)) for claim in experiment.claims)
    return Outcome(make_plan(experiment), Path(id), data, experiment.table(data), verdicts, 60.0, "smaller")


def strong(loss: str) -> dict[str, int]:
    return {one: 3 * (one == loss) for one in LOSSES}


@pytest.mark.parametrize("best", ["value", "sum"])
def test_the_loss_to_choose_is_the_one_that_loses_least(best: str) -> None:
    page = make_page([outcome("fig-4.8", [row for game in BOARDS for row in tournament(game, strong(best))])])
    assert f"`learn.loss={best}` loses least to the best of each board, surely less than" in page
    assert page.count(f"| {best} |") > len(BOARDS) and "palaestra reproduce loss-fast`" in page
    assert ("| holds |" in page) and ("| fails |" in page)


def test_defects_are_shown_by_what_they_do_to_a_lead() -> None:
    rows = [row for game in DEFECTS for row in tournament(game, strong("sum"))]
    rows += [row for game, (defect, _) in DEFECTS.items() for row in tournament(game, strong("value"), f", {defect}")]
    page = make_page([outcome("loss-defects", rows)])
    line = next(line for line in page.splitlines() if line.startswith("| connect_four-5x5 | L1 | value over sum"))
    assert line.endswith("| sum | value |")


def test_the_page_in_the_documentation_is_made_from_its_data(capsys: pytest.CaptureFixture[str]) -> None:
    from palaestra.lab.loss_page import main

    main(str(DOCS / "atlas"))
    assert capsys.readouterr().out == (DOCS / "loss-question.md").read_text(encoding="utf-8")
