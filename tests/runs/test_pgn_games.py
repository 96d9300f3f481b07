"""Games as PGN: what is written is read again, and other people's files are too."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.arena.match import play_match
from palaestra.base.errors import PalaestraError, RecordError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.pgn_games import PgnGame, read_games, stream_games, write_game


def played(
    moves: tuple[int, ...],
    outcome: int | None = None,
    *,
    opening_plies: int = 0,
    values: tuple[float | None, ...] = (),
    fault: str = "",
    adjudicated: bool = False,
) -> GameRecord:
    points = None if outcome is None else points_of(outcome)
    return GameRecord(6, 0, moves, opening_plies, outcome, points, "a", "b", values, fault, adjudicated)


def random_record(game: Game, seed: int) -> GameRecord:
    rng = np.random.default_rng(seed)
    start = int(rng.integers(game.num_starts))
    state = game.start(np.array([start]))
    ended = game.rollout(state, rng.integers(0, 2**63, size=1).astype(np.uint64), trace=True)
    assert ended.moves is not None and ended.lengths is not None
    moves = tuple(int(move) for move in ended.moves[0, : ended.lengths[0]])
    outcome = int(ended.outcomes[0])
    points = points_of(outcome) if game.players == 2 else None
    return GameRecord(seed, start, moves, min(2, len(moves)), outcome, points, "one", "two")


FAMILIES = (
    "tic_tac_toe-3x3", "connect_four-6x7", "connect_four-4x12", "othello-4x4", "othello-6x6", "hex-3x3", "gobang-6x6",
    "opposition-3x9", "morpion-5d", "bin_packing-2d",
)  # fmt: skip


class ByAction:
    """A game whose notation no PGN can hold, so that moves are written as actions."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __getattr__(self, name: str) -> object:
        return getattr(self.game, name)

    def action_to_text(self, state: object, action: int) -> str:
        return "{1-0"


@settings(max_examples=60, deadline=None)  # kernels compile on the way
@given(st.sampled_from(FAMILIES), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_a_game_that_was_written_replays_to_the_same_result_and_outcome(
    id: str, seed: int, by_action: bool, with_values: bool
) -> None:
    game = make_game(id)
    record = random_record(game, seed)
    if with_values:
        values = np.random.default_rng(seed).uniform(-1, 1, len(record.moves)).tolist()
        record = replace(record, values=(None,) * record.opening_plies + tuple(values[record.opening_plies :]))
    text = write_game(record, ByAction(game) if by_action else game)  # type: ignore[arg-type]
    assert text.count("{") == (len(record.moves) - record.opening_plies if with_values else 0)
    assert max(len(line) for line in text.splitlines()) <= 100
    (read,) = stream_games(io.BytesIO(text.encode()))
    assert [read] == read_games(text)
    states = read.states(game)
    assert len(states) == len(record.moves) + 1
    assert np.array_equal(states[0], game.start(np.array([record.start]))[0])
    outcome = int(game.outcome(states[-1][None])[0])
    assert (read.tags["Variant"], read.tags["Outcome"]) == (id, str(outcome))
    sign = (outcome > 0) - (outcome < 0)
    assert read.result == read.tags["Result"] == ("*" if game.players == 1 else ("1/2-1/2", "1-0", "0-1")[sign])
    assert (read.opening_plies, read.tags["Termination"]) == (record.opening_plies, "normal")
    assert read.record(game, seed) == replace(record, values=(None,) * len(record.moves))


def test_passes_and_all_starts_are_among_the_games_that_are_replayed() -> None:
    othello, opposition = make_game("othello-4x4"), make_game("opposition-3x9")
    assert any(" pass" in write_game(random_record(othello, seed), othello) for seed in range(20))
    assert {random_record(opposition, seed).start for seed in range(60)} == set(range(opposition.num_starts))


def test_the_layout_is_the_agreed_one() -> None:
    game = make_game("connect_four-6x7")
    text = write_game(played((3, 3, 2, 4, 1, 5, 0), 30, opening_plies=2), game, {"White": 'a "b" \\'})
    assert text == (
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "7"]\n[White "a \\"b\\" \\\\"]\n[Black "b"]\n'
        '[Result "1-0"]\n[Variant "connect_four-6x7"]\n[Start "0"]\n[Opening "2"]\n[Outcome "30"]\n'
        '[Termination "normal"]\n\n'
        "1. 4 4 2. 3 5 3. 2 6 4. 1 1-0\n\n"
    )
    assert read_games(text)[0].tags["White"] == 'a "b" \\'


