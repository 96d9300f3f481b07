"""`palaestra review`: a finished game looked at again, move by move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import PLAYER_HELP, Json, Seed

if TYPE_CHECKING:
    from rich.table import Table

    from palaestra.live.review import ReviewedGame

HEIGHTS = "▁▂▃▄▅▆▇█"


def review(
    file: Annotated[Path, typer.Argument(metavar="GAME.pgn", help="A file with a game, as match --pgn writes them.")],
    player: Annotated[
        str,
        typer.Option("--player", "-p", metavar="PLAYER", help=f"The adviser. {PLAYER_HELP}", show_default=False),
    ] = "",
    number: Annotated[
        int | None, typer.Option(min=1, help="Which game of a file with several; the first is 1.", show_default=False)
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="The rules, where the file does not name them or they are your own."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write a page with a board to step through.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Look at a finished game again: mistakes and better moves, and the value from move to move."""
    from palaestra.cli.analyse import write_new
    from palaestra.cli.files import writable
    from palaestra.cli.output import print_json, progress_bar, say
    from palaestra.live.review import review as review_file

    if html is not None:
        writable(html)
    with progress_bar() as bar:
        task = bar.add_task("positions", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        found = review_file(file, player or None, number=number, game=game, seed=seed, listen=show)
    if html is not None:
        write_new(html, found.page())
    if json:
        print_json(found.document())
    else:
        _print(found)
        if html is not None:
            say(f"The page is in {html}: open it in a browser")


def _print(found: ReviewedGame) -> None:
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.lab.review import thresholds_in_words

    console, review = stdout(), found.review
    console.print(Text(found.title, style="bold"), soft_wrap=True)
    console.print(Text(f"{len(review.moves)} plies, reviewed by {review.adviser}"), soft_wrap=True)
    for line in found.verdicts():
        console.print(line)
    what = "the first player's value" if review.game.players == 2 else "the score that the adviser reaches"
    console.print(f"\n{what} from the start to the end:")
    console.print("".join(HEIGHTS[min(7, int((value + 1) / 2 * 8))] for value in review.values), style="blue")
    if rows := found.rows():
        console.print()
        console.print(_table(rows, review.game.players == 2))
    console.print()
    console.print(Text(thresholds_in_words(review.game), style="dim"))


def _table(rows: list[tuple[str, ...]], two: bool) -> Table:
    """The moves that have a verdict; the line is cut where the terminal ends, everything else is whole."""
    from rich.table import Table
    from rich.text import Text

    what = "value" if two else "score"
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    for title in ("ply", *(["side"] if two else []), "move", what, "", "better", what):
        table.add_column(title, justify="right" if title in ("ply", what) else "left", no_wrap=True)
    table.add_column("line", ratio=1, no_wrap=True, overflow="ellipsis")
    for ply, side, *cells in rows:
        table.add_row(*map(Text, [ply, *([side] if two else []), *cells]))
    return table
