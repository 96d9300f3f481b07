"""The page "Solve": games for one player, searched again and again, and solutions verified."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from nicegui import ui

from palaestra.base.errors import PalaestraError, RunError
from palaestra.base.printable import escape, printable
from palaestra.live.defaults import SOLVE_MINUTES, SOLVER
from palaestra.web import questions, solvings
from palaestra.web.commands import Command, is_running
from palaestra.web.frame import frame
from palaestra.web.frame import page as served
from palaestra.web.game_names import title as game_title
from palaestra.web.house import House
from palaestra.web.opponents import find_agents
from palaestra.web.parts import button, chip, drop_file, guarded, style, title
from palaestra.web.solve_view import SolveView
from palaestra.web.solvings import Seen
from palaestra.web.stepper import Stepper
from palaestra.web.watched import Watched, Watchers

GAME = "morpion-5d"
PLAYERS = (
    SOLVER,
    "nrpa(level=2)",
    "nrpa(level=4)",
    "nmcs(level=2)",
    "nmcs(level=3)",
    "uct(simulations=200)",
    "greedy",
    "random",
)


def register(house: House) -> None:
    def watch(name: str) -> Watched[Seen]:
        reader = solvings.Reader(house, name)
        return Watched(reader.mark, reader.read, every=1.0)

    watchers = Watchers(watch)

    @served("/solve")
    async def page() -> None:
        with frame("Solve", "Solve"):
            style()
            found = await asyncio.to_thread(solvings.rows, house)
            with ui.element("div").classes("p-columns"):
                with ui.element("section").classes("p-card px-side"):
                    NewSearch(house)
                with ui.element("div").classes("px-middle px-stack"):
                    with ui.element("section").classes("p-card"):
                        title("Searches")
                        ui.html(_list(found), sanitize=False).classes("p-scroll")
                    with ui.element("section").classes("p-card"):
                        _verify_card(house)

    @served("/solve/{name}")
    async def one(name: str) -> None:
        with frame(printable(name)[:80], "Solve"):
            style()
            try:
                if not _is_starting(house, name):
                    solvings.place(house).named(name)
            except RunError as error:
                ui.label(str(error)).classes("px-wrong")
                ui.link("All searches", "/solve")
                return
            view = SolveView(house, name)
            watchers.tell(name, view.show)


def _is_starting(house: House, name: str) -> bool:
    """Whether a command was started under this name, which has not made its folder yet, or could not."""
    try:
        solvings.place(house).new(name, "")
    except PalaestraError:
        return False
    folder = solvings.folder_of_command(house, name)
    return is_running(folder) or Command.last(folder) is not None


def _list(rows: list[solvings.Row]) -> str:
    if not rows:
        return '<p class="px-empty">Nothing has been solved here yet. A search goes on when this page is closed.</p>'
    shown = "".join(
        f'<tr><td><a href="/solve/{quote(row.name)}">{escape(row.name)}</a>'
        f"<small>{escape(row.title or row.problem)}</small>"
        f'</td><td class="px-number"><b>{"–" if row.best is None else row.best}</b></td>'
        f'<td class="px-hide"><small>{escape(row.standing)}</small></td>'
        f"<td>{chip('running' if row.running else 'stopped')}</td></tr>"
        for row in rows
    )
    head = '<tr><th>name</th><th class="px-number">best</th><th class="px-hide"></th><th></th></tr>'
    return f'<table class="px-list"><thead>{head}</thead><tbody>{shown}</tbody></table>'


class NewSearch:
    """The form that starts a search."""

    def __init__(self, house: House) -> None:
        self.house = house
        title("New search")
        alone = [text for text in house.games() if text.startswith(("morpion", "bin_packing", "tsp"))]
        games = {text: game_title(text) for text in [*alone, *house.own_games]}
        with ui.element("div").classes("px-form"):
            self.game = ui.select(games, value=GAME, label="Game", with_input=True, on_change=self._fill)
            self.game.props("outlined dense options-dense").classes("px-wide")
            self.player = ui.select(
                list(PLAYERS), value=SOLVER, label="Search: choose, or type one and press Enter", with_input=True,
                new_value_mode="add-unique",
            )  # fmt: skip
            self.player.props("outlined dense options-dense").classes("px-wide")
            self.minutes = ui.number("Minutes", value=SOLVE_MINUTES, min=0.1, step=1).props("outlined dense")
            self.seed = ui.number("Seed", value=0, min=0, step=1).props("outlined dense")
            self.name = ui.input("Name (one is made up if you give none)").props('outlined dense maxlength="80"')
            self.name.classes("px-wide")
            self.start = button("Start", "play_arrow", guarded(self._start), main=True)
        ui.timer(0, self._fill, once=True)

    async def _fill(self) -> None:
        """Offer searches that begin with what a run has learned of the game."""
        try:
            game = self.house.allowed.game(str(self.game.value))
        except PalaestraError:
            return
        agents = await asyncio.to_thread(find_agents, self.house.runs, game)
        learned = [f"nrpa(level=2, run={run.name})" for run in agents] + [f"run:{run.name}" for run in agents]
        kept = str(self.player.value or SOLVER)
        self.player.set_options(list(dict.fromkeys([*PLAYERS, *learned, kept])), value=kept)

    async def _start(self) -> None:
        place = solvings.place(self.house)
        game = str(self.game.value or "")
        folder = place.new(str(self.name.value or ""), game)
        given = (game, str(self.player.value or ""), self.minutes.value, self.seed.value, folder)
        words = solvings.words(self.house, *given)
        self.start.props("loading")
        try:
            await self.house.moves.ask(questions.names_of_players, game, (words[words.index("--player") + 1],))
            await asyncio.to_thread(solvings.start, self.house, words, folder.name)
        finally:
            self.start.props(remove="loading")
        ui.navigate.to(f"/solve/{quote(folder.name)}")


def _verify_card(house: House) -> None:
    """Where a solution is dropped, and the verdict on it."""
    title("Verify a solution")
    words = "Morpion is verified by rules of their own that share no code with the search; other games are replayed."
    ui.label(words).classes("p-soft")

    async def taken(data: bytes, name: str) -> None:
        out.content = ""
        stepper.frame.visible = False
        found = await house.readings.ask(questions.check_file, data, name)
        out.content = _verdict(found, name)
        if found.steps is not None:
            stepper.show(found.steps)

    drop_file("Drop a solution here, or choose one with +", ".txt", taken)
    out = ui.html("", sanitize=False).classes("px-notes").props('aria-live="polite"')
    stepper = Stepper()


def _verdict(found: questions.Checked, name: str) -> str:
    """What `palaestra check-solution` says."""
    verdict = found.verdict
    if not verdict.valid:
        return f"<p>{chip('wrong')} <b>{escape(name)}</b>, {escape(verdict.game)}: {escape(verdict.error or '')}</p>"
    how = "verified independently of the engine" if verdict.independent else "replayed through the game's own rules"
    more = f"<p class='p-soft'>{verdict.more} more moves are possible: this is not the end of the game.</p>"
    notes = "".join(f'<p class="p-soft">{escape(note)}</p>' for note in found.solution.notes[1:4])
    return (
        f"<p>{chip('valid')} <b>{escape(name)}</b>, {escape(verdict.game)}, score <b>{verdict.score}</b>; {how}</p>"
        f"{more if verdict.more else ''}{notes}"
    )
