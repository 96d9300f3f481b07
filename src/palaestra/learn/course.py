"""A run's course: the games that it learns. Most runs have one game; a course has others beside it.

A mixed course plays all of its games in every iteration, each its share: boards of several sizes, or several kinds of
games, which planes tell apart (`palaestra.nets.facts.Shared`). A curriculum plays one game after the other, the run's
own last; it goes on when progress stalls, or when the share of the run that a game may have has passed.

Nothing is remembered here: where a curriculum stands is a function of the lines of metrics.jsonl.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.text import clip
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.config import CourseConfig, RunConfig
from palaestra.nets.architecture import GameFacts, parse_net
from palaestra.nets.facts import Shared
from palaestra.runs.metrics import Encounter, Lines

SIZE = re.compile(r"[0-9]{1,3}x[0-9]{1,3}")


@dataclass(frozen=True)
class Course:
    """The games of a run, its own last; most runs have no other."""

    games: tuple[Game, ...]
    shares: tuple[float, ...]  # of each, together 1
    config: CourseConfig
    shared: Shared | None = None  # where they are of several kinds

    @property
    def own(self) -> int:
        """The number of the run's own game."""
        return len(self.games) - 1

    @property
    def is_curriculum(self) -> bool:
        return self.config.mode == "curriculum"

    def facts(self, number: int) -> GameFacts:
        """What the network sees of a game."""
        return GameFacts.of(self.games[number], self.shared)

    def stage(self, lines: Lines) -> int:
        """The number of the game at which networks are compared: that of a curriculum's next iteration, or the own."""
        if not self.is_curriculum:
            return self.own
        return min(sum(line.course is not None and line.course.ended is not None for line in lines), self.own)

    def played(self, lines: Lines) -> tuple[int, ...]:
        """The numbers of the games that the next iteration plays and learns from."""
        return (self.stage(lines),) if self.is_curriculum else tuple(range(len(self.games)))

    def counts(self, games: int, played: Sequence[int]) -> dict[int, int]:
        """How many of an iteration's games each of those played gets: its share, rounded, and at least one."""
        if len(played) == 1:
            return {played[0]: games}
        ends = np.cumsum([0.0, *(self.shares[number] for number in played)])
        bounds = [round(games * float(end)) for end in ends / ends[-1]]
        return {number: max(1, high - low) for number, low, high in zip(played, bounds, bounds[1:], strict=False)}

    def ended(self, stage: int, progress: float, met: Encounter | None) -> str | None:
        """Why a curriculum goes on to its next game after an iteration; None if it does not.

        `progress` is how much of the run was over when the iteration began, `met` its match against the network that
        was evaluated before.
        """
        if not self.is_curriculum or stage == self.own:
            return None
        if met is not None and (score := (met.wins + met.draws / 2) / met.games) < self.config.progress:
            return f"scored {100 * score:.0f} % against the network evaluated before"
        if progress >= math.fsum(self.shares[: stage + 1]):
            return f"{100 * self.shares[stage]:.0f} % of the run have passed"
        return None

    def settings(self, config: RunConfig, number: int, games: int) -> RunConfig:
        """How a game's self-play is made: so many games, and random numbers of its own, of the run's game the run's."""
        if number == self.own and games == config.selfplay.games:
            return config
        seed = np.random.SeedSequence([config.seed, number]).generate_state(1, np.uint64)[0]
        changed = {"selfplay": config.selfplay.model_copy(update={"games": games})}
        return config.model_copy(update=changed if number == self.own else {**changed, "seed": int(seed >> 1)})


def make_course(config: RunConfig, own: Game) -> Course:
    """The course of a configuration; ConfigError if its games do not fit each other or the network."""
    course = config.course
    if not course.games:
        return Course((own,), (1.0,), course)
    found = [(number, game) for number, text in enumerate(course.games) if (game := _game(text, own)) is not None]
    if not found:
        raise ConfigError(f"course.games: {', '.join(course.games)} are no smaller boards than that of {own.id}")
    games = (*(game for _, game in found), own)
    _check(games, config)
    weights = [course.shares[number] for number in (*(number for number, _ in found), -1)] if course.shares else None
    weights = weights or [1.0] * len(games)
    shares = tuple(weight / math.fsum(weights) for weight in weights)
    return Course(games, shares, course, Shared.among(games))


def _game(text: str, own: Game) -> Game | None:
    """The game that a text of the course names; None for a size that is no smaller than the run's own."""
    if not SIZE.fullmatch(text):
        return make_game(text)
    if not SIZE.search(own.id):
        raise ConfigError(f"course.games: {own.id} has no size in its name that {text} could take the place of")
    game = make_game(SIZE.sub(text, own.id, count=1))
    return game if _cells(game) < _cells(own) else None


def _cells(game: Game) -> int:
    return game.observation_shape[1] * game.observation_shape[2]


def _check(games: Sequence[Game], config: RunConfig) -> None:
    own, ids = games[-1], [game.id for game in games]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise ConfigError(f"course.games: {twice[0]} is there twice; the run's own game, {own.id}, is always learned")
    if solo := [game.id for game in games if game.players != 2]:
        raise ConfigError(f"course.games: {solo[0]} has one player; a course is for games of two")
    if config.warm.adaptive:
        raise ConfigError("warm.adaptive is decided at one game; set it to false where course.games has others")
    net, shared = parse_net(config.net), Shared.among(games)
    if not net.any_board:
        raise ConfigError(
            f"course.games needs weights that fit every board, and those of {clip(config.net)} belong to one; take"
            " --set net=r3c32"
        )
    facts = [GameFacts.of(game, shared) for game in games]
    shapes = [{name: layer.kernel for name, layer in net.plan(one).layers.items()} for one in facts]
    for game, shape in zip(games, shapes, strict=True):
        different = [name for name in shapes[-1].keys() | shape.keys() if shapes[-1].get(name) != shape.get(name)]
        if different:
            raise ConfigError(
                f"course.games: {game.id} needs other weights of {config.net} than {own.id} does ({min(different)})"
            )
