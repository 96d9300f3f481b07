"""A board to look at and to point at: the game's drawing below, buttons for its moves above.

The drawing changes while a player thinks; the buttons only with the position, so that whoever goes from square to
square with the keyboard is not thrown out. Knows no rules: places come from `live.targets`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nicegui import events, ui

from palaestra.base.printable import escape
from palaestra.games.overlay import has_spots
from palaestra.games.svg import Point, Spot
from palaestra.live.position import Position
from palaestra.live.targets import Target, line_of, moves_near, targets

COLOURS = ("#c2255c", "#1971c2", "#2b8a3e", "#e8590c", "#6741d9", "#0b7285")  # of moves that one can choose between
MOST_CHOICES = 40
_SIZE = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
# A press of a mouse or a finger: which target, and where in the drawing.
_CLICK = """(e) => {
  const svg = e.currentTarget.querySelector("svg"); if (!svg) return;
  const hit = e.target.closest("[data-target]");
  const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  window.palaestraKeys = false;
  emit({version: Number(svg.dataset.version), target: hit ? Number(hit.dataset.target) : -1, x: at.x, y: at.y});
}"""
_KEY = """(e) => {
  const hit = e.target.closest("[data-target]");
  if (!hit || (e.key !== "Enter" && e.key !== " ")) return;
  e.preventDefault(); e.stopPropagation();
  window.palaestraKeys = true; window.palaestraTarget = Number(hit.dataset.target);
  emit({version: Number(hit.closest("svg").dataset.version), target: Number(hit.dataset.target)});
}"""
# Who moved with the keyboard finds the focus on the board again when the next buttons are there.
_FOCUS = """
  const layer = getHtmlElement(%d);
  if (layer && window.palaestraKeys && (document.activeElement === document.body || !document.activeElement)) {
    const all = [...layer.querySelectorAll("[data-target]")];
    (all.find((one) => Number(one.dataset.target) >= window.palaestraTarget) || all[all.length - 1])?.focus();
  }
