"""A tournament as it is played and when it is over: standings, cross table, ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypedDict, cast

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.journal import Journal
from palaestra.arena.openings import Openings
from palaestra.arena.ratings import RatingConfig, Ratings
from palaestra.arena.ratings import rate as rate_results
from palaestra.arena.schedule import Format
from palaestra.arena.tournament import Progress, Tournament, play_tournament
from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.base.text import clip
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.live import html
from palaestra.live.defaults import ADVANTAGE, DRAW, PRIOR, TOURNAMENT_GAMES
from palaestra.live.match import read_openings
from palaestra.live.ratings import crosstable_html, crosstable_rows, rating_config, ratings_html
from palaestra.players.base import Player
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import expand, make_player
from palaestra.work.workers import chosen_workers, make_workers


class StandingsDocument(TypedDict):
    """A tournament under way, as JSON; rows and columns are players from best to worst score."""

    finished: int
    total: int
    games_per_second: float
    seconds_left: float
    players: list[str]
    scores: list[float]
    crosstable: list[list[list[int] | None]]


class TournamentDocument(TypedDict):
    """A tournament as JSON: all that stands in the tables; rows and columns are players from best to worst."""

    game: str
    format: str
    players: list[str]
    ratings: list[dict[str, Any]]
    notes: list[str]
    advantage: float
    draw: float
    superiority: list[list[float]]
    crosstable: list[list[list[int] | None]]
    games: int
    recalled: int
    distinct_games: int
    adjudicated: int
    faults: list[str]
    seconds: float
    network_share: float | None
    seed: int
    pgn: str | None
    plots: list[str]


@dataclass(frozen=True)
class TournamentStanding:
    """A tournament under way."""

    progress: Progress

    @property
    def words(self) -> str:
        """ "12.3 games/s, 0:03:12 left; uct(simulations=400) leads with 78 %"."""
        progress, table = self.progress, self.progress.crosstable
        best = table.standings()[0]
        name = table.players[best]
        left = timedelta(seconds=round(progress.seconds_left))
        shown = name if len(name) <= 24 else f"{name[:12]}…{name[-11:]}"
        leads = f"{shown} leads with {100 * table.score(best):.0f} %"
        return f"{progress.games_per_second:.3g} games/s, {left} left; {leads}"

    def document(self) -> StandingsDocument:
        progress, table = self.progress, self.progress.crosstable
        order = table.standings()
        return {
            "finished": progress.finished,
            "total": progress.total,
            "games_per_second": progress.games_per_second,
            "seconds_left": progress.seconds_left,
            "players": [table.players[row] for row in order],
            "scores": [table.score(row) for row in order],
            "crosstable": tallies(table, order),
        }

    def _repr_html_(self) -> str:
        return html.heading(self.words) + crosstable_html(self.progress.crosstable)


TournamentStandingListener = Callable[[TournamentStanding], None]


@dataclass(frozen=True)
class PlayedTournament:
    """A tournament that is over, and the ratings of its players."""

    played: Tournament
    ratings: Ratings
    seed: int
    pgn: str | None = None

    @property
    def title(self) -> str:
        return f"{self.played.format} of {self.played.game}: scores in percent"

    @property
    def summary(self) -> str:
        """ "560 games, 555 distinct, 40 of them played before; 30.1 s, 17 games/s, 66 % of it in networks."."""
        played = self.played
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

    @property
    def faults_in_words(self) -> str:
        faults = self.played.faults
        return f"{len(faults)} games were lost by a fault, first {faults[0]}" if faults else ""

    def document(self, plots: Sequence[str] = ()) -> TournamentDocument:
        """The tournament as JSON; `plots` are files of pictures that were drawn of it."""
        order, played, ratings = list(self.ratings.order()), self.played, self.ratings
        return {
            "game": played.game,
            "format": played.format,
            "players": [ratings.players[i] for i in order],
            "ratings": ratings.as_json(),
            "notes": ratings.notes(),
            "advantage": ratings.advantage,
            "draw": ratings.draw_elo,
            "superiority": [[float(chance) for chance in row[order]] for row in ratings.superiority()[order]],
            "crosstable": tallies(played.crosstable, order),
            "games": len(played.games),
            "recalled": played.recalled,
            "distinct_games": played.distinct_games,
            "adjudicated": sum(one.adjudicated for one in played.games),
            "faults": played.faults,
            "seconds": played.seconds,
            "network_share": played.network_share,
            "seed": self.seed,
            "pgn": self.pgn,
            "plots": list(plots),
        }

    def __repr__(self) -> str:
        rows = [f"  {row[0]:40} {row[-1]}" for row in crosstable_rows(self.played.crosstable)]
        return "\n".join([self.title, *rows, self.summary])

    def _repr_html_(self) -> str:
        tables = [html.heading(self.title), crosstable_html(self.played.crosstable), html.heading("Ratings")]
        return "".join([*tables, ratings_html(self.ratings), html.note(self.summary), html.note(self.faults_in_words)])


def tournament(
    game: Game | str,
    players: Sequence[Player | str],
    games: int = TOURNAMENT_GAMES,
    *,
    format: Literal["round-robin", "gauntlet", "swiss"] | str = "round-robin",
    rounds: int | None = None,
    openings: Openings | str | None = None,
    opening_plies: int | None = None,
    adjudicate: bool = False,
    pgn: str | None = None,
    resume: bool = False,
    threads: int | None = None,
    workers: str | None = None,
    lockstep: int | None = None,
    advantage: float | str = ADVANTAGE,
    draw: float | str = DRAW,
    prior: float | str = PRIOR,
    anchor: tuple[str, float] | str | None = None,
    seed: int = 0,
    listen: TournamentStandingListener | None = None,
) -> PlayedTournament:
    """Let players meet in pairs of games from the same openings, sides swapped, and rate them.

    `run:NAME@*5` stands for every 5th network of a run. With `pgn` the games are written while they are played, and
    `resume` goes on where that file ends. The games do not depend on threads, workers or lockstep.

    >>> found = tournament("tic_tac_toe-3x3", ["random", "greedy", "perfect"], games=6)
    >>> found.document()["games"], len(found.ratings.players)
    (18, 3)
    """
    rules = make_game(game) if isinstance(game, str) else game
    config = rating_config(advantage, draw, prior, anchor)
    source = read_openings(openings, opening_plies)
    if resume and pgn is None:
        raise ConfigError("--resume goes on with a file of games: name it, for example --pgn games.pgn --resume")
    who = chosen_workers(workers, threads, "threads", "--threads")
    made = make_players(players, rules)
    check_anchor(config, made)
    journal = None if pgn is None else Journal(pgn, resume)
    try:
        with make_workers(who) if who.name in ("processes", "ray") else nullcontext() as given:
            played = play_tournament(
                rules,
                made,
                games,
                format=cast("Format", format),
                rounds=rounds,
                openings=source,
                seed=seed,
                threads=who.count or 1,
                lockstep=lockstep,
                adjudicate=adjudicate,
                journal=journal,
                listen=None if listen is None else lambda progress: listen(TournamentStanding(progress)),
                workers=given,
            )
    except KeyboardInterrupt as stop:
        stop.add_note(how_to_resume(journal))
        raise
    finally:
        if journal is not None:
            journal.close()
    return PlayedTournament(played, rate_results(played.results, config), seed, pgn)


def make_players(given: Sequence[Player | str], game: Game) -> list[Player]:
    """The players, `run:NAME@*` being several; an error names the one that cannot be made."""
    players: list[Player] = []
    for one in given:
        try:
            players += [make_player(text, game) for text in expand([one])] if isinstance(one, str) else [one]
        except PalaestraError as error:
            raise type(error)(f"player {clip(str(one))}: {error}") from None
        if isinstance(players[-1], HumanPlayer):
            raise ConfigError("a person cannot play many games at once; try: palaestra play, or palaestra match")
    return players


def check_anchor(config: RatingConfig, players: Sequence[Player]) -> None:
    texts = [player.text for player in players]
    if config.anchor is not None and config.anchor[0] not in texts:
        known = ", ".join(texts[:6]) + (" …" if len(texts) > 6 else "")
        raise ConfigError(f"the anchor {config.anchor[0]} is not among the players; they are {known}")


def how_to_resume(journal: Journal | None) -> str:
    """What a tournament that was stopped left behind."""
    if journal is None:
        return "stopped, and the games are gone; with --pgn FILE they are kept, and --resume goes on with them"
    if not journal.count:
        return f"stopped before the first game was written to {journal.path}"
    return f"stopped: {journal.count:,} games are in {journal.path}; the same command with --resume goes on"


def tallies(table: Crosstable, order: Sequence[int]) -> list[list[list[int] | None]]:
    """Wins, draws and losses of the row's player against the column's; null for two that did not meet."""

    def tally(row: int, column: int) -> list[int] | None:
        found = table.tallies.get((row, column))
        return None if found is None else list(found)

    return [[tally(row, column) for column in order] for row in order]
