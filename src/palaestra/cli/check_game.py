"""`palaestra check-game`: does a game obey the laws?"""

from __future__ import annotations

from typing import Annotated

import typer

from palaestra.base.errors import GameError
from palaestra.cli.options import GameId, Json, Seed


def check_game(
    game: GameId,
    games: Annotated[int, typer.Option(min=1, max=100_000, help="Random games to run the laws over.")] = 20,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run the laws that every game obeys over random games: also on a game of your own, module:attribute."""
    from palaestra.cli.output import print_json, say
    from palaestra.games.laws import check
    from palaestra.games.registry import make_game

    report = check(make_game(game), seed=seed, games=games)
    if json:
        found = [{"law": violation.law, "line": violation.line} for violation in report.violations]
        print_json({"game": report.game, "laws": report.laws, "violations": found, "games": games, "seed": seed})
    if report.violations:
        more = len(report.violations) - 1
        rest = f" (and {more} more: --json lists all)" if more and not json else ""
        raise GameError(f"{report.game} breaks a law: {report.violations[0]}{rest}")
    if not json:
        say(f"{report.game} obeys the laws over {games} random games: {', '.join(report.laws)}")
