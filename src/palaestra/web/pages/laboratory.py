"""The page "Laboratory": published results, run again, with figures and verdicts; sweeps with their reports."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from urllib.parse import quote

from fastapi import Response
from nicegui import app, background_tasks, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import escape, printable
from palaestra.base.reading import read_bytes
from palaestra.lab.catalogue import RESULTS
from palaestra.lab.experiment import SCALES
from palaestra.web import lab_questions, laboratory, sweeps
from palaestra.web.frame import frame
from palaestra.web.frame import page as served
from palaestra.web.house import House
from palaestra.web.lab_questions import ResultRow
from palaestra.web.laboratory import JobsWatch
from palaestra.web.parts import bar, chip, style
from palaestra.web.result_view import ResultView, choice_of_scale
from palaestra.web.sweep_view import SweepList, SweepView, watched_sweep
from palaestra.web.watched import Watchers

USUAL = "laptop"
MOST_FIGURE = 2**24  # bytes
# A picture is shown as a picture, also by whoever opens its address: nothing in it runs.
ONLY_A_PICTURE = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
WORDS = {
    "smoke": "seconds; it shows that everything works, and decides nothing",
    "laptop": "up to a night on two cores; large enough to answer the question",
    "paper": "the printed settings, and as long as they take",
}


def register(house: House) -> None:
    watch = JobsWatch(house)
    watchers = Watchers(lambda name: watched_sweep(house, name))

    @served("/laboratory")
    def page(scale: str = USUAL) -> None:
        with frame("Laboratory", "Laboratory"):
            style()
            ResultList(house, scale if scale in SCALES else USUAL)

    @served("/laboratory/sweep/{name}")
    async def one_sweep(name: str) -> None:
        with frame(printable(name)[:80], "Laboratory"):
            style()
            try:
                await asyncio.to_thread(sweeps.sweep, house, name)
            except PalaestraError as error:
                ui.label(printable(str(error))).classes("px-wrong")
                ui.link("The laboratory", "/laboratory")
                return
            SweepView(house, watchers, name)

    @app.get("/laboratory/figure/{where}/{id}")
    def figure(where: str, id: str) -> Response:
        try:
            file = laboratory.figure(house, where, id)
            if file is None:
                return Response("there is no such figure", 404)
            kind = "image/png" if file.suffix == ".png" else "image/svg+xml"
            return Response(read_bytes(file, MOST_FIGURE), media_type=kind, headers=ONLY_A_PICTURE)
        except (PalaestraError, OSError):
            return Response("there is no such figure", 404)

    @served("/laboratory/{id}")
    def one(id: str, scale: str = USUAL) -> None:
        with frame(printable(id)[:80], "Laboratory"):
            style()
            try:
                lab_questions.checked_id(id)
            except PalaestraError as error:
                ui.label(printable(str(error))).classes("px-wrong")
                ui.link("All results", "/laboratory")
                return
            ResultView(house, watch, id, scale if scale in SCALES else USUAL)


class ResultList:
    """All results at one scale, filled as they are read."""

    def __init__(self, house: House, scale: str) -> None:
        self.house, self.scale = house, scale
        self.rows = {one.id: ResultRow(one) for one in RESULTS}  # as far as is known without reading anything
        self.running: str | None = None
        with ui.element("div").classes("px-stack"):
            with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
                with ui.element("div").classes("px-row"):
                    ui.label("Published results, run again").props('role="heading" aria-level="1"').classes("px-name")
                    with ui.element("div").classes("px-end"):
                        choice_of_scale(scale, self._other_scale)
                ui.label(f"Scale {scale} takes {WORDS[scale]}.").classes("p-soft")
                self.facts = ui.html("", sanitize=False).classes("px-wide")
            with ui.element("section").classes("p-card"):
                self.table = ui.html("", sanitize=False)
            SweepList(house)
        self._changed = True
        self._draw()
        task = background_tasks.create(self._read(), name="list results")
        ui.context.client.on_disconnect(lambda: task.cancel() and None)
        self.timer = ui.timer(0.3, self._draw)

    async def _read(self) -> None:
        def hear(rows: list[ResultRow]) -> None:
            self.rows |= {row.identity.id: row for row in rows}
            self._changed = True

        place = laboratory.home(self.house, self.scale)
        self.running = await asyncio.to_thread(laboratory.running, self.house, self.scale)
        try:
            question = (lab_questions.list_results, self.scale, place, laboratory.atlas())
            await self.house.readings.ask(*question, hear=hear)
        except PalaestraError as error:
            self.table.content = f'<p class="px-wrong">{escape(str(error))}</p>'
        finally:
            with contextlib.suppress(RuntimeError):
                self._draw()
                self.timer.deactivate()

    def _draw(self) -> None:
        if self._changed:
            self._changed = False
            rows = list(self.rows.values())
            self.facts.content = facts_html(rows)
            self.table.content = results_html(rows, self.scale, self.running)

    def _other_scale(self, scale: str) -> None:
        if scale in SCALES:
            ui.navigate.to(f"/laboratory?scale={scale}")


def facts_html(rows: list[ResultRow]) -> str:
    """How much there is, in a few numbers."""
    published = [row for row in rows if row.identity.work != "Palaestra"]
    counts = Counter(answer for row in rows for answer in row.answers or ())
    facts = {
        "published results": str(len(published)),
        "measured": str(sum(row.answers is not None for row in rows)),
        "claims hold": str(counts["holds"]),
        "fail": str(counts["fails"]),
        "are open": str(counts["open"]),
    }
    shown = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in facts.items())
    return f'<div class="px-facts">{shown}</div>'


def results_html(rows: list[ResultRow], scale: str, running: str | None) -> str:
    parts, work = [], ""
    for row in rows:
        if row.identity.work != work:
            work = row.identity.work
            name = "Palaestra's own" if work == "Palaestra" else work[0].upper() + work[1:]
            parts.append(f'<tr class="px-work"><th colspan="5" scope="colgroup">{escape(name)}</th></tr>')
        parts.append(_result_row(row, scale, running))
    head = (
        '<tr><th>result</th><th class="px-thumb"></th><th class="px-what">what it shows</th><th>verdicts</th>'
        '<th class="px-number px-hide">to do</th></tr>'
    )
    return f'<table class="px-list px-results"><thead>{head}</thead><tbody>{"".join(parts)}</tbody></table>'


def _result_row(row: ResultRow, scale: str, running: str | None) -> str:
    id = row.identity.id
    picture = ""
    if row.where is not None:
        picture = f'<img loading="lazy" alt="" src="/laboratory/figure/{quote(row.where)}/{quote(id)}">'
    link = f'<a href="/laboratory/{quote(id)}?scale={scale}">{escape(row.identity.number)}</a>'
    caption = escape(row.identity.caption)
    left = (
        "" if row.seconds is None else f"{row.seconds / 60:,.1f}" if row.seconds < 600 else f"{row.seconds / 60:,.0f}"
    )
    jobs = "…" if row.jobs is None else _jobs(row.jobs - row.done)
    shown = f"{jobs}<small>{left} min</small>" if left and jobs else jobs
    return (
        f'<tr><td>{link}<small>{escape(id)}</small><span class="px-only-phone">{caption}</span></td>'
        f'<td class="px-thumb">{picture}</td>'
        f'<td class="px-what">{caption}</td><td>{_verdicts(row, running)}</td>'
        f'<td class="px-number px-hide">{shown if row.declared and not row.problem else ""}</td></tr>'
    )


def _jobs(count: int) -> str:
    return f"{count:,} job{'s' * (count > 1)}" if count else ""


def _verdicts(row: ResultRow, running: str | None) -> str:
    if row.problem:
        return f'<small class="px-wrong">{escape(row.problem)}</small>'
    if not row.declared:
        return chip("not declared")
    parts = [chip("running")] if row.identity.id == running else []
    if row.answers is not None:
        counts = Counter(row.answers)
        parts += [
            f'<span class="px-chip px-{kind}">{counts[answer]} {answer}</span>'
            for answer, kind in (("holds", "good"), ("fails", "bad"), ("open", "soft"))
            if counts[answer]
        ]
        parts += [] if parts else [chip("done")]
        if row.where == "atlas":
            parts.append('<small class="p-soft">of the atlas</small>')
    elif row.jobs and row.done:
        parts.append(f"<small>{row.done:,} of {row.jobs:,} jobs</small>{bar(row.done / row.jobs)}")
    return " ".join(parts) or '<small class="p-soft">not run here</small>'
