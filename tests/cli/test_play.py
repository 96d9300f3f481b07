from __future__ import annotations

import shlex
from typing import Any

import pytest

from palaestra.cli.output import FIRST_STYLE, SECOND_STYLE, board
from palaestra.cli.play import Session
from palaestra.games.registry import FAMILIES, make_game

WEAK = ("--against", "mcs(playouts=9)", "--adviser", "uct(simulations=50)")


def play(cli: Any, lines: str, *arguments: str, game: str = "tic_tac_toe-3x3") -> str:
    done = cli("play", game, *WEAK, *arguments, stdin=lines)
    assert (done.code, done.err) == (0, "")
    out: str = done.out
    return out


def test_the_end_of_the_input_ends_the_game_politely(cli: Any) -> None:
    out = play(cli, "")
    assert "The input has ended; goodbye." in out
    assert out.count("your move>") == 1


def test_quit_says_how_to_go_on(cli: Any) -> None:
    out = play(cli, "b2\nquit\n")
    assert "Goodbye." in out
    assert "to go on: palaestra play tic_tac_toe-3x3 --moves 'b2 " in out


def test_the_command_to_go_on_works_as_it_is_printed(cli: Any) -> None:
    out = play(cli, "b2\nquit\n", "--side", "first", "--seed", "3")
    command = shlex.split(out.partition("to go on: ")[2].splitlines()[0])
    assert command[:3] == ["palaestra", "play", "tic_tac_toe-3x3"] and "mcs(playouts=9)" in command
    assert command[command.index("--seed") + 1] == "3"
    again = cli(*command[1:], stdin="quit\n")
    assert again.code == 0 and out.partition("moves: ")[2].splitlines()[0] in again.out
    moves = "(mark 2 2) (mark 1 1)"
    out = cli("play", "gdl:tic_tac_toe-3x3", *WEAK, "--moves", moves, stdin="quit\n").out
    assert cli(*shlex.split(out.partition("to go on: ")[2].splitlines()[0])[1:], stdin="quit\n").code == 0


def test_an_interrupt_says_how_to_go_on(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Session._read

    def interrupted(session: Session) -> str | None:
        if session.playing.position.moves:
            raise KeyboardInterrupt
        return read(session)

    monkeypatch.setattr(Session, "_read", interrupted)
    done = cli("play", "tic_tac_toe-3x3", *WEAK, stdin="b2\n")
    assert done.code == 130 and done.err == ""
    assert "Interrupted." in done.out and "moves: b2 " in done.out
    assert "to go on: palaestra play tic_tac_toe-3x3 --moves 'b2 " in done.out


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("tic_tac_toe-3x3", ["3 of your own in a row", "You are the second player (O)."]),
        ("gobang-6x6", ["4 of your own in a row"]),
        ("connect_four-4x4", ["4 of your own in a row"]),
        ("othello-4x4", ["more discs at the end"]),
        ("hex-3x3", ["first player (X) joins top and bottom, the second (O) left and right"]),
        ("opposition-3x9", ["enemy's back rank", "You are the second player (k)."]),
        ("gdl:tic_tac_toe-3x3", ["reach the highest goal"]),
    ],
)
def test_help_states_the_goal_and_whose_stones_are_whose(cli: Any, game: str, words: list[str]) -> None:
    out = " ".join(play(cli, "help\nquit\n", "--side", "second", game=game).split())
    assert all(word in out for word in words)


@pytest.mark.parametrize("game", ["morpion-4d", "bin_packing-2d-2"])
def test_help_states_the_goal_for_one_player(cli: Any, game: str) -> None:
    done = cli("play", game, "--adviser", "nmcs(level=1)", stdin="help\nquit\n")
    assert make_game(game).goal in " ".join(done.out.split()) and "You are the" not in done.out


@pytest.mark.parametrize("id", [entry.examples[0] for entry in FAMILIES.values()])
def test_every_family_states_its_goal(id: str) -> None:
    assert make_game(id).goal.endswith(".")


