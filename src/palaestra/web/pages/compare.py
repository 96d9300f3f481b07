"""The page "Compare": tournaments with their cross tables, ratings and games, and ratings of a PGN that is dropped."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import quote

from nicegui import ui

from palaestra.arena.schedule import FORMATS
from palaestra.base.errors import PalaestraError, RunError
from palaestra.base.printable import escape, printable
from palaestra.live.defaults import TOURNAMENT_GAMES
from palaestra.web import questions, tournaments
from palaestra.web.frame import frame
from palaestra.web.frame import page as served
from palaestra.web.game_names import title as game_title
from palaestra.web.house import House
from palaestra.web.opponents import find_agents, ready_made
from palaestra.web.parts import (
    bar,
    button,
    chip,
    drop_file,
    guarded,
    style,
    title,
)
from palaestra.web.standings import ratings_html
from palaestra.web.tournament_view import TournamentView
from palaestra.web.tournaments import Standing
from palaestra.web.watched import Watched, Watchers

GAME, PLAYERS = "connect_four-5x5", ("random", "greedy", "uct(simulations=50)", "uct(simulations=200)")
WORDS = {
    "round-robin": "round robin: everyone against everyone",
    "gauntlet": "gauntlet: the first player against the others",
    "swiss": "Swiss: equals against equals",
}


def register(house: House) -> None:
    def watch(name: str) -> Watched[Standing]:
        reader = tournaments.Reader(tournaments.place(house).named(name))
        return Watched(reader.mark, reader.read)

    watchers = Watchers(watch)

    @served("/compare")
    async def page() -> None:
        with frame("Compare", "Compare"):
            style()
            found = await asyncio.to_thread(tournaments.rows, house)
            with ui.element("div").classes("p-columns"):
                with ui.element("section").classes("p-card px-side"):
                    NewTournament(house)
                with ui.element("div").classes("px-middle px-stack"):
                    with ui.element("section").classes("p-card"):
                        title("Tournaments")
                        ui.html(_list(found), sanitize=False).classes("p-scroll")
                    with ui.element("section").classes("p-card"):
                        _rate_card(house)

    @served("/compare/{name}")
    async def one(name: str) -> None:
        with frame(printable(name)[:80], "Compare"):
            style()
            try:
                tournaments.place(house).named(name)
            except RunError as error:
                ui.label(str(error)).classes("px-wrong")
                ui.link("All tournaments", "/compare")
                return
            view = TournamentView(house, name)
            watchers.tell(name, view.show)


def _list(rows: list[tournaments.Row]) -> str:
    if not rows:
        words = "No tournament yet. One that you start has a process of its own, and goes on without this page."
        return f'<p class="px-empty">{words}</p>'
    shown = "".join(_list_row(row) for row in rows)
    head = "<tr><th>name</th><th>game</th><th class='px-hide'>players</th><th>games</th><th></th></tr>"
    return f'<table class="px-list"><thead>{head}</thead><tbody>{shown}</tbody></table>'


def _list_row(row: tournaments.Row) -> str:
    plan = row.plan
    game = "" if plan is None else game_title(plan.game)
    players = (
        "" if plan is None else ", ".join(plan.names[:3]) + (f" and {n} more" if (n := len(plan.names) - 3) > 0 else "")
    )
    total = "" if plan is None else f" of {plan.total:,}"
    share = bar(row.played / plan.total) if plan is not None else ""
    return (
        f'<tr><td><a href="/compare/{quote(row.name)}">{escape(row.name)}</a></td><td>{escape(game)}</td>'
        f'<td class="px-hide"><small>{escape(players)}</small></td>'
        f'<td class="px-number">{row.played:,}{total}{share}</td><td>{chip(row.state)}</td></tr>'
    )


class NewTournament:
    """The form that starts a tournament."""

    def __init__(self, house: House) -> None:
        self.house = house
        title("New tournament")
        games = {text: game_title(text) for text in house.games()}
        with ui.element("div").classes("px-form"):
            self.game = ui.select(games, value=GAME, label="Game", with_input=True, on_change=self._fill)
            self.game.props("outlined dense options-dense").classes("px-wide")
            self.players = ui.select(
                list(PLAYERS), value=list(PLAYERS), label="Players: choose, or type one and press Enter", multiple=True,
                with_input=True, new_value_mode="add-unique", validation=None,
            )  # fmt: skip
            self.players.props("outlined dense options-dense use-chips").classes("px-wide")
            self.games = ui.number("Games a pairing", value=TOURNAMENT_GAMES, min=2, step=2).props("outlined dense")
            self.seed = ui.number("Seed", value=0, min=0, step=1).props("outlined dense")
            self.format = ui.select({name: WORDS[name] for name in FORMATS}, value=FORMATS[0], label="Format")
            self.format.props("outlined dense").classes("px-wide")
            self.name = ui.input("Name (one is made up if you give none)").props('outlined dense maxlength="80"')
            self.name.classes("px-wide")
            self.start = button("Start", "play_arrow", guarded(self._start), main=True)
        ui.timer(0, self._fill, once=True)

    async def _fill(self) -> None:
        """Offer the players of the game that is chosen."""
        try:
            game = self.house.allowed.game(str(self.game.value))
        except PalaestraError:
            return
        agents = await asyncio.to_thread(find_agents, self.house.runs, game)
        there = [*ready_made(game), *(text for run in agents for text in run.choices())]
        kept = [text for text in self.players.value or [] if not text.startswith(("run:", "net:")) or text in there]
        self.players.set_options([*dict.fromkeys([*there, *kept])], value=kept)

    async def _start(self) -> None:
        plan = tournaments.checked(
            self.house,
            str(self.game.value or ""),
            [str(text) for text in self.players.value or []],
            self.games.value,
            str(self.format.value),
            self.seed.value,
        )
        folder = tournaments.place(self.house).new(str(self.name.value or ""), plan.game)
        self.start.props("loading")
        try:
            names = await self.house.moves.ask(questions.names_of_players, plan.game, plan.names)
            await asyncio.to_thread(tournaments.begin, self.house, replace(plan, names=tuple(names)), folder)
        finally:
            self.start.props(remove="loading")
        ui.navigate.to(f"/compare/{quote(folder.name)}")


def _rate_card(house: House) -> None:
    """Where a PGN is dropped, and what comes of it."""
    title("Rate a PGN")
    ui.label("Bayesian Elo with 95 % intervals of the players of any PGN, whatever the game.").classes("p-soft")

    async def taken(data: bytes, name: str) -> None:
        out.content = '<p class="p-soft">Reading …</p>'
        try:
            rated = await house.readings.ask(questions.rate_pgn, data, name)
        except PalaestraError:
            out.content = ""
            raise
        left_out = f'<p class="px-wrong">Games left out: {escape(rated.skipped_in_words)}.</p>' if rated.skipped else ""
        out.content = f'<p class="px-rated">{escape(rated.title)}</p>{ratings_html(rated.ratings)}{left_out}'

    drop_file("Drop a PGN here, or choose one with +", ".pgn", taken)
    out = ui.html("", sanitize=False).classes("px-notes").props('aria-live="polite"')
