"""Figures 2.2 to 2.7 of the thesis (sources: chapter 2): tabular learners against a random player.

Every learner plays 1.5·l matches: ε sinks to 0 over the first l and stays there. A fixed ε is Eq. 2.3 with a = 0, so
that it, too, is 0 in the end and all learners are compared at their best play. Two win rates are measured, every l/10
matches: over these l/10 alone, and over all matches so far. The published curves can only be the former: one that falls
to 65 % early on and stands at 84 % when l = 5,000 matches are over has no such mean over all of them.

QM-learning has 50 playouts where the thesis has 50 ms, so that the figures do not depend on the machine.

`nested-tables` is the chapter's outlook: nested search in place of flat (sources: QM-learning with nested search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from palaestra.lab.catalogue import published
from palaestra.lab.claims import agrees, arm_above, mean_of
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import (
    OURS,
    Arm,
    Claim,
    Experiment,
    Identity,
    Published,
    Scale,
    Scales,
    Table,
    Verdict,
)
from palaestra.lab.measures import Calls
from palaestra.lab.statistics import Estimate, mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.lab.experiment_plots import Curve

TIC = "tic_tac_toe-3x3"
LENGTHS = (5_000, 10_000, 20_000, 30_000, 40_000, 50_000)  # l in the study of QM-learning
MORE = 1.5  # matches for each of the l
Q, QM, QN = "Q-learning", "QM-learning", "QN-learning"
FINAL = "final"  # 1 in the row of the last point of a curve


def learn_curve(
    game: str,
    seed: int,
    share: float,
    l: int,
    learner: str,
    epsilon: float | None = None,
    b: float | None = None,
    playouts: int | None = None,
) -> Iterable[Row]:
    """A row for each point of one learner's curve; `share` shortens all lengths, `b` is an ε that stays until l."""
    from palaestra.games.registry import make_game
    from palaestra.learn.tabular import Curve, learn_table, read_config

    length = max(1, round(l * share))
    values: dict[str, object] = {"learner": learner, "playouts": playouts}
    values |= {"decay": length} if epsilon is None else {"epsilon": epsilon}
    values |= {} if b is None else {"a": 0.0, "b": b}
    config = read_config(matches=max(1, round(MORE * length)), **values)
    learned = learn_table(make_game(game), config, seed=0, repeat=seed)
    curve = Curve.of(config, [learned.goals])
    last = len(curve.matches) - 1
    return [
        {"l": l, "matches": int(matches), "rate": 100 * float(curve.rates[0, at]),
         "so_far": 100 * float(curve.so_far[0, at]), "states": len(learned.table), FINAL: int(at == last)}
        for at, matches in enumerate(curve.matches)
    ]  # fmt: skip


def _arm(name: str, game: str, l: int, learner: str = "q", **values: Value) -> Arm:
    return Arm(name, game, values={"l": l, "learner": learner, **values})


def _finals(data: Data) -> Data:
    return data.where(**{FINAL: 1})


def _known(arm: str, percent: float, game: str = TIC) -> Published:
    return Published(arm, game, percent, "Chapter 2", "%")


def _agrees(known: Published) -> Claim:
    of = mean_of("rate")
    return agrees(known, lambda data: of(_finals(data)), 3.0, "% of the last matches")


def _above(text: str, one: str, other: str) -> Claim:
    claim = arm_above(text, one, other, "rate", "points of the final win rate")
    return Claim(text, lambda data: claim.check(_finals(data)))


def _still_learns(arm: str, game: str, learns: bool) -> Claim:
    """Whether the win rate still rises once ε is 0, over the last l/2 matches."""

    def check(data: Data) -> Verdict:
        at, rates = data.where(arm=arm, game=game).curve("rate", "matches")
        greedy = rates[:, at > at.max(initial=0.0) / MORE]
        if greedy.shape[1] < 2:
            return Verdict.open("too few points after ε is 0")
        rise, what = paired_difference(greedy[:, -1], greedy[:, 0]), "points that the win rate rises once ε is 0"
        return Verdict.above(rise, 0.0, what) if learns else Verdict.within(rise, 2.0, what)

    return Claim(f"{arm} {'has not converged' if learns else 'converges'} ({game})", check)


@cache
def _ceiling(game: str) -> float | None:
    """The best possible mean goal against a random player in percent, where the game is small enough."""
    from palaestra.games.registry import make_game
    from palaestra.learn.tabular_ceiling import best_response

    goals = best_response(make_game(game))
    return None if goals is None else 50 * sum(goals)


def _table(known: tuple[Published, ...]) -> Callable[[Data], Table]:
    def table(data: Data) -> Table:
        rows = []
        for game, some in data.by("game").items():
            for arm, one in some.by("arm").items():
                last, ceiling = _finals(one), _ceiling(game)
                printed = [f"{p.value:g}" for p in known if (p.arm, p.game) == (arm, game)]
                cells = (str(mean(last.per_seed(name))) for name in ("rate", "so_far"))
                most = "–" if ceiling is None else f"{ceiling:.1f}"
                states = f"{mean(last.per_seed('states')).value:,.0f}"
                rows.append((game, arm, *cells, printed[0] if printed else "–", most, states))
        heads = (
            "game",
            "learner",
            "final win rate, % (95 %)",
            "of all matches, %",
            "published",
            "best possible",
            "states",
        )
        return Table(heads, tuple(rows))

    return table


