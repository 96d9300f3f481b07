"""The settings of a training run in groups, one a concern, with the thesis's value beside each (sources: settings)."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from palaestra.arena.anchors import ANCHORS
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.user_code import is_code
from palaestra.search.config import SearchConfig

LOSSES = {  # where each is; named here, because settings are read without PyTorch
    "sum": "palaestra.learn.losses:Sum",
    "product": "palaestra.learn.losses:Product",
    "policy": "palaestra.learn.losses:Policy",
    "value": "palaestra.learn.losses:Value",
    "weighted": "palaestra.learn.losses:Weighted",
}


class Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_DRAWN = "selfplay.sampling=true or selfplay.search_until below 1"


class SelfPlayConfig(Group):
    """How games are made. Thesis: 50 games an iteration, m = 100, c = 1, no noise, T′ = 15, z as value target."""

    games: int = Field(50, ge=1, le=10**6, description="E: games of one iteration (thesis: 50)")
    search: SearchConfig = SearchConfig()
    sampling: bool = Field(
        False, description="one player: moves are drawn from the network's policy, without a search (thesis, Alg. 7)"
    )
    first_simulations: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="simulations grow evenly over the run, from these to search.simulations; none: they stay the same",
    )
    search_until: float = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the run after which there is no search: moves are drawn from the network; 1: never",
    )
    sampled_policy: Literal["played", "network"] = Field(
        "played",
        description="sampling teaches: played, the moves of successes; network, its own policy (thesis, Alg. 7)",
    )
    failures: float | None = Field(
        None, gt=0, le=1000, description="sampling: positions of failed games kept for each of a success; none: all"
    )
    temperature: float = Field(1.0, ge=0, le=100, description="of the first moves (thesis: 1)")
    temperature_moves: int = Field(
        14, ge=0, description="how many moves of a game it lasts (thesis: T′ = 15 samples 14)"
    )
    late_temperature: float = Field(
        0.0, ge=0, le=100, description="of the moves after those (thesis: 0, the most visited)"
    )
    opening_fraction: float = Field(0.0, ge=0, le=1, description="share of the games that begin with random moves")
    opening_plies: int = Field(0, ge=0, le=1000, description="most random plies; their number is uniform from 0")
    quick_fraction: float = Field(0.0, ge=0, lt=1, description="share of moves searched quickly and not learned from")
    quick_simulations: int = Field(16, ge=1, description="simulations of a quick move (playout-cap randomisation)")
    value_target: Literal["z", "mixed", "td"] = Field(
        "z", description="z: the result (thesis); mixed: with root Q; td: TD(λ) over root Q"
    )
    q_weight: float = Field(0.5, ge=0, le=1, description="share of root Q in a mixed target")
    td_lambda: float = Field(0.95, ge=0, le=1, description="λ of td: 1 is the result alone")
    overlap: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of the games that the network before plays while the newest learns: 1 iteration old",
    )
    precision: Literal["float32", "int8", "auto"] = Field(
        "float32",
        description="of convolutions in self-play, files stay float32; auto: int8 where the processor takes it",
    )
    slots: int = Field(128, ge=1, le=10**5, description="games that one thread plays at once")
    cache: int = Field(
        2**17, ge=0, le=2**26, description="positions that one thread remembers from the network, within 1 GB"
    )

    @property
    def is_scheduled(self) -> bool:
        """Whether self-play changes with the share of the run that is behind it."""
        return self.first_simulations is not None or self.search_until < 1

    @model_validator(mode="after")
    def _fits(self) -> SelfPlayConfig:
        if self.search.simulations is None or self.search.ms is not None:
            raise ValueError("self-play is repeatable: bound its search by simulations, not by ms")
        if (self.opening_fraction > 0) != (self.opening_plies > 0):
            raise ValueError("opening_fraction and opening_plies go together: both 0 or both positive")
        if self.sampling and (self.quick_fraction > 0 or self.value_target != "z"):
            raise ValueError("selfplay.sampling searches nothing: it needs value_target=z and quick_fraction=0")
        if self.sampling and self.is_scheduled:
            raise ValueError("selfplay.sampling searches nothing: first_simulations and search_until have no use")
        draws = self.sampling or self.search_until < 1
        if self.sampled_policy == "network" and (not draws or self.failures is not None):
            raise ValueError(f"selfplay.sampled_policy=network is for {_DRAWN} without selfplay.failures")
        if self.failures is not None and not draws:
            raise ValueError(f"selfplay.failures is for {_DRAWN}: a search teaches in failed games, too")
        return self


class LearnConfig(Group):
    """How the network learns. Thesis: Adam, lr .005, 10 epochs of batches of 64, the last 20 iterations, dropout .3."""

    window: int = Field(20, ge=1, le=10**5, description="rs: iterations that are learned from (thesis: 20)")
    window_share: float = Field(
        0.0, ge=0, le=1, description="the window grows to this share of all iterations so far, where that is more"
    )
    batch: int = Field(64, ge=1, le=65536, description="bs: positions of one step of training (thesis: 64)")
    epochs: float | None = Field(
        10,
        gt=0,
        le=1000,
        description="ep: passes over the whole window, every iteration (thesis: 10); none: see samples_per_position",
    )
    given_epochs: float = Field(
        5.0, gt=0, le=1000, description="passes over the games that train --games gives, before self-play begins"
    )
    samples_per_position: float | None = Field(
        None, gt=0, le=1000, description="instead of epochs: how often a new position is drawn in the iteration it came"
    )
    surprise: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of what is learned that goes by how far searches depart from the network; 0: all alike",
    )
    optimizer: Literal["adam", "adamw", "sgd", "muon"] = Field(
        "adam", description="sgd has Nesterov momentum; muon makes the steps of kernels orthogonal (thesis: adam)"
    )
    lr: float = Field(
        0.005, gt=0, le=10, description="learning rate, of the first step where it is scheduled (thesis: 0.005)"
    )
    lr_end: float = Field(0.1, gt=0, le=1, description="cosine: the last rate as a share of lr")
    schedule: Literal["constant", "cosine"] = Field(
        "constant", description="of lr over the run's minutes or iterations (thesis: constant)"
    )
    momentum: float = Field(0.9, ge=0, lt=1, description="of sgd and muon")
    weight_decay: float = Field(
        0.0,
        ge=0,
        le=1,
        description="pulls weights to 0: by lr times this a step in adamw and muon, as L2 in adam and sgd (thesis: 0)",
    )
    clip: float | None = Field(None, gt=0, description="largest norm of a gradient; none: no limit")
    precision: Literal["float32", "bfloat16", "auto"] = Field(
        "float32",
        description="of layers in training, weights stay float32; auto: bfloat16 where the processor computes with it",
    )
    loss: str = Field(
        "sum",
        json_schema_extra={"names": [*LOSSES]},
        description="what is minimised: policy + value (thesis), their product, one alone, weighted, or your own",
    )
    loss_lambda: float = Field(0.5, ge=0, le=1, description="weighted: λ·policy + (1-λ)·value; λ = 1 is policy only")
    policy_weight: float = Field(1.0, gt=0, le=100, description="weight of the policy's term in a sum (thesis: 1)")
    value_weight: float = Field(1.0, gt=0, le=100, description="weight of the value's term in a sum (thesis: 1)")
    dropout: float = Field(0.3, ge=0, lt=1, description="d: of hidden dense layers, in training only (thesis: 0.3)")
    symmetries: bool = Field(True, description="every position is learned in a random orientation")
    count_symmetries: bool = Field(
        False, description="an epoch counts every orientation of a position, as where copies are stored (released code)"
    )
    legal_only: bool = Field(
        False, description="l_p compares legal moves alone, as play does; off: illegal moves are learned too (thesis)"
    )
    stale_values: bool = Field(
        False, description="a value head may learn values that cdf, cdf_bonus or switch gave in earlier iterations"
    )
    average: float = Field(
        0.0, ge=0, lt=1, description="weights that play are averaged with this decay a step; 0: the last"
    )

    @field_validator("loss")
    @classmethod
    def _known(cls, loss: str) -> str:
        if loss not in LOSSES and not is_code(loss):
            hint = did_you_mean(loss, LOSSES)
            raise ValueError(f"{clip(loss)} is no loss{hint}; known: {', '.join(LOSSES)}; your own is module:attribute")
        return loss


class GateConfig(Group):
    """Whether a new network replaces the old one. Thesis: 40 games, accepted at 60 % of the decisive ones."""

    kind: Literal["off", "threshold", "sprt"] = Field(
        "threshold",
        description="off: every network plays; threshold: by a share of wins (thesis); sprt: a sequential test",
    )
    games: int = Field(
        40,
        ge=2,
        le=100_000,
        description="n: of new network against old, an even number; for sprt the most (thesis: 40)",
    )
    threshold: float = Field(
        0.6, ge=0, le=1, description="u: share of the decisive games to be won (thesis: 0.6); none decisive: rejected"
    )
    elo0: float = Field(0.0, description="sprt: rejected at this difference")
    elo1: float = Field(30.0, description="sprt: accepted at this difference")
    simulations: int = Field(100, ge=1, description="a move, of both sides (thesis: m = 100)")

    @model_validator(mode="after")
    def _fits(self) -> GateConfig:
        if self.games % 2:
            raise ValueError(f"gate.games is {self.games}: pairs need an even number such as 40")
        if self.elo1 <= self.elo0:
            raise ValueError("gate.elo1 must be larger than gate.elo0")
        return self


class WarmStartConfig(Group):
    """How the first iterations search (thesis, Ch5 and Ch6). Thesis: I′ = 5, weights 1 - i/I′; Ch6: adaptive, 1/i."""

    enhancement: Literal["none", "rollout", "rave", "rora", "wro", "wrora", "rhea"] = Field(
        "none",
        description="what helps an untrained network in the first iterations: random games, RAVE, both, or evolution",
    )
    length: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="I′: most iterations with the enhancement; none: 5 (thesis), adaptive: no limit",
    )
    adaptive: bool = Field(
        False,
        description="enhancement meets default (one player: in the same beginnings) until that is ahead (Alg. 6)",
    )
    weight: Literal["linear", "harmonic"] | None = Field(
        None, description="of wro and wrora: linear 1 - i/I′ (i from 0), harmonic 1/i; none: linear, adaptive: harmonic"
    )

    @model_validator(mode="after")
    def _fits(self) -> WarmStartConfig:
        if self.adaptive and self.length is None and self.weight == "linear":
            raise ValueError(
                "an adaptive warm start has no I′ for linear weights: set warm.length or leave warm.weight"
            )
        return self

    @property
    def last(self) -> float:
        """The last iteration that may be warm (thesis: I′ = 5; Alg. 6 has none)."""
        return self.length or (math.inf if self.adaptive else 5)


class EvaluationConfig(Group):
    """How strength is watched during a run."""

    every: int = Field(5, ge=0, description="iterations between evaluations; 0: only at the end")
    anchors: tuple[str, ...] = Field(
        ANCHORS,
        description="players that never change, whom the agent meets in every evaluation",
    )
    games: int = Field(
        40,
        ge=2,
        le=100_000,
        description="against each anchor, an even number; with one player, of the agent and of each anchor",
    )
    simulations: int = Field(100, ge=1, description="a move, of the agent's search")
    history: int = Field(
        0, ge=0, le=100_000, description="games against the network evaluated before, for running Elo; even, 0: none"
    )
    demerits: bool = Field(
        False, description="in every iteration, what the agent gives away against perfect play (Schmidt et al.)"
    )

    @model_validator(mode="after")
    def _fits(self) -> EvaluationConfig:
        for name in ("games", "history"):
            if getattr(self, name) % 2:
                raise ValueError(f"evaluation.{name} is {getattr(self, name)}: pairs need an even number such as 40")
        return self


class SoloConfig(Group):
    """What only games for one player have. Thesis, Alg. 7: a search of 20,000 simulations every 10th iteration."""

    every: int = Field(0, ge=0, description="iterations between games of a deep search (thesis, stage 3: 10); 0: none")
    games: int = Field(1, ge=1, le=10_000, description="games of a deep search (thesis: 1)")
    simulations: int = Field(20_000, ge=1, le=10**9, description="a move of a deep search, from a new tree each time")
    patience: int = Field(
        0, ge=0, description="iterations without a move of the reward's threshold until exploration widens; 0: never"
    )
    widening: float = Field(1.25, gt=1, le=100, description="factor of temperature and noise by which it widens")
    widest: float = Field(2.0, ge=1, le=100, description="the largest product of these factors")


class CourseConfig(Group):
    """Other games of the run, for networks that fit boards of every size (rNcM). Thesis: none; it is in its outlook."""

    games: tuple[str, ...] = Field(
        (),
        description="learned before the run's own game or with it: sizes of it such as 5x5, or games such as hex-6x6",
    )
    mode: Literal["mixed", "curriculum"] = Field(
        "mixed", description="mixed: all in every iteration; curriculum: one after the other, the run's own last"
    )
    shares: tuple[float, ...] = Field(
        (),
        description="of course.games, then the run's own: of games played, or in a curriculum of the run; []: equal",
    )
    progress: float = Field(
        0.55,
        ge=0,
        le=1,
        description="curriculum: goes on when a network scores less than this against the one evaluated before it",
    )
    judged: Literal["own", "each"] = Field(
        "own", description="mixed: anchors are met at the run's own game, or at each game of the course"
    )

    @model_validator(mode="after")
    def _fits(self) -> CourseConfig:
        if self.shares and (len(self.shares) != len(self.games) + 1 or not all(share > 0 for share in self.shares)):
            raise ValueError(
                f"course.shares are {len(self.shares)}: give a positive number for each of the {len(self.games)}"
                " course.games and one for the run's own game, or none at all"
            )
        if not self.games and (self.mode != "mixed" or self.judged != "own"):
            raise ValueError(f"course.mode={self.mode} and course.judged={self.judged} need course.games")
        if self.mode == "curriculum" and self.judged == "each":
            raise ValueError(
                "course.judged=each is for course.mode=mixed: a curriculum is judged at the run's own game"
            )
        return self


class GrowthConfig(Group):
    """Larger networks that the run's own becomes on the way, without forgetting. Thesis: none."""

    nets: tuple[str, ...] = Field(
        (), description="what net grows into, one after the other: more blocks or channels of its kind, such as b4c48"
    )
    after: tuple[float, ...] = Field(
        (), description="how much of the run has passed when each of them begins: 0.2, 0.5"
    )

    @model_validator(mode="after")
    def _fits(self) -> GrowthConfig:
        ordered = all(one < other for one, other in zip((0.0, *self.after), (*self.after, 1.0), strict=True))
        if len(self.after) != len(self.nets) or not ordered:
            raise ValueError(
                f"growth.after has to say for each of the {len(self.nets)} growth.nets when it begins: shares of the"
                " run between 0 and 1, each larger than the one before"
            )
        return self


class DefectsConfig(Group):
    """Each off: for reproducing published results only (sources: defects of public code)."""

    unturned_policies: bool = Field(
        False, description="L1: boards are turned and mirrored, their policies are not (released: Connect Four)"
    )
    winners_colour: bool = Field(
        False, description="L2: in decided games the first player's positions are worth -1, the second's 1 (Gobang)"
    )
    idle_dropout: bool = Field(False, description="L3: dropout never acts, whatever learn.dropout is")
    drawn_gate: bool = Field(False, description="L4: a gate without a decisive game accepts")
    lasting_trees: bool = Field(
        False, description="L6: gate games have one beginning, one comes after the other, and search trees are kept"
    )
