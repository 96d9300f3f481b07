"""`palaestra review`: a finished game looked at again, move by move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palaestra.base.errors import GameError, RecordError
from palaestra.cli.options import PLAYER_HELP, Json, Seed

if TYPE_CHECKING:
    from rich.table import Table

    from palaestra.games.base import Game
    from palaestra.lab.review import Review
    from palaestra.runs.pgn_games import PgnGame

HEIGHTS = "▁▂▃▄▅▆▇█"
MOST_NAME = 60  # characters of a player's name that are shown


def review(
    file: Annotated[Path, typer.Argument(metavar="GAME.pgn", help="A file with a game, as match --pgn writes them.")],
    player: Annotated[
        str,
        typer.Option("--player", "-p", metavar="PLAYER", help=f"The adviser. {PLAYER_HELP}", show_default=False),
    ] = "",
    number: Annotated[
        int | None, typer.Option(min=1, help="Which game of a file with several; the first is 1.", show_default=False)
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="The rules, where the file does not name them or they are your own."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write a page with a board to step through.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Look at a finished game again: mistakes and better moves, and the value from move to move."""
    from palaestra.cli.analyse import write_new
    from palaestra.cli.files import writable
    from palaestra.cli.output import print_json, progress_bar, say
    from palaestra.lab.review import review_game, review_page
    from palaestra.live.analysis import default_adviser
    from palaestra.players.registry import make_player

    if html is not None:
        writable(html)
    chosen, played = _pick(file, number)
    rules = _rules(played, game, file)
    adviser = make_player(player or default_adviser(rules), rules)
    try:
        with progress_bar() as bar:
            task = bar.add_task("positions", total=len(played.moves) + 1)
            found = review_game(rules, played, adviser, seed, lambda: bar.advance(task))
    except RecordError as error:
        raise RecordError(f"{file}, game {chosen}: {error}") from None
    names = _names(played, found)
    if html is not None:
        write_new(html, review_page(found, names))
    if json:
        print_json(_as_json(found, str(file), chosen, names, seed))
    else:
        _print(found, names)
        if html is not None:
            say(f"The page is in {html}: open it in a browser")


def _pick(file: Path, number: int | None) -> tuple[int, PgnGame]:
    """The game of this number and the number; without one the file must hold a single game."""
    from palaestra.base.reading import opened
    from palaestra.runs.pgn_games import stream_games

    try:
        with opened(file) as source:
            last, found = 0, None
            for count, one in enumerate(stream_games(source, str(file)), start=1):
                if count == (number or 1):
                    found = one
                if number is None and count == 2:
                    raise RecordError(f"{file} holds several games; say which one, for example --number 2")
                last = count
                if found is not None and number is not None:
                    break
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"cannot read {file} ({reason}); give a PGN file") from None
    if found is None:
        held = f"{last} {'game' if last == 1 else 'games'}" if last else "no game"
        raise RecordError(f"{file} holds {held}" + (f"; --number {number} is none of them" if last else ""))
    return number or 1, found


def _rules(played: PgnGame, game: str | None, file: Path) -> Game:
    """The rules that the user names, or those of the file: whose words load no code."""
    from palaestra.games.registry import make_stored_game

    named = played.tags.get("Variant", "")
    if not named and game is None:
        raise RecordError(f"{file} does not say which game it is; say it yourself, for example --game connect_four-6x7")
    try:
        return make_stored_game(named, str(file), given=game)
    except GameError as error:
        own = (
            "" if game is not None or "--game" in str(error) else "; if the rules are your own, add --game my_game:GAME"
        )
        raise RecordError(f"{file}: {error}{own}") from None


def _names(played: PgnGame, found: Review) -> dict[str, str]:
    """Players and result in printable letters: a file may hold any. One player's result is the score."""
    from palaestra.games.rows import ONGOING

    result = played.result
    score = int(found.game.outcome(found.states[-1][None])[0])
    if found.game.players == 1 and score != ONGOING:
        result = f"score {score}"
    names = {"first": played.tags.get("White", "?"), "second": played.tags.get("Black", "?"), "result": result}
    return {key: "".join(c if c.isprintable() else "?" for c in text[:MOST_NAME]) for key, text in names.items()}


def _as_json(found: Review, file: str, number: int, names: dict[str, str], seed: int) -> dict[str, Any]:
    from palaestra.lab.review import thresholds_in_words
    from palaestra.live.words import SIDES

    return {
        "file": file,
        "number": number,
        "game": found.game.id,
        "player": found.adviser,
        "seed": seed,
        **names,
        "judged": thresholds_in_words(found.game),
        "verdicts": {SIDES[mover]: found.counts(mover) for mover in range(found.game.players)},
        "first_values": found.values,
        "moves": [
            {
                "ply": move.ply,
                "side": SIDES[move.mover],
                "move": move.text,
                "value": move.value,
                "best": move.best,
                "best_value": move.best_value,
                "fall": move.fall,
                "exact": move.exact,
                "verdict": move.verdict or None,
                "opening": move.opening,
                "line": list(move.line),
            }
            for move in found.moves
        ],
    }


def _print(found: Review, names: dict[str, str]) -> None:
    from rich.text import Text

    from palaestra.cli.output import stdout
    from palaestra.lab.review import thresholds_in_words, verdicts_in_words
    from palaestra.live.words import SIDES

    console = stdout()
    who = " against ".join(names[side] for side in SIDES[: found.game.players])
    console.print(Text(f"{found.game.id}, {who}, {names['result']}", style="bold"), soft_wrap=True)
    console.print(Text(f"{len(found.moves)} plies, reviewed by {found.adviser}"), soft_wrap=True)
    for mover in range(found.game.players):
        side = f"{SIDES[mover]} player" if found.game.players == 2 else "you"
        console.print(f"{side}: {verdicts_in_words(found, mover)}")
    what = "the first player's value" if found.game.players == 2 else "the score that the adviser reaches"
    console.print(f"\n{what} from the start to the end:")
    console.print("".join(HEIGHTS[min(7, int((value + 1) / 2 * 8))] for value in found.values), style="blue")
    if any(move.verdict for move in found.moves):
        console.print()
        console.print(_table(found))
    console.print()
    console.print(Text(thresholds_in_words(found.game), style="dim"))


def _table(found: Review) -> Table:
    """The moves that have a verdict; the line is cut where the terminal ends, everything else is whole."""
    from rich.table import Table
    from rich.text import Text

    from palaestra.lab.review import value_in_words
    from palaestra.live.words import SIDES

    two = found.game.players == 2
    what = "value" if two else "score"
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    for title in ("ply", *(["side"] if two else []), "move", what, "", "better", what):
        table.add_column(title, justify="right" if title in ("ply", what) else "left", no_wrap=True)
    table.add_column("line", ratio=1, no_wrap=True, overflow="ellipsis")
    for move in found.moves:
        if move.verdict:
            value, better = (
                value_in_words(found.game, one).removeprefix("score ") for one in (move.value, move.best_value)
            )
            verdict = move.verdict + (", exact" if move.exact else "")
            cells = [str(move.ply), *([SIDES[move.mover]] if two else []), move.text, value, verdict, move.best, better]
            table.add_row(*map(Text, [*cells, " ".join(move.line[1:])]))
    return table
