"""`palaestra demo`: five players, everyone against everyone, with a live table; then a board and what to try next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import Seed

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from palaestra.arena.round_robin import Crosstable
    from palaestra.games.base import Game

GAME = "connect_four-5x5"
PLAYERS = ("random", "alphabeta(depth=6)", "rhea", "uct(simulations=100)", "rave(simulations=100)")
NEXT = """\
What to try next
  {command} play connect_four-6x7            you against a search, with hints
  {command} match othello-6x6 'uct(simulations=200)' 'alphabeta(depth=4)'
  {command} analyse connect_four-6x7 --moves '4 4 3'
  {command} analyse morpion-5d --player 'nrpa(level=2)'
  {command} games                            everything that can be played
"""


def demo(
    games: Annotated[int, typer.Option(help="Games of every pairing; an even number.")] = 500,
    seed: Seed = 0,
) -> None:
    """Play a round robin of five players on Connect Four 5×5: about a minute on a laptop."""
    from rich.live import Live

    from palaestra.arena.round_robin import Crosstable, play_round_robin
    from palaestra.cli.output import stdout
    from palaestra.games.registry import make_game
    from palaestra.jit import cache_root
    from palaestra.players.registry import make_player

    rules = make_game(GAME)
    players = [make_player(text, rules) for text in PLAYERS]
    console = stdout()
    console.print(f"Everyone against everyone on {GAME}, {games} games a pair, sides swapped", style="bold")
    if not cache_root().exists():
        console.print("Rules and searches are compiled now, once; this takes about half a minute.", style="dim")
    table = Crosstable(tuple(player.text for player in players))
    with Live(crosstable(table), console=console, auto_refresh=False, transient=True) as live:

        def show(now: Crosstable, pairing: tuple[int, int]) -> None:
            live.update(crosstable(now, pairing), refresh=console.is_terminal)

        table = play_round_robin(rules, players, games, seed=seed, listen=show)
        live.update("")
    console.print(crosstable(table))
    played = sum(match.games for match in table.matches)
    console.print(f"Scores are in percent. {table.distinct_games} of {played} games are distinct.\n", style="dim")
    console.print(last_game(rules, table))
    console.print(NEXT.format(command=command_name()), markup=False, soft_wrap=True)


def crosstable(table: Crosstable, pairing: tuple[int, int] | None = None) -> Table:
    """Scores in percent, players from best to worst; the pairing being played stands out. At most 80 columns wide."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    order = table.standings()
    shown = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 0), show_edge=False)
    shown.add_column("", justify="right", style="dim")
    shown.add_column("player", min_width=max(map(len, table.players)))
    for place in range(len(order)):
        shown.add_column(f"vs {place + 1}", justify="right", min_width=5)
    shown.add_column("score (95 %)", justify="right", min_width=18)
    for place, row in enumerate(order, start=1):
        low, high = table.interval(row)
        cells = [_cell(table, row, column, pairing) for column in order]
        score = (
            f"[bold]{100 * table.score(row):.1f}[/] ({100 * low:.1f}–{100 * high:.1f})" if any(table.total(row)) else ""
        )
        shown.add_row(str(place), table.players[row], *cells, score)
    return shown


def _cell(table: Crosstable, row: int, column: int, pairing: tuple[int, int] | None) -> str:
    from palaestra.arena.statistics import score_of

    if row == column:
        return "[dim]·[/]"
    tally = table.tallies.get((row, column))
    words = "" if tally is None else f"{100 * score_of(*tally):.1f}"
    return f"[reverse]{words}[/]" if pairing in ((row, column), (column, row)) else words


def last_game(game: Game, table: Crosstable) -> Group:
    """The end of a game between the two best players, drawn."""
    import numpy as np
    from rich.console import Group
    from rich.text import Text

    from palaestra.cli.analyse import line_of_texts
    from palaestra.cli.output import board, outcome_in_words

    best = {table.players[row] for row in table.standings()[:2]}
    match = next(match for match in table.matches if {match.a, match.b} == best)
    record = next((record for record in match.records if record.points != 0.5), match.records[0])
    first, second = (match.a, match.b) if record.a_first else (match.b, match.a)
    start = game.start(np.array([record.start]))[0]
    moves = line_of_texts(game, start, list(record.moves))
    *_, before, state = game.replay(f"@{record.start} {' '.join(moves)}")
    return Group(
        Text(f"{first} (first) against {second} (second): {outcome_in_words(game, state)}", style="bold"),
        board(game, state, before),
        Text(" ".join(moves) + "\n", style="dim"),
    )


def command_name() -> str:
    """How this command can be typed again: by its path where a bare `palaestra` would not be found."""
    import shutil
    import sys
    from pathlib import Path

    own = Path(sys.argv[0])
    return "palaestra" if shutil.which("palaestra") or own.name != "palaestra" else str(own)
