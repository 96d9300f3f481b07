"""`palaestra check-solution`: is a solution of a game for one player what it claims to be?"""

from __future__ import annotations

from typing import Annotated

import typer

from palaestra.cli.options import Json, StoredGame


def check_solution(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A solution, as palaestra solve writes them.")],
    svg: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the final position, moves numbered, here.", show_default=False),
    ] = None,
    game: StoredGame = None,
    json: Json = False,
) -> None:
    """Verify a solution: Morpion by rules of its own that share no code with the engine, other games by replaying."""
    from pathlib import Path

    from palaestra.base.atomic import write_file
    from palaestra.cli.output import print_json, say
    from palaestra.live.solution_check import check_file

    found = check_file(file, game)
    verdict = found.verdict
    if svg is not None and verdict.valid:
        write_file(Path(svg), verdict.svg.encode())
    if json:
        print_json({**found.document(), "svg": svg if verdict.valid else None})
    elif verdict.valid:
        how = "verified independently of the engine" if verdict.independent else "replayed through the game's own rules"
        say(f"{file}: valid, {verdict.game}, score {verdict.score}; {how}")
        if verdict.more:
            say(f"{verdict.more} more moves are possible: this is not the end of the game")
        if svg is not None:
            say(f"The picture is in {svg}")
    else:
        say(f"{file}: wrong, {verdict.game}: {verdict.error}")
    if not verdict.valid:
        raise typer.Exit(1)
