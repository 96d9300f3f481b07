"""`palaestra match`: who is stronger, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.cli.options import PLAYER_HELP, GameId, Json, Seed

if TYPE_CHECKING:
    from palaestra.arena.match import MatchResult

PAIR_POINTS = ("0", "½", "1", "1½", "2")


def match(
    game: GameId,
    a: Annotated[str, typer.Argument(metavar="A", help=PLAYER_HELP)],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    games: Annotated[int, typer.Option(help="An even number: pairs with sides swapped.")] = 100,
    opening_plies: Annotated[
        int | None,
        typer.Option(help="Random plies before the players take over; 2 to 4 by default.", show_default=False),
    ] = None,
    lockstep: Annotated[int, typer.Option(min=1, help="Games played at once; changes speed and memory only.")] = 256,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play pairs of games from seeded random openings, sides swapped, and say what A scored."""
    from palaestra.arena.match import Running, play_match
    from palaestra.arena.statistics import score_interval, score_of
    from palaestra.cli.output import percent, print_json, progress_bar
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules = make_game(game)
    players = make_player(a, rules), make_player(b, rules)
    with progress_bar() as bar:
        task = bar.add_task("", total=games)

        def show(running: Running) -> None:
            tally = running.wins, running.draws, running.losses
            low, high = score_interval(*tally)
            words = (
                f"+{tally[0]} ={tally[1]} −{tally[2]}  {percent(score_of(*tally))} ({100 * low:.0f}–{100 * high:.0f})"
            )
            bar.update(task, completed=running.finished, description=words)

        result = play_match(
            rules, *players, games, opening_plies=opening_plies, seed=seed, lockstep=lockstep, listen=show
        )
    if json:
        print_json(as_json(result, seed))
    else:
        print_result(result)


def as_json(result: MatchResult, seed: int) -> dict[str, Any]:
    """The fields of DESIGN §4 and what stands in the table; an infinite Elo is null."""
    from palaestra.arena.statistics import finite

    return {
        "game": result.game,
        "a": result.a,
        "b": result.b,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "score": result.score,
        "interval": list(result.interval),
        "elo": [finite(elo) for elo in result.elo],
        "games": result.games,
        "distinct_games": result.distinct_games,
        "pairs": list(result.pairs),
        "opening_plies": result.opening_plies,
        "mean_plies": result.mean_plies,
        "seconds": result.seconds,
        "seconds_per_move": list(result.seconds_per_move),
        "faults": result.faults,
        "seed": seed,
    }


def print_result(result: MatchResult) -> None:
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import score_in_words, stdout

    elo, low, high = result.elo
    one, other = (f"{1000 * seconds:.3g} ms" for seconds in result.seconds_per_move)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    rows = [
        ("score", f"{score_in_words(result.score, result.interval)}  +{result.wins} ={result.draws} −{result.losses}"),
        ("Elo difference", f"{elo:+.0f} ({low:+.0f} to {high:+.0f})"),
        ("games", f"{result.games}, {result.distinct_games} distinct, from {result.opening_plies} random plies"),
        ("pairs", "  ".join(f"{points}: {n}" for points, n in zip(PAIR_POINTS, result.pairs, strict=True))),
        ("length", f"{result.mean_plies:.1f} plies"),
        ("time", f"{result.seconds:.1f} s; a move took {one} and {other}"),
    ]  # fmt: skip
    for name, words in rows:
        table.add_row(name, words)
    console = stdout()
    console.print(Text(f"{result.a} against {result.b} on {result.game}", style="bold"))
    console.print(table)
    if result.faults:
        console.print(Text(f"{len(result.faults)} games were lost by a fault, first {result.faults[0]}", style="red"))
    console.print(Text("Intervals are 95 %; the score is that of the first-named player.", style="dim"))
