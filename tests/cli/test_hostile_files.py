"""Every kind of file that a verb opens, damaged in every way: refused in one line, or harmless. Nothing hangs."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from palaestra.games.registry import make_game
from palaestra.ggp.rules import rulesheet
from palaestra.players.table import About, Table, table_bytes
from palaestra.runs.manifest import Manifest, digest
from tests.cli.conftest import Cli
from tests.learn.run_folders import make_run
from tests.players.run_folders import random_model, write_run

HEX, TIC = make_game("hex-3x3"), make_game("tic_tac_toe-3x3")
LONGEST = 900  # seconds, after which a command counts as hanging
SHORT = ("--games", "2")
PLAYERS = ("random", "uct(simulations=2)")
SOLVE = ("solve", "morpion-4d", "--player", "random", "--restarts", "1")

VERBS: dict[str, tuple[str, ...]] = {  # file -> the command that opens it
    "net.onnx": ("match", "hex-3x3", "puct(net.onnx, simulations=2)", "random", *SHORT),
    "games.pgn": ("rate", "games.pgn"),
    "played.pgn": ("tournament", "hex-3x3", *PLAYERS, *SHORT, "--pgn", "played.pgn", "--resume"),
    "given.pgn": ("train", "tic_tac_toe-3x3", "--games", "given.pgn", "--iterations", "1", "--out", "given"),
    "lines.pgn": ("match", "hex-3x3", *PLAYERS, *SHORT, "--openings", "lines.pgn:1"),
    "lines.txt": ("match", "hex-3x3", *PLAYERS, *SHORT, "--openings", "lines.txt"),
    "tic.table": ("match", "tic_tac_toe-3x3", "qtable:tic.table", "random", *SHORT),
    "solution.txt": ("check-solution", "solution.txt"),
    "sets.json": ("evaluate", "small", "--games", "0", "--simulations", "2", "--positions", "sets.json"),
    "rules.kif": ("perft", "gdl:rules.kif", "1"),
    "runs/begun/config.toml": ("resume", "begun"),
    "runs/small/manifest.json": ("match", "hex-3x3", "run:small(simulations=2)", "random", *SHORT),
    "runs/small/checkpoints/0000.onnx": ("evaluate", "small", "--games", "2", "--simulations", "2", *SHORT),
    "runs/whole/manifest.json": ("report", "whole"),
    "runs/whole/metrics.jsonl": ("report", "whole"),
    "runs/whole/games/0001.pgn": ("report", "whole"),
    "solved/solve.json": (*SOLVE, "--out", "solved"),
    "solved/journal.jsonl": (*SOLVE, "--out", "solved"),
    "known.txt": ("solve", "morpion-4d", "--player", "nrpa(level=1, n=2, avoid=known.txt)", "--restarts", "1"),
}


def write_good(folder: Path) -> None:
    """Every file of VERBS as it should be."""
    model = random_model(HEX)
    (folder / "net.onnx").write_bytes(model)
    game = '[Event "?"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n[Variant "hex-3x3"]\n\n1. a1 b2 2. c3 1-0\n\n'
    for name in ("games.pgn", "played.pgn", "lines.pgn", "given.pgn"):
        (folder / name).write_text(game)
    (folder / "lines.txt").write_text("a1 b2\nc3 # a line\n")
    (folder / "tic.table").write_bytes(table_bytes(Table(TIC), About("q", 1)))
    (folder / "solution.txt").write_text("# by nobody\ngame: morpion-5d\nscore: 1\nmoves:\nn11e\n")
    (folder / "known.txt").write_text("# by nobody\ngame: morpion-4d\nscore: 1\nmoves:\nm15e\n")
    scores = [-1, -1, 1, 1, 1, 1, 1, -1, -1]
    (folder / "sets.json").write_text(json.dumps({"all": [{"moves": "", "scores": scores}]}))
    (folder / "rules.kif").write_text(rulesheet("tic_tac_toe-3x3"))
    (folder / "runs" / "begun").mkdir(parents=True)
    (folder / "runs" / "begun" / "config.toml").write_text('game = "hex-3x3"\niterations = 1\n[learn]\nlr = "high"\n')
    write_run(folder / "runs" / "small", HEX, {0: model})
    make_run(folder / "runs" / "whole", "hex-3x3", iterations=1, best=1)
    (folder / "solved" / "solutions").mkdir(parents=True)
    about = {"format": 1, "game": "morpion-4d", "version": make_game("morpion-4d").version, "player": "random",
             "seed": 0, "opening": "", "at_once": 16384}  # fmt: skip
    (folder / "solved" / "solve.json").write_text(json.dumps(about))
    line = {"restart": 0, "count": 16384, "scores": {"30": 16384}, "seconds": 1.0, "took": 1.0}
    (folder / "solved" / "journal.jsonl").write_text(json.dumps(line) + "\n")


def written(make: Callable[[bytes, random.Random], bytes]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(make(path.read_bytes(), random.Random(path.name)))

    return damage


def instead(make: Callable[[Path], Any]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def changed_numbers(data: bytes, rng: random.Random) -> bytes:
    """Every digit becomes a number that nobody counts to."""
    return b"".join(b"9" * 5000 if byte in b"123456789" else bytes([byte]) for byte in data[:4000])


def changed_values(value: bytes) -> Callable[[bytes, random.Random], bytes]:
    """Another value after every colon of JSON, and after every = of TOML."""

    def change(data: bytes, rng: random.Random) -> bytes:
        for mark in (b": ", b"= "):
            first, *rest = data.split(mark)
            keep = rng.randrange(len(rest) + 1)
            data = mark.join([first, *(_after(one, value) if i >= keep else one for i, one in enumerate(rest))])
        return data

    def _after(piece: bytes, value: bytes) -> bytes:
        cut = min((at for end in (b",", b"}", b"]", b"\n") if (at := piece.find(end)) >= 0), default=len(piece))
        return value + piece[cut:]

    return change


def signed(field: str, value: Any) -> Callable[[Path], None]:
    """A manifest with another value of a field, whose checksum fits: as a stranger could write it."""

    def damage(path: Path) -> None:
        body = {**json.loads(path.read_bytes()), field: value}
        del body["check"]
        path.write_text(json.dumps({**body, "check": digest(json.dumps(body, sort_keys=True).encode())}))

    return damage


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(1 + len(data) // 200):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": written(lambda data, rng: b""),
    "cut": written(lambda data, rng: data[: len(data) // 2]),
    "one byte": written(lambda data, rng: data[:1]),
    "all but one byte": written(lambda data, rng: data[:-1]),
    "doubled": written(lambda data, rng: data + data),
    "random": written(lambda data, rng: rng.randbytes(10_000)),
    "zeros": written(lambda data, rng: bytes(10_000)),
    "flipped": written(flipped),
    "text of another sort": written(lambda data, rng: b"What is this?\n" * 9),
    "JSON of another sort": written(lambda data, rng: rng.choice([b"[]", b"null", b"3", b'"x"', b"{}", b'{"a": {}}'])),
    "nested lists": written(lambda data, rng: b"[" * 100_000 + b"]" * 100_000),
    "nested tables": written(lambda data, rng: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "nested brackets": written(lambda data, rng: b"(" * 100_000 + b")" * 100_000),
    "nested in TOML": written(lambda data, rng: b"a = " + b"[" * 50_000 + b"]" * 50_000),
    "a dotted key": written(lambda data, rng: b"a" + b".a" * 30_000 + b" = 1"),
    "huge numbers": written(changed_numbers),
    "NaN": written(changed_values(b"NaN")),
    "infinity": written(changed_values(b"1e999")),
    "null": written(changed_values(b"null")),
    "a list": written(changed_values(b"[[1]]")),
    "a text": written(changed_values(b'"\\u001b[2J"')),
    "sparse": instead(lambda path: os.truncate(path.open("wb").name, 100 * 2**20)),
    "a loop of links": instead(lambda path: path.symlink_to(path.name)),
    "a link to nothing": instead(lambda path: path.symlink_to("nothing")),
    "an endless device": instead(lambda path: path.symlink_to("/dev/zero")),
    "a pipe": instead(os.mkfifo),
    "a folder": instead(Path.mkdir),
    "gone": instead(lambda path: None),
    "closed": lambda path: path.chmod(0),
}
CASES = [(file, damage) for file in VERBS for damage in DAMAGES]
ODD = ([], {}, [1], "x", None, -1, 10**12, 1e308, {"selfplay": 3}, {"game": [], "gate": 3}, {"../../x": "0"})
SIGNED = {
    f"{field.name} is {value!r}": signed(field.name, value) for field in dataclasses.fields(Manifest) for value in ODD
}
DAMAGES |= SIGNED
MANIFESTS = [(file, damage) for file in VERBS if file.endswith("manifest.json") for damage in SIGNED]
SAMPLE = CASES[::17] + MANIFESTS[::40]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_good(tmp_path)
    return tmp_path


@pytest.fixture
def alarm() -> Iterator[None]:
    """A command that hangs is interrupted by an error that none declares."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def try_file(cli: Cli, here: Path, file: str, damage: str) -> int:
    """The exit code; only a file that is still what it should be may be used."""
    DAMAGES[damage](here / file)
    done = cli(*VERBS[file])
    wrong = file == "solution.txt" and done.code == 1 and done.out.startswith("solution.txt: wrong")
    assert done.code in (0, 2) or wrong, done.err
    if done.code == 2:
        assert done.err.startswith("error: ") and len(done.err.splitlines()) == 1, done.err
        assert done.out == ""
    return done.code


@pytest.mark.parametrize(("file", "damage"), SAMPLE)
def test_a_hostile_file_is_refused_in_one_line_or_harmless(
    cli: Cli, here: Path, alarm: None, file: str, damage: str
) -> None:
    try_file(cli, here, file, damage)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "damage"), [case for case in CASES + MANIFESTS if case not in SAMPLE])
def test_every_other_hostile_file_too(cli: Cli, here: Path, alarm: None, file: str, damage: str) -> None:
    try_file(cli, here, file, damage)


@pytest.mark.parametrize("damage", ["empty", "random", "nested lists", "a pipe", "a folder", "an endless device"])
def test_what_cannot_be_the_file_is_always_refused(cli: Cli, here: Path, alarm: None, damage: str) -> None:
    for file in (
        "net.onnx",
        "tic.table",
        "sets.json",
        "rules.kif",
        "solution.txt",
        "known.txt",
        "runs/small/manifest.json",
    ):
        assert try_file(cli, here, file, damage) == 2, file
