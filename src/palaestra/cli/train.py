"""`palaestra train`: from the rules to an agent; and what `resume` and `demo` share with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.base.text import refuse_long
from palaestra.cli import complete
from palaestra.cli.options import GAME_HELP, Json, full_game_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from palaestra.learn.events import Listener, Summary
    from palaestra.learn.oracles import ErrorRate
    from palaestra.runs.metrics import AgentScore, Demerits

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting such as learn.lr=0.01; may be repeated. palaestra settings lists them.",
        show_default=False,
        autocompletion=complete.settings,
    ),
]

LONGEST_NAME = 200  # characters; file systems take 255 bytes

NEXT = """\
What to try next
  {command} play {game} --against 'run:{name}'
  {command} analyse {game} --player 'run:{name}(simulations=1000)'
  {command} match {game} 'run:{name}' 'uct(simulations=1000)' --games 100
  {command} evaluate {name}{own}
  {command} report {name}{own}
  {command} resume {name} {more}{own}
  {command} export {name} --out {file}.onnx
"""

NEXT_SOLO = """\
What to try next
  {command} solve {game} --player 'run:{name}(simulations=400, temperature=0.5)' --out solved/{file}
  {command} solve {game} --player 'nrpa(level=3, run={name})' --out solved/{file}-nrpa
  {command} analyse {game} --player 'run:{name}(simulations=1000)'
  {command} evaluate {name}{own}
  {command} report {name}{own}
  {command} resume {name} {more}{own}
  {command} export {name} --out {file}.onnx
"""

EXPLANATION = """\
palaestra train GAME makes an agent from nothing but the rules, by playing against itself.

  palaestra demo                                       two minutes of it on connect_four-5x5: start here
  palaestra train connect_four-6x7 --minutes 30
  palaestra train othello-6x6 --preset thesis-small --iterations 20 --set learn.loss=product
  palaestra train morpion-5d --minutes 120             one player, against its own results

A run is kept in ./runs/NAME and can be stopped at any time: palaestra resume NAME goes on exactly where it was.
Presets:"""


def train(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help=GAME_HELP, callback=full_game_id, autocompletion=complete.games),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="fast, thesis, thesis-small, schmidt, opposition-fast, ranked or record.",
            show_default="fast; with one player ranked, or record if it always begins alike",
            autocompletion=complete.presets,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="RUN",
            help="Name of the run below ./runs, or a folder; by default made of game and preset.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Ends with the iteration in which these pass.", show_default=False)
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Ends after these.", show_default=False)] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random numbers are a function of this.")] = 0,
    sets: Sets = None,
    device: Annotated[
        str | None, typer.Option(help="Where the network is trained: cpu, cuda or mps.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Of self-play and training; as the preset says, or all cores.", show_default=False),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say how long the run would take on this machine.")
    ] = False,
    json: Json = False,
) -> None:
    """Learn a game by self-play. --minutes or --iterations replace the preset's end of the run; both bound it."""

    from palaestra.games.registry import make_game
    from palaestra.learn.presets import configure, default_preset, load_preset

    if game is None:
        explain()
        return
    preset = preset or default_preset(make_game(game))
    config = configure(
        game,
        preset,
        sets or (),
        minutes=minutes,
        iterations=iterations,
        seed=seed,
        device=device,
        threads=threads or load_preset(preset).settings.get("threads") or usable_cores(),
    )
    if estimate:
        from palaestra.cli.estimate import say_estimate

        say_estimate(config, json)
        return
    folder = new_folder(run, f"{game}-{preset}")

    def work(listeners: list[Listener]) -> Summary:
        from palaestra.learn.loop import train as train_run

        return train_run(config, folder, listeners)

    finish(watch(folder, work), json)


def explain() -> None:
    """What there is to choose from."""
    from palaestra.cli.output import say
    from palaestra.learn.presets import NAMES, load_preset

    say(EXPLANATION)
    width = max(map(len, NAMES))
    for name in NAMES:
        preset = load_preset(name)
        say(f"  {name:<{width}} {preset.about}\n  {'':<{width}} {preset.expect}")
    say("Games: palaestra games. Settings: palaestra settings, and config.toml in every run.")


