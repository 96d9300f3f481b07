"""`palaestra analyse`: what a player thinks of a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from palaestra.base.errors import ConfigError, MoveError
from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Json, Moves, Seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from palaestra.base.types import Int8s
    from palaestra.games.base import Game
    from palaestra.players.base import Analysis

MOST_ROWS = 12  # moves in the table; --json gives all
BAR = 20  # columns of a certain move's bar
OVERLAYS = ("value", "policy", "visits")


def analyse(
    game: GameId,
    moves: Moves = "",
    player: Annotated[
        str,
        typer.Option(
            "--player", "-p", metavar="PLAYER", help=PLAYER_HELP, show_default=False, autocompletion=complete.players
        ),
    ] = "",
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Also draw the position, and the moves by their probability, here."),
    ] = None,
    overlay: Annotated[
        Literal["value", "policy", "visits", "none"] | None,
        typer.Option(help="The number on each move of --svg; the first of these by default.", show_default=False),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what a player would do in a position and why: value, probability and visits of each move, the line expected.

    Values are for the player to move. Where it takes only a moment, every move's certain result is found out as well.
    """
    import numpy as np

    from palaestra.cli.output import outcome_in_words, print_json, say
    from palaestra.games.registry import make_game
    from palaestra.games.rows import ONGOING
    from palaestra.players.exact import InstantJudge
    from palaestra.players.registry import make_player

    rules = make_game(game)
    states = list(rules.replay(moves))
    state = states[-1]
    if (outcome := int(rules.outcome(state[None])[0])) != ONGOING:
        if svg is None or overlay not in (None, "none"):
            raise MoveError(
                f"the game is over after these moves; give fewer, as in: palaestra analyse {game} --moves '', or draw "
                "its end with --svg FILE"
            )
        write_new(svg, picture_of(rules, states))
        words = outcome_in_words(rules, state)
        print_json({"game": rules.id, "outcome": outcome, "note": words}) if json else say(words)
        return
    if overlay is not None and svg is None:
        raise ConfigError(f"--overlay {overlay} is drawn into a picture: give --svg FILE with it")
    thinker = make_player(player or default_adviser(rules), rules)
    analysis = InstantJudge(rules).complete(state, thinker.analyse(state, np.random.default_rng(seed)))
    if svg is not None:
        write_new(svg, picture_of(rules, states, analysis, overlay, thinker.text))
    if json:
        print_json({"game": rules.id, "player": thinker.text, "seed": seed, **as_json(rules, state, analysis)})
    else:
        print_analysis(rules, state, analysis, thinker.text)


def default_adviser(game: Game) -> str:
    """Who is asked when nobody is named."""
    return "uct(simulations=2000)" if game.players == 2 else "nrpa(level=2)"


def as_json(game: Game, state: Int8s, analysis: Analysis) -> dict[str, Any]:
    """Moves as text; policy, visits, priors, values and exact results by move; values are for the player to move."""
    from palaestra.cli.output import SIDES

    return {
        "to_play": SIDES[int(state[0])],
        "action": game.action_to_text(state, analysis.action),
        "action_id": analysis.action,
        "value": None if analysis.value is None else analysis.value + 0.0,  # never minus zero
        "proven": analysis.proven,
        "policy": _by_move(game, state, analysis.policy, float),
        "visits": _by_move(game, state, analysis.visits, int),
        "priors": _by_move(game, state, analysis.priors, float),
        "values": _by_move(game, state, analysis.values, lambda value: float(value) + 0.0 if value == value else None),
        "exact": _by_move(game, state, analysis.exact, lambda result: exact_result(game, int(result))),
        "pv": game.line_to_texts(state, analysis.pv),
        "note": analysis.note,
    }


def _by_move(game: Game, state: Int8s, of: NDArray[Any] | None, shown: Callable[[Any], Any]) -> dict[str, Any] | None:
    return None if of is None else {text: shown(of[action]) for action, text in legal_texts(game, state)}


def exact_result(game: Game, result: int) -> str | int | None:
    """A certain result for the mover: win, draw or loss, with one player the score; None where nothing is certain."""
    from palaestra.players.base import UNPROVEN

    if result == UNPROVEN:
        return None
    return result if game.players == 1 else {1: "win", 0: "draw", -1: "loss"}[result]


def action_between(game: Game, before: Int8s, after: Int8s) -> int:
    """A legal action that leads from one state to the other."""
    import numpy as np

    counts, actions = game.legal(before[None])
    legal = actions[0, : counts[0]]
    followers = game.advance(np.repeat(before[None], len(legal), axis=0), legal)
    return int(legal[np.flatnonzero((followers == after).all(axis=1))[0]])


