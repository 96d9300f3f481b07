"""`palaestra demo`: an agent from nothing in two minutes, how strong it became, and a game it won.

With --players: five players without any learning, everyone against everyone, in a live table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli.options import Seed

if TYPE_CHECKING:
    from rich.console import Group

    from palaestra.arena.tournament import Progress, Tournament
    from palaestra.games.base import Game
    from palaestra.learn.events import Summary
    from palaestra.runs.game_record import GameRecord

GAME = "connect_four-5x5"
RIVALS = ("uct(simulations=200)", "uct(simulations=50)", "random")  # against whom it shows a won game, hardest first
PLAYERS = ("random", "alphabeta(depth=6)", "rhea", "uct(simulations=100)", "rave(simulations=100)")
NEXT = """\
What to try next
  {command} serve --open                     all of it in the browser
  {command} demo                             an agent that learns the game, from nothing
  {command} play connect_four-6x7            you against a search, with hints
  {command} match othello-6x6 'uct(simulations=200)' 'alphabeta(depth=4)'
  {command} analyse connect_four-6x7 --moves '4 4 3'
  {command} analyse morpion-5d --player 'nrpa(level=2)'
  {command} games                            everything that can be played
"""


def demo(
    minutes: Annotated[float, typer.Option(min=0.01, max=1000, help="How long it learns.")] = 2.0,
    players: Annotated[bool, typer.Option("--players", help="Instead: a round robin of five players.")] = False,
    games: Annotated[int, typer.Option(help="With --players, games of every pairing; an even number.")] = 500,
    seed: Seed = 0,
) -> None:
    """Train an agent for Connect Four 5×5 from nothing, say how strong it is, and draw a game that it won."""
    if players:
        round_robin(games, seed)
    else:
        learn(minutes, seed)


def learn(minutes: float, seed: int) -> None:
    """The main demonstration: a run in ./runs/demo, or demo-2 and so on where that exists."""
    from palaestra.base.jit import cache_root
    from palaestra.cli.output import command_name, say, stderr
    from palaestra.cli.train import finish, watch
    from palaestra.learn.presets import configure
    from palaestra.live.run import new_folder
    from palaestra.live.training import train

    config = configure(GAME, minutes=minutes, seed=seed)
    folder = new_folder(None, "demo")
    note = f"An agent learns {GAME} from its rules alone, for {minutes:g} minutes. Ctrl-C stops it, nothing is lost."
    stderr().print(note, style="bold")
    if not cache_root().exists():
        stderr().print("Rules and searches are compiled now, once; this takes about half a minute.", style="dim")

    finish(watch(folder, lambda listeners: train(config, folder, listeners)), json=False, before_next=show_win)
    say(f"\nIn the browser: play it, see what it thinks, watch it learn\n  {command_name()} serve --open")


def show_win(summary: Summary) -> None:
    """What perfect play gives, and a game that the agent won, drawn."""
    import numpy as np

    from palaestra.arena.match import play_match, points_of_a
    from palaestra.cli.output import stderr, stdout
    from palaestra.games.registry import make_game
    from palaestra.live.run import name_of
    from palaestra.live.words import outcome_in_words
    from palaestra.players.registry import make_player

    game = make_game(GAME)
    rng = np.random.default_rng(summary.config.seed)
    start = game.initial(1)[0]
    with stderr().status("Solving the game …"):
        perfect = make_player("perfect", game).analyse(start, rng)
    agent = make_player(f"run:{name_of(summary.folder)}", game)
    own = agent.analyse(start, rng)
    console = stdout()
    known = ""
    if perfect.proven:
        *_, end = game.replay(" ".join(game.line_to_texts(start, perfect.pv)))
        known = f"Perfect play from the start ends in {outcome_in_words(game, end)}; "
    console.print(
        f"{known}the agent's value of the start is {round(own.value or 0.0, 2) + 0.0:+.2f} (1 is a win, 0 a draw).\n",
        markup=False,
        soft_wrap=True,
    )
    for rival in RIVALS:
        match = play_match(game, agent, make_player(rival, game), 20, seed=summary.config.seed)
        won = next((record for record in match.records if points_of_a(record) == 1.0), None)
        if won is not None:
            console.print(drawn(game, won))
            return


def round_robin(games: int, seed: int) -> None:
    """Five players that do not learn, about a minute on a laptop."""
    from rich.live import Live

    from palaestra.arena.crosstable import Crosstable
    from palaestra.arena.tournament import play_tournament
    from palaestra.base.jit import cache_root
    from palaestra.cli.crosstables import crosstable
    from palaestra.cli.output import command_name, stdout
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player

    rules = make_game(GAME)
    players = [make_player(text, rules) for text in PLAYERS]
    console = stdout()
    console.print(f"Everyone against everyone on {GAME}, {games} games a pair, sides swapped", style="bold")
    if not cache_root().exists():
        console.print("Rules and searches are compiled now, once; this takes about half a minute.", style="dim")
    empty = crosstable(Crosstable(tuple(player.text for player in players)), console.width)
    with Live(empty, console=console, auto_refresh=False, transient=True) as live:

        def show(progress: Progress) -> None:
            live.update(crosstable(progress.crosstable, console.width), refresh=console.is_terminal)

        played = play_tournament(rules, players, games, seed=seed, threads=usable_cores(), listen=show)
        live.update("")
    console.print(crosstable(played.crosstable, console.width))
    distinct = f"{played.distinct_games} of {len(played.games)} games are distinct."
    console.print(f"Scores are in percent. {distinct}\n", style="dim")
    console.print(last_game(rules, played))
    console.print(NEXT.format(command=command_name()), markup=False, soft_wrap=True)


def last_game(game: Game, played: Tournament) -> Group:
    """The end of a game between the two best players, drawn; a decisive one if there is one."""
    best = {played.players[place] for place in played.crosstable.standings()[:2]}
    theirs = [one for one in played.games if {one.first, one.second} == best]
    shown = next((one for one in theirs if one.points != 0.5), theirs[0])
    return drawn(game, shown)


def drawn(game: Game, record: GameRecord) -> Group:
    """The last position of a game, and its moves."""
    import numpy as np
    from rich.console import Group
    from rich.text import Text

    from palaestra.cli.output import board
    from palaestra.live.words import outcome_in_words

    moves = game.line_to_texts(game.start(np.array([record.start]))[0], record.moves)
    *_, before, state = game.replay(f"@{record.start} {' '.join(moves)}")
    return Group(
        Text(f"{record.first} (first) against {record.second} (second): {outcome_in_words(game, state)}", style="bold"),
        board(game, state, before),
        Text(" ".join(moves) + "\n", style="dim"),
    )
