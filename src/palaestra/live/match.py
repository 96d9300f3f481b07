"""A match as it is played and when it is over: pairs of games from the same openings, sides swapped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypedDict

from palaestra.arena.early_stop import SequentialMatch, play_until_sure
from palaestra.arena.match import MatchListener, MatchResult, Running, check_match
from palaestra.arena.openings import Openings, parse_openings
from palaestra.arena.parallel import Team, play_parallel
from palaestra.arena.spread import MatchOrder, spread_match
from palaestra.arena.sprt import Sprt, parse_sprt
from palaestra.arena.statistics import elo_in_words, finite, score_interval, score_of
from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.live import html
from palaestra.live.defaults import MATCH_GAMES, MATCH_LOCKSTEP, SPRT_GAMES
from palaestra.live.match_file import match_file
from palaestra.live.words import percent, score_in_words
from palaestra.players.base import Player
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import make_player
from palaestra.work.workers import chosen_workers, make_workers

PAIR_POINTS = ("0", "½", "1", "1½", "2")
NOTE = "Intervals are 95 %; the score is that of the first-named player."


class StandingDocument(TypedDict):
    """A match under way, as JSON; scores are A's."""

    finished: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    interval: list[float]


class SprtDocument(TypedDict):
    """A sequential test: its log-likelihood ratio and bounds, and what it says; null where the games ran out."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    llr: float
    bounds: list[float]
    verdict: str | None


class MatchResultDocument(TypedDict):
    """A's result against B as JSON; an infinite Elo is null."""

    game: str
    a: str
    b: str
    wins: int
    draws: int
    losses: int
    score: float
    interval: list[float]
    elo: list[float | None]
    games: int
    distinct_games: int
    adjudicated: int
    pairs: list[int]
    distinct_openings: int
    opening_plies: int
    mean_plies: float
    seconds: float
    seconds_per_move: list[float]
    faults: list[str]
    seed: int


class MatchDocument(MatchResultDocument):
    """The same with how it was played."""

    openings: str
    sprt: SprtDocument | None
    pgn: str | None


@dataclass(frozen=True)
class MatchStanding:
    """A match under way."""

    running: Running

    @property
    def words(self) -> str:
        """ "+12 =3 −5  67.5 % (46–83)"."""
        tally = self.running.wins, self.running.draws, self.running.losses
        low, high = score_interval(*tally)
        return f"+{tally[0]} ={tally[1]} −{tally[2]}  {percent(score_of(*tally))} ({100 * low:.0f}–{100 * high:.0f})"

    def document(self) -> StandingDocument:
        running = self.running
        tally = running.wins, running.draws, running.losses
        return {
            "finished": running.finished,
            "games": running.games,
            "wins": running.wins,
            "draws": running.draws,
            "losses": running.losses,
            "score": score_of(*tally),
            "interval": list(score_interval(*tally)),
        }


MatchStandingListener = Callable[[MatchStanding], None]


@dataclass(frozen=True)
class PlayedMatch:
    """A match that is over: what A scored against B, and how sure that is."""

    result: MatchResult
    openings: Openings
    seed: int
    tested: SequentialMatch | None = None  # if a sequential test decided when to stop
    pgn: str | None = None  # the file of its games

    @property
    def score(self) -> float:
        """A's points a game."""
        return self.result.score

    @property
    def elo(self) -> tuple[float, float, float]:
        """A's Elo minus B's, and the ends of its 95 % interval."""
        return self.result.elo

    @property
    def title(self) -> str:
        return f"{self.result.a} against {self.result.b} on {self.result.game}"

    def rows(self) -> list[tuple[str, str]]:
        """What a reader wants to know, by name."""
        result = self.result
        one, other = (f"{1000 * seconds:.3g} ms" for seconds in result.seconds_per_move)
        adjudicated = sum(record.adjudicated for record in result.records)
        proved = f"; {adjudicated} ended where the result was proved" if adjudicated else ""
        tally = f"+{result.wins} ={result.draws} −{result.losses}"
        return [
            ("score", f"{score_in_words(result.score, result.interval)}  {tally}"),
            ("Elo difference", elo_in_words(result.elo)),
            *([("SPRT", verdict_in_words(self.tested))] if self.tested else []),
            ("games", f"{result.games}, {result.distinct_games} distinct{proved}"),
            ("openings", openings_in_words(result, self.openings)),
            ("pairs", "  ".join(f"{points}: {n}" for points, n in zip(PAIR_POINTS, result.pairs, strict=True))),
            ("length", f"{result.mean_plies:.1f} plies"),
            ("time", f"{result.seconds:.1f} s; a move took {one} and {other}"),
        ]

    @property
    def faults_in_words(self) -> str:
        """How many games were lost by a fault, and the first of them; nothing if there was none."""
        faults = self.result.faults
        return f"{len(faults)} games were lost by a fault, first {faults[0]}" if faults else ""

    def document(self) -> MatchDocument:
        """The match as JSON."""
        tested = None if self.tested is None else sprt_document(self.tested)
        own = result_document(self.result, self.seed)
        return {**own, "openings": self.openings.text, "sprt": tested, "pgn": self.pgn}

    def __repr__(self) -> str:
        lines = [f"  {name:16}{words}" for name, words in self.rows()]
        return "\n".join([self.title, *lines, *([self.faults_in_words] if self.result.faults else [])])

    def _repr_html_(self) -> str:
        return html.heading(self.title) + html.facts(self.rows()) + html.note(self.faults_in_words) + html.note(NOTE)