def picture_of(
    game: Game, states: Sequence[Int8s], analysis: Analysis | None = None, overlay: str | None = None, text: str = ""
) -> str:
    """The last of the states as SVG: its moves shaded by probability, with the numbers asked for, or the first there
    are; the last move and a winning line are marked."""
    from palaestra.games.overlay import has_spots, overlaid

    state = states[-1]
    last = (states[-2], action_between(game, states[-2], state)) if len(states) > 1 else None
    if analysis is None or overlay == "none":
        return overlaid(game, state, last=last)
    numbers = {kind: found for kind in OVERLAYS if (found := _numbers(game, state, analysis, kind))}
    if overlay is not None and not has_spots(game):
        raise ConfigError(f"{game.id} has no board with a place for each move: leave out --overlay {overlay}")
    if overlay is not None and overlay not in numbers:
        known = ", ".join(numbers) or "none of them"
        raise ConfigError(f"{text} has no {overlay} for its moves that could be drawn; it has {known}")
    shares = analysis.policy
    if shares is None and analysis.visits is not None:
        shares = analysis.visits / max(1, analysis.visits.sum())
    shades = {} if shares is None else {action: float(shares[action]) for action, _ in legal_texts(game, state)}
    return overlaid(game, state, shades, numbers.get(overlay or next(iter(numbers), "")), last)


def _numbers(game: Game, state: Int8s, analysis: Analysis, kind: str) -> dict[int, str]:
    """The short texts that stand on the moves; a move of which nothing is known has none."""
    of: NDArray[Any] | None = {"value": analysis.values, "policy": analysis.policy, "visits": analysis.visits}[kind]
    legal = [action for action, _ in legal_texts(game, state)]
    if of is None:
        return {}
    if kind == "value":
        return {action: short_value(float(of[action])) for action in legal if of[action] == of[action]}
    if kind == "policy":
        return {action: f"{100 * of[action]:.0f}" for action in legal if of[action] >= 0.005}
    return {action: _short(int(of[action])) for action in legal if of[action]}


def short_value(value: float) -> str:
    """ "+.42", "-1", "0": a value that fits on a cell."""
    return f"{value:+.2f}".replace("0.", ".").removesuffix(".00") if abs(value) >= 0.005 else "0"


def _short(number: int) -> str:
    """A whole number in four letters: 950, 12k, 3M."""
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if number >= 10 * unit:
            return f"{number // unit}{letter}"
    return str(number)


def legal_texts(game: Game, state: Int8s) -> list[tuple[int, str]]:
    """(action, text) of every legal move."""
    counts, actions = game.legal(state[None])
    return [(int(action), game.action_to_text(state, int(action))) for action in actions[0, : counts[0]]]


def value_in_words(value: float | None) -> str:
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f} for the player to move"  # never minus zero


def print_analysis(game: Game, state: Int8s, analysis: Analysis, text: str, draw: bool = True) -> None:
    """The board, one line with the choice, a table of moves, and the line expected."""
    from rich.text import Text

    from palaestra.cli.output import board, stdout

    console = stdout()
    if draw:
        console.print(board(game, state))
        console.print()
    choice = game.action_to_text(state, analysis.action)
    facts = [f"plays {choice}", value_in_words(analysis.value), analysis.note]
    words = Text.assemble((text, "bold"), " ", "; ".join(fact for fact in facts if fact))
    console.print(words, soft_wrap=not console.is_terminal)  # a terminal would break it in the middle of a word
    if analysis.policy is not None or analysis.visits is not None:
        console.print(moves_table(game, state, analysis))
    if line := game.line_to_texts(state, analysis.pv):
        console.print(Text.assemble(("line  ", "dim"), " ".join(line)), soft_wrap=not console.is_terminal)


def moves_table(game: Game, state: Int8s, analysis: Analysis) -> Any:
    """One row a move, the likeliest first, at most 80 columns; a column that says nothing is left out."""
    import numpy as np
    from rich.table import Table

    weights = analysis.visits if analysis.policy is None else analysis.policy
    assert weights is not None
    rows = sorted(legal_texts(game, state), key=lambda row: -float(weights[row[0]]))
    legal = [action for action, _ in rows]
    columns: dict[str, list[str]] = {}
    if analysis.values is not None and np.isfinite(analysis.values[legal]).any():
        columns["value"] = [f"{round(v, 3) + 0.0:+.3f}" if v == v else "" for v in analysis.values[legal].tolist()]
    if analysis.exact is not None:
        exact = [exact_result(game, int(result)) for result in analysis.exact[legal]]
        if any(result is not None for result in exact):
            columns["exact"] = ["" if result is None else str(result) for result in exact]
    if analysis.policy is not None:
        columns["probability"] = [f"{100 * share:.1f} %" for share in analysis.policy[legal].tolist()]
    if analysis.visits is not None:
        columns["visits"] = [f"{visits:,}" for visits in analysis.visits[legal].tolist()]
    if analysis.priors is not None and np.ptp(analysis.priors[legal]) > 0.0:  # equal ones say nothing
        columns["prior"] = [f"{100 * prior:.1f} %" for prior in analysis.priors[legal].tolist()]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("move")
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("", no_wrap=True)
    for row, (action, written) in enumerate(rows[:MOST_ROWS]):
        bar = "" if analysis.policy is None else "█" * round(BAR * float(analysis.policy[action]))
        cells = (column[row] for column in columns.values())
        table.add_row(written, *cells, bar, style="bold" if action == analysis.action else "")
    if len(rows) > MOST_ROWS:
        table.add_row(f"… {len(rows) - MOST_ROWS} more", style="dim")
    return table


def write_new(path: Path, content: str) -> None:
    """Write a whole file or none: to a temporary name beside it, then renamed."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r} ({error.strerror}); give a file in an existing folder") from None
