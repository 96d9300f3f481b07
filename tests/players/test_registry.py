from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.user_code import command_of
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, parse_net, random_weights
from palaestra.nets.graph import build_model
from palaestra.players.kinds import Kind
from palaestra.players.registry import KINDS, make_player, read_player
from palaestra.players.table import About, Table, table_bytes
from tests.players.run_folders import write_run
from tests.protocols.commands import fake
from tests.protocols.squares import GAME as RACE

TIC = make_game("tic_tac_toe-3x3")
MORPION = make_game("morpion-4d")
TSP = make_game("tsp-5")

# One value for every field of every kind, none of them the default.
OTHER_VALUES: dict[str, dict[str, Any]] = {
    "random": {},
    "greedy": {},
    "human": {},
    "alphabeta": {"depth": 3, "ms": 7.5},
    "perfect": {"nodes": 1_000_000, "seconds": 5.0},
    "mcs": {"playouts": 30},
    "rhea": {"population": 4, "horizon": 3, "mutation": 0.5, "playouts": 1, "evaluations": 8, "sequences": "any"},
    "nmcs": {"level": 1},
    "two_opt": {"starts": 3},
    "nrpa": {
        "level": 1, "n": 5, "alpha": 0.5, "playouts": 2, "repeats": 3, "model": "a network", "prior": 0.5, "beam": 2,
        "symmetric": True, "avoid": "a solution", "penalty": 0.5,
    },
    "uct": {
        "simulations": 10, "ms": 1000.0, "solver": False, "nodes": 50, "leaves": 2, "reuse": False, "temperature": 1.0,
        "c": 0.5, "rule": "puct", "reward": "hand_tuned",
    },
    "rave": {
        "file": "net.onnx", "w": 0.5, "simulations": 10, "ms": 1000.0, "solver": False, "nodes": 50, "leaves": 2,
        "reuse": False, "temperature": 1.0, "c": 0.5, "k": 20.0, "playouts": False,
        "amaf": "cell",
        "reward": "hand_tuned",
    },
    "puct": {
        "file": "net.onnx", "w": 0.5, "simulations": 10, "ms": 1000.0, "solver": False, "nodes": 50, "leaves": 2,
        "reuse": False, "temperature": 1.0, "c": 0.5, "fpu": 0.2, "dirichlet_alpha": 0.3, "dirichlet_fraction": 0.25,
        "averaged": True, "rule": "rave", "reward": "hand_tuned",
    },
    "gumbel": {
        "file": "net.onnx", "simulations": 10, "ms": 1000.0, "solver": False, "nodes": 50, "leaves": 2, "considered": 4,
        "temperature": 1.0, "averaged": True, "reward": "hand_tuned",
        "visits": 20.0, "scale": 0.5,
    },
    "run": {
        "network": "a run", "simulations": 10, "ms": 1000.0, "c": 0.5, "fpu": 0.2, "solver": False, "nodes": 50,
        "leaves": 2, "reuse": False, "temperature": 1.0, "averaged": True, "rule": "rave", "reward": "primitive",
    },
    "net": {"network": "a run", "temperature": 0.5},
    "agent": {"of": "tic_tac_toe-3x3", "level": "easy", "simulations": 5, "ms": 1000.0, "temperature": 0.7},
    "qtable": {"table": "a table", "playouts": 5},
    "gtp": {"command": "a program", "ms": 1500.0, "wait": 20.0},
    "uci": {
        "command": "a program", "ms": 50.0, "nodes": 20, "depth": 3, "options": "Skill Level=3", "wait": 20.0,
    },
}  # fmt: skip


