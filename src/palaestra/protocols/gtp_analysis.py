"""Analyses in the words of Leela Zero and KataGo: `info move D4 visits 836 winrate 4656 … pv D4 E5 info move …`.

Win rates, priors and lower bounds are shares of 10,000 for Leela Zero's command, and between 0 and 1 for KataGo's; all
are those of the player to move. What a search does not know is left out: the score that KataGo predicts is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from palaestra.live.analysis import MoveRow, PositionAnalysis
from palaestra.players.engines_notation import Vertices
from palaestra.protocols.gtp_text import SYNTAX, Refusal, read_colour, read_whole

MOST_MOVES = 1000
DEVIATIONS = 1.96  # of the lower bound: 95 % on both sides
NEEDLESS = ("ownership", "ownershipstdev", "movesownership", "pvvisits", "pvedgevisits", "movesownershipstdev")


@dataclass(frozen=True)
class Wanted:
    """What the other side wants to hear."""

    colour: int | None = None
    interval: float | None = None  # seconds between two lines; None: only the last one
    fewest: int = 0
    most: int = MOST_MOVES
    root: bool = False  # KataGo's rootInfo


def read_wanted(arguments: Sequence[str]) -> Wanted:
    """`[colour] [interval] [key value …]`; Refusal where a key asks for what there is not."""
    words = list(arguments)
    colour = interval = None
    fewest, most, root = 0, MOST_MOVES, False
    if words and words[0][0] in "bBwW":
        colour = read_colour(words.pop(0))
    if words and words[0].isdigit():
        interval = read_whole(words.pop(0)) / 100
    while words:
        key, value = words.pop(0).lower(), words.pop(0) if words else ""
        if key == "interval":
            interval = read_whole(value) / 100
        elif key == "minmoves":
            fewest = read_whole(value)
        elif key == "maxmoves":
            most = read_whole(value, 1)
        elif key == "rootinfo" and value.lower() in ("true", "false"):
            root = value.lower() == "true"
        elif key in NEEDLESS and value.lower() in ("true", "false"):
            if value.lower() == "true":
                raise Refusal(f"{key} is not known to this engine")
        elif key in ("avoid", "allow"):
            raise Refusal(f"{key} is not known to this engine: all moves are searched")
        else:
            raise Refusal(SYNTAX)
    return Wanted(colour, interval, fewest, most, root)


def analysis_line(found: PositionAnalysis, vertices: Vertices, wanted: Wanted, kata: bool) -> str:
    """All moves that were visited, the chosen one first, on one line."""
    chosen = found.analysis.action
    rows = sorted(found.moves, key=lambda row: (row.action != chosen, -(row.visits or 0)))
    shown = [row for place, row in enumerate(rows) if row.visits or row.action == chosen or place < wanted.fewest]
    infos = [_info(found, vertices, row, order, kata) for order, row in enumerate(shown[: wanted.most])]
    if kata and wanted.root and found.value is not None:
        visits = sum(row.visits or 0 for row in rows)
        infos.append(f"rootInfo visits {visits} utility {found.value:.6f} winrate {_share(found.value):.6f}")
    return " ".join(infos)


def _info(found: PositionAnalysis, vertices: Vertices, row: MoveRow, order: int, kata: bool) -> str:
    state = found.position.state
    chosen = row.action == found.analysis.action
    value = found.value if row.value is None and chosen else row.value
    visits = row.visits or 0
    words = [f"info move {vertices.vertex(state, row.action)} visits {visits}"]
    if value is not None and kata:
        words.append(f"utility {value:.6f} winrate {_share(value):.6f}")
    elif value is not None:
        words.append(f"winrate {_parts(_share(value))}")
    if row.prior is not None:
        words.append(f"prior {row.prior:.6f}" if kata else f"prior {_parts(row.prior)}")
    if value is not None and visits:
        bound = _bound(_share(value), visits)
        words.append(f"lcb {bound:.6f}" if kata else f"lcb {_parts(bound)}")
    line = found.analysis.pv if chosen and found.analysis.pv[:1] == [row.action] else [row.action]
    words.append(f"order {order} pv {' '.join(_vertices(found, vertices, line))}")
    return " ".join(words)


def _vertices(found: PositionAnalysis, vertices: Vertices, actions: Sequence[int]) -> list[str]:
    texts, position = [], found.position
    for action in actions:
        texts.append(vertices.vertex(position.state, action))
        position = position.after(int(action))
    return texts


def _share(value: float) -> float:
    """A value in [-1, 1] as the share of points."""
    return min(1.0, max(0.0, (1.0 + value) / 2.0))


def _bound(share: float, visits: int) -> float:
    """A lower bound for a share of so many games, by the normal distribution."""
    return max(0.0, share - DEVIATIONS * math.sqrt(share * (1.0 - share) / visits))


def _parts(share: float) -> int:
    return round(10_000 * share)