def new_folder(run: str | None, otherwise: str) -> Path:
    """The folder of a run that is to be made; RunError with the command to resume if it exists."""
    from palaestra.runs.folder import RunFolder
    from palaestra.runs.places import free_folder

    if run is None:
        return free_folder(otherwise)
    folder = named_folder(run)
    RunFolder(folder).refuse_if_taken()
    return folder


def named_folder(run: str) -> Path:
    """The folder that a run's name or path means."""
    from pathlib import Path

    from palaestra.runs.places import RUNS

    for name in Path(run).parts:
        refuse_long(name, "the name of a run", ConfigError, LONGEST_NAME)
    if any(not character.isprintable() or character in "@(),=\"' " for character in run) or run in ("", ".", ".."):
        raise ConfigError(f"{run!r} cannot name a run: use letters, digits, - _ and ., for example --out first-try")
    return Path(run) if "/" in run else RUNS / run


def existing_folder(run: str) -> Path:
    """The folder of a run that is there, also of one that was killed before its first checkpoint."""
    from palaestra.runs.places import RUNS, find_run

    for folder in (RUNS / run, named_folder(run)):
        if (folder / "config.toml").is_file():
            return folder
    return find_run(run)


def name_of(folder: Path) -> str:
    """How players and verbs name the run: its name below ./runs, or its path."""
    from palaestra.runs.places import RUNS

    return folder.name if folder.parent == RUNS else str(folder)


def watch(folder: Path, work: Callable[[list[Listener]], Summary]) -> Summary:
    """Do the work under a view on stderr; Ctrl-C leaves the folder at its last iteration and says how to go on."""
    from palaestra.cli.output import command_name, stderr
    from palaestra.cli.training_view import make_view
    from palaestra.learn.listeners import tensorboard
    from palaestra.runs.folder import CONFIG

    view = make_view()
    try:
        with view.shown():
            board = tensorboard(folder)
            return work([view, board] if board else [view])
    except KeyboardInterrupt:
        words = "Stopped before the run began: nothing is kept."
        if (folder / CONFIG).is_file():
            done = len(view.lines)
            words = f"Stopped; iteration {done} is kept. To go on: {command_name()} resume {name_of(folder)}"
        stderr().print(words, markup=False, soft_wrap=True)
        raise


def finish(summary: Summary, json: bool, before_next: Callable[[Summary], None] | None = None) -> None:
    """Say how strong the agent is, and what can be done with it; `before_next` may add to what is said."""
    from palaestra.cli.output import print_json, stderr

    with stderr().status("Looking for mistakes …"):
        rates = mistakes(summary)
    if json:
        print_json(as_json(summary, rates))
    else:
        print_summary(summary, rates)
        if before_next is not None:
            before_next(summary)
        print_next(summary)


def mistakes(summary: Summary) -> list[ErrorRate]:
    """Error rates of the network that plays, where an oracle knows the game: alone, and with the run's search."""
    from palaestra.learn.oracles import error_rates, own_oracle
    from palaestra.players.runs import open_run

    config, game = summary.config, summary.game
    oracle = own_oracle(game)
    if oracle is None:
        return []
    run = open_run(str(summary.folder))
    model, budgets = run.network(summary.best), (0, config.evaluation.simulations)
    settings: dict[str, Any] = {"threads": config.threads, "reward": run.make_reward(game)}
    return error_rates(game, model, config.selfplay.search, [oracle], budgets, **settings)


