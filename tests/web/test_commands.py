"""Commands that outlive whoever started them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from palaestra.base.errors import RunError
from palaestra.web import commands
from palaestra.web.commands import LOG, RECORD, Command, is_running

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks are not inherited there")


def ends(command: Command, seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while command.is_running and time.monotonic() < until:
        time.sleep(0.02)
    return not command.is_running


def ended(folder: Path) -> Command:
    """The command of a folder, once its exit code is noted."""
    until = time.monotonic() + 10
    while (last := Command.last(folder)) is None or (last.code is None and time.monotonic() < until):
        time.sleep(0.02)
    return last


@pytest.fixture
def sleeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that wait, in place of Palaestra's: quick to start, and they do not end by themselves."""
    code = "import sys, time; print(*sys.argv[1:], flush=True); time.sleep(600)"
    spawn = commands._spawn
    monkeypatch.setattr(commands, "_spawn", lambda words, log: spawn([sys.executable, "-c", code, *words[3:]], log))


def test_a_command_does_what_it_is_told_and_its_words_are_kept(tmp_path: Path) -> None:
    command = Command.start(["perft", "tic_tac_toe-3x3", "2"], tmp_path / "a b")
    assert command.line == "palaestra perft tic_tac_toe-3x3 2"
    assert ends(command) and "72" in command.log()
    last = ended(tmp_path / "a b")
    assert last.code == 0 and not last.failed and last.words == command.words


def test_a_wrong_command_leaves_the_line_that_says_why(tmp_path: Path) -> None:
    command = Command.start(["perft", "no_such_game", "2"], tmp_path)
    assert ends(command) and "no_such_game" in command.last_line
    assert ended(tmp_path).failed


@pytest.mark.usefixtures("sleeping")
def test_it_is_found_by_another_process_and_goes_on_when_its_starter_ends(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from palaestra.web import commands as c;"
        "spawn = c._spawn;"
        "c._spawn = lambda w, log: spawn([sys.executable, '-c', 'import time; time.sleep(600)'], log);"
        "c.Command.start(['x'], Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    found = Command.last(tmp_path)
    assert found is not None and found.is_running
    found.stop()
    assert not found.is_running


@pytest.mark.usefixtures("sleeping")
def test_a_folder_has_one_command_at_a_time(tmp_path: Path) -> None:
    command = Command.start(["one"], tmp_path)
    try:
        with pytest.raises(RunError, match="stop it first"):
            Command.start(["other"], tmp_path)
        assert Command.last(tmp_path) == command
    finally:
        command.stop()
    again = Command.start(["other"], tmp_path)
    again.stop()
    assert not is_running(tmp_path) and not again.failed


@pytest.mark.usefixtures("sleeping")
def test_a_process_that_has_the_number_by_chance_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    time.sleep(0.1)  # beginnings are told in ticks of 10 ms, and these two must differ
    command = Command.start(["one"], tmp_path)
    try:
        kept = json.loads((tmp_path / RECORD).read_text())
        (tmp_path / RECORD).write_text(json.dumps({**kept, "pid": stranger.pid}))
        forged = Command.last(tmp_path)
        assert forged is not None
        with pytest.raises(RunError, match="left alone"):
            forged.stop()
        command.stop()
        forged.stop()  # nothing runs any more
        assert stranger.poll() is None
    finally:
        command.stop()
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize(
    "kept",
    ["", "[]", "{}", '{"words": "x", "pid": 5, "started": 1}', '{"words": ["x"], "pid": -1, "started": 1}', "\0"],
)
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, kept: str) -> None:
    (tmp_path / RECORD).write_text(kept)
    assert Command.last(tmp_path) is None
    assert not is_running(tmp_path)


def test_a_log_that_leads_elsewhere_is_not_written(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / LOG).symlink_to(other)
    with pytest.raises(RunError):
        Command.start(["games"], tmp_path)
    assert other.read_text() == "kept"
