"""One line of metrics.jsonl: what an iteration did, typed. It is written and read here and nowhere else.

The names of the fields are the names in the file. A line that has no `version` was written before lines had one; fields
that came later are None there, or empty. Knows no network, no player and no training: the parts of a line are results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from palaestra.base.errors import DamagedRunError, RunError
from palaestra.base.reading import parse_json

VERSION = 1  # of the line; to be raised when a reader of the old lines would misread a new one
TIMES = ("seconds", "elapsed", "network_share", "simulations_per_second", "workers")  # fields that a clock decides

Tally = tuple[int, int, int]  # wins, draws, losses
Elo = tuple[float | None, float | None, float | None]  # difference and its 95 % interval; None is infinite


class _Part:
    """What all parts of a line share: how they are checked when they are read."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False, extra="ignore")


@dataclass(frozen=True)
class StageSeconds(_Part):
    """Seconds of each stage (Eq. 3.2); only a game for one player has a deep search."""

    selfplay: float = 0.0
    training: float = 0.0
    gate: float = 0.0
    evaluation: float = 0.0
    deep: float | None = None

    def by_stage(self) -> dict[str, float]:
        """Stage -> seconds, in the order in which the stages follow each other."""
        deep = {} if self.deep is None else {"deep": self.deep}
        rest = {"training": self.training, "gate": self.gate, "evaluation": self.evaluation}
        return {"selfplay": self.selfplay, **deep, **rest}

    @property
    def total(self) -> float:
        return sum(self.by_stage().values())


@dataclass(frozen=True)
class LossMeans(_Part):
    """Means over the batches of an epoch, each before its update; None where the mean is not finite."""

    policy: float | None
    value: float | None
    sum: float | None
    product: float | None


@dataclass(frozen=True)
class GameResults(_Part):
    """How many games the first player won, were drawn, and the second player won."""

    first: int
    draw: int
    second: int

    @property
    def games(self) -> int:
        return self.first + self.draw + self.second


@dataclass(frozen=True)
class LearnedReward(_Part):
    """What a reward that learns says after the iteration's games."""

    window: int  # results that it remembers
    draw: float  # the first player's value of a draw
    median_win: float | None  # and of the median win of these games; None without a win


@dataclass(frozen=True)
class Encounter(_Part):
    """A match between two networks of a run, from the view of `network`; both are named by their iterations."""

    network: int
    against: int
    wins: int
    draws: int
    losses: int
    first: Tally  # in the games that `network` began
    games: int
    distinct_games: int


@dataclass(frozen=True)
class Gate(_Part):
    """The candidate's match against the network that played so far. Early runs did not count all of it."""

    accepted: bool
    wins: int
    draws: int
    losses: int
    reason: str = ""
    games: int | None = None
    distinct_games: int | None = None
    first: Tally | None = None  # in the games that the candidate began
    network: int | None = None  # the iteration of the candidate,
    against: int | None = None  # and of the network that it met

    @property
    def encounter(self) -> Encounter | None:
        """The gate's match as a match between networks; None where it was not counted who began."""
        known = (self.network, self.against, self.first, self.games, self.distinct_games)
        network, against, first, games, distinct_games = known
        if network is None or against is None or first is None or games is None or distinct_games is None:
            return None
        return Encounter(network, against, self.wins, self.draws, self.losses, first, games, distinct_games)


@dataclass(frozen=True)
class AnchorResult(_Part):
    """The agent's result against one player that never changes. Intervals are 95 %."""

    anchor: str
    simulations: int
    wins: int
    draws: int
    losses: int
    score: float
    interval: tuple[float, float]
    elo: Elo
    games: int
    distinct_games: int


@dataclass(frozen=True)
class Demerits(_Part):
    """What an agent gave away to perfect play, from every start and on both sides; wins and losses are the agent's."""

    demerits: float
    wins: int
    draws: int
    losses: int
    mean_plies: float

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class Score(_Part):
    """The scores of one player. The interval is 95 %, of the mean (Student's t); none for a single game."""

    player: str
    mean: float
    low: float | None
    high: float | None
    best: int
    games: int
    distinct_games: int


@dataclass(frozen=True)
class AgentScore(Score):
    """The agent's scores with search, and those of the anchors from the same beginnings."""

    anchors: tuple[Score, ...] = ()


@dataclass(frozen=True)
class DeepScores(_Part):
    mean: float
    highest: int


@dataclass(frozen=True)
class SelfPlayScores(_Part):
    """Scores of an iteration's games for one player."""

    mean: float
    highest: int
    lowest: int
    deep: DeepScores | None  # of the deep search, where one was due
    best: int  # of the whole run so far, from wherever


