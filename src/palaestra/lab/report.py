"""One HTML page about a run: plots, settings, and a few games to step through. It needs nothing but itself.

Everything is inline (SVG, style, a few lines of JavaScript), so that the page can be mailed or kept. Without JavaScript
the games show their final positions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from palaestra.arena.statistics import elo_in_words
from palaestra.base.errors import RecordError
from palaestra.base.printable import escape
from palaestra.base.text import whole_number
from palaestra.games.base import Game
from palaestra.games.registry import make_stored_game
from palaestra.games.rows import ONGOING
from palaestra.lab.pages import Replay, card, fill_page
from palaestra.lab.plots import run_plots
from palaestra.runs.folder import RunFolder, numbered
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import AnchorResult, Lines
from palaestra.runs.pgn_games import PgnGame, read_games

MOST_GAMES = 5
SIDES = ("first", "second")


def make_report(folder: Path, game: str | None = None) -> str:
    """The page of the run in this folder; RunError where there is none or it has no iteration yet.

    `game` names the rules where they are code of the user's own.
    """
    home = RunFolder(folder)
    manifest = home.manifest()
    if manifest is None or manifest.iteration == 0:
        raise RecordError(f"{folder} has no finished iteration yet: there is nothing to report")
    lines = home.metrics(manifest)
    try:
        rules = make_stored_game(str(manifest.config["game"]), str(folder), id=manifest.game, given=game)
        return render(folder.resolve().name, manifest, lines, list(replays(home, rules, manifest)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Hashes say that files are those that were saved, and a stranger can save anything.
        what = f"{type(error).__name__}: {error}"
        raise RecordError(f"{folder} holds settings, metrics or games that are not those of a run ({what})") from error


def replays(home: RunFolder, game: Game, manifest: Manifest) -> Iterator[Replay]:
    """One game each of up to MOST_GAMES iterations, the first and the last among them."""
    last = manifest.iteration
    for iteration in sorted({round(1 + (last - 1) * step / (MOST_GAMES - 1)) for step in range(MOST_GAMES)}):
        if games := read_games(home.read(numbered("games", iteration, "pgn"), manifest).decode()):
            yield replay(game, game_to_show(games), f"Iteration {iteration}")


def game_to_show(games: Sequence[PgnGame]) -> PgnGame:
    """The first game that was decided, which shows more than a draw; with one player the one with the best score."""
    if any(one.result != "*" for one in games):
        return next((one for one in games if one.result in ("1-0", "0-1")), games[0])
    return max(games, key=lambda one: whole_number(one.tags.get("Outcome", "")) or 0)


def replay(game: Game, played: PgnGame, title: str) -> Replay:
    """A game with every position drawn."""
    states = played.states(game)
    end = int(game.outcome(states[-1][None])[0])
    result = "unfinished" if end == ONGOING else _result(game, end, len(states) - 1)
    return Replay(f"{title}: {result}", [game.svg(state) for state in states], list(played.moves), played.opening_plies)


def _result(game: Game, outcome: int, plies: int) -> str:
    if game.players == 1:
        return f"score {outcome}"
    if outcome == 0:
        return f"a draw after {plies} plies"
    return f"the {SIDES[outcome < 0]} player wins after {plies} plies"


def render(name: str, manifest: Manifest, lines: Lines, games: list[Replay]) -> str:
    """The page as text."""
    gate = manifest.settings("gate") if "gate" in manifest.config else {}
    level = gate.get("threshold") if gate.get("kind") == "threshold" else None
    threshold = float(level) if isinstance(level, int | float) else None
    figures = [
        f"<figure><h3>{escape(title)}</h3>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for title, caption, svg in run_plots(lines, threshold)
    ]
    return fill_page(
        "report.html",
        games,
        name=escape(name),
        game=escape(manifest.game),
        facts="".join(
            f"<div><b>{escape(value)}</b><span>{escape(key)}</span></div>" for key, value in facts(manifest, lines)
        ),
        figures="\n".join(figures),
        games="\n".join(card(index, game) for index, game in enumerate(games)) or "<p>No games were kept.</p>",
        settings=_table(flat(manifest.config)),
        about=_table(flat(manifest.about)),
    )


def facts(manifest: Manifest, lines: Lines) -> list[tuple[str, str]]:
    """The numbers at the top of the page."""
    shown = [
        ("iterations", f"{manifest.iteration:,}"),
        ("minutes", f"{manifest.seconds / 60:,.1f}"),
        ("games", f"{manifest.games:,}"),
        ("positions", f"{manifest.positions:,}"),
        ("network", manifest.net),
        ("best is iteration", str(manifest.best)),
    ]
    shown += [("history", change) for entry in manifest.history for change in entry["changed"]]
    last = lines[-1] if lines else None
    if last is not None and last.reward:
        shown.append(("reward", last.reward))
    if last is not None and last.demerits is not None:
        shown.append(("demerits against perfect play", f"{last.demerits.demerits:.2f}"))
    if last is not None and last.scores is not None:
        shown.append(("best score", str(last.scores.best)))
    judged = next((line.score for line in reversed(lines) if line.score is not None), None)
    for score in (judged, *judged.anchors) if judged is not None else ():
        ends = "" if score.low is None else f" ({score.low:.1f} to {score.high:.1f})"
        shown.append((f"mean score of {score.player}, 95 %", f"{score.mean:.1f}{ends}"))
    for result, game in _elsewhere(lines):
        shown.append((f"Elo against {result.anchor} at {game}, 95 %", elo_in_words(result.elo)))
    latest = next((line.elo for line in reversed(lines) if line.elo), {})
    for anchor, elo in latest.items():
        shown.append((f"Elo against {anchor}, 95 %", elo_in_words(elo)))
    return shown


def _elsewhere(lines: Lines) -> list[tuple[AnchorResult, str]]:
    """The last results at other games of the run's course."""
    judged = [
        line.course for line in lines if line.course is not None and any(one.against for one in line.course.games)
    ]
    return [(result, one.game) for one in (judged[-1].games if judged else ()) for result in one.against or ()]


def flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested settings as ("learn.lr", "0.01"), in their order."""
    rows: list[tuple[str, str]] = []
    waiting = [(prefix, settings)]
    while waiting:
        path, table = waiting.pop()
        deeper = []
        for key, value in table.items():
            if isinstance(value, Mapping):
                deeper.append((f"{path}{key}.", value))
            else:
                rows.append(
                    (
                        f"{path}{key}",
                        "–" if value is None else json.dumps(value) if isinstance(value, list) else str(value),
                    )
                )
        waiting += reversed(deeper)
    return rows


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
    return f"<table>{body}</table>"
