"""Expert games first (sources: expert games): minutes that a run saves by learning from a perfect player's games.

Both arms have the same minutes; those in which given games are learned count, those in which they were played do not.
The games begin with some random plies, without which few of a perfect player's games would differ and a solver would
take an hour for the first moves. Strength is the score against one player that never changes, as it was evaluated last.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from palaestra.lab.claims import arm_above
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Calls
from palaestra.lab.plan import ALIKE
from palaestra.lab.statistics import mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME = "connect_four-5x5"
GIVEN, ALONE = "expert games first", "self-play alone"
ANCHOR = "uct(simulations=1000)"
HALF = 50.0  # percent of the points: the strength whose time is compared
TIMES = 12  # points of a curve
FINAL = "final"  # 1 in the row at the end of the time


def learn_over_time(
    game: str, seed: int, minutes: float, games: int, opening_plies: int, judged: int, given: int
) -> Iterable[Row]:
    """The score against the anchor at even steps of a run's minutes; `given` is 1 where it is given `games` games."""
    import tempfile
    from pathlib import Path

    from palaestra.learn.loop import train
    from palaestra.learn.presets import configure

    sets = (*ALIKE, f'evaluation.anchors=["{ANCHOR}"]', "evaluation.every=3", f"evaluation.games={judged}")
    config = configure(game, "fast", sets, minutes=minutes, seed=seed, threads=1)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "perfect.pgn"
        if given:
            file.write_text(perfect_games(game, games, opening_plies))
        run = train(config, Path(place) / "run", games=file if given else None)
    lines = [(line.elapsed / 60, 100 * line.against[0].score) for line in run.metrics if line.against]
    return rows_over_time(lines, minutes)


def rows_over_time(found: Sequence[tuple[float, float]], minutes: float) -> list[Row]:
    """Rows at even steps; `found` are (minutes, score) in the order of time.

    `half` is when half of the points were first reached, or all the minutes where they never were.
    """
    times = [at for at, _ in found]
    half = min((at for at, score in found if score >= HALF), default=minutes)
    rows: list[Row] = []
    for step in range(1, TIMES + 1):
        known = len(times) if step == TIMES else bisect_right(times, minutes * step / TIMES)
        score = found[known - 1][1] if known else None
        rows.append(
            {"minutes": minutes * step / TIMES, "score": score, "half": min(half, minutes), FINAL: int(step == TIMES)}
        )
    return rows


@lru_cache(maxsize=2)
def perfect_games(game: str, games: int, opening_plies: int) -> str:
    """So many games of the perfect player against itself, as PGN."""
    from palaestra.arena.match import play_match
    from palaestra.games.registry import make_game
    from palaestra.players.registry import make_player
    from palaestra.runs.pgn_games import write_game

    rules = make_game(game)
    one, other = make_player("perfect", rules), make_player("perfect", rules)
    played = play_match(rules, one, other, games, opening_plies=opening_plies)
    return "".join(write_game(record, rules) for record in played.records)


def _saves(data: Data) -> Verdict:
    given, alone = (data.where(arm=arm, **{FINAL: 1}).per_seed("half") for arm in (GIVEN, ALONE))
    if len(given) != len(alone) or not len(given):
        return Verdict.open("not the same seeds")
    return Verdict.above(paired_difference(alone, given), 0.0, f"minutes sooner at half of the points against {ANCHOR}")


def _stays_ahead() -> Claim:
    claim = arm_above("and is still ahead at the end", GIVEN, ALONE, "score", "% of the points at the end")
    return Claim(claim.text, lambda data: claim.check(data.where(**{FINAL: 1})), ours=True)


def _table(data: Data) -> Table:
    rows = []
    for arm, some in data.where(**{FINAL: 1}).by("arm").items():
        half = some.per_seed("half")
        rows.append((arm, str(mean(half)), ", ".join(f"{one:.1f}" for one in half), str(mean(some.per_seed("score")))))
    heads = ("arm", "minutes to half of the points (95 %)", "by seed", "score at the end, % (95 %)")
    return Table(heads, tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    curves = {arm: some.curve("score", "minutes") for arm, some in data.by("arm").items()}
    return curves_figure({GAME: curves}, "minutes", f"score against {ANCHOR}, %", levels={"half": HALF})


EXPERIMENT = Experiment(
    identity=Identity("expert-games", OURS, "Expert games", "a perfect player's games first, or self-play alone"),
    arms=(Arm(GIVEN, GAME, values={"given": 1}), Arm(ALONE, GAME, values={"given": 0})),
    scales=Scales(
        smoke=Scale(
            "a few seconds, 20 games", 2, {"minutes": 0.02, "games": 20, "opening_plies": 12, "judged": 2}
        ),
        laptop=Scale(
            NO_DEPARTURE, 3, {"minutes": 6.0, "games": 2000, "opening_plies": 8, "judged": 40}
        ),
        paper=Scale(
            NO_DEPARTURE, 5, {"minutes": 20.0, "games": 2000, "opening_plies": 6, "judged": 100}
        ),
    ),
    measures=(Calls(learn_over_time),),
    claims=(Claim("given games save time", _saves, ours=True), _stays_ahead()),
    table=_table,
    draw=_draw,
    reading="a run that never reached half of the points counts with all its minutes",
)  # fmt: skip
