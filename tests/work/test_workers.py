"""All kinds of workers do the same; what only processes must survive is in test_processes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError, GameError
from palaestra.work.jobs import Job, report
from palaestra.work.workers import Workers, make_workers
from tests.work.jobs_for_tests import fail, refuse, square, squares, steps, wait_until, with_pid

KINDS = ["here", "threads:3", "processes:2"]


@pytest.fixture(params=KINDS)
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with make_workers(request.param) as workers:
        yield workers


def test_every_job_gives_its_result_once_also_when_its_key_comes_twice(workers: Workers) -> None:
    results = list(workers.run([*squares(range(5)), *squares(range(3, 8))]))
    assert sorted((job.key, result) for job, result in results) == sorted((f"square {n}", n * n) for n in range(8))
    assert list(workers.run([])) == []
    assert [result for _, result in workers.run(squares(range(9, 10)))] == [81], "workers may be used again"


def test_an_error_of_a_job_is_raised_and_ends_the_rest(workers: Workers, tmp_path: Path) -> None:
    file = tmp_path / "never"
    jobs = [Job("bad", refuse, ("chequers",)), Job("long", wait_until, (file,)), *squares(range(100))]
    results = []
    with pytest.raises(GameError, match=r"^chequers is no game$"):
        for job, _ in workers.run(jobs):
            results.append(job)
    assert len(results) < 100
    with pytest.raises(ValueError, match="a mistake in the program"):
        list(workers.run([Job("worse", fail, ("value",))]))
    assert [result for _, result in workers.run(squares(range(3, 4)))] == [9], "an error spoils no worker"


def test_jobs_are_drawn_as_workers_come_free_and_left_when_nobody_asks(workers: Workers) -> None:
    drawn: list[int] = []

    def endless() -> Iterator[Job]:
        number = 0
        while True:
            drawn.append(number)
            yield Job(str(number), square, (number,))
            number += 1

    running = workers.run(endless())
    first = [next(running) for _ in range(4)]
    assert len(first) == 4 and len(drawn) <= 4 + 2 * workers.count
    running.close()  # type: ignore[attr-defined]


def test_what_jobs_report_is_heard_by_the_thread_that_asks(workers: Workers) -> None:
    heard: list[tuple[str, float, str]] = []

    def listen(job: Job, share: float, words: str) -> None:
        assert threading.current_thread() is threading.main_thread()
        heard.append((job.key, share, words))

    assert [result for _, result in workers.run([Job("some", steps, (5,))], listen)] == [5]
    assert heard and set(heard) <= {("some", (step + 1) / 5, f"step {step + 1}") for step in range(5)}
    report(0.5, "outside a job nobody hears it")


def test_results_come_in_the_order_in_which_jobs_end(tmp_path: Path) -> None:
    for text in KINDS[1:]:
        file = tmp_path / text
        jobs = [Job("long", wait_until, (file,)), *squares(range(3))]
        with make_workers(text) as workers:
            order = []
            for job, _ in workers.run(jobs):
                order.append(job.key)
                if len(order) == 3:
                    file.touch()
        assert order[-1] == "long" and sorted(order[:3]) == [f"square {n}" for n in range(3)]


def test_a_thread_whose_job_is_no_longer_wanted_ends_at_its_next_report(tmp_path: Path) -> None:
    never = tmp_path / "never"
    with make_workers("threads:2") as workers:
        running = workers.run([Job("long", wait_until, (never,)), Job("quick", square, (2,))])
        assert next(running)[1] == 4
        running.close()  # type: ignore[attr-defined]  # would wait a minute for the other one
    assert not any(thread.name.startswith("work") for thread in threading.enumerate())


def test_equal_keys_are_equal_jobs_and_jobs_can_be_pickled() -> None:
    job = Job("one", square, (1,))
    assert job == Job("one", with_pid, (2,)) and job != Job("two", square, (1,)) and len({job, Job("one", square)}) == 1
    again = pickle.loads(pickle.dumps(job))
    assert again == job and again.function is square and again.arguments == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "four",
        "processes",
        "processes:0",
        "threads:-1",
        "processes:1e3",
        "threads:1001",
        "rays",
        "ray:",
        "ray:0",
        "ray?workers=0",
        "ray://host",
    ],
)
def test_a_text_that_names_no_workers_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^workers are here, threads:N, processes:N, ray, .* for example processes:4$"
    ):
        make_workers(text)


def test_only_processes_take_a_limit_of_time() -> None:
    for text in KINDS[:2]:
        with pytest.raises(ConfigError, match="only processes can be ended"):
            make_workers(text, seconds=1.0)
