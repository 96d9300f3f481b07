"""The moves of a game in a row, each a button that leads to its position; mistakes are marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import events, ui

from palaestra.base.printable import escape
from palaestra.live.game_in_play import GameInPlay

MARKS = {"inaccuracy": "?!", "mistake": "?", "blunder": "??"}


def step_buttons(unit: str, where: Callable[[], tuple[int, int]], step: Callable[[int], Any]) -> ui.label:
    """Buttons to go through a game, and a label for words; `where` gives the place that is shown and the last one."""
    with ui.element("div").classes("pl-buttons"):
        for icon, words, to in (
            ("first_page", "first position", lambda: 0),
            ("chevron_left", f"one {unit} back", lambda: where()[0] - 1),
            ("chevron_right", f"one {unit} on", lambda: where()[0] + 1),
            ("last_page", "last position", lambda: where()[1]),
        ):
            button = ui.button(icon=icon, on_click=lambda to=to: step(to()), color=None)
            button.props(f'flat dense aria-label="{words}"').tooltip(words)
        return ui.label("").classes("p-soft self-center")


class MovesList:
    """`step` is called with the ply that a person wants to see."""

    def __init__(self, step: Callable[[int], Any]) -> None:
        self._step = step
        self._ply = self._last = 0
        with ui.element("div").classes("p-card p-wide"):
            self._words = step_buttons("move", lambda: (self._ply, self._last), self._step)
            self._list = ui.html("", sanitize=False).classes("pl-moves").props('role="group" aria-label="moves"')
        self._list.on(
            "click",
            self._on_click,
            js_handler='(e) => { const b = e.target.closest("[data-ply]"); if (b) emit(Number(b.dataset.ply)); }',
        )

    def show(self, game: GameInPlay, marks: Mapping[int, tuple[str, str]]) -> None:
        """`marks` are verdicts by ply, and the reason in words."""
        self._ply, self._last = game.ply, len(game.line)
        texts = game.game.line_to_texts(game.position.states[0], game.line)
        self._words.text = f"after {self._ply} of {self._last} moves" if self._last else "no move yet"
        shown = []
        for ply, text in enumerate(texts, start=1):
            if ply % 2 and game.game.players == 2:
                shown.append(f'<span class="pl-number">{ply // 2 + 1}.</span>')
            kind = "pl-now" if ply == self._ply else "pl-later" if ply > self._ply else ""
            verdict, reason = marks.get(ply, ("", ""))
            mark = f'<span class="pl-mark">{MARKS[verdict]}</span>' if verdict else ""
            told = f' title="{escape(reason)}" aria-label="{escape(f"{text}, {reason}")}"' if verdict else ""
            shown.append(f'<button type="button" class="{kind}" data-ply="{ply}"{told}>{escape(text)}{mark}</button>')
        self._list.content = "".join(shown)

    def _on_click(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, int):
            self._step(event.args)
