"""What a person sees of a network match."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from palaestra.cli.console import PlainConsole
from palaestra.cli.ggp_view import last_line, live_view, print_matches
from palaestra.ggp.record import Fault, MatchRecord, Seat
from palaestra.live.network_matches import interval, summary


def match() -> MatchRecord:
    return MatchRecord(
        match="hands.1",
        game="hands",
        seats=(Seat("left", "127.0.0.1:9147", "granite"), Seat("right", "127.0.0.1:9148")),
        start_clock=10.0,
        play_clock=2.5,
        began="2026-01-01T00:00:00+00:00",
        seed=0,
    )


def turn(record: MatchRecord, *moves: str) -> None:
    record.moves.append(list(moves))
    record.seconds.append([0.5] * len(moves))
    record.states.append([f"(round {record.turns})", *(f"(last {move})" for move in moves)])


def seen(record: MatchRecord) -> str:
    out = io.StringIO()
    PlainConsole(file=out, width=100).print(live_view(record))
    return out.getvalue()


def line(record: MatchRecord) -> str:
    """The line of a match, where there is no terminal."""
    out = io.StringIO()
    PlainConsole(file=out, width=100).print(last_line(record))
    return out.getvalue()


def test_before_the_first_turn_it_says_what_is_waited_for() -> None:
    record = match()
    assert last_line(record) == "hands.1: the players read the rules, for 10 s at most"
    assert "left: granite" in seen(record) and "right: 127.0.0.1:9148" in seen(record)
    assert "10 s to begin, 2.5 s a move" in seen(record) and "the players read the rules" in seen(record)


def test_who_was_not_ready_is_told_with_the_beginning() -> None:
    record = match()
    record.states.append(["(round 0)"])
    assert last_line(record) == "hands.1 begins"
    record.faults.append(Fault(0, "right", "TO", "no reply within 10 s"))
    assert last_line(record) == "hands.1 begins (right TO)" and "new: (round 0)" in seen(record)


def test_a_turn_shows_its_moves_times_faults_and_what_became_true() -> None:
    record = match()
    record.states.append(["(round 0)"])
    turn(record, "stone", "paper")
    record.faults.append(Fault(1, "right", "IL", "rock is not legal"))
    assert last_line(record) == "hands.1 turn 1: stone paper (right IL)"
    text = seen(record)
    assert "stone  0.50 s" in text and "paper  IL, random" in text
    assert "(last paper)" in text and "(round 0)" not in text


def test_a_long_match_shows_its_last_turns() -> None:
    record = match()
    record.states.append(["(round 0)"])
    for _ in range(30):
        turn(record, "stone", "stone")
    lines = [line.split()[0] for line in seen(record).splitlines() if "stone  " in line]
    assert lines == [str(number) for number in range(21, 31)]


def test_the_end_is_told_with_the_goals_or_with_the_reason() -> None:
    record = match()
    record.ending, record.goals = "terminal", [100, 0]
    assert last_line(record) == "hands.1 terminal, goals 100 0"
    record.ending, record.goals = "interrupted", None
    assert last_line(record) == "hands.1 interrupted, goals unknown"


def test_who_plays_in_place_of_whom_is_told_at_the_beginning_and_in_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = match()
    record.seats = (replace(record.seats[0], plays="decoupled_uct", instead_of="qtable"), record.seats[1])
    record.states.append(["(round 0)"])
    assert last_line(record) == "hands.1 begins; WARNING: decoupled_uct plays left instead of qtable"
    assert "WARNING: decoupled_uct plays left instead of qtable" in seen(record)
    record.ending, record.goals = "terminal", [100, 0]
    print_matches([record], summary([record])["players"])
    out = capsys.readouterr().out
    assert "INSTEAD" in out and "granite" in out and "mean goal 100.0 in 1 match (95 %: " in " ".join(out.split())


def test_no_control_character_of_a_player_reaches_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    record = match()
    evil = "\x1b[2J\x9b\u202eevil"
    record.seats = (Seat(evil, evil, evil, evil, evil), replace(record.seats[1], name=evil))
    record.match = record.game = record.ending = evil
    record.states.append([evil])
    print_matches([record], summary([record])["players"])
    shown = capsys.readouterr().out + line(record) + seen(record)
    record.ending = ""
    shown += line(record) + seen(record)
    turn(record, evil, evil)
    record.faults.append(Fault(1, evil, "IL", evil))
    shown += line(record) + seen(record)
    assert "evil" in shown and shown.replace("\n", "").isprintable()


def test_the_interval_of_a_mean_goal_is_that_of_a_score_where_goals_are_results() -> None:
    low, high = interval([100] * 20) or []
    assert low < 97 and high == 100  # twenty wins are no proof of winning always
    assert interval([70]) is None
    low, high = interval([30, 70, 40, 60]) or []
    assert 15 < low < 50 < high < 85
