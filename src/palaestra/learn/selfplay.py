"""Self-play: the games of one iteration, by several workers, and the examples they give (sources: self-play loop).

Games are numbered 0 … E-1 and played in pieces (`pieces`), which `workforce` gives to workers. Then `settle` puts the
pieces together. Examples and records are the same, bit for bit, however the games are divided and wherever they are
played. With `selfplay.overlap` the games with the first numbers are played by the network before, while the newest is
being trained: which network plays a game depends on its number alone, so that this, too, can be repeated bit for bit.

The policy that is stored is the one a move was drawn from, at its temperature (one-hot after T′, as in the thesis), or
the improved policy of a Gumbel root. Moves of random openings and quick moves are not learned from. What is learned
where moves are drawn from the network alone is for `sampling` to say.

Nothing is printed and nothing saved here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from palaestra.base.progress import ProgressListener
from palaestra.base.types import Float32s, Int32s
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.examples import Examples
from palaestra.learn.lockstep import Moves
from palaestra.learn.pieces import Piece, plans_of
from palaestra.learn.sampling import examples_of_games
from palaestra.learn.surprise import copies
from palaestra.learn.targets import value_targets
from palaestra.learn.warm_start import is_warm, seat, warm_start_state
from palaestra.learn.workforce import Order, PlayedPieces, Workforce
from palaestra.nets.int8 import takes_int8
from palaestra.rewards.base import Reward, default_reward
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.metrics import GameResults, WarmStartState, WorkerSpeed

_SELF = "self-play"
_SETTLE = 102  # number of the stage that settles what games were worth, in its random seed


@dataclass(frozen=True, eq=False)
class SelfPlay:
    """The games of one iteration."""

    examples: Examples  # sorted by (game, ply)
    records: tuple[GameRecord, ...]  # by number
    seconds: float
    evaluator_seconds: float  # inside the network, summed over the threads
    threads: int
    simulations: int
    evaluations: int  # positions that the network was asked about
    positions: int  # searched, those that are not learned from included
    warm: WarmStartState | None  # of a warm start, while it lasts
    ages: tuple[int, ...] | None = None  # how many games' networks were 0, 1, … iterations old, with selfplay.overlap
    speeds: tuple[WorkerSpeed, ...] = ()

    def with_games(self, others: SelfPlay, who: str) -> SelfPlay:
        """These games and after them some others, which `who` played; all but games and examples stays as it is."""
        count = len(self.records)
        moved = replace(others.examples, game=others.examples.game + np.int32(count))
        records = [replace(record, number=count + record.number, first=who, second=who) for record in others.records]
        examples = Examples.concatenate([self.examples, moved])
        return replace(self, examples=examples, records=(*self.records, *records))

    @property
    def network_share(self) -> float:
        """Share of the threads' time that is spent in the network."""
        return self.evaluator_seconds / (self.threads * self.seconds)

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / self.seconds

    @property
    def mean_plies(self) -> float:
        return sum(len(record.moves) for record in self.records) / len(self.records)

    @property
    def results(self) -> GameResults:
        """Of a game for two players."""
        points = [record.points for record in self.records]
        return GameResults(points.count(1.0), points.count(0.5), points.count(0.0))


def play_games(
    game: Game,
    model: bytes,
    config: RunConfig,
    iteration: int,
    listen: ProgressListener | None = None,
    *,
    switched: bool = False,
    reward: Reward | None = None,
    older: bytes | None = None,
    workforce: Workforce | None = None,
) -> SelfPlay:
    """Play the games of iteration 1, 2, … with the network `model` (an ONNX file's bytes).

    `switched` says that an earlier iteration's `warm.switch` ended an adaptive warm start. `reward` (by default win 1,
    draw 0, loss -1) values the ends of games in every search, and settles what the finished games are worth as targets;
    a reward that learns has then learned from them. `older` is the network before, for the games that are played ahead
    with `selfplay.overlap` (`begin_games`); they are played now where that was not begun. By default all games are
    played on threads.
    """
    began = time.perf_counter()
    workforce = workforce or Workforce()
    order = Order(game, model, with_precision(config), iteration, switched, reward or default_reward(game))
    games = range(config.selfplay.games)
    early = games[: 0 if older is None else games_ahead(config)]
    played = PlayedPieces([], (), 1)
    if older is not None:
        ahead = workforce.finish(iteration)
        played = ahead or workforce.play(replace(order, model=older), early, listen)
    if later := games[len(early) :]:
        played = played.with_more(workforce.play(order, later, listen))
    made = settle(played.pieces, game, config, iteration, switched, order.reward)
    seconds = made.seconds / played.workers if early else time.perf_counter() - began
    ages = (len(later), len(early)) if config.selfplay.overlap else None
    return replace(made, seconds=seconds, threads=played.workers, ages=ages, speeds=played.speeds)


