"""What an experiment is: one declaration, from which the frame makes jobs, data, verdicts, tables, figures and pages.

    identity   the work, the number and the caption
    arms       named settings, each on a game
    scales     smoke, laptop and paper: seeds, numbers, and one line that says how it departs from what was published
    measures   what is observed of arms and seeds (`measures`)
    published  numbers of the work, and where they were read
    claims     sentences; each is a function of the data that gives a `Verdict`
    draw       the data as a figure of the published shape

A declaration names functions and holds no state. It knows neither folders nor processes nor terminals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from palaestra.lab.data import Data, Row, Value
from palaestra.lab.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from palaestra.lab.jobs import Job, Store
    from palaestra.lab.plan import Plan

ScaleName = Literal["smoke", "laptop", "paper"]
SCALES: tuple[ScaleName, ...] = ("smoke", "laptop", "paper")
Answer = Literal["holds", "fails", "open"]
OURS = "Palaestra"  # the work of experiments that no work has
NO_DEPARTURE = "our own, there is no published one to depart from"  # `Scale.departs` of those


@dataclass(frozen=True)
class Identity:
    """Which result this is: `fig-4.2` is Figure 4.2 of chapter 4 of the thesis. The caption is in our own words."""

    id: str
    work: str
    number: str
    caption: str
    chapter: str = ""  # "chapter-4": what `reproduce chapter-4` means


@dataclass(frozen=True)
class Arm:
    """One of the settings that are compared, on one game.

    `sets` are settings of a run, written as for --set. `values` are arguments of a measure that trains nothing. `after`
    is the arm, on a board of its own, whose final networks the runs start with.
    """

    name: str
    game: str
    sets: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    after: Arm | None = None


@dataclass(frozen=True)
class Scale:
    """How large the experiment is made.

    `departs` says in one line how it departs from the published settings. `values` are its numbers by name, such as
    games or iterations: what the user may change by --set, and measures read. `sets` are settings of all runs,
    `board_sets` further ones of the runs on one game. `boards` are smaller games in place of the arms' own, `instead`
    other settings in place of theirs.
    """

    departs: str
    seeds: int
    values: Mapping[str, Value] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    boards: Mapping[str, str] = field(default_factory=dict)
    board_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)  # "learn.epochs=10" -> "learn.epochs=2"


@dataclass(frozen=True)
class Scales:
    """The three sizes that every experiment has."""

    smoke: Scale  # seconds: it only shows that everything works
    laptop: Scale  # small enough for a night on two cores, large enough to answer the question
    paper: Scale  # the printed settings

    def __getitem__(self, name: ScaleName) -> Scale:
        return {"smoke": self.smoke, "laptop": self.laptop, "paper": self.paper}[name]


@dataclass(frozen=True)
class Published:
    """A number of a work: of what, and where it was read. `read_off` says that it was read off a figure, not printed.

    `where` is a heading of docs/sources.md. `spread` is a standard deviation, where the work gives one.
    """

    arm: str
    game: str
    value: float
    where: str
    unit: str = ""
    spread: float | None = None
    read_off: bool = False

    @property
    def source(self) -> str:
        return f"{'read off the figure' if self.read_off else 'printed'}; sources: {self.where}"


@dataclass(frozen=True)
class Verdict:
    """What the data say of a claim, the figure that decides it, and the figure's 95 % interval.

    Made by `above`, `below`, `near`, `within` and `open`, so that no answer is given without an interval.
    """

    answer: Answer
    estimate: Estimate
    what: str  # what the figure is, with its unit

    def __post_init__(self) -> None:
        if self.answer != "open" and (self.estimate.interval is None or not math.isfinite(self.estimate.value)):
            raise ValueError(f"{self.answer} needs a figure with an interval, not {self.estimate}: {self.what}")

    @classmethod
    def above(cls, estimate: Estimate, limit: float, what: str) -> Verdict:
        """Holds if the whole interval lies above the limit, fails if it lies below, is open otherwise."""
        if estimate.interval is None or not math.isfinite(estimate.value):
            return cls("open", estimate, what)
        low, high = estimate.interval
        return cls("holds" if low > limit else "fails" if high < limit else "open", estimate, what)

    @classmethod
    def below(cls, estimate: Estimate, limit: float, what: str) -> Verdict:
        """The opposite of `above`."""
        opposite: dict[Answer, Answer] = {"holds": "fails", "fails": "holds", "open": "open"}
        verdict = cls.above(estimate, limit, what)
        return cls(opposite[verdict.answer], estimate, what)

    @classmethod
    def near(cls, estimate: Estimate, published: float, within: float, what: str) -> Verdict:
        """Holds if a published number lies in the interval, and fails if it does not.

        An interval that reaches further than `within` from its middle would hold almost anything: then it is open.
        """
        if estimate.interval is None or not math.isfinite(estimate.value):
            return cls("open", estimate, what)
        low, high = estimate.interval
        if not low <= published <= high:
            return cls("fails", estimate, what)
        return cls("holds" if high - low <= 2 * within else "open", estimate, what)

    @classmethod
    def within(cls, estimate: Estimate, most: float, what: str) -> Verdict:
        """Holds if the whole interval lies within ±most, fails if all of it lies outside, is open otherwise."""
        if estimate.interval is None or not math.isfinite(estimate.value):
            return cls("open", estimate, what)
        low, high = estimate.interval
        return cls("holds" if -most < low and high < most else "fails" if low > most or high < -most else "open",
                   estimate, what)  # fmt: skip

    @classmethod
    def open(cls, what: str, estimate: Estimate | None = None) -> Verdict:
        """The data cannot say, and why."""
        return cls("open", estimate or Estimate(math.nan), what)


@dataclass(frozen=True)
class Claim:
    """A sentence of the work (or ours, then called so), and how the data decide it."""

    text: str
    check: Callable[[Data], Verdict]
    ours: bool = False


@dataclass(frozen=True)
class Table:
    """What is printed: headings and rows of texts."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

        return line(self.headings) + line(["---"] * len(self.headings)) + "".join(map(line, self.rows))


class Measure(Protocol):
    """What is observed. `name` stands in the column `measured` of its rows."""

    @property
    def name(self) -> str: ...

    def jobs(self, plan: Plan) -> Iterable[Job]:
        """All that has to be done, for every arm and seed of the plan; if there is much of it, as it is asked for."""
        ...

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        """The observations, once all jobs are done; `game`, `arm` and `seed` are in each of them."""
        ...


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment, declared."""

    identity: Identity
    arms: tuple[Arm, ...]
    scales: Scales
    measures: tuple[Measure, ...]
    claims: tuple[Claim, ...]
    table: Callable[[Data], Table]
    draw: Callable[[Data], Figure]
    published: tuple[Published, ...] = ()
    reading: str = ""  # how an ambiguous text was read

    def __post_init__(self) -> None:
        given = [*(arm.sets for arm in self.arms), *(self.scales[name].sets for name in SCALES)]
        if any(isinstance(sets, str) for sets in given):
            raise ValueError(
                f"{self.id}: sets are a tuple of texts such as ('net=b3c32',), with a comma behind a single one"
            )
        names = [(arm.game, arm.name) for arm in self.arms]
        measures = [measure.name for measure in self.measures]
        if not names or len(set(names)) < len(names) or not measures or len(set(measures)) < len(measures):
            raise ValueError(f"{self.id} needs arms and measures, each with a name of its own")

    @property
    def id(self) -> str:
        return self.identity.id
