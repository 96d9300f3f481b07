"""`palaestra train`: from the rules to an agent; and what `resume` and `demo` share with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.options import GAME_HELP, Json, WorkersText, full_game_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from palaestra.learn.config import RunConfig
    from palaestra.learn.events import Event, Listener, Summary
    from palaestra.live.training import TrainedRun

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
  palaestra train othello-8x8 --from run:othello-6x6   weights of a smaller board (networks rNcM)
  palaestra train morpion-5d --minutes 120             one player, against its own results
  palaestra train hex-5x5 --games good.pgn             learns these games first, then plays against itself

A run is kept in ./runs/NAME and can be stopped at any time: palaestra resume NAME goes on exactly where it was.
Presets (where none is named, strong for half an hour and more, fast for less):"""


def train(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help=GAME_HELP, callback=full_game_id, autocompletion=complete.games),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="fast, strong, thesis, thesis-small, schmidt, opposition-fast, ranked, record, thesis-ranked or"
            " curriculum; train without a game tells of each.",
            show_default="strong; fast for less than 30 minutes or with --iterations alone; with one player ranked, or"
            " record if it always begins alike",
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
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NETWORK",
            help="Start with the weights of run:NAME, run:NAME@12, agent:GAME or an ONNX file of this program.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Ends with the iteration in which these pass.", show_default=False)
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Ends after these.", show_default=False)] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random numbers are a function of this.")] = 0,
    sets: Sets = None,
    games: Annotated[
        str | None,
        typer.Option(
            "--games",
            metavar="FILE.pgn",
            help="Finished games of this game, to learn from before self-play begins.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where the network is trained: cpu, cuda or mps.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Of self-play and training; as the preset says, or all cores.", show_default=False),
    ] = None,
    workers: WorkersText = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say how long the run would take on this machine.")
    ] = False,
    json: Json = False,
) -> None:
    """Learn a game by self-play. --minutes or --iterations replace the preset's end of the run; both bound it."""
    from palaestra.games.registry import make_game
    from palaestra.learn.presets import configure, default_preset

    if game is None:
        explain()
        return
    preset = preset or default_preset(make_game(game), minutes, iterations)
    config = configure(
        game,
        preset,
        sets or (),
        minutes=minutes,
        iterations=iterations,
        seed=seed,
        device=device,
        threads=threads,
        start=start,
    )
    if estimate:
        from palaestra.cli.estimate import say_estimate

        say_estimate(config, json, games)
        return
    from palaestra.live.run import new_folder
    from palaestra.live.training import train as train_run

    folder = new_folder(run, f"{game}-{preset}")

    def work(listeners: list[Listener]) -> Summary:
        return train_run(config, folder, [_tell_expectation, *listeners], workers, games=games)

    finish(watch(folder, work), json)


def _tell_expectation(event: Event) -> None:
    """Once the run has begun: what is refused says nothing else."""
    from palaestra.learn.events import RunStarted

    if isinstance(event, RunStarted):
        say_expectation(event.config)


def say_expectation(config: RunConfig) -> None:
    """How strong such a run has been after as many minutes, where an agent of the package was made alike."""
    from palaestra.cli.output import stderr
    from palaestra.players.shipped import cards

    card = cards().get(config.game)
    search = config.selfplay.search.model_dump(exclude_none=True, mode="json")
    if card is None or (card.start, card.threads) != (config.start or "", config.threads):
        return
    if config.minutes is None or card.search | {"simulations": search["simulations"]} != search:
        return
    if (stage := card.after(config.minutes)) is not None:
        other = [] if card.net == config.net else [card.net]
        if card.search["simulations"] != search["simulations"]:
            other.append(f"{card.search['simulations']} simulations in self-play")
        words = f"After {stage.minutes:.1f} minutes expect about {stage.elo:.0f} Elo above random, as {card.text()} had"
        words += f" with {' and '.join(other)}" if other else ""
        stderr().print(f"{words}. Other games: docs/strength.md", style="dim", markup=False)


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


def watch(folder: Path, work: Callable[[list[Listener]], Summary]) -> Summary:
    """Do the work under a view on stderr; Ctrl-C leaves the folder at its last iteration and says how to go on."""
    from palaestra.cli.output import command_name, stderr
    from palaestra.cli.training_view import make_view
    from palaestra.live.run import name_of
    from palaestra.runs.folder import CONFIG

    view = make_view()
    try:
        with view.shown():
            return work([view])
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
    from palaestra.live.training import TrainedRun, mistakes

    with stderr().status("Looking for mistakes …"):
        trained = TrainedRun(summary, mistakes(summary))
    if json:
        print_json(trained.document())
    else:
        print_trained(trained)
        if before_next is not None:
            before_next(summary)
        print_next(summary)


def print_trained(trained: TrainedRun) -> None:
    from rich.text import Text

    from palaestra.cli.evaluate import print_scores, print_strength
    from palaestra.cli.output import command_name, stdout
    from palaestra.live.evaluation import judged_in_words
    from palaestra.players.runs import open_run

    summary = trained.summary
    stdout().print(Text(trained.title, style="bold"))
    if trained.demerits_in_words:
        stdout().print(trained.demerits_in_words)
    run = open_run(trained.name)
    reward = None if summary.config.reward == "default" else summary.config.reward
    title = judged_in_words(run, run.game, summary.best, reward)
    if (score := summary.score) is None:
        print_strength(title, run.game, trained.against, trained.rates)
        return
    print_scores(title, [score, *score.anchors])
    if trained.record is not None:
        best, found = trained.record
        stdout().print(
            f"Best score of the whole run: {best}, in {found} and .svg; to verify it:\n"
            f"  {command_name()} check-solution {found}",
            markup=False,
            soft_wrap=True,
        )


def print_next(summary: Summary) -> None:
    """The exact commands for what can be done with the run now."""
    from shlex import quote

    from palaestra.base.user_code import to_be_named
    from palaestra.cli.output import command_name, stdout
    from palaestra.live.run import name_of

    config = summary.config
    if config.minutes is not None:
        more = f"--minutes {2 * config.minutes:g}"
    else:
        more = f"--iterations {2 * summary.iterations}"
    text = (NEXT if summary.score is None else NEXT_SOLO).format(
        command=command_name(),
        game=quote(config.game),
        name=name_of(summary.folder),
        more=more,
        file=summary.folder.name,
        own="".join(f" --trust {name}" for name in to_be_named([config.model_dump_json()])),
    )
    stdout().print("\n" + text, markup=False, soft_wrap=True, end="")
