"""The runs of the runs folder in a table, and several of them over each other."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from nicegui import ui
from nicegui.events import TableSelectionEventArguments

from palaestra.base.errors import PalaestraError, RunError
from palaestra.base.printable import printable
from palaestra.live.words import ago, strength_in_words
from palaestra.runs.metrics import Lines
from palaestra.runs.overview import RunRow
from palaestra.web.chart_cards import ChartCards
from palaestra.web.frame import say
from palaestra.web.house import House
from palaestra.web.run_charts import LOSSES, anchors_of, compared
from palaestra.web.watched import Watched, Watchers
from palaestra.web.watching import SeenRun, SeenRuns

PER_PAGE = 25
MOST_COMPARED = 6  # as many as there are colours
COLUMNS: list[dict[str, Any]] = [
    {"name": "name", "label": "run", "field": "name", "align": "left", "sortable": True},
    {"name": "game", "label": "game", "field": "game", "align": "left", "sortable": True, "classes": "w-hide",
     "headerClasses": "w-hide"},
    {"name": "minutes", "label": "minutes", "field": "minutes", "sortable": True, "classes": "w-hide",
     "headerClasses": "w-hide", ":format": "(v) => v === null ? '–' : v.toFixed(1)"},
    {"name": "iterations", "label": "iteration", "field": "iterations", "sortable": True, "classes": "w-hide",
     "headerClasses": "w-hide", ":format": "(v) => v === null ? '–' : v"},
    {"name": "strength", "label": "strength", "field": "strength", "sortable": True, "classes": "w-nowrap",
     ":format": "(v, row) => row.strength_text", ":sort": "(a, b) => (a ?? -1e9) - (b ?? -1e9)"},
    {"name": "state", "label": "state", "field": "state", "align": "left", "sortable": True, "classes": "w-nowrap"},
    {"name": "changed", "label": "changed", "field": "changed", "sortable": True, "classes": "w-hide w-nowrap",
     "headerClasses": "w-hide", ":format": "(v, row) => row.changed_text"},
]  # fmt: skip
NAME_CELL = """
<q-td :props="props">
  <a v-if="props.row.link" class="w-link" :href="props.row.link">{{ props.row.name }}</a>
  <span v-else>{{ props.row.name }}</span>
  <div v-if="props.row.problem" class="w-under w-bad">{{ props.row.problem }}</div>
  <div v-else class="w-under w-phone">{{ props.row.under }}</div>
