"""How strong a run's agent is: matches against fixed players, mistakes where perfect play is known, scores alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from palaestra.arena.anchors import ANCHORS, SOLO_ANCHORS
from palaestra.arena.match import Running
from palaestra.arena.statistics import elo_in_words
from palaestra.arena.tournament import Progress
from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
from palaestra.games.registry import text_of
from palaestra.lab.mistake_curves import Point, curve, moments
from palaestra.lab.strength_curves import Rated, elo_curve
from palaestra.learn.evaluation import elo_above_random, play_anchors
from palaestra.learn.oracles import ErrorRate, PositionSet, error_rates, late_sample, own_oracle, read_positions
from palaestra.learn.scores import play_scores
from palaestra.live import html
from palaestra.live.defaults import CURVE_POINTS, EVALUATION_GAMES, EVALUATION_SIMULATIONS
from palaestra.live.run import Run
from palaestra.live.words import mean_in_words, percent, score_in_words
from palaestra.players.runs import StoredRun, make_agent, open_run, playing_search
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import AnchorResult, Elo, Score

SCORE_NOTE = "Intervals are 95 %. All play from the same beginnings."
MISTAKE_NOTE = "Intervals are 95 %. A mistake: another move has a better result (win, draw, loss)."
LOST_NOTE = "Given away: how much of the outcome, such as discs, on average over all positions."


class EvaluationDocument(TypedDict):
    """An evaluation as JSON; an infinite Elo is null. Games for one player have scores in place of matches.

    `error_rate` is over all positions with the most simulations, null without an oracle; `error_rates` has every set.
    """

    run: str
    game: str
    network: int
    elo: Elo | None
    error_rate: float | None
    reward: str
    seed: int
    against: NotRequired[list[dict[str, Any]]]
    error_rates: NotRequired[list[dict[str, Any]]]
    curve: NotRequired[list[dict[str, Any]]]
    elo_curve: NotRequired[list[dict[str, Any]]]
    score: NotRequired[dict[str, Any]]
    scores: NotRequired[list[dict[str, Any]]]
    anchors: NotRequired[list[dict[str, Any]]]


@dataclass(frozen=True)
class EvaluatedRun:
    """What was measured about one network of a run."""

    run: StoredRun
    game: str  # the id of the game that was played: the run's own, or another that its network plays
    iteration: int
    reward: str
    seed: int
    own_reward: bool = True  # whether it is the game's usual one
    against: Sequence[AnchorResult] = ()
    seconds: Sequence[float] = ()  # of each match
    rates: Sequence[ErrorRate] = ()
    curve: Sequence[Point] | None = None  # mistakes over the run's minutes, if they were asked for
    scores: Sequence[Score] = ()  # of one player, with every number of simulations
    anchor_scores: Sequence[Score] = ()
    elo_curve: Sequence[Rated] | None = None  # Elo over the run's minutes, if it was asked for

    @property
    def title(self) -> str:
        return judged_in_words(self.run, self.game, self.iteration, None if self.own_reward else self.reward)

    @property
    def elo(self) -> Elo | None:
        """On the scale where random play is 0; None if it was not met."""
        return elo_above_random(self.against)

    @property
    def error_rate(self) -> float | None:
        return overall_rate(self.rates)

    def document(self) -> EvaluationDocument:
        """The evaluation as JSON."""
        found: EvaluationDocument = {
            "run": str(self.run.folder),
            "game": self.game,
            "network": self.iteration,
            "elo": self.elo,
            "error_rate": self.error_rate,
            "reward": self.reward,
            "seed": self.seed,
        }
        if self.scores:
            found["score"] = asdict(self.scores[-1])
            found["scores"] = [asdict(score) for score in self.scores]
            found["anchors"] = [asdict(score) for score in self.anchor_scores]
            return found
        matches = zip(self.against, self.seconds, strict=True)
        found["against"] = [{**asdict(result), "seconds": took} for result, took in matches]
        found["error_rates"] = [rate_document(rate) for rate in self.rates]
        if self.curve is not None:
            found["curve"] = [point_document(point) for point in self.curve]
        if self.elo_curve is not None:
            found["elo_curve"] = [asdict(rated) for rated in self.elo_curve]
        return found

    def __repr__(self) -> str:
        lines = [f"  {' | '.join(row)}" for _, rows in self._tables() for row in rows]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        note = SCORE_NOTE if self.scores else mistake_note(self.rates)
        tables = "".join(html.table(titles, rows) for titles, rows in self._tables() if rows)
        return html.heading(self.title) + tables + html.note(note)

    def _tables(self) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """Titles and rows of each table."""
        if self.scores:
            return [(SCORE_TITLES, score_rows([*self.scores, *self.anchor_scores]))]
        matches = [
            (f"{row[0]} ({one.simulations} sims)", *row[1:]) for one in self.against for row in match_rows([one])
        ]
        return [(("against", *MATCH_TITLES), matches), rate_table(self.rates)]


MATCH_TITLES = ("score", "+ = −", "Elo difference", "distinct")
RATE_TITLES = ("mistakes on", "sims", "error rate", "mistakes", "possible")
LOST_TITLE = "given away"
SCORE_TITLES = ("player", "mean score", "best", "distinct")


def match_rows(results: Sequence[AnchorResult]) -> list[tuple[str, ...]]:
    """The anchor, then what MATCH_TITLES name."""
    return [
        (
            result.anchor,
            score_in_words(result.score, result.interval),
            f"{result.wins} {result.draws} {result.losses}",
            elo_in_words(result.elo),
            f"{result.distinct_games} of {result.games}",
        )
        for result in results
    ]


def rate_table(rates: Sequence[ErrorRate]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Titles and rows; what was given away where a set knows it."""
    if all(rate.lost is None for rate in rates):
        return RATE_TITLES, _rate_rows(rates)
    lost = ["" if rate.lost is None else f"{rate.lost:.2f}" for rate in rates]
    return (*RATE_TITLES, LOST_TITLE), [(*row, cell) for row, cell in zip(_rate_rows(rates), lost, strict=True)]


