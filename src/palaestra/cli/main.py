"""The command `palaestra`: collects the verbs, and turns every failure into one line and an exit code.

0 done · 1 the thing asked for failed · 2 bad usage or bad input · 130 or 143 ended by a signal (see `start`).
PALAESTRA_DEBUG=1 shows tracebacks.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, NoReturn

import typer

from palaestra import __version__
from palaestra.base.errors import PalaestraError
from palaestra.base.printable import printable
from palaestra.base.text import clip
from palaestra.base.user_code import begin_command
from palaestra.cli import complete
from palaestra.cli.compile_notice import compile_notice
from palaestra.cli.old_names import with_new_names
from palaestra.cli.options import with_trust

LONGEST = 2000  # characters of an error

# verb, function (or group of commands) in palaestra.cli.<verb with underscores>, example for --help
VERBS = (
    ("games", "games", "palaestra games"),
    ("agents", "agents", "palaestra agents connect_four-6x7"),
    ("play", "play", "palaestra play connect_four --against 'uct(simulations=2000)'"),
    ("match", "match", "palaestra match hex-5x5 'uct(simulations=200)' alphabeta --games 100"),
    ("rate", "rate", "palaestra rate games.pgn --anchor random=0"),
    ("tournament", "tournament", "palaestra tournament hex-5x5 random rhea uct rave --pgn games.pgn"),
    ("analyse", "analyse", "palaestra analyse tic_tac_toe --moves 'a1 b2' --player perfect"),
    ("review", "review", "palaestra review game.pgn --out review.html"),
    ("perft", "perft", "palaestra perft othello-8x8 8"),
    ("check-game", "check_game", "palaestra check-game my_game:GAME"),
    ("solve", "solve", "palaestra solve morpion-5d --player 'nrpa(level=3)' --minutes 60"),
    ("check-solution", "check_solution", "palaestra check-solution solution.txt --svg solution.svg"),
    ("train", "train", "palaestra train connect_four-6x7 --minutes 30 --out first-try"),
    ("sweep", "sweep", "palaestra sweep connect_four-5x5 --space fast --minutes 2 --trials 40"),
    ("settings", "settings", "palaestra settings learn.lr --preset fast"),
    ("runs", "runs", "palaestra runs"),
    ("resume", "resume", "palaestra resume first-try --minutes 60"),
    ("export", "export", "palaestra export first-try --out agent.onnx"),
    ("evaluate", "evaluate", "palaestra evaluate my-run --simulations 100,600 --games 100"),
    ("report", "report", "palaestra report my-run --out report.html"),
    ("bench", "bench", "palaestra bench search connect_four-6x7"),
    ("qlearn", "qlearn", "palaestra qlearn tic_tac_toe --learner qm --save tic.table"),
    ("ggp", "ggp", "palaestra ggp player --port 9147 --player 'uct(ms=60000)'"),
    ("gtp", "gtp", "palaestra gtp othello-8x8 --player 'uct(ms=1000)'"),
    ("uci", "uci", "palaestra uci --game openspiel:chess --player 'uct(ms=1000)'"),
    ("reproduce", "reproduce", "palaestra reproduce table-5.1 --games 100"),
    ("serve", "serve", "palaestra serve --open"),
    ("demo", "demo", "palaestra demo --minutes 2"),
)

READ_NO_CODE = (
    "games",
    "agents",
    "perft",
    "check-game",
    "rate",
    "settings",
    "runs",
    "demo",
)  # from files: they need no --trust

WELCOME = """\
Palaestra {version}: a self-play laboratory for board games.

  palaestra demo                                   an agent from nothing in two minutes: start here
  palaestra train connect_four-6x7 --minutes 30    learn a game by self-play; resume, report and export go on from there
  palaestra serve --open                           play, analyse, watch and compare in the browser
  palaestra play connect_four-6x7                  you against an agent that has learned it, with hints
  palaestra match GAME PLAYER PLAYER --games 100   who is stronger, with an interval
  palaestra analyse GAME --moves "a1 b2"           what a player thinks of a position
  palaestra solve morpion-5d --minutes 60          a game for one player: restarts of a search, every best grid kept
  palaestra runs                                   the runs that are here, and how strong they are
  palaestra sweep GAME --space fast --trials 40    many settings, rated: which of them pay
  palaestra settings [PATTERN]                     what can be set in training, and what the presets set
  palaestra games                                  the games and their sizes
  palaestra perft GAME DEPTH                       count move sequences
  palaestra check-game my_game:GAME                does a game of your own obey the laws?
  palaestra bench search                           how fast it is here

