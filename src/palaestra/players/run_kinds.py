"""Players that training made: `run:NAME@best(simulations=100)` searches, `net:NAME@12` is the network alone.

NAME is a run's name below ./runs, or its folder; after @ stands best (the default), last or an iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from palaestra.errors import PlayerError
from palaestra.players.kinds import Kind
from palaestra.players.tree_kinds import Played

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.players.runs import StoredRun


class Run(Played):
    """The agent of a run: PUCT with its network, exploring as in its self-play unless told otherwise, without noise."""

    name = "run"
    example = "run:NAME@best(simulations=100)"
    subject = "network"

    network: str = Field(min_length=1)  # NAME@best, NAME@last, NAME@12 or NAME
    c: float | None = Field(None, ge=0, le=1000)  # c_puct; none: the run's own
    fpu: float | None = Field(None, ge=-2, le=2)  # first-play urgency; none: the run's own

    def build(self, game: Game, text: str) -> Player:
        from palaestra.nets.cache import Cached, default_entries
        from palaestra.nets.evaluator import OnnxEvaluator
        from palaestra.players.runs import playing_search
        from palaestra.players.tree import TreePlayer

        run, content = load(self.network, game)
        changes = {name: value for name, value in (("c_puct", self.c), ("fpu", self.fpu)) if value is not None}
        search = playing_search(
            run.search,
            self.simulations,
            milliseconds=self.ms,
            solver=self.solver,
            node_budget=self.nodes,
            leaves_per_step=self.leaves,
            reuse=self.reuse,
            temperature=self.temperature,
            **changes,
        )
        return TreePlayer(game, text, Cached(OnnxEvaluator(game, content), game, default_entries(game)), search)


class Net(Kind):
    """The network of a run without any search: its favourite move, or one drawn from its policy."""

    name = "net"
    example = "net:NAME@12"
    subject = "network"

    network: str = Field(min_length=1)  # NAME@best, NAME@last, NAME@12 or NAME
    temperature: float = Field(0.0, ge=0, le=100)  # moves are drawn from policy ** (1 / temperature); 0: the favourite

    def build(self, game: Game, text: str) -> Player:
        from palaestra.nets.evaluator import OnnxEvaluator
        from palaestra.players.policy import PolicyPlayer

        _, content = load(self.network, game)
        return PolicyPlayer(game, text, OnnxEvaluator(game, content), self.temperature)


def load(network: str, game: Game) -> tuple[StoredRun, bytes]:
    """The run that `NAME@which` names, which must be of this game, and the ONNX file."""
    from palaestra.players.runs import open_run

    name, at, which = network.rpartition("@")
    run = open_run(name if at else network)
    if run.game != game.id:
        raise PlayerError(f"run {run.name} plays {run.game}, not {game.id}; give that game, or a run of this one")
    return run, run.network(run.pick(which if at else "best"))
