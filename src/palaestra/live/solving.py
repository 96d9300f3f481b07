"""A game for one player being solved: restarts of a search, and every best solution kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from palaestra.base.errors import ConfigError, GameError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.lab.restarts import Limits, Restarts
from palaestra.lab.solve_folder import About, Entry, SolveFolder, open_folder
from palaestra.live import html
from palaestra.live.defaults import SOLVE_MINUTES, SOLVER
from palaestra.live.words import clock
from palaestra.players.base import Player
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import make_player
from palaestra.players.solo import games_at_once, is_shared
from palaestra.work.workers import chosen_workers, make_workers

REASONS = {
    "time": "the time is up",
    "restarts": "all restarts were made",
    "target": "the target is reached",
    "interrupt": "interrupted",
}


class SolveDocument(TypedDict):
    """A session as JSON."""

    game: str
    player: str
    restarts: int
    best: int | None
    scores: dict[str, int]
    seconds: float
    first_met: dict[str, float]
    solutions: list[str]
    stopped_by: str
    seed: int
    threads: int
    folder: str
    plot: str | None


@dataclass(frozen=True)
class SolveSession:
    """Restarts of a search, while they are made and when they are over."""

    restarts: Restarts

    @property
    def folder(self) -> SolveFolder:
        return self.restarts.folder

    @property
    def best(self) -> int | None:
        """The best score so far, of all sessions in the folder."""
        return self.folder.journal.best

    @property
    def solutions(self) -> list[Path]:
        """The files of the best solutions."""
        return self.folder.best_files()

    @property
    def title(self) -> str:
        about, count = self.folder.journal.about, self.restarts.at_once
        opening = f" after {about.opening}" if about.opening else ""
        kind = "thread" if self.restarts.workers is None else "worker"
        threads = f"{count} {kind}{'s' * (count > 1)}"
        return f"{about.game}{opening}, {about.player}, seed {about.seed}, {threads}, in {self.folder.path}"

    @property
    def standing(self) -> str:
        """ "best 81, 203 restarts in 25:03, 8.1 a minute"."""
        journal, seconds = self.folder.journal, self.restarts.seconds
        made = sum(dict(journal.scores).values())
        best = "no restart has ended yet" if journal.best is None else f"best {journal.best}"
        rate = 60 * made / max(seconds, 1e-9)
        pace = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
        return f"{best}, {made:,} restarts in {clock(seconds)}, {pace} a minute"

    def document(self, plot: str | None = None) -> SolveDocument:
        """The session as JSON; `plot` is the file of a picture that was drawn of it."""
        folder, journal = self.folder, self.folder.journal
        scores = sorted(journal.scores)
        return {
            "game": journal.about.game,
            "player": journal.about.player,
            "restarts": journal.restarts,
            "best": journal.best,
            "scores": {str(score): journal.scores[score] for score in scores},
            "seconds": round(self.restarts.seconds, 3),
            "first_met": {str(score): journal.first_met[score] for score in scores},
            "solutions": [str(path) for path in folder.best_files()],
            "stopped_by": self.restarts.stopped_by,
            "seed": journal.about.seed,
            "threads": self.restarts.at_once,
            "folder": str(folder.path),
            "plot": plot,
        }

    def __repr__(self) -> str:
        ended = REASONS.get(self.restarts.stopped_by)
        return f"{self.title}\n{self.standing}" + (f"; {ended}" if ended else "")

    def _repr_html_(self) -> str:
        journal = self.folder.journal
        rows = [
            (str(score), f"{count:,}", clock(journal.first_met[score]))
            for score, count in sorted(journal.scores.items())
        ]
        words = html.heading(self.title) + html.note(self.standing)
        table = html.table(("score", "restarts", "first met"), rows[::-1])
        pictures = [html.drawing(path.with_suffix(".svg").read_text()) for path in self.solutions[:1]]
        return words + html.beside(*pictures, table)


Shown = Callable[[SolveSession], tuple[AbstractContextManager[object], Callable[[Entry], None]]]


def solve(
    game: Game | str,
    player: str = SOLVER,
    *,
    minutes: float | None = None,
    restarts: int | None = None,
    target: int | None = None,
    threads: int | None = None,
    workers: str | None = None,
    out: str | Path | None = None,
    moves: str = "",
    seed: int = 0,
    show: Shown | None = None,
) -> SolveSession:
    """Search a game for one player again and again, and keep every best solution in a folder.

    Ends after `minutes`, so many `restarts`, or at a `target` score; after 5 minutes if none is given. The same call
    again goes on. Restarts are made on `threads`, all cores by default, or by `workers`. `show`
    gives what is on the screen meanwhile, and what hears of every piece of work.
    """
    limits = _limits(minutes, restarts, target)
    rules = make_game(game) if isinstance(game, str) else game
    _check_start(rules, moves)
    began = time.perf_counter()  # a prior takes seconds to make, and they count
    who = chosen_workers(workers, threads, "threads", "--threads")
    away = who.name in ("processes", "ray")
    players = _players(player, rules, 1 if away else who.count or 1)
    named = "".join(c if c.isalnum() or c in "._-" else "-" for c in rules.id)
    path = Path(out) if out else Path("solved") / named
    with (
        make_workers(who) if away else nullcontext() as given,
        open_folder(path, rules, _about(rules, players[0], seed, moves)) as folder,
    ):
        session = SolveSession(Restarts(folder, players, limits, began, given))
        shown, listen = show(session) if show is not None else (nullcontext(), lambda entry: None)
        with shown:
            session.restarts.run(listen)
    return session


def _limits(minutes: float | None, restarts: int | None, target: int | None) -> Limits:
    if minutes is not None and not 0 < minutes <= 1e7:
        raise ConfigError(f"--minutes is {minutes:g}; it must be more than 0 and at most 10000000, for example 60")
    if minutes is None and restarts is None and target is None:
        minutes = SOLVE_MINUTES
    return Limits(None if minutes is None else 60 * minutes, restarts, target)


def _check_start(game: Game, moves: str) -> None:
    if game.players != 1:
        raise GameError(f"{game.id} is for two players, and solve is for one: try morpion-5d, or palaestra match")
    if game.outcome(game.from_moves(moves)[None])[0] != ONGOING:
        raise ConfigError(f"after {moves!r} the game is over: there is nothing to solve")


def _players(text: str, game: Game, threads: int) -> list[Player]:
    """One player a thread, or the same one for all where that is safe."""
    first = make_player(text, game)
    if isinstance(first, HumanPlayer):
        raise ConfigError(f"a person is not restarted; try --player '{SOLVER}', or palaestra play {game.id}")
    more = range(threads - 1)
    return [first, *(first if is_shared(first) else make_player(text, game) for _ in more)]


def _about(game: Game, player: Player, seed: int, moves: str) -> About:
    opening = " ".join(moves.split())
    if game.num_starts > 1 and not opening.startswith("@"):
        opening = f"@0 {opening}".strip()  # a solution says which position it solves
    return About(game.id, game.version, player.text, seed, opening, games_at_once(player), player.avoided)
