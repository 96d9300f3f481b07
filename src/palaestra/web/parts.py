"""Small parts that the pages Compare, Solve and Laboratory share: their style, states, dropping a file, cards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from nicegui import events, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import escape, printable
from palaestra.web.commands import Command
from palaestra.web.frame import say
from palaestra.web.guard import MOST_BODY

KINDS = {"running": "live", "done": "good", "holds": "good", "valid": "good", "fails": "bad", "wrong": "bad"}
LONGEST_FILE = MOST_BODY - 2**16  # bytes: what else an upload sends is not the file's


def style() -> None:
    """The look of these pages, beside that of all pages."""
    text = (files("palaestra.web") / "results.css").read_text(encoding="utf-8")
    ui.add_head_html(f"<style>{text}</style>")


def title(text: str) -> ui.label:
    return ui.label(printable(text)).classes("p-title").props('role="heading" aria-level="2"')


def button(words: str, icon: str, pressed: Callable[..., Any], *, main: bool = False) -> ui.button:
    """A button in the page's own colours."""
    made = ui.button(words, icon=icon, on_click=pressed, color=None).props("unelevated no-caps")
    return made.classes("px-main") if main else made.props("dense").classes("px-quiet")


def chip(state: str) -> str:
    """A state as a small mark."""
    return f'<span class="px-chip px-{KINDS.get(state, "soft")}">{escape(state)}</span>'


def bar(share: float) -> str:
    """How much is done, from 0 to 1."""
    percent = 100 * min(max(share, 0.0), 1.0)
    return (
        f'<div class="px-bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent:.0f}">'
        f'<i style="width:{percent:.1f}%"></i></div>'
    )


def shown_command(line: str) -> None:
    """A command as a person types it, to copy."""
    ui.html(f"<code>{escape(line)}</code>", sanitize=False).classes("px-command").props('aria-label="the command"')


def last_words(command: Command | None) -> str:
    """What a command that failed said last; nothing of any other."""
    if command is None or not command.failed:
        return ""
    return command.last_line or f"the command ended with exit code {command.code}"


def guarded(action: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The action, with errors that a user can cause as a line on the page."""

    async def done(*given: Any) -> None:
        try:
            await action(*given)
        except PalaestraError as error:
            say(error)

    return done


async def stop_command(command: Command | None) -> None:
    """End a command as Ctrl-C does; waits until it has."""
    if command is not None:
        await asyncio.to_thread(command.stop)


def drop_file(words: str, accept: str, taken: Callable[[bytes, str], Awaitable[None]]) -> ui.upload:
    """A place to drop one file; `taken` gets its bytes and its name."""

    async def arrived(event: events.UploadEventArguments) -> None:
        upload.reset()
        if event.file.size() > LONGEST_FILE:
            say(f"a file may have {LONGEST_FILE // 2**20} MB at most; larger ones are for the command line")
            return
        await guarded(taken)(await event.file.read(), printable(event.file.name)[:80] or "the file")

    def refused() -> None:
        say(f"a file of at most {LONGEST_FILE // 2**20} MB is taken here, its name ending in {accept}")

    upload = ui.upload(
        label=words, auto_upload=True, max_file_size=LONGEST_FILE, on_upload=arrived, on_rejected=refused
    )
    return upload.props(f'accept="{accept}" flat bordered aria-label="{words}"').classes("px-drop")
