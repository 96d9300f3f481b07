"""What every page looks like: the head with the way to the other pages, light and dark, messages."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import Any

from nicegui import ui

from palaestra.base.printable import printable

PAGES = {  # name -> (address, what it is for)
    "Play": ("/play", "play against any player, and see what it thinks"),
    "Watch": ("/watch", "runs as they learn"),
    "Compare": ("/compare", "tournaments and ratings"),
    "Solve": ("/solve", "games for one player"),
    "Laboratory": ("/laboratory", "published experiments, run again"),
}
PATIENCE = 60.0  # seconds in which a page has to be built; NiceGUI gives up after three
DARK = "palaestra-dark"  # where the browser keeps the choice
# Before anything is drawn, so that no page flashes in the other colours.
_DARK = f"""
<script>
  window.palaestraDark = () => {{
    const kept = localStorage.getItem("{DARK}");
    return kept === null ? matchMedia("(prefers-color-scheme: dark)").matches : kept === "1";
  }};
</script>
"""


def page(path: str) -> ui.page:
    """The decorator of a page's function: a busy machine builds it late rather than not at all."""
    return ui.page(path, response_timeout=PATIENCE)


@contextmanager
def frame(title: str, here: str) -> Iterator[None]:
    """The page `title` below the heading `here`, one of PAGES; what is made within stands in its middle."""
    ui.page_title(f"{title} – Palaestra" if title else "Palaestra")
    ui.add_head_html(_DARK + f"<style>{_style()}</style>")
    dark = ui.dark_mode()

    async def begin() -> None:
        with suppress(TimeoutError):  # the tab has gone elsewhere meanwhile
            dark.value = bool(await ui.run_javascript("window.palaestraDark()", timeout=5.0))

    ui.context.client.on_connect(begin)
    with ui.header(elevated=False).classes("p-head"):
        ui.link("Palaestra", "/").classes("p-name")
        with ui.element("nav").props('aria-label="pages"').classes("p-nav"):
            for name, (address, words) in PAGES.items():
                link = ui.link(name, address).tooltip(words)
                if name == here:
                    link.props('aria-current="page"').classes("p-here")

        def toggle() -> None:
            dark.value = not dark.value
            ui.run_javascript(f'localStorage.setItem("{DARK}", "{int(bool(dark.value))}")')

        ui.button(icon="contrast", on_click=toggle).props('flat round dense aria-label="light or dark"').classes(
            "p-dark"
        )
    with ui.element("main").classes("p-main"):
        yield


def held_weakly(method: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """A view's method for an upload: FastAPI remembers uploads of pages that are gone, and would keep the view."""
    there = weakref.WeakMethod(method)

    async def call(event: Any) -> None:
        if (found := there()) is not None:
            await found(event)

    return call


def say(error: Exception | str, *, wrong: bool = True) -> None:
    """A line for a person at the bottom of the page."""
    ui.notify(printable(str(error)), type="negative" if wrong else "info", position="bottom", multi_line=True)


def _style() -> str:
    return (files("palaestra.web") / "page.css").read_text(encoding="utf-8")