def test_a_value_stands_after_the_move_of_the_player_who_had_it() -> None:
    game = make_game("connect_four-6x7")
    record = played((3, 3, 2, 4, 1), opening_plies=2, values=(None, None, 0.534, -1.0, -0.001))
    assert "\n1. 4 4 2. 3 {+0.53} 5 {-1.00} 3. 2 {+0.00} *\n" in write_game(record, game)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (played((4,), 5), "normal"),
        (played((4,)), "unterminated"),
        (played((4,), adjudicated=True), "adjudication"),
        (played((4,), fault='x{y} said "no"\nand [left]'), 'rules infraction: x{y} said "no" and [left]'),
    ],
)
def test_how_a_game_ended_stands_in_a_tag_that_no_text_can_break(record: GameRecord, words: str) -> None:
    text = write_game(record, make_game("tic_tac_toe-3x3"), {"Result": "0-1", "White": "a{b", "Black": 'c"] d; e\\'})
    (read,) = read_games(text)
    assert (read.tags["Termination"], read.result, read.moves) == (words, "0-1", ("b2",))
    assert (read.tags["White"], read.tags["Black"]) == ("a{b", 'c"] d; e\\')
    assert list(stream_games(io.BytesIO(text.encode()))) == [read]


def test_a_file_is_read_game_by_game_and_says_where_it_breaks() -> None:
    text = '\ufeff[White "Müller"] 1. e4 1-0 1. d4 *\r\n\r\n[White "b"] 1. c4 ) 0-1'
    found = stream_games(io.BytesIO(text.encode("utf-8")), "x.pgn")
    assert next(found) == PgnGame({"White": "Müller"}, ("e4",), "1-0")
    assert next(found) == PgnGame({}, ("d4",), "*")
    with pytest.raises(RecordError, match=r"^x\.pgn, the game in line 3: line 1 of the games closes no variation$"):
        next(found)
    assert next(stream_games(io.BytesIO(text[1:].encode("latin-1")))).tags["White"] == "Müller"


@pytest.mark.parametrize(("outcome", "result"), [(5, "1-0"), (-5, "0-1"), (0, "1/2-1/2"), (None, "*")])
def test_the_result_is_that_of_the_outcome(outcome: int | None, result: str) -> None:
    game = make_game("tic_tac_toe-3x3")
    read = read_games(write_game(played((0, 1), outcome), game))[0]
    assert (read.result, read.tags["Result"]) == (result, result)
    assert read_games(write_game(played((0, 1)), game, {"Result": "0-1"}))[0].result == "0-1"
    with pytest.raises(RecordError, match="'2-0' is not a result"):
        write_game(played(()), game, {"Result": "2-0"})


def test_the_games_of_a_match_can_be_written() -> None:
    game = make_game("othello-4x4")
    match = play_match(game, make_player("random", game), make_player("random", game), 6)
    texts = [write_game(record, game, {"Round": str(record.number + 1)}) for record in match.records]
    assert [len(read.moves) for read in read_games("".join(texts))] == [len(record.moves) for record in match.records]


def test_comments_variations_and_annotations_of_others_are_passed_over() -> None:
    text = """% a line for programs
[Event "club"]
1.e4 {best by test} e5!? (1... c5 2. Nf3 (2. c3 d5) d6) 2. Nf3 $1 Nc6 ; the rest is known
3. Bb5 1/2-1/2

[Event "other"] 1. d4 d5
[Event "third"] *
"""
    found = read_games(text)
    assert found[0] == PgnGame({"Event": "club"}, ("e4", "e5", "Nf3", "Nc6", "Bb5"), "1/2-1/2")
    assert found[1] == PgnGame({"Event": "other"}, ("d4", "d5"), "*")
    assert (found[2].moves, found[2].result) == ((), "*")
    assert read_games("") == [] and read_games("\n\n") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[Event "x"]\n1. e4 {never closed', "line 2 of the games is not PGN: '{never closed'"),
        ("1. e4 ) e5", "closes no variation"),
        ("1. e4 (e5", "never closed"),
        ("[Event x]", "line 1"),
    ],
)
def test_text_that_is_no_pgn_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(RecordError) as error:
        read_games(text)
    assert words in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (PgnGame({}, ("a1", "a1")), "move 2 of the game"),
        (PgnGame({}, ("#99",)), "'#99' is not a legal action here"),
        (PgnGame({"Start": "4"}), "start 4 is not one of"),
        (PgnGame({"Start": "x"}), "the tag Start is 'x'"),
    ],
)
def test_a_game_that_cannot_be_replayed_says_where(game: PgnGame, words: str) -> None:
    with pytest.raises(RecordError) as error:
        game.states(make_game("tic_tac_toe-3x3"))
    assert words in str(error.value)


def test_a_move_whose_text_would_not_stand_alone_is_written_as_its_action() -> None:
    game = make_game("tic_tac_toe-3x3")

    class Wordy:
        """The same game with notation that PGN cannot hold."""

        def __getattr__(self, name: str) -> object:
            return getattr(game, name)

        def action_to_text(self, state: object, action: int) -> str:
            return {0: "take the corner", 4: "1-0", 8: "c3"}[action]

    text = write_game(played((0, 4, 8)), Wordy())  # type: ignore[arg-type]
    assert "1. #0 #4 2. c3 *" in text
    assert len(read_games(text)[0].states(game)) == 4


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        read_games(text)
    except PalaestraError as error:
        assert len(str(error).splitlines()) == 1


@given(st.text(max_size=30))
def test_any_tag_value_comes_back_as_one_line(value: str) -> None:
    game = make_game("tic_tac_toe-3x3")
    read = read_games(write_game(played((4,)), game, {"White": value}))
    assert read[0].tags["White"] == " ".join(value.split())
