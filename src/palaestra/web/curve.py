"""The value from move to move, and which moves gave something away: asked for one position at a time, and kept."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, events, ui

from palaestra.base.errors import PalaestraError
from palaestra.lab.review import Review, judge_line, thresholds_in_words
from palaestra.live.position import Position
from palaestra.players.base import Analysis
from palaestra.web import thoughts

if TYPE_CHECKING:
    from palaestra.web.play_view import PlayView

LINE, HERE, BAD, GREY = "#3b82c4", "#e8890c", "#d64545", "#8a94a3"  # to be seen on light and on dark


class Curve:
    """Follows a game: what was thought of a position stays known while the game has it."""

    def __init__(self, view: PlayView, parent: ui.element) -> None:
        self.view = view
        self._known: dict[bytes, Analysis] = {}  # by state
        self._adviser = ""
        self._task: asyncio.Task[None] | None = None
        self._review: Review | None = None
        with parent:
            self._place = ui.element("div")
            self._words = ui.label("").classes("p-soft").tooltip(thresholds_in_words(view.rules))
        self._chart: ui.echart | None = None

    def _drawn(self) -> ui.echart:
        """The chart, made when it is first wanted: what draws charts is half of all that a browser would load."""
        if self._chart is None:
            with self._place:
                self._chart = ui.echart({}, on_point_click=self._on_click).classes("pl-curve")
            self._chart.props('aria-label="value over the game"')
        return self._chart

    def follow(self) -> None:
        """Find out what is not known of the game yet, and draw it."""
        self.stop()
        adviser = self.view.thinking.advisers[0].text
        if adviser != self._adviser:
            self._known, self._adviser = {}, adviser
        self._draw()
        self._task = background_tasks.create(self._fill(), name="curve", context=self.view.client)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _fill(self) -> None:
        view = self.view
        try:
            text = view.house.allowed.player(self._adviser)
            for position in self._positions():
                key = position.state.tobytes()
                if position.is_over or key in self._known:
                    continue
                ask = view.house.analyses.ask(thoughts.look, view.text, position.text, text, view.game.seed)
                found = await ask
                if found.value is None:
                    self._words.text = f"{self._adviser} has no value for a position"
                    return
                self._known[key] = found
                self._draw()
                view.moves.show(view.game, self.marks())
        except PalaestraError as error:
            self._words.text = str(error)

    def _positions(self) -> list[Position]:
        """All positions of the line, the initial one first."""
        game = self.view.game
        last = game.position
        for action in game.line[game.ply :]:
            last = last.after(action)
        return [last.back(len(game.line) - ply) for ply in range(len(game.line) + 1)]

    # What is known.

    def _judged(self) -> Review | None:
        """The game as far as every position of it is known."""
        states, analyses = [], []
        positions = self._positions()
        for position in positions:
            found = None if position.is_over else self._known.get(position.state.tobytes())
            if found is None and not position.is_over:
                break
            states.append(position.state)
            analyses.append(found)
        if not states:
            return None
        actions = self.view.game.line[: len(states) - 1]
        return judge_line(self.view.rules, states, actions, analyses, self._adviser)

    def marks(self) -> dict[int, tuple[str, str]]:
        """Verdicts by ply, and the reason in words."""
        if self._review is None:
            return {}
        return {
            move.ply: (
                move.verdict,
                f"{move.verdict}, {'for certain' if move.exact else 'as the adviser sees it'}; better: {move.best}",
            )
            for move in self._review.moves
            if move.verdict
        }

    # What is drawn.

    def _draw(self) -> None:
        self._review = review = self._judged()
        values = [] if review is None else review.values
        chart = self._drawn()
        chart.options.clear()
        chart.options.update(self._options(values, self.view.game.ply))
        chart.update()
        whose = "The first player's value" if self.view.rules.players == 2 else "The value"
        self._words.text = f"{whose} from move to move, as {self._adviser} sees it; click to go there."

    def _options(self, values: list[float], here: int) -> dict[str, Any]:
        marks = self.marks()
        points = []
        for ply, value in enumerate(values):
            bad, now = ply in marks, ply == here
            style = {"color": BAD if bad else HERE if now else LINE}
            points.append({"value": [ply, round(value, 3)], "itemStyle": style, "symbolSize": 11 if bad or now else 7})
        last = max(len(self.view.game.line), 4)
        low = -1 if self.view.rules.players == 2 else math.floor(min(values, default=0) * 10) / 10
        faint = {"color": GREY, "opacity": 0.25}
        here_line = {"silent": True, "symbol": "none", "label": {"show": False}, "lineStyle": {"color": HERE}}
        axis = {"axisLabel": {"color": GREY}, "axisLine": {"lineStyle": {"color": GREY}}}
        return {
            "animation": False,
            "grid": {"left": 34, "right": 12, "top": 12, "bottom": 24},
            "xAxis": {"type": "value", "min": 0, "max": last, "minInterval": 1, "splitLine": {"show": False}, **axis},
            "yAxis": {"type": "value", "min": low, "max": 1, "splitLine": {"lineStyle": faint}, **axis},
            "tooltip": {"trigger": "axis"},
            "series": [{
                "type": "line", "name": "value", "data": points, "lineStyle": {"color": LINE, "width": 2},
                "areaStyle": {"color": LINE, "opacity": 0.12},
                "markLine": {**here_line, "data": [{"xAxis": here}]},
            }],
        }  # fmt: skip

    def _on_click(self, event: events.EChartPointClickEventArguments) -> None:
        if isinstance(event.data_index, int):
            self.view.step(event.data_index)
