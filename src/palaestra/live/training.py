"""Training from the first iteration to the last, and what is said about an agent when it is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from palaestra.games.base import Game
from palaestra.games.registry import text_of
from palaestra.learn.best_solutions import best_file
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener, Summary
from palaestra.learn.listeners import tensorboard
from palaestra.learn.loop import resume as resume_run
from palaestra.learn.loop import train as train_run
from palaestra.learn.oracles import ErrorRate, error_rates, own_oracle
from palaestra.learn.solo import best_score
from palaestra.live.progress_file import ProgressFile
from palaestra.live.run import existing_folder, name_of
from palaestra.live.words import clock
from palaestra.players.runs import open_run
from palaestra.runs.metrics import AnchorResult, Demerits, Elo
from palaestra.work.workers import Workers, make_workers


class MistakesDocument(TypedDict):
    positions_of: str
    simulations: int
    error_rate: float


class TrainedDocument(TypedDict):
    """A trained run as JSON; an infinite Elo is null."""

    run: str
    folder: str
    game: str
    net: str
    reward: str
    seed: int
    iterations: int
    games: int
    positions: int
    seconds: float
    best: int
    elo: dict[str, Elo] | None
    score: NotRequired[dict[str, Any]]  # with one player, in place of Elo: the last evaluation,
    anchors: NotRequired[list[dict[str, Any]]]
    record: NotRequired[int | None]  # the best score of the whole run,
    solution: NotRequired[str | None]  # and the file that proves it
    losses: dict[str, float | None] | None
    demerits: dict[str, Any] | None
    error_rate: list[MistakesDocument] | None


@dataclass(frozen=True)
class TrainedRun:
    """A run that has come to its end: how strong its agent is."""

    summary: Summary
    rates: Sequence[ErrorRate] = field(default=())  # mistakes, where an oracle knows the game

    @property
    def name(self) -> str:
        return name_of(self.summary.folder)

    @property
    def title(self) -> str:
        summary = self.summary
        return (
            f"{summary.config.game}: {summary.iterations} iterations, {summary.games:,} games and"
            f" {summary.positions:,} positions in {clock(summary.seconds)}"
        )

    @property
    def against(self) -> Sequence[AnchorResult]:
        """The last evaluation against players that never change."""
        return next((line.against for line in reversed(self.summary.metrics) if line.against), ())

    @property
    def demerits_in_words(self) -> str:
        """How the demerits went; nothing where they were not counted."""
        counted = [(line.iteration, line.demerits) for line in self.summary.metrics if line.demerits]
        return demerits_in_words(counted) if counted else ""

    @property
    def record(self) -> tuple[int | None, Path] | None:
        """With one player, the best score of the whole run and the file that proves it."""
        found = best_file(self.summary.folder)
        return None if found is None else (best_score(self.summary.metrics), found)

    def document(self) -> TrainedDocument:
        """The run as JSON."""
        summary = self.summary
        last = summary.metrics[-1] if summary.metrics else None
        found: TrainedDocument = {
            "run": self.name,
            "folder": str(summary.folder),
            "game": summary.config.game,
            "net": summary.config.net,
            "reward": summary.config.reward,
            "seed": summary.config.seed,
            "iterations": summary.iterations,
            "games": summary.games,
            "positions": summary.positions,
            "seconds": summary.seconds,
            "best": summary.best,
            "elo": None if summary.score else summary.elo,
            "losses": asdict(last.losses) if last else None,
            "demerits": asdict(last.demerits) if last and last.demerits else None,
            "error_rate": [
                {"positions_of": rate.positions_of, "simulations": rate.simulations, "error_rate": rate.rate}
                for rate in self.rates
            ]
            or None,
        }
        if summary.score is not None:
            score = asdict(summary.score)
            found["score"] = {name: value for name, value in score.items() if name not in ("player", "anchors")}
            found["anchors"] = score["anchors"]
            found["record"] = best_score(summary.metrics)
            found["solution"] = None if self.record is None else str(self.record[1])
        return found


def train(
    config: RunConfig,
    folder: Path,
    listeners: Iterable[Listener] = (),
    workers: str | None = None,
    *,
    games: str | Path | None = None,
) -> Summary:
    """Run from nothing, or from the `games` of a PGN file, to the end that the configuration sets, in a new folder.

    A file in it says how far the run is, and TensorBoard listens if it is there. `workers` play its games: threads:N,
    processes:N, ray, or the address of a cluster; by default threads, as many as the settings say.
    """
    with _workers(workers) as given:
        return train_run(config, folder, [*listeners, *_logs(folder)], workers=given, games=games)


def resume(
    run: str | Path,
    sets: Sequence[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    from_iteration: int | None = None,
    game: Game | str | None = None,
    threads: int | None = None,
    device: str | None = None,
    workers: str | None = None,
    listeners: Iterable[Listener] = (),
) -> Summary:
    """Go on where a run stopped; `iterations` or `minutes` (in all, not in addition) extend it."""
    folder = existing_folder(run)
    given = {"threads": threads, "device": device}
    changed = [*sets, *(f"{key}={value}" for key, value in given.items() if value is not None)]
    with _workers(workers) as crew:
        return resume_run(
            folder,
            changed,
            iterations=iterations,
            minutes=minutes,
            from_iteration=from_iteration,
            game=text_of(game) if isinstance(game, Game) else game,
            listeners=[*listeners, *_logs(folder)],
            workers=crew,
        )


def _workers(text: str | None) -> AbstractContextManager[Workers | None]:
    return nullcontext() if text is None else make_workers(text)


def _logs(folder: Path) -> list[Listener]:
    board = tensorboard(folder)
    return [ProgressFile(folder), *([board] if board else [])]


def mistakes(summary: Summary) -> list[ErrorRate]:
    """Error rates of the network that plays, where an oracle knows the game: alone, and with the run's search."""
    config, game = summary.config, summary.game
    oracle = own_oracle(game)
    if oracle is None:
        return []
    run = open_run(str(summary.folder))
    model, budgets = run.network(summary.best), (0, config.evaluation.simulations)
    settings: dict[str, Any] = {"threads": config.threads, "reward": run.make_reward(game)}
    return error_rates(game, model, config.selfplay.search, [oracle], budgets, **settings)


def demerits_in_words(counted: Sequence[tuple[int, Demerits]]) -> str:
    """How the demerits went, from iterations that counted them."""
    counts = [found.demerits for _, found in counted]
    none = next((iteration for iteration, found in counted if found.demerits == 0), None)
    best = f"none for the first time in iteration {none}" if none else f"{min(counts):.2f} at best"
    return f"Demerits against perfect play: {counts[0]:.2f} at first, {best}, {counts[-1]:.2f} in the end"