Players are short texts: random, greedy, alphabeta(depth=6), uct(simulations=200), rave(simulations=100), rhea,
mcs(ms=50), perfect, human; puct(model.onnx, simulations=100) searches with a network.
Every verb explains itself: palaestra match --help. Tab completes: palaestra --install-completion"""


def build_app(only: str | None = None) -> typer.Typer:
    """The Typer application, with all verbs, or with one for a quicker start. Verbs import their machinery when run."""
    app = typer.Typer(
        name="palaestra",
        help="A self-play laboratory for board games. Start with: palaestra demo",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_welcome)
    for verb, function, example in VERBS:
        if only not in (None, verb):
            continue
        module = importlib.import_module(f"palaestra.cli.{function}")
        command = getattr(module, function)
        if isinstance(command, typer.Typer):
            for inner in command.registered_commands:
                assert inner.callback is not None
                inner.callback = with_trust(inner.callback)
            app.add_typer(command, name=verb, epilog=f"Example: {example}")
        else:
            app.command(verb, epilog=f"Example: {example}")(command if verb in READ_NO_CODE else with_trust(command))
    return app


def _welcome(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """A self-play laboratory for board games. Start with: palaestra demo"""
    if version:
        print(__version__)
        raise typer.Exit()
    if context.invoked_subcommand is None:
        print(WELCOME.format(version=__version__))


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (as in `palaestra games | head -1`): nothing more can be said to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    try:
        complete.join_colons(os.environ)
        with compile_notice():
            named = with_new_names(arguments, _note)
            begin_command(named)
            app = build_app(_verb_of(named))
            return int(app(args=named, prog_name="palaestra", standalone_mode=False) or 0)
    except PalaestraError as error:
        return _complain(str(error), error.exit_code)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "palaestra"
        message = error.format_message().replace(": Value error, ", ": ")  # a name of Pydantic's
        if not message:  # a group of commands alone has just explained itself
            return 0
        return _complain(f"{message} (see: {path} --help)", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except SystemExit as left:
        if left.code == 0 or complete.ASKED in os.environ:  # the shell was answered, or its script shown or installed
            return int(left.code or 0)
        raise BrokenPipeError from None  # Typer and Rich leave so when the reader of their output has gone
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("PALAESTRA_DEBUG"):
            raise
        if isinstance(error, OSError) and error.filename is not None:  # no permission, a name too long, a full disk
            return _complain(f"cannot use {clip(str(error.filename))}: {(error.strerror or str(error)).lower()}", 2)
        what = f"{type(error).__name__}: {error}"
        return _complain(f"unexpected {what} (PALAESTRA_DEBUG=1 shows where; please report it)", 1)


def _verb_of(arguments: list[str]) -> str | None:
    """The verb that the command begins with, if nothing about others can be asked: by help, or by a shell on Tab."""
    first = arguments[0] if arguments and complete.ASKED not in os.environ else None
    return first if any(first == verb for verb, _, _ in VERBS) else None


def _note(line: str) -> None:
    print(line, file=sys.stderr)


def _complain(message: str, code: int) -> int:
    line = printable(" ".join(message.split()))
    print("error: " + (line if len(line) <= LONGEST else f"{line[:LONGEST]} …"), file=sys.stderr)
    return code
