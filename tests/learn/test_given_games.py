"""A run that learns from given games before it plays against itself."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.base.errors import RecordError
from palaestra.games.registry import make_game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Event
from palaestra.learn.given_games import FILE, LEARNED, read_given
from palaestra.learn.learner import Batch
from palaestra.learn.loop import resume, train
from palaestra.players.registry import make_player
from palaestra.runs.folder import RunFolder
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.pgn_games import stream_games, write_game
from tests.learn.fakes import FAKES, SOLO, FakeTrainer, tiny, tree_of

pytestmark = pytest.mark.usefixtures("quick_disk")
GAME = make_game("tic_tac_toe-3x3")


def random_games(count: int, opening_plies: int = 0) -> list[GameRecord]:
    """Random games with so many plies that are called their openings."""
    ends = GAME.rollout(GAME.initial(count), np.arange(count, dtype=np.uint64), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    return [
        GameRecord(
            i,
            0,
            tuple(ends.moves[i, : ends.lengths[i]].tolist()),
            opening_plies,
            int(ends.outcomes[i]),
            points_of(int(ends.outcomes[i])),
        )
        for i in range(count)
    ]


def write(path: Path, records: list[GameRecord]) -> Path:
    path.write_text("".join(write_game(record, GAME) for record in records))
    return path


def given_run(folder: Path, file: Path, config: RunConfig, listeners: list[events.Listener] | None = None) -> None:
    train(config, folder, listeners or [], FAKES, games=file)


def test_every_move_is_taught_with_the_movers_result_and_openings_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = random_games(9, opening_plies=2)
    seen: list[Batch] = []

    def watch(self: FakeTrainer, batches: object, steps: int, progress: float, listen: object = None) -> object:
        if not seen:
            seen.extend(next(batches) for _ in range(steps))  # type: ignore[call-overload]
        return learn(self, iter(()), 0, progress)

    learn = FakeTrainer.train
    monkeypatch.setattr(FakeTrainer, "train", watch)
    given_run(tmp_path / "run", write(tmp_path / "good.pgn", records), tiny("learn.symmetries=false", iterations=1))
    plies = np.concatenate([batch.ply for batch in seen])
    values, outcomes = (np.concatenate([getattr(batch, name) for batch in seen]) for name in ("value", "outcome"))
    policies = np.concatenate([batch.policy for batch in seen])
    assert plies.min() == 2
    np.testing.assert_array_equal(policies.sum(1), 1)
    np.testing.assert_array_equal(values, np.sign(outcomes) * np.where(plies % 2 == 0, 1, -1))
    played = {(ply, move) for record in records for ply, move in enumerate(record.moves)}
    assert {(ply, int(row.argmax())) for ply, row in zip(plies.tolist(), policies, strict=True)} <= played


def test_the_history_names_file_and_hash_and_the_file_is_needed_no_more(tmp_path: Path) -> None:
    file = write(tmp_path / "good.pgn", random_games(5))
    given_run(tmp_path / "run", file, tiny(iterations=1))
    manifest = RunFolder(tmp_path / "run").manifest()
    assert manifest is not None and FILE in manifest.files
    (words,) = [line for change in manifest.history for line in change["changed"]]
    assert words.startswith(f"{LEARNED}5 games, ") and "good.pgn, SHA-256" in words
    assert words in (tmp_path / "run/config.toml").read_text()
    file.unlink()
    resume(tmp_path / "run", iterations=2, stages=FAKES)
    assert manifest.games == 6, "those of self-play"


@pytest.mark.parametrize("last", ["folder", "begun", "learning", "learned"])
def test_a_run_that_is_stopped_anywhere_learns_its_games_once_and_goes_on_bit_for_bit(
    tmp_path: Path, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "good.pgn", random_games(5))
    given_run(tmp_path / "whole", file, tiny(iterations=2))

    def stop(event: Event) -> None:
        match event:
            case events.RunStarted() if last == "begun":
                raise KeyboardInterrupt
            case events.StageProgress(0, "training", 2) if last == "learning":
                raise KeyboardInterrupt
            case events.StageStarted(1) if last == "learned":
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if last == "folder":  # killed between config.toml and the first manifest
            patched.setattr("palaestra.learn.session.Session.state_file", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            given_run(tmp_path / "stopped", file, tiny(iterations=2), [stop])
    file.unlink()
    resume(tmp_path / "stopped", stages=FAKES)
    assert tree_of(tmp_path / "stopped") == tree_of(tmp_path / "whole")


def _interrupt(session: object, iteration: int) -> None:
    raise KeyboardInterrupt


def test_games_change_the_network_that_plays_first(tmp_path: Path) -> None:
    networks = []
    for name, count in (("few", 3), ("many", 9)):
        given_run(tmp_path / name, write(tmp_path / "good.pgn", random_games(count)), tiny(iterations=1))
        networks.append((tmp_path / name / "checkpoints/0000.onnx").read_bytes())
    train(tiny(iterations=1), tmp_path / "none", stages=FAKES)
    networks.append((tmp_path / "none/checkpoints/0000.onnx").read_bytes())
    assert len(set(networks)) == 3


def test_games_left_by_a_run_that_never_began_are_not_another_runs(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create()
    folder.give_games(b"stale")
    train(tiny(iterations=1), tmp_path / "run", stages=FAKES)
    assert not (tmp_path / "run" / FILE).exists()


def test_games_that_were_not_played_to_their_end_are_left_out(tmp_path: Path) -> None:
    whole = random_games(3)
    cut = [
        GameRecord(3, 0, whole[0].moves[:3], 0, None, None),
        GameRecord(4, 0, whole[0].moves[:3], 0, None, 0.0, adjudicated=True),
    ]
    fault = GameRecord(5, 0, whole[0].moves[:2], 0, None, 1.0, fault="it hung")
    given = read_given(write(tmp_path / "good.pgn", [*whole, *cut, fault]), GAME)
    kept = [game.record(GAME) for game in stream_games(io.BytesIO(given.pgn))]
    assert [record.outcome for record in kept] == [record.outcome for record in whole]
    assert given.positions == sum(len(record.moves) for record in kept)


def _of_another_game(path: Path) -> None:
    other = make_game("hex-3x3")
    path.write_text(write_game(GameRecord(0, 0, (0, 1), 0, None), other))


def _with_an_illegal_move(path: Path) -> None:
    good = write_game(random_games(1)[0], GAME)
    path.write_text(good + good.replace("\n1. ", "\n1. z9 "))


def _of_no_game(path: Path) -> None:
    path.write_text("")


def _of_no_finished_game(path: Path) -> None:
    write(path, [GameRecord(0, 0, (0, 1), 0, None)])


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_of_another_game, "game 1: it is one of 'hex-3x3', and the run learns tic_tac_toe-3x3"),
        (_with_an_illegal_move, "game 2: move 1 of the game: 'z9' is not a legal move here"),
        (_of_no_game, "it holds no game"),
        (_of_no_finished_game, "none of its 1 games was played to its end"),
        (_huge, "larger than"),
        (lambda path: path.mkdir(), "it is a folder"),
        (lambda path: None, "no such file"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_before_anything_is_made(
    tmp_path: Path, make: object, words: str
) -> None:
    file = tmp_path / "bad.pgn"
    make(file)  # type: ignore[operator]
    with pytest.raises(RecordError, match=words) as error:
        given_run(tmp_path / "run", file, tiny(iterations=1))
    assert "\n" not in str(error.value) and not (tmp_path / "run").exists()


def test_with_one_player_the_reward_learns_what_the_games_reached(tmp_path: Path) -> None:
    game = make_game("morpion-4d")
    ends = game.rollout(game.initial(4), np.arange(4, dtype=np.uint64), trace=True)
    assert ends.moves is not None and ends.lengths is not None
    records = [
        GameRecord(i, 0, tuple(ends.moves[i, : ends.lengths[i]].tolist()), 0, int(ends.outcomes[i])) for i in range(4)
    ]
    file = tmp_path / "good.pgn"
    file.write_text("".join(write_game(record, game) for record in records))
    train(
        tiny(*SOLO, "reward=ranked(window=20)", game="morpion-4d", iterations=1),
        tmp_path / "run",
        stages=FAKES,
        games=file,
    )
    (line,) = (json.loads(text) for text in (tmp_path / "run/metrics.jsonl").read_text().splitlines())
    assert line["ranked"]["window"] == 4 + 6


@pytest.mark.slow
def test_a_network_learns_what_good_games_have_in_common(tmp_path: Path) -> None:
    """Before any self-play, and without a search."""
    from palaestra.learn.presets import configure

    records = play_match(GAME, make_player("perfect", GAME), make_player("perfect", GAME), 60, seed=1).records
    file = write(tmp_path / "good.pgn", list(records))
    sets = ("net=mlp32x2", "selfplay.games=2", "learn.given_epochs=400", "evaluation.games=2")
    train(configure("tic_tac_toe-3x3", sets=sets, iterations=1, threads=1), tmp_path / "run", games=file)
    learned = make_player(f"run:{tmp_path / 'run'}@0(simulations=1)", GAME)
    score = play_match(GAME, learned, make_player("random", GAME), 100, seed=2)
    assert score.score > 0.7
