"""Training from nothing, or from where a run stopped, to the run's end: one iteration after the other.

What a run holds stands in `session`, what an iteration does in `iteration`. Nothing is printed here; listeners are told
(`events`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from palaestra.base.errors import ConfigError, DamagedRunError, PalaestraError, RunError
from palaestra.base.types import JsonLike
from palaestra.base.user_code import trust
from palaestra.games.registry import make_game, make_stored_game
from palaestra.learn import events
from palaestra.learn.config import RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.divergence import IN_A_ROW, diverged_error, diverged_in_a_row
from palaestra.learn.events import Listener, Summary
from palaestra.learn.given_games import learn_given, read_given, wait_to_be_learned
from palaestra.learn.iteration import Iteration
from palaestra.learn.session import Session
from palaestra.learn.settings import as_settings, bounds, changes, make_config, merge, parse_sets
from palaestra.learn.stages import Stages
from palaestra.runs.folder import CONFIG, RunFolder
from palaestra.runs.manifest import Manifest
from palaestra.runs.places import free_folder
from palaestra.work.workers import Workers


def train(
    config: RunConfig,
    folder: Path | str | None = None,
    listeners: Iterable[Listener] = (),
    stages: Stages | None = None,
    workers: Workers | None = None,
    *,
    games: Path | str | None = None,
) -> Summary:
    """Run from nothing to the end that the configuration sets; `workers` play its games, by default threads.

    The folder must be new or empty; without one, ./runs gets one that is named after the game. `games` is a PGN file
    that the network learns from before self-play begins.
    """
    trust(config.model_dump_json())  # which is the caller's; only `resume` reads settings from a file
    folder = free_folder(config.game) if folder is None else folder
    home = RunFolder(Path(folder))
    home.refuse_if_taken()
    game = trainable(config, make_game(config.game))  # what cannot be trained leaves no folder behind
    if games is not None and config.course.games:
        raise ConfigError("games are given to a run of one game: leave out course.games, or --games")
    given = None if games is None else read_given(games, game).pgn
    session = Session(home, config, game, tuple(listeners), stages, workers)
    session.take_start()
    home.create()
    with home.locked():
        home.give_games(given)
        session.begin()
        return _run(session)


def resume(
    folder: Path | str,
    sets: Sequence[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    from_iteration: int | None = None,
    game: str | None = None,
    listeners: Iterable[Listener] = (),
    stages: Stages | None = None,
    workers: Workers | None = None,
) -> Summary:
    """Go on where a run stopped; `iterations` or `minutes` (in all, not in addition) extend it.

    Settings from `sets`, or edited in config.toml, are applied and recorded, or refused. A finished run that is not
    extended only gives its summary. `from_iteration` goes back first, to one of the iterations that are kept, and to
    its settings; what came after it is dropped. `game` names the rules where they are code of the user's own: what a
    folder says is never imported by itself.
    """
    home = RunFolder(Path(folder))
    home.refuse_if_none()
    with home.locked():
        home.clean()
        try:
            manifest = home.manifest() if from_iteration is None else home.generation(from_iteration)
            settings = home.config() if manifest is None or from_iteration is None else dict(manifest.config)
            with _named(home):
                written = make_config({name: of for name, of in settings.items() if name not in ("about", "history")})
                edited = _changed(manifest, written)
            config = make_config(merge(merge(as_settings(written), bounds(iterations, minutes)), parse_sets(sets)))
            changed = _changed(manifest, config)
            own_id = None if manifest is None else manifest.game
            rules = make_stored_game(config.game, str(home), id=own_id, given=game)
            with _named(home) if edited else nullcontext():
                trainable(config, rules)
            session = Session(home, config, rules, tuple(listeners), stages, workers)
            if manifest is None:  # killed before its first checkpoint: nothing can differ yet
                session.take_start()
                session.begin()
                return _run(session)
            if iterations is not None or minutes is not None:
                session.refuse_if_over(manifest)
            for key, (old, new) in edited.items():
                if changed.get(key) == (old, new):
                    session.tell(events.Warned(f"config.toml was edited: {key}: {old} -> {new}"))
            notes = [f"{key}: {old} -> {new}" for key, (old, new) in changed.items()]
            if from_iteration is not None:
                notes.insert(0, f"went back to iteration {from_iteration}")
            session.restore(manifest, notes)
        except DamagedRunError as error:
            raise RunError(f"{error}; {home.way_back()}") from None
        return _run(session)


@contextmanager
def _named(home: RunFolder) -> Iterator[None]:
    """An error that is raised inside this context comes from config.toml; its message is made to name that file."""
    try:
        yield
    except PalaestraError as error:
        raise type(error)(f"{home.path / CONFIG}: {error}") from None


def _changed(manifest: Manifest | None, config: RunConfig) -> dict[str, tuple[JsonLike, JsonLike]]:
    """In what the settings differ from those in force; ConfigError for what a run keeps for life."""
    return {} if manifest is None else changes(RunConfig.model_validate(manifest.config), config)


def _run(session: Session) -> Summary:
    """Iterations until the run's end."""
    session.tell(session.started())
    try:
        if wait_to_be_learned(session):
            learn_given(session)
        while not session.current.manifest.finished:
            Iteration(session).run()
            _stop_if_diverged(session)
    finally:
        session.stages.close()
    summary = session.summary()
    session.tell(events.RunEnded(summary))
    return summary


def _stop_if_diverged(session: Session) -> None:
    """DivergedError after several diverged iterations in a row. They are saved, so that other settings can go on."""
    now, lines = session.current.manifest, session.current.lines
    changed = max((entry["after_iteration"] for entry in now.history), default=0)  # settings were, last
    if diverged_in_a_row(lines, changed) >= IN_A_ROW:
        reason = lines[-1].diverged or ""
        raise diverged_error(str(session.home), session.config.learn, now.iteration, reason, now.finished)