def test_only_stones_are_coloured_as_stones() -> None:
    styles = {FIRST_STYLE, SECOND_STYLE}
    for id, coloured in (("morpion-5d", set()), ("opposition-3x9", set("Kk")), ("gobang-5x5", set("X"))):
        game = make_game(id)
        state = game.from_moves("a1" if id.startswith("gobang") else "@0" if game.num_starts > 1 else "")
        text = board(game, state)
        seen = {text.plain[span.start] for span in text.spans if str(span.style) in styles}
        assert seen == coloured


def test_an_illegal_move_is_answered_with_what_is_legal(cli: Any) -> None:
    out = play(cli, "b2\nb2\nx\nquit\n")
    assert out.count("is not a legal move here; legal: ") == 2


def test_undo_takes_back_both_moves(cli: Any) -> None:
    out = play(cli, "b2\nundo\nmoves\nquit\n")
    assert "taken back" in out
    assert "legal: a1, b1, c1, a2, b2, c2, a3, b3, c3" in out


def test_nothing_can_be_undone_before_the_first_move(cli: Any) -> None:
    assert "no move of yours to take back" in play(cli, "undo\nquit\n")
    assert "no move of yours to take back" in play(cli, "undo\nquit\n", "--side", "second")


def test_a_hint_shows_the_advisers_policy_and_value(cli: Any) -> None:
    out = play(cli, "hint\nquit\n", "--moves", "a1 c1 a2 c3")
    assert "uct(simulations=50) plays a3; +1.000 for the player to move" in out
    assert "probability" in out and "value" in out
    assert "win" in out.partition("exact")[2]


def test_resigning_ends_the_game(cli: Any) -> None:
    assert "You resign. mcs(playouts=9) wins." in play(cli, "a1\nresign\na2\n")


def test_help_lists_the_commands(cli: Any) -> None:
    out = play(cli, "help\nquit\n")
    for command in ("undo", "hint", "moves", "resign", "quit"):
        assert f"  {command}" in out


@pytest.mark.parametrize(
    ("moves", "line", "words"),
    [
        ("a1 c1 a2 c3", "a3\n", "The first player wins at ply 5: you win!"),
        ("a1 c1 b2 b1 a3 c3 c2 a2", "b3\n", "A draw after 9 plies."),
    ],
)
def test_the_result_is_said_in_words(cli: Any, moves: str, line: str, words: str) -> None:
    out = play(cli, line, "--moves", moves)
    assert words in out
    assert f"moves: {moves} {line.strip()}" in out


def test_the_opponent_moves_first_when_the_person_is_second(cli: Any) -> None:
    out = play(cli, "quit\n", "--side", "second")
    assert out.index("mcs(playouts=9) plays") < out.index("your move>")


def test_a_lost_game_names_the_winner(cli: Any) -> None:
    out = play(cli, "", "--side", "second", "--moves", "a1 c1 a2 c2 a3")
    assert "The first player wins at ply 5: mcs(playouts=9) beats you." in out


def test_one_player_plays_alone(cli: Any) -> None:
    done = cli("play", "morpion-4d", "--adviser", "nmcs(level=1)", stdin="hint\nundo\nquit\n")
    assert done.code == 0
    assert "morpion-4d, alone" in done.out and "nmcs(level=1) plays" in done.out


def test_a_game_with_several_starts_names_the_one_it_began_from(cli: Any) -> None:
    one, other = (cli("play", "opposition-3x9", *WEAK, "--seed", seed, stdin="").out for seed in ("1", "2"))
    assert one != other
    done = cli("play", "opposition-3x9", *WEAK, "--moves", "@4", stdin="moves\n")
    first = done.out.partition("legal: ")[2].split(",")[0].strip()
    assert "moves: @4 " in cli("play", "opposition-3x9", *WEAK, "--moves", "@4", stdin=f"{first}\nquit\n").out
