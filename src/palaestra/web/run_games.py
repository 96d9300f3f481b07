"""The games of a run's iterations to step through, and with one player its best solution."""

from __future__ import annotations

import asyncio

from nicegui import ui

from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.base.reading import read_bytes
from palaestra.base.text import clip
from palaestra.lab.report import game_to_show
from palaestra.learn.best_solutions import best_file
from palaestra.live.run import Run
from palaestra.runs.pgn_games import PgnGame
from palaestra.web.address import Address
from palaestra.web.frame import say
from palaestra.web.game_names import canonical
from palaestra.web.house import House
from palaestra.web.parts import title as heading
from palaestra.web.questions import check_file, draw_game
from palaestra.web.stepper import Stepper

MOST_LISTED = 500  # games of an iteration
MOST_SOLUTION = 2**20  # bytes
RESULTS = {"1-0": "first player wins", "0-1": "second player wins", "1/2-1/2": "a draw", "*": "score"}


def game_words(number: int, played: PgnGame) -> str:
    """ "17: first player wins, 21 plies"."""
    result = RESULTS[played.result]
    if played.result == "*":
        result = f"score {played.tags.get('Outcome', '?')}"
    return printable(f"{number + 1}: {result}, {len(played.moves)} plies")


class RunGames:
    """A card. The newest iteration is shown first; later ones are offered and do not replace what somebody looks at."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._run: Run | None = None
        self._games: list[PgnGame] = []
        with ui.element("section").classes("p-card w-stack").props('data-part="games"') as self.card:
            heading("Games of self-play")
            with ui.element("div").classes("w-picks"):
                self._iteration = ui.number("iteration", min=1, step=1, on_change=self._read).props("dense outlined")
                self._game = ui.select({}, label="game", on_change=self._draw).props("dense outlined options-dense")
                self._latest = ui.button("Latest", on_click=self._to_latest).props("flat dense no-caps")
            self._problem = ui.label("").classes("px-wrong")
            self._stepper = Stepper()
            self._on = ui.button("Play on from here", icon="sports_esports", on_click=self._to_play)
            self._on.props("flat dense no-caps").classes("px-quiet")
            self._on.visible = False
        self.card.visible = False

    def show(self, run: Run) -> None:
        first, self._run = self._run is None or self._run.iterations == 0, run
        self.card.visible = run.iterations > 0
        self._iteration.props(f"max={run.iterations}")
        self._latest.visible = self._iteration.value != run.iterations
        if first and run.iterations:
            self._to_latest()

    def _to_latest(self) -> None:
        if self._run is not None:
            self._iteration.value = self._run.iterations

    async def _read(self) -> None:
        """Read the games of the iteration that is asked for."""
        run, wanted = self._run, self._iteration.value
        if run is None or not isinstance(wanted, int | float) or not 1 <= wanted <= run.iterations:
            return
        self._latest.visible = wanted != run.iterations
        try:
            self._games = (await asyncio.to_thread(run.games, int(wanted)))[:MOST_LISTED]
        except PalaestraError as error:
            self._fail(error)
            return
        if self._games:
            best = self._games.index(game_to_show(self._games))
            words = {number: game_words(number, played) for number, played in enumerate(self._games)}
            self._game.set_options(words, value=None)
            self._game.value = best

    async def _draw(self) -> None:
        """Draw the game that is asked for, in another process: some boards take long."""
        run, number = self._run, self._game.value
        if run is None or not isinstance(number, int) or not 0 <= number < len(self._games):
            return
        try:
            text = run.stored.game_text
            self._house.allowed.game(text)
            steps = await self._house.moves.ask(draw_game, canonical(self._house, text), self._games[number])
        except PalaestraError as error:
            self._fail(error)
            return
        self._problem.text = ""
        with self.card:
            self._stepper.show(steps)
        self._on.visible = _is_for_two(self._games[number])

    def _fail(self, error: PalaestraError) -> None:
        self._problem.text = printable(str(error))
        self._stepper.frame.visible = False
        self._on.visible = False

    def _to_play(self) -> None:
        """The position that is shown, on the page where one plays."""
        run, number = self._run, self._game.value
        if run is None or not isinstance(number, int) or not 0 <= number < len(self._games):
            return
        played = self._games[number]
        if any(move.startswith("#") for move in played.moves):
            say(f"{clip(played.moves[0])} and others are numbers of actions, which the page Play cannot take")
            return
        start = played.tags.get("Start", "0")
        moves = " ".join([*([f"@{start}"] if start != "0" else []), *played.moves])
        rival = f"run:{run.folder.name}"
        there = Address(game=run.stored.game_text, players=(None, rival), moves=moves, at=self._stepper.at)
        ui.navigate.to(str(there))


def _is_for_two(played: PgnGame) -> bool:
    return played.result != "*"


class BestSolution:
    """With one player, the best solution so far, drawn as a referee sees it."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._shown: str | None = None
        with ui.element("section").classes("p-card w-stack").props('data-part="solution"') as self.card:
            heading("Best solution")
            self._words = ui.label("").classes("p-soft")
            self._stepper = Stepper()
        self.card.visible = False

    def show(self, run: Run) -> None:
        found = best_file(run.folder)
        if found is not None and found.name != self._shown:
            self._shown = found.name
            with self.card:
                ui.timer(0, lambda: self._draw(run, found.name), once=True)

    async def _draw(self, run: Run, name: str) -> None:
        try:
            data = await asyncio.to_thread(read_bytes, run.folder / "solutions" / name, MOST_SOLUTION)
            checked = await self._house.moves.ask(check_file, data, name)
        except (PalaestraError, OSError) as error:
            self._words.text = printable(str(error))
        else:
            verdict = checked.verdict
            self._words.text = printable(f"score {verdict.score}" if verdict.valid else str(verdict.error))
            if checked.steps is not None:
                with self.card:
                    self._stepper.show(checked.steps)
        self.card.visible = True
