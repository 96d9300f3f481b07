"""One adviser: who it is, what it thinks of each move, and which network of a run it has."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from nicegui import background_tasks, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import escape
from palaestra.live.analysis import MOST_ROWS, PositionAnalysis
from palaestra.live.words import value_in_words
from palaestra.players.registry import KINDS, read_player
from palaestra.players.text import parse_player
from palaestra.web import thoughts
from palaestra.web.frame import say
from palaestra.web.opponents import Network, options, run_of, words_of
from palaestra.web.seats import player_choice, set_choice

if TYPE_CHECKING:
    from palaestra.web.thinking import Thinking

LIMITS = ("simulations", "playouts", "depth", "ms")  # arguments that say how long a player thinks


class Adviser:
    """A column of the panel."""

    def __init__(self, thinking: Thinking, text: str) -> None:
        self.thinking, self.view, self.text = thinking, thinking.view, text
        self.found: PositionAnalysis | None = None  # what it thinks, so far
        self._task: asyncio.Task[None] | None = None
        self._networks: list[Network] = []
        self._place = 0  # of its network among them
        with ui.element("div").classes("pt-adviser") as self._column:
            offered = options(self.view.rules, self.view.agents, person=False)
            self._choice = player_choice(offered, text, "Adviser", self._choose).classes("p-wide")
            with ui.element("div").classes("p-wide") as self._slide:
                self._slider = ui.slider(min=0, max=1, step=1, on_change=self._slid)
                self._slider.props('label-always snap aria-label="iteration" markers').classes("q-px-sm q-pt-lg")
                self._when = ui.label("").classes("p-soft")
            self._value = ui.label("").classes("pt-value")
            self._note = ui.label("").classes("p-soft")
            self._small = ui.html("", sanitize=False).classes("pt-small")
            self._table = ui.html("", sanitize=False).classes("p-scroll")
            self._line = ui.label("").classes("pt-line")
        self._find_run()

    def remove(self) -> None:
        self.stop()
        self._column.delete()

    # Who it is.

    def become(self, text: str) -> None:
        """Another adviser, whose text is checked already."""
        self.text = text
        set_choice(self._choice, text)
        self._find_run()

    def _choose(self, text: str) -> None:
        if text == self.text:
            return
        try:
            self.view.house.allowed.player(text)
        except PalaestraError as error:
            say(error)
            set_choice(self._choice, self.text)
            return
        self.text = text
        self._find_run()
        self.thinking.adviser_changed(self)

    def _find_run(self) -> None:
        """A slider over the networks, where the adviser is an agent of a run."""
        named = run_of(self.text)
        runs = [run for run in self.view.agents if named is not None and run.name == named[0]]
        self._slide.visible = bool(runs) and len(runs[0].networks) > 1
        if not runs or named is None:
            self._networks = []
            return
        run = runs[0]
        self._networks = list(run.networks)
        numbers = [network.iteration for network in self._networks]
        wanted = {"best": str(run.best), "last": str(numbers[-1])}.get(named[1], named[1])
        place = numbers.index(int(wanted)) if wanted.isdigit() and int(wanted) in numbers else len(numbers) - 1
        self._place = place
        self._slider.props(f"max={len(numbers) - 1}")
        self._slider.value = place
        self._tell_network(place)

    def _tell_network(self, place: int) -> None:
        network = self._networks[place]
        self._slider.props(f'label-value="{network.iteration}"')
        self._when.text = f"What it thought then: {words_of(network)}"

    def _slid(self) -> None:
        place = int(self._slider.value or 0)
        if not 0 <= place < len(self._networks):
            return
        self._tell_network(place)
        parts = parse_player(self.text)
        name = (parts.subject or "").partition("@")[0]
        text = str(replace(parts, subject=f"{name}@{self._networks[place].iteration}"))
        if place != self._place:
            self._place, self.text = place, text
            set_choice(self._choice, text)
            self.thinking.adviser_changed(self)

    # Thinking.

    @property
    def is_thinking(self) -> bool:
        return self._task is not None and not self._task.done()

    def think(self) -> None:
        """About the position on the board."""
        self.stop()
        self.found = None
        if self.view.game.position.is_over:
            self._tell("The game is over here.")
            return
        self._note.text = "thinking …"
        self._task = background_tasks.create(self._think(), name="think", context=self.view.client)
        self.thinking.show_state()

    async def _think(self) -> None:
        view = self.view
        try:
            text = view.house.allowed.player(limited(self.text, self.thinking.seconds(self.text)))
            moves = view.game.position.text
            await view.house.analyses.ask(thoughts.think, view.text, moves, text, view.game.seed, hear=self._hear)
        except PalaestraError as error:
            self._tell(str(error))
        self._task = None
        self.thinking.show_state()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self.thinking.show_state()

    def _hear(self, found: PositionAnalysis) -> None:
        self.found = found
        value = value_in_words(found.value)
        self._value.text = f"plays {found.move}" + (f", {value}" if value else "")
        self._note.text = found.analysis.note
        self._table.content = table(found)
        self._line.text = f"Expected: {' '.join(found.line[:24])}" if found.line else ""
        self.thinking.told(self)

    def _tell(self, words: str) -> None:
        self._value.text, self._note.text = "", words
        self._table.content = self._line.text = self._small.content = ""

    def draw(self, svg: str) -> None:
        """The board as it sees it, beside its table; nothing where the large board shows that."""
        self._small.content = svg


def limited(text: str, seconds: int) -> str:
    """The player's text with a limit of time in place of its own; 0 leaves it as it is, and so do kinds without one."""
    parts = parse_player(text)
    kind = KINDS.get(parts.name)
    if not seconds or kind is None or "ms" not in kind.model_fields:
        return text
    kept = {key: value for key, value in parts.keywords.items() if key not in LIMITS}
    changed = str(replace(parts, keywords={**kept, "ms": seconds * 1000}))
    try:
        read_player(changed)
    except PalaestraError:  # a search that plans its visits
        return text
    return changed


def table(found: PositionAnalysis) -> str:
    """Moves and what the player thinks of each, the likeliest first."""
    columns = found.columns()
    names = ("move", *("policy" if name == "probability" else name for name in columns))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for place, row in enumerate(found.moves[:MOST_ROWS]):
        share = 100 * (row.probability or 0.0)
        cells = "".join(f"<td>{escape(column[place])}</td>" for column in columns.values())
        rows.append(f'<tr><td class="pt-bar" style="--share: {share:.1f}%">{escape(row.move)}</td>{cells}</tr>')
    more = len(found.moves) - MOST_ROWS
    rest = f'<div class="p-soft">and {more} more moves</div>' if more > 0 else ""
    return f'<table class="pt-table"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>{rest}'
