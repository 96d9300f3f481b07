"""The functions of `import palaestra` that are more than one call of a room: training with a view, networks.

Everything else that the package names stands where it is used by the command, too (`palaestra.__init__` says where).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from palaestra.base.user_code import trust
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener
from palaestra.live import training
from palaestra.live.run import Run, existing_folder, load_run, new_folder

if TYPE_CHECKING:
    from torch import nn


def train(
    config: RunConfig,
    out: str | Path | None = None,
    *,
    games: str | Path | None = None,
    workers: str | None = None,
    progress: bool = False,
    listeners: Iterable[Listener] = (),
) -> Run:
    """Learn a game by self-play, to the end that the configuration sets; before that from the PGN file `games`, if any.

    The run is kept in ./runs/NAME, as by `palaestra train`: `out` is its name or another folder. `progress` shows what
    the command shows; a listener hears every event (`palaestra.learn.events`). `workers` play the games: threads:N,
    processes:N, ray, or ray:HOST:PORT for a cluster that runs.
    """
    folder = new_folder(out, config.game)
    shown, view = _view(progress)
    with shown:
        training.train(config, folder, [*view, *listeners], workers, games=games)
    return load_run(folder)


def resume(
    run: str | Path | Run,
    sets: Sequence[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    from_iteration: int | None = None,
    game: Game | str | None = None,
    threads: int | None = None,
    device: str | None = None,
    workers: str | None = None,
    progress: bool = False,
    listeners: Iterable[Listener] = (),
) -> Run:
    """Go on where a run stopped; `iterations` or `minutes` (in all, not in addition) extend it.

    Settings that cannot change in a run's life are refused, others recorded. `from_iteration` goes back first, to one
    of the iterations that are kept. `game` names rules that are code of one's own.
    """
    folder = run.folder if isinstance(run, Run) else existing_folder(run)
    shown, view = _view(progress)
    with shown:
        training.resume(
            folder,
            sets,
            iterations=iterations,
            minutes=minutes,
            from_iteration=from_iteration,
            game=game,
            threads=threads,
            device=device,
            workers=workers,
            listeners=[*view, *listeners],
        )
    return load_run(folder)


def make_network(net: str, game: Game | str, *, dropout: float = 0.0, seed: int = 0) -> nn.Module:
    """An untrained network for a game, as a torch module: `make_network("b3c32", game)`.

    Names are those of the setting `net`; `module:attribute` names one of your own.
    """
    from palaestra.nets.facts import GameFacts
    from palaestra.nets.modules import make_module

    trust(net, game if isinstance(game, str) else "")
    rules = make_game(game) if isinstance(game, str) else game
    return make_module(net, GameFacts.of(rules), dropout, seed)


def _view(progress: bool) -> tuple[AbstractContextManager[object], list[Listener]]:
    """What is on the screen meanwhile, and what listens for it: the command's own view, or nothing."""
    if not progress:
        return nullcontext(), []
    from palaestra.cli.training_view import make_view

    view = make_view()
    return view.shown(), [view]
