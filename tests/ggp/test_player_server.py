from __future__ import annotations

import asyncio
from typing import Any

import pytest

from palaestra.base.errors import ConfigError
from palaestra.ggp.http_server import MESSAGE_BYTES, listen
from palaestra.ggp.protocol import rules_digest
from palaestra.ggp.worker_process import WorkerProcess
from tests.ggp.fakes import ONE_LINE, playing, post, raw, run, start, worker

INFO = b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)"
AVAILABLE = "((name palaestra) (status available) (species computer)"
BUSY = AVAILABLE.replace("available", "busy")
HANDS = ("stone", "paper")


def test_a_match_is_played_from_start_to_stop_with_raw_messages() -> None:
    async def work() -> None:
        async with playing(worker("plain")) as (_, port):
            assert (await post(port, "(INFO)")).startswith(AVAILABLE)
            assert await post(port, f"(PREVIEW ({ONE_LINE}) 5)") == "ready"
            assert await post(port, start("m")) == "ready"
            assert (await post(port, "(INFO)")).startswith(BUSY)
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert await post(port, "(PLAY m (stone paper))") in HANDS
            assert await post(port, "(PLAY m (STONE STONE))") in HANDS
            assert await post(port, "(STOP m (stone stone))") == "done"
            assert (await post(port, "(INFO)")).startswith(AVAILABLE)

    run(work())


def test_a_message_may_be_the_path_of_a_get_and_http_1_1_and_100_continue_are_understood() -> None:
    async def work() -> None:
        async with playing(worker("plain")) as (_, port):
            for head in (b"GET /%28INFO%29 HTTP/1.0\r\n\r\n", b"GET /(INFO) HTTP/1.1\r\nHost: a\r\n\r\n"):
                assert AVAILABLE.encode() in await raw(port, head)
            assert b"busy" in await raw(port, b"GET /%28PLAY+m%20NIL%29 HTTP/1.0\r\n\r\n")
            answer = await raw(port, INFO)
            body = AVAILABLE + " (plays plain))"
            assert b"200 OK" in answer and b"text/acl" in answer
            assert f"Content-Length: {len(body)}".encode() in answer and answer.endswith(body.encode())
            expecting = INFO.replace(b"1.0", b"1.1").replace(
                b"\r\n\r\n", b"\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"
            )
            first, _, rest = (await raw(port, expecting)).partition(b"\r\n\r\n")
            assert first == b"HTTP/1.1 100 Continue" and AVAILABLE.encode() in rest

    run(work())


def test_a_second_start_a_wrong_match_and_a_play_too_many_are_answered_busy() -> None:
    async def work() -> None:
        async with playing(worker("endless")) as (_, port):
            for message in ("(PLAY m NIL)", "(STOP m NIL)", "(ABORT m)"):
                assert await post(port, message) == "busy"
            assert await post(port, start("m")) == "ready"
            thinking = asyncio.create_task(post(port, "(PLAY m NIL)"))
            await asyncio.sleep(0.05)
            others = (
                start("m"),
                start("n"),
                f"(PREVIEW ({ONE_LINE}) 5)",
                "(PLAY n NIL)",
                "(PLAY m NIL)",
                "(STOP n NIL)",
            )
            for message in others:
                assert await post(port, message) == "busy", message
            assert await post(port, "(ABORT m)") == "aborted"
            assert await thinking == "busy"
            assert (await post(port, "(INFO)")).startswith(AVAILABLE)
            assert await post(port, start("m")) == "ready"  # in a process of its own: the search never ended

    run(work())


def test_a_search_that_overstays_is_answered_for_with_a_legal_move_turn_after_turn() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("endless"), log) as (server, port):
            assert await post(port, start("m", 60, 2)) == "ready"
            for moves in ("NIL", "(stone stone)", "(paper stone)"):
                assert await post(port, f"(PLAY m {moves})") in HANDS
            assert all("overstayed" in line for line in log) and len(log) == 3
            assert server.margin.late > 0

    run(work())


def test_a_late_search_is_answered_for_with_the_best_move_that_it_told() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("late"), log) as (_, port):
            assert await post(port, start("m", 60, 3)) == "ready"
            for moves in ("NIL", "(paper stone)", "(paper stone)"):
                told = await post(port, f"(PLAY m {moves})")
                # The search of the first turn never ends, so that those of the others never begin.
                assert told == "paper" if moves == "NIL" else told in HANDS
        assert "overstayed" in log[0] and "the move is paper" in log[0]

    run(work())


