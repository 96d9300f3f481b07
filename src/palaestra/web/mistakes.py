"""How often the networks of a run err where every move is known: counted in a process of its own, and drawn."""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.lab.mistake_curves import Point, curve, moments
from palaestra.learn.oracles import LARGEST_BOARD, own_oracle
from palaestra.live.defaults import EVALUATION_SIMULATIONS
from palaestra.players.runs import open_run
from palaestra.web.charts import COLOURS, Chart, Over, banded, options, x_axis, y_axis
from palaestra.work.asked import Tell

POINTS = 6  # networks of a curve
CAPTION = (
    "Positions in which another move has a better result (win, draw, loss), with 95 % intervals; every move of these"
    " positions is solved."
)


def may_have_oracle(game: Game) -> bool:
    """Whether mistakes can be counted at all: the board is small enough to be solved."""
    _, height, width = game.observation_shape
    return game.players == 2 and height * width <= LARGEST_BOARD


def count_mistakes(game: str, folder: str, tell: Tell) -> list[Point]:
    """Mistakes of some networks of a run, at times that double; told point by point."""
    rules, run = make_game(game), open_run(folder)
    oracle = own_oracle(rules)
    at = moments(run, POINTS)
    if oracle is None or not at:
        raise ConfigError(
            f"mistakes of {run.name} cannot be counted: no oracle knows {rules.id}, or nothing is trained"
        )
    found: list[Point] = []
    reward = run.make_reward(rules)
    for point in curve(rules, run, [oracle], (0, EVALUATION_SIMULATIONS), at, {}, threads=1, reward=reward):
        found.append(point)
        tell(list(found))
    return found


def mistakes_chart(points: Sequence[Point], over: Over) -> Chart:
    """One curve for the network alone and one with search."""
    budgets = list(dict.fromkeys(rate.simulations for point in points for rate in point.rates))
    series = [
        one
        for budget, colour in zip(budgets, COLOURS, strict=False)
        for one in banded(
            f"{budget} simulations" if budget else "network alone",
            [
                [
                    round(point.minutes, 3) if over == "minutes" else float(point.iteration),
                    *(round(100 * number, 2) for number in (rate.rate, *rate.interval)),
                ]
                for point in points
                for rate in point.rates
                if rate.simulations == budget
            ],
            colour,
        )
    ]
    drawn = options(series, x_axis(over), y_axis("mistakes, %", scale=False, min=0), CAPTION)
    return Chart("mistakes", "Mistakes", CAPTION, drawn)
