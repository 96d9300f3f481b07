"""A network's file for another board: its weights are read and written again, which takes some milliseconds.

Only a network whose weights fit boards of every size (`Net.any_board`) plays on another board than the one that its
file was written for, and only games that it has learned: the same kind on another size, or one of the kinds that it
learned together. Files are data; what a stranger's file says is checked here and becomes a ModelError of one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.user_code import is_code
from palaestra.games.base import Game
from palaestra.nets.architecture import GameFacts, Net, Weights, parse_net
from palaestra.nets.facts import Shared, kind_of
from palaestra.nets.graph import GAME_KEY, NET_KEY, REWARD_KEY, SHARED_KEY, build_model, with_reward


class Written(NamedTuple):
    """A network as its file holds it."""

    net: str
    game: str  # the id of the game that the file was written for
    shared: Shared | None
    weights: Weights  # every constant of the file, by name
    reward: str | None  # under which its values were learned, if the file says so


def is_for_another_board(metadata: Mapping[str, str], game: Game) -> bool:
    """Whether a file was written for another board than this game's, and its network can play there too."""
    written, net = metadata.get(GAME_KEY, game.id), metadata.get(NET_KEY, "")
    if written == game.id or not net or is_code(net):
        return False
    try:
        known = Shared.from_text(metadata[SHARED_KEY], "").kinds if SHARED_KEY in metadata else (kind_of(written),)
        return parse_net(net).any_board and kind_of(game.id) in known
    except (ConfigError, ModelError):
        return False


def facts_for(metadata: Mapping[str, str], game: Game, name: str) -> GameFacts:
    """What a network with this metadata sees of a game; `name` is that of its file."""
    if SHARED_KEY not in metadata:
        return GameFacts.of(game)
    shared = Shared.from_text(metadata[SHARED_KEY], name)
    if kind_of(game.id) not in shared.kinds:
        raise ModelError(f"{name}: made for other games: {', '.join(shared.kinds)}, not {game.id}")
    return GameFacts.of(game, shared)


def read_written(content: bytes, name: str) -> Written:
    """A network out of its file; ModelError if Palaestra did not write it."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model_from_string(content)
        known = {entry.key: entry.value for entry in model.metadata_props}
        weights = {one.name: np.array(onnx.numpy_helper.to_array(one)) for one in model.graph.initializer}
    except (DecodeError, ValueError, TypeError, AttributeError):
        raise ModelError(f"{name} is not a network: it cannot be read as ONNX") from None
    if NET_KEY not in known or GAME_KEY not in known:
        raise ModelError(f"{name} was not written by Palaestra: it does not say which network and game it is of")
    shared = Shared.from_text(known[SHARED_KEY], name) if SHARED_KEY in known else None
    return Written(known[NET_KEY], known[GAME_KEY], shared, weights, known.get(REWARD_KEY))


def can_play(content: bytes, game: Game) -> bool:
    """Whether a file's network plays this game, on another board than its own."""
    written = read_written(content, "the network")
    shared = {} if written.shared is None else {SHARED_KEY: written.shared.text}
    return is_for_another_board({GAME_KEY: written.game, NET_KEY: written.net, **shared}, game)


def weights_for(net: Net, facts: GameFacts, written: Written, name: str) -> Weights:
    """The weights of a network for one game out of a file's; ModelError if one is missing."""
    wanted = [f"{layer}.{part}" for layer in net.plan(facts).layers for part in ("weight", "bias")]
    if missing := [one for one in wanted if one not in written.weights]:
        raise ModelError(f"{name} lacks the weights {missing[0]!r} that {net.name} has for {facts.id}")
    return {one: written.weights[one] for one in wanted}


def fitted(content: bytes, game: Game, name: str) -> bytes:
    """The same network for the board of this game; `name` is that of the file."""
    written = read_written(content, name)
    net, facts = parse_net(written.net), GameFacts.of(game, written.shared)
    try:
        model = build_model(net, facts, weights_for(net, facts, written, name))
    except (ConfigError, ModelError) as error:
        raise ModelError(f"{name} cannot play {game.id}: {error}") from None
    return model if written.reward is None else with_reward(model, written.reward)
