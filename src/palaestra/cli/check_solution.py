"""`palaestra check-solution`: is a solution of a game for one player what it claims to be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.errors import RecordError
from palaestra.cli.options import Json, StoredGame

if TYPE_CHECKING:
    from pathlib import Path

    from palaestra.arena.solutions import Solution
    from palaestra.games.base import Game


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

    from palaestra.arena.solutions import check_solution, parse_solution
    from palaestra.cli.output import print_json, say

    solution = parse_solution(_read(Path(file)), file)
    verdict = check_solution(solution, _rules(solution, game, file))
    if svg is not None and verdict.valid:
        _write(Path(svg), verdict.svg)
    if json:
        print_json(
            {
                "game": verdict.game,
                "valid": verdict.valid,
                "score": verdict.score,
                "error": verdict.error,
                "claimed": solution.score,
                "moves_left": verdict.more if verdict.score is not None else None,
                "independent": verdict.independent,
                "svg": svg if verdict.valid else None,
            }
        )
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


def _rules(solution: Solution, game: str | None, file: str) -> Game | None:
    """The rules to replay by; none for Morpion. A file's own words load no module of anybody's."""
    from palaestra.arena import morpion_referee
    from palaestra.games.registry import make_stored_game

    if morpion_referee.knows(solution.game):
        if game is not None:
            raise RecordError(f"{file} is of {solution.game}, which has a referee of its own: leave out --game {game}")
        return None
    return make_stored_game(solution.game, file, id=solution.game, given=game)


def _read(path: Path) -> str:
    """The file's text, no more of it than a solution can have."""
    from palaestra.arena.solutions import MOST_CHARACTERS
    from palaestra.base.reading import read_bytes

    try:
        return read_bytes(path, 4 * MOST_CHARACTERS).decode()
    except UnicodeDecodeError:
        raise RecordError(f"{path} is no solution: it is not text") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"cannot read {path} ({reason}); a solution is a file that palaestra solve wrote") from None


def _write(path: Path, svg: str) -> None:
    from palaestra.base.atomic import write_file

    write_file(path, svg.encode())
