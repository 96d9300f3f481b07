"""One tournament on a page: how far it is, its tables as they grow, and its games to step through."""

from __future__ import annotations

import asyncio
import contextlib

from nicegui import background_tasks, events, ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.runs.pgn_games import PgnGame
from palaestra.web import questions, tournaments
from palaestra.web.frame import say
from palaestra.web.game_names import title as game_title
from palaestra.web.house import House
from palaestra.web.parts import bar, button, chip, guarded, last_words, shown_command, stop_command, title
from palaestra.web.standings import breakable, crosstable_html, ratings_html
from palaestra.web.stepper import Stepper
from palaestra.web.tournaments import Standing

MOST_GAMES = 200  # of a list
FEW = 5  # players whose cross table has room beside the ratings
RESULT = {"1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½"}
_POINTED = '(e) => { const b = e.target.closest("[data-game]"); if (b) emit(Number(b.dataset.game)); }'


class TournamentView:
    """One tournament: how far it is, its tables and its games."""

    def __init__(self, house: House, name: str) -> None:
        self.house, self.name = house, name
        self.standing: Standing | None = None
        self.chosen: int | None = None
        self._drawing: asyncio.Task[None] | None = None
        self._loading = 0
        self.client = ui.context.client
        with ui.element("div").classes("px-stack"):
            self._head()
            with ui.element("div").classes("p-columns px-even"):
                with ui.element("section").classes("p-card px-middle") as self.cross_card:
                    title("Cross table")
                    self.cross = ui.html("", sanitize=False).classes("p-scroll")
                with ui.element("section").classes("p-card px-middle"):
                    title("Ratings")
                    self.ratings = ui.html("", sanitize=False).classes("px-notes")
            with ui.element("div").classes("p-columns"):
                with ui.element("section").classes("p-card px-side"):
                    title("Games")
                    self.pairing = ui.select({"": "all games"}, value="", label="Player", on_change=self._list)
                    self.pairing.props("outlined dense options-dense").classes("px-wide")
                    self.games = ui.html("", sanitize=False).classes("px-games")
                    self.games.on("click", self._pointed, js_handler=_POINTED)
                with ui.element("section").classes("p-card px-middle"):
                    self.caption = title("")
                    self.stepper = Stepper()

    def _head(self) -> None:
        with ui.element("section").classes("p-card px-stack").style("gap: 8px"):
            with ui.element("div").classes("px-row"):
                ui.label(self.name).props('role="heading" aria-level="1"').classes("px-name")
                self.state = ui.html("", sanitize=False)
                with ui.element("div").classes("px-end"):
                    self.stop = button("Stop", "stop", guarded(self._stop))
                    self.resume = button("Resume", "play_arrow", guarded(self._resume))
                    self.save = button("PGN", "download", self._save)
                    self.save.props('aria-label="save the games as PGN"')
            self.words = ui.label("").classes("p-soft")
            self.bar = ui.html("", sanitize=False).style("width: 100%")
            self.wrong = ui.label("").classes("px-wrong")
            with ui.expansion("The command").props("dense").classes("p-soft px-wide") as self.command:
                pass

    # What is shown.

    def show(self, standing: Standing | PalaestraError) -> None:
        """What the tournament's watcher has seen."""
        if isinstance(standing, PalaestraError):
            self.wrong.text = printable(str(standing))
            return
        first, self.standing = self.standing is None, standing
        plan, running = standing.plan, standing.running
        total = "" if plan is None else f" of {plan.total:,}"
        about = (
            ""
            if plan is None
            else f"{game_title(plan.game)}, {plan.format}, {len(plan.names)} players, seed {plan.seed}; "
        )
        self.words.text = f"{about}{standing.played:,}{total} games"
        self.state.content = chip(standing.state)
        self.bar.content = bar(standing.played / plan.total) if plan is not None else ""
        self.wrong.text = "" if running else printable(last_words(standing.command))
        self.stop.visible, self.resume.visible = running, standing.state == "stopped" and plan is not None
        self.save.visible = standing.played > 0
        self.cross_card.classes(add="px-whole" if len(standing.crosstable.players) > FEW else "")
        self.cross.content = crosstable_html(standing.crosstable)
        self.ratings.content = ratings_html(standing.ratings, brief=True)
        names = standing.crosstable.players
        options = {"": "all games", **{str(place): printable(text) for place, text in enumerate(names)}}
        if options != self.pairing.options:
            self.pairing.set_options(options, value=self.pairing.value)
        if first and standing.command is not None:
            with self.command:
                shown_command(standing.command.line)
        self._list()
        if self.chosen is None and standing.played:
            self._choose(0)

    def _shown_games(self) -> list[tuple[int, PgnGame]]:
        if self.standing is None:
            return []
        there = list(enumerate(self.standing.file.games))
        names = self.pairing.options
        if (place := self.pairing.value) and isinstance(names, dict):
            player = names.get(place)
            there = [
                (n, g)
                for n, g in there
                if player in (printable(g.tags.get("White", "")), printable(g.tags.get("Black", "")))
            ]
        return there

    def _list(self) -> None:
        there = self._shown_games()
        rows = "".join(self._game_row(number, game) for number, game in there[:MOST_GAMES])
        more = len(there) - MOST_GAMES
        rest = f'<p class="p-soft">and {more:,} more: choose a player, or save the PGN</p>' if more > 0 else ""
        head = '<tr><th>game</th><th>first</th><th>second</th><th class="px-hide"></th></tr>'
        table = f'<table class="px-list"><thead>{head}</thead><tbody>{rows}</tbody></table>{rest}'
        self.games.content = table if there else '<p class="px-empty">No game has ended yet.</p>'

    def _game_row(self, number: int, game: PgnGame) -> str:
        chosen = ' class="px-chosen"' if number == self.chosen else ""
        first, second = (breakable(game.tags.get(side, "?")) for side in ("White", "Black"))
        name = f'<button type="button" aria-label="show game {number + 1}">{number + 1}</button>'
        result = RESULT.get(game.result, "*")
        return (
            f'<tr data-game="{number}"{chosen}><td>{name}<span class="px-only-phone">{result}</span></td>'
            f"<td>{first}</td><td>{second}</td><td class='px-number px-hide'>{result}</td></tr>"
        )

    # What a person does.

    def _pointed(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, int) and not isinstance(event.args, bool):
            self._choose(event.args)

    def _choose(self, number: int) -> None:
        if self.standing is None or not 0 <= number < self.standing.played:
            return
        self.chosen = number
        self._list()
        self._loading += 1
        background_tasks.create(self._draw(number, self._loading), name="draw a game")

    async def _draw(self, number: int, ticket: int) -> None:
        assert self.standing is not None
        played = self.standing.file.games[number]
        plan = self.standing.plan
        try:
            text = plan.game if plan is not None else played.tags.get("Variant", "")
            self.house.allowed.game(text)
            steps = await self.house.moves.ask(questions.draw_game, text, played)
        except PalaestraError as error:
            with contextlib.suppress(RuntimeError), self.client:
                say(error)
            return
        if ticket == self._loading and not self.client.is_deleted:  # no other game was chosen meanwhile
            first, second = (played.tags.get(side, "?") for side in ("White", "Black"))
            self.caption.text = printable(f"Game {number + 1}: {first} – {second}, {RESULT.get(played.result, '*')}")
            self.stepper.show(steps)

    async def _stop(self) -> None:
        self.stop.props("loading")
        try:
            await stop_command(None if self.standing is None else self.standing.command)
        finally:
            self.stop.props(remove="loading")

    async def _resume(self) -> None:
        folder = tournaments.place(self.house).named(self.name)
        await asyncio.to_thread(tournaments.go_on, self.house, folder)

    async def _save(self) -> None:
        folder = tournaments.place(self.house).named(self.name)
        data = await asyncio.to_thread((folder / tournaments.GAMES).read_bytes)
        ui.download.content(data, f"{self.name}.pgn", "application/x-chess-pgn")
