"""Every setting of a training run, group by group (`config_groups`).

An unknown key is an error, and so is a combination that would leave a setting unread.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from palaestra.games.registry import full_id
from palaestra.learn.config_groups import LOSSES as LOSSES
from palaestra.learn.config_groups import CourseConfig as CourseConfig
from palaestra.learn.config_groups import DefectsConfig as DefectsConfig
from palaestra.learn.config_groups import EvaluationConfig as EvaluationConfig
from palaestra.learn.config_groups import GateConfig as GateConfig
from palaestra.learn.config_groups import Group
from palaestra.learn.config_groups import GrowthConfig as GrowthConfig
from palaestra.learn.config_groups import LearnConfig as LearnConfig
from palaestra.learn.config_groups import SelfPlayConfig as SelfPlayConfig
from palaestra.learn.config_groups import SoloConfig as SoloConfig
from palaestra.learn.config_groups import WarmStartConfig as WarmStartConfig


class RunConfig(Group):
    """A whole run."""

    game: str = Field(description="an id such as connect_four-6x7; a family's name alone takes its usual size")
    net: str = Field(
        "b3c32",
        description="b3c32: 3 blocks of 32 channels; r3c32: for every board; thesis256; -outcome, -categorical: heads",
    )
    start: str | None = Field(
        None,
        min_length=1,
        description="weights to begin with: run:NAME@12, agent:GAME or an ONNX file of this program; none: random",
    )
    reward: str = Field(
        "default", min_length=1, description="what outcomes are worth: such as primitive or cdf(generations=5)"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="all random numbers of the run are a function of this")
    iterations: int | None = Field(None, ge=1, le=10**7, description="I: the run ends after these; none: by minutes")
    minutes: float | None = Field(
        None, gt=0, le=10**6, description="the run ends after the iteration in which these pass"
    )
    clock: Literal["wall", "processor"] = Field(
        "wall",
        description="what minutes count: wall; processor: what the process computed but to compile, over threads",
    )
    threads: int = Field(
        2, ge=1, le=1024, description="of self-play and of training; results are repeatable for one number"
    )
    device: str = Field("cpu", pattern=r"^(cpu|mps|cuda(:\d+)?)$", description="where the network is trained")
    keep: int = Field(3, ge=1, le=10_000, description="iterations kept whole, which resume --from can go back to")
    selfplay: SelfPlayConfig = SelfPlayConfig()
    learn: LearnConfig = LearnConfig()
    gate: GateConfig = GateConfig()
    warm: WarmStartConfig = WarmStartConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    solo: SoloConfig = SoloConfig()
    defects: DefectsConfig = DefectsConfig()
    course: CourseConfig = CourseConfig()
    growth: GrowthConfig = GrowthConfig()

    @field_validator("game")
    @classmethod
    def _full(cls, game: str) -> str:
        return full_id(game)

    @model_validator(mode="after")
    def _fits(self) -> RunConfig:
        if self.iterations is None and self.minutes is None:
            raise ValueError("a run needs an end: give iterations or minutes")
        if (self.learn.epochs is None) == (self.learn.samples_per_position is None):
            raise ValueError("give exactly one of learn.epochs and learn.samples_per_position")
        if self.warm.adaptive and self.warm.enhancement == "none":
            raise ValueError("warm.adaptive needs an enhancement, for example warm.enhancement=rollout")
        if self.selfplay.overlap and self.warm.adaptive:
            raise ValueError("selfplay.overlap plays ahead of what an adaptive warm start decides: set one of them off")
        if self.selfplay.overlap and (self.course.games or self.selfplay.is_scheduled):
            raise ValueError(
                "selfplay.overlap plays ahead of what a course and schedules of search decide: set course.games,"
                " selfplay.first_simulations and selfplay.search_until to their defaults, or selfplay.overlap to 0"
            )
        if self.selfplay.sampling and self.warm.enhancement != "none":
            raise ValueError(f"selfplay.sampling searches nothing: warm.enhancement={self.warm.enhancement} has no use")
        if self.selfplay.sampling and self.learn.surprise:
            raise ValueError("selfplay.sampling searches nothing: learn.surprise has no use, set it to 0")
        if self.learn.count_symmetries and (self.learn.epochs is None or not self.learn.symmetries):
            raise ValueError("learn.count_symmetries is read with learn.epochs and learn.symmetries=true only")
        if self.course.mode == "curriculum" and not self.evaluation.history:
            raise ValueError(
                "course.mode=curriculum sees by evaluation.history that progress stalls: set it to 40, say"
            )
        if self.growth.nets and self.gate.kind != "off":
            raise ValueError(
                f"growth.nets with gate.kind={self.gate.kind}: a rejected network would have to shrink; set it to off"
            )
        self._defects_fit()
        return self

    def _defects_fit(self) -> None:
        defects, search = self.defects, self.selfplay.search
        if defects.unturned_policies and not self.learn.symmetries:
            raise ValueError("defects.unturned_policies needs learn.symmetries=true: otherwise nothing is turned")
        for name in ("drawn_gate", "lasting_trees"):
            if getattr(defects, name) and self.gate.kind != "threshold":
                raise ValueError(f"defects.{name} needs gate.kind=threshold, not {self.gate.kind}")
        if defects.lasting_trees and (search.solver or search.fpu is not None or search.rule != "puct"):
            raise ValueError(
                "defects.lasting_trees plays the released code's search: set selfplay.search.rule=puct,"
                " selfplay.search.solver=false and selfplay.search.fpu=none"
            )
