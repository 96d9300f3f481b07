"""One network, many boards: rNcM beside bNcM, starts from a smaller board and mixed sizes, several games in one run.

What the thesis names as its outlook: curricula, and several tasks at once. All runs have the preset fast on one thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.jobs import Call, Job, Store, Train
from palaestra.lab.measures import Tournament, play_pairing
from palaestra.lab.statistics import Estimate, elo_by_arm, mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.lab.plan import Plan

PRESET = "fast"
QUIET = ("evaluation.every=0", "evaluation.anchors=[]")
TINY = ("selfplay.games=2", "selfplay.search.simulations=2")
ALIKE = 30.0  # Elo: a difference below it is small
ONE_BOARD, EVERY_BOARD = "b3c32", "r3c32"
MOMENT = 0.001  # minutes of a run at the scale smoke


# rNcM beside bNcM.

BOARDS = ("connect_four-5x5", "connect_four-6x7")


def _elos(data: Data, game: str) -> dict[str, Float64s]:
    some = data.where(game=game)
    return elo_by_arm(some) if len(some) else {}


def _family_lead(data: Data, game: str) -> Estimate:
    elos = _elos(data, game)
    if not {ONE_BOARD, EVERY_BOARD} <= elos.keys():
        return Estimate(math.nan)
    return paired_difference(elos[EVERY_BOARD], elos[ONE_BOARD])


def _as_strong(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.within(_family_lead(data, game), ALIKE, f"Elo, {EVERY_BOARD} minus {ONE_BOARD}")

    return Claim(f"a network for every board is as strong as one for its own at {game} (± 30 Elo)", check, ours=True)


def _family_table(data: Data) -> Table:
    rows = []
    for game in data.texts("game"):
        elos, lead = _elos(data, game), str(_family_lead(data, game))
        rows.append((game, *(str(mean(elos[name])) for name in (EVERY_BOARD, ONE_BOARD)), lead))
    return Table(("game", EVERY_BOARD, ONE_BOARD, f"Elo, {EVERY_BOARD} minus {ONE_BOARD} (95 %)"), tuple(rows))


def _draw_families(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels = {
        game: {name: {"here": mean(elos)} for name, elos in sorted(_elos(data, game).items()) if name != "random"}
        for game in data.texts("game")
    }
    return estimates_figure(panels, "Elo, mean of all players 0", span=ELO_SPAN)


# Elo over minutes, from nothing, from a smaller board, and mixed.

NOTHING, SMALLER, MIXED = "from nothing", "from a smaller board", "mixed sizes"
FIRST = "smaller board"  # the runs that others start from
SIZES = {"othello-8x8": "othello-6x6", "hex-7x7": "hex-6x6", "gobang-9x9-5": "gobang-7x7-5"}
SMOKE_SIZES = {
    "othello-8x8": "othello-6x6", "othello-6x6": "othello-4x4", "hex-7x7": "hex-4x4", "hex-6x6": "hex-3x3",
    "gobang-9x9-5": "gobang-6x6-5", "gobang-7x7-5": "gobang-5x5-5",
}  # fmt: skip
SHARES = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)  # of a run's minutes at which its network is looked at
FIRST_MINUTES = 3.0
SHORT = "selfplay.games=50"  # an iteration of Othello 8×8 with 200 games takes an eighth of the laptop's minutes


def _course(game: str) -> str:
    return f'course.games=["{game}"]'


def _arms(game: str, smaller: str) -> tuple[Arm, ...]:
    sets = (f"net={EVERY_BOARD}", *QUIET, SHORT)
    first = Arm(FIRST, smaller, (*sets, f"minutes={FIRST_MINUTES}"))
    return Arm(NOTHING, game, sets), Arm(SMALLER, game, sets, after=first), Arm(MIXED, game, (*sets, _course(smaller)))


def meet_reference(
    game: str, games: int, simulations: int, of_minutes: float, seed: int, runs: Sequence[Path] = ()
) -> Iterable[Row]:
    """A row for each of SHARES: the network that the first run then had, against the last one of the second run."""
    from palaestra.arena.statistics import elo_of
    from palaestra.games.registry import make_game
    from palaestra.lab.matches import Match, final_agent, match_row, play_matches
    from palaestra.players.runs import open_run

    rules, run = make_game(game), open_run(str(runs[0]))
    elapsed = {line.iteration: line.elapsed / 60 for line in run.home.metrics(run.manifest)}
    there = [0, *(number for number in run.checkpoints if number)]
    at = [
        max(number for number in there if elapsed.get(number, 0.0) <= share * of_minutes or not number)
        for share in SHARES
    ]
    at[-1] = run.best
    players = [final_agent(rules, runs[0], f"network {number}", simulations, number) for number in at]
    players.append(final_agent(rules, runs[1], "reference", simulations))
    matches = [Match(place, len(at), games, 1000 * seed + place) for place in range(len(at))]
    rows = {place: match_row(match) for place, match in play_matches(rules, players, matches)}
    for place, share in enumerate(SHARES):
        wins, draws = (int(rows[place][name] or 0) for name in ("wins", "draws"))
        score = (wins + draws / 2 + 0.5) / (games + 1)  # half a game of each kind more: no Elo is infinite
        yield {
            "share": share,
            "at_minute": share * of_minutes,
            "iteration": at[place],
            **rows[place],
            "elo": elo_of(score),
        }


@dataclass(frozen=True)
class OverMinutes:
    """Elo over minutes: the networks of every run against the last one of its seed's run from nothing."""

    name: str = "minutes"
    trains = True

    def jobs(self, plan: Plan) -> Sequence[Job]:
        return [self._job(plan, arm, seed) for arm, seed in plan.each()]

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for arm, seed in plan.each():
            for row in store.rows(self._job(plan, arm, seed)):
                yield {"game": arm.game, "arm": arm.name, "seed": seed, **row}

    def _job(self, plan: Plan, arm: Arm, seed: int) -> Call:
        own, reference = (
            plan.run(PRESET, one, seed)
            for one in (arm, next(o for o in plan.arms if (o.game, o.name) == (arm.game, NOTHING)))
        )
        arguments: dict[str, Value] = {
            "game": arm.game, "games": plan.number("games"), "simulations": plan.number("simulations"),
            "of_minutes": plan.values["minutes"], "seed": seed,
        }  # fmt: skip
        return Call(meet_reference, arguments, (own, reference))


