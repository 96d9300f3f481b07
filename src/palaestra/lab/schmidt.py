"""Figures 1 and 3 of Schmidt et al.: six agents learn opposition, and their demerits (sources: demerits).

Every agent is a run of the preset `schmidt` that differs in reward and head alone; its demerits are measured in every
generation. The agents of one seed share nothing but the seed, and so do the seeds of one agent.

The paper's claims are read as sentences about these curves, and each gets a verdict that is computed from them. The
figure's own numbers are not in the paper's text, so there are none to compare with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palaestra.base.types import Float32s, Float64s
from palaestra.games.registry import make_game
from palaestra.lab.demerit_curves import (
    AFTER,
    NEAR,
    SHARE,
    Claim,
    Curve,
    compare,
    first_zero,
    generations_in_words,
    majority,
    plateau,
    settles,
    waits,
)
from palaestra.lab.trained import refuse_own_settings, trained
from palaestra.learn.config import RunConfig
from palaestra.learn.presets import configure
from palaestra.players.runs import open_run
from palaestra.rewards.outcomes import OutcomeSpace
from palaestra.rewards.registry import make_reward

GAME = "opposition-3x9-absolute"
SHOWN = (5, 20, 50)  # generations of Figure 1
BY = 50  # generation by which the CDF agent is to have met 0 demerits: the paper's curves end about there
EARLY = 20  # generations that "starts later" and "at first" are read as
LONG = 15  # generations that make a plateau long; a steady fall to 0 is in the band of one for about 10


@dataclass(frozen=True)
class Agent:
    """One of the six: how it is called, and in what its run differs."""

    label: str
    net: str
    reward: str

    @property
    def policy_weight(self) -> float:
        """20·CE + MSE with a value head, 100·CE + … with an outcome head, both by 8 (sources: Schmidt training)."""
        return 12.5 if self.net.endswith("outcome") else 2.5


AGENTS = {
    "primitive-value": Agent("primitive, value head", "schmidt", "primitive"),
    "primitive-outcome": Agent("primitive, outcome head", "schmidt-outcome", "primitive"),
    "hand_tuned-value": Agent("hand-tuned, value head", "schmidt", "hand_tuned"),
    "hand_tuned-outcome": Agent("hand-tuned, outcome head", "schmidt-outcome", "hand_tuned"),
    "cdf": Agent("CDF, outcome head", "schmidt-outcome", "cdf(generations=5)"),
    "cdf_bonus": Agent("CDF with bonus, outcome head", "schmidt-outcome", "cdf_bonus(alpha=0.5, generations=5)"),
}
Runs = Mapping[tuple[str, int], RunConfig]  # by name and seed


def agent_configs(
    seeds: Iterable[int], generations: int, *, game: str = GAME, sets: Sequence[str] = (), threads: int = 1
) -> dict[tuple[str, int], RunConfig]:
    """The runs of the six agents; a search has 20h visits, the most plies of a game. `sets` depart from the paper."""
    refuse_own_settings(sets, "net")
    visits = make_game(game).max_plies
    return {
        (name, seed): configure(
            game,
            "schmidt",
            sets,
            iterations=generations,
            seed=seed,
            threads=threads,
            net=agent.net,
            reward=agent.reward,
            learn={"policy_weight": agent.policy_weight},
            selfplay={"search": {"simulations": visits}},
            evaluation={"simulations": visits},
        )
        for name, agent in AGENTS.items()
        for seed in seeds
    }


def run_folder(folder: Path, name: str, seed: int) -> Path:
    return folder / f"{name}-{seed}"


def folders(folder: Path, runs: Runs) -> dict[Path, RunConfig]:
    """The runs by where they are kept."""
    return {run_folder(folder, name, seed): config for (name, seed), config in runs.items()}


def demerits_of(folder: Path, runs: Runs) -> dict[str, Curve]:
    """name -> demerits float64[S, G] of its seeds; trains what is not trained yet."""
    curves: dict[str, list[Float64s]] = {}
    for (name, seed), config in runs.items():
        lines = trained(run_folder(folder, name, seed), config)
        demerits = np.array([line.demerits.demerits for line in lines if line.demerits is not None], dtype=np.float64)
        curves.setdefault(name, []).append(demerits)
    return {name: np.stack(some) for name, some in curves.items()}


def reward_curves(run: Path, game: str, shown: Sequence[int] = SHOWN) -> dict[int, Float32s]:
    """generation -> what each outcome of the game, ascending, was worth after it to the run's reward (Figure 1).

    Of a run that has none of the generations to be shown, the last.
    """
    stored, rules = open_run(str(run)), make_game(game)
    reward, outcomes = make_reward(stored.reward, rules), OutcomeSpace.of(rules).outcomes()
    wanted = {number for number in shown if number <= stored.iteration} or {stored.iteration}
    curves = {}
    for generation, ends in enumerate(stored.outcomes(), start=1):
        reward.observe(ends)
        if generation in wanted:
            curves[generation] = reward.value(outcomes)
    return curves


def claims(curves: Mapping[str, Curve]) -> list[Claim]:
    """The paper's claims (sources: Schmidt claims) and our target, each with its verdict; curves [S, G] by agent."""
    hand_tuned = min(  # the better of its heads
        (curves["hand_tuned-value"], curves["hand_tuned-outcome"]), key=lambda one: (waits(one).mean(), one.mean())
    )
    return [
        _hand_tuned_is_fastest(hand_tuned, curves),
        Claim.by_difference(
            "CDF starts later than hand-tuned",
            f"demerits of generations 1–{EARLY}, CDF minus hand-tuned",
            compare(curves["cdf"][:, :EARLY], hand_tuned[:, :EARLY]),
        ),
        _reaches("CDF reaches 0", curves["cdf"]),
        Claim.by_difference(
            "CDF with bonus is faster than CDF at first",
            f"demerits of generations 1–{EARLY}, CDF minus CDF with bonus",
            compare(curves["cdf"][:, :EARLY], curves["cdf_bonus"][:, :EARLY]),
        ),
        _has_a_plateau(curves["cdf_bonus"], curves["cdf"]),
        _never_settles([curves["primitive-value"], curves["primitive-outcome"]]),
        _meets_the_target(curves["cdf"]),
    ]


