"""`palaestra evaluate`: how strong a run's agent is, against fixed players and where perfect play is known."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.base.text import clip, whole_number
from palaestra.cli import complete
from palaestra.cli.mistake_curve import curve_file, curve_moments, measure_curve, point_json, print_curve, rate_json
from palaestra.cli.options import Json, RunName, Seed, StoredGame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from palaestra.arena.match import Running
    from palaestra.games.base import Game
    from palaestra.learn.oracles import ErrorRate, PositionSet
    from palaestra.players.runs import StoredRun
    from palaestra.runs.metrics import AnchorResult, Score

ANCHORS, SOLO_ANCHORS = ("random", "uct(simulations=200)"), ("random", "uct(simulations=200)", "nrpa(level=2)")
NAME = 17  # characters of a line of a player's text in tables: "simulations=1000)"


def evaluate(
    run: RunName,
    network: Annotated[str, typer.Option(help="best, last, or an iteration.")] = "best",
    simulations: Annotated[
        str, typer.Option(help="Simulations a move, several with commas; the network alone is always measured too.")
    ] = "100",
    games: Annotated[int, typer.Option(help="Games against each anchor, an even number; 0 plays none.", min=0)] = 100,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAYER",
            autocompletion=complete.players,
            help=f"An anchor; may be repeated. By default {' and '.join(ANCHORS)}, with one player nrpa too.",
            show_default=False,
        ),
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            help='Sets of scored positions: JSON {"set": [{"moves": "4453", "scores": [1, 0, null, …]}, …]}, '
            "scores by action for the mover, > 0 wins, null illegal.",
            show_default=False,
        ),
    ] = None,
    averaged: Annotated[
        bool,
        typer.Option(
            "--averaged", help="The search asks the network in every orientation of the board: stronger and slower."
        ),
    ] = False,
    reward: Annotated[
        str | None,
        typer.Option(
            help="What outcomes are worth to the search, such as primitive or 'cdf(generations=5)'; by default the "
            "run's own. A network with an outcome head follows it, too.",
            show_default=False,
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Measure earlier networks too, and draw mistakes over the run's minutes: .png or .svg.",
            show_default=False,
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=30,
            help="Of --curve, 8 by default: at the run's end, half of its time, a quarter of it…",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.", show_default=False)] = None,
    own: StoredGame = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play a run's agent against fixed players, and count its mistakes where an oracle knows every move.

    With one player all of them play from the same beginnings, and their scores stand beside each other.
    """
    from palaestra.cli.output import print_json, progress_bar, stderr
    from palaestra.learn.evaluation import play_anchors
    from palaestra.learn.oracles import error_rates
    from palaestra.players.runs import open_run

    budgets = read_budgets(simulations)
    drawn = curve_file(curve, points)
    stored = open_run(run)
    game = stored.make_game(own)
    iteration = stored.pick(network)
    model = stored.network(iteration)
    worth = stored.make_reward(game, reward)
    workers = threads or usable_cores()
    settings: dict[str, Any] = {"threads": workers, "seed": seed, "averaged": averaged, "reward": worth}
    if game.players == 1:
        if drawn is not None:
            raise ConfigError(f"--curve is for two players; palaestra report {stored.name} draws scores over time")
        chosen = tuple(against) if against else SOLO_ANCHORS
        _evaluate_solo(game, stored, iteration, model, budgets, games, chosen, positions, settings, json)
        return
    sets = position_sets(game, positions, seed)
    at = {} if drawn is None else curve_moments(stored, sets, points)
    anchors = tuple(against) if against else ANCHORS
    results: list[AnchorResult] = []
    seconds: list[float] = []  # of each match
    with stderr().status("Looking for mistakes …"):
        rates = error_rates(game, model, stored.search, sets, (0, *budgets), **settings) if sets else []
    with progress_bar() as bar:
        task = bar.add_task("", total=len(budgets) * len(anchors) * games)

        def show(anchor: str, running: Running) -> None:
            bar.update(task, completed=len(results) * games + running.finished, description=anchor)

        for budget, anchor in product(budgets if games else (), anchors):
            given, began = (game, model, stored.search, (anchor,)), time.perf_counter()
            results += play_anchors(*given, games=games, simulations=budget, listen=show, **settings)
            seconds.append(time.perf_counter() - began)
    known = {iteration: rates}
    found = [] if drawn is None else measure_curve(game, stored, sets, budgets, at, known, settings, drawn)
    if json:
        measured = {**as_json(stored, iteration, results, seconds, rates, seed), "reward": worth.text}
        print_json(measured if drawn is None else {**measured, "curve": [point_json(point) for point in found]})
    else:
        usual = reward is None and stored.reward == "default"
        print_strength(stored, iteration, results, rates, None if usual else worth.text)
        if drawn is not None:
            print_curve(found, drawn)


