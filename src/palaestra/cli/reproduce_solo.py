"""`palaestra reproduce solo`: searches for one player and the run that learns, each for the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli.experiments import Folder, Minutes, Plot, Seeds, home_of, say_how_to_go_on
from palaestra.cli.files import picture
from palaestra.cli.options import Json, Seed, full_game_id
from palaestra.cli.train import Sets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from palaestra.lab.solve_folder import Journal
    from palaestra.learn.events import Event

EXAMPLE = "--game morpion-5d --minutes 10 --seeds 3"


def solo(
    game: Annotated[
        str, typer.Option(metavar="GAME", help="A game for one player.", callback=full_game_id)
    ] = "morpion-5d",
    minutes: Minutes = 10.0,
    seeds: Seeds = 3,
    level: Annotated[int, typer.Option(min=1, max=6, help="Of nrpa.")] = 3,
    folder: Folder = None,
    plot: Plot = None,
    sets: Sets = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """random, uct, nmcs, nrpa, ranked reward, and nrpa led by its policy: best score over equal time (thesis, Ch7)."""
    from palaestra.cli.output import progress_bar
    from palaestra.games.registry import make_game
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.solo_comparison import compare, methods
    from palaestra.lab.solo_plots import scores_over_time
    from palaestra.learn.events import IterationEnded
    from palaestra.learn.presets import configure, default_preset

    name = "solo"
    path, rules = picture(plot or f"{name}-{game}.svg"), make_game(game)
    home = home_of(folder, f"{name}-{rules.id}")
    configs = {
        one: configure(game, default_preset(rules), sets or (), minutes=minutes, seed=one, threads=usable_cores())
        for one in range(seed, seed + seeds)
    }
    try:
        with progress_bar(estimate=False) as bar:
            task = bar.add_task("", total=seeds * len(methods(level, home, seed)))

            def begins(words: str) -> None:
                bar.advance(task, float(bar.tasks[0].description != ""))
                bar.update(task, description=words)

            def heard(event: Event) -> None:
                if isinstance(event, IterationEnded):
                    words = f"ranked reward, iteration {event.iteration}, best {event.metrics['scores']['best']}"
                    bar.update(task, description=words)

            found = compare(home, rules, configs, level, begins, [heard])
    except KeyboardInterrupt:
        say_how_to_go_on(name, f"what is finished is kept in {home}")
        raise
    save_figure(scores_over_time([journal for some in found.values() for journal in some]), path)
    if json:
        _print_json(found, path, home, {"game": rules.id, "minutes": minutes, "seeds": seeds, "seed": seed})
    else:
        _print_table(found, minutes)
        _print_files(home, path)


def _print_table(found: Mapping[str, Sequence[Journal]], minutes: float) -> None:
    import numpy as np

    from palaestra.cli.output import mean_in_words, stdout
    from palaestra.lab.solo_comparison import best_and_when
    from palaestra.live.words import clock

    console = stdout()
    heading = f"| method, {minutes:g} minutes | best, mean | best, by seed | met after | games or restarts |"
    console.print(heading, soft_wrap=True)
    console.print("| --- " * 5 + "|")
    for label, journals in found.items():
        bests = [best_and_when(journal) for journal in journals]
        known = [best for best in bests if best is not None]
        mean = mean_in_words(np.array([float(score) for score, _ in known]))
        each = ", ".join("–" if best is None else str(best[0]) for best in bests)
        when = ", ".join("–" if best is None else clock(best[1]) for best in bests)
        played = sum(journal.restarts for journal in journals)
        console.print(f"| {label} | {mean} | {each} | {when} | {played:,} |", markup=False, soft_wrap=True)


def _print_files(home: Path, path: Path) -> None:
    from palaestra.cli.output import stdout

    words = f"\n± is 95 % over seeds. Best score over time: {path}. Searches and runs: {home}; given again, this only"
    stdout().print(f"{words} reads them.", markup=False, soft_wrap=True)


def _print_json(found: Mapping[str, Sequence[Journal]], path: Path, home: Path, about: Mapping[str, Any]) -> None:
    from palaestra.cli.output import print_json
    from palaestra.lab.solo_comparison import best_and_when

    listed = []
    for label, journals in found.items():
        rows = []
        for journal in journals:
            best, seconds = best_and_when(journal) or (None, None)
            rows.append({"seed": journal.about.seed, "best": best, "seconds": seconds, "games": journal.restarts})
        listed.append({"method": label, "seeds": rows})
    print_json({"experiment": "solo", **about, "folder": str(home), "plot": str(path), "methods": listed})