def match(
    game: Game | str,
    a: Player | str,
    b: Player | str,
    games: int | None = None,
    *,
    openings: Openings | str | None = None,
    opening_plies: int | None = None,
    sprt: Sprt | str | None = None,
    adjudicate: bool = False,
    pgn: str | None = None,
    threads: int | None = None,
    workers: str | None = None,
    lockstep: int = MATCH_LOCKSTEP,
    seed: int = 0,
    listen: MatchStandingListener | None = None,
) -> PlayedMatch:
    """Play pairs of games from the same openings, sides swapped, and say what A scored.

    100 games by default; with a sequential test (`sprt="0,30"`: is A 0 or 30 Elo stronger?) at most 10,000. The games
    depend on the seed and the players alone, not on `threads` (all cores by default), `workers` or `lockstep`. A player
    that is given as an object is one, and plays in one thread.

    >>> found = match("tic_tac_toe-3x3", "perfect", "random", games=20)
    >>> found.result.losses, found.score > 0.7
    (0, True)
    """
    rules = make_game(game) if isinstance(game, str) else game
    test = parse_sprt(sprt) if isinstance(sprt, str) else sprt
    source = read_openings(openings, opening_plies)
    most = games if games is not None else MATCH_GAMES if test is None else SPRT_GAMES
    check_match(rules, most, lockstep)
    who = chosen_workers(workers, threads, "threads", "--threads")
    away = who.name in ("processes", "ray")
    teams = make_teams(rules, a, b, 1 if away else who.count, most)
    book = source.book(rules, most // 2, seed)
    order = MatchOrder(rules, *teams[0], most, book, seed, lockstep, adjudicate)
    if away and any(isinstance(player, HumanPlayer) for player in teams[0]):
        raise ConfigError("a person plays here and not on other machines: leave --workers")

    def play(pairs: range, heard: MatchListener | None) -> MatchResult:
        if given is not None:
            return spread_match(order, pairs, given, heard)
        return play_parallel(
            rules, teams, most, book=book, seed=seed, lockstep=lockstep, pairs=pairs, adjudicate=adjudicate,
            listen=heard,
        )  # fmt: skip

    with make_workers(who) if away else nullcontext() as given, match_file(pgn, rules, seed) as write:

        def hear(running: Running) -> None:
            write(running.ended)
            if listen is not None:
                listen(MatchStanding(running))

        if test is None:
            return PlayedMatch(play(range(most // 2), hear), source, seed, pgn=pgn)
        tested = play_until_sure(test, most, play, hear)
        return PlayedMatch(tested.match, source, seed, tested, pgn)


def read_openings(given: Openings | str | None, plies: int | None) -> Openings:
    """What the two ways to choose openings say together; a number of plies is short for random:PLIES."""
    if given is not None and plies is not None:
        raise ConfigError(f"--openings {given} and --opening-plies {plies} exclude each other; give one of them")
    if isinstance(given, str):
        return parse_openings(given)
    return given or Openings("random", plies)


def make_teams(game: Game, a: Player | str, b: Player | str, threads: int | None, games: int) -> list[Team]:
    """A and B for each thread; one pair of them where a person plays, who can only look at one board."""
    first = _made(a, game), _made(b, game)
    single = any(isinstance(player, HumanPlayer) for player in first) or not (isinstance(a, str) and isinstance(b, str))
    count = 1 if single else min(threads or 1, games // 2)
    return [first, *((_made(a, game), _made(b, game)) for _ in range(count - 1))]


def _made(player: Player | str, game: Game) -> Player:
    return make_player(player, game) if isinstance(player, str) else player


def distinct_openings(result: MatchResult) -> int:
    """How many different openings the games began with; fewer than pairs means that they were repeated."""
    return len({(record.start, record.moves[: record.opening_plies]) for record in result.records})


def result_document(result: MatchResult, seed: int) -> MatchResultDocument:
    """All that stands in the table."""
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


def sprt_document(tested: SequentialMatch) -> SprtDocument:
    test = tested.test
    return {
        "elo0": test.elo0,
        "elo1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "llr": tested.ratio,
        "bounds": list(test.bounds),
        "verdict": tested.verdict,
    }


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