def test_thinking_gets_the_clock_but_for_the_margin() -> None:
    async def work() -> None:
        async with playing(worker("counting")) as (_, port):
            assert await post(port, start("m", 60, 50)) == "ready"
            given, _, seconds = (await post(port, "(PLAY m NIL)")).partition("_")
            assert given == "given" and 25 <= float(seconds) < 49.95

    run(work())


def test_a_worker_that_still_reads_the_rules_may_be_ready_by_the_first_move() -> None:
    async def work() -> None:
        async with playing(worker("slow_reader")) as (_, port):
            assert await post(port, start("m", 1, 60)) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert await post(port, "(STOP m NIL)") == "done"

    run(work())


def test_a_worker_that_is_still_being_started_may_be_ready_by_the_first_move() -> None:
    async def work() -> None:
        async with playing(worker("slow_starter"), wait=False) as (_, port):
            assert await post(port, start("m", 0.2, 60)) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert await post(port, "(PLAY m (stone stone))") in HANDS
            assert await post(port, "(STOP m (stone stone))") == "done"

    run(work())


def test_a_play_is_answered_though_the_start_or_the_play_before_it_is_not() -> None:
    async def work() -> None:
        async with playing(worker("slow_starter"), wait=False) as (server, port):
            starting = asyncio.create_task(post(port, start("m", 60, 60)))
            while server.match is None:
                await asyncio.sleep(0.01)
            first = asyncio.create_task(post(port, "(PLAY m NIL)"))
            await asyncio.sleep(0.1)
            assert await post(port, "(PLAY m NIL)") == "busy"  # the same once more
            assert await post(port, "(PLAY m (stone stone))") in HANDS
            assert await first == await starting == "busy"
            assert await post(port, "(PLAY m (paper stone))") in HANDS  # both turns were told: the state fits
            assert await post(port, "(PLAY m (paper stone))") == "nil"  # and the fourth is one too many

    run(work())


def test_who_never_gets_ready_still_moves_in_time_and_is_given_up_with_the_match() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("endless_reader"), log) as (server, port):
            assert await post(port, start("m", 1, 1)) == "ready"
            for moves in ("NIL", "(stone stone)", "(paper stone)"):
                assert await post(port, f"(PLAY m {moves})") in HANDS
            assert ["not read the rules" in line for line in log] == [True] * 3
            first = server.match.worker.process
            assert await post(port, "(STOP m NIL)") == "done"
            await server.up()
            assert first.returncode is not None

    run(work())


def test_rules_that_take_all_memory_are_refused_and_the_next_match_is_fine() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("glutton", megabytes=1024), log) as (_, port):
            assert await post(port, start("m")) == "busy"
            assert "memory" in log[0] and "\n" not in log[0]
            assert (await post(port, "(INFO)")).startswith(AVAILABLE)

    run(work())


@pytest.mark.parametrize(
    "rules", ["(role left", "(role left) " * 3, "(" * 300 + ")" * 300, "(role left) (<= (legal left a) (not b)) oops ?"]
)
def test_rules_that_are_none_are_refused_with_one_line_and_the_next_match_is_fine(rules: str) -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("plain"), log) as (_, port):
            assert await post(port, start("m", rules=rules)) == "busy"
            assert len(log) == 1 and "\n" not in log[0]
            assert await post(port, start("m", role="nobody")) == "busy"
            assert "left, right" in log[1]
            assert await post(port, start("m")) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS

    run(work())


def test_a_worker_that_dies_is_replaced_within_the_match() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("mortal"), log) as (_, port):
            assert await post(port, start("m", 60, 120)) == "ready"
            replies = [await post(port, f"(PLAY m {moves})") for moves in ("NIL", "(stone stone)", "(paper stone)")]
            assert all(reply in HANDS for reply in replies), (replies, log)
            assert len(log) == 1 and "died" in log[0]  # and the new one was told the whole history

    run(work())


def test_a_search_that_fails_leaves_a_legal_move_and_a_line() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("faulty"), log) as (_, port):
            assert await post(port, start("m")) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert "out of ideas" in log[0]

    run(work())


