"""`palaestra solve`: restarts of a search for one player, for minutes or for days, and every best solution kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError, GameError
from palaestra.cli import complete
from palaestra.cli.files import picture
from palaestra.cli.options import GameId, Json, Moves, Seed

if TYPE_CHECKING:
    from pathlib import Path

    from palaestra.games.base import Game
    from palaestra.lab.restarts import Limits, Restarts
    from palaestra.lab.solve_folder import About, SolveFolder
    from palaestra.players.base import Player

MINUTES = 5.0  # when nothing else says when to stop
PLAYER = "nrpa(level=3)"


def solve(
    game: GameId,
    player: Annotated[
        str,
        typer.Option(
            metavar="PLAYER",
            help="The search that is restarted: nrpa, nmcs, uct, random or any other player.",
            autocompletion=complete.players,
        ),
    ] = PLAYER,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Stop after this time, counted anew each time.",
            show_default=f"{MINUTES:g} without --restarts and --target",
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many more restarts; random makes 16384 at once.", show_default=False),
    ] = None,
    target: Annotated[
        int | None, typer.Option(help="Stop as soon as this score is reached.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="All cores by default.", show_default=False)
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Journal and solutions; again, it goes on.", show_default="solved/GAME"),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw scores over time here, .png or .svg.", show_default=False),
    ] = None,
    moves: Moves = "",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Search a game for one player again and again, and keep every best solution; Ctrl-C ends it, again goes on."""
    from pathlib import Path

    from palaestra.cli.solve_view import make_solve_view
    from palaestra.games.registry import make_game
    from palaestra.lab.restarts import Restarts
    from palaestra.lab.solve_folder import open_folder

    limits = _limits(minutes, restarts, target)
    drawn = None if plot is None else picture(plot)
    rules = make_game(game)
    _check_start(rules, moves)
    began = time.perf_counter()  # a prior takes seconds to make, and they count
    players = _players(player, rules, threads)
    path = Path(out) if out else Path("solved") / "".join(c if c.isalnum() or c in "._-" else "-" for c in rules.id)
    with open_folder(path, rules, _about(rules, players[0], seed, moves)) as folder:
        session = Restarts(folder, players, limits, began)
        view = make_solve_view(session)
        with view.shown():
            session.run(view.heard)
        if drawn is not None:
            _draw(folder, drawn)
        _tell(session, drawn, json)
    if session.stopped_by == "interrupt":
        raise KeyboardInterrupt


def _limits(minutes: float | None, restarts: int | None, target: int | None) -> Limits:
    from palaestra.lab.restarts import Limits

    if minutes is not None and not 0 < minutes <= 1e7:
        raise ConfigError(f"--minutes is {minutes:g}; it must be more than 0 and at most 10000000, for example 60")
    if minutes is None and restarts is None and target is None:
        minutes = MINUTES
    return Limits(None if minutes is None else 60 * minutes, restarts, target)


def _check_start(game: Game, moves: str) -> None:
    from palaestra.games.rows import ONGOING

    if game.players != 1:
        raise GameError(f"{game.id} is for two players, and solve is for one: try morpion-5d, or palaestra match")
    if game.outcome(game.from_moves(moves)[None])[0] != ONGOING:
        raise ConfigError(f"after {moves!r} the game is over: there is nothing to solve")


def _players(text: str, game: Game, threads: int | None) -> list[Player]:
    """One player a thread, or the same one for all where that is safe."""

    from palaestra.players.human import HumanPlayer
    from palaestra.players.registry import make_player
    from palaestra.players.solo import is_shared

    first = make_player(text, game)
    if isinstance(first, HumanPlayer):
        raise ConfigError(f"a person is not restarted; try --player '{PLAYER}', or palaestra play {game.id}")
    more = range((threads or usable_cores()) - 1)
    return [first, *(first if is_shared(first) else make_player(text, game) for _ in more)]


def _about(game: Game, player: Player, seed: int, moves: str) -> About:
    from palaestra.lab.solve_folder import About
    from palaestra.players.solo import games_at_once

    opening = " ".join(moves.split())
    if game.num_starts > 1 and not opening.startswith("@"):
        opening = f"@0 {opening}".strip()  # a solution says which position it solves
    return About(game.id, game.version, player.text, seed, opening, games_at_once(player))


def _draw(folder: SolveFolder, path: Path) -> None:
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.solo_plots import scores_over_time

    save_figure(scores_over_time([folder.journal]), path)


def _tell(session: Restarts, plot: Path | None, json: bool) -> None:
    """The summary: one JSON object, or a table."""
    from palaestra.cli.output import print_json

    folder, journal = session.folder, session.folder.journal
    if not json:
        from palaestra.cli.solve_view import print_summary

        print_summary(session, plot)
        return
    scores = sorted(journal.scores)
    print_json(
        {
            "game": journal.about.game,
            "player": journal.about.player,
            "restarts": journal.restarts,
            "best": journal.best,
            "scores": {str(score): journal.scores[score] for score in scores},
            "seconds": round(session.seconds, 3),
            "first_met": {str(score): journal.first_met[score] for score in scores},
            "solutions": [str(path) for path in folder.best_files()],
            "stopped_by": session.stopped_by,
            "seed": journal.about.seed,
            "threads": len(session.players),
            "folder": str(folder.path),
            "plot": None if plot is None else str(plot),
        }
    )
