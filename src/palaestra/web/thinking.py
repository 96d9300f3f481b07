"""What players think of the position on the board: one adviser or two, while they think; the value over the game.

Searches run in the house's processes and are taken back when the position changes or nobody looks any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from palaestra.base.errors import PalaestraError
from palaestra.live.analysis import PositionAnalysis
from palaestra.web.adviser import Adviser
from palaestra.web.curve import Curve
from palaestra.web.opponents import run_of

if TYPE_CHECKING:
    from palaestra.web.play_view import PlayView

OVERLAYS = {"policy": "Policy", "value": "Value", "visits": "Visits", "none": "None"}
BUDGETS = {0: "its own budget", 3: "3 seconds", 10: "10 seconds", 60: "a minute", 600: "until stopped"}
USUAL_BUDGET = 10


class Thinking:
    """The card beside the board, and what it lays over the board."""

    def __init__(self, view: PlayView) -> None:
        self.view = view
        self.is_on = False
        self._has_chosen = False  # whether a person said how long advisers think
        self.advisers: list[Adviser] = []
        with ui.element("section").classes("p-card").props('aria-label="think"'):
            self._build()
        self.curve = Curve(view, view.under)

    def _build(self) -> None:
        with ui.element("div").classes("pt-switches"):
            self._switch = ui.switch("Think", on_change=lambda event: self.turn(bool(event.value)))
            self._switch.props('aria-label="Think"').tooltip("what do players think of this position? (space)")
            self._stop = ui.button(icon="stop", on_click=self.stop_or_start, color=None)
            self._stop.props('flat dense round aria-label="stop thinking"')
            self._budget = ui.select(BUDGETS, value=USUAL_BUDGET, label="for", on_change=self._choose_budget)
            self._budget.props('dense outlined options-dense aria-label="how long"').style("width: 150px")
            self._second = ui.button("Second adviser", icon="group_add", on_click=self._toggle_second, color=None)
            self._second.props('flat dense no-caps aria-label="Second adviser"')
        with ui.element("div").classes("p-wide pt-card") as self._card:
            with ui.element("div").classes("pt-switches"):
                ui.label("On the board:").classes("p-soft")
                self._overlay = ui.toggle(OVERLAYS, value="policy", on_change=self._draw)
                self._overlay.props('dense no-caps unelevated aria-label="on the board"')
            self._columns = ui.element("div").classes("pt-advisers")
        with self._columns:
            self.advisers.append(Adviser(self, self.view.adviser))
        self._look()

    def _look(self) -> None:
        """Show what belongs to a panel that is on or off."""
        for part in (self._card, self._budget, self._second, self._stop, self.view.under):
            part.visible = self.is_on
        self._second.text = "One adviser" if len(self.advisers) > 1 else "Second adviser"

    # On and off.

    def toggle(self) -> None:
        """Start or stop, as the space bar does."""
        if not self.is_on:
            self._switch.value = True
        else:
            self.stop_or_start()

    def begin(self, text: str) -> None:
        """Switched on from the start, with an adviser that an address names."""
        self.view.house.allowed.player(text)
        self.advisers[0].become(text)
        self._switch.value = True

    def turn(self, on: bool) -> None:
        self.is_on = on
        self._look()
        self.position_changed()
        if not on:
            self.view.board.draw(self.view.game.position.svg())
        self.view.moves.show(self.view.game, self.marks())
        self.view.write_address()

    def stop_or_start(self) -> None:
        if any(adviser.is_thinking for adviser in self.advisers):
            for adviser in self.advisers:
                adviser.stop()
        else:
            self._restart()

    def stop(self) -> None:
        """Take back all that was asked."""
        for adviser in self.advisers:
            adviser.stop()
        self.curve.stop()

    def _toggle_second(self) -> None:
        if len(self.advisers) > 1:
            self.advisers.pop().remove()
        else:
            with self._columns:
                self.advisers.append(Adviser(self, self.view.adviser))
            self.advisers[-1].think()
        self._look()
        self._draw()

    # The position.

    def position_changed(self) -> None:
        """Think about the position that is shown now, if the panel is on."""
        self.stop()
        if self.is_on:
            self._restart()
            self.curve.follow()

    def _restart(self) -> None:
        for adviser in self.advisers:
            adviser.stop()
            if self.is_on:
                adviser.think()

    def adviser_changed(self, adviser: Adviser) -> None:
        """Somebody else is asked."""
        if self.is_on:
            if adviser is self.advisers[0]:
                self.curve.follow()
            adviser.think()
            self.view.write_address()

    def seconds(self, adviser: str) -> int:
        """How long an adviser may think; 0: as its text says, which is what agents do unless a person chooses."""
        if run_of(adviser) is not None and not self._has_chosen:
            return 0
        return int(self._budget.value or 0)

    def _choose_budget(self) -> None:
        self._has_chosen = True
        self._restart()

    def told(self, adviser: Adviser) -> None:
        """An adviser has thought more."""
        self._draw_for(adviser)
        self.show_state()

    def show_state(self) -> None:
        thinks = any(adviser.is_thinking for adviser in self.advisers)
        self._stop.props(
            f'icon={"stop" if thinks else "play_arrow"} aria-label="{"stop" if thinks else "start"} thinking"'
        )

    def _draw(self) -> None:
        for adviser in self.advisers:
            self._draw_for(adviser)

    def _draw_for(self, adviser: Adviser) -> None:
        """Lay what an adviser thinks over the board, and beside its table where there are two."""
        found = adviser.found
        if not self.is_on or found is None or found.position.states[-1].tobytes() != self._state():
            return
        drawn = self._overlaid(found)
        adviser.draw(drawn if len(self.advisers) > 1 else "")
        if adviser is self.advisers[0]:
            self.view.board.draw(drawn)

    def _state(self) -> bytes:
        return self.view.game.position.state.tobytes()

    def _overlaid(self, found: PositionAnalysis) -> str:
        try:
            return found.svg(self._overlay.value)
        except PalaestraError:  # a game without places, an adviser without such numbers
            return found.svg("none")

    # What others show.

    def marks(self) -> dict[int, tuple[str, str]]:
        """Verdicts by ply, and the reason in words."""
        return self.curve.marks() if self.is_on else {}

    def address(self) -> str | None:
        return self.advisers[0].text if self.is_on else None
