"""A plan: an experiment at one scale, with so many seeds, and with what the user changed. Knows no folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from palaestra.base.errors import ConfigError
from palaestra.base.text import clip
from palaestra.lab.data import Value, float_of
from palaestra.lab.experiment import SCALES, Arm, Experiment, Scale, ScaleName

if TYPE_CHECKING:
    from palaestra.lab.jobs import Train, Until
    from palaestra.learn.config import RunConfig

MOST_SEEDS = 1000
# So that neither what else the machine does nor what its processor can do makes any arm weaker.
FLOAT32 = ("selfplay.precision=float32", "learn.precision=float32")
ALIKE = ("clock=processor", *FLOAT32)
ENDS = ("iterations", "minutes")  # values of a scale that end a run


@dataclass(frozen=True, eq=False)
class Made:
    """Settings and runs that are made once for all plans that have them in common, as many experiments do."""

    configs: dict[tuple[object, ...], RunConfig] = field(default_factory=dict)
    runs: dict[tuple[object, ...], Train] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Plan:
    """What is going to be done. `sets` are the user's own settings of runs; of `boards`, none means all."""

    experiment: Experiment
    scale_name: ScaleName
    seeds: tuple[int, ...]
    values: Mapping[str, Value]
    sets: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    _made: Made = field(default_factory=Made, repr=False)

    @property
    def scale(self) -> Scale:
        return self.experiment.scales[self.scale_name]

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms, on the boards and with the settings of this scale."""
        return tuple(arm for arm in _arms(self.experiment, self.scale) if not self.boards or arm.game in self.boards)

    @property
    def departs(self) -> str:
        """How it departs from the published settings, in one line."""
        return self.scale.departs + (f"; only {', '.join(self.boards)}" if self.boards else "")

    def each(self) -> Iterator[tuple[Arm, int]]:
        """Every arm with every seed."""
        return ((arm, seed) for arm in self.arms for seed in self.seeds)

    def number(self, name: str) -> int:
        """A whole number of the scale."""
        value = self.values[name]
        assert isinstance(value, int), f"{self.experiment.id} declares {name} as {value!r}"
        return value

    def run(self, preset: str, arm: Arm, seed: int, until: Until | None = None) -> Train:
        """The run of an arm and a seed: preset, then the arm's settings, the scale's and the user's."""
        from palaestra.lab.jobs import Train

        after = None if arm.after is None else self.run(preset, arm.after, seed)
        settings = (preset, arm.game, self._sets(arm), self._end("iterations"), self._end("minutes"))
        place = (settings, seed, until, after)
        if place not in self._made.runs:
            config = self._config(*settings).model_copy(update={"seed": seed})
            self._made.runs[place] = Train(config, until, after)
        return self._made.runs[place]

    def _sets(self, arm: Arm) -> tuple[str, ...]:
        return (*ALIKE, *arm.sets, *self.scale.sets, *self.scale.board_sets.get(arm.game, ()), *self.sets)

    def _config(
        self, preset: str, game: str, sets: tuple[str, ...], iterations: int | None, minutes: float | None
    ) -> RunConfig:
        """The settings of an arm's runs, made and checked once for all its seeds."""
        from palaestra.learn.presets import configure

        given = (preset, game, sets, iterations, minutes)
        if given not in self._made.configs:
            self._made.configs[given] = configure(
                game,
                preset,
                sets,
                iterations=iterations,
                minutes=minutes,
                threads=1,  # training cuts its batches by them: so no result depends on the machine
            )
        return self._made.configs[given]

    def _end(self, name: str) -> Any:
        """A value of the scale that ends runs, as its declaration has it."""
        return self.values.get(name)


def make_plan(
    experiment: Experiment,
    scale: str = "laptop",
    seeds: int | None = None,
    *,
    first_seed: int = 0,
    sets: Sequence[str] = (),
    boards: Sequence[str] = (),
    made: Made | None = None,
) -> Plan:
    """The plan; ConfigError for a scale, a number of seeds, a setting or a board that cannot be.

    Each of `sets` changes a value of the scale, or a setting of every run that no arm sets. With `boards`, only the
    arms on these are made; claims about others stay open. Plans that are given the same `made` share runs.
    """
    if scale not in SCALES:
        raise ConfigError(
            f"there is no scale {clip(scale)}; there are {', '.join(SCALES)}, as in --scale smoke; other sizes are"
            " made by --set, as in --set share=0.1"
        )
    declared = experiment.scales[scale]
    count = declared.seeds if seeds is None else seeds
    if not 1 <= count <= MOST_SEEDS:
        raise ConfigError(f"--seeds is {count}; it must be from 1 to {MOST_SEEDS}, as in --seeds 5")
    values, own = dict(declared.values), []
    for text in sets:
        key, equals, value = (part.strip() for part in text.partition("="))
        if key in values and equals:
            values[key] = _like(values[key], value, f"--set {text}")
            if key == "games" and (int(float_of(values[key])) < 2 or float_of(values[key]) % 2):
                raise ConfigError(
                    f"games are played in pairs with sides swapped: an even number such as 100, not {value}"
                )
        else:
            refuse_own(experiment, key, text)
            own.append(text)
    known = boards_of(experiment, scale)
    for board in boards:
        if board not in known:
            raise ConfigError(f"{experiment.id} is not about {clip(board)}; its boards are {', '.join(known)}")
    ours = tuple(board for board in known if board in boards)
    numbers = tuple(range(first_seed, first_seed + count))
    return Plan(experiment, scale, numbers, values, tuple(own), ours, made or Made())


def boards_of(experiment: Experiment, scale: ScaleName) -> list[str]:
    """The games that an experiment is about at a scale."""
    return list(dict.fromkeys(arm.game for arm in _arms(experiment, experiment.scales[scale])))


def _arms(experiment: Experiment, scale: Scale) -> list[Arm]:
    return [_at(scale, arm) for arm in experiment.arms]


def _at(scale: Scale, arm: Arm) -> Arm:
    """An arm on the board and with the settings that it has at a scale."""
    return replace(
        arm,
        game=scale.boards.get(arm.game, arm.game),
        sets=tuple(scale.instead.get(text, text) for text in arm.sets),
        after=None if arm.after is None else _at(scale, arm.after),
    )


def refuse_own(experiment: Experiment, key: str, text: str) -> None:
    """ConfigError if a `key=value` text changes what the experiment itself chooses."""
    chosen = {one.partition("=")[0].strip() for arm in experiment.arms for one in arm.sets} | {"game", "seed", *ENDS}
    if key in chosen:
        raise ConfigError(
            f"{key} is what {experiment.id} itself chooses, so that --set {text} would make its table wrong; --set"
            " changes other settings, for example --set learn.lr=0.01"
        )
    if not any(getattr(measure, "trains", False) for measure in experiment.measures):
        known = list(experiment.scales["paper"].values)
        words = f"it has {', '.join(known)}" if known else "nothing of it can be set"
        raise ConfigError(f"{experiment.id} has no value {clip(key)} and trains no run; {words}")


def _like(old: Value, text: str, given: str) -> Value:
    """A text as a value of the kind that it replaces."""
    try:
        if isinstance(old, int):
            return int(text)
        return float(text) if isinstance(old, float) else text
    except ValueError:
        kind = "a whole number" if isinstance(old, int) else "a number"
        raise ConfigError(f"{given}: the value must be {kind} such as {old}") from None