"""


@dataclass(frozen=True)
class Scene:
    """A position to look at; its targets are for whoever may move."""

    name: str  # for whoever does not see it
    svg: str
    moves: Mapping[int, str]  # action -> how people write it
    targets: Sequence[Target]
    near: Callable[[Point], Sequence[int]] = lambda point: ()  # moves that are lines, near a point
    line: Callable[[int], Spot | None] = lambda action: None  # where a move is drawn
    has_board: bool = True  # whether the drawing is one of squares, and no text


def scene_of(position: Position, svg: str) -> Scene:
    """A position of a game that is played in turn."""
    name = f"board of {position.game.id} after {len(position.actions)} moves"
    moves = {action: text for text, action in position.legal.items()}
    board = has_spots(position.game)
    near, line = partial(moves_near, position), partial(line_of, position)
    return Scene(name, svg, moves, targets(position), near, line, board)


class Board:
    """`played` is called with the action that a person chooses."""

    def __init__(self, played: Callable[[int], Any]) -> None:
        self._played = played
        self._scene: Scene | None = None
        self._targets: list[Target] = []
        self._open = False
        self._picked = False
        self._hint: int | None = None
        self._version = 0
        self._between: list[int] = []  # moves that a person is asked to choose between
        with ui.element("div").classes("pb-frame") as self.frame:
            self._drawing = ui.html("", sanitize=False).classes("pb-drawing")
            self._layer = ui.html("", sanitize=False).classes("pb-layer")
        self._layer.on("click", self._on_point, js_handler=_CLICK)
        self._layer.on("keydown", self._on_point, js_handler=_KEY)
        self._chooser = ui.html("", sanitize=False, tag="div").classes("pb-chooser").props('aria-live="polite"')
        self._chooser.on(
            "click",
            self._on_choice,
            js_handler='(e) => { const b = e.target.closest("[data-action]"); if (b) emit(Number(b.dataset.action)); }',
        )

    # What is shown.

    def draw(self, svg: str) -> None:
        """Only the drawing: the position is the same."""
        self._drawing.content = svg

    def show(self, scene: Scene, *, is_open: bool) -> None:
        """Another position; `is_open` says whether a person may move."""
        self._scene, self._open, svg = scene, is_open, scene.svg
        self._targets = list(scene.targets) if is_open else []
        self._picked, self._hint, self._between = False, None, []
        self._version += 1
        self._drawing.content = svg
        self._frame(scene)
        self._layer.content = self._buttons(svg)
        self._chooser.content = ""
        if is_open:
            self._layer.client.run_javascript(_FOCUS % self._layer.id)

    def hint(self, action: int | None) -> None:
        """Mark a move as the one to play."""
        self._hint = action
        self._layer.content = self._buttons(self._drawing.content)

    @property
    def has_targets(self) -> bool:
        return any(target.actions for target in self._targets)

    def _frame(self, scene: Scene) -> None:
        width, height = _size(scene.svg)
        kind = "pb-frame" if scene.has_board else "pb-frame pb-letters"
        self.frame.classes(replace=kind).style(f"--ratio: {width / height:.4f}").props(
            f'role="group" aria-label="{escape(scene.name)}"'
        )

    def _buttons(self, svg: str) -> str:
        width, height = _size(svg)
        body = [self._button(number, target) for number, target in enumerate(self._targets)]
        body += [self._choice_line(place, action) for place, action in enumerate(self._between)]
        picked = " pb-picked" if self._picked else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'data-version="{self._version}" class="pb-targets{picked}">{"".join(body)}</svg>'
        )

    def _button(self, number: int, target: Target) -> str:
        kind = "pb-move" if target.actions else "pb-piece"
        if self._hint is not None and self._hint in target.actions:
            kind += " pb-hint"
        name = escape(target.name)
        return (
            f'<path d="{_path(target.outline)}Z" class="{kind}" data-target="{number}" role="button" tabindex="0" '
            f'aria-label="{name}"><title>{name}</title></path>'
        )

    def _choice_line(self, place: int, action: int) -> str:
        assert self._scene is not None
        spot = self._scene.line(action)
        if spot is None or len(spot.outline) != 2:
            return ""
        return f'<path d="{_path(spot.outline)}" class="pb-line" stroke="{COLOURS[place % len(COLOURS)]}"/>'

    # What a person does.

    def _on_point(self, event: events.GenericEventArguments) -> None:
        given = event.args if isinstance(event.args, dict) else {}
        if given.get("version") != self._version or not self._open or self._scene is None:
            return  # the position has changed since, or somebody else is to move
        number = given.get("target")
        x, y = given.get("x"), given.get("y")
        meant: Sequence[int] = ()
        if isinstance(x, int | float) and isinstance(y, int | float):
            meant = self._scene.near((float(x), float(y)))
        if not meant and isinstance(number, int) and 0 <= number < len(self._targets):
            target = self._targets[number]
            if not target.actions:
                self._pick()
                return
            meant = target.actions
        if len(meant) == 1:
            self._played(meant[0])
        elif meant:
            self._ask(list(meant))

    def _pick(self) -> None:
        self._picked = not self._picked
        self._layer.content = self._buttons(self._drawing.content)

    def _ask(self, between: list[int]) -> None:
        assert self._scene is not None
        self._between = between[:MOST_CHOICES]
        names = self._scene.moves
        buttons = "".join(
            f'<button type="button" data-action="{action}" style="border-color: {COLOURS[place % len(COLOURS)]}">'
            f"{escape(names[action])}</button>"
            for place, action in enumerate(self._between)
        )
        self._chooser.content = f"<span>Which one?</span>{buttons}"
        self._layer.content = self._buttons(self._drawing.content)

    def _on_choice(self, event: events.GenericEventArguments) -> None:
        if self._open and event.args in self._between:
            self._played(int(event.args))


class MoveButtons:
    """All legal moves as buttons with their names, with a search: for games without a board, and for passes."""

    MOST = 80

    def __init__(self, played: Callable[[int], Any]) -> None:
        self._played = played
        self._moves: dict[str, int] = {}
        with ui.element("div").classes("pb-moves"):
            self._search = (
                ui.input(placeholder="search moves", on_change=self._draw)
                .props('dense outlined clearable aria-label="search moves"')
                .classes("pb-search")
            )
            self._list = ui.html("", sanitize=False).classes("pb-list")
        self._search.on("keydown.enter", self._on_enter)
        self._list.on(
            "click",
            self._on_click,
            js_handler='(e) => { const b = e.target.closest("[data-action]"); if (b) emit(Number(b.dataset.action)); }',
        )

    def show(self, moves: dict[str, int]) -> None:
        """Offer these moves; none where nobody may move."""
        self._moves = moves
        self._search.visible = len(moves) > 12
        if self._search.value:
            self._search.value = ""
        self._draw()

    def _found(self) -> dict[str, int]:
        words = str(self._search.value or "").lower().split()
        return {text: action for text, action in self._moves.items() if all(word in text.lower() for word in words)}

    def _draw(self) -> None:
        found = list(self._found().items())
        shown = "".join(
            f'<button type="button" data-action="{action}">{escape(text)}</button>'
            for text, action in found[: self.MOST]
        )
        more = len(found) - self.MOST
        rest = f'<span class="p-soft">and {more} more: search for them</span>' if more > 0 else ""
        self._list.content = shown + rest

    def _on_click(self, event: events.GenericEventArguments) -> None:
        if event.args in self._moves.values():
            self._played(int(event.args))

    def _on_enter(self) -> None:
        found = self._found()
        exact = str(self._search.value or "").strip().lower()
        for text, action in found.items():
            if text.lower() == exact or len(found) == 1:
                self._played(action)
                return


def _size(svg: str) -> tuple[float, float]:
    match = _SIZE.search(svg)
    return (float(match[1]), float(match[2])) if match else (100.0, 100.0)


def _path(outline: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in outline)
