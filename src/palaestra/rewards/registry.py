"""Rewards from texts: `make_reward("cdf(generations=5)", game)`. Knows what they take, and no formula."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pydantic import Field, model_validator

from palaestra.base.errors import ConfigError
from palaestra.base.text import Grammar
from palaestra.base.text_model import TextModel, read
from palaestra.base.user_code import is_code
from palaestra.games.base import Game
from palaestra.rewards.base import Linear, Primitive, Reward, default_reward
from palaestra.rewards.cdf import Cdf, CdfBonus
from palaestra.rewards.hand_tuned import HandTuned
from palaestra.rewards.outcomes import OutcomeSpace
from palaestra.rewards.own import make_own_reward
from palaestra.rewards.ranked import First, Ranked, Ties
from palaestra.rewards.switch import Switch

GRAMMAR = Grammar("reward", "cdf(generations=5)", ConfigError)
MOST_GENERATIONS, MOST_RESULTS = 10_000, 1_000_000


class Kind(TextModel, ABC):
    """A kind of reward: what it takes, between which bounds, what the papers used."""

    @abstractmethod
    def build(self, game: Game) -> Reward:
        """The reward for one game, carrying its canonical text; ConfigError if it makes no sense there."""


class DefaultKind(Kind):
    """The game's own: primitive for two players, score for one."""

    name = "default"
    example = "default"

    def build(self, game: Game) -> Reward:
        return default_reward(game)


class PrimitiveKind(Kind):
    """Win 1, draw 0, loss -1."""

    name = "primitive"
    example = "primitive"

    def build(self, game: Game) -> Reward:
        _need_players(self, game, 2, "score")
        return Primitive()


class ScoreKind(Kind):
    """One player's score as a share of the largest, over [-1, 1]."""

    name = "score"
    example = "score"

    def build(self, game: Game) -> Reward:
        _need_players(self, game, 1, "primitive")
        return Linear(game.largest_outcome)


class HandTunedKind(Kind):
    """Proportional: sooner wins, or larger margins, are worth more."""

    name = "hand_tuned"
    example = "hand_tuned"

    def build(self, game: Game) -> Reward:
        _need_players(self, game, 2, "score")
        if game.tiebreak == "none":
            raise ConfigError(
                f"hand_tuned needs a game that orders wins by plies or by margin, and {game.id} knows only win, draw "
                "and loss: for example primitive"
            )
        return HandTuned(OutcomeSpace.of(game), str(self))


class CdfKind(Kind):
    """The share of recent games that ended worse."""

    name = "cdf"
    example = "cdf(generations=5)"

    generations: int = Field(5, ge=1, le=MOST_GENERATIONS)  # paper: 5

    def build(self, game: Game) -> Reward:
        return Cdf(OutcomeSpace.of(game), self.generations, str(self))


class CdfBonusKind(Kind):
    """The mean score in virtual matches against recent games, with a bonus for the win itself."""

    name = "cdf_bonus"
    example = "cdf_bonus(alpha=0.5)"

    alpha: float = Field(0.5, ge=0, le=1)  # paper: 0.5; 1 is plain rank
    generations: int = Field(5, ge=1, le=MOST_GENERATIONS)  # paper: 5
    printed: bool = False  # the paper's formulas as printed

    def build(self, game: Game) -> Reward:
        _need_players(self, game, 2, "cdf")
        return CdfBonus(OutcomeSpace.of(game), self.alpha, self.generations, self.printed, str(self))


class RankedKind(Kind):
    """One player against its own recent results."""

    name = "ranked"
    example = "ranked(tau=0.75, window=200)"

    tau: float = Field(0.75, gt=0, lt=1)  # thesis: 0.75
    window: int = Field(200, ge=1, le=MOST_RESULTS)  # thesis: 200
    ties: Ties = "coin"  # Eq. 7.1; share: they succeed as often as it takes for 1 - tau of the window to succeed
    first: First = "judge"  # a game before its result is stored (released code), or store it first (Alg. 7)

    @model_validator(mode="after")
    def _reach(self) -> RankedKind:
        if self.tau * self.window < 1:
            raise ValueError(
                f"a window of {self.window} is smaller than tau={self.tau:g} needs, "
                "because tau · window must be at least 1 result"
            )
        return self

    def build(self, game: Game) -> Reward:
        _need_players(self, game, 1, "cdf")
        return Ranked(OutcomeSpace.of(game), self.tau, self.window, self.ties, self.first, str(self))


class SwitchKind(Kind):
    """One reward for the first generations, another one after them."""

    name = "switch"
    example = 'switch(primitive, "cdf(generations=5)", at=20)'
    positional = ("first", "then")

    first: str
    then: str
    at: int = Field(ge=1, le=1_000_000)  # generations under the first reward

    def build(self, game: Game) -> Reward:
        first, then = make_reward(self.first, game), make_reward(self.then, game)
        written = self.model_copy(update={"first": first.text, "then": then.text})
        return Switch(first, then, self.at, str(written))


KINDS: dict[str, type[Kind]] = {
    kind.name: kind
    for kind in (
        DefaultKind,
        PrimitiveKind,
        ScoreKind,
        HandTunedKind,
        CdfKind,
        CdfBonusKind,
        RankedKind,
        SwitchKind,
    )
}


def make_reward(text: str, game: Game) -> Reward:
    """The reward that a text describes, for one game; it carries its canonical text."""
    if is_code(text, KINDS):
        return make_own_reward(GRAMMAR.parse(text), game)
    return read(text, KINDS, GRAMMAR).build(game)


def _need_players(kind: Kind, game: Game, players: int, instead: str) -> None:
    if game.players != players:
        words = {1: "one player", 2: "two players"}
        raise ConfigError(
            f"{kind.name} is for games of {words[players]}, and {game.id} has {words[game.players]}: "
            f"for example {instead}"
        )