def as_json(summary: Summary, rates: list[ErrorRate]) -> dict[str, Any]:
    """The JSON document; an infinite Elo is null."""
    from dataclasses import asdict

    last = summary.metrics[-1] if summary.metrics else None
    return {
        "run": name_of(summary.folder),
        "folder": str(summary.folder),
        "game": summary.config.game,
        "net": summary.config.net,
        "reward": summary.config.reward,
        "seed": summary.config.seed,
        "iterations": summary.iterations,
        "games": summary.games,
        "positions": summary.positions,
        "seconds": summary.seconds,
        "best": summary.best,
        "elo": None if summary.score else summary.elo,
        **({} if summary.score is None else score_json(summary, summary.score)),
        "losses": asdict(last.losses) if last else None,
        "demerits": asdict(last.demerits) if last and last.demerits else None,
        "error_rate": [
            {"positions_of": rate.positions_of, "simulations": rate.simulations, "error_rate": rate.rate}
            for rate in rates
        ]
        or None,
    }


def score_json(summary: Summary, last: AgentScore) -> dict[str, Any]:
    """What stands in place of Elo with one player: the last evaluation, and the record of the whole run."""
    from dataclasses import asdict

    from palaestra.learn.best_solutions import best_file
    from palaestra.learn.solo import best_score

    found = best_file(summary.folder)
    score = asdict(last)
    del score["player"]
    return {
        "score": {name: value for name, value in score.items() if name != "anchors"},
        "anchors": score["anchors"],
        "record": best_score(summary.metrics),
        "solution": None if found is None else str(found),
    }


def print_summary(summary: Summary, rates: list[ErrorRate]) -> None:
    from rich.text import Text

    from palaestra.cli.evaluate import print_scores, print_strength
    from palaestra.cli.output import stdout
    from palaestra.cli.training_view import clock
    from palaestra.players.runs import open_run

    words = (
        f"{summary.config.game}: {summary.iterations} iterations, {summary.games:,} games and"
        f" {summary.positions:,} positions in {clock(summary.seconds)}"
    )
    stdout().print(Text(words, style="bold"))
    if counted := [(line.iteration, line.demerits) for line in summary.metrics if line.demerits]:
        stdout().print(demerits_in_words(counted))
    reward = None if summary.config.reward == "default" else summary.config.reward
    run = open_run(name_of(summary.folder))
    if (score := summary.score) is not None:
        print_scores(run, summary.best, [score, *score.anchors], reward)
        print_record(summary)
        return
    results = next((line.against for line in reversed(summary.metrics) if line.against), ())
    print_strength(run, summary.best, results, rates, reward)


def print_record(summary: Summary) -> None:
    """The best score of the run, and the file that proves it."""
    from palaestra.cli.output import command_name, stdout
    from palaestra.learn.best_solutions import best_file
    from palaestra.learn.solo import best_score

    if (found := best_file(summary.folder)) is not None:
        stdout().print(
            f"Best score of the whole run: {best_score(summary.metrics)}, in {found} and .svg; to verify it:\n"
            f"  {command_name()} check-solution {found}",
            markup=False,
            soft_wrap=True,
        )


def demerits_in_words(counted: list[tuple[int, Demerits]]) -> str:
    """How the demerits went, from iterations that counted them."""
    counts = [found.demerits for _, found in counted]
    none = next((iteration for iteration, found in counted if found.demerits == 0), None)
    best = f"none for the first time in iteration {none}" if none else f"{min(counts):.2f} at best"
    return f"Demerits against perfect play: {counts[0]:.2f} at first, {best}, {counts[-1]:.2f} in the end"


def print_next(summary: Summary) -> None:
    """The exact commands for what can be done with the run now."""
    from palaestra.base.user_code import to_be_named
    from palaestra.cli.output import command_name, stdout

    config = summary.config
    if config.minutes is not None:
        more = f"--minutes {2 * config.minutes:g}"
    else:
        more = f"--iterations {2 * summary.iterations}"
    text = (NEXT if summary.score is None else NEXT_SOLO).format(
        command=command_name(),
        game=config.game,
        name=name_of(summary.folder),
        more=more,
        file=summary.folder.name,
        own="".join(f" --trust {name}" for name in to_be_named([config.model_dump_json()])),
    )
    stdout().print("\n" + text, markup=False, soft_wrap=True, end="")