def _draw_curves(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    panels: dict[str, dict[str, Curve]] = {}
    for game, some in data.by("game").items():
        for arm, one in some.by("arm").items():
            label, _, length = arm.partition(", l = ")
            panel = f"l = {length}" if length else "tic-tac-toe" if game.startswith("tic") else game
            panels.setdefault(panel, {})[label] = one.curve("rate", "matches")
    ceiling = _ceiling(TIC)
    levels = {f"best possible, {ceiling:.1f} %": ceiling} if ceiling and TIC in data.texts("game") else {}
    return curves_figure(panels, "matches", "win rate, %, draws ½", levels=levels, limits=(None, 101))


def _draw_finals(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    groups: dict[str, dict[str, Estimate]] = {}
    for arm, one in _finals(data).by("arm").items():
        label, _, length = arm.partition(", l = ")
        groups.setdefault(length, {})[label] = mean(one.per_seed("rate"))
    crosses = {
        ("where the curves end", p.arm.partition(", l = ")[2], p.arm.partition(",")[0]): p.value for p in BY_LENGTH
    }
    return estimates_figure({"where the curves end": groups}, "final win rate, %", published=crosses, limits=(40, 101))


SCALES = Scales(
    smoke=Scale("a hundredth of the matches, two tables", 2, {"share": 0.01}),
    laptop=Scale("50 playouts where the thesis has 50 ms", 5, {"share": 1.0}),
    paper=Scale("50 playouts where the thesis has 50 ms", 5, {"share": 1.0}),
)
DECAY = "ε decays from 0.5"
BY_LENGTH = (
    *(_known(f"{Q}, l = {l:,}", p) for l, p in zip(LENGTHS, (55.0, 80.0, 86.0, 86.5, 86.5, 86.5), strict=True)),
    _known(f"{QM}, l = 5,000", 85.0),
    _known(f"{QM}, l = 50,000", 87.5),
)


def _figure(id: str | Identity, arms: tuple[Arm, ...], claims: tuple[Claim, ...], *known: Published) -> Experiment:
    return Experiment(
        identity=published(id) if isinstance(id, str) else id,
        arms=arms,
        scales=SCALES,
        measures=(Calls(learn_curve, {"share": 0.01}),),
        claims=(*claims, *map(_agrees, known)),
        table=_table(known),
        draw=_draw_finals if id == "fig-2.7" else _draw_curves,
        published=known,
        reading="win rates are over the last l/10 matches, with a draw as half a win",
    )


_LENGTH_ARMS = tuple(
    _arm(f"{name}, l = {l:,}", TIC, l, learner) for l in LENGTHS for name, learner in ((Q, "q"), (QM, "qm"))
)
_NESTED_ARMS = (
    _arm(Q, TIC, 5_000),
    *(
        _arm(f"{name}, {playouts} random games", TIC, 5_000, learner, playouts=playouts)
        for playouts in (50, 200, 800)
        for name, learner in ((QM, "qm"), (QN, "qn"))
    ),
)
EXPERIMENTS = (
    _figure(
        Identity("nested-tables", OURS, "Nested search", "tables with flat or nested search where they know nothing"),
        _NESTED_ARMS,
        tuple(
            _above(text, f"{QN}, {playouts} random games", other)
            for playouts in (50, 200, 800)
            for text, other in (
                (f"nested search ends above no search, {playouts} random games", Q),
                (f"nested search ends above flat search, {playouts} random games", f"{QM}, {playouts} random games"),
            )
        ),
    ),
    _figure(
        "fig-2.2",
        (_arm(DECAY, TIC, 30_000), _arm("ε = 0.1", TIC, 30_000, b=0.1), _arm("ε = 0.2", TIC, 30_000, b=0.2)),
        (_above("a decaying ε ends above ε = 0.1", DECAY, "ε = 0.1"), _above("and above ε = 0.2", DECAY, "ε = 0.2")),
        _known(DECAY, 86.5),
        _known("ε = 0.1", 82.5),
        _known("ε = 0.2", 79.5),
    ),
    _figure(
        "fig-2.3",
        (_arm(Q, TIC, 30_000), _arm("TD(λ)", TIC, 30_000, "td", epsilon=0.01)),
        (_above("Q-learning ends above TD(λ)", Q, "TD(λ)"),),
        _known(Q, 86.5),
        _known("TD(λ)", 75.5),
    ),
    _figure(
        "fig-2.4",
        tuple(_arm(Q, game, l) for game, l in ((TIC, 30_000), ("hex-3x3", 50_000), ("connect_four-4x4", 80_000))),
        tuple(_still_learns(Q, game, False) for game in (TIC, "hex-3x3", "connect_four-4x4")),
        _known(Q, 86.5),
    ),
    _figure(
        "fig-2.5",
        tuple(_arm(f"{n}×{n}", f"tic_tac_toe-{n}x{n}", 50_000) for n in (3, 4, 5)),
        (_still_learns("4×4", "tic_tac_toe-4x4", True), _still_learns("5×5", "tic_tac_toe-5x5", True)),
        _known("3×3", 86.5),
    ),
    *(
        _figure(
            id,
            _LENGTH_ARMS,
            (_above("QM-learning ends above Q-learning at l = 5,000", f"{QM}, l = 5,000", f"{Q}, l = 5,000"),),
            *BY_LENGTH,
        )
        for id in ("fig-2.6", "fig-2.7")
    ),
)