def minutes_needed(data: Data, arm: str) -> Float64s:
    """float64[S]: when the runs of an arm are as strong as one from nothing is in the end; at their end if never.

    Between two moments Elo is taken to rise on a line.
    """
    at, elos = data.where(arm=arm).curve("elo", "at_minute")
    needed = []
    for curve in elos:
        above = np.flatnonzero(curve >= 0.0)
        k = int(above[0]) if above.size else len(at) - 1
        back = (at[k] - at[k - 1]) * curve[k] / (curve[k] - curve[k - 1]) if above.size and k else 0.0
        needed.append(float(at[k] - back))
    return np.array(needed)


def minutes_saved(data: Data, arm: str) -> Estimate:
    """How much sooner an arm is as strong as a run from nothing is in the end, seed by seed."""
    return paired_difference(minutes_needed(data, NOTHING), minutes_needed(data, arm))


def _at_half(data: Data, game: str, arm: str) -> Float64s:
    return data.where(game=game, arm=arm, share=0.5).per_seed("elo")


def _sooner(game: str, arm: str) -> Claim:
    def check(data: Data) -> Verdict:
        lead = paired_difference(_at_half(data, game, arm), _at_half(data, game, NOTHING))
        return Verdict.above(lead, 0.0, f"Elo at half of the minutes, {arm} minus {NOTHING}")

    return Claim(f"{arm} is stronger than {NOTHING} at half of the time, {game}", check, ours=True)