</q-td>
"""
STATE_CELL = """
<q-td :props="props"><span :class="'px-chip px-' + props.row.kind">{{ props.row.state }}</span></q-td>
"""
CHOOSE_CELL = """
<q-checkbox v-model="props.selected" :aria-label="'choose ' + props.row.name" />
"""
CHOOSE_ALL = """
<q-checkbox v-model="props.selected" aria-label="choose all runs" />
"""
_KINDS = {"running": "live", "finished": "good", "damaged": "bad"}
_OPEN = "(event, row) => { if (row.link && !event.target.closest('a')) window.location.href = row.link; }"


def table_row(house: House, row: RunRow, now: float) -> dict[str, Any]:
    """A row of the table: plain data that the browser shows as text."""
    strength = row.strength
    known = (
        None
        if strength is None
        else next((x for x in (strength.value, strength.low, strength.high) if x is not None), None)
    )
    return {
        "name": printable(row.name).replace("\n", " "),
        "key": printable(row.name),
        "link": f"/watch/{quote(row.name)}" if _can_be_opened(house, row.name) else None,
        "game": printable(row.game or "–"),
        "under": ""
        if row.minutes is None
        else f"{printable(row.game or '–')}, {row.minutes:.1f} min, iteration {row.iterations}",
        "minutes": row.minutes,
        "iterations": row.iterations,
        "strength": known,
        "strength_text": printable(strength_in_words(strength)),
        "state": row.state,
        "kind": _KINDS.get(row.state, "soft"),
        "changed": row.changed,
        "changed_text": _since(now - row.changed),
        "problem": printable(row.problem) if row.problem else None,
    }


def _since(seconds: float) -> str:
    words = ago(seconds)
    return words if words == "now" else f"{words} ago"


def _can_be_opened(house: House, name: str) -> bool:
    try:
        house.allowed.run(name)
    except RunError:
        return False
    return True


class RunsView:
    """The table, and below it the runs that are chosen, compared."""

    def __init__(self, house: House, runs: Watchers[SeenRun], chosen: list[str]) -> None:
        self._house = house
        with ui.element("div").classes("w-stack"):
            with ui.element("div").classes("px-row"):
                ui.label("Runs").classes("w-title").props('role="heading" aria-level="1"')
                with ui.element("div").classes("px-end"):
                    ui.button("Train a game", icon="school", on_click=lambda: ui.navigate.to("/train")).classes(
                        "px-main"
                    ).props("unelevated")
            self._empty = ui.label(
                "No run is here yet. A run is an agent that learns a game from its rules alone, playing against itself."
            ).classes("p-card px-empty")
            self._empty.visible = False
            self._table = ui.table(
                columns=COLUMNS,
                rows=[],
                row_key="key",
                selection="multiple",
                pagination={"rowsPerPage": PER_PAGE, "sortBy": "changed", "descending": True},
                on_select=self._on_select,
            ).classes("w-table")
            self._table.props('flat hide-selected-banner binary-state-sort aria-label="runs"')
            self._table.add_slot("body-cell-name", NAME_CELL)
            self._table.add_slot("body-cell-state", STATE_CELL)
            self._table.add_slot("body-selection", CHOOSE_CELL)
            self._table.add_slot("header-selection", CHOOSE_ALL)
            self._table.on("rowClick", js_handler=_OPEN)
            self._hint = ui.label("Choose runs by their boxes to see them over each other.").classes("p-soft")
            self._comparison = Comparison(runs)
        self._wanted = chosen
        if chosen:
            self._choose(chosen)

    def show(self, seen: SeenRuns | PalaestraError) -> None:
        if isinstance(seen, PalaestraError):
            self._empty.text = printable(str(seen))
            self._empty.visible = True
            return
        now = time.time()
        rows = [table_row(self._house, row, now) for row in seen.rows]
        self._empty.visible, self._table.visible = not rows, bool(rows)
        self._hint.visible = len(rows) > 1 and not self._comparison.names
        self._table.props(f":hide-bottom={str(len(rows) <= PER_PAGE).lower()}")
        self._table.rows = rows
        chosen = set(self._wanted)
        self._table.selected = [row for row in rows if row["key"] in chosen]

    def _on_select(self, event: TableSelectionEventArguments) -> None:
        names = [str(row.get("key")) for row in event.selection if isinstance(row, dict)]
        if len(names) > MOST_COMPARED:
            say(f"at most {MOST_COMPARED} runs are shown over each other", wrong=False)
            names = names[:MOST_COMPARED]
        self._choose(names)
        ui.navigate.history.replace(f"/watch?runs={','.join(map(quote, self._wanted))}" if self._wanted else "/watch")

    def _choose(self, names: list[str]) -> None:
        allowed = [name for name in dict.fromkeys(names) if _can_be_opened(self._house, name)]
        self._wanted = allowed[:MOST_COMPARED]
        self._hint.visible = not self._wanted
        self._comparison.show(self._wanted)


class Comparison:
    """Runs over each other, followed while they go on."""

    def __init__(self, runs: Watchers[SeenRun]) -> None:
        self._runs = runs
        self.names: list[str] = []
        self._lines: dict[str, Lines] = {}
        self._watched: dict[str, Watched[SeenRun]] = {}
        with ui.element("div").classes("w-stack") as self._box:
            with ui.element("div").classes("w-picks"):
                self._anchor = ui.select([], label="strength against", on_change=self._draw).props("dense outlined")
                self._loss = ui.select(list(LOSSES), value=LOSSES[0], label="loss", on_change=self._draw)
                self._loss.props("dense outlined")
            self._cards = ChartCards()
        self._box.visible = False

    def show(self, names: list[str]) -> None:
        self.names = names
        self._box.visible = bool(names)
        self._lines = {name: self._lines[name] for name in names if name in self._lines}
        for name in names:
            if name not in self._watched:
                self._watched[name] = self._runs.tell(name, self._seen)
        self._draw()

    def _seen(self, seen: SeenRun | PalaestraError) -> None:
        if not isinstance(seen, PalaestraError) and seen.run is not None:
            known = len(self._lines.get(seen.name, ()))
            self._lines[seen.name] = seen.run.lines
            if seen.name in self.names and known != len(seen.run.lines):
                self._draw()

    def _draw(self) -> None:
        lines = {name: self._lines[name] for name in self.names if name in self._lines}
        anchors = anchors_of(lines)
        if anchors != self._anchor.options:
            kept = self._anchor.value if self._anchor.value in anchors else anchors[0] if anchors else None
            self._anchor.set_options(anchors, value=kept)
        self._anchor.visible = bool(anchors)
        if self._loss.value in LOSSES:
            self._cards.show(compared(lines, self._anchor.value, self._loss.value) if lines else [])
