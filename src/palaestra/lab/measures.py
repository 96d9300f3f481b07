"""What experiments measure: curves of runs, final networks in tournaments and matches, matches of players, calls.

Every measure turns arms and seeds into jobs, and their results into tidy rows. None knows a particular experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from palaestra.lab.data import Row, Value, float_of
from palaestra.lab.experiment import Arm
from palaestra.lab.jobs import Batch, Call, Given, Job, Store, Train, Until
from palaestra.lab.matches import Match, final_agent, match_row, play_matches

if TYPE_CHECKING:
    from palaestra.lab.plan import Plan
    from palaestra.players.base import Player
    from palaestra.runs.metrics import Lines

Entrant = tuple[str, int | None, Train | None]  # its name, its seed, and its run, or None for a player's text


@dataclass(frozen=True)
class Curves:
    """A run for every arm and seed; `read` turns the lines of its iterations into rows.

    The scale's values `iterations` or `minutes` end the runs; with `until`, the first line that it accepts does.
    """

    preset: str
    read: Callable[[Lines], Iterable[Row]]
    until: Until | None = None
    name: str = "curve"
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        return (self.job(plan, arm, seed) for arm, seed in plan.each())

    def job(self, plan: Plan, arm: Arm, seed: int) -> Train:
        return plan.run(self.preset, arm, seed, self.until)

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for arm, seed in plan.each():
            for row in self.read(store.lines(self.job(plan, arm, seed))):
                yield {"game": arm.game, "arm": arm.name, "seed": seed, **row}


def all_values(plan: Plan) -> Mapping[str, Value]:
    """What `Calls` gives its function beside game, seed and the arm's values, unless told otherwise."""
    return plan.values


@dataclass(frozen=True)
class Calls:
    """A function for every arm and seed: called with game, seed, the arm's values and those of the scale.

    With a preset, it looks at the finished run of its arm and seed, whose folder is `runs[0]`. `trial` are numbers that
    make the same call a short one: its time is measured, and those of large calls follow by the ratio of the numbers.
    """

    function: Callable[..., Iterable[Row]]
    trial: Mapping[str, float] = field(default_factory=dict)
    arguments: Callable[[Plan], Mapping[str, Value]] = all_values
    preset: str | None = None
    name: str = "call"

    @property
    def trains(self) -> bool:
        return self.preset is not None

    def jobs(self, plan: Plan) -> Iterable[Job]:
        return (self.job(plan, arm, seed) for arm, seed in plan.each())

    def job(self, plan: Plan, arm: Arm, seed: int) -> Call:
        arguments = {"game": arm.game, "seed": seed, **self.arguments(plan), **arm.values}
        needs = () if self.preset is None else (plan.run(self.preset, arm, seed),)
        units = math.prod(float_of(arguments[name]) / number for name, number in self.trial.items())
        trial = Call(self.function, {**arguments, **self.trial}) if self.trial else None
        return Call(self.function, arguments, needs, units, trial)

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for arm, seed in plan.each():
            for row in store.rows(self.job(plan, arm, seed)):
                yield {"game": arm.game, "arm": arm.name, "seed": seed, **row}


def _nothing(arm: Arm) -> str:
    return ""


@dataclass(frozen=True)
class Tournament:
    """The final networks of all arms and seeds of a game, and `others`, meet each other, all at once: a job a pairing.

    The scale's value `games` is the number of games of a pairing, `simulations` the search of the networks. A row is a
    pairing, with wins, draws and losses of `arm` and `seed` over `opponent` and `opponent_seed`. `apart` says what
    sets arms on the same game apart: only equals meet.

    With `one_network`, all seeds of an arm play with the network of its last seed: a defect of published tournaments
    (sources: L7), for comparison with them only. Their other one (L8) is an option of `statistics.elo_list`.
    """

    preset: str
    others: tuple[str, ...] = ("random",)
    name: str = "tournament"
    apart: Callable[[Arm], str] = _nothing
    one_network: bool = False
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        for arm, seed in plan.each():
            if not self.one_network or seed == plan.seeds[-1]:
                yield self._run(plan, arm, seed)
        for _, job in self._pairings(plan):
            yield job

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for who, job in self._pairings(plan):
            yield {**who, **store.rows(job)[0]}

    def _run(self, plan: Plan, arm: Arm, seed: int) -> Train:
        return plan.run(self.preset, arm, plan.seeds[-1] if self.one_network else seed)

    def _pairings(self, plan: Plan) -> Iterator[tuple[Row, Call]]:
        for game, kind in dict.fromkeys((arm.game, self.apart(arm)) for arm in plan.arms):
            entrants: list[Entrant] = [
                (arm.name, seed, self._run(plan, arm, seed))
                for arm, seed in plan.each()
                if (arm.game, self.apart(arm)) == (game, kind)
            ]
            entrants += [(text, None, None) for text in self.others]
            batch = Batch(play_pairings, f"{game} {kind or 'tournament'}", len(entrants) - 1)
            for one, other in combinations(entrants, 2):
                who = {"game": game, "arm": one[0], "seed": one[1], "opponent": other[0], "opponent_seed": other[1]}
                yield who, _meeting(plan, game, one, other, batch)


