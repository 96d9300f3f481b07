"""`palaestra analyse`: what a player thinks of a position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Json, Moves, Seed
from palaestra.errors import ConfigError, MoveError

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Analysis
    from palaestra.types import Int8s

MOST_ROWS = 12  # moves in the table; --json gives all


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
        Path | None, typer.Option("--svg", metavar="FILE", help="Also draw the position into this file.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what a player would do in a position and why: policy, visits, value, principal variation."""
    import numpy as np

    from palaestra.cli.output import print_json
    from palaestra.games.registry import make_game
    from palaestra.games.rows import ONGOING
    from palaestra.players.registry import make_player

    rules = make_game(game)
    state = rules.from_moves(moves)
    if int(rules.outcome(state[None])[0]) != ONGOING:
        raise MoveError(f"the game is over after these moves; give fewer, as in: palaestra analyse {game} --moves ''")
    thinker = make_player(player or default_adviser(rules), rules)
    analysis = thinker.analyse(state, np.random.default_rng(seed))
    if svg is not None:
        write_new(svg, rules.svg(state))
    if json:
        print_json({"game": rules.id, "player": thinker.text, "seed": seed, **as_json(rules, state, analysis)})
    else:
        print_analysis(rules, state, analysis, thinker.text)


def default_adviser(game: Game) -> str:
    """Who is asked when nobody is named."""
    return "uct(simulations=2000)" if game.players == 2 else "nrpa(level=2)"


def as_json(game: Game, state: Int8s, analysis: Analysis) -> dict[str, Any]:
    """The JSON document: moves as text; policy and visits by move; the value is for the player to move."""
    from palaestra.cli.output import SIDES

    return {
        "to_play": SIDES[int(state[0])],
        "action": game.action_to_text(state, analysis.action),
        "action_id": analysis.action,
        "value": None if analysis.value is None else analysis.value + 0.0,  # never minus zero
        "proven": analysis.proven,
        "policy": None
        if analysis.policy is None
        else {t: float(analysis.policy[a]) for a, t in legal_texts(game, state)},
        "visits": None
        if analysis.visits is None
        else {t: int(analysis.visits[a]) for a, t in legal_texts(game, state)},
        "pv": line_of_texts(game, state, analysis.pv),
        "note": analysis.note,
    }


def legal_texts(game: Game, state: Int8s) -> list[tuple[int, str]]:
    """(action, text) of every legal move."""
    counts, actions = game.legal(state[None])
    return [(int(action), game.action_to_text(state, int(action))) for action in actions[0, : counts[0]]]


def line_of_texts(game: Game, state: Int8s, line: list[int]) -> list[str]:
    """A line of actions in the game's notation, each written in the position where it is played."""
    import numpy as np

    texts = []
    for action in line:
        texts.append(game.action_to_text(state, action))
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    return texts


def value_in_words(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:+.3f} for the player to move"  # + 0.0: there is no minus zero here


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
    if line := line_of_texts(game, state, analysis.pv):
        console.print(Text.assemble(("line  ", "dim"), " ".join(line)), soft_wrap=not console.is_terminal)


def moves_table(game: Game, state: Int8s, analysis: Analysis) -> Any:
    from rich.table import Table

    rows = legal_texts(game, state)
    weights = analysis.visits if analysis.policy is None else analysis.policy
    assert weights is not None
    rows.sort(key=lambda row: -float(weights[row[0]]))
    shares, visits = analysis.policy, analysis.visits
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("move")
    table.add_column("probability" if shares is not None else "", justify="right")
    table.add_column("visits" if visits is not None else "", justify="right")
    table.add_column("")
    for action, written in rows[:MOST_ROWS]:
        table.add_row(
            written,
            "" if shares is None else f"{100 * shares[action]:.1f} %",
            "" if visits is None else f"{visits[action]:,}",
            "" if shares is None else "█" * round(30 * float(shares[action])),
            style="bold" if action == analysis.action else "",
        )
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