def mistake_note(rates: Sequence[ErrorRate]) -> str:
    return MISTAKE_NOTE + ("" if all(rate.lost is None for rate in rates) else f" {LOST_NOTE}")


def _rate_rows(rates: Sequence[ErrorRate]) -> list[tuple[str, ...]]:
    return [
        (
            rate.positions_of,
            str(rate.simulations or "net alone"),
            percent(rate.rate),
            f"{rate.mistakes} of {rate.positions}",
            str(rate.fallible),
        )
        for rate in rates
    ]


def score_rows(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    return [
        (
            score.player,
            mean_in_words(score.mean, score.low, score.high),
            str(score.best),
            f"{score.distinct_games} of {score.games}",
        )
        for score in scores
    ]


def judged_in_words(run: StoredRun, game: str, iteration: int, reward: str | None) -> str:
    """Which network was judged, under which reward if that is told."""
    return f"{run.name}, network {iteration}, on {game}" + (f", reward {reward}" if reward else "")


def rate_document(rate: ErrorRate) -> dict[str, Any]:
    counts = asdict(rate)
    counts["telling"] = counts.pop("fallible")
    return {**counts, "error_rate": rate.rate, "interval": rate.interval}


def point_document(point: Point) -> dict[str, Any]:
    rates = [rate_document(rate) for rate in point.rates]
    return {"network": point.iteration, "minutes": point.minutes, "error_rates": rates}


def overall_rate(rates: Sequence[ErrorRate]) -> float | None:
    """Mistakes per position with the most simulations, all sets together; None without a set."""
    most = max((rate.simulations for rate in rates), default=0)
    counted = [rate for rate in rates if rate.simulations == most]
    return sum(rate.mistakes for rate in counted) / sum(rate.positions for rate in counted) if counted else None


EvaluationListener = Callable[[str, int, int], None]  # what is played or measured now, how much is done, of how much


@dataclass(frozen=True)
class _Task:
    """What an evaluation needs wherever it looks."""

    game: Game
    run: StoredRun
    iteration: int
    model: bytes
    budgets: tuple[int, ...]
    settings: dict[str, Any]  # threads, seed, averaged, reward
    listen: EvaluationListener


def evaluate(
    run: str | Path | Run,
    network: str | int = "best",
    *,
    simulations: int | Sequence[int] = EVALUATION_SIMULATIONS,
    games: int = EVALUATION_GAMES,
    against: Sequence[str] | None = None,
    positions: str | Path | None = None,
    late: int = 0,
    averaged: bool = False,
    reward: str | None = None,
    curve_points: int | None = None,
    elo_points: int | None = None,
    threads: int | None = None,
    game: Game | str | None = None,
    seed: int = 0,
    listen: EvaluationListener | None = None,
) -> EvaluatedRun:
    """Play a run's agent against fixed players, and count its mistakes where an oracle knows every move.

    `simulations` may be several numbers; the network alone is always measured for mistakes, too. `positions` is a file
    of scored positions; `late` adds so many near the end of random games, which a solver judges on any board.
    `curve_points` measures mistakes of so many earlier networks as well; `elo_points` lets so many
    meet each other and the anchors in a tournament, `games` a pairing. With one player all play from the
    same beginnings, and their scores stand beside each other. `game` names rules that are code of one's own, or another
    game that the run's networks play.
    """
    budgets = (simulations,) if isinstance(simulations, int) else tuple(simulations)
    stored = run.stored if isinstance(run, Run) else open_run(str(run))
    rules = stored.make_game(text_of(game) if isinstance(game, Game) else game)
    iteration = stored.pick(str(network))
    worth: Reward = stored.make_reward(rules, reward)
    settings: dict[str, Any] = {
        "threads": threads or usable_cores(), "seed": seed, "averaged": averaged, "reward": worth,
    }  # fmt: skip
    heard = listen or (lambda what, done, total: None)
    task = _Task(rules, stored, iteration, stored.network(iteration), budgets, settings, heard)
    usual = reward is None and stored.reward == "default"
    if rules.players == 1:
        if curve_points is not None or elo_points is not None:
            raise ConfigError(f"a curve is for two players; palaestra report {stored.name} draws scores over time")
        if late:
            raise ConfigError(f"--late is for two players; {rules.id} has one, and is evaluated by scores")
        own, others = _scores(task, games, tuple(against or SOLO_ANCHORS), positions)
        return EvaluatedRun(stored, rules.id, iteration, worth.text, seed, usual, scores=own, anchor_scores=others)
    heard("solving positions", 0, 0)
    sets = position_sets(rules, positions, seed, late)
    at = None if curve_points is None else curve_moments(stored, sets, curve_points)
    met = None if elo_points is None else elo_moments(stored, games, elo_points)
    heard("mistakes", 0, 0)
    rates = error_rates(rules, task.model, stored.search, sets, (0, *budgets), **settings) if sets else []
    anchors = tuple(against or ANCHORS)
    results, seconds = _matches(task, 0 if met else games, anchors)  # a tournament has these matches, too
    drawn = None if at is None else _curve(task, sets, at, rates)
    rated = None if met is None else _elo_curve(task, games, anchors, met)
    return EvaluatedRun(
        stored, rules.id, iteration, worth.text, seed, usual, results, seconds, rates, drawn, elo_curve=rated
    )


def _matches(task: _Task, games: int, anchors: tuple[str, ...]) -> tuple[list[AnchorResult], list[float]]:
    """The results against each anchor with each number of simulations, and how long they took."""
    results: list[AnchorResult] = []
    seconds: list[float] = []
    total = len(task.budgets) * len(anchors) * games

    def show(anchor: str, running: Running) -> None:
        task.listen(anchor, len(results) * games + running.finished, total)

    for budget, anchor in product(task.budgets if games else (), anchors):
        given, began = (task.game, task.model, task.run.search, (anchor,)), time.perf_counter()
        results += play_anchors(*given, games=games, simulations=budget, listen=show, **task.settings)
        seconds.append(time.perf_counter() - began)
    return results, seconds


def _scores(
    task: _Task, games: int, anchors: tuple[str, ...], positions: str | Path | None
) -> tuple[list[Score], list[Score]]:
    """With one player: the scores of the agent, with every budget, and of the anchors."""
    if positions is not None or games < 1:
        what = "--positions" if positions is not None else "--games 0"
        raise ConfigError(f"{what} is for two players; {task.game.id} has one, and is evaluated by scores: --games 100")
    total = games * (len(task.budgets) + len(anchors))
    before: dict[str, int] = {}  # player -> games of those before it

    def show(player: str, finished: int) -> None:
        task.listen(player, before.setdefault(player, len(before) * games) + finished, total)

    scores: list[Score] = []
    for number, budget in enumerate(task.budgets):
        met = anchors if number == len(task.budgets) - 1 else ()  # they need no more than one turn
        given = (task.game, task.model, task.run.search, met)
        played = play_scores(*given, games=games, simulations=budget, listen=show, **task.settings)
        scores += [scored.score for scored in played]
    return scores[: len(task.budgets)], scores[len(task.budgets) :]


def _curve(task: _Task, sets: Sequence[PositionSet], at: dict[int, float], rates: Sequence[ErrorRate]) -> list[Point]:
    """Mistakes of the networks at these moments of the run."""
    found: list[Point] = []
    known = {task.iteration: rates}
    for point in curve(task.game, task.run, sets, (0, *task.budgets), at, known, **task.settings):
        found.append(point)
        task.listen("mistakes over minutes", len(found), len(at))
    return found


def _elo_curve(task: _Task, games: int, anchors: tuple[str, ...], at: dict[int, float]) -> list[Rated]:
    """Elo of the networks at these moments of the run, among themselves and the anchors."""
    budget, settings = task.budgets[-1], task.settings
    search = playing_search(task.run.search, budget)
    agents = {
        iteration: make_agent(
            task.game, f"network {iteration}", task.run.network(iteration), search, settings["averaged"],
            reward=settings["reward"],
        )
        for iteration in at
    }  # fmt: skip

    def show(progress: Progress) -> None:
        task.listen("Elo over minutes", progress.finished, progress.total)

    given = task.game, agents, at, anchors, games
    return elo_curve(*given, seed=settings["seed"], threads=settings["threads"], listen=show)


def position_sets(game: Game, file: str | Path | None, seed: int, late: int = 0) -> list[PositionSet]:
    """The sets of a file, or the game's own oracle where it has one; and so many late positions."""
    if file is not None:
        sets = read_positions(file, game)
    else:
        sets = [own] if (own := own_oracle(game, seed)) is not None else []
    if not late:
        return sets
    if (solved := late_sample(game, late, seed)) is None:
        raise ConfigError(f"--late solves positions of compiled rules; those of {game.id} are not")
    return [*sets, solved]


def curve_moments(run: StoredRun, sets: Sequence[PositionSet], points: int = CURVE_POINTS) -> dict[int, float]:
    """Iteration -> minutes of the networks of a curve; ConfigError if it would be empty."""
    if not sets:
        raise ConfigError(
            f"--curve draws mistakes, and no oracle knows {run.game}: give --late 200, or a file with --positions"
        )
    return _trained(run, points)


def elo_moments(run: StoredRun, games: int, points: int = CURVE_POINTS) -> dict[int, float]:
    """The same of a curve of Elo, which is found by playing."""
    if not games:
        raise ConfigError("a curve of Elo comes from games: --games 20, for example, of each pairing")
    return _trained(run, points)


def _trained(run: StoredRun, points: int) -> dict[int, float]:
    at = moments(run, points)
    if not at:
        raise ConfigError(f"run {run.name} has no trained network yet, and a curve would be empty")
    return at