EXCLUDED = {"mcs": {"ms"}, "nrpa": {"run"}}  # fields that cannot be given beside the others


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random network for tic-tac-toe in a file, and beside it a run that has the same network, and a table."""
    folder = tmp_path_factory.mktemp("nets")
    path = write_network(TIC, folder / "net.onnx")
    write_run(folder / "run", TIC, {1: path.read_bytes()})
    write_network(MORPION, folder / "morpion.onnx")
    (folder / "morpion.txt").write_text("game: morpion-4d\nscore: 1\nmoves: m15e\n")
    (folder / "table").write_bytes(table_bytes(Table(TIC), About("q", 0)))
    return path


def write_network(game: Game, path: Path) -> Path:
    net, facts = parse_net("b1c4"), GameFacts.of(game)
    path.write_bytes(build_model(net, facts, random_weights(net, facts, np.random.default_rng(1))))
    return path


def game_for(name: str) -> Game:
    return {"nmcs": MORPION, "nrpa": MORPION, "two_opt": TSP, "uci": RACE}.get(name, TIC)


def with_values(kind: type[Kind], net: Path, values: dict[str, Any] | None = None) -> Kind:
    """The kind with these values (its file, if it needs one, is the network of these tests)."""
    chosen = dict(values or {})
    if "file" in kind.model_fields and (kind.model_fields["file"].is_required() or "file" in chosen):
        chosen["file"] = str(net)
    if "of" in kind.model_fields:
        chosen["of"] = TIC.id
    if "network" in kind.model_fields:
        chosen["network"] = f"{net.parent / 'run'}@1"
    if "model" in chosen:
        chosen["model"] = str(net.parent / "morpion.onnx")
    if "avoid" in chosen:
        chosen["avoid"] = str(net.parent / "morpion.txt")
    if "table" in kind.model_fields:
        chosen["table"] = str(net.parent / "table")
    if "command" in kind.model_fields:
        command = command_of(fake(kind.name))
        assert command is not None
        chosen["command"] = command
    return kind(**chosen)


class Spy:
    """Stands for a model and notes which of its fields are read."""

    def __init__(self, kind: Kind) -> None:
        self._kind, self.read = kind, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        value = getattr(type(self._kind), name, None)
        return value.__get__(self) if callable(value) else getattr(self._kind, name)


def test_every_field_has_another_value_in_these_tests() -> None:
    assert {name: set(values) for name, values in OTHER_VALUES.items()} == {
        name: set(kind.model_fields) - EXCLUDED.get(name, set()) for name, kind in KINDS.items()
    }


@pytest.mark.parametrize("name", KINDS)
def test_every_field_of_a_kind_is_read_when_it_is_built(name: str, net: Path) -> None:
    kind = with_values(KINDS[name], net, OTHER_VALUES[name])
    for field, value in OTHER_VALUES[name].items():
        assert value != KINDS[name].model_fields[field].default, field
    spy = Spy(kind)
    KINDS[name].build(spy, game_for(name), str(kind))  # type: ignore[arg-type]
    assert set(KINDS[name].model_fields) <= spy.read


@pytest.mark.parametrize("name", KINDS)
def test_the_canonical_text_makes_the_same_player_again(name: str, net: Path) -> None:
    for values in ({}, OTHER_VALUES[name]):
        kind = with_values(KINDS[name], net, values)
        assert read_player(str(kind)) == kind
        assert str(read_player(str(kind))) == str(kind)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "human"])
def test_every_player_made_from_a_text_moves_legally(name: str, net: Path) -> None:
    game = game_for(name)
    player = make_player(str(with_values(KINDS[name], net, OTHER_VALUES[name])), game)
    states = game.initial(3, np.random.default_rng(0))
    actions = player.act(states, np.random.default_rng(0))
    counts, legal = game.legal(states)
    assert all(action in row[:count] for action, row, count in zip(actions, legal, counts, strict=True))


@pytest.mark.parametrize("name", KINDS)
def test_the_example_of_a_kind_is_one_of_its_texts(name: str) -> None:
    assert read_player(KINDS[name].example).name == name


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("uct", "uct(simulations=100)"),
        ("uct( ms=20.0 )", "uct(ms=20)"),
        ("uct(simulations=100, reuse=true)", "uct(simulations=100)"),
        ("alphabeta()", "alphabeta(depth=6)"),
        ("mcs", "mcs(ms=50)"),
        ("rhea()", "rhea"),
        ("nrpa", "nrpa(level=2)"),
        ("puct(file=m.onnx, simulations=5)", "puct(m.onnx, simulations=5)"),
        ('rave("a b,c.onnx")', 'rave("a b,c.onnx", simulations=100)'),
    ],
)
def test_texts_that_mean_the_same_have_one_canonical_text(text: str, canonical: str) -> None:
    assert str(read_player(text)) == canonical


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("minimax", ["unknown player 'minimax'", "known: random, greedy, alphabeta", "for example uct("]),
        ("uct(simulation=5)", ["no argument 'simulation'", "simulations, ms", "for example uct("]),
        ("random(x=1)", ["no argument 'x'", "it takes none"]),
        ("uct(simulations=0)", ["simulations is 0", "a whole number from 1 to 10000000"]),
        ("uct(simulations=2.5)", ["simulations is 2.5", "a whole number"]),
        ("uct(simulations=many)", ["simulations is many", "a whole number"]),
        ("uct(simulations=true)", ["simulations is true", "a whole number"]),
        ("uct(ms=0)", ["ms is 0", "a number above 0 and at most 3600000"]),
        ("uct(solver=1)", ["solver is 1", "true or false"]),
        ("uct(200)", ["takes nothing without a name", "uct(simulations=200)"]),
        ("gumbel", ["gumbel needs file, a text", "gumbel(model.onnx, simulations=32)"]),
        ("puct(w=1)", ["give its file"]),
        ("puct(averaged=true)", ["give its file"]),
        ("puct(a, b)", ["only its file without a name"]),
        ("puct(a, file=b)", ["file is given twice"]),
        ("puct(12)", ["file is 12", "a text"]),
        ("rave(w=0.5)", ["give its file"]),
        ("gumbel(m.onnx, ms=5)", ["give simulations"]),
        ("mcs(ms=5, playouts=5)", ["either playouts or ms"]),
        ("nrpa(model=a.onnx, run=b)", ["either model or run"]),
        ("nrpa(prior=2)", ["give model or run with it"]),
        ("nrpa(level=7)", ["level is 7", "a whole number from 1 to 6"]),
        ("nrpa(playouts=0)", ["playouts is 0", "a whole number from 1 to 100000"]),
        ("nrpa(repeats=0)", ["repeats is 0", "a whole number from 1 to 100000"]),
        ("nrpa(beam=0)", ["beam is 0", "a whole number from 1 to 1000"]),
        ("nrpa(symmetric=1)", ["symmetric is 1", "true or false"]),
        ("nrpa(penalty=2)", ["give avoid=FILE with it"]),
        ("rhea(population=10, evaluations=5)", ["at least the population, 10"]),
        ("uct:x", ["nothing after a colon"]),
        ("run", ["run needs network, a text", "run:NAME@best(simulations=100)"]),
        ("net:x(simulations=5)", ["no argument 'simulations'", "network, temperature"]),
    ],
)
def test_a_bad_text_gets_one_line_that_says_what_is_accepted(text: str, pieces: list[str]) -> None:
    with pytest.raises(PlayerError) as error:
        read_player(text)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    for piece in pieces:
        assert piece in message


def test_the_settings_of_a_text_reach_the_search(net: Path) -> None:
    text = f'puct("{net}", simulations=7, c=2.5, fpu=0.3, w=0.25, temperature=0.5, nodes=99, leaves=3, reuse=false)'
    player: Any = make_player(text, TIC)
    config = player.search.config
    assert (config.rule, config.simulations, config.c_puct, config.fpu) == ("puct", 7, 2.5, 0.3)
    assert (config.temperature, config.node_budget, config.leaves_per_step, config.reuse) == (0.5, 99, 3, False)
    assert player.search.evaluator.weight == 0.25


def test_without_a_file_puct_has_uniform_priors_and_random_games() -> None:
    player: Any = make_player("puct(simulations=50, solver=false)", TIC)
    found = player.search.run(TIC.initial(1), np.array([1], np.uint64))
    assert player.search.config.rule == "puct"
    assert set(found.prior[0].tolist()) == {np.float32(1 / 9)}
    assert len(set(found.q[0].tolist())) > 3  # values of random games, not of a network that knows nothing


def test_the_weight_of_rave_follows_the_simulations_unless_it_is_set() -> None:
    given = ("rave(simulations=200)", "rave(simulations=200, k=30)", "rave(ms=5)")
    players: list[Any] = [make_player(text, TIC) for text in given]
    assert [player.search.config.k for player in players] == [200, 30, 100]


def test_a_kind_with_a_subject_is_read_after_its_colon() -> None:
    read = read_player("run:folder/name@12(simulations=7)")
    assert read == KINDS["run"](network="folder/name@12", simulations=7)
    assert str(read) == "run:folder/name@12(simulations=7)"
    assert str(read_player("net:x")) == "net:x"
