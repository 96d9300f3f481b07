"""`palaestra tournament`: many players, one table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.cli import complete
from palaestra.cli.files import picture
from palaestra.cli.options import PLAYER_HELP, GameId, Json, OpeningPlies, OpeningsText, Seed
from palaestra.cli.ratings import ADVANTAGE, DRAW, PRIOR, Advantage, Anchor, Draw, Prior, rating_config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palaestra.arena.crosstable import Crosstable
    from palaestra.arena.journal import Journal
    from palaestra.arena.ratings import RatingConfig, Ratings
    from palaestra.arena.schedule import Format
    from palaestra.arena.tournament import Progress, Tournament
    from palaestra.games.base import Game
    from palaestra.players.base import Player


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
    games: Annotated[int, typer.Option(help="Of every pairing; an even number: pairs with sides swapped.")] = 20,
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

    from palaestra.arena.ratings import rate
    from palaestra.arena.tournament import play_tournament
    from palaestra.cli.options import read_openings
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.games.registry import make_game

    rules = make_game(game)
    config = rating_config(advantage, draw, prior, anchor)
    source = read_openings(openings, opening_plies)
    check_files(pgn, resume, plot)
    made = make_players(players, rules)
    check_anchor(config, made)
    journal = open_journal(pgn, resume)
    try:
        with progress_bar(estimate=False) as bar:
            task = bar.add_task("", total=None)

            def show(progress: Progress) -> None:
                bar.update(task, completed=progress.finished, total=progress.total, description=standing(progress))

            played = play_tournament(
                rules,
                made,
                games,
                format=cast("Format", format),
                rounds=rounds,
                openings=source,
                seed=seed,
                threads=threads or usable_cores(),
                lockstep=lockstep,
                adjudicate=adjudicate,
                journal=journal,
                listen=show,
            )
    except KeyboardInterrupt:
        say_how_to_resume(journal)
        raise
    finally:
        if journal is not None:
            journal.close()
    ratings = rate(played.results, config)
    pictures = draw_figures(played, ratings, plot)
    if json:
        print_json({**as_json(played, ratings), "seed": seed, "pgn": pgn, "plots": pictures})
    else:
        print_tournament(played, ratings, [file for file in (pgn, *pictures) if file])


def check_files(pgn: str | None, resume: bool, plot: str | None) -> None:
    """Refuse before the first game what could not be written after the last."""
    if resume and pgn is None:
        raise ConfigError("--resume goes on with a file of games: name it, for example --pgn games.pgn --resume")
    if plot is not None:
        picture(plot)


def make_players(texts: Sequence[str], game: Game) -> list[Player]:
    """The players, `run:NAME@*` being several; an error names the one that cannot be made."""
    from palaestra.base.text import clip
    from palaestra.players.human import HumanPlayer
    from palaestra.players.registry import expand, make_player

    players: list[Player] = []
    for text in texts:
        try:
            players += [make_player(one, game) for one in expand([text])]
        except PalaestraError as error:
            raise type(error)(f"player {clip(text)}: {error}") from None
        if isinstance(players[-1], HumanPlayer):
            raise ConfigError("a person cannot play many games at once; try: palaestra play, or palaestra match")
    return players


def check_anchor(config: RatingConfig, players: Sequence[Player]) -> None:
    texts = [player.text for player in players]
    if config.anchor is not None and config.anchor[0] not in texts:
        known = ", ".join(texts[:6]) + (" …" if len(texts) > 6 else "")
        raise ConfigError(f"the anchor {config.anchor[0]} is not among the players; they are {known}")


def open_journal(pgn: str | None, resume: bool) -> Journal | None:
    from palaestra.arena.journal import Journal

    return None if pgn is None else Journal(pgn, resume)


def say_how_to_resume(journal: Journal | None) -> None:
    from palaestra.cli.output import stderr

    if journal is None:
        words = "stopped, and the games are gone; with --pgn FILE they are kept, and --resume goes on with them"
    elif not journal.count:
        words = f"stopped before the first game was written to {journal.path}"
    else:
        words = f"stopped: {journal.count:,} games are in {journal.path}; the same command with --resume goes on"
    stderr().print(words, markup=False, soft_wrap=True)


def standing(progress: Progress) -> str:
    """ "12.3 games/s, 0:03:12 left; uct(simulations=400) leads with 78 %"."""
    from datetime import timedelta

    table = progress.crosstable
    best = table.standings()[0]
    name = table.players[best]
    left = timedelta(seconds=round(progress.seconds_left))
    shown = name if len(name) <= 24 else f"{name[:12]}…{name[-11:]}"
    return f"{progress.games_per_second:.3g} games/s, {left} left; {shown} leads with {100 * table.score(best):.0f} %"


def draw_figures(played: Tournament, ratings: Ratings, plot: str | None) -> list[str]:
    if plot is None:
        return []
    from palaestra.lab.rating_plots import tournament_figures

    return [str(file) for file in tournament_figures(played, Path(plot), ratings)]


def as_json(played: Tournament, ratings: Ratings) -> dict[str, Any]:
    """The JSON document: all that stands in the tables; rows and columns are players from best to worst."""
    order = list(ratings.order())
    table = played.crosstable
    return {
        "game": played.game,
        "format": played.format,
        "players": [ratings.players[i] for i in order],
        "ratings": ratings.as_json(),
        "notes": ratings.notes(),
        "advantage": ratings.advantage,
        "draw": ratings.draw_elo,
        "superiority": [[float(chance) for chance in row[order]] for row in ratings.superiority()[order]],
        "crosstable": [[_tally(table, row, column) for column in order] for row in order],
        "games": len(played.games),
        "recalled": played.recalled,
        "distinct_games": played.distinct_games,
        "adjudicated": sum(one.adjudicated for one in played.games),
        "faults": played.faults,
        "seconds": played.seconds,
        "network_share": played.network_share,
    }


def _tally(table: Crosstable, row: int, column: int) -> list[int] | None:
    """Wins, draws and losses of the row's player; None for two that did not meet."""
    tally = table.tallies.get((row, column))
    return None if tally is None else list(tally)


