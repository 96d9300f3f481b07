"""`palaestra ggp`: matches over the network, as a player and as their manager (the GGP match protocol)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.errors import ConfigError
from palaestra.cli.options import Json, Seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from palaestra.ggp.manager import Manager
    from palaestra.ggp.record import MatchRecord
    from palaestra.ggp.terms import Rules
    from palaestra.ggp.worker_process import WorkerSettings

ggp = typer.Typer(
    help="Matches over the network by the GGP match protocol: be a player, or manage players.",
    no_args_is_help=True,
)


@ggp.command("player", epilog="Example: palaestra ggp player --port 9147 --player 'uct(ms=60000)'")
def player(
    player: Annotated[
        str,
        typer.Option(
            "--player",
            metavar="TEXT",
            help="A player such as uct(ms=60000), which the clock cuts short, qtable:FILE or run:NAME; where it cannot "
            "play a game, decoupled UCT does, and both sides are told.",
        ),
    ] = "uct(ms=3600000)",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 for any free port.")] = 9147,
    host: Annotated[str, typer.Option(help="0.0.0.0 opens the player to the network.")] = "127.0.0.1",
    name: Annotated[str, typer.Option(help="What INFO says.")] = "palaestra",
    megabytes: Annotated[int, typer.Option(min=512, max=2**20, help="Memory that a match may take.")] = 4096,
    seed: Seed = 0,
) -> None:
    """Wait for matches and play them, one at a time, until interrupted; a line a match, on stderr."""
    import asyncio

    from palaestra.cli.output import stderr
    from palaestra.ggp.movers import make_mover
    from palaestra.ggp.worker_process import WorkerSettings

    make_mover(player, seed)  # a text that is none is refused here, not when the first match comes
    asyncio.run(_serve(host, port, name, WorkerSettings(player, seed, megabytes), stderr().print))


async def _serve(host: str, port: int, name: str, settings: WorkerSettings, show: Callable[[Text], None]) -> None:
    import asyncio

    from rich.text import Text

    from palaestra.base.errors import PlayerError
    from palaestra.ggp.http_server import listen
    from palaestra.ggp.player_server import PlayerServer

    def log(line: str) -> None:
        show(Text(line, style="bold red" if line.startswith("WARNING") else ""))

    async with PlayerServer(settings, name, log) as server, listen(host, port, server.answer) as bound:
        log(f"{settings.player} listens on {host}, port {bound}; interrupt to leave")
        try:
            await server.up()
        except RuntimeError as error:
            raise PlayerError(f"{settings.player}: {error}") from None
        await asyncio.Event().wait()


@ggp.command("manager", epilog="Example: palaestra ggp manager game.kif localhost:9147 localhost:9148")
def manager(
    file: Annotated[
        str, typer.Argument(metavar="RULES", help="A file of rules in GDL, or gdl:NAME for those of the package.")
    ],
    players: Annotated[list[str], typer.Argument(metavar="HOST:PORT...", help="One player a role, in their order.")],
    start_clock: Annotated[float, typer.Option(help="Seconds before the first move.")] = 30.0,
    play_clock: Annotated[float, typer.Option(help="Seconds a move.")] = 15.0,
    matches: Annotated[int, typer.Option("--games", min=1, max=10**6, help="Roles go round from one to the next.")] = 1,
    most_turns: Annotated[int, typer.Option(min=1, help="A match that is not over then is stopped.")] = 1000,
    scramble: Annotated[
        bool, typer.Option("--scramble", help="Tell players other names than the rules', by the seed.")
    ] = False,
    record: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the record as JSON.", show_default=False)
    ] = None,
    pgn: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the matches as text like PGN.", show_default=False)
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run matches between players wherever they are, and say what each of them reached."""
    import asyncio

    from palaestra.cli.files import writable
    from palaestra.cli.ggp_view import make_view, print_matches
    from palaestra.cli.output import print_json
    from palaestra.ggp.http_client import read_address
    from palaestra.ggp.machine import make_machine
    from palaestra.ggp.manager import Manager, MatchSettings
    from palaestra.live.network_matches import document, summary

    addresses = [read_address(text) for text in players]
    settings = MatchSettings(start_clock, play_clock, most_turns, scramble)
    for given in (record, pgn):
        if given is not None:
            writable(given)
    rules, game = _rules(file)
    machine = make_machine(rules)
    with make_view(machine.note) as show:
        managed = Manager(machine, rules.source, addresses, settings, game, show)
        records = asyncio.run(_matches(managed, matches, seed, record, pgn))
    if json:
        print_json(document(records))
    else:
        print_matches(records, summary(records)["players"])


def _rules(text: str) -> tuple[Rules, str]:
    """The rules of a file, gdl:FILE or gdl:NAME, and a name for them."""
    from pathlib import Path

    from palaestra.ggp.rules import load_rules, parse_rules, rulesheet, rulesheet_names

    name = text.removeprefix("gdl:")
    if name != text and name in rulesheet_names():
        return parse_rules(rulesheet(name)), name
    if not Path(name).is_file() and name in rulesheet_names():
        raise ConfigError(f"there is no file {name!r}; the rules of the package are called gdl:{name}")
    return load_rules(name), Path(name).stem


async def _matches(manager: Manager, count: int, seed: int, record: str | None, pgn: str | None) -> list[MatchRecord]:
    """Matches one after another; the files are whole after each of them, also when one is interrupted."""
    import secrets

    from palaestra.ggp.protocol import word

    played: list[MatchRecord] = []
    series = secrets.token_hex(4)  # of the ids: two managers must not tell a player the same one
    listener = manager.listen
    latest: list[MatchRecord] = []  # the one under way

    def hear(one: MatchRecord) -> None:
        latest[:] = [one]
        listener(one)

    manager.listen = hear
    try:
        for number in range(count):
            match = f"{word(manager.game)}.{series}.{number + 1}"
            played.append(await manager.run(match, seed + number, number))
            latest.clear()
            _write(played, record, pgn)
    except BaseException:
        _write([*played, *latest], record, pgn)
        raise
    return played


def _write(records: list[MatchRecord], record: str | None, pgn: str | None) -> None:
    import json
    from pathlib import Path

    from palaestra.base.atomic import write_file
    from palaestra.live.network_matches import document

    if record is not None and records:
        write_file(Path(record), json.dumps(document(records), indent=1, allow_nan=False).encode())
    if pgn is not None and records:
        write_file(Path(pgn), "".join(one.as_text() for one in records).encode())
