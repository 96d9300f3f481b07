"""Players from texts: `make_player("uct(simulations=200)", game)`.

`text` gives the grammar and `kinds` the models; here a text finds its kind, and whatever is wrong with it becomes one
line that says what was given, what is accepted, and an example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from palaestra.errors import PlayerError
from palaestra.fields import accepted
from palaestra.games.base import Game
from palaestra.players import kinds, run_kinds, tree_kinds
from palaestra.players.base import Player
from palaestra.players.kinds import Kind
from palaestra.players.text import PlayerText, clip, format_value, parse_player

if TYPE_CHECKING:
    from palaestra.players.runs import StoredRun

KINDS: dict[str, type[Kind]] = {
    kind.name: kind
    for kind in (
        kinds.Random,
        kinds.Greedy,
        kinds.AlphaBeta,
        kinds.Perfect,
        kinds.Mcs,
        tree_kinds.Uct,
        tree_kinds.Rave,
        tree_kinds.Puct,
        tree_kinds.Gumbel,
        run_kinds.Run,
        run_kinds.Net,
        kinds.Rhea,
        kinds.Nmcs,
        kinds.Nrpa,
        kinds.QTable,
        kinds.Human,
    )
}


def make_player(text: str, game: Game) -> Player:
    """The player that a text describes, for one game; it carries its canonical text."""
    kind = read_player(text)
    return kind.build(game, str(kind))


def read_player(text: str) -> Kind:
    """The model that a text describes; nothing is built. `str` of it is the canonical text."""
    parts = parse_player(text)
    if parts.name not in KINDS:
        raise PlayerError(
            f"unknown player {clip(parts.name)}; known: {', '.join(KINDS)}; for example {tree_kinds.Uct.example}"
        )
    kind = KINDS[parts.name]
    try:
        return kind(**_arguments(kind, parts))
    except ValidationError as error:
        raise PlayerError(f"{_complaint(kind, error)}; for example {kind.example}") from None


def expand(texts: Sequence[str]) -> list[str]:
    """The texts with `run:NAME@*` and `net:NAME@*5` replaced by one text a checkpoint; all others stay as they are."""
    expanded: list[str] = []
    for text in texts:
        parts = parse_player(text)
        network = _network(parts)
        networks = [network] if network is None else run_kinds.expand_network(network)
        expanded += [text] if networks == [network] else [str(replace(parts, subject=one)) for one in networks]
    return expanded


def find_checkpoint(text: str) -> tuple[StoredRun, int, str] | None:
    """The run and the iteration of a `run:` or `net:` player, and its text without them; None for other players."""
    parts = parse_player(text)
    network = _network(parts)
    return None if network is None else (*run_kinds.find_checkpoint(network), str(replace(parts, subject=None)))


def describe_kinds() -> list[tuple[str, str, str]]:
    """(example, arguments, first sentence) of every kind, for help texts."""
    rows = []
    for kind in KINDS.values():
        arguments = ", ".join(f"{key}: {accepted(field)}" for key, field in kind.model_fields.items())
        rows.append((kind.example, arguments, " ".join((kind.__doc__ or "").split())))
    return rows


def _network(parts: PlayerText) -> str | None:
    """The NAME@which of a player whose network came from a run."""
    kind = KINDS.get(parts.name)
    return parts.subject if kind is not None and kind.subject == "network" else None


def _arguments(kind: type[Kind], parts: PlayerText) -> dict[str, Any]:
    """Keyword arguments for the model: the subject and the positional argument get their names."""
    arguments: dict[str, Any] = dict(parts.keywords)
    if parts.subject is not None:
        if kind.subject is None:
            raise PlayerError(f"{kind.name} takes nothing after a colon; for example {kind.example}")
        arguments[kind.subject] = parts.subject
    if len(parts.positional) > (kind.positional is not None):
        extra = clip(str(parts.positional[-1]))
        what = f"only its {kind.positional}" if kind.positional else "nothing"
        raise PlayerError(f"{kind.name} takes {what} without a name, not {extra}; for example {kind.example}")
    if kind.positional is not None and parts.positional:
        if kind.positional in arguments:
            raise PlayerError(f"{kind.name}: {kind.positional} is given twice; for example {kind.example}")
        arguments[kind.positional] = parts.positional[0]
    return arguments


def _complaint(kind: type[Kind], error: ValidationError) -> str:
    """What is wrong with the first argument that does not fit."""
    first = error.errors(include_url=False)[0]
    if not first["loc"]:  # a rule about several arguments together, already in words
        return f"{kind.name}: {first['msg'].removeprefix('Value error, ')}"
    key = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        takes = f"it takes {', '.join(kind.model_fields)}" if kind.model_fields else "it takes none"
        return f"{kind.name} has no argument {clip(key)}: {takes}"
    words = accepted(kind.model_fields[key])
    if first["type"] == "missing":
        return f"{kind.name} needs {key}, {words}"
    return f"{kind.name}: {key} is {format_value(first['input'])}; it must be {words}"
