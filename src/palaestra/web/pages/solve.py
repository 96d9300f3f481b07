"""The page "Solve"."""

from __future__ import annotations

from nicegui import ui

from palaestra.web.frame import frame
from palaestra.web.house import House


def register(house: House) -> None:
    @ui.page("/solve")
    def page() -> None:
        with frame("Solve", "Solve"):
            ui.label("…")