@dataclass(frozen=True)
class RankedReward(_Part):
    """Where a ranked reward stands."""

    threshold: float | None
    window: int
    stuck: bool
    solved: bool  # the threshold is the best possible score


@dataclass(frozen=True)
class WarmStartState(_Part):
    """What a warm iteration leaves in the run's records."""

    enhancement: str
    weight: float
    balance: int | None  # r: the default search's wins minus its losses against the enhancement; None: not adaptive
    switch: bool  # whether the next iteration is pure self-play for the first time


@dataclass(frozen=True)
class CourseGame(_Part):
    """What an iteration did at one game of a run's course."""

    game: str
    games: int
    positions: int
    mean_plies: float
    results: GameResults
    against: tuple[AnchorResult, ...] | None = None  # where all games of the course are judged


@dataclass(frozen=True)
class CourseState(_Part):
    """The games of an iteration in a run that learns several."""

    games: tuple[CourseGame, ...]
    ended: str | None = None  # why a curriculum's next iteration is the first at the next game, if it is


@dataclass(frozen=True)
class RunningElo(_Part):
    """A network's Elo above the earliest one; the 95 % interval is elo - minus … elo + plus."""

    network: int
    elo: float
    plus: float
    minus: float


@dataclass(frozen=True)
class WorkerSpeed(_Part):
    """How many games of self-play a thread, process or machine's worker played, and its seconds for them."""

    worker: str
    games: int
    seconds: float

    @property
    def games_per_second(self) -> float:
        return self.games / max(self.seconds, 1e-9)


@dataclass(frozen=True, kw_only=True)
class MetricsLine(_Part):
    """What one iteration did. All but TIMES is a function of the run's settings: a resumed run repeats it exactly."""

    version: int = VERSION
    iteration: int
    games: int
    positions: int
    seconds: StageSeconds
    elapsed: float  # seconds of the whole run
    losses: LossMeans  # of the last epoch
    losses_by_epoch: tuple[LossMeans, ...] = ()  # of each epoch where learn.epochs is set, else of all batches
    loss_minimised: str
    progress: float | None = None  # where the run was for its schedules, in [0, 1]
    lr: float
    steps: int
    diverged: str | None = None  # why training ran away, if it did
    mean_plies: float
    results: GameResults | None = None  # None with one player
    reward: str | None = None
    learned: LearnedReward | None = None  # of a reward that learns
    gate: Gate | None = None
    elo: dict[str, Elo] | None = None  # anchor -> Elo; None where there was no evaluation
    against: tuple[AnchorResult, ...] | None = None
    history: Encounter | None = None  # with the network that was evaluated before
    demerits: Demerits | None = None
    score: AgentScore | None = None  # the evaluation of a game for one player,
    scores: SelfPlayScores | None = None  # and its self-play,
    ranked: RankedReward | None = None  # its reward,
    exploration: float | None = None  # and by what factor its self-play explored more than the settings say
    network_share: float
    simulations: int
    simulations_per_second: float
    workers: tuple[WorkerSpeed, ...] | None = None
    ages: tuple[int, ...] | None = None  # games whose network was 0, 1, … iterations old; None: all were 0
    warm: WarmStartState | None = None
    course: CourseState | None = None  # of a run that learns several games; otherwise the line has no such field
    buffer: int
    running_elo: RunningElo | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the network of this iteration plays from now on: no gate rejected it."""
        return self.gate is None or self.gate.accepted

    @property
    def is_evaluated(self) -> bool:
        return bool(self.elo) or self.score is not None


Lines = Sequence[MetricsLine]  # of the iterations 1, 2, … of a run


def write_line(line: MetricsLine) -> bytes:
    """The line as it stands in metrics.jsonl, with its end."""
    document = asdict(line) | {"seconds": line.seconds.by_stage()}
    if line.course is None:
        del document["course"]
    return (json.dumps(document, allow_nan=False) + "\n").encode()


def read_lines(data: bytes, path: Path) -> list[MetricsLine]:
    """The lines of a metrics.jsonl; RunError says in which line it cannot be read, and what to do. `path` is named."""
    return [_read_line(text, f"{path}, line {number}") for number, text in enumerate(data.splitlines(), start=1)]


def _read_line(text: bytes, where: str) -> MetricsLine:
    try:
        found = parse_json(text)
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
        version = found.get("version", 0)
        if isinstance(version, int) and version > VERSION:
            raise RunError(
                f"{where} has version {version}, and this Palaestra reads up to {VERSION}: use the newer one"
            )
        return _adapter().validate_python({"version": 0, **found})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
    except ValueError as error:
        what = str(error)
    raise DamagedRunError(f"{where} is not a line of metrics ({what}); restore the file from a copy")


@cache
def _adapter() -> TypeAdapter[MetricsLine]:
    return TypeAdapter(MetricsLine)