@pytest.mark.parametrize("moves", ["(stone)", "(stone stone stone)", "(stone rock)", "(noop noop)"])
def test_moves_that_do_not_fit_the_rules_are_answered_not_followed(moves: str) -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("plain"), log) as (_, port):
            assert await post(port, start("m")) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert await post(port, f"(PLAY m {moves})") == "nil"
            assert len(log) == 1
            assert await post(port, "(STOP m NIL)") == "done"

    run(work())


def test_an_error_of_our_own_drops_the_match_and_not_the_player(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("plain"), log) as (_, port):
            with monkeypatch.context() as broken:
                broken.setattr(WorkerProcess, "begin", lambda *arguments: 1 // 0)
                assert await post(port, start("m")) == "busy"
            assert "ZeroDivisionError" in log[0]
            assert await post(port, start("m")) == "ready"
            assert await post(port, "(PLAY m NIL)") in HANDS

    run(work())


def test_a_manager_that_died_frees_the_player_when_the_clock_of_its_last_message_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("palaestra.ggp.player_server.SILENCE", 0.1)

    async def work() -> None:
        log: list[str] = []
        async with playing(worker("plain"), log) as (server, port):
            for clocks, message in (((2, 600), ""), ((600, 2), "(PLAY m NIL)")):
                assert await post(port, start("m", *clocks)) == "ready"
                assert not message or await post(port, message) in HANDS
                assert server.match.alarm.when() - asyncio.get_running_loop().time() <= 2.1
                while server.busy:
                    await asyncio.sleep(0.02)
                assert "another match may begin" in log[-1]
                assert (await post(port, "(INFO)")).startswith(AVAILABLE)
            assert any("nothing more was heard of it" in line for line in log)  # the second took the first one's place

    run(work())


def test_a_match_that_lapsed_goes_on_if_it_is_heard_of_and_no_other_has_begun() -> None:
    async def work() -> None:
        async with playing(worker("plain")) as (server, port):
            assert await post(port, start("m", 30, 30)) == "ready"
            held = server.match.worker
            server._lapse(server.match)
            assert (await post(port, "(INFO)")).startswith(AVAILABLE)
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert (await post(port, "(INFO)")).startswith(BUSY)
            assert server.match.worker is held  # nothing was lost
            server._lapse(server.match)
            assert await post(port, start("n", 60, 5)) == "ready"
            assert await post(port, "(PLAY m (stone stone))") == "busy"
            assert await post(port, "(PLAY n NIL)") in HANDS

    run(work())


def test_a_match_is_told_in_one_line_with_its_rules_role_clocks_and_goals() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(worker("plain"), log) as (server, port):
            assert await post(port, start("m", 60, 30)) == "ready"
            for moves in ("NIL", "(stone stone)", "(stone stone)"):
                assert await post(port, f"(PLAY m {moves})") in HANDS
            assert await post(port, "(STOP m (paper stone))") == "done"
            await server.up()
            assert await post(port, start("n", 60, 30, role="right")) == "ready"
            assert await post(port, "(ABORT n)") == "aborted"
            await server.up()
        rules = f"rules {rules_digest(ONE_LINE)}"
        assert log == [
            f"m: {rules}, role left, clocks 60+30, 3 turns by plain, done, goals 100 0",
            f"n: {rules}, role right, clocks 60+30, 0 turns by plain, aborted",
        ]

    run(work())


@pytest.mark.parametrize(
    "data, status",
    [
        (b"POST / HTTP/1.0\r\nContent-Length: 2147483648\r\n\r\n(INFO)", b"413"),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n",
            b"",
        ),
        (b"POST / HTTP/1.0\r\nContent-Length: 7\r\n\r\n(HELLO)", b"400"),
        (b"POST / HTTP/1.0\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"DELETE / HTTP/1.0\r\n\r\n", b"405"),
        (b"POST / HTTP/1.0\r\n\r\n", b"411"),
        (b"\x16\x03\x01\x02\x00 no http at all\r\n\r\n", b"400"),
        (b"GET / HTTP/1.0\r\n" + b"A: b\r\n" * 3_000, b"431"),
        (b"GET /" + b"%28" * 2_729, b"414"),
    ],
)
def test_bad_requests_are_answered_or_closed_and_nothing_is_left_of_them(data: bytes, status: bytes) -> None:
    async def work() -> None:
        async def echo(text: str, arrival: Any) -> str:
            from palaestra.ggp.protocol import read_message

            return str(read_message(text))

        async with listen("127.0.0.1", 0, echo, seconds=1.0) as port:
            assert (await raw(port, data)).split(b"\r\n")[0].partition(b" ")[2].startswith(status)
            assert b"Info()" in await raw(port, INFO)

    run(work())


def test_a_body_without_an_announced_end_is_cut_at_the_limit() -> None:
    async def work() -> None:
        async def never(text: str, arrival: Any) -> str:
            raise AssertionError("nothing was to be answered")

        async with listen("127.0.0.1", 0, never) as port:
            chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
            head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head)
            sent = 0
            try:
                while not reader.at_eof() and sent < 50 * MESSAGE_BYTES:
                    writer.write(chunk)
                    await writer.drain()
                    sent += len(chunk)
                    await asyncio.sleep(0)
            except ConnectionError:
                pass
            assert sent < 50 * MESSAGE_BYTES
            writer.close()

    run(work())


