"""`palaestra reproduce`: results of the works, run again, with verdicts. The frame is `lab`; this only shows it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.cli import complete
from palaestra.cli.options import Json, Seed, WorkersText, run_workers
from palaestra.cli.train import Sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from palaestra.lab.experiment import Experiment
    from palaestra.lab.plan import Plan
    from palaestra.lab.reproduce import Outcome, Progress
    from palaestra.work.workers import Kind

DEFAULT_SCALE = "laptop"
# Options of an earlier version, and the value of a scale that each is now.
OLD = {
    "--games": "games",
    "--minutes": "minutes",
    "--generations": "iterations",
    "--limit": "iterations",
    "--level": "level",
    "--net": "net",
}


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID…]",
            help="fig-4.2, table-6.1, …; chapter-4; all; or module:attribute for your own. Nothing: list them.",
            show_default=False,
            autocompletion=complete.experiments,
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help="smoke, laptop or paper: how large.")] = DEFAULT_SCALE,
    seeds: Annotated[
        int | None, typer.Option(help="Repetitions of every arm; the scale's by default.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Jobs at a time; as many as cores by default.", show_default=False),
    ] = None,
    workers: WorkersText = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="runs/reproduce-SCALE by default.", show_default=False),
    ] = None,
    sets: Sets = None,
    board: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME", help="Only this one of an experiment's boards; may be repeated.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and how long it takes.")] = False,
    page: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Make atlas.html from a folder of results.", show_default=False),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    games: Annotated[int | None, typer.Option(hidden=True)] = None,
    minutes: Annotated[float | None, typer.Option(hidden=True)] = None,
    generations: Annotated[int | None, typer.Option(hidden=True)] = None,
    limit: Annotated[int | None, typer.Option(hidden=True)] = None,
    level: Annotated[int | None, typer.Option(hidden=True)] = None,
    net: Annotated[str | None, typer.Option(hidden=True)] = None,
    plot: Annotated[str | None, typer.Option(hidden=True)] = None,
    game: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Published tables and figures, run again: data, figure, table, and a verdict on every claim.

    Alone, it lists all of them with what is there. Stopped and given again, it goes on.
    """
    from palaestra.lab.catalogue import chosen
    from palaestra.lab.plan import Made, make_plan

    _answer_old(plot, game)
    old = {"--games": games, "--minutes": minutes, "--generations": generations, "--limit": limit, "--level": level}
    changed = [f"{OLD[name]}={value}" for name, value in (old | {"--net": net}).items() if value is not None]
    found = _about(chosen(experiments or []), board or [], scale)
    if page is not None:
        _page(Path(page), found, json)
        return
    who, made = run_workers(workers, jobs), Made()
    plans = [
        make_plan(
            one,
            scale,
            seeds,
            first_seed=seed,
            sets=[*(sets or ()), *changed],
            boards=board or (),
            made=made,
        )
        for one in (found or chosen(["all"]))
    ]
    home = Path("runs") / f"reproduce-{scale}" if out is None else Path(out)
    if not found:
        _list(plans, home, json)
    elif dry_run:
        _dry_run(plans, home, who.count or usable_cores(), json)
    else:
        _reproduce(plans, home, who, json)


def _about(found: list[Experiment], boards: list[str], scale: str) -> list[Experiment]:
    """Of several experiments, those that are about one of the boards; all of them where none is, to be told so."""
    from palaestra.lab.experiment import SCALES
    from palaestra.lab.plan import boards_of

    if not boards or scale not in SCALES:
        return found
    return [one for one in found if set(boards) <= set(boards_of(one, scale))] or found


def _answer_old(plot: str | None, game: str | None) -> None:
    """Options of an earlier version that mean nothing now."""
    if plot is not None:
        raise ConfigError("--plot is gone: the figure is FOLDER/ID/figure.svg and .png, as in --out FOLDER")
    if game is not None:
        raise ConfigError("--game is gone: an experiment has all its games, and a scale says which boards it takes")


def _reproduce(plans: Sequence[Plan], home: Path, who: Kind, json: bool) -> None:
    from palaestra.cli.output import print_json
    from palaestra.lab.jobs import Store
    from palaestra.lab.reproduce import conclude, do_jobs, jobs_of, refuse_other
    from palaestra.work.workers import make_workers

    for plan in plans:
        refuse_other(plan, home)
    store, pieces = Store(home), jobs_of(plans)
    with (
        make_workers(who, one_thread=who.count != 1, folder=home) as workers,
        _bar(plans) as listen,
    ):
        do_jobs(store, pieces, workers, listen)
    outcomes = [conclude(plan, store) for plan in plans]
    if json:
        print_json([outcome.as_json() for outcome in outcomes])
    else:
        for outcome in outcomes:
            _print(outcome)


