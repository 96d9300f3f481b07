"""All results of the five works, and the experiments that are declared: by id, by chapter, or `module:attribute`.

A file of `lab/experiments` holds `EXPERIMENT` or `EXPERIMENTS`, and is found by being there.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache

from palaestra.base import user_code
from palaestra.base.errors import ConfigError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.lab import experiments
from palaestra.lab.experiment import OURS, Experiment, Identity

THESIS, SCHMIDT = "the thesis", "Schmidt et al."
ALL = "all"
ALIASES = {f"figure-2.{n}": f"fig-2.{n}" for n in range(2, 8)}  # names of an earlier version


def _thesis(chapter: int, *rows: tuple[str, str]) -> tuple[Identity, ...]:
    return tuple(
        Identity(
            f"{'fig' if number.startswith('Figure') else 'table'}-{number.split()[1]}".lower(),
            THESIS,
            number,
            caption,
            f"chapter-{chapter}" if chapter < 8 else "appendix",
        )
        for number, caption in rows
    )


RESULTS: tuple[Identity, ...] = (
    *_thesis(
        2,
        ("Figure 2.2", "Q-learning of tic-tac-toe with fixed and decaying ε"),
        ("Figure 2.3", "Q-learning and TD(λ)"),
        ("Figure 2.4", "Q-learning of three games"),
        ("Figure 2.5", "Q-learning on three sizes of board"),
        ("Figure 2.6", "QM-learning beside Q-learning"),
        ("Figure 2.7", "QM-learning beside Q-learning: where the curves end"),
    ),
    *_thesis(
        3,
        ("Figure 3.3", "loss over iterations and epochs"),
        ("Figure 3.4", "loss with twelve hyper-parameters at three values each"),
        ("Table 3.3", "time of a run with each hyper-parameter at three values"),
        ("Table 3.4", "which hyper-parameters matter, for loss and for time"),
        ("Figure 3.5", "Elo of 81 models over I, E, m and ep in a full tournament"),
        ("Figure 3.6", "Elo against the time of self-play and of training"),
        ("Figure 3.7", "Elo against time, with Pareto fronts"),
    ),
    *_thesis(
        4,
        ("Figure 4.2", "four losses while one is minimised, Othello 5×5"),
        ("Figure 4.3", "four losses while one is minimised, Othello 6×6"),
        ("Figure 4.4", "four losses while one is minimised, Connect Four 5×5"),
        ("Figure 4.5", "four losses while one is minimised, Connect Four 6×6"),
        ("Figure 4.6", "four losses while one is minimised, Gobang 5×5"),
        ("Figure 4.7", "Elo that runs give themselves, by the loss they minimise"),
        ("Figure 4.8", "tournament of final networks, by the loss they minimised"),
    ),
    *_thesis(
        5,
        ("Table 5.1", "random, MCTS, RAVE and RHEA against each other"),
        ("Figure 5.1", "tournament of warm starts, Gobang and Connect Four"),
        ("Figure 5.2", "tournament of warm starts, Othello"),
    ),
    *_thesis(
        6,
        ("Table 6.1", "warm-start enhancements against the plain search, untrained networks"),
        ("Figure 6.1", "five lengths of a fixed warm start in a tournament, Connect Four"),
        ("Table 6.2", "when the adaptive warm start switches"),
        ("Figure 6.2", "balances of the plain search against each enhancement until the switch, Othello"),
        ("Figure 6.3", "adaptive against fixed warm starts in a tournament"),
    ),
    *_thesis(7, ("Figure 7.2", "Morpion Solitaire with ranked reward: the best solution")),
    *_thesis(8, ("Table A.3", "rating list of the warm starts, with the opponents' mean")),
    Identity("schmidt-fig1", SCHMIDT, "Figure 1", "what outcomes are worth to rewards that learn", "schmidt"),
    Identity("schmidt-fig3", SCHMIDT, "Figure 3", "demerits of six agents over generations", "schmidt"),
)


def published(id: str) -> Identity:
    """The identity of a published result, for its declaration."""
    return next(identity for identity in RESULTS if identity.id == id)


@cache
def declared() -> dict[str, Experiment]:
    """Every experiment of the package by its id: those of the works in their order, then ours."""
    found: dict[str, Experiment] = {}
    for module in sorted(pkgutil.iter_modules(experiments.__path__), key=lambda one: one.name):
        if module.name.startswith("_"):
            continue
        held = importlib.import_module(f"{experiments.__name__}.{module.name}")
        for experiment in (*getattr(held, "EXPERIMENTS", ()), *_single(held)):
            if experiment.id in found:
                raise ValueError(f"{module.name} declares {experiment.id}, which is declared already")
            found[experiment.id] = experiment
    order = {identity.id: number for number, identity in enumerate(RESULTS)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def listed() -> list[Identity]:
    """All results of the works, declared or not, and then experiments of ours."""
    return [*RESULTS, *(one.identity for one in declared().values() if one.identity.work == OURS)]


def chosen(texts: Sequence[str]) -> list[Experiment]:
    """The experiments that texts name: ids, chapters, `all` or `module:attribute`; each once. ConfigError otherwise."""
    found = [experiment for text in texts for experiment in _named(text)]
    return list({experiment.id: experiment for experiment in found}.values())


def _named(text: str) -> Iterable[Experiment]:
    if user_code.is_code(text):
        return [load(text)]
    id, there = ALIASES.get(text, text), declared()
    if id == ALL:
        return there.values()
    if id in there:
        return [there[id]]
    chapters = list(dict.fromkeys(identity.chapter for identity in listed() if identity.chapter))
    if id in chapters:
        if some := [one for one in there.values() if one.identity.chapter == id]:
            return some
        raise ConfigError(f"no experiment of {id} is declared yet; declared: {', '.join(there)}")
    if waiting := [identity for identity in RESULTS if identity.id == id]:
        raise ConfigError(f"{id} ({waiting[0].caption}) is not declared yet; declared: {', '.join(there)}")
    known = [*there, *chapters, ALL]
    raise ConfigError(
        f"unknown experiment {clip(text)}{did_you_mean(text, known, ALIASES)}; palaestra reproduce lists all of them"
    )


def load(text: str) -> Experiment:
    """An experiment of the user's own, `module:attribute`, named in this command."""
    found = user_code.load(text, ConfigError, "an experiment of your own")
    if not isinstance(found, Experiment):
        raise ConfigError(f"{clip(text)} is no Experiment; an experiment of your own is module:attribute")
    return found


def _single(module: object) -> Iterable[Experiment]:
    one = getattr(module, "EXPERIMENT", None)
    return () if one is None else (one,)
