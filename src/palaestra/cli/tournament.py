"""`palaestra tournament`: many players, one table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.files import picture
from palaestra.cli.options import PLAYER_HELP, GameId, Json, OpeningPlies, OpeningsText, Seed, WorkersText
from palaestra.cli.ratings import ADVANTAGE, DRAW, PRIOR, Advantage, Anchor, Draw, Prior
from palaestra.live.defaults import TOURNAMENT_GAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palaestra.live.tournament import PlayedTournament, TournamentStanding


def tournament(
    game: GameId,
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="P1 P2 …",
            help=f"{PLAYER_HELP} run:NAME@*5 is every 5th network of a run.",
            autocompletion=complete.players,
        ),
    ],
    games: Annotated[
        int, typer.Option(help="Of every pairing; an even number: pairs with sides swapped.")
    ] = TOURNAMENT_GAMES,
    format: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="round-robin; gauntlet, the first player against the others; or swiss."),
    ] = "round-robin",
    rounds: Annotated[
        int | None, typer.Option(help="Of swiss; as many as single out the best by default.", show_default=False)
    ] = None,
    openings: OpeningsText = None,
    opening_plies: OpeningPlies = None,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="End a game once the player to move has proved its result.")
    ] = False,
    pgn: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the games here while they are played.", show_default=False)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the file of --pgn ends; begin it if it is not there.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.", show_default=False)] = None,
    workers: WorkersText = None,
    lockstep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games played at once, 64 a player by default; changes speed and memory only.",
            show_default=False,
        ),
    ] = None,
    advantage: Advantage = ADVANTAGE,
    draw: Draw = DRAW,
    prior: Prior = PRIOR,
    anchor: Anchor = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Draw ratings and cross table, as .png or .svg; others beside it.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Let players meet in pairs of games from the same openings, sides swapped, and rate them.

    The games do not depend on threads or lockstep. With --pgn, a tournament that was stopped goes on with --resume:
    no game is lost, and none is played twice.
    """
    from palaestra.cli.output import print_json, progress_bar, stderr
    from palaestra.live.tournament import tournament as play

    if plot is not None:
        picture(plot)  # refused before the first game, not after the last
    try:
        with progress_bar(estimate=False) as bar:
            task = bar.add_task("", total=None)

            def show(standing: TournamentStanding) -> None:
                progress = standing.progress
                bar.update(task, completed=progress.finished, total=progress.total, description=standing.words)

            played = play(
                game,
                players,
                games,
                format=format,
                rounds=rounds,
                openings=openings,
                opening_plies=opening_plies,
                adjudicate=adjudicate,
                pgn=pgn,
                resume=resume,
                threads=threads,
                workers=workers,
                lockstep=lockstep,
                advantage=advantage,
                draw=draw,
                prior=prior,
                anchor=anchor,
                seed=seed,
                listen=show,
            )
    except KeyboardInterrupt as stop:
        for note in getattr(stop, "__notes__", ()):
            stderr().print(note, markup=False, soft_wrap=True)
        raise
    pictures = draw_figures(played, plot)
    if json:
        print_json(played.document(pictures))
    else:
        print_tournament(played, [file for file in (pgn, *pictures) if file])


def draw_figures(played: PlayedTournament, plot: str | None) -> list[str]:
    if plot is None:
        return []
    from palaestra.lab.rating_plots import tournament_figures

    return [str(file) for file in tournament_figures(played.played, Path(plot), played.ratings)]


def print_tournament(played: PlayedTournament, files: Sequence[str]) -> None:
    """The cross table, the ratings, and how they came about."""
    from rich.text import Text

    from palaestra.cli.crosstables import crosstable
    from palaestra.cli.output import stdout
    from palaestra.cli.ratings import print_ratings

    console = stdout()
    console.print(Text(played.title, style="bold"))
    console.print(crosstable(played.played.crosstable, console.width))
    console.print(Text("\nRatings", style="bold"))
    print_ratings(played.ratings)
    console.print(Text(f"\n{played.summary}", style="dim"), soft_wrap=True)
    if played.played.faults:
        console.print(Text(played.faults_in_words, style="red"), soft_wrap=True)
    if files:
        console.print(Text(f"Written: {', '.join(files)}", style="dim"), soft_wrap=True)