def test_silent_and_dribbling_clients_are_closed_while_others_are_served() -> None:
    async def work() -> None:
        async def echo(text: str, arrival: Any) -> str:
            return text

        async with listen("127.0.0.1", 0, echo, seconds=1.0) as port:
            silent = asyncio.create_task(raw(port, b""))
            half_a_head = asyncio.create_task(raw(port, b"POST / HT"))
            half_a_body = asyncio.create_task(raw(port, b"POST / HTTP/1.0\r\nContent-Length: 60000\r\n\r\n(INF"))
            dribble = asyncio.create_task(_dribble(port, INFO.replace(b"6", b"600")))
            assert b"(INFO)" in await raw(port, INFO)
            assert await asyncio.gather(silent, half_a_head, half_a_body, dribble) == [b""] * 4

    run(work())


async def _dribble(port: int, data: bytes) -> bytes:
    """A byte every tenth of a second, until nobody listens."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for byte in data * 100:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.1)
            if reader.at_eof():
                return b""
    except ConnectionError:
        return b""
    finally:
        writer.close()
    raise AssertionError("the dribble was taken to its end")


def test_hundreds_of_silent_connections_leave_the_player_neither_deaf_nor_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.ggp.http_server.CONNECTIONS", 200)

    async def work() -> None:
        async def echo(text: str, arrival: Any) -> str:
            return text

        async with listen("127.0.0.1", 0, echo, seconds=600.0) as port:
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
            assert b"(INFO)" in await raw(port, INFO)
            ended = [reader for reader, _ in idle if reader.at_eof() or reader.exception()]
            for _, writer in idle:
                writer.close()
            assert ended  # the oldest made room

    run(work())


def test_info_is_answered_while_the_worker_searches_and_hostile_clients_hang_on() -> None:
    async def work() -> None:
        async with playing(worker("endless")) as (_, port):
            assert await post(port, start("m", 60, 3)) == "ready"
            hostile = [
                asyncio.create_task(raw(port, b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n(")) for _ in range(9)
            ]
            thinking = asyncio.create_task(post(port, "(PLAY m NIL)"))
            answered = 0
            while not thinking.done():
                assert (await post(port, "(INFO)")).startswith(BUSY)
                answered += 1
            assert answered > 3 and await thinking in HANDS
            await asyncio.gather(*hostile)

    run(work())


def test_a_port_that_is_taken_is_told_in_one_line() -> None:
    async def work() -> None:
        async def echo(text: str, arrival: Any) -> str:
            return text

        async with listen("127.0.0.1", 0, echo) as port:
            with pytest.raises(ConfigError, match=f"port {port}: .*in use"):
                async with listen("127.0.0.1", port, echo):
                    pass

    run(work())


def test_leaving_ends_the_process_even_in_the_middle_of_a_search() -> None:
    async def work() -> None:
        async with playing(worker("endless")) as (server, port):
            assert await post(port, start("m")) == "ready"
            thinking = asyncio.create_task(post(port, "(PLAY m NIL)"))
            await asyncio.sleep(0.2)
            process = server.match.worker.process
        assert process.returncode is not None
        await asyncio.wait({thinking})

    run(work())