def begin_games(
    workforce: Workforce, game: Game, model: bytes, config: RunConfig, iteration: int, *, reward: Reward
) -> None:
    """Begin to play, while others learn, those games of an iteration that the network before it plays."""
    order = Order(game, model, with_precision(config), iteration, False, reward)
    workforce.begin(order, range(games_ahead(config)))


def with_precision(config: RunConfig) -> RunConfig:
    """The settings with the precision that `auto` means here, for all workers: one that lacks it says so."""
    precision = "int8" if takes_int8(config.selfplay.precision) else "float32"
    return config.model_copy(update={"selfplay": config.selfplay.model_copy(update={"precision": precision})})


def games_ahead(config: RunConfig) -> int:
    """How many of an iteration's games are played ahead, by the network before: those with the first numbers."""
    return round(config.selfplay.overlap * config.selfplay.games)


def settle(
    pieces: Iterable[Piece], game: Game, config: RunConfig, iteration: int, switched: bool, reward: Reward
) -> SelfPlay:
    """All games of an iteration out of pieces in any order: what they were worth, their examples and records.

    A game that comes twice counts once. `reward` is the one that the games were searched under, and learns from them.
    The seconds are those of all pieces together, as if one thread had played them.
    """
    whole = Piece.joined(pieces)
    games = config.selfplay.games
    ends = np.array([whole.outcomes[number] for number in range(games)], dtype=np.int32)
    moves = Moves.sorted(whole.moves)
    rng = np.random.default_rng([config.seed, iteration, _SETTLE])
    settled = reward.settle(ends, rng)
    if config.defects.winners_colour:  # as if the first player had lost every decided game (sources: L2)
        settled = -np.abs(settled)
    searches = len(plans_of(config, iteration, switched))
    records = _records(game, whole, moves, ends, _labels(config, searches, games, game.players))
    if config.selfplay.sampling and config.selfplay.sampled_policy == "played":
        examples = examples_of_games(game, records, settled, config.selfplay.failures, rng)
    else:
        examples = examples_of(moves, ends, config, settled, rng)
    warm = is_warm(config.warm, iteration, switched)
    return SelfPlay(
        examples=examples,
        records=records,
        seconds=whole.seconds,
        evaluator_seconds=whole.network_seconds,
        threads=1,
        simulations=whole.simulations,
        evaluations=whole.evaluations,
        positions=len(moves.game),
        warm=warm_start_state(config, iteration, ends, game.players) if warm else None,
    )


def examples_of(
    moves: Moves, outcomes: Int32s, config: RunConfig, settled: Float32s, rng: np.random.Generator
) -> Examples:
    """Examples from sorted moves, and by number the outcomes of their games and what those are worth, both [E].

    Outcomes and worth are the first player's.
    """
    game = moves.game.astype(np.int32)
    value = value_targets(config.selfplay, game, moves.states[:, 0], moves.value, moves.proven, settled[moves.game])
    made = Examples(moves.states, moves.policy, value, game, moves.ply, outcomes[moves.game])
    if not config.learn.surprise:
        return made.take(moves.full)
    rows = np.flatnonzero(moves.full)
    return made.take(np.repeat(rows, copies(moves.surprise[rows], config.learn.surprise, rng)))


def _labels(config: RunConfig, searches: int, games: int, players: int) -> Callable[[int], tuple[str, str]]:
    """Who played first and second in the game with a number."""
    if searches == 1:
        return lambda number: (_SELF, _SELF)
    names = (_SELF, config.warm.enhancement)

    def who(number: int) -> tuple[str, str]:
        first, second = seat(np.array([number, number]), np.array([0, 1], dtype=np.int8), games)
        return names[first], names[second if players == 2 else first]

    return who


def _records(
    game: Game, piece: Piece, moves: Moves, outcomes: Int32s, labels: Callable[[int], tuple[str, str]]
) -> tuple[GameRecord, ...]:
    ends = np.searchsorted(moves.game, np.arange(len(outcomes)), side="right").tolist()
    actions = moves.action.tolist()
    records = []
    for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        start, opening = piece.begun[number]
        played, outcome = (*opening, *actions[low:high]), int(outcomes[number])
        points = points_of(outcome) if game.players == 2 else None
        records.append(GameRecord(number, start, played, len(opening), outcome, points, *labels(number)))
    return tuple(records)
