"""Which games of OpenSpiel are games here, and why the others are not: decided by what OpenSpiel says of each.

`markdown()` is the list in docs/openspiel.md; a test holds the two equal.
"""

from __future__ import annotations

from typing import Any

from palaestra.base.errors import GameError
from palaestra.base.packages import need


def library() -> Any:
    """The module `pyspiel`; GameError where OpenSpiel is not installed."""
    return need("pyspiel", "openspiel", "games of OpenSpiel", GameError)


def why_not(kind: Any, players: int | None = None) -> str | None:
    """Why a game of this GameType is refused, in a few words; None where it is not.

    `players` is how many a loaded game has; without it, what the type allows.
    """
    types = library().GameType
    fewest = kind.min_num_players if players is None else players
    if not kind.default_loadable:
        return "it is made of a file or of another game"
    if kind.dynamics == types.Dynamics.SIMULTANEOUS:
        return "players move at the same time"
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        return "it is a game of a whole population" if _is_mean_field(kind) else "players do not take turns"
    if kind.chance_mode != types.ChanceMode.DETERMINISTIC:
        return "chance decides something"
    if kind.information != types.Information.PERFECT_INFORMATION:
        return "something is hidden from a player"
    if fewest > 2:
        return f"it has {fewest} players or more" if players is None else f"it has {fewest} players"
    if fewest == 2 and kind.utility != types.Utility.ZERO_SUM:
        return "what one player wins is not what the other loses"
    return None


def _is_mean_field(kind: Any) -> bool:
    return bool(kind.dynamics == getattr(library().GameType.Dynamics, "MEAN_FIELD", None))


def kinds() -> list[Any]:
    """The GameType of everything that OpenSpiel registers when it is imported, by name."""
    return sorted(library().registered_games(), key=lambda kind: kind.short_name)


def names() -> list[str]:
    """The games that `openspiel:NAME` makes."""
    return [kind.short_name for kind in kinds() if why_not(kind) is None]


def markdown() -> str:
    """Two tables: the games with their parameters and usual values, and the others by the reason why they are not."""
    games = ["| game | OpenSpiel calls it | players | parameters |", "| --- | --- | --- | --- |"]
    refused: dict[str, list[str]] = {}
    for kind in kinds():
        if (reason := why_not(kind)) is not None:
            refused.setdefault(reason, []).append(f"`{kind.short_name}`")
            continue
        given = {key: value for key, value in kind.parameter_specification.items() if key != "ansi_color_output"}
        parameters = ", ".join(f"`{key}={str(value).lower() or '…'}`" for key, value in sorted(given.items()))
        games.append(
            f"| `openspiel:{kind.short_name}` | {kind.long_name} | {min(kind.min_num_players, 2)} | {parameters} |"
        )
    others = ["| why not | games |", "| --- | --- |"]
    others += [f"| {reason} | {', '.join(names)} |" for reason, names in sorted(refused.items())]
    return "\n".join([*games, "", *others, ""])
