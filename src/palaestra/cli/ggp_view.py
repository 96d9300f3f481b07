"""A network match on the terminal while it goes on: a live view, or a line a turn on stderr where that is no terminal.

Both listen to the manager's record and know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from palaestra.ggp.record import MatchRecord
    from palaestra.live.network_matches import PlayerSummary

SHOWN = 10  # turns
SHOWN_FACTS = 12  # facts of the state


@contextmanager
def make_view(note: str) -> Iterator[Callable[[MatchRecord], None]]:
    """A listener for the manager; `note` is a line about the machine, if there is one to tell."""
    from rich.live import Live

    from palaestra.cli.output import stderr

    console = stderr()
    if note:
        console.print(note)
    if not console.is_terminal:
        yield lambda record: console.print(last_line(record), soft_wrap=True)
        return
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda record: live.update(live_view(record), refresh=True)


def last_line(record: MatchRecord) -> str:
    """ "tictactoe.1 turn 3: (mark 1 1) noop"; the goals when it is over."""
    if record.ending:
        goals = "" if record.goals is None else " " + " ".join(str(goal) for goal in record.goals)
        return f"{record.match} {record.ending}, goals{goals or ' unknown'}"
    if not record.states:
        return f"{record.match}: {waiting(record)}"
    faults = [f"{fault.role} {fault.code}" for fault in record.faults if fault.turn == record.turns]
    wrong = f" ({', '.join(faults)})" if faults else ""
    if not record.moves:
        return f"{record.match} begins{wrong}" + "".join(f"; WARNING: {line}" for line in substitutions(record))
    return f"{record.match} turn {record.turns}: {' '.join(record.moves[-1])}{wrong}"


def substitutions(record: MatchRecord) -> list[str]:
    """Who plays in place of whom, a line each."""
    return [f"{seat.plays} plays {seat.role} instead of {seat.instead_of}" for seat in record.seats if seat.instead_of]


def waiting(record: MatchRecord) -> str:
    """What is seen before the first turn."""
    return f"the players read the rules, for {record.start_clock:g} s at most"


def live_view(record: MatchRecord) -> Group:
    """Who plays, the last turns, and what became true in the last one."""
    from rich.console import Group
    from rich.text import Text

    clocks = f"{record.start_clock:g} s to begin, {record.play_clock:g} s a move"
    title = Text(f"{record.game}, match {record.match}, turn {record.turns}; {clocks}", style="bold")
    for line in substitutions(record):
        title.append(f"\nWARNING: {line}", style="bold red")
    if not record.states:
        return Group(title, turns_table(record), Text(waiting(record), style="dim"))
    before = set(record.states[-2]) if len(record.states) > 1 else set()
    new = [fact for fact in record.states[-1] if fact not in before]
    more = f" … {len(new) - SHOWN_FACTS} more" if len(new) > SHOWN_FACTS else ""
    return Group(title, turns_table(record), Text("new: " + " ".join(new[:SHOWN_FACTS]) + more, style="dim"))


def turns_table(record: MatchRecord) -> Table:
    """A column a role: its player, its last moves with the seconds they took, faults in red."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("turn", justify="right")
    for seat in record.seats:
        table.add_column(Text(f"{seat.role}: {seat.name or seat.player}"))
    wrong = {(fault.turn, fault.role): fault.code for fault in record.faults}
    for turn in range(max(0, record.turns - SHOWN), record.turns):
        cells = []
        for seat, move, seconds in zip(record.seats, record.moves[turn], record.seconds[turn], strict=True):
            code = wrong.get((turn + 1, seat.role))
            text = f"{move}  {code}, random" if code else f"{move}  {seconds:.2f} s"
            cells.append(Text(text, style="red" if code else ""))
        table.add_row(str(turn + 1), *cells)
    return table


def print_matches(records: list[MatchRecord], players: Sequence[PlayerSummary]) -> None:
    """What every match came to, and what every player reached on the whole, on stdout."""
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("match", "turns", "role", "player", "goal", "faults"):
        table.add_column(heading, justify="right" if heading in ("turns", "goal") else "left")
    for record in records:
        for number, seat in enumerate(record.seats):
            faults = [f"{fault.code} in turn {fault.turn}" for fault in record.faults if fault.role == seat.role]
            table.add_row(
                Text(record.match if number == 0 else ""),
                str(record.turns) if number == 0 else "",
                Text(seat.role),
                Text(seat.who, style="bold red" if seat.instead_of else ""),
                "–" if record.goals is None else str(record.goals[number]),
                Text(", ".join(faults[:3]) + (f" and {len(faults) - 3} more" if len(faults) > 3 else "")),
            )
    console = stdout()
    console.print(table)
    for record in records:
        if record.ending != "terminal":
            console.print(Text(f"{record.match}: {record.ending}", style="red"))
    console.print()
    for one in players:
        interval = one["interval"]
        margin = "no interval" if interval is None else f"95 %: {interval[0]:.1f} to {interval[1]:.1f}"
        count = f"{one['matches']} match{'es' if one['matches'] > 1 else ''}"
        console.print(Text(f"{one['who']}: mean goal {one['mean_goal']:.1f} in {count} ({margin})"))
