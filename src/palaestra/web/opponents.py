"""Whom one can choose to play against or to ask: players in plain words, and every agent of every run of a game."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from palaestra.base.errors import PalaestraError
from palaestra.games.base import Game
from palaestra.live.defaults import OPPONENT
from palaestra.live.game_in_play import PERSON
from palaestra.players.runs import StoredRun, open_run
from palaestra.players.shipped import LEVELS, agent_text
from palaestra.players.text import parse_player
from palaestra.runs.folder import MANIFEST

READY = {
    "uct(simulations=50)": "a beginner: 50 random games a move",
    "uct(simulations=200)": "an easy opponent: 200 random games a move",
    OPPONENT: "a fair opponent: 1,000 random games a move",
    "uct(simulations=20000)": "a strong one: 20,000 random games a move",
    "uct(ms=3000)": "tree search, for three seconds",
    "rave(simulations=1000)": "tree search that shares what it learns of a move",
    "alphabeta(depth=6)": "looks six moves ahead",
    "alphabeta(ms=2000)": "looks as far ahead as two seconds allow",
    "perfect": "without mistakes, where the game is small enough",
    "mcs(playouts=500)": "random games without a tree",
    "rhea": "evolves plans of ten moves",
    "greedy": "looks one move ahead",
    "random": "any legal move",
}
READY_ALONE = {
    "nrpa(level=2)": "nested search that learns while it plays",
    "nmcs(level=2)": "nested Monte Carlo search",
    "nrpa(level=1)": "the same, quicker and weaker",
    "uct(simulations=1000)": "tree search: 1,000 random games a move",
    "greedy": "looks one move ahead",
    "random": "any legal move",
}


@dataclass(frozen=True)
class Network:
    """One of the networks that a run has kept."""

    iteration: int
    minutes: float | None  # of training before it; None if the run does not say


@dataclass(frozen=True)
class Agents:
    """A run of some game."""

    name: str
    best: int
    networks: tuple[Network, ...]  # ascending

    def choices(self) -> dict[str, str]:
        """Its agents as players' texts, and what they are: the best one first, then the newest."""
        found = {f"run:{self.name}": f"the best network of run {self.name}, iteration {self.best}"}
        for network in reversed(self.networks):
            found[f"run:{self.name}@{network.iteration}"] = f"run {self.name}, {words_of(network)}"
        return found


def words_of(network: Network) -> str:
    """ "iteration 12, minute 3.5"; 0 is the untrained one."""
    words = f"iteration {network.iteration}" if network.iteration else "untrained"
    return words if network.minutes is None else f"{words}, minute {network.minutes:.1f}"


def ready_made(game: Game) -> dict[str, str]:
    """Players that are there without a run, and what they are: the agent of the package first."""
    agents = {text: f"learned this game; {level}" for level in LEVELS if (text := agent_text(game, level))}
    return agents | (READY if game.players == 2 else READY_ALONE)


def find_agents(runs: Path, game: Game) -> list[Agents]:
    """The runs of a game in the runs folder, by name; what cannot be read is left out. Reads files."""
    found = []
    for folder in sorted(path.parent for path in runs.glob(f"*/{MANIFEST}")):
        try:
            stored = open_run(str(folder))
            if game.is_called(stored.game) and stored.manifest.game_version == game.version and stored.checkpoints:
                found.append(_agents(folder.name, stored))
        except (PalaestraError, OSError):
            continue  # a damaged run is told of where runs are listed
    return found


def _agents(name: str, stored: StoredRun) -> Agents:
    minutes = {0: 0.0}
    with suppress(PalaestraError):  # networks can be played with where the lines are damaged
        minutes |= {line.iteration: line.elapsed / 60 for line in stored.home.metrics(stored.manifest)}
    networks = tuple(Network(number, minutes.get(number)) for number in stored.checkpoints)
    return Agents(name, stored.best, networks)


def options(game: Game, agents: list[Agents], *, person: bool) -> dict[str, str]:
    """What a list offers: texts of players, and the line that is shown for each."""
    shown = {PERSON: "You"} if person else {}
    for text, words in [*ready_made(game).items(), *(pair for run in agents for pair in run.choices().items())]:
        shown[text] = f"{text} – {words}"
    return shown


def run_of(player: str) -> tuple[str, str] | None:
    """Name and network of a player's text that is an agent of a run, `run:NAME@12`; None for all others."""
    try:
        parts = parse_player(player)
    except PalaestraError:
        return None
    if parts.name not in ("run", "net") or parts.subject is None:
        return None
    name, _, which = parts.subject.partition("@")
    return name, which or "best"
