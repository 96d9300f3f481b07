"""What is shown where nothing has been learned yet: a button that begins to learn, while one watches."""

from __future__ import annotations

import asyncio

from nicegui import ui

from palaestra.base.errors import PalaestraError
from palaestra.web.frame import say
from palaestra.web.house import House

GAME, MINUTES = "connect_four-5x5", 2.0


def first_visit(house: House) -> None:
    """A card with the button."""

    async def begin() -> None:
        from palaestra.web.training import start

        try:
            name = await asyncio.to_thread(start, house, game=GAME, preset="fast", minutes=MINUTES)
        except PalaestraError as error:
            say(error)
            return
        ui.navigate.to(f"/watch/{name}")

    with ui.element("section").classes("p-card pl-front").props('aria-label="begin"'):
        ui.label("Nothing has been learned here yet. Play against a search on the left, or let a network learn:")
        with ui.element("div").classes("pl-buttons q-mt-sm"):
            words = "Train Connect Four 5×5 for two minutes"
            button = ui.button(words, icon="school", on_click=begin, color=None).classes("pl-main")
            button.props(f'flat dense no-caps aria-label="{words}"').tooltip("and watch while it learns")
