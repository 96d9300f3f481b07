"""Players from texts: `make_player("uct(simulations=200)", game)`.

`text` gives the grammar and `kinds` the models; here a text finds its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from palaestra.base.fields import accepted
from palaestra.base.text import Parts
from palaestra.base.text_model import read
from palaestra.base.user_code import is_code
from palaestra.games.base import Game
from palaestra.players import engines_kinds, kinds, run_kinds, tree_kinds
from palaestra.players.base import Player
from palaestra.players.kinds import Kind
from palaestra.players.text import PLAYERS, parse_player

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
        run_kinds.Agent,
        kinds.Rhea,
        kinds.Nmcs,
        kinds.Nrpa,
        kinds.TwoOpt,
        kinds.QTable,
        kinds.Human,
        engines_kinds.Gtp,
        engines_kinds.Uci,
    )
}


def make_player(text: str, game: Game) -> Player:
    """The player that a text describes, for one game; it carries its canonical text."""
    kind = read_player(text)
    player = kind.build(game, str(kind))
    player.from_text = True
    return player


def read_player(text: str) -> Kind:
    """The model that a text describes; nothing is built. `str` of it is the canonical text."""
    if is_code(text, KINDS):
        from palaestra.players.own import Own

        return Own(written=str(parse_player(text)))
    return read(text, KINDS, PLAYERS)


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


def _network(parts: Parts) -> str | None:
    """The NAME@which of a player whose network came from a run."""
    kind = KINDS.get(parts.name)
    return parts.subject if kind is not None and kind.subject == "network" else None