@dataclass(frozen=True)
class FinalMatches:
    """The final network of every arm and seed against players that never change, and against other arms of its seed.

    `against` are texts of players; `pairs` are names of arms that meet, on the same game. Values as in `Tournament`.
    """

    preset: str
    against: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    name: str = "match"
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        for arm, seed in plan.each():
            yield plan.run(self.preset, arm, seed)
        for _, job in self._meetings(plan):
            yield job

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for who, job in self._meetings(plan):
            yield {**who, **store.rows(job)[0]}

    def _meetings(self, plan: Plan) -> Iterator[tuple[Row, Call]]:
        arms = {(arm.game, arm.name): arm for arm in plan.arms}
        for arm, seed in plan.each():
            own = (arm.name, seed, plan.run(self.preset, arm, seed))
            mates = [arms[arm.game, b] for a, b in self.pairs if a == arm.name]
            others: list[Entrant] = [(mate.name, seed, plan.run(self.preset, mate, seed)) for mate in mates]
            for other in [*others, *((text, None, None) for text in self.against)]:
                who: Row = {
                    "game": arm.game, "arm": arm.name, "seed": seed, "opponent": other[0], "opponent_seed": other[1]
                }  # fmt: skip
                yield who, _meeting(plan, arm.game, own, other)


def _meeting(plan: Plan, game: str, one: Entrant, other: Entrant, batch: Batch | None = None) -> Call:
    """The job of one pairing."""
    who = "\t".join(f"{name}\t{seed}" for name, seed, _ in (one, other))
    arguments: dict[str, Value] = {
        "game": game,
        "a": one[0],
        "b": other[0],
        "games": plan.number("games"),
        "simulations": plan.number("simulations"),
        "seed": crc32(who.encode()),  # every pairing has openings of its own
        "networks": "".join(side for side, entrant in (("a", one), ("b", other)) if entrant[2] is not None),
    }
    needs = tuple(run for _, _, run in (one, other) if run is not None)
    return Call(play_pairing, arguments, needs, batch=batch)


def play_pairing(
    game: str, a: str, b: str, networks: str, games: int, simulations: int, seed: int, runs: Sequence[Path] = ()
) -> list[Row]:
    """One row: A against B, each the final network of a run or a player's text; `networks` names those with runs."""
    given: dict[str, Value] = {
        "game": game,
        "a": a,
        "b": b,
        "networks": networks,
        "games": games,
        "simulations": simulations,
    }
    ((_, rows),) = play_pairings([({**given, "seed": seed}, runs)])
    return rows


def play_pairings(calls: Sequence[Given]) -> Iterator[tuple[int, list[Row]]]:
    """`play_pairing` of several calls about one game, all on one table; a network that several of them name is one."""
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules, matches = make_game(str(calls[0][0]["game"])), []
    players: list[Player] = []
    places: dict[tuple[object, ...], int] = {}
    for arguments, runs in calls:
        folders, sides = dict(zip(str(arguments["networks"]), runs, strict=True)), []
        simulations = int(arguments["simulations"] or 0)
        for side in ("a", "b"):
            name, folder = str(arguments[side]), folders.get(side)
            who: tuple[object, ...] = (name,) if folder is None else (folder, simulations)
            if side == "b" and folder is not None and folder == folders.get("a"):
                who = (*who, side)  # against itself: a player keeps one tree a game
            if who not in places:
                places[who] = len(players)
                players.append(
                    make_player(name, rules) if folder is None else final_agent(rules, folder, name, simulations)
                )
            sides.append(places[who])
        matches.append(Match(sides[0], sides[1], int(arguments["games"] or 0), int(arguments["seed"] or 0)))
    for place, match in play_matches(rules, players, matches):
        yield place, [match_row(match)]


def play_players(game: str, a: str, b: str, games: int, seed: int, opening_plies: int | None = None) -> list[Row]:
    """One row: player A against player B, both texts; for `Calls` whose arms have values a and b."""
    from palaestra.arena.match import play_match
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules = make_game(game)
    one, other = make_player(a, rules), make_player(b, rules)
    return [match_row(play_match(rules, one, other, games, opening_plies=opening_plies, seed=seed))]
