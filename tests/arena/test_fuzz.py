"""Files of strangers: whatever stands in them is read or refused by a declared error in one line, and never hangs."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from palaestra.arena.opening_files import read_openings
from palaestra.arena.openings import parse_openings
from palaestra.arena.solutions import check_solution
from palaestra.base.errors import PalaestraError
from palaestra.games.registry import make_game
from palaestra.runs.pgn_games import PgnGame, read_games, stream_games
from palaestra.runs.pgn_results import ResultReader
from palaestra.runs.solutions import parse_solution

GAME = make_game("tic_tac_toe-3x3")
SOLO = make_game("bin_packing-2d")

PGN = """[Event "x"]\r\n[Site "?"] [Round "1"]
[White "a \\"b\\""]
[Black "Ångström"]
[Result "1-0"]
[Variant "tic_tac_toe-3x3"]
[Opening "2"]
[Start "0"]

1. b2 {+0.20} a1 $3 (1. c3 {x} (2. a1)) 2. #4 c2 ; to the end
% for programs
3. a3?! 1-0

....
[White "c"]
[Black "d"]
1/2-1/2 0-1 *
"""
LINES = "# openings\nb2 a1\nb2 c3 # two\n@0 a1\n\n#4 #5\n"
SOLUTION = """# palaestra check-solution FILE verifies this
game: morpion-5d
score: 3
moves:
n11e k14se, @1
j8n
"""
MARKS = '[]{}()";%\\\n\r\t @#:.,*-+/0123456789abEnPsWe$!?…\ufeff\x00\x1b'


PIECES = [
    "(",
    "[",
    "\n[",
    '[a "b"] ',
    "{",
    "}",
    "\n",
    "\r",
    ".",
    "....\n",
    "9",
    "1. ",
    "b2 ",
    "@0 ",
    "x: ",
    '"',
    "\\",
    "#",
]


def moves_of(games: Iterator[PgnGame]) -> None:
    for game in games:
        try:
            game.replay(GAME)
        except PalaestraError:
            continue


def read_pgn(data: bytes, folder: Path) -> None:
    list(ResultReader(io.BytesIO(data), "x.pgn", skip=True))
    try:
        moves_of(stream_games(io.BytesIO(data), "x.pgn"))
    finally:
        moves_of(iter(read_games(data.decode("utf-8", "replace"))))


def read_opening_lines(data: bytes, folder: Path) -> None:
    path = folder / "x.txt"
    path.write_bytes(data)
    read_openings(path, GAME)


def read_opening_games(data: bytes, folder: Path) -> None:
    path = folder / "x.pgn"
    path.write_bytes(data)
    read_openings(path, GAME)


def read_opening_text(data: bytes, folder: Path) -> None:
    parse_openings(data.decode("utf-8", "replace"))


def read_solution(data: bytes, folder: Path) -> None:
    solution = parse_solution(data.decode("utf-8", "replace"), "x.txt")
    check_solution(solution, SOLO)


READERS: dict[str, tuple[Callable[[bytes, Path], None], str]] = {
    "pgn": (read_pgn, PGN),
    "opening lines": (read_opening_lines, LINES),
    "opening games": (read_opening_games, PGN.partition("....")[0]),
    "opening texts": (read_opening_text, "random:4"),
    "solutions": (read_solution, SOLUTION),
}


def texts(sample: str, count: int, seed: int) -> Iterator[bytes]:
    """Random bytes, random marks, and mutations of a good text: cut, doubled, exchanged, spliced, one byte changed."""
    rng = random.Random(seed)
    good = sample.encode()
    for number in range(count):
        kind = number % 4
        if kind == 0:
            yield rng.randbytes(rng.randrange(60))
        elif kind == 1:
            yield "".join(rng.choices(MARKS, k=rng.randrange(80))).encode()
        else:
            yield mutated(good, rng)


def mutated(good: bytes, rng: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(rng.randrange(1, 6)):
        low, high = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        act = rng.randrange(5)
        if act == 0:
            del data[low:high]
        elif act == 1:
            data[low:low] = data[low:high][:40]
        elif act == 2:
            data[low:low] = "".join(rng.choices(MARKS, k=rng.randrange(1, 8))).encode()
        elif act == 3 and data:
            data[low % len(data)] = rng.randrange(256)
        else:
            data[low:high] = data[low:high][::-1]
    return bytes(data)


def refuses_or_reads(name: str, count: int, folder: Path, seed: int) -> None:
    reader, sample = READERS[name]
    reader(sample.encode(), folder)  # unless it is changed, it is read
    refused = 0
    for data in texts(sample, count, seed):
        try:
            reader(data, folder)
        except PalaestraError as error:
            refused += 1
            assert len(str(error).splitlines()) == 1, data
        except BaseException as error:
            raise AssertionError(f"{name}: {error!r} for {data!r}") from error
    assert refused > 0


@pytest.mark.parametrize("name", list(READERS))
def test_a_thousand_random_and_mutated_texts_meet_declared_errors_only(name: str, tmp_path: Path) -> None:
    refuses_or_reads(name, 1_000, tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(READERS))
def test_a_hundred_thousand_do_too(name: str, tmp_path: Path) -> None:
    refuses_or_reads(name, 100_000, tmp_path, seed=2)


@pytest.mark.parametrize("name", list(READERS))
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_row_of_one_piece_takes_no_longer_than_its_length(name: str, piece: str, tmp_path: Path) -> None:
    reader, sample = READERS[name]
    for data in (piece * (200_000 // len(piece)), sample + piece * (200_000 // len(piece))):
        try:
            reader(data.encode(), tmp_path)
        except PalaestraError as error:
            assert len(str(error)) < 2_000