def _evaluate_solo(
    game: Game,
    stored: StoredRun,
    iteration: int,
    model: bytes,
    budgets: tuple[int, ...],
    games: int,
    anchors: tuple[str, ...],
    positions: str | None,
    settings: dict[str, Any],
    json: bool,
) -> None:
    """The same for one player: the scores of the agent, with every budget, and of the anchors."""
    from dataclasses import asdict

    from palaestra.cli.output import print_json, progress_bar
    from palaestra.learn.scores import play_scores

    if positions is not None or games < 1:
        what = "--positions" if positions is not None else "--games 0"
        raise ConfigError(f"{what} is for two players; {game.id} has one, and is evaluated by scores: --games 100")
    total = games * (len(budgets) + len(anchors))
    with progress_bar() as bar:
        task = bar.add_task("", total=total)
        before: dict[str, int] = {}  # player -> games of those before it

        def show(player: str, finished: int) -> None:
            done = before.setdefault(player, len(before) * games) + finished
            bar.update(task, completed=done, description=player)

        scores: list[Score] = []
        for number, budget in enumerate(budgets):
            met = anchors if number == len(budgets) - 1 else ()  # they need no more than one turn
            given = (game, model, stored.search, met)
            played = play_scores(*given, games=games, simulations=budget, listen=show, **settings)
            scores += [scored.score for scored in played]
    if not json:
        print_scores(stored, iteration, scores, settings["reward"].text)
        return
    rows = [asdict(score) for score in scores]
    print_json(
        {
            "run": str(stored.folder),
            "game": stored.game,
            "network": iteration,
            "score": rows[len(budgets) - 1],
            "scores": rows[: len(budgets)],
            "anchors": rows[len(budgets) :],
            "elo": None,
            "error_rate": None,
            "reward": settings["reward"].text,
            "seed": settings["seed"],
        }
    )


def print_scores(run: StoredRun, iteration: int, rows: Sequence[Score], reward: str | None) -> None:
    """A table for people: the scores of the agent and of the anchors, from the same beginnings."""
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout

    console = stdout()
    under = f", reward {reward}" if reward else ""
    console.print(Text(f"{run.name}, network {iteration}, on {run.game}{under}", style="bold"))
    table = Table(box=None, pad_edge=False)
    for name in ("player", "mean score", "best", "distinct"):
        table.add_column(name, no_wrap=name != "player")
    for row in rows:
        table.add_row(
            row.player,
            mean_in_words(row.mean, row.low, row.high),
            str(row.best),
            f"{row.distinct_games} of {row.games}",
        )
    console.print(table)
    console.print(Text("Intervals are 95 %. All play from the same beginnings.", style="dim"))


def mean_in_words(mean: float, low: float | None, high: float | None) -> str:
    """ "61.3 (60.1–62.5)"; a single game has no interval."""
    return f"{mean:.1f}" if low is None or high is None else f"{mean:.1f} ({low:.1f}–{high:.1f})"


