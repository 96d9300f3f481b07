"""`palaestra games`: what can be played."""

from __future__ import annotations

from palaestra.cli.options import Json


def games(json: Json = False) -> None:
    """List the games: players, actions, the longest game; and which size a family's name alone takes."""
    from palaestra.games.registry import FAMILIES
    from palaestra.live.game_list import example_games, list_games

    if json:
        from palaestra.cli.output import print_json

        print_json(list_games())
        return
    from rich.table import Table

    from palaestra.cli.output import stdout
    from palaestra.ggp.rules import rulesheet_names

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("game", "players", "actions", "most plies", "equal results ordered by"):
        table.add_column(title, justify="left" if title == "game" or title.startswith("equal") else "right")
    for game in example_games():
        table.add_row(game.id, str(game.players), str(game.num_actions), str(game.max_plies), game.tiebreak)
    console = stdout()
    console.print(table)
    usual = ", ".join(entry.usual for entry in FAMILIES.values())
    console.print(f"\nA family's name alone takes its usual size: {usual}")
    console.print("Other sizes work too: " + ", ".join(entry.form for entry in FAMILIES.values()))
    sheets = ", ".join(f"gdl:{name}" for name in rulesheet_names())
    console.print(f"Rules in GDL are games as well: gdl:FILE.kif, and those of the package: {sheets}")
    console.print(
        "And games of other libraries, where they are installed: openspiel:NAME(parameters), for example"
        " openspiel:breakthrough(rows=6,columns=6), and pgx:NAME, for example pgx:gardner_chess"
    )
