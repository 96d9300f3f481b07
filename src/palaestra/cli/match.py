"""`palaestra match`: who is stronger, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Json, OpeningPlies, OpeningsText, Seed, WorkersText
from palaestra.live.defaults import MATCH_GAMES, MATCH_LOCKSTEP, SPRT_GAMES

if TYPE_CHECKING:
    from palaestra.live.match import MatchStanding, PlayedMatch


def match(
    game: GameId,
    a: Annotated[str, typer.Argument(metavar="A", help=PLAYER_HELP, autocompletion=complete.players)],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.", autocompletion=complete.players)],
    games: Annotated[
        int | None,
        typer.Option(
            help="An even number: pairs with sides swapped. The most, with --sprt.",
            show_default=f"{MATCH_GAMES}; {SPRT_GAMES} with --sprt",
        ),
    ] = None,
    openings: OpeningsText = None,
    opening_plies: OpeningPlies = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1[,α,β]",
            help="Stop as soon as the pairs say whether A is ELO0 or ELO1 stronger, wrong in 5 % of cases (or α, β).",
            show_default=False,
        ),
    ] = None,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="End a game once the player to move has proved its result.")
    ] = False,
    pgn: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every game here as it ends.", show_default=False)
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.", show_default=False)] = None,
    workers: WorkersText = None,
    lockstep: Annotated[
        int, typer.Option(min=1, help="Games that a thread plays at once; changes speed and memory only.")
    ] = MATCH_LOCKSTEP,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play pairs of games from the same openings, sides swapped, and say what A scored."""
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.live.match import match as play

    with progress_bar() as bar:
        task = bar.add_task("", total=None)

        def show(standing: MatchStanding) -> None:
            running = standing.running
            bar.update(task, completed=running.finished, total=running.games, description=standing.words)

        played = play(
            game,
            a,
            b,
            games,
            openings=openings,
            opening_plies=opening_plies,
            sprt=sprt,
            adjudicate=adjudicate,
            pgn=pgn,
            threads=threads,
            workers=workers,
            lockstep=lockstep,
            seed=seed,
            listen=show,
        )
    if json:
        print_json(played.document())
    else:
        print_match(played)


def print_match(played: PlayedMatch) -> None:
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.live.match import NOTE

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    for name, words in played.rows():
        table.add_row(name, words)
    console = stdout()
    console.print(Text(played.title, style="bold"))
    console.print(table)
    if played.result.faults:
        console.print(Text(played.faults_in_words, style="red"))
    console.print(Text(NOTE, style="dim"))
