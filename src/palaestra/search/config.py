"""Settings of a tree search: one documented value each, with the papers' numbers (sources: settings)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from palaestra.search.rule_registry import known_rule

RuleName = Annotated[str, AfterValidator(known_rule)]
WITHOUT_FPU = ("uct", "gumbel")
WITHOUT_RAVE = ("uct", "puct", "gumbel")
T = TypeVar("T")
OLD_NAMES = {"num_simulations": "simulations", "milliseconds": "ms"}  # in runs that version 0.1 saved


class SearchConfig(BaseModel):
    """How a tree is searched. The thesis: c = 1, m = 100 simulations, k = 100, no noise (sources: settings)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: RuleName = Field(
        "puct", description="how a move is chosen in the tree: uct, puct, rave, gumbel, or your own module:attribute"
    )
    simulations: int | None = Field(
        100, ge=1, le=10**9, description="m: simulations a move (thesis: 100); none: by time alone"
    )
    ms: float | None = Field(None, gt=0, description="milliseconds a move; none: simulations alone end a search")
    c_puct: float = Field(1.0, ge=0, description="exploration of puct, rave and a rule of your own (thesis: 1)")
    c_uct: float = Field(math.sqrt(2), ge=0, description="exploration of uct, for values in [-1, 1]")
    fpu: float | None = Field(
        None,
        ge=-2,
        le=2,
        description="first-play urgency: an unvisited move counts as the node's mean value minus this; none counts 0",
    )
    rave_k: float | None = Field(
        None, gt=0, description="visits at which RAVE and the tree weigh equally; none: as many as simulations (thesis)"
    )
    rave_amaf: Literal["action", "cell"] = Field(
        "action",
        description="cell: an action counts for RAVE only if the same side plays it next (Connect Four: the same cell)",
    )
    rave_playouts: bool = Field(
        False, description="moves of playouts count for RAVE (WRoRa); otherwise only the tree's"
    )
    dirichlet_alpha: float = Field(1.0, gt=0, description="shape of the noise at the root")
    dirichlet_fraction: float = Field(
        0.0, ge=0, le=1, description="share of the noise in the root's priors (thesis: 0, none)"
    )
    gumbel_root: bool = Field(False, description="sequential halving over sampled moves at the root")
    gumbel_considered: int = Field(16, ge=1, description="how many moves sequential halving starts with")
    gumbel_visits: float = Field(50.0, ge=0, description="c_visit of the value transformation")
    gumbel_scale: float = Field(1.0, gt=0, description="c_scale of the value transformation, on values in [0, 1]")
    temperature: float = Field(
        0.0,
        ge=0,
        description="moves are drawn from visits ** (1 / temperature), or with Gumbel noise of this scale; 0: the best",
    )
    solver: bool = Field(True, description="prove values from ended games upwards, and stop when the root is proven")
    reuse: bool = Field(True, description="keep the subtree of the moves played between the moves of one game")
    leaves_per_step: int = Field(
        1, ge=1, le=4096, description="leaves of one tree per step, kept apart by virtual loss"
    )
    node_budget: int = Field(
        400_000, ge=2, le=2**30, description="most nodes of one tree; then search goes on without growing"
    )

    @model_validator(mode="before")
    @classmethod
    def _new_names(cls, data: Any) -> Any:
        return new_names(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _fits_together(self) -> SearchConfig:
        if self.simulations is None and self.ms is None:
            raise ValueError("a search needs simulations or ms")
        if self.gumbel_root and (self.reuse or self.dirichlet_fraction or self.simulations is None):
            raise ValueError("gumbel_root plans its visits: it needs simulations, reuse=false, dirichlet_fraction=0")
        if self.fpu is not None and self.rule in WITHOUT_FPU:
            raise ValueError(f"fpu is read by puct and rave, and by rules of your own, not by {self.rule}")
        if self.rave_playouts and self.rule in WITHOUT_RAVE:
            raise ValueError("rave_playouts needs rule='rave'")
        return self

    @property
    def c(self) -> float:
        """Exploration of the rule."""
        return self.c_uct if self.rule == "uct" else self.c_puct

    @property
    def simulation_limit(self) -> int:
        return 2**30 if self.simulations is None else self.simulations

    @property
    def k(self) -> float:
        """k of RAVE: as it is set, or m (sources: Alg. 11); the thesis's 100 where time alone ends a search."""
        return float(self.rave_k or self.simulations or 100)


def exploration(rule: str, c: float | None) -> dict[str, float | None]:
    """The setting that holds the exploration of a rule."""
    return {"c_uct" if rule == "uct" else "c_puct": c}


def new_names(settings: Mapping[str, T]) -> dict[str, T]:
    """Settings of a search by their names of today; one that is given by both names stays, and is refused."""
    renamed = {old: new for old, new in OLD_NAMES.items() if new not in settings}
    return {renamed.get(key, key): value for key, value in settings.items()}
