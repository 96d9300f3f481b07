"""`palaestra sweep`: many runs with different settings, how strong each became, and what made the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli import complete
from palaestra.cli.options import GAME_HELP, Json, Seed, WorkersText, full_game_id, run_workers
from palaestra.cli.train import Sets

if TYPE_CHECKING:
    from pathlib import Path

    from palaestra.lab.sweep import Plan
    from palaestra.work.workers import Kind

EXPLANATION = """\
palaestra sweep GAME --space SPACE --trials N trains a game with many settings and rates what comes of them.

  palaestra sweep connect_four-5x5 --space fast --minutes 2 --trials 40
  palaestra sweep othello-6x6 --space thesis-3.5 --set net=b3c32 --objectives elo,minutes,loss
  palaestra sweep --report sweeps/connect_four-5x5-fast

The same command goes on with a sweep that was stopped. Spaces (or a file of your own, docs/sweeps.md):"""


def sweep(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help=GAME_HELP, callback=full_game_id, autocompletion=complete.games),
    ] = None,
    space: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="What varies: fast, thesis-3.4, thesis-3.5 or a TOML file.")
    ] = "fast",
    objectives: Annotated[
        str, typer.Option(metavar="LIST", help="Of elo (more is better), minutes and loss (less is better).")
    ] = "elo,minutes",
    trials: Annotated[
        int | None,
        typer.Option(min=1, max=9999, help="In all, earlier ones included.", show_default="all of a grid"),
    ] = None,
    sampler: Annotated[
        str | None, typer.Option(help="tpe, nsga2, random or grid.", show_default="tpe, or the space's own design")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="What trials begin with.", show_default="the space's", autocompletion=complete.presets),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Of every run.", show_default=False)] = None,
    iterations: Annotated[int | None, typer.Option(help="Of every run.", show_default=False)] = None,
    sets: Sets = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAYER",
            help="Anchors whom every trial meets; the first has Elo 0. May be repeated.",
            show_default="random and uct(simulations=200)",
            autocompletion=complete.players,
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Of a trial against each anchor and two earlier trials.")] = 40,
    simulations: Annotated[int, typer.Option(min=1, help="A move of the agents in those games.")] = 100,
    prune: Annotated[
        bool, typer.Option("--prune", help="Stop runs whose evaluations lie below the median of earlier ones.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Trials at the same time; 1 by default.", show_default=False)
    ] = None,
    workers: WorkersText = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Of each run; all cores by default, shared among jobs.", show_default=False),
    ] = None,
    storage: Annotated[str, typer.Option(help="sqlite, or journal for shared disks.")] = "sqlite",
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Again, it goes on.", show_default="sweeps/GAME-SPACE")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Only write the page of this sweep.", show_default=False)
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Train a game with many settings, rate the agents, and show which settings pay; one HTML page at the end."""
    from pathlib import Path

    from palaestra.arena.anchors import ANCHORS
    from palaestra.lab.sweep import check_players, make_plan
    from palaestra.lab.sweep_space import check_extra

    if report is not None:
        _report(Path(report), json)
        return
    if game is None:
        _explain()
        return
    check_extra()
    ends = {"iterations": iterations, "minutes": minutes, "seed": seed}
    who = run_workers(workers, jobs if workers is not None else jobs or 1)
    ends["threads"] = threads or max(1, usable_cores() // (who.count or usable_cores()))
    plan = make_plan(
        game,
        space,
        [name.strip() for name in objectives.split(",")],
        sampler,
        preset,
        sets or (),
        ends,
        storage=storage,
        anchors=tuple(against or ANCHORS),
        games=games,
        simulations=simulations,
        prune=prune,
    )
    folder = Path(out) if out else Path("sweeps") / f"{game}-{Path(space).stem if space.endswith('.toml') else space}"
    check_players(plan)
    _run(folder, plan, trials, who)
    _report(folder, json)


def _run(folder: Path, plan: Plan, trials: int | None, who: Kind) -> None:
    from palaestra.cli.output import command_name, stderr
    from palaestra.lab.sweep import run_sweep

    with stderr().status("Beginning …") as status:

        def heard(done: int, total: int, share: float, words: str) -> None:
            status.update(f"{done} of {total} trials done; {words or 'choosing'}")

        try:
            run_sweep(folder, plan, trials, who, heard)
        except KeyboardInterrupt:
            stderr().print(
                f"Stopped; the same command goes on. So far: {command_name()} sweep --report {folder}",
                markup=False,
                soft_wrap=True,
            )
            raise


def _report(folder: Path, json: bool) -> None:
    """Write the page, and say what came of it."""
    from palaestra.lab.sweep_space import check_extra

    check_extra()
    from palaestra.cli.output import print_json, say, stderr
    from palaestra.lab.sweep_report import summarise, write_page

    with stderr().status("Rating and drawing …"):
        page = write_page(folder)
        told = summarise(folder)
    if json:
        print_json({"folder": str(folder), "page": str(page), **told})
        return
    for line in _lines(told):
        say(line)
    say(f"{page}: open it in a browser")


def _lines(told: dict[str, Any]) -> list[str]:
    states = ", ".join(f"{count} {state}" for state, count in told["states"].items() if count)
    lines = [f"{told['game']}, space {told['space']}: {len(told['trials'])} trials ({states})"]
    front = set(told["pareto"])
    best = [trial for trial in told["trials"] if trial["trial"] in front]
    if best:
        lines.append("Pareto front, cheapest first:")
        lines.append(f"  {'trial':>5} {'minutes':>8} {'Elo':>6}  95 %            settings")
    for trial in sorted(best, key=lambda one: one["minutes"]):
        interval = f"{trial['low']:.0f} to {trial['high']:.0f}"
        settings = " ".join(f"{name.rpartition('.')[2]}={_short(value)}" for name, value in trial["values"].items())
        lines.append(f"  {trial['trial']:>5} {trial['minutes']:>8.2f} {trial['elo']:>6.0f}  {interval:<15} {settings}")
    clear = [one for one in told["correlations"] if one["clear"]]
    for one in sorted(clear, key=lambda one: -abs(one["rho"]))[:6]:
        interval = f"{one['low']:+.2f} to {one['high']:+.2f}"
        lines.append(f"  {one['parameter']} goes with {one['objective']}: ρ {one['rho']:+.2f} ({interval})")
    return lines


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _explain() -> None:
    from palaestra.cli.output import say
    from palaestra.lab.sweep_space import spaces_in_words

    say(EXPLANATION)
    for name, about in spaces_in_words().items():
        say(f"  {name:<12}{about}")