@contextlib.contextmanager
def _bar(plans: Sequence[Plan]) -> Iterator[Callable[[Progress], None]]:
    """A bar of jobs; an interrupt behind it says how to go on."""
    from palaestra.cli.output import command_name, progress_bar, stderr

    try:
        with progress_bar(estimate=False) as bar:
            task = bar.add_task("jobs", total=None)

            def listen(progress: Progress) -> None:
                left = "" if progress.seconds_left is None else f", {_minutes(progress.seconds_left)} left"
                words = f"{progress.done} of {progress.jobs} jobs{left}; {'; '.join(progress.under_way[:2])}"
                bar.update(task, total=1000, completed=round(1000 * progress.share), description=words)

            yield listen
    except KeyboardInterrupt:
        ids = " ".join(plan.experiment.id for plan in plans[:3]) + (" …" if len(plans) > 3 else "")
        words = f"Stopped; all that is done is kept. To go on: {command_name()} reproduce {ids}, with the same options"
        stderr().print(words, markup=False, soft_wrap=True)
        raise


def _print(outcome: Outcome) -> None:
    from palaestra.cli.output import say
    from palaestra.lab.reproduce import table_text

    say(table_text(outcome))
    say(f"Data, figure and settings: {outcome.folder}\n")


def _list(plans: Sequence[Plan], home: Path, json: bool) -> None:
    from rich.table import Table

    from palaestra.cli.output import print_json, stdout
    from palaestra.lab.catalogue import listed
    from palaestra.lab.costs import Costs
    from palaestra.lab.jobs import Store
    from palaestra.lab.status import glance, status_of

    costs = Costs()  # nothing is measured for a list
    there = Store(home).there()
    if json:
        known = {plan.experiment.id: status_of(plan, home, costs, there).as_json() for plan in plans}
        print_json([{**one.__dict__, **known.get(one.id, {"state": "undeclared"})} for one in listed()])
        return
    cells = {plan.experiment.id: glance(plan, home, costs, there) for plan in plans}
    table = Table(box=None, pad_edge=False)
    for name in ("id", "what", "there", "verdicts", "minutes"):
        table.add_column(
            name, overflow="fold", justify="right" if name == "minutes" else "left", ratio=1 if name == "what" else None
        )
    work = None
    for identity in listed():
        if identity.work != work:
            work = identity.work
            table.add_row(f"{work}", "", "", "", "", style="bold")
        table.add_row(identity.id, identity.caption, *cells.get(identity.id, ("not declared", "", "")))
    console = stdout()
    console.print(table)
    console.print(
        f"Scale {plans[0].scale_name}, in {home}; minutes are those of one core, and ? until --dry-run has measured"
        " them. One of them: palaestra reproduce ID --scale smoke"
    )


def _dry_run(plans: Sequence[Plan], home: Path, jobs: int, json: bool) -> None:
    from palaestra.cli.output import print_json, progress_bar, say
    from palaestra.lab.costs import Costs
    from palaestra.lab.status import status_of

    with progress_bar(estimate=False) as bar:
        task = bar.add_task("", total=None)
        costs = Costs(lambda what: bar.update(task, description=f"measuring {what}"))
        found = [(plan, status_of(plan, home, costs)) for plan in plans]
    if json:
        rows = [{"experiment": plan.experiment.id, "jobs": jobs, **status.as_json()} for plan, status in found]
        print_json(rows)
        return
    for plan, status in found:
        say(f"{plan.experiment.id}, scale {plan.scale_name}, {len(plan.seeds)} seeds: {plan.departs}")
        say(f"  {status.runs} runs and {status.calls} other jobs, {status.done} of them done")
        time = "?" if status.seconds is None else _minutes(status.seconds / jobs)
        say(f"  about {time} with {jobs} at a time")


def _page(folder: Path, found: Sequence[Experiment], json: bool) -> None:
    from palaestra.cli.output import print_json, say
    from palaestra.lab.atlas import write_atlas

    path = write_atlas(folder, found)
    if json:
        print_json({"page": str(path)})
    else:
        say(f"The page is {path}.")


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
