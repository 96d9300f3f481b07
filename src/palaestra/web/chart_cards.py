"""Charts on a page: a card each, filled again when something has changed. Knows nothing of what they show."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from palaestra.base.printable import printable
from palaestra.web.charts import Chart


class ChartCards:
    """A grid of charts, which keep their places while only their data change."""

    def __init__(self) -> None:
        self._box = ui.element("div").classes("w-charts")
        self._charts: dict[str, tuple[ui.echart, ui.label]] = {}

    def show(self, charts: Sequence[Chart]) -> None:
        if [chart.key for chart in charts] != list(self._charts):
            self._box.clear()
            with self._box:
                self._charts = {chart.key: _card(chart) for chart in charts}
            return
        for chart in charts:
            drawn, caption = self._charts[chart.key]
            caption.text = printable(chart.caption)
            if drawn.options != chart.options:
                drawn.options.clear()
                drawn.options.update(chart.options)
                drawn.update()


def _card(chart: Chart) -> tuple[ui.echart, ui.label]:
    with ui.element("section").classes("p-card w-chart").props(f'data-chart="{chart.key}"'):
        ui.label(printable(chart.title)).classes("p-title").props('role="heading" aria-level="2"')
        drawn = ui.echart(dict(chart.options), renderer="svg").classes("w-plot")
        return drawn, ui.label(printable(chart.caption)).classes("p-soft w-caption")
