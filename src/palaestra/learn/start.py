"""Weights that a run starts from: of another run's network, an agent of the package, or an ONNX file of Palaestra's.

Only weights are taken: no optimizer, no positions, no reward. They become the network of the run's iteration 0, so that
whatever they came from is not needed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.text import clip, refuse_long
from palaestra.base.user_code import is_code
from palaestra.nets.architecture import GameFacts, Weights, parse_net
from palaestra.nets.boards import Written, read_written, weights_for
from palaestra.nets.facts import kind_of
from palaestra.nets.graph import check_weights
from palaestra.nets.grow import grown_weights
from palaestra.players.run_kinds import find_checkpoint
from palaestra.players.shipped import find_card, network
from palaestra.runs.manifest import digest

RUN, AGENT = "run:", "agent:"


@dataclass(frozen=True, eq=False)
class Start:
    """A network to start from."""

    text: str  # run:NAME@12, agent:GAME, or a file
    content: bytes
    written: Written

    @property
    def note(self) -> str:
        """The line that the run's history keeps."""
        return (
            f"started with the weights of {self.text}: {self.written.net} for {self.written.game},"
            f" SHA-256 {digest(self.content)}"
        )


def read_start(text: str) -> Start:
    """The network that `run:NAME`, `run:NAME@12`, `agent:GAME` or the path of an ONNX file names."""
    refuse_long(text, "what a run starts from", ConfigError)
    if text.startswith((RUN, AGENT)) and text.endswith(")"):
        raise ConfigError(f"{clip(text)}: weights are taken from a network, without a search: run:NAME@best")
    if text.startswith(AGENT):
        content = network(find_card(text.removeprefix(AGENT)))
    elif text.startswith(RUN):
        run, iteration = find_checkpoint(text.removeprefix(RUN))
        text, content = f"{RUN}{run.name}@{iteration}", run.network(iteration)
    else:
        from palaestra.nets.evaluator import read_model

        content = read_model(Path(text))
    return Start(text, content, read_written(content, text))


def fitting_weights(start: Start, net: str, facts: GameFacts, seed: int) -> Weights:
    """The weights of the network `net` for a game, grown if it is larger than that of the start.

    ModelError says in one line why they do not fit. `seed` is of what is new in a larger network.
    """
    written, name = start.written, start.text
    if written.net != net and (is_code(written.net) or is_code(net)):  # what a file names is not imported
        raise ModelError(
            f"{name} is {clip(written.net)} and this run has {net}: weights fit their own network alone;"
            f" --set net={clip(written.net)}, or leave net out"
        )
    if written.shared != facts.shared:
        learned = ", ".join(written.shared.kinds) if written.shared else written.game
        wanted = ", ".join(facts.shared.kinds) if facts.shared else facts.id
        raise ModelError(
            f"{name} learned {learned} and this run has {wanted}: where several kinds of games are learned together,"
            " planes name them, and they must be the same"
        )
    kind = parse_net(written.net)
    planes = _planes(written)
    if planes is not None and planes != facts.observation_shape[0]:
        raise ModelError(
            f"{name} learned {written.game}, which it sees in {planes} planes, and {facts.id} has"
            f" {facts.observation_shape[0]}: weights fit games that are seen alike"
        )
    try:
        weights = weights_for(kind, facts, written, name)
        check_weights(kind, facts, weights)
    except ModelError as error:
        one_board = not kind.any_board and kind_of(written.game) == kind_of(facts.id)
        same = f"; the weights of {written.net} belong to one board, those of r3c32 to none" if one_board else ""
        raise ModelError(f"{name}, which learned {written.game}, does not fit {facts.id}: {error}{same}") from None
    if written.net == net:
        return weights
    try:
        return grown_weights(written.net, net, facts, weights, np.random.default_rng(seed))
    except ModelError as error:
        raise ModelError(f"{name}: {error}; --set net={clip(written.net)}, or leave net out") from None


def _planes(written: Written) -> int | None:
    """How many planes a network reads, if its first layer is a convolution."""
    first = next((array for name, array in written.weights.items() if name.endswith(".weight")), None)
    return first.shape[1] if first is not None and first.ndim == 4 else None