def _hand_tuned_is_fastest(hand_tuned: Curve, curves: Mapping[str, Curve]) -> Claim:
    """It meets 0 in most seeds, and seed by seed before the quickest of the others."""
    others = {name: curve for name, curve in curves.items() if not name.startswith("hand_tuned")}
    quickest = min(others, key=lambda name: float(waits(others[name]).mean()))
    words = (
        f"first 0 at generation {generations_in_words(hand_tuned)}, with the better of its heads; at most {NEAR:g}"
        f" demerits at {generations_in_words(hand_tuned, NEAR)}; quickest of the others: {AGENTS[quickest].label},"
        f" {generations_in_words(others[quickest])} and {generations_in_words(others[quickest], NEAR)}"
    )
    reached = _reaches("hand-tuned reaches 0, and first of all", hand_tuned)
    if reached.verdict != "yes":
        return Claim(reached.text, reached.verdict, words)
    later = compare(waits(others[quickest])[:, None], waits(hand_tuned)[:, None])
    return Claim.by_difference(reached.text, f"{words}; so many generations later", later)


def _reaches(text: str, curve: Curve) -> Claim:
    reached = majority(first_zero(one) is not None for one in curve)
    verdict = "yes" if reached else "open" if curve.shape[1] < BY else "no"
    return Claim(text, verdict, f"first 0 at generation {generations_in_words(curve)}")


def _has_a_plateau(curve: Curve, plain: Curve) -> Claim:
    lengths, beside = ([plateau(one) for one in some] for some in (curve, plain))
    words = f"longest flat stretch after the fall: {_listed(lengths)} generations; of plain CDF: {_listed(beside)}"
    verdict = "open" if curve.shape[1] < BY else _yes(majority(length >= LONG for length in lengths))
    return Claim(f"CDF with bonus has a long plateau (here: {LONG} generations)", verdict, words)


def _never_settles(curves: Sequence[Curve]) -> Claim:
    """Yes if no run settled, no if most did; between the two, or where a run met 0 too late to say, it stays open."""
    kept = [settles(one) for curve in curves for one in curve]
    words = f"{kept.count(True)} of {len(kept)} runs had 0 in {SHARE:.0%} of the {AFTER} generations after their first"
    if late := kept.count(None):
        words += f"; {late} had their first too late to say"
    if majority(one is True for one in kept):
        verdict = "no"
    else:
        verdict = "yes" if kept.count(False) == len(kept) and curves[0].shape[1] >= BY else "open"
    return Claim("primitive never settles at 0", verdict, words)


def _meets_the_target(curve: Curve) -> Claim:
    """Ours, not the paper's: 0 demerits by generation 50, and kept, in four of five seeds."""
    met = [(first_zero(one) or BY + 1) <= BY and settles(one) for one in curve]
    words = f"{met.count(True)} of {len(met)} seeds"
    verdict = "open" if curve.shape[1] < BY + AFTER else _yes(met.count(True) >= 0.8 * len(met))
    return Claim(f"(target) CDF has 0 by generation {BY} and in {SHARE:.0%} of the next {AFTER}", verdict, words)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
