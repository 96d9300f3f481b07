"""`palaestra analyse`: what a player thinks of a position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from palaestra.base.errors import ConfigError
from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Json, Moves, Seed

if TYPE_CHECKING:
    from rich.table import Table

    from palaestra.live.analysis import PositionAnalysis

BAR = 20  # columns of a certain move's bar


def analyse(
    game: GameId,
    moves: Moves = "",
    player: Annotated[
        str,
        typer.Option(
            "--player", "-p", metavar="PLAYER", help=PLAYER_HELP, show_default=False, autocompletion=complete.players
        ),
    ] = "",
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Also draw the position, and the moves by their probability, here."),
    ] = None,
    overlay: Annotated[
        Literal["value", "policy", "visits", "none"] | None,
        typer.Option(help="The number on each move of --svg; the first of these by default.", show_default=False),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what a player would do in a position and why: value, probability and visits of each move, the line expected.

    Values are for the player to move. Where it takes only a moment, every move's certain result is found out as well.
    """
    from palaestra.cli.output import print_json, say
    from palaestra.live.analysis import analyse as analyse_position
    from palaestra.live.position import Position

    position = Position(game, moves)
    if position.is_over and svg is not None and overlay in (None, "none"):
        write_new(svg, position.svg())
        document = {"game": position.game.id, "outcome": position.outcome, "note": position.result}
        print_json(document) if json else say(position.result or "")
        return
    if overlay is not None and svg is None and not position.is_over:
        raise ConfigError(f"--overlay {overlay} is drawn into a picture: give --svg FILE with it")
    analysis = analyse_position(position, player=player or None, seed=seed)
    if svg is not None:
        write_new(svg, analysis.svg(overlay))
    if json:
        print_json(analysis.document())
    else:
        print_analysis(analysis)


def print_analysis(analysis: PositionAnalysis, draw: bool = True) -> None:
    """The board, one line with the choice, a table of moves, and the line expected."""
    from rich.text import Text

    from palaestra.cli.output import board, stdout

    console = stdout()
    if draw:
        console.print(board(analysis.position.game, analysis.position.state))
        console.print()
    words = Text.assemble((analysis.player, "bold"), " ", analysis.summary)
    console.print(words, soft_wrap=not console.is_terminal)  # a terminal would break it in the middle of a word
    if analysis.analysis.policy is not None or analysis.analysis.visits is not None:
        console.print(moves_table(analysis))
    if analysis.line:
        console.print(Text.assemble(("line  ", "dim"), " ".join(analysis.line)), soft_wrap=not console.is_terminal)


def moves_table(analysis: PositionAnalysis) -> Table:
    """One row a move, the likeliest first, at most 80 columns; a column that says nothing is left out."""
    from rich.table import Table

    from palaestra.live.analysis import MOST_ROWS

    rows, columns = analysis.moves, analysis.columns()
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("move")
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("", no_wrap=True)
    for place, row in enumerate(rows[:MOST_ROWS]):
        bar = "█" * round(BAR * (row.probability or 0.0))
        cells = (column[place] for column in columns.values())
        table.add_row(row.move, *cells, bar, style="bold" if row.action == analysis.analysis.action else "")
    if len(rows) > MOST_ROWS:
        table.add_row(f"… {len(rows) - MOST_ROWS} more", style="dim")
    return table


def write_new(path: Path, content: str) -> None:
    """Write a whole file or none: to a temporary name beside it, then renamed."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r} ({error.strerror}); give a file in an existing folder") from None
