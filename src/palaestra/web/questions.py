"""What the processes of the pages Compare and Solve are asked. Texts and bytes in, objects of `live` out."""

from __future__ import annotations

import io
from dataclasses import dataclass

from palaestra.arena import morpion_referee
from palaestra.arena.solutions import Verdict, check_solution
from palaestra.base.errors import RecordError
from palaestra.games.registry import make_game
from palaestra.live.ratings import RatedPlayers, rate_games, rating_config
from palaestra.live.steps import Steps, game_steps, solution_steps
from palaestra.live.tournament import make_players
from palaestra.runs.pgn_games import PgnGame
from palaestra.runs.solutions import Solution, parse_solution
from palaestra.work.asked import Tell


def names_of_players(game: str, players: tuple[str, ...], tell: Tell) -> tuple[str, ...]:
    """The players as games call them; a PalaestraError names the one that cannot be made."""
    return tuple(player.text for player in make_players(players, make_game(game)))


def draw_game(game: str, played: PgnGame, tell: Tell) -> Steps:
    """A game, move by move."""
    return game_steps(played, make_game(game))


def rate_pgn(data: bytes, name: str, tell: Tell) -> RatedPlayers:
    """The ratings of a PGN file's players; games that do not count are left out and counted."""
    return rate_games(io.BytesIO(data), name, rating_config(), skip=True)


@dataclass(frozen=True)
class Checked:
    """A solution, the verdict on it, and its moves where they are legal."""

    solution: Solution
    verdict: Verdict
    steps: Steps | None


def check_file(data: bytes, name: str, tell: Tell) -> Checked:
    """What `palaestra check-solution` says of a file; a file names no code, only games that are built in."""
    try:
        solution = parse_solution(data.decode(), name)
    except UnicodeDecodeError:
        raise RecordError(f"{name} is no solution: it is not text") from None
    game = None
    if not morpion_referee.knows(solution.game):
        from palaestra.games.registry import make_stored_game

        game = make_stored_game(solution.game, name, id=solution.game)
    verdict = check_solution(solution, game)
    steps = solution_steps(solution, game) if verdict.score is not None else None
    return Checked(solution, verdict, steps)


def draw_solution(game: str, solution: Solution, tell: Tell) -> Steps:
    """A solution that a folder keeps, move by move."""
    return solution_steps(solution, None if morpion_referee.knows(solution.game) else make_game(game))
