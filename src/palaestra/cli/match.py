"""`palaestra match`: who is stronger, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Json, OpeningPlies, OpeningsText, Seed

if TYPE_CHECKING:
    from palaestra.arena.early_stop import SequentialMatch
    from palaestra.arena.match import Listener, MatchResult, Running
    from palaestra.arena.openings import Openings
    from palaestra.arena.parallel import Team
    from palaestra.games.base import Game

PAIR_POINTS = ("0", "½", "1", "1½", "2")
GAMES, MOST_GAMES = 100, 10_000


def match(
    game: GameId,
    a: Annotated[str, typer.Argument(metavar="A", help=PLAYER_HELP, autocompletion=complete.players)],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.", autocompletion=complete.players)],
    games: Annotated[
        int | None,
        typer.Option(
            help="An even number: pairs with sides swapped. The most, with --sprt.",
            show_default=f"{GAMES}; {MOST_GAMES} with --sprt",
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
    lockstep: Annotated[
        int, typer.Option(min=1, help="Games that a thread plays at once; changes speed and memory only.")
    ] = 256,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play pairs of games from the same openings, sides swapped, and say what A scored."""
    from palaestra.arena.early_stop import play_until_sure
    from palaestra.arena.match import check_match
    from palaestra.arena.parallel import play_parallel
    from palaestra.arena.sprt import parse_sprt
    from palaestra.cli.match_file import match_file
    from palaestra.cli.options import read_openings
    from palaestra.cli.output import print_json, progress_bar
    from palaestra.games.registry import make_game

    rules = make_game(game)
    test = None if sprt is None else parse_sprt(sprt)
    source = read_openings(openings, opening_plies)
    most = games if games is not None else GAMES if test is None else MOST_GAMES
    check_match(rules, most, lockstep)
    teams = make_teams(rules, a, b, threads, most)
    book = source.book(rules, most // 2, seed)

    def play(pairs: range, heard: Listener | None) -> MatchResult:
        return play_parallel(
            rules, teams, most, book=book, seed=seed, lockstep=lockstep, pairs=pairs, adjudicate=adjudicate,
            listen=heard,
        )  # fmt: skip

    tested = None
    with match_file(pgn, rules, seed) as write, progress_bar() as bar:
        task = bar.add_task("", total=most)

        def hear(running: Running) -> None:
            write(running.ended)
            bar.update(task, completed=running.finished, description=score_so_far(running))

        if test is None:
            result = play(range(most // 2), hear)
        else:
            tested = play_until_sure(test, most, play, hear)
            result = tested.match
    if json:
        verdict = None if tested is None else sprt_json(tested)
        print_json({**as_json(result, seed), "openings": source.text, "sprt": verdict, "pgn": pgn})
    else:
        print_result(result, source, tested)


def make_teams(game: Game, a: str, b: str, threads: int | None, games: int) -> list[Team]:
    """A and B for each thread; one pair of them where a person plays, who can only look at one board."""
    from palaestra.players.human import HumanPlayer
    from palaestra.players.registry import make_player

    first = make_player(a, game), make_player(b, game)
    alone = any(isinstance(player, HumanPlayer) for player in first)
    count = 1 if alone else min(threads or usable_cores(), games // 2)
    return [first, *((make_player(a, game), make_player(b, game)) for _ in range(count - 1))]


def score_so_far(running: Running) -> str:
    """ "+12 =3 −5  67.5 % (46–83)"."""
    from palaestra.arena.statistics import score_interval, score_of
    from palaestra.live.words import percent

    tally = running.wins, running.draws, running.losses
    low, high = score_interval(*tally)
    return f"+{tally[0]} ={tally[1]} −{tally[2]}  {percent(score_of(*tally))} ({100 * low:.0f}–{100 * high:.0f})"


def distinct_openings(result: MatchResult) -> int:
    """How many different openings the games began with; fewer than pairs means that they were repeated."""
    return len({(record.start, record.moves[: record.opening_plies]) for record in result.records})


def as_json(result: MatchResult, seed: int) -> dict[str, Any]:
    """The JSON document: all that stands in the table; an infinite Elo is null."""
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
        "adjudicated": sum(record.adjudicated for record in result.records),
        "pairs": list(result.pairs),
        "distinct_openings": distinct_openings(result),
        "opening_plies": result.opening_plies,
        "mean_plies": result.mean_plies,
        "seconds": result.seconds,
        "seconds_per_move": list(result.seconds_per_move),
        "faults": result.faults,
        "seed": seed,
    }


def sprt_json(tested: SequentialMatch) -> dict[str, Any]:
    """The test, its log-likelihood ratio and bounds, and "accepted", "rejected" or null where the games ran out."""
    from dataclasses import asdict

    return {**asdict(tested.test), "llr": tested.ratio, "bounds": list(tested.test.bounds), "verdict": tested.verdict}


def print_result(result: MatchResult, openings: Openings, tested: SequentialMatch | None = None) -> None:
    from rich.table import Table
    from rich.text import Text

    from palaestra.arena.statistics import elo_in_words
    from palaestra.cli.output import stdout
    from palaestra.live.words import score_in_words

    one, other = (f"{1000 * seconds:.3g} ms" for seconds in result.seconds_per_move)
    adjudicated = sum(record.adjudicated for record in result.records)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    rows = [
        ("score", f"{score_in_words(result.score, result.interval)}  +{result.wins} ={result.draws} −{result.losses}"),
        ("Elo difference", elo_in_words(result.elo)),
        *([("SPRT", verdict_in_words(tested))] if tested else []),
        ("games", f"{result.games}, {result.distinct_games} distinct"
            + (f"; {adjudicated} ended where the result was proved" if adjudicated else "")),
        ("openings", openings_in_words(result, openings)),
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


def openings_in_words(result: MatchResult, openings: Openings) -> str:
    """Where they came from, and whether there were enough of them."""
    words = f"{result.opening_plies} random plies" if openings.kind == "random" else str(openings)
    there, pairs = distinct_openings(result), result.games // 2
    if there < pairs:
        return f"{words}; only {there} distinct for {pairs} pairs, so they were repeated"
    return f"{words}, {there} distinct"


def verdict_in_words(tested: SequentialMatch) -> str:
    """ "accepted: +30 rather than +0 Elo; log-likelihood ratio +3.10 of -2.94 to +2.94"."""
    low, high = f"{tested.test.elo0:+g}", f"{tested.test.elo1:+g}"
    if tested.verdict is None:
        return f"undecided between {low} and {high} Elo; {tested.standing}"
    chosen, other = (high, low) if tested.verdict == "accepted" else (low, high)
    return f"{tested.verdict}: {chosen} rather than {other} Elo; {tested.standing}"
