"""`palaestra reproduce schmidt-fig3`, `margins`, `speed` and `bonus`: what rewards that learn teach.

Each trains runs below one folder, draws a picture and prints a Markdown table. Given again, a command goes on where it
was stopped, and only reads what is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli.experiments import (
    Folder,
    Jobs,
    Minutes,
    Plot,
    Seeds,
    home_of,
    share_cores,
    stoppable_bar,
    train_runs,
)
from palaestra.cli.files import picture
from palaestra.cli.options import Json, Seed, full_game_id
from palaestra.cli.train import Sets

if TYPE_CHECKING:
    from palaestra.base.types import Float64s
    from palaestra.lab.demerit_curves import Claim, Curve

Generations = Annotated[int, typer.Option(min=1, max=10**6, help="Of every run.")]
Games = Annotated[int, typer.Option(min=2, help="Of every match, an even number.")]
ANCHORS = {"random play": 16.5, "results kept, length ignored": 5.55}  # opposition-3x9 (sources: demerits)
HEADINGS = {  # of the figures of a duel, and what they are multiplied by for people
    "win_rate": ("won, %", 100),
    "score": ("score, %", 100),
    "margin": ("mean margin, discs", 1),
    "won_plies": ("plies of won games", 1),
    "lost_plies": ("plies of lost games", 1),
    "distinct_games": ("distinct games", 1),
}


def schmidt_fig3(
    seeds: Seeds = 5,
    generations: Generations = 100,
    game: Annotated[
        str,
        typer.Option(
            metavar="GAME",
            help="The paper's view by default; in opposition-3x9 the mover always plays up the board.",
            callback=full_game_id,
        ),
    ] = "opposition-3x9-absolute",
    folder: Folder = None,
    plot: Plot = None,
    sets: Sets = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Six agents learn opposition: demerits against perfect play over generations (Schmidt et al., Figures 1 and 3)."""
    from palaestra.games.registry import make_game
    from palaestra.lab.demerit_curves import summary
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.schmidt import AGENTS, agent_configs, claims, demerits_of, folders, reward_curves, run_folder
    from palaestra.lab.schmidt_plots import demerits_figure, worth_figure
    from palaestra.rewards.outcomes import OutcomeSpace

    name = "schmidt-fig3"
    path, home = picture(plot or f"{name}.svg"), home_of(folder, name)
    jobs, threads = share_cores(jobs)
    configs = agent_configs(range(seed, seed + seeds), generations, game=game, sets=sets or (), threads=threads)
    train_runs(name, folders(home, configs), jobs)
    curves = demerits_of(home, configs)
    labels = {agent: about.label for agent, about in AGENTS.items()}
    anchors = ANCHORS if game.startswith("opposition-3x9") else {}
    save_figure(demerits_figure({labels[agent]: curve for agent, curve in curves.items()}, anchors), path)
    worth = path.with_stem(f"{path.stem}-rewards")
    panels = {labels[agent]: reward_curves(run_folder(home, agent, seed), game) for agent in ("cdf", "cdf_bonus")}
    save_figure(worth_figure(OutcomeSpace.of(make_game(game)).outcomes(), panels), worth)
    verdicts = claims(curves)
    if json:
        _json(name, seeds, seed, home, path, {
            "game": game, "generations": generations, "rewards_plot": str(worth),
            "agents": {agent: summary(curve) for agent, curve in curves.items()},
            "claims": [claim.__dict__ for claim in verdicts],
        })  # fmt: skip
    else:
        _print_curves(curves, labels)
        _print_claims(verdicts)
        _print_files(home, path, worth)


