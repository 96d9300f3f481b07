"""Figures 6.1 and 6.3 of the thesis: how long a warm start should be, and whether a run should decide that itself.

Figure 6.1 trains every enhancement with five lengths I′; Figure 6.3 sets runs with I′ = 5 against those that switch
when the plain search wins (sources: Figures 6.1 to 6.3; Alg. 6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from palaestra.lab.catalogue import published
from palaestra.lab.data import Data
from palaestra.lab.experiment import Arm, Claim, Experiment, Table
from palaestra.lab.experiments._warm import (
    ALIKE,
    BASELINE,
    LENGTH,
    NAMES,
    PRESET,
    adaptive,
    all_beat,
    baseline,
    beats,
    elo_at,
    fixed,
    none_stands_out,
    rating_table,
    scales,
    strongest,
)
from palaestra.lab.measures import Tournament
from palaestra.lab.statistics import Estimate, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WARM = tuple(NAMES.values())
CONNECT_FOUR, OTHELLO = "connect_four-6x6", "othello-6x6"
LENGTHS = (1, 3, 5, 7, 9)
CLEAR = {"Rave": 7, "WRoRa": 7}  # the lengths that the chapter calls best; for the others it finds none

# Figure 6.1: five lengths.


def _named(name: str, length: int) -> str:
    return f"{name}, I′ = {length}"


def _enhancement(arm: Arm) -> str:
    return arm.name.partition(",")[0]


def _among(name: str) -> tuple[str, ...]:
    return tuple(_named(name, length) for length in LENGTHS)


def _only(data: Data, name: str) -> Data:
    """The tournament of one enhancement: what joins it to the others is the random player alone."""
    return data.where(arm=_among(name))


def _length_claim(name: str) -> Claim:
    if best := CLEAR.get(name):
        claim = strongest(CONNECT_FOUR, (_named(name, best),), _among(name), f"I′ = {best} is best for {name}")
    else:
        words = f"no I′ stands out for {name} (here: by more than {ALIKE:g} Elo)"
        claim = none_stands_out(CONNECT_FOUR, _among(name), words)
    return Claim(claim.text, lambda data: claim.check(_only(data, name)))


def _by_length(data: Data, name: str) -> dict[int, Estimate]:
    elos = elo_at(_only(data, name), CONNECT_FOUR)
    return {length: mean(elos[_named(name, length)]) for length in LENGTHS if _named(name, length) in elos}


def _length_table(data: Data) -> Table:
    rows = [(name, f"{length}", str(elo)) for name in WARM for length, elo in _by_length(data, name).items()]
    return Table(("warm start", "I′", "Elo among its lengths (95 %)"), tuple(rows))


def _draw_lengths(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels = {
        name: {f"I′ = {length}": {"here": elo} for length, elo in _by_length(data, name).items()} for name in WARM
    }  # fmt: skip
    return estimates_figure(panels, "Elo, mean of the panel 0", span=ELO_SPAN)


# Figure 6.3: adaptive against fixed.


def _adaptive(name: str) -> str:
    return f"{name}, adaptive"


ALL = (BASELINE, *WARM, *map(_adaptive, WARM))
BEST = {CONNECT_FOUR: ("WRo", "RoRa"), OTHELLO: ("WRoRa",)}


def _switch_claims(game: str) -> tuple[Claim, ...]:
    switching = tuple(map(_adaptive, WARM))
    best = BEST[game]
    return (
        all_beat(game, WARM, BASELINE, f"every warm start of {LENGTH} iterations beats the baseline at {game}"),
        all_beat(game, switching, BASELINE, f"every adaptive warm start beats the baseline at {game}"),
        *(beats(game, _adaptive(name), name, f"{name} is better adaptive than fixed at {game}") for name in WARM),
        strongest(game, tuple(map(_adaptive, best)), ALL, f"adaptive, {' and '.join(best)} are best at {game}"),
    )


def _switch_arms(game: str) -> tuple[Arm, ...]:
    held = tuple(fixed(game, name) for name in NAMES)
    return (baseline(game), *held, *(adaptive(game, name, _adaptive(shown)) for name, shown in NAMES.items()))


def _draw_switches(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {}
    for game in data.texts("game"):
        elos = {arm: mean(by_seed) for arm, by_seed in elo_at(data, game).items()}
        pairs = {name: {f"I′ = {LENGTH}": elos[name], "adaptive": elos[_adaptive(name)]} for name in WARM}
        panels[game] = {BASELINE: {BASELINE.lower(): elos[BASELINE]}, **pairs}
    return estimates_figure(panels, "Elo, mean of all players 0", span=ELO_SPAN)


EXPERIMENTS = (
    Experiment(
        identity=published("fig-6.1"),
        arms=tuple(
            fixed(CONNECT_FOUR, enhancement, length, _named(name, length))
            for enhancement, name in NAMES.items()
            for length in LENGTHS
        ),
        scales=scales(5),
        measures=(Tournament(PRESET, apart=_enhancement),),
        claims=tuple(map(_length_claim, WARM)),
        table=_length_table,
        draw=_draw_lengths,
        reading="the lengths of one enhancement meet each other; the published figure has a panel for each",
    ),
    Experiment(
        identity=published("fig-6.3"),
        arms=tuple(arm for game in BEST for arm in _switch_arms(game)),
        scales=scales(5),
        measures=(Tournament(PRESET),),
        claims=tuple(claim for game in BEST for claim in _switch_claims(game)),
        table=lambda data: rating_table(data, {}),
        draw=_draw_switches,
        reading="weights of random games are 1 - i / I′ in fixed and 1 / i in adaptive warm starts (Eq. 5.7; Ch6)",
    ),
)
