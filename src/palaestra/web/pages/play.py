"""The page "Play"."""

from __future__ import annotations

from nicegui import ui

from palaestra.web.frame import frame
from palaestra.web.house import House


def register(house: House) -> None:
    @ui.page("/play")
    def page() -> None:
        with frame("Play", "Play"):
            ui.label("…")
