"""Games that a run is given: it learns from them first, as AlphaGo did, and then by self-play (sources: expert games).

They are read and checked before a run leaves anything behind, and become games/0000.pgn of its folder, so that nothing
else is needed from then on: a run that is killed before or while it learns them learns them when it is resumed. What
was learned from which file stands in the run's history.

The policy is the move that was played, whoever won, and the value what the game was worth to the player who moved.
Random openings are not learned from, nor are games that were not played to their end: who won does not say by how much.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from palaestra.base.errors import PalaestraError, RecordError
from palaestra.base.reading import read_bytes
from palaestra.base.text import clip
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.learn import events
from palaestra.learn.config import LearnConfig
from palaestra.learn.divergence import divergence
from palaestra.learn.events import StageTimer
from palaestra.learn.examples import Examples
from palaestra.learn.provenance import config_text
from palaestra.learn.replay import Replay
from palaestra.learn.sampling import examples_of_games
from palaestra.learn.session import Session
from palaestra.runs.folder import numbered
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.manifest import Change, digest
from palaestra.runs.pgn_games import PgnGame, stream_games, write_game

FILE = numbered("games", 0, "pgn")  # in a run's folder
MOST_BYTES = 2**28
LEARNED = "learned from given games: "  # how the line of the history begins
_BATCHES, _SETTLE = 111, 112  # numbers of stages in their random seeds


@dataclass(frozen=True)
class GivenGames:
    """Checked games as the run keeps them."""

    pgn: bytes
    games: int
    positions: int  # to learn from

    def steps(self, config: LearnConfig) -> int:
        """How many batches are learned from them."""
        return _steps(config, self.positions)


def read_given(file: Path | str, game: Game) -> GivenGames:
    """The finished games of a PGN file; RecordError says which game cannot be used, and why."""
    try:
        data = read_bytes(file, MOST_BYTES)
    except OSError as error:
        raise RecordError(f"cannot read {file} ({(error.strerror or str(error)).lower()}); give a PGN file") from None
    records: list[GameRecord] = []
    there = 0
    for there, played in enumerate(stream_games(io.BytesIO(data), str(file)), start=1):
        try:
            record = _finished(played, game, len(records))
        except PalaestraError as error:
            raise RecordError(f"{file}, game {there}: {error}") from None
        if record is not None:
            records.append(record)
    positions = sum(len(record.moves) - record.opening_plies for record in records)
    if not positions:
        what = f"none of its {there} games was played to its end" if there else "it holds no game"
        raise RecordError(f"nothing can be learned from {file}: {what}; give finished games of {game.id}")
    tags = {"Event": f"{there:,} games of {Path(file).name}, SHA-256 {digest(data)}"}
    texts = (write_game(record, game, tags) for record in records)
    return GivenGames("".join(texts).encode("utf-8", "replace"), len(records), positions)


def _finished(played: PgnGame, game: Game, number: int) -> GameRecord | None:
    """The game by these rules; None if it was not played to its end, RecordError if it is none of theirs."""
    if not game.is_called(variant := played.tags.get("Variant", game.id)):
        raise RecordError(f"it is one of {clip(variant)}, and the run learns {game.id}")
    states, moves = played.replay(game)
    record = replace(played.record(game, number), moves=moves, values=())
    outcome = int(game.outcome(states[-1][None])[0])
    if outcome == ONGOING:
        return None
    points = points_of(outcome) if game.players == 2 else None
    return replace(record, outcome=outcome, points=points, opening_plies=min(record.opening_plies, len(moves)))


def wait_to_be_learned(session: Session) -> bool:
    """Whether the run has given games that it has not learned from yet."""
    now = session.current.manifest
    told = (line for change in now.history for line in change["changed"])
    return now.iteration == 0 and FILE in now.files and not any(line.startswith(LEARNED) for line in told)


def learn_given(session: Session) -> None:
    """Learn from the games that the run was given, and save iteration 0 again: with the network that has."""
    game, config, now = session.game, session.config, session.current.manifest
    given = list(stream_games(io.BytesIO(session.home.read(FILE, now)), FILE))
    records = [played.record(game, number) for number, played in enumerate(given)]
    examples = _examples(session, records)
    steps = _steps(config.learn, len(examples))
    with StageTimer(session.tell, {}, 0, "training", steps, "batches") as listen:
        learned = Replay(1)
        learned.add(0, examples)
        turned = not config.defects.unturned_policies
        rng = np.random.default_rng([config.seed, 0, _BATCHES])
        batches = learned.batches(game, config.learn, rng, turn_policies=turned)
        report = session.trainer.train(batches, steps, 0.0, listen)
    if diverged := divergence(report, game.num_actions):
        session.tell(events.Warned(f"learning from the given games diverged: {diverged}"))
    model = session.trainer.onnx()
    files = {numbered("checkpoints", 0, "onnx"): model, **session.state_file(0), **session.reward_file(0)}
    source = given[0].tags.get("Event", "?")
    words = f"{LEARNED}{len(records):,} games, {len(examples):,} positions, {report.steps:,} steps, out of {source}"
    change: Change = {"after_iteration": 0, "changed": [words]}
    history = (*now.history, change)
    session.home.write_config(config_text(config, game, history))
    session.save(replace(now, seconds=session.seconds, history=history), files, None, model)


def _examples(session: Session, records: list[GameRecord]) -> Examples:
    outcomes = np.array([record.final_outcome for record in records], dtype=np.int32)
    rng = np.random.default_rng([session.config.seed, 0, _SETTLE])
    settled = session.reward.settle(outcomes, rng)
    return examples_of_games(session.game, records, settled, None, rng, all_moves=True)


def _steps(config: LearnConfig, positions: int) -> int:
    return max(1, round(config.given_epochs * positions / config.batch))
