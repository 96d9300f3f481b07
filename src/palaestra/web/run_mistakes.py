"""A card that counts the mistakes of a run's networks, where every move of some positions is known."""

from __future__ import annotations

from nicegui import ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.lab.mistake_curves import Point
from palaestra.live.run import Run
from palaestra.web.chart_cards import ChartCards
from palaestra.web.charts import Over
from palaestra.web.frame import say
from palaestra.web.game_names import canonical
from palaestra.web.house import House
from palaestra.web.mistakes import POINTS, count_mistakes, may_have_oracle, mistakes_chart
from palaestra.web.parts import title as heading


class MistakesCard:
    """Counts when it is asked to: it takes from seconds to a minute of a core."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._run: Run | None = None
        self._over: Over = "minutes"
        self._points: list[Point] = []
        with ui.element("section").classes("w-stack").props('data-part="mistakes"') as self.box:
            with ui.element("div").classes("p-card w-stack"):
                heading("Mistakes")
                self._words = ui.label(
                    "This board is small enough to know every move of some positions. How often do the networks of this"
                    " run err there?"
                ).classes("p-soft")
                self._button = ui.button("Count mistakes", icon="rule", on_click=self._count).props("flat")
                self._button.classes("px-quiet")
            self._cards = ChartCards()
        self.box.visible = False

    def show(self, run: Run, over: Over) -> None:
        self._run = run
        try:
            game = self._house.allowed.game(run.stored.game_text)
            self.box.visible = run.iterations > 0 and may_have_oracle(game)
        except PalaestraError:
            self.box.visible = False
        self.draw(over)

    def draw(self, over: Over) -> None:
        self._over = over
        self._cards.show([mistakes_chart(self._points, over)] if self._points else [])

    def _hear(self, points: list[Point]) -> None:
        self._points = points
        self._words.text = f"{len(points)} of at most {POINTS} networks"
        self.draw(self._over)

    async def _count(self) -> None:
        run = self._run
        if run is None:
            return
        self._button.disable()
        self._words.text = "Solving positions …"
        try:
            text = canonical(self._house, run.stored.game_text)
            points = await self._house.analyses.ask(count_mistakes, text, str(run.folder), hear=self._hear)
            self._hear(points)
            self._words.text = f"The networks of {len(points)} moments, each twice as late as the one before."
        except PalaestraError as error:
            self._words.text = printable(str(error))
            say(error)
        finally:
            self._button.enable()
