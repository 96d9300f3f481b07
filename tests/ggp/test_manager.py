from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import ConfigError, GdlError
from palaestra.ggp.http_client import Address, Client
from palaestra.ggp.record import MatchRecord
from palaestra.ggp.worker_process import WorkerSettings
from palaestra.runs.pgn_games import read_games
from tests.ggp.fakes import HANDS, Behaviour, answer, manage, playing, polite, run, stranger

ENDLESS = """
(role left) (role right) (init here) (<= (legal ?role wait) (role ?role)) (<= (next here) (true here))
(<= terminal (true there)) (<= (goal ?role 50) (role ?role)) (<= (next there) (true there))
"""


def replying(reply: bytes, to: str = "PLAY", then: Behaviour = polite) -> Behaviour:
    """A player that answers one kind of message with these bytes, and the others politely."""

    async def behave(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if message.startswith(f"({to}"):
            writer.write(reply)
        else:
            await then(message, reader, writer)

    return behave


def test_a_match_of_polite_players_has_a_whole_record() -> None:
    async def work() -> None:
        heard: list[int] = []
        async with stranger(polite) as one, stranger(polite) as other:
            record = await manage([one, other], listen=lambda record: heard.append(record.turns)).run("m.1", seed=0)
        assert record.ending == "terminal" and record.goals == [50, 50]
        assert record.moves == [["stone", "stone"]] * 3 and record.faults == [] and record.missed_moves == 0
        assert record.states[0] == ["(round 0)"] and len(record.states) == 4
        assert record.states[-1] == ["(last left stone)", "(last right stone)", "(round 3)"]
        assert [seat.name for seat in record.seats] == ["granite", "granite"]
        assert heard == [0, 0, 1, 2, 3, 3]  # players are known, they are ready, their moves, the end

    run(work())


def test_everybody_is_told_everything_in_the_order_of_the_roles() -> None:
    async def work() -> None:
        told: list[str] = []

        async def listening(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(message)
            await polite(message, reader, writer)

        paper = replying(answer("(Paper)"))
        async with stranger(listening) as one, stranger(paper) as other:
            record = await manage([one, other], 12, 7.5).run("m", seed=0)
        assert told[0] == "(INFO)"
        assert told[1].startswith("(START m left ((role left) (role right)") and told[1].endswith(") 12 7.5)")
        assert told[2:] == ["(PLAY m NIL)", *["(PLAY m (stone paper))"] * 2, "(STOP m (stone paper))"]
        assert record.goals == [0, 100]

    run(work())


def test_roles_go_round_from_match_to_match() -> None:
    async def work() -> None:
        async with stranger(polite) as one, stranger(replying(answer("paper"))) as other:
            manager = manage([one, other])
            assert (await manager.run("a", seed=0, rotation=0)).goals == [0, 100]
            turned = await manager.run("b", seed=0, rotation=1)
            assert turned.goals == [100, 0]
            assert [seat.player for seat in turned.seats] == [str(other), str(one)]

    run(work())


HUGE = b"HTTP/1.0 200 OK\r\n\r\n" + b"stone " * 200_000
WRONG = {
    "nonsense": (answer("%&$ what?"), "IL"),
    "no move": (answer("rock"), "IL"),
    "two moves": (answer("stone paper"), "IL"),
    "unbalanced": (answer("(((("), "IL"),
    "deep": (answer("(" * 30_000 + ")" * 30_000), "IL"),
    "empty": (answer(""), "IL"),
    "another's word": (answer("ready"), "IL"),
    "binary": (b"HTTP/1.0 200 OK\r\n\r\n\xff\xfe\x00\x01", "IL"),
    "huge": (HUGE, "CE"),
    "huge and announced": (b"HTTP/1.0 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 100_000, "CE"),
    "endless head": (b"HTTP/1.0 200 OK\r\n" + b"A: " + b"b" * 200_000, "CE"),
    "redirect": (answer("stone", "302 Found", "Location: http://127.0.0.1:1/\r\n"), "CE"),
    "server error": (answer("stone", "500 Oops"), "CE"),
    "no http": (b"stone\n", "CE"),
    "cut off": (b"HTTP/1.0 200 OK\r\nContent-Length: 50\r\n\r\nsto", "CE"),
    "hanging up": (b"", "CE"),
}


@pytest.mark.parametrize("case", WRONG)
def test_whatever_a_player_answers_it_gets_a_legal_move_and_an_entry(case: str) -> None:
    reply, code = WRONG[case]

    async def work() -> None:
        async with stranger(polite) as one, stranger(replying(reply)) as other:
            record = await manage([one, other]).run("m", seed=0)
        assert record.ending == "terminal" and record.missed_moves == 3
        assert [(fault.turn, fault.role, fault.code) for fault in record.faults] == [
            (turn, "right", code) for turn in (1, 2, 3)
        ]
        assert all(moves[1] in ("stone", "paper") for moves in record.moves)
        assert all("\n" not in fault.detail and len(fault.detail) <= 200 for fault in record.faults)

    run(work())


def test_the_deadline_is_for_the_whole_reply_not_for_each_read() -> None:
    async def dribble(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not message.startswith("(PLAY"):
            return await polite(message, reader, writer)
        for byte in answer("stone") * 100:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)
            if reader.at_eof():
                return None

    async def silence(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not message.startswith("(PLAY"):
            return await polite(message, reader, writer)
        await reader.read()  # until the manager hangs up

    async def work() -> None:
        async with stranger(dribble) as one, stranger(silence) as other:
            record = await manage([one, other], 60, 0.1).run("m", seed=0)
        assert [fault.code for fault in record.faults if fault.turn in (1, 2, 3)] == ["TO"] * 6
        assert record.missed_moves == 6

    run(work())


def test_a_player_that_is_not_there_plays_at_random_and_the_other_is_not_disturbed() -> None:
    async def work() -> None:
        async with stranger(polite) as gone:
            pass
        async with stranger(polite) as one:
            record = await manage([one, gone]).run("m", seed=0)
            again = await manage([one, gone]).run("m", seed=0)
            unknown = await manage([one, Address("no-such-host.invalid", 1)]).run("m", seed=0)
        assert [fault.code for fault in record.faults] == ["CE"] * 5  # START, three moves, STOP
        assert {fault.role for fault in record.faults} == {"right"} and record.missed_moves == 3
        assert record.moves == again.moves == unknown.moves  # random, but of the seed

    run(work())


def test_a_player_that_dies_in_the_middle_plays_at_random_from_there_on() -> None:
    async def work() -> None:
        alive = True

        async def mortal(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal alive
            if message == "(PLAY m (stone stone))":
                alive = False
            if alive:
                await polite(message, reader, writer)

        async with stranger(polite) as one, stranger(mortal) as other:
            record = await manage([one, other]).run("m", seed=0)
        assert [(fault.turn, fault.role, fault.code) for fault in record.faults] == [
            (turn, "right", "CE") for turn in (2, 3, 4)
        ]
        assert record.ending == "terminal" and record.moves[0] == ["stone", "stone"]

    run(work())


def test_a_player_that_is_late_once_is_asked_again_in_the_next_turn() -> None:
    async def work() -> None:
        asked = 0

        async def late(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            asked += message.startswith("(PLAY")
            if message.startswith("(PLAY") and asked == 2:
                await reader.read()  # until the manager hangs up; the answer comes after that
            await polite(message, reader, writer)

        async with stranger(polite) as one, stranger(late) as other:
            record = await manage([one, other], 60, 3).run("m", seed=0)
        assert [(fault.turn, fault.role, fault.code) for fault in record.faults] == [(2, "right", "TO")]
        assert record.ending == "terminal" and record.moves[2][1] == "stone"

    run(work())


def test_the_machine_is_tried_before_anybody_is_asked_to_start() -> None:
    """What it compiles at first may take longer than players wait for the first PLAY."""

    async def work() -> None:
        told: list[str] = []
        steps: list[str] = []

        async def listening(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(message)
            await polite(message, reader, writer)

        async with stranger(listening) as one, stranger(polite) as other:
            manager = manage([one, other])
            follow = manager.machine.step

            def watched(state: Any, joint: Any) -> Any:
                steps.append(told[-1][:5] if told else "")
                return follow(state, joint)

            manager.machine.step = watched  # type: ignore[method-assign]
            assert (await manager.run("m", seed=0)).ending == "terminal"
        assert steps == ["", "(PLAY", "(PLAY", "(PLAY"]

    run(work())


def test_a_busy_player_is_entered_and_still_asked() -> None:
    async def work() -> None:
        async with stranger(replying(answer("busy"), "START")) as one, stranger(polite) as other:
            record = await manage([one, other]).run("m", seed=0)
        assert [(fault.turn, fault.code) for fault in record.faults] == [(0, "IL")]
        assert record.moves[0][0] == "stone" and record.missed_moves == 0

    run(work())


def test_rules_that_never_end_are_stopped_after_some_turns() -> None:
    async def work() -> None:
        async with stranger(replying(answer("wait"))) as one, stranger(replying(answer("wait"))) as other:
            record = await manage([one, other], rules=ENDLESS, most_turns=5).run("m", seed=0)
        assert record.ending == "stopped after 5 turns" and record.turns == 5 and record.faults == []

    run(work())


def test_rules_that_leave_a_role_without_a_move_stop_the_match_and_players_hear_of_it() -> None:
    async def work() -> None:
        told: list[str] = []
        records: list[MatchRecord] = []

        async def listening(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(message)
            await polite(message, reader, writer)

        stuck = HANDS.replace("(role ?role) (hand ?hand))", "(role ?role) (hand ?hand) (true (round 0)))", 1)
        async with stranger(listening) as one, stranger(listening) as other:
            with pytest.raises(GdlError, match="left no legal move in turn 2"):
                await manage([one, other], rules=stuck, listen=records.append).run("m", seed=0)
        assert told[-2:] == ["(ABORT m)"] * 2
        assert records[-1].ending == "stopped: the rules give left no legal move in turn 2"

    run(work())


def test_a_match_that_is_cancelled_is_aborted_and_its_record_is_heard() -> None:
    async def work() -> None:
        told: list[str] = []
        records: list[MatchRecord] = []

        async def sleepy(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(message)
            if message.startswith("(PLAY"):
                await reader.read()
            await polite(message, reader, writer)

        async with stranger(sleepy) as one, stranger(polite) as other:
            match = asyncio.create_task(manage([one, other], listen=records.append).run("m", seed=0))
            while not any(message.startswith("(PLAY") for message in told):
                await asyncio.sleep(0.01)
            match.cancel()
            with pytest.raises(asyncio.CancelledError):
                await match
        assert told[-1] == "(ABORT m)" and records[-1].ending == "interrupted"

    run(work())


def test_scrambled_players_are_told_other_names_and_the_record_has_the_rules_own() -> None:
    async def work() -> None:
        told: list[str] = []

        async def listening(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.append(message)
            await polite(message, reader, writer)

        async with stranger(listening) as one, playing(WorkerSettings("random")) as (_, port):
            manager = manage([one, Address("127.0.0.1", port)], scramble=True)
            record = await manager.run("m", seed=1)
            again = await manager.run("n", seed=1)
        assert all(word not in " ".join(told) for word in ("stone", "paper", "left", "hand"))
        # Who says stone was not told that word, and who says one of the new ones is understood.
        assert {(fault.role, fault.code) for fault in record.faults if 0 < fault.turn < 4} == {("left", "IL")}
        assert all(move in ("stone", "paper") for moves in record.moves for move in moves)
        assert record.scrambled and again.scrambled and record.states[0] == ["(round 0)"]
        starts = [message.replace("START n", "START m") for message in told if message.startswith("(START")]
        assert starts[0] == starts[1]  # of the seed

    run(work())


def test_as_many_players_as_roles_are_needed_and_clocks_that_are_some() -> None:
    with pytest.raises(ConfigError, match="1 players were given; the roles of hands are 2: left, right"):
        manage([Address("127.0.0.1", 1)])
    for clock in (0.0, -1.0, 1e9, float("nan")):
        with pytest.raises(ConfigError, match="clock"):
            manage([Address("127.0.0.1", 1)] * 2, 10, clock)


def test_the_record_is_json_and_a_text_that_pgn_readers_take() -> None:
    async def work() -> None:
        async with stranger(polite) as one, stranger(replying(answer("rock"))) as other:
            record = await manage([one, other]).run("m", seed=3)
        copy = json.loads(json.dumps(record.as_json(), allow_nan=False))
        assert copy["goals"] == record.goals and copy["missed_moves"] == 3 and copy["faults"][0]["code"] == "IL"
        text = record.as_text()
        assert "1. stone " in text and "{right IL}" in text and text.endswith("\n\n")
        (game,) = read_games(text)
        assert game.tags["White"] == str(one) and game.tags["Role2"] == "right" and game.tags["Match"] == "m"
        assert game.result == record.result() in ("1-0", "0-1", "1/2-1/2")

    run(work())


def test_our_player_in_our_manager_misses_no_move_and_leaks_no_socket() -> None:
    asyncio.run(_matches(3))


@pytest.mark.slow
def test_a_hundred_matches_of_our_player_in_our_manager_miss_no_move_and_leak_no_socket() -> None:
    asyncio.run(_matches(100))


async def _matches(count: int) -> None:
    """Both are whole players with processes of their own."""
    first, second = WorkerSettings("mcs(playouts=300)"), WorkerSettings("random")
    async with playing(first) as (one, port), playing(second) as (other, second_port):
        manager = manage([Address("127.0.0.1", port), Address("127.0.0.1", second_port)], 120, 30)
        before = None
        for number in range(count):
            record = await manager.run(f"m.{number}", seed=number, rotation=number)
            assert record.faults == [] and record.ending == "terminal"
            for server in (one, other):
                await server.up()  # the worker has let go of the match
            before = before or _open_files()
        await asyncio.sleep(0.1)
        assert _open_files() <= before


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_client_holds_no_socket_after_a_message() -> None:
    async def work() -> None:
        async with stranger(polite) as one, Client() as client:
            await client.ask(one, "(INFO)", 60)
            await asyncio.sleep(0.05)
            before = _open_files()
            for _ in range(20):
                assert (await client.ask(one, "(INFO)", 60)).code is None
            await asyncio.sleep(0.05)
            assert _open_files() <= before

    run(work())


def test_the_verb_writes_both_records_and_one_json_object(tmp_path: Path, capsys: Any) -> None:
    from palaestra.cli.main import run as palaestra

    rules = tmp_path / "my hands (2).kif"  # a name that is no word of KIF
    rules.write_text(HANDS)
    files = tmp_path / "match.json", tmp_path / "match.pgn"
    options = f"--games 2 --json --play-clock 5 --record {files[0]} --pgn {files[1]}".split()
    with pytest.raises(SystemExit) as left:
        palaestra(["ggp", "manager", str(rules), "127.0.0.1:1", "127.0.0.1:1", *options])
    out, _ = capsys.readouterr()
    assert left.value.code == 0
    shown = json.loads(out)
    (player,) = shown["players"]  # both are at one address
    assert player["matches"] == 4 and player["interval"][0] < player["mean_goal"] < player["interval"][1]
    assert shown["faults"] == {"CE": 20} and shown["missed_moves"] == 12 and len(shown["matches"]) == 2
    assert json.loads(files[0].read_text()) == shown and shown["game"] == "my hands (2)"
    assert all(one["match"].startswith("my_hands_2.") for one in shown["matches"])
    assert len(read_games(files[1].read_text())) == 2
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["manager", "absent.kif", "a:1", "b:1"], "absent.kif"),
        (["manager", "gdl:absent", "a:1", "b:1"], "absent"),
        (["manager", "hex-3x3", "a:1", "b:1"], "gdl:hex-3x3"),
        (["manager", "gdl:hex-3x3", "a:1"], "the roles of hex-3x3 are 2"),
        (["manager", "hands.kif", "a:1", "b:0"], "'b:0' is not the address of a player"),
        (["manager", "hands.kif", "a:1"], "the roles of hands are 2"),
        (["manager", "hands.kif", "a:1", "b:1", "--play-clock", "0"], "play_clock is 0 s"),
        (["manager", "hands.kif", "a:1", "b:1", "--record", "no/folder/x.json"], "no/folder/x.json"),
        (["player", "--player", "nobody"], "unknown player 'nobody'"),
        (["player", "--player", "human"], "human has no terminal"),
        (["player", "--port", "70000"], "65535"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from palaestra.cli.main import run as palaestra

    monkeypatch.chdir(tmp_path)
    (tmp_path / "hands.kif").write_text(HANDS)
    with pytest.raises(SystemExit) as left:
        palaestra(["ggp", *arguments])
    out, err = capsys.readouterr()
    assert left.value.code == 2 and out == ""
    assert err.startswith("error: ") and words in err and len(err.splitlines()) == 1
