"""What was learned from a rulesheet plays it in network matches, whatever its file was called; else both sides hear."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.cli.ggp_view import last_line, print_matches
from palaestra.games.registry import make_game
from palaestra.ggp.http_client import Address
from palaestra.ggp.machine import make_machine
from palaestra.ggp.manager import Manager, MatchSettings
from palaestra.ggp.protocol import rules_text
from palaestra.ggp.record import MatchRecord
from palaestra.ggp.rules import parse_rules, rulesheet
from palaestra.ggp.worker_process import WorkerSettings
from palaestra.learn.loop import train
from palaestra.live.network_matches import summary
from palaestra.players.registry import make_player
from tests.cli.conftest import Cli, cli  # noqa: F401, a fixture
from tests.ggp.fakes import playing, post, run, start
from tests.learn.fakes import tiny

SHEET = rulesheet("tic_tac_toe-3x3")
ELSEWHERE = "; the same rules in another file\n" + SHEET.replace("\n", "\n\n  ")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.kif").write_text(SHEET)
    Path("other.kif").write_text(ELSEWHERE)


@pytest.fixture
def table(cli: Cli) -> str:  # noqa: F811
    done = cli("qlearn", "gdl:game.kif", "--matches", "3000", "--repeats", "1", "--save", "t.qt", "--json")
    assert done.code == 0, done.err
    return "qtable:t.qt"


@pytest.fixture
def agent() -> str:
    sets = ("selfplay.search.num_simulations=8", "gate.games=2", "gate.simulations=4", "evaluation.simulations=4")
    train(tiny(*sets, 'evaluation.anchors=["random"]', game="gdl:game.kif", iterations=1), "runs/learned")
    return "net:learned"


async def match(player: str, source: str, log: list[str], clock: float = 30, scramble: bool = False) -> MatchRecord:
    """One match of a player, as the first role, against random moves."""
    rules = parse_rules(source)
    async with playing(WorkerSettings(player), log) as (one, port), playing(WorkerSettings("random")) as (_, other):
        seats = [Address("127.0.0.1", port), Address("127.0.0.1", other)]
        manager = Manager(
            make_machine(rules), rules.source, seats, MatchSettings(120, clock, scramble=scramble), "game"
        )
        record = await manager.run("m", seed=1)
        await one.up()
        return record


@pytest.mark.parametrize("kind", ["table", "agent"])
def test_a_learned_player_plays_its_own_moves_of_the_rulesheet_that_it_learned_from(
    kind: str, request: pytest.FixtureRequest
) -> None:
    player, log = request.getfixturevalue(kind), []
    records: list[MatchRecord] = []

    async def work() -> None:
        records.append(await match(player, ELSEWHERE, log))

    run(work())
    (record,) = records
    assert record.faults == [] and record.ending == "terminal"
    assert (record.seats[0].plays, record.seats[0].instead_of) == (player.partition(":")[0], "")
    assert len(log) == 1 and f"by {player.partition(':')[0]}, done" in log[0]
    game = make_game("gdl:other.kif")
    judge = make_player(player, game)
    state = game.initial(1)[0]
    checked = 0
    for turn, (first, second) in enumerate(record.moves):
        mover = int(game.to_play(state[None])[0])
        if mover == 0:
            analysis = judge.analyse(state, np.random.default_rng(0))
            action = game.text_to_action(state, first)
            if "not among" not in analysis.note:
                assert analysis.policy is not None and (
                    analysis.policy[action] > 0 if kind == "table" else action == analysis.action
                ), turn
                checked += 1
        action = game.text_to_action(state, (first, second)[mover])
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    assert checked >= 2


def test_a_run_that_searches_plays_its_rulesheet_too(agent: str) -> None:
    async def work() -> None:
        log: list[str] = []
        record = await match("run:learned(simulations=8)", ELSEWHERE, log)
        assert (record.seats[0].plays, record.seats[0].instead_of) == ("run", "") and record.faults == []

    run(work())


def reordered() -> str:
    forms = rules_text(SHEET)
    first, _, rest = forms.partition(") (<= ")
    return f"(<= {rest} {first})"


@pytest.mark.parametrize("how", ["another order", pytest.param("other names", marks=pytest.mark.slow)])
def test_rules_that_it_does_not_know_again_are_played_by_another_and_both_sides_are_told(
    how: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        log: list[str] = []
        source = reordered() if how == "another order" else SHEET
        record = await match(table, source, log, clock=2, scramble=how == "other names")  # all of it is searched
        assert (record.seats[0].plays, record.seats[0].instead_of) == ("decoupled_uct", "qtable")
        assert record.faults == []
        assert log[0].startswith("WARNING: m: decoupled_uct plays instead of qtable:t.qt, which cannot play this: ")
        said = [line for line in log if "overstayed" not in line]  # as it does where the machine is busy
        assert "by decoupled_uct instead of qtable" in said[1] and len(said) == 2
        record.moves.clear()
        record.ending = ""
        assert "WARNING: decoupled_uct plays" in last_line(record)
        print_matches([record], summary([record])["players"])
        assert "INSTEAD OF" in capsys.readouterr().out.replace("\n", " ")

    run(work())


def test_info_tells_strangers_the_kind_of_player_and_no_file(table: str) -> None:
    async def work() -> None:
        async with playing(WorkerSettings(table)) as (_, port):
            assert "(plays qtable)" in await post(port, "(INFO)")
            assert await post(port, start("m", role="x", rules=reordered())) == "ready"
            told = await post(port, "(INFO)")
            assert "(plays decoupled_uct) (instead_of qtable)" in told and "t.qt" not in told

    run(work())


def test_a_table_is_known_again_by_its_rules_in_every_verb_and_refused_by_others(cli: Cli, table: str) -> None:  # noqa: F811
    assert cli("match", "gdl:other.kif", table, "random", "--games", "2").code == 0
    Path("changed.kif").write_text(SHEET + "(init (extra fact))")
    done = cli("match", "gdl:changed.kif", table, "random", "--games", "2")
    assert done.code == 2 and "is a table of gdl:game.kif" in done.err
