"""Makes an agent that comes with the package: a run by its recipe, then its network, and a card with its strength.

The recipes stand in agents.toml. Killed at any moment, the same command goes on. What is made here is read by
`palaestra.players.shipped`.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from palaestra.arena.rating_model import RatingConfig
from palaestra.arena.ratings import rate
from palaestra.arena.tournament import play_tournament
from palaestra.base.atomic import write_file
from palaestra.base.errors import ConfigError, RunError
from palaestra.base.reading import parse_toml, read_bytes
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.types import JsonLike
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.lab.mistake_curves import moments
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener, Summary
from palaestra.learn.loop import resume, train
from palaestra.learn.oracles import error_rates, late_sample, own_oracle
from palaestra.learn.presets import configure
from palaestra.learn.toml import dump_toml
from palaestra.nets.graph import with_reward
from palaestra.players.registry import make_player
from palaestra.players.run_kinds import Net, Run
from palaestra.players.runs import StoredRun, open_run
from palaestra.players.shipped import CARD, LEVELS, NETWORK, Card, LevelName, read_card
from palaestra.runs.folder import MANIFEST

RECIPES = Path(__file__).with_name("agents.toml")
SIMULATIONS = 400  # of hard
# The weaker levels are the network without a search, its moves drawn from its policy: a search, however small, proves
# most of what a person could overlook. How much a temperature weakens an agent differs from game to game, so several
# are tried, and the level is the one whose Elo is nearest to this share of hard's.
LADDER = tuple((0, temperature) for temperature in (0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0))
SHARES: dict[LevelName, float] = {"easy": 0.4, "medium": 0.7}
ANCHORS = ("random", "uct(simulations=20)", "uct(simulations=100)", "uct(simulations=1000)")
RATED_GAMES = 20  # of each pairing
STAGES = 5  # networks of the curve: at the end, at half of the time, a quarter, …
NOT_LEARNED = "hand_tuned"  # under which an agent plays whose reward was learned in its run
MOST_BYTES = 1_000_000  # of a network

Say = Callable[[str], None]
Tried = tuple[int, float]  # simulations and temperature


@dataclass(frozen=True)
class Recipe:
    """How an agent is made and rated. On large boards fewer simulations and games keep that within minutes."""

    game: str
    iterations: int
    preset: str | None = None
    seed: int = 1
    threads: int = 2
    sets: tuple[str, ...] = ()
    start: str | None = None  # agent:GAME of a smaller board, whose weights the run begins with
    simulations: int = SIMULATIONS
    rated_games: int = RATED_GAMES

    @property
    def hard(self) -> Tried:
        return self.simulations, 0.0

    def config(self) -> RunConfig:
        return configure(
            self.game,
            self.preset,
            self.sets,
            iterations=self.iterations,
            seed=self.seed,
            threads=self.threads,
            start=self.start,
            clock="processor",  # so that other work on the machine makes no card say more minutes; it changes no bit
        )

    @property
    def command(self) -> str:
        """What a person would type."""
        words = ["palaestra train", self.game, *([f"--preset {self.preset}"] if self.preset else [])]
        words += [f"--from {self.start}"] if self.start else []
        words += [f"--iterations {self.iterations} --threads {self.threads} --seed {self.seed}"]
        return " ".join([*words, *(f"--set {quote(one)}" for one in self.sets)])


def recipes(path: Path = RECIPES) -> dict[str, Recipe]:
    """Every recipe by its game."""
    found = {}
    for game, given in parse_toml(read_bytes(path)).items():
        found[game] = Recipe(game, **{("sets" if key == "set" else key): _fixed(one) for key, one in given.items()})
    return found


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def find_recipe(game: str) -> Recipe:
    known = recipes()
    if game not in known:
        raise ConfigError(
            f"there is no recipe for {clip(game)}{did_you_mean(game, known)}; there are recipes for {', '.join(known)}"
        )
    return known[game]


def make_files(recipe: Recipe, out: Path, say: Say, listeners: Iterable[Listener] = ()) -> Card:
    """Train, rate, and write GAME.onnx and GAME.toml into `out`; the run is kept beside them in runs/GAME."""
    folder = out / "runs" / recipe.game
    say(f"Training, as by: {recipe.command}")
    if (folder / MANIFEST).exists():
        summary = resume(folder, listeners=listeners)
    else:
        summary = train(recipe.config(), folder, listeners)
    _refuse_another(summary, recipe)
    run = open_run(str(folder))
    return _pack(run, summary, recipe, out, say)


def _refuse_another(summary: Summary, recipe: Recipe) -> None:
    if summary.config != recipe.config():
        raise RunError(f"{summary.folder} is not a run of this recipe ({recipe.command}): give another folder")


def _pack(run: StoredRun, summary: Summary, recipe: Recipe, out: Path, say: Say) -> Card:
    game = make_game(recipe.game)
    reward = run.make_reward(game)
    played_under = NOT_LEARNED if reward.learns else reward.text
    content = with_reward(run.network(run.best), played_under)
    if len(content) > MOST_BYTES:
        raise ConfigError(
            f"the network of {recipe.game} has {len(content):,} bytes; at most {MOST_BYTES:,} are shipped"
        )
    say("Rating the three levels beside fixed players")
    rated = _rated(run, game, played_under if reward.learns else None, recipe)
    about = run.manifest.about
    card: dict[str, JsonLike] = {
        "game": game.id,
        "version": game.version,
        "net": run.net,
        "start": recipe.start or "",
        "reward": played_under,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "command": recipe.command,
        "seed": recipe.seed,
        "iterations": run.iteration,
        "games": summary.games,
        "minutes": round(summary.seconds / 60, 1),
        "threads": recipe.threads,
        "date": datetime.date.today().isoformat(),
        "palaestra": str(about["palaestra"]),
        "revision": str(about["revision"]),
        "rated_games": recipe.rated_games,
        "mistakes": _mistakes(run, game, recipe),
        "search": run.search.model_dump(exclude_none=True, mode="json"),
        **rated,
    }
    write_file(out / f"{game.id}{NETWORK}", content)
    write_file(out / f"{game.id}{CARD}", dump_toml(card).encode())
    return read_card(out / f"{game.id}{CARD}")


def _rated(run: StoredRun, game: Game, reward: str | None, recipe: Recipe) -> dict[str, JsonLike]:
    """The levels, the anchors and the curve, with their Elo above random from one tournament of all that was tried."""
    hard = recipe.hard
    texts = {tried: _text(run, reward, *tried) for tried in (*LADDER, hard)}
    made = run.home.metrics(run.manifest)[run.best - 1].elapsed / 60
    at = sorted({**moments(run, STAGES), run.best: made}.items())
    stages = {number: _text(run, reward, *hard, number) if number != run.best else texts[hard] for number, _ in at}
    players = [make_player(text, game) for text in dict.fromkeys((*texts.values(), *stages.values(), *ANCHORS))]
    played = play_tournament(game, players, recipe.rated_games, seed=1, threads=recipe.threads)
    ratings = rate(played.results, RatingConfig(prior=0.5, anchor=(ANCHORS[0], 0.0)))
    found = {
        one["player"]: {key: round(float(one[key]), 1) for key in ("elo", "plus", "minus")} for one in ratings.as_json()
    }
    elo = {tried: found[text]["elo"] for tried, text in texts.items()}
    levels: dict[str, JsonLike] = {}
    for level in LEVELS:
        simulations, temperature = tried = nearest(elo, SHARES[level] * elo[hard]) if level in SHARES else hard
        levels[level] = {"simulations": simulations, "temperature": temperature, **found[texts[tried]]}
    return {
        "levels": levels,
        "anchors": [{"player": player, **found[player]} for player in ANCHORS],
        "curve": [{"minutes": round(when, 2), "iteration": one, **found[stages[one]]} for one, when in at],
    }


def _text(
    run: StoredRun, reward: str | None, simulations: int, temperature: float, iteration: int | None = None
) -> str:
    network = str(run.folder) + ("" if iteration is None else f"@{iteration}")
    if simulations == 0:
        return str(Net(network=network, temperature=temperature))
    return str(Run(network=network, simulations=simulations, temperature=temperature, reward=reward))


def nearest(elo: Mapping[Tried, float], wanted: float) -> Tried:
    """The rung of the ladder whose Elo is nearest to the one that is wanted; of equals the warmer one."""
    return min(reversed(LADDER), key=lambda tried: abs(elo[tried] - wanted))


def _mistakes(run: StoredRun, game: Game, recipe: Recipe) -> dict[str, float]:
    """In %: on all positions or a sample, and on late ones where the board is too large to be solved."""
    oracle = own_oracle(game) or late_sample(game)
    if oracle is None:
        return {}
    budgets, network = (0, recipe.simulations), run.network(run.best)
    reward, threads = run.make_reward(game), recipe.threads
    rates = error_rates(game, network, run.search, [oracle], budgets, threads=threads, reward=reward)
    return {f"{rate.positions_of}, {rate.simulations} simulations": round(100 * rate.rate, 2) for rate in rates}
