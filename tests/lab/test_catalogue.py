"""The 32 results and what is declared of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError
from palaestra.lab.catalogue import RESULTS, chosen, declared, listed
from palaestra.lab.data import Data
from palaestra.lab.experiment import SCALES
from palaestra.lab.plan import make_plan

SOURCES = Path(__file__).parents[2] / "docs" / "sources"


def test_the_five_works_have_32_results_and_each_is_listed_once() -> None:
    ids = [one.id for one in listed()]
    assert len(RESULTS) == 32 and len(set(ids)) == len(ids) and set(declared()) <= set(ids)


@pytest.mark.parametrize("id", list(declared()))
def test_a_declaration_holds_together_at_every_scale(id: str) -> None:
    experiment = declared()[id]
    names = {(arm.name, arm.game) for arm in experiment.arms}
    assert experiment.claims and len({claim.text for claim in experiment.claims}) == len(experiment.claims)
    assert all((one.arm, one.game) in names for one in experiment.published)
    headings = {
        re.split(r"[:\n]", line[2:].strip("# "))[0].strip().lower()
        for page in SOURCES.glob("*.md")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("##")
    }
    assert {one.where.lower() for one in experiment.published} <= headings
    for scale in SCALES:
        plan = make_plan(experiment, scale)
        first = [next(iter(measure.jobs(plan))) for measure in experiment.measures]
        assert plan.scale.departs and all(job.key for job in first)


@pytest.mark.parametrize("id", list(declared()))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # means of nothing
def test_claims_are_open_where_there_are_no_data(id: str) -> None:
    answers = {claim.text: claim.check(Data.of([])).answer for claim in declared()[id].claims}
    assert set(answers.values()) == {"open"}, answers


def test_experiments_are_chosen_by_id_old_name_chapter_or_all() -> None:
    assert [one.id for one in chosen(["figure-2.3", "fig-2.3"])] == ["fig-2.3"]
    assert [one.id for one in chosen(["chapter-2"])] == [f"fig-2.{n}" for n in range(2, 8)]
    assert [one.id for one in chosen(["all"])] == list(declared())
    with pytest.raises(ConfigError, match=r"did you mean margins\?"):
        chosen(["margin"])
