"""The laboratory's page: results, their figures, and an experiment that is started there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the page needs the extra web")

from palaestra.base.errors import PalaestraError
from palaestra.lab.catalogue import RESULTS
from palaestra.lab.experiment import Table
from palaestra.runs.places import SWEEP
from palaestra.web import laboratory, sweeps
from palaestra.web.lab_questions import Answer, Jobs, ResultRow, checked_id
from palaestra.web.pages.laboratory import facts_html, results_html
from palaestra.web.result_view import claims_html, jobs_html, table_html
from tests.web.conftest import Server
from tests.web.test_compare import HOSTILE, PATIENCE, FewerThings


@pytest.fixture
def house(tmp_path: Path) -> Any:
    return FewerThings(tmp_path / "runs")


@pytest.mark.parametrize("id", ["", "..", "../x", "/etc", "os:system", "a/b", "A", "x\0", "a" * 80, "all "])
def test_an_id_is_never_a_path_nor_code(house: Any, id: str) -> None:
    for use in (
        checked_id,
        lambda id: laboratory.figure(house, "smoke", id),
        lambda id: laboratory.start(house, id, "smoke"),
    ):
        with pytest.raises(PalaestraError, match="not a result"):
            use(id)


@pytest.mark.parametrize("scale", ["", "..", "huge", "smoke/.."])
def test_a_scale_is_one_of_three(house: Any, scale: str) -> None:
    with pytest.raises(PalaestraError, match="there is no scale"):
        laboratory.start(house, "fig-2.2", scale)


def test_a_figure_is_found_where_it_was_made(house: Any) -> None:
    assert laboratory.figure(house, "smoke", "fig-2.2") is None
    file = house.runs / "reproduce-smoke" / "fig-2.2" / "figure.svg"
    file.parent.mkdir(parents=True)
    file.write_text("<svg/>")
    assert laboratory.figure(house, "smoke", "fig-2.2") == file
    file.with_suffix(".png").write_bytes(b"")
    assert laboratory.figure(house, "smoke", "fig-2.2") == file.with_suffix(".png")


def test_sweeps_are_named_by_the_list_alone(house: Any) -> None:
    for place in (house.runs / "one", house.runs.parent / "sweeps" / "two"):
        place.mkdir(parents=True)
        (place / SWEEP).write_text("")
    assert set(sweeps.sweeps(house)) == {"one", "two"}
    assert sweeps.sweep(house, "two") == house.runs.parent / "sweeps" / "two"
    for name in ("../sweeps/two", "..", "three"):
        with pytest.raises(PalaestraError, match="not a sweep"):
            sweeps.sweep(house, name)


def test_the_list_shows_what_is_there_and_what_it_says() -> None:
    first, second, third, *_ = RESULTS
    rows = [
        ResultRow(first, True, "laptop", 10, 10, ("holds", "holds", "fails"), 0.0),
        ResultRow(second, True, None, 10, 4, None, 120.0),
        ResultRow(third, False),
    ]
    shown = results_html(rows, "laptop", second.id)
    assert f'src="/laboratory/figure/laptop/{first.id}"' in shown
    assert "2 holds" in shown and "1 fails" in shown and "4 of 10 jobs" in shown and "not declared" in shown
    assert "running" in shown and "6 jobs<small>2.0 min</small>" in shown
    facts = facts_html(rows)
    assert "<b>2</b><span>claims hold</span>" in facts and "<b>1</b><span>measured</span>" in facts


def test_texts_of_data_are_harmless() -> None:
    answer = Answer(HOSTILE, True, "open", HOSTILE, HOSTILE)
    shown = (
        claims_html((answer,))
        + table_html(Table((HOSTILE,), ((HOSTILE,),)))
        + jobs_html(Jobs(2, 1, 0.7, ((HOSTILE, 0.4),)))
    )
    assert "<script>" not in shown and "\x1b" not in shown and "&lt;script&gt;" in shown


@pytest.mark.slow
def test_an_experiment_is_started_and_its_result_shown(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/laboratory/schmidt-fig1?scale=smoke")
    page.get_by_text("Nothing has been measured at scale smoke yet").wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.locator(".px-figure").wait_for(timeout=3 * PATIENCE)
    assert page.locator(".px-figure").evaluate("one => one.naturalWidth") > 200
    assert page.locator(".px-claims li").count() > 0 and page.locator(".px-data tr").count() > 2
    page.get_by_role("link", name="← all results").click()
    page.locator(".px-thumb img").first.wait_for(timeout=PATIENCE)
