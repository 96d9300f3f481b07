"""Whether a configuration fits its game: asked before a run leaves anything behind."""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig, SoloConfig
from palaestra.learn.course import make_course
from palaestra.learn.demerits import check_demerits
from palaestra.learn.growth import sizes
from palaestra.nets.architecture import parse_net, random_weights
from palaestra.nets.grow import grown_weights
from palaestra.nets.heads import CATEGORICAL_HEAD, OUTCOME_HEAD, VALUE_HEAD
from palaestra.players.registry import make_player
from palaestra.rewards.registry import make_reward
from palaestra.search.rule_registry import make_rule


def trainable(config: RunConfig, game: Game) -> Game:
    """The game, as it was given; an error if it cannot be trained with this configuration, early or late in the run."""
    (_check_one if game.players == 1 else _check_two)(game, config)
    _check_reward(game, config)
    _check_course(game, config)
    make_rule(config.selfplay.search.rule)
    _check_growth(game, config)
    if config.defects.winners_colour and parse_net(config.net).head != VALUE_HEAD:
        raise ConfigError(
            f"defects.winners_colour changes the targets of a value head, and {config.net} learns how games end; take"
            " a network without a head of outcomes, for example thesis256"
        )
    for anchor in config.evaluation.anchors:
        make_player(anchor, game)
    if config.evaluation.demerits:
        check_demerits(game)
    return game


def _check_reward(game: Game, config: RunConfig) -> None:
    """ConfigError if a value head would learn from values that its reward no longer gives, and nobody wants that."""
    reward, learn = make_reward(config.reward, game), config.learn
    newest_only = learn.window == 1 and learn.window_share == 0
    if reward.lasting or learn.stale_values or newest_only or parse_net(config.net).head != VALUE_HEAD:
        return
    head = OUTCOME_HEAD if game.players == 2 else CATEGORICAL_HEAD
    raise ConfigError(
        f"reward is {config.reward}: what an ending is worth changes with every iteration, and {config.net} would learn"
        f" the values of earlier ones; take a network that learns how games end, --set net={config.net}-{head}, or"
        " allow it: --set learn.stale_values=true"
    )


def _check_course(game: Game, config: RunConfig) -> None:
    """ConfigError if a game of the course cannot be learned together with the others, or judged by the anchors."""
    course = make_course(config, game)
    if len(course.games) > 1 and make_reward(config.reward, game).learns:
        raise ConfigError(
            f"reward is {config.reward}: it learns from one game, and course.games has others; take primitive"
        )
    for other in course.games[:-1] if config.course.judged == "each" else ():
        for anchor in config.evaluation.anchors:
            make_player(anchor, other)


def _check_growth(game: Game, config: RunConfig) -> None:
    """ModelError if one of a run's networks cannot grow into the next."""
    course, rng = make_course(config, game), np.random.default_rng(0)
    facts = course.facts(course.own)
    for small, large in zip(sizes(config), config.growth.nets, strict=False):
        grown_weights(small, large, facts, random_weights(parse_net(small), facts, rng), rng)


def _check_one(game: Game, config: RunConfig) -> None:
    """ConfigError for what plays one side against another."""
    if config.gate.kind != "off":
        raise ConfigError(
            f"gate.kind is {config.gate.kind}: a gate plays two networks against each other, and {game.id} has one"
            " player; set gate.kind=off, or take --preset ranked"
        )
    if config.warm.adaptive and config.selfplay.games < 2:
        raise ConfigError("warm.adaptive compares two searches in pairs of games: selfplay.games must be at least 2")
    if config.selfplay.overlap:
        raise ConfigError(
            f"selfplay.overlap is {config.selfplay.overlap:g}: {game.id} has one player, and how its games explore"
            " depends on the iteration before; set it to 0"
        )
    if config.defects.winners_colour:
        raise ConfigError(f"defects.winners_colour is about two colours, and {game.id} has one player; set it to false")
    if config.evaluation.history:
        raise ConfigError(
            f"evaluation.history is {config.evaluation.history}: {game.id} has one player, and networks do not meet;"
            " set it to 0"
        )


def _check_two(game: Game, config: RunConfig) -> None:
    """ConfigError for what would be read for one player only."""
    solo = config.solo
    changed = [name for name, value in SoloConfig() if getattr(solo, name) != value]
    if changed or config.selfplay.sampling:
        name = f"solo.{changed[0]}" if changed else "selfplay.sampling"
        raise ConfigError(f"{name} is for games of one player, and {game.id} has two; for example morpion-5d")
