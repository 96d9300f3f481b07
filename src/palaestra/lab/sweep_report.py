"""One HTML page about a sweep, and the same in numbers. Reads `sweep.toml` and the outcomes: no database, no code.

The page needs nothing but itself. All Elos come from one fit over all matches, so they may differ from what the sampler
was told while the sweep went on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from palaestra.base.atomic import write_file
from palaestra.base.errors import RecordError
from palaestra.base.printable import escape
from palaestra.lab.pages import fill_page
from palaestra.lab.statistics import pareto
from palaestra.lab.sweep import Plan, read_outcomes, read_plan
from palaestra.lab.sweep_analysis import (
    Correlation,
    Elo,
    Interaction,
    correlations,
    elos,
    importances,
    interactions,
)
from palaestra.lab.sweep_plots import (
    correlation_plot,
    importance_plot,
    parallel_plot,
    pareto_plot,
    short,
    slice_plot,
)
from palaestra.lab.sweep_trial import COMPLETE, FAILED, PRUNED, Outcome

PAGE = "sweep.html"
MOST_INTERACTIONS = 12


@dataclass(frozen=True)
class Findings:
    """What a sweep says, computed once for page and JSON."""

    plan: Plan
    outcomes: list[Outcome]
    elos: dict[int, Elo]
    front: list[int]  # trials, cheapest first
    correlations: list[Correlation]
    importances: dict[str, dict[str, float]]  # objective -> parameter -> share
    interactions: list[Interaction]


def find(folder: Path) -> Findings:
    """The findings of the sweep in a folder; RunError if it is none, RecordError if no trial is finished."""
    plan, outcomes = read_plan(folder), read_outcomes(folder)
    names = {parameter.name for parameter in plan.space.parameters}
    if any(outcome.values.keys() != names for outcome in outcomes):
        raise RecordError(f"{folder} has outcomes of another space than {plan.space.name}")
    if not any(outcome.state == COMPLETE for outcome in outcomes):
        raise RecordError(f"{folder} has no finished trial yet: there is nothing to report")
    given = (plan.space, outcomes, plan.anchors)
    rated = elos(outcomes, plan.anchors)
    costs = {outcome.number: outcome.minutes for outcome in outcomes}
    front = pareto([(number, elo.elo, costs[number]) for number, elo in rated.items()])
    shares = {objective: importances(*given, objective) for objective in plan.objectives}
    pairs = [pair for objective in plan.objectives for pair in interactions(*given, objective)]
    found = {objective: by_name for objective, by_name in shares.items() if by_name}
    return Findings(plan, outcomes, rated, front, correlations(*given), found, pairs)


def write_page(folder: Path) -> Path:
    """Make the page; its path."""
    path = folder / PAGE
    write_file(path, make_page(folder).encode())
    return path


def summarise(folder: Path) -> dict[str, Any]:
    """What the page says, as JSON."""
    found = find(folder)
    states = Counter(outcome.state for outcome in found.outcomes)
    return {
        "game": found.plan.base.game,
        "space": found.plan.space.name,
        "objectives": list(found.plan.objectives),
        "sampler": found.plan.sampler,
        "states": {state: states[state] for state in (COMPLETE, PRUNED, FAILED)},
        "pareto": found.front,
        "trials": [_trial(outcome, found.elos.get(outcome.number)) for outcome in found.outcomes],
        "correlations": [{**asdict(one), "clear": one.clear} for one in found.correlations],
        "importances": found.importances,
        "interactions": [asdict(one) for one in found.interactions],
    }


def _trial(outcome: Outcome, elo: Elo | None) -> dict[str, Any]:
    return {
        "trial": outcome.number,
        "state": outcome.state,
        "values": dict(outcome.values),
        "elo": None if elo is None else elo.elo,
        "low": None if elo is None else elo.low,
        "high": None if elo is None else elo.high,
        "minutes": outcome.minutes,
        "loss": outcome.loss,
        "iterations": outcome.iterations,
        "reason": outcome.reason,
    }


def facts_of(found: Findings) -> dict[str, str]:
    """What the sweep is, in a few numbers."""
    plan = found.plan
    counts = Counter(outcome.state for outcome in found.outcomes)
    return {
        "trials": f"{len(found.outcomes)} ({counts[COMPLETE]} finished, {counts[PRUNED]} stopped early,"
        f" {counts[FAILED]} failed)",
        "space": plan.space.name,
        "chosen by": plan.sampler,
        "objectives": ", ".join(plan.objectives),
        "games against each": str(plan.games),
        "minutes of all runs": f"{sum(outcome.minutes for outcome in found.outcomes):.0f}",
    }


def make_page(folder: Path) -> str:
    found = find(folder)
    plan, facts = found.plan, facts_of(found)
    return fill_page(
        "sweep.html",
        [],
        name=escape(folder.resolve().name),
        game=escape(plan.base.game),
        anchor=escape(plan.anchors[0] if plan.anchors else "the mean"),
        facts="".join(f"<div><b>{escape(value)}</b><span>{escape(key)}</span></div>" for key, value in facts.items()),
        figures="\n".join(map(_figure, figures_of(found))),
        interactions=_interaction_table(found.interactions),
        trials=_table(trial_rows(found), set(map(str, found.front))),
    )


@dataclass(frozen=True)
class Figure:
    """A picture with its words."""

    title: str
    caption: str
    svg: str
    wide: bool = False


def figures_of(found: Findings) -> Iterator[Figure]:
    """The pictures of a sweep, those that its trials suffice for."""
    parameters, outcomes = found.plan.space.parameters, found.outcomes
    costs = {outcome.number: outcome.minutes for outcome in outcomes}
    if found.elos:
        yield Figure(
            "Strength and time",
            "Every trial with its 95 % interval; the line is the Pareto front, numbers are trials. Its best points are"
            " partly lucky: intervals say how much.",
            pareto_plot(costs, found.elos, found.front),
        )
    if found.correlations:
        yield Figure(
            "Rank correlations",
            "Whether an objective rises with a setting. An interval that leaves out 0 is a clear answer.",
            correlation_plot(found.correlations),
        )
    if found.importances:
        yield Figure(
            "Importances",
            "fANOVA: the share of an objective's variance that a setting alone explains, in the ranges of this space.",
            importance_plot(found.importances),
        )
    if found.elos:
        drawn = slice_plot(parameters, outcomes, found.elos)
        yield Figure("Slices", "Elo over each setting, all trials.", drawn, wide=True)
        drawn = parallel_plot(parameters, outcomes, found.elos)
        yield Figure("Parallel coordinates", "Every trial a line through its settings.", drawn, wide=True)


def _figure(one: Figure) -> str:
    mark = ' class="wide"' if one.wide else ""
    return f"<figure{mark}><h3>{escape(one.title)}</h3>{one.svg}<figcaption>{escape(one.caption)}</figcaption></figure>"


def _interaction_table(found: Sequence[Interaction]) -> str:
    if not found:
        return "<p>Too few trials, or a design in which settings do not vary together.</p>"
    rows = [("settings", "objective", "effect", "95 %")]
    for one in found[:MOST_INTERACTIONS]:
        digits = ".0f" if one.objective == "elo" else ".3g"
        interval = f"{format(one.low, digits)} to {format(one.high, digits)}"
        rows.append((f"{short(one.one)} × {short(one.other)}", one.objective, format(one.effect, digits), interval))
    return _table(rows)


def trial_rows(found: Findings) -> list[tuple[str, ...]]:
    """Headings, then a row for each trial, the strongest first."""
    names = [parameter.name for parameter in found.plan.space.parameters]
    rows: list[tuple[str, ...]] = [("trial", "Elo", "95 %", "minutes", "loss", *map(short, names), "")]
    order = sorted(found.outcomes, key=lambda one: -found.elos[one.number].elo if one.number in found.elos else 1e9)
    for outcome in order:
        elo = found.elos.get(outcome.number)
        strength = ("", "") if elo is None else (f"{elo.elo:.0f}", f"{elo.low:.0f} to {elo.high:.0f}")
        values = [_shown(outcome.values[name]) for name in names]
        loss = "" if outcome.loss is None else f"{outcome.loss:.3f}"
        words = "" if outcome.state == COMPLETE else f"{outcome.state}: {outcome.reason}"
        rows.append((str(outcome.number), *strength, f"{outcome.minutes:.2f}", loss, *values, words))
    return rows


def _table(rows: Sequence[Sequence[str]], marked: set[str] | None = None) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = ""
    for row in rows[1:]:
        mark = ' class="front"' if marked and row[0] in marked else ""
        body += f"<tr{mark}>" + "".join(f'<td class="number">{escape(cell)}</td>' for cell in row) + "</tr>"
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