def _saves(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        saved = minutes_saved(data.where(game=game), SMALLER)
        return Verdict.above(saved, 0.0, "minutes saved by a start from a smaller board")

    return Claim(f"a start from a smaller board saves minutes at {game}", check, ours=True)


def _minutes_table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        for arm, own in some.by("arm").items():
            elos = [str(mean(own.where(share=share).per_seed("elo"))) for share in (0.0, 0.25, 0.5, 1.0)]
            rows.append((game, arm, *elos, str(minutes_saved(some, arm))))
    heads = ("game", "run", "Elo at 0", "at ¼ of the minutes", "at ½", "at the end", "minutes saved (95 %)")
    return Table(heads, tuple(rows))


def _draw_minutes(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, curves_figure

    panels = {
        game: {arm: own.curve("elo", "at_minute") for arm, own in some.by("arm").items()}
        for game, some in data.by("game").items()
    }
    return curves_figure(panels, "minutes", "Elo above the last network from nothing", span=ELO_SPAN)


# Several games in one run.

ALONE, TOGETHER = "alone", "together"
SHARED_GAMES = ("othello-6x6", "hex-6x6", "gobang-6x6")
ALONE_MINUTES = 3.0
TOGETHER_MINUTES = ALONE_MINUTES * len(SHARED_GAMES)


@dataclass(frozen=True)
class TogetherAgainstAlone:
    """At every game, the final network of the run of all games against that of the game's own run, seed by seed."""

    name: str = "match"
    trains = True

    def jobs(self, plan: Plan) -> Sequence[Job]:
        return [job for _, job in self._meetings(plan)]

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for who, job in self._meetings(plan):
            yield {**who, **store.rows(job)[0]}

    def _meetings(self, plan: Plan) -> Iterator[tuple[Row, Call]]:
        joint = [arm for arm in plan.arms if arm.name == TOGETHER]
        for arm, seed in plan.each():
            if arm.name != ALONE or not joint:
                continue
            arguments: dict[str, Value] = {
                "game": arm.game, "a": TOGETHER, "b": ALONE, "networks": "ab", "games": plan.number("games"),
                "simulations": plan.number("simulations"), "seed": seed,
            }  # fmt: skip
            needs: tuple[Train, ...] = (plan.run(PRESET, joint[0], seed), plan.run(PRESET, arm, seed))
            who: Row = {"game": arm.game, "arm": TOGETHER, "seed": seed, "opponent": ALONE, "opponent_seed": seed}
            yield who, Call(play_pairing, arguments, needs)


def together_elo(data: Data, game: str) -> Float64s:
    """float64[S]: Elo of the network of all games above the one of this game alone."""
    from palaestra.arena.statistics import elo_of

    rows = data.where(game=game)
    wins, draws, losses = (rows.numbers(name) for name in ("wins", "draws", "losses"))
    return np.array([elo_of(float(s)) for s in (wins + draws / 2 + 0.5) / (wins + draws + losses + 1)])


def _not_harmed(game: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.above(mean(together_elo(data, game)), -ALIKE, f"Elo, {TOGETHER} minus {ALONE}")

    return Claim(f"learning three games in one run does not harm {game} (by 30 Elo)", check, ours=True)


def _together_table(data: Data) -> Table:
    rows = [
        (game, f"{some.total('wins'):.0f} {some.total('draws'):.0f} {some.total('losses'):.0f}",
         str(mean(together_elo(data, game))))
        for game, some in data.by("game").items()
    ]  # fmt: skip
    return Table(("game", "wins, draws, losses", f"Elo, {TOGETHER} minus {ALONE} (95 %)"), tuple(rows))


def _draw_together(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    lines = {game: {"here": mean(together_elo(data, game))} for game in data.texts("game")}
    return estimates_figure({f"{TOGETHER} minus {ALONE}": lines}, "Elo", level=0, span=ELO_SPAN)


def _ended(minutes: float) -> str:
    return f"minutes={minutes}"


EXPERIMENTS = (
    Experiment(
        identity=Identity("every-board", OURS, "Networks", "a network for every board beside one for its own"),
        arms=tuple(Arm(net, game, (f"net={net}", *QUIET)) for game in BOARDS for net in (EVERY_BOARD, ONE_BOARD)),
        scales=Scales(
            smoke=Scale(
                "one seed, a moment of training", 1, {"minutes": MOMENT, "games": 2, "simulations": 2}, TINY,
                boards={"connect_four-5x5": "connect_four-4x4", "connect_four-6x7": "connect_four-4x5"},
                instead={f"net={EVERY_BOARD}": "net=r1c8", f"net={ONE_BOARD}": "net=b1c8"},
            ),
            laptop=Scale(NO_DEPARTURE, 5, {"minutes": 3.0, "games": 20, "simulations": 50}),
            paper=Scale(NO_DEPARTURE, 5, {"minutes": 10.0, "games": 20, "simulations": 100}),
        ),
        measures=(Tournament(PRESET),),
        claims=tuple(_as_strong(game) for game in BOARDS),
        table=_family_table,
        draw=_draw_families,
    ),
    Experiment(
        identity=Identity("board-start", OURS, "Starts", "Elo over minutes from nothing, a smaller board, mixed sizes"),
        arms=tuple(arm for game, smaller in SIZES.items() for arm in _arms(game, smaller)),
        scales=Scales(
            smoke=Scale(
                "one seed, a moment of training, smaller boards", 1,
                {"minutes": MOMENT, "games": 2, "simulations": 2}, TINY, boards=SMOKE_SIZES,
                instead={
                    f"net={EVERY_BOARD}": "net=r1c8", _ended(FIRST_MINUTES): _ended(MOMENT), SHORT: TINY[0],
                    **{_course(small): _course(SMOKE_SIZES[small]) for small in SIZES.values()},
                },
            ),
            laptop=Scale(NO_DEPARTURE, 3, {"minutes": 5.0, "games": 30, "simulations": 32}),
            paper=Scale(NO_DEPARTURE, 5, {"minutes": 30.0, "games": 100, "simulations": 100}),
        ),
        measures=(OverMinutes(),),
        claims=(
            *(_sooner(game, arm) for game in SIZES for arm in (SMALLER, MIXED)),
            *(_saves(game) for game in SIZES),
        ),
        table=_minutes_table,
        draw=_draw_minutes,
        reading=f"runs on smaller boards have {FIRST_MINUTES:g} minutes, which are not counted in those that are saved",
    ),
    Experiment(
        identity=Identity("several-games", OURS, "Several games", "three games in one run against one run each"),
        arms=(
            *(Arm(ALONE, game, (f"net={EVERY_BOARD}", *QUIET, _ended(ALONE_MINUTES))) for game in SHARED_GAMES),
            Arm(
                TOGETHER, SHARED_GAMES[0],
                (f"net={EVERY_BOARD}", *QUIET, _ended(TOGETHER_MINUTES),
                 f'course.games=["{SHARED_GAMES[1]}", "{SHARED_GAMES[2]}"]'),
            ),
        ),
        scales=Scales(
            smoke=Scale(
                "one seed, a moment of training", 1, {"games": 2, "simulations": 2}, TINY,
                instead={
                    f"net={EVERY_BOARD}": "net=r1c8", _ended(ALONE_MINUTES): _ended(MOMENT),
                    _ended(TOGETHER_MINUTES): _ended(MOMENT),
                },
            ),
            laptop=Scale(NO_DEPARTURE, 3, {"games": 100, "simulations": 50}),
            paper=Scale(
                NO_DEPARTURE, 5, {"games": 200, "simulations": 100},
                instead={_ended(ALONE_MINUTES): _ended(20.0), _ended(TOGETHER_MINUTES): _ended(60.0)},
            ),
        ),
        measures=(TogetherAgainstAlone(),),
        claims=tuple(_not_harmed(game) for game in SHARED_GAMES),
        table=_together_table,
        draw=_draw_together,
        reading="the run of all games has as many minutes as the others together",
    ),
)  # fmt: skip
