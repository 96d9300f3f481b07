"""Players and results of other people's PGN: however it is written, cut into chunks or broken."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.errors import PalaestraError, RecordError
from palaestra.runs import pgn_scan
from palaestra.runs.pgn_games import read_games
from palaestra.runs.pgn_results import ResultReader
from palaestra.runs.pgn_scan import split_games

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
GAME = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'


def results(text: str | bytes, chunk: int = pgn_scan.CHUNK, **settings: object) -> list[tuple[str, str, float]]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pgn_scan, "CHUNK", chunk)
        return list(ResultReader(io.BytesIO(data), "x.pgn", **settings))  # type: ignore[arg-type]


def refusal(text: str | bytes, **settings: object) -> str:
    with pytest.raises(RecordError) as error:
        results(text, **settings)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


NAMES = st.sampled_from(["uct(simulations=25)", 'Joe "the King" Doe', "a\\b", "Ångström", "[x]", "{y", "z; 1-0"])
NOISE = st.sampled_from(
    [
        "1. e4 e5", "12...", "$7", "{a [White \"no\"] 0-1 }", "; 1/2-1/2 [Black \"no\"]\n", "(1. d4 (1. c4 0-1) 1-0)",
        "Qxe7+!?", "#17", "\n% [Result \"0-1\"] {\n", "11-0", "1-05", "??move]", "0-0-0", "\n\n", "100%",
        "see [White \"no\"] and [Round \"3\"]", "\n.....\n",
    ]
)  # fmt: skip
OTHER_TAGS = st.sampled_from(['[Event "1-0"]', '[WhiteElo "2800"]', '[ResultDecimal "1"]', "{a comment}", '[X-y "{"]'])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[tuple[str, str, float]]]:
    """A PGN text and what it says."""
    pieces, expected = [], []
    for _ in range(draw(st.integers(0, 5))):
        white, black = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
        result = draw(st.sampled_from(list(POINTS)))
        in_tag, in_moves = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
        escaped = [name.replace("\\", "\\\\").replace('"', '\\"') for name in (white, black)]
        tags = [f'[White "{escaped[0]}"]', f'[ Black  "{escaped[1]}" ]']
        tags += [f'[Result "{result if in_tag else draw(st.sampled_from(["*", "?", ""]))}"]'] if in_tag else []
        tags = draw(st.permutations([*tags, *draw(st.lists(OTHER_TAGS, max_size=3))]))
        moves = [*draw(st.lists(NOISE, max_size=6)), *([result] if in_moves else [])]
        pieces += [draw(st.sampled_from(["\n", " ", "\n\n"])).join(tags), "\n", " ".join(moves), "\n\n"]
        expected.append((white, black, POINTS[result]))
    text = "".join(pieces)
    mark, newline = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return mark + text.replace("\n", newline), expected


@settings(deadline=None)
@given(documents(), st.sampled_from([1, 2, 7, 64, 2**20]))
def test_however_games_are_written_and_cut_into_chunks_they_are_counted(
    document: tuple[str, list[tuple[str, str, float]]], chunk: int
) -> None:
    text, expected = document
    assert results(text, chunk) == expected


@settings(deadline=None)
@given(documents())
def test_the_careful_reader_finds_the_same_games(document: tuple[str, list[tuple[str, str, float]]]) -> None:
    text, expected = document
    careful = [
        (game.tags["White"], game.tags["Black"], POINTS[game.tags.get("Result", game.result)])
        for game in read_games(text.replace("??move]", "??move"))  # a stray bracket is more than it takes
    ]
    assert careful == expected


@settings(deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='[]{}()";%\\\n *1-0/2Wa', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line_and_never_differently_by_chunks(data: bytes) -> None:
    def outcome(chunk: int) -> object:
        try:
            return results(data, chunk, skip=True)
        except PalaestraError as error:
            assert len(str(error).splitlines()) == 1
            return str(error).partition(":")[0]  # how much of a line is shown may differ

    assert outcome(1) == outcome(3) == outcome(2**20)


EXCERPT = """\
.....{space}
[Event "final.pgn"]{space}
[Epoch "12"]{space}
[White "left_1"]{space}
[Black "right_2"]{space}
[Result "1-0"]{space}
The moves were not kept: see [Epoch "12, game 4"]{space}
{space}
[Event "final.pgn"]{space}
[Epoch "12"]{space}
[White "left_1"]{space}
[Black "right_2"]{space}
[Result "0-1"]{space}
The moves were not kept: see [Epoch "12, game 5"]{space}
{space}
[Event "final.pgn"]{space}
[Epoch "12"]{space}
....."""


@pytest.mark.parametrize("chunk", [1, 7, 2**20])
@pytest.mark.parametrize(("space", "newline"), [("", "\n"), ("  ", "\n"), ("", "\r\n"), ("", "\r")])
def test_a_printed_excerpt_with_text_in_place_of_moves_is_read(space: str, newline: str, chunk: int) -> None:
    text = EXCERPT.format(space=space).replace("\n", newline)
    assert results(text, chunk) == [("left_1", "right_2", 1.0), ("left_1", "right_2", 0.0)]
    assert [game.tags.get("Result") for game in read_games(text)] == ["1-0", "0-1", None]


def test_the_tags_before_the_cut_are_told_of_and_are_no_bad_game() -> None:
    reader = ResultReader(io.BytesIO(EXCERPT.format(space="").encode()), "x.pgn")
    assert len(list(reader)) == 2
    assert dict(reader.skipped) == {"tags without a game": 1}


@pytest.mark.parametrize("last", ['Text after the last game has a tag [Round "9"]', 'and [White "c"] [Black "d"] 2'])
def test_a_tag_in_the_middle_of_a_line_begins_no_game(last: str) -> None:
    assert results(GAME + last) == [("a", "b", 1.0)]
    assert len({str(game.tags) for game in read_games(GAME + last) if game.tags}) == 1
    assert results(GAME + "  " + GAME) == [("a", "b", 1.0)] * 2


def test_games_of_nothing_but_tags_are_told_apart() -> None:
    tags = '[White "a"]\n[Black "b"]\n[Result "{}"]\n'
    assert results("".join(tags.format(result) for result in POINTS)) == [("a", "b", p) for p in POINTS.values()]


def test_a_name_in_latin_1_and_the_same_name_in_utf_8_are_one_player() -> None:
    text = GAME.replace('"a"', '"Müller"')
    assert results(text.encode("latin-1") + text.encode()) == [("Müller", "b", 1.0)] * 2


@pytest.mark.parametrize(
    ("game", "reason", "words"),
    [
        (GAME.replace('[Black "b"]\n', ""), "no players", "the tags White and Black must name the players"),
        (GAME.replace('"b"', '"?"'), "no players", "'a' and '?'"),
        (GAME.replace('"b"', '"a"'), "one player on both sides", "'a' played both sides"),
        (GAME.replace("1-0", "*"), "no result", "its result is '*', and must be 1-0, 0-1 or 1/2-1/2"),
        (GAME.replace('[Result "1-0"]', "").replace("1-0", ""), "no result", "its result is ''"),
        (GAME.replace("e5 1-0", "e5 0-1"), "two results", "two results, 0-1 and 1-0"),
        (GAME.replace("e5 1-0", "e5 1-0 1/2-1/2"), "two results", "two results, 1-0 and 1/2-1/2"),
        ("1. e4 e5 1-0\n", "no players", "are '' and ''"),
    ],
)
def test_a_game_that_says_too_little_or_too_much_is_refused_or_counted(game: str, reason: str, words: str) -> None:
    good = "" if game.startswith("1.") else GAME
    text = good + "\n" + game
    message = refusal(text)
    assert message.startswith(f"x.pgn, line {8 if good else 2}: game {2 if good else 1}: ") and words in message
    assert message.endswith("--bad-games skip leaves such games out")
    reader = ResultReader(io.BytesIO((text + GAME).encode()), "x.pgn", skip=True)
    assert list(reader) == [("a", "b", 1.0)] * (2 if good else 1)
    assert reader.skipped == {reason: 1} and reader.games == (2 if good else 1)


def test_games_of_another_variant_are_told_apart() -> None:
    hexes = GAME.replace("[White", '[Variant "hex-3x3"]\n[White')
    reader = ResultReader(io.BytesIO((GAME + hexes).encode()), "x.pgn", variant="hex-3x3", skip=True)
    assert len(list(reader)) == 1 and reader.skipped == {"another game": 1}
    assert "the tag Variant is '', and must be 'hex-3x3'" in refusal(GAME + hexes, variant="hex-3x3")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("player,score\na,1\n", "x.pgn, line 1: 'player,score' is not PGN; a game begins with tags"),
        ("\n\nDear reader,\n" + GAME, "x.pgn, line 3: 'Dear reader,' is not PGN"),
        (GAME + '[White "never closed]\n' + GAME, "x.pgn, line 7: '[White \"never closed]' is not PGN; a tag looks"),
        (GAME + "[section]\nkey = 1\n", "x.pgn, line 7: '[section]' is not PGN"),
        (GAME + "1. e4 {no end\n" + GAME, "x.pgn, line 7: '{no end' is not PGN; the comment is not closed"),
        (b"\x1f\x8b\x08\x00", "x.pgn is packed, not PGN; unpack it first: gzip -dc x.pgn > games.pgn"),
        (b"\x00\x01\x02", "x.pgn, line 1: '\\x00\\x01\\x02' is not PGN"),
        ('{"a": {"b": 1}}', "x.pgn, line 1: '}' is not PGN"),
    ],
)
def test_a_file_that_is_not_pgn_is_refused_with_its_line(text: str | bytes, words: str) -> None:
    assert words in refusal(text)
    assert words in refusal(text, skip=True), "skipping is for games, and this is none"


def test_a_comment_or_a_tag_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_scan, "MOST_BYTES", 2**18)
    monkeypatch.setattr(pgn_scan, "CHUNK", 2**12)
    endless = {"{": "not closed", "[": "a tag looks", "": "begins here", "Dear": "begins with tags"}
    for opening, words in endless.items():
        file = io.BytesIO(((GAME if opening != "Dear" else "") + opening + "x " * 2**20).encode())
        with pytest.raises(RecordError, match=words):
            list(ResultReader(file, "x.pgn"))
        assert file.tell() <= 2**19, "the rest was not read"


def test_memory_does_not_grow_with_the_file() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return GAME.encode() * (size // len(GAME))

    tracemalloc.start()
    found: Iterator[object] = (section.kept for section in split_games(Endless(), "x"))  # type: ignore[arg-type]
    try:
        assert sum(1 for _ in zip(found, range(200_000), strict=False)) == 200_000
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
