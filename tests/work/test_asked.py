"""Processes that answer questions: what they tell, how they stop, and what becomes of those that die."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from palaestra.base.errors import GameError, WorkError
from palaestra.work.asked import Asked, Tell


def _count(to: int, tell: Tell) -> int:
    for number in range(to):
        tell(number)
    return os.getpid()


def _forever(tell: Tell) -> None:
    while True:
        tell(os.getpid())
        time.sleep(0.01)


def _deaf(tell: Tell) -> None:
    tell(os.getpid())
    time.sleep(600)


def _wrong(tell: Tell) -> None:
    raise GameError("no such game")


def _die(tell: Tell) -> None:
    os._exit(3)


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_what_is_told_is_heard_in_order_and_the_result_comes_last() -> None:
    async def work() -> None:
        asked, heard = Asked(1), list[int]()
        first = await asked.ask(_count, 3, hear=heard.append)
        assert heard == [0, 1, 2]
        assert await asked.ask(_count, 0) == first != os.getpid()
        asked.close()

    _run(work())


def test_errors_are_raised_where_it_was_asked_and_the_process_lives_on() -> None:
    async def work() -> None:
        asked = Asked(1)
        before = await asked.ask(_count, 0)
        with pytest.raises(GameError, match="no such game"):
            await asked.ask(_wrong)
        assert await asked.ask(_count, 0) == before
        asked.close()

    _run(work())


def test_a_process_that_dies_is_told_and_replaced() -> None:
    async def work() -> None:
        asked = Asked(1)
        with pytest.raises(WorkError, match="died"):
            await asked.ask(_die)
        assert await asked.ask(_count, 0) > 0
        asked.close()

    _run(work())


@pytest.mark.parametrize("function", [_forever, _deaf])
def test_a_question_that_is_taken_back_frees_its_process(function: Any) -> None:
    """One that listens stops, one that does not is ended; both within two seconds, and the next one is answered."""

    async def work() -> None:
        asked, heard = Asked(1), list[int]()
        task = asyncio.create_task(asked.ask(function, hear=heard.append))
        while not heard:
            await asyncio.sleep(0.01)
        task.cancel()
        after = await asked.ask(_count, 0)
        assert (after == heard[0]) == (function is _forever)
        asked.close()

    _run(work())


def test_those_for_whom_nobody_is_free_wait_in_line() -> None:
    async def work() -> None:
        asked, heard = Asked(1), list[int]()
        first = asyncio.create_task(asked.ask(_forever, hear=heard.append))
        while not heard:
            await asyncio.sleep(0.01)
        others = [asyncio.create_task(asked.ask(_count, 1)) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert asked.waiting == 3
        others.pop().cancel()  # who leaves the line keeps nobody waiting
        first.cancel()
        assert len(set(await asyncio.gather(*others))) == 1
        assert asked.waiting == 0
        asked.close()

    _run(work())