def print_tournament(played: Tournament, ratings: Ratings, files: Sequence[str]) -> None:
    """The cross table, the ratings, and how they came about."""
    from rich.text import Text

    from palaestra.cli.crosstables import crosstable
    from palaestra.cli.output import stdout
    from palaestra.cli.ratings import print_ratings

    console = stdout()
    console.print(Text(f"{played.format} of {played.game}: scores in percent", style="bold"))
    console.print(crosstable(played.crosstable, console.width))
    console.print(Text("\nRatings", style="bold"))
    print_ratings(ratings)
    console.print(Text(f"\n{summary(played)}", style="dim"), soft_wrap=True)
    if played.faults:
        words = f"{len(played.faults)} games were lost by a fault, first {played.faults[0]}"
        console.print(Text(words, style="red"), soft_wrap=True)
    if files:
        console.print(Text(f"Written: {', '.join(files)}", style="dim"), soft_wrap=True)


def summary(played: Tournament) -> str:
    """ "560 games, 555 distinct, 40 of them read from the file; 30.1 s, 17 games/s, 66 % of it in networks."."""
    fresh = len(played.games) - played.recalled
    words = f"{len(played.games):,} games, {played.distinct_games:,} distinct"
    if played.recalled:
        words += f", {played.recalled:,} of them played before"
    if adjudicated := sum(one.adjudicated for one in played.games):
        words += f", {adjudicated:,} ended where the result was proved"
    words += f"; {played.seconds:.1f} s"
    if fresh:
        words += f", {fresh / played.seconds:.3g} games/s"
    if fresh and played.network_share is not None:
        words += f", {100 * played.network_share:.0f} % of the threads' time in networks"
    return words + "."
