"""Things on the disk that several browsers look at: one reader for all of them, which tells them when it changes.

Somebody looks as long as there is somebody to tell. Knows nothing of what is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from nicegui import background_tasks, ui

from palaestra.base.errors import PalaestraError

EVERY = 0.5  # seconds between two looks
T = TypeVar("T")
Viewer = Callable[[T], None]


class Watched(Generic[T]):
    """`mark` is cheap and changes when the thing does; `read` gives what is told. Both run beside the event loop.

    What is wrong with the thing is told like what is there.
    """

    def __init__(self, mark: Callable[[], object], read: Callable[[], T], every: float = EVERY) -> None:
        self._mark, self._read, self._every = mark, read, every
        self._viewers: list[Viewer[T | PalaestraError]] = []
        self._seen: T | PalaestraError | None = None
        self._last: object = None
        self._task: asyncio.Task[None] | None = None

    def tell(self, viewer: Viewer[T | PalaestraError]) -> Callable[[], None]:
        """Tell `viewer` what is there, now and whenever it changes, until the function that is returned is called."""
        self._viewers.append(viewer)
        if self._seen is not None:
            viewer(self._seen)
        if self._task is None or self._task.done():
            self._task = background_tasks.create(self._watch(), name="watched")

        def leave() -> None:
            with contextlib.suppress(ValueError):
                self._viewers.remove(viewer)

        return leave

    @property
    def is_looked_at(self) -> bool:
        return bool(self._viewers)

    async def _watch(self) -> None:
        while self._viewers:
            await self.look()
            await asyncio.sleep(self._every)

    async def look(self) -> None:
        """Look once, now."""
        mark = await asyncio.to_thread(self._mark)
        if mark == self._last and self._seen is not None:
            return
        try:
            self._seen = await asyncio.to_thread(self._read)
        except PalaestraError as error:
            self._seen = error
        self._last = mark
        for viewer in list(self._viewers):
            try:
                viewer(self._seen)
            except Exception:  # one browser's trouble is not the others'
                logging.getLogger("palaestra").exception("a page could not show what it was told")


class Watchers(Generic[T]):
    """Things by name, each watched once; forgotten when nobody looks at them."""

    def __init__(self, make: Callable[[str], Watched[T]]) -> None:
        self._make = make
        self._there: dict[str, Watched[T]] = {}

    def tell(self, name: str, viewer: Viewer[T | PalaestraError]) -> Watched[T]:
        """Tell the page that is being made of the thing `name`, as long as the page is there."""
        self._there = {key: one for key, one in self._there.items() if one.is_looked_at or key == name}
        if name not in self._there:
            self._there[name] = self._make(name)
        found = self._there[name]
        ui.context.client.on_delete(found.tell(viewer))
        return found
