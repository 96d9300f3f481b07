"""`palaestra agents`: the agents that come with the package, their cards, and how one is made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.errors import ConfigError
from palaestra.cli import complete
from palaestra.cli.options import Json, full_game_id

if TYPE_CHECKING:
    from palaestra.players.shipped import Card, Elo


def agents(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="One agent, with all that is known of it.",
            show_default=False,
            callback=full_game_id,
            autocompletion=complete.games,
        ),
    ] = None,
    make: Annotated[
        bool, typer.Option("--make", help="Make the agent of GAME again: train, rate, write network and card.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where --make writes; given again, it goes on.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List the agents that come with the package, with the Elo of their three levels, or show the card of one."""
    from palaestra.cli.output import print_json
    from palaestra.players.shipped import cards, find_card

    if make or out is not None:
        if game is None or out is None or not make:
            raise ConfigError("an agent is made with its game and a folder: palaestra agents hex-5x5 --make --out made")
        found = _make(game, out)
        print_json(found.model_dump(mode="json")) if json else _show(found)
    elif game is not None:
        card = find_card(game)
        print_json(card.model_dump(mode="json")) if json else _show(card)
    elif json:
        print_json([card.model_dump(mode="json") for card in cards().values()])
    else:
        _list(list(cards().values()))


def _make(game: str, out: Path) -> Card:
    from palaestra.cli.output import stderr
    from palaestra.cli.training_view import make_view
    from palaestra.lab.agent_maker import find_recipe, make_files

    recipe, console = find_recipe(game), stderr()
    view = make_view()
    with view.shown():
        return make_files(recipe, out, lambda words: console.print(words, markup=False), [view])


def _list(found: list[Card]) -> None:
    from rich.table import Table

    from palaestra.cli.output import command_name, stdout
    from palaestra.players.shipped import LEVELS

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("agent", "network", "kB", "min", *LEVELS):
        table.add_column(name, justify="left" if name in ("agent", "network") else "right")
    for card in found:
        elo = (f"{card.levels[level].elo:.0f}" for level in LEVELS)
        table.add_row(f"agent:{card.game}", card.net, f"{card.bytes / 1000:.0f}", f"{card.minutes:.0f}", *elo)
    console = stdout()
    console.print(table)
    console.print("easy, medium, hard: Elo above random; min: minutes of training.", style="dim")
    if found:
        console.print(f"Play: {command_name()} play {found[0].game} --level easy", style="dim", markup=False)


def _show(card: Card) -> None:
    from palaestra.cli.output import say

    say(f"agent:{card.game}: {card.net}, {card.bytes:,} bytes, reward {card.reward}")
    say(f"  made by    {card.command}")
    say(f"  on         {card.date}, Palaestra {card.palaestra} ({card.revision}), {card.threads} threads")
    say(
        f"  training   {card.minutes:.1f} minutes, {card.iterations} iterations, {card.games:,} games, seed {card.seed}"
    )
    say(f"  SHA-256    {card.sha256}")
    for where, rate in card.mistakes.items():
        say(f"  mistakes   {rate:.2f} % ({where})")
    say(f"  Elo above random, 95 %, {card.rated_games} games a pairing")
    for name, one in card.levels.items():
        how = f"{one.simulations} simulations" if one.simulations else "no search"
        _say_elo(name, one, f"   {how}, temperature {one.temperature:g}")
    for stage in card.curve[:-1]:  # the last is hard
        _say_elo(f"after {stage.minutes:.1f} minutes", stage, "   as hard")
    for anchor in card.anchors:
        _say_elo(anchor.player, anchor)


def _say_elo(what: str, one: Elo, how: str = "") -> None:
    from palaestra.cli.output import say

    say(f"    {what:<24}{one.elo:7.0f} +{one.plus:.0f} -{one.minus:.0f}{how}")