def read_budgets(text: str) -> tuple[int, ...]:
    """Numbers of simulations from "100,600"."""
    numbers = [whole_number(word.strip()) or 0 for word in text.split(",")]
    if not all(0 < number <= 10_000_000 for number in numbers):
        raise ConfigError(
            f"--simulations is {clip(text)}; give positive whole numbers with commas, for example 100,600"
        )
    return tuple(dict.fromkeys(numbers))


def position_sets(game: Game, file: str | Path | None, seed: int) -> list[PositionSet]:
    """The sets of a file, or the game's own oracle where it has one."""
    from palaestra.learn.oracles import own_oracle, read_positions

    if file is not None:
        return read_positions(file, game)
    own = own_oracle(game, seed)
    return [] if own is None else [own]


def as_json(
    run: StoredRun,
    iteration: int,
    results: list[AnchorResult],
    seconds: list[float],
    rates: list[ErrorRate],
    seed: int,
) -> dict[str, Any]:
    """The JSON document; an infinite Elo is null.

    `error_rate` is over all positions with the most simulations, null without an oracle; `error_rates` has every set.
    """
    from dataclasses import asdict

    from palaestra.learn.evaluation import elo_above_random

    return {
        "run": str(run.folder),
        "game": run.game,
        "network": iteration,
        "against": [{**asdict(result), "seconds": took} for result, took in zip(results, seconds, strict=True)],
        "elo": elo_above_random(results),
        "error_rate": overall_rate(rates),
        "error_rates": [rate_json(rate) for rate in rates],
        "seed": seed,
    }


def overall_rate(rates: list[ErrorRate]) -> float | None:
    """Mistakes per position with the most simulations, all sets together; None without a set."""
    most = max((rate.simulations for rate in rates), default=0)
    counted = [rate for rate in rates if rate.simulations == most]
    return sum(rate.mistakes for rate in counted) / sum(rate.positions for rate in counted) if counted else None


def print_strength(
    run: StoredRun,
    iteration: int,
    results: Sequence[AnchorResult],
    rates: list[ErrorRate],
    reward: str | None = None,
) -> None:
    """Two tables for people, matches and mistakes; above them what was judged, under which reward if that is told."""
    from itertools import groupby

    from rich.table import Table
    from rich.text import Text

    from palaestra.arena.statistics import elo_in_words
    from palaestra.cli.output import at_words, stdout
    from palaestra.live.words import percent, score_in_words

    console = stdout()
    under = f", reward {reward}" if reward else ""
    console.print(Text(f"{run.name}, network {iteration}, on {run.game}{under}", style="bold"))
    for simulations, met in groupby(results, lambda result: result.simulations):
        table = Table(box=None, pad_edge=False)
        table.add_column(f"with {simulations} sims")
        for name in ("score", "+ = −", "Elo difference", "distinct"):
            table.add_column(name, no_wrap=True)
        for result in met:
            tally = f"{result.wins} {result.draws} {result.losses}"
            games = f"{result.distinct_games} of {result.games}"
            table.add_row(
                Text(at_words(result.anchor, NAME)),
                score_in_words(result.score, result.interval),
                tally,
                elo_in_words(result.elo),
                games,
            )
        console.print(table)
    if rates:
        table = Table(box=None, pad_edge=False)
        for name in ("mistakes on", "sims", "error rate", "mistakes", "possible"):
            table.add_column(name, no_wrap=name != "mistakes on")
        for rate in rates:
            table.add_row(
                rate.positions_of,
                str(rate.simulations or "net alone"),
                percent(rate.rate),
                f"{rate.mistakes} of {rate.positions}",
                str(rate.fallible),
            )
        console.print(table)
    words = "Intervals are 95 %. A mistake: another move has a better result (win, draw, loss)."
    console.print(Text(words if rates else f"Intervals are 95 %. No oracle knows {run.game}.", style="dim"))