def bonus(
    seeds: Seeds = 3,
    generations: Generations = 50,
    folder: Folder = None,
    plot: Plot = None,
    sets: Sets = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """α of the CDF reward with bonus, from 0 (only who wins) to 1 (plain CDF): demerits on opposition-3x9."""
    from palaestra.lab.demerit_curves import summary
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.reward_experiments import ALPHAS, bonus_configs
    from palaestra.lab.schmidt import demerits_of, folders
    from palaestra.lab.schmidt_plots import demerits_figure

    name = "bonus"
    path, home = picture(plot or f"{name}.svg"), home_of(folder, name)
    jobs, threads = share_cores(jobs)
    configs = bonus_configs(range(seed, seed + seeds), generations, sets=sets or (), threads=threads)
    train_runs(name, folders(home, configs), jobs)
    curves = demerits_of(home, configs)
    labels = {f"alpha-{alpha:g}": f"α = {alpha:g}" for alpha in ALPHAS}
    save_figure(demerits_figure({labels[agent]: curve for agent, curve in curves.items()}, ANCHORS), path)
    if json:
        figures = {agent: summary(curve) for agent, curve in curves.items()}
        _json(name, seeds, seed, home, path, {"generations": generations, "agents": figures})
    else:
        _print_curves(curves, labels)
        _print_files(home, path)


def margins(
    seeds: Seeds = 3,
    minutes: Minutes = 10.0,
    games: Games = 100,
    folder: Folder = None,
    plot: Plot = None,
    sets: Sets = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """A CDF reward over disc differences against win or loss alone, on othello-6x6: who wins, and by how much."""
    _duels("margins", seeds, minutes, games, folder, plot, sets or (), jobs, seed, json)


def speed(
    seeds: Seeds = 3,
    minutes: Minutes = 5.0,
    games: Games = 100,
    folder: Folder = None,
    plot: Plot = None,
    sets: Sets = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """A CDF reward over lengths against win or loss alone: how soon games are won, how long lost ones are held."""
    _duels("speed", seeds, minutes, games, folder, plot, sets or (), jobs, seed, json)


EXPERIMENTS: dict[str, tuple[Callable[..., None], str]] = {
    "schmidt-fig3": (schmidt_fig3, "--seeds 5 --generations 100"),
    "margins": (margins, "--seeds 3 --minutes 10"),
    "speed": (speed, "--seeds 3 --minutes 5"),
    "bonus": (bonus, "--seeds 3 --generations 50"),
}


def _duels(
    name: str,
    seeds: int,
    minutes: float,
    games: int,
    folder: str | None,
    plot: str | None,
    sets: Sequence[str],
    jobs: int | None,
    seed: int,
    json: bool,
) -> None:
    from palaestra.arena.match import LOCKSTEP, check_match
    from palaestra.games.registry import make_game
    from palaestra.lab.rating_plots import save_figure
    from palaestra.lab.reward_experiments import DRAWN, LISTED, by_seed, duel_configs, duels, folders
    from palaestra.lab.schmidt_plots import duel_figure

    path, home = picture(plot or f"{name}.svg"), home_of(folder, name)
    jobs, threads = share_cores(jobs)
    configs = duel_configs(name, range(seed, seed + seeds), minutes, sets=sets, threads=threads)
    for game in {game for game, _, _ in configs}:
        check_match(make_game(game), games, LOCKSTEP)
    train_runs(name, folders(home, configs), jobs)
    with stoppable_bar(name) as bar:
        task = bar.add_task("", total=None)
        found = list(duels(home, configs, games, usable_cores(), lambda words: bar.update(task, description=words)))
    rows = by_seed(found, (*DRAWN[name], *LISTED))
    panels: dict[str, dict[str, dict[str, Float64s]]] = {}
    for (game, agent, opponent), values in rows.items():
        for column in DRAWN[name]:
            heading, factor = HEADINGS[column]
            panels.setdefault(f"{game}: {heading}", {}).setdefault(opponent, {})[agent] = factor * values[column]
    save_figure(duel_figure(panels), path)
    if json:
        listed = [
            {"game": game, "agent": agent, "opponent": opponent,
             **{column: [_number(value) for value in numbers] for column, numbers in values.items()}}
            for (game, agent, opponent), values in rows.items()
        ]  # fmt: skip
        _json(name, seeds, seed, home, path, {"minutes": minutes, "games": games, "duels": listed})
    else:
        _print_duels(rows)
        _print_files(home, path)


# Saying what was found.


def _json(name: str, seeds: int, seed: int, home: Path, path: Path, found: Mapping[str, Any]) -> None:
    from palaestra.cli.output import print_json

    print_json({"experiment": name, "seeds": seeds, "seed": seed, "folder": str(home), "plot": str(path), **found})


def _print_curves(curves: Mapping[str, Curve], labels: Mapping[str, str]) -> None:
    """A Markdown table: demerits at some generations, mean ± 95 % over seeds, and when 0 was first met."""
    from palaestra.cli.output import mean_in_words, stdout
    from palaestra.lab.demerit_curves import NEAR, generations_in_words, settles

    last = next(iter(curves.values())).shape[1]
    shown = sorted({generation for generation in (5, 10, 20, 30, 50, 100, last) if generation <= last})
    console = stdout()
    heads = " | ".join(f"generation {generation}" for generation in shown)
    console.print(f"| agent | {heads} | least | first ≤ {NEAR:g}, by seed | first 0 | settled |", soft_wrap=True)
    console.print("| --- " * (len(shown) + 5) + "|", soft_wrap=True)
    for agent, curve in curves.items():
        cells = " | ".join(mean_in_words(curve[:, generation - 1]) for generation in shown)
        kept = sum(settles(one) is True for one in curve)
        console.print(
            f"| {labels[agent]} | {cells} | {curve.min():.2f} | {generations_in_words(curve, NEAR)} "
            f"| {generations_in_words(curve)} | {kept} of {len(curve)} |",
            soft_wrap=True,
        )


def _print_claims(verdicts: Sequence[Claim]) -> None:
    from palaestra.cli.output import stdout

    console = stdout()
    console.print("\n| claim of the paper | here | evidence |\n| --- | --- | --- |")
    for claim in verdicts:
        console.print(f"| {claim.text} | {claim.verdict} | {claim.evidence} |", markup=False, soft_wrap=True)


def _print_duels(rows: Mapping[tuple[str, str, str], Mapping[str, Float64s]]) -> None:
    from palaestra.cli.output import mean_in_words, stdout

    console = stdout()
    heads = [HEADINGS[column][0] for column in next(iter(rows.values()))]
    console.print(f"| game | agent | against | {' | '.join(heads)} |", soft_wrap=True)
    console.print("| --- " * (len(heads) + 3) + "|", soft_wrap=True)
    for key, values in rows.items():
        cells = [*key, *(mean_in_words(HEADINGS[column][1] * numbers) for column, numbers in values.items())]
        console.print(f"| {' | '.join(cells)} |", markup=False, soft_wrap=True)


def _print_files(home: Path, *paths: Path) -> None:
    from palaestra.cli.output import stdout

    files = " and ".join(map(str, paths))
    stdout().print(
        f"\n± is 95 % over seeds. Pictures: {files}. Runs: {home}; given again, none is trained twice.", soft_wrap=True
    )


def _number(value: float) -> float | None:
    from palaestra.arena.statistics import finite

    return finite(float(value))
