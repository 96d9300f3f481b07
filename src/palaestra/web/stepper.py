"""A course of play to step through: drawing, slider, arrows, and its moves to point at."""

from __future__ import annotations

import re
from collections.abc import Callable

from nicegui import events, ui

from palaestra.base.printable import escape
from palaestra.live.steps import Steps

_SIZE = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_POINTED = '(e) => { const b = e.target.closest("[data-at]"); if (b) emit(Number(b.dataset.at)); }'


class Stepper:
    """Nothing is there until `show`. The keys ← → Home End step as well, except while one types."""

    def __init__(self) -> None:
        self._steps: Steps | None = None
        self.at = 0
        with ui.element("div").classes("ps-stepper") as self.frame:
            self._drawing = ui.html("", sanitize=False).classes("ps-drawing").props('role="img"')
            with ui.element("div").classes("ps-controls") as self._controls:
                self._button("first_page", "to the beginning", lambda: self.go(0))
                self._button("chevron_left", "one move back", lambda: self.go(self.at - 1))
                self._slider = ui.element("input").props('type="range" min=0 max=0 step=1 aria-label="moves made"')
                self._slider.on("input", self._slid, args=["target.value"], js_handler="(e) => emit(e.target.value)")
                self._button("chevron_right", "one move on", lambda: self.go(self.at + 1))
                self._button("last_page", "to the end", lambda: self.go(self._count))
            self._words = ui.label("").classes("ps-words").props('aria-live="polite"')
            self._moves = ui.html("", sanitize=False).classes("ps-moves")
            self._moves.on("click", self._pointed, js_handler=_POINTED)
        self.frame.visible = False
        ui.keyboard(on_key=self._key, repeating=True, ignore=["input", "select", "textarea"])

    def show(self, steps: Steps, at: int | None = None) -> None:
        """Another course of play, at its end or where `at` says."""
        self._steps = steps
        self.frame.visible = True
        self._controls.visible = bool(steps.moves)
        self._slider.props(f"max={len(steps.moves)}")
        size = _SIZE.search(steps.pictures[0])
        ratio = float(size[1]) / float(size[2]) if size else 1.0
        self._drawing.style(f"--ratio: {ratio:.4f}")
        self._moves.content = "".join(
            f'<button type="button" data-at="{number}">{_number(number)}{escape(move)}</button>'
            for number, move in enumerate(steps.moves, start=1)
        )
        self.go(len(steps.moves) if at is None else at)

    def go(self, at: int) -> None:
        """Show the position after so many moves."""
        if self._steps is None:
            return
        at = min(max(at, 0), self._count)
        self.at = at
        self._drawing.content = self._steps.pictures[at]
        last = f"after {self._steps.moves[at - 1]}" if at else "the beginning"
        ended = f" – {self._steps.words}" if at == self._count and self._steps.words else ""
        words = f"{at} of {self._count} moves, {last}{ended}"
        self._words.text = words
        self._drawing.props(f'aria-label="{escape(words)}"')
        self._slider.props(f'value={at} aria-valuetext="{escape(words)}"')
        self.frame.client.run_javascript(_MARK % (self._moves.html_id, at, self._slider.html_id, at))

    @property
    def _count(self) -> int:
        return 0 if self._steps is None else len(self._steps.moves)

    def _button(self, icon: str, name: str, pressed: Callable[[], None]) -> None:
        ui.button(icon=icon, on_click=pressed, color=None).props(f'flat round dense aria-label="{name}"')

    def _slid(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, str) and event.args.isdigit() and len(event.args) < 6:
            self.go(int(event.args))

    def _pointed(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, int):
            self.go(event.args)

    def _key(self, event: events.KeyEventArguments) -> None:
        if not event.action.keydown or event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta:
            return
        if event.key.arrow_left:
            self.go(self.at - 1)
        elif event.key.arrow_right:
            self.go(self.at + 1)
        elif event.key.name == "Home":
            self.go(0)
        elif event.key.name == "End":
            self.go(self._count)


_MARK = """
  const list = document.getElementById("%s");
  if (list) {
    list.querySelector(".ps-now")?.classList.remove("ps-now");
    const now = list.querySelector('[data-at="%d"]');
    if (now) {
      now.classList.add("ps-now");
      list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
  }
  const slider = document.getElementById("%s");
  if (slider) slider.value = %d;
"""


def _number(number: int) -> str:
    return f'<span class="ps-number">{number}</span>'
