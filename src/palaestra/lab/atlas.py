"""One HTML page about a folder of results: a row for every claim, then every figure and table. It needs only itself.

Verdicts and tables are computed anew from each data.csv. Experiments are those of the package, and those that are
given: a folder never names code to be loaded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from palaestra.base.atomic import write_file
from palaestra.base.errors import RunError
from palaestra.base.printable import escape
from palaestra.base.reading import MOST_BYTES, read_bytes
from palaestra.lab.catalogue import RESULTS, declared
from palaestra.lab.experiment import SCALES, Experiment, Table
from palaestra.lab.plan import Plan
from palaestra.lab.reproduce import DATA, FIGURE, SETTINGS, Outcome, read_outcome, read_settings

PAGE = "atlas.html"


def write_atlas(folder: Path, own: Sequence[Experiment] = ()) -> Path:
    """Write atlas.html into a folder of results, and return its path. RunError if there is none in it."""
    outcomes = read_outcomes(folder, own)
    page = Template(_text("atlas.html")).substitute(
        style=_text("page.css"),
        facts=_facts(outcomes),
        claims="\n".join(row for outcome in outcomes for row in _claims(outcome)),
        sections="\n".join(map(_section, outcomes)),
        missing=_missing(outcomes),
    )
    write_file(folder / PAGE, page.encode())
    return folder / PAGE


def read_outcomes(folder: Path, own: Sequence[Experiment] = ()) -> list[Outcome]:
    """What the experiments' folders below a folder hold, in the order of the works."""
    known = {**declared(), **{one.id: one for one in own}}
    if not folder.is_dir():
        raise RunError(f"{folder} is no folder of results; palaestra reproduce ID --out {folder} makes one")
    there = {path.parent.name: path.parent for path in folder.glob(f"*/{SETTINGS}")}
    if strange := sorted(set(there) - set(known)):
        raise RunError(
            f"{there[strange[0]]} is of the experiment {strange[0]}, which is unknown here; if it is your own, name it:"
            f" palaestra reproduce my:EXPERIMENT --page {folder}"
        )
    if not there:
        raise RunError(f"{folder} holds no results; palaestra reproduce ID --out {folder} makes some")
    return [read_outcome(stored_plan(known[id], there[id]), there[id]) for id in known if id in there]


def stored_plan(experiment: Experiment, folder: Path) -> Plan:
    """The plan that a folder was made by."""
    settings = read_settings(folder)
    scale, seeds = settings.get("scale"), settings.get("seeds")
    if settings.get("experiment") != experiment.id or scale not in SCALES or not isinstance(seeds, list):
        raise RunError(f"{folder / SETTINGS} is not that of {experiment.id}")
    sets, boards = tuple(settings.get("sets", ())), tuple(settings.get("boards", ()))
    return Plan(experiment, scale, tuple(seeds), settings.get("values", {}), sets, boards)


def command_of(plan: Plan) -> str:
    """What to type to get the same."""
    changed = [f"{name}={value}" for name, value in plan.values.items() if plan.scale.values.get(name) != value]
    words = [f"palaestra reproduce {plan.experiment.id} --scale {plan.scale_name} --seeds {len(plan.seeds)}"]
    words += [f"--board {board}" for board in plan.boards]
    return " ".join([*words, *(f"--set {text}" for text in (*changed, *plan.sets))])


def _facts(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(verdict.answer for outcome in outcomes for _, verdict in outcome.verdicts)
    done = {outcome.plan.experiment.id for outcome in outcomes}
    facts = {
        "results of the works": f"{sum(one.id in done for one in RESULTS)} of {len(RESULTS)}",
        "claims that hold": str(counts["holds"]),
        "that fail": str(counts["fails"]),
        "open": str(counts["open"]),
        "hours of computing": f"{sum(outcome.seconds for outcome in outcomes) / 3600:.1f}",
    }
    return "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in facts.items())


def _claims(outcome: Outcome) -> list[str]:
    id = outcome.plan.experiment.id
    return [
        f'<tr><td class="id"><a href="#{escape(id)}">{escape(id)}</a></td><td class="claim">{escape(claim.text)}'
        f"{' <span class=dim>(ours)</span>' if claim.ours else ''}</td>"
        f'<td><span class="{verdict.answer}">{verdict.answer}</span></td>'
        f'<td class="figure">{escape(str(verdict.estimate))}</td><td>{escape(verdict.what)}</td>'
        f'<td><a href="{escape(f"{outcome.folder.name}/{DATA}")}">CSV</a></td></tr>'
        for claim, verdict in outcome.verdicts
    ]


def _section(outcome: Outcome) -> str:
    plan, experiment = outcome.plan, outcome.plan.experiment
    identity = experiment.identity
    number = f"{identity.number}, {identity.work}"
    reading = f"<p>Reading taken: {escape(experiment.reading)}.</p>" if experiment.reading else ""
    sources = sorted({one.source for one in experiment.published})
    known = f"<p>Published numbers: {escape('; '.join(sources))}.</p>" if sources else ""
    return (
        f'<section id="{escape(identity.id)}"><h3>{escape(number)}: {escape(identity.caption)}</h3>'
        f"<p>Scale {plan.scale_name}: {escape(outcome.departs)}. {len(plan.seeds)} seed{'s' * (len(plan.seeds) > 1)}, "
        f"{outcome.seconds / 60:.1f} minutes of computing. <code>{escape(command_of(plan))}</code></p>{reading}{known}"
        f"<figure>{_svg(outcome)}</figure>"
        f"<details><summary>Table</summary>{_html(outcome.table)}</details></section>"
    )


def _svg(outcome: Outcome) -> str:
    """The figure inline; its identifiers are told from those of other figures by the experiment's id."""
    path = outcome.folder / f"{FIGURE}.svg"
    try:
        text = read_bytes(path, MOST_BYTES).decode()
        body = text[text.index("<svg") :]
    except (OSError, ValueError):
        raise RunError(f"{path} is damaged or missing; give the experiment's command again, which draws it") from None
    prefix = re.sub(r"[^a-z0-9]", "-", outcome.plan.experiment.id.lower())
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}-", body)


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.headings)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _missing(outcomes: Sequence[Outcome]) -> str:
    done = {outcome.plan.experiment.id for outcome in outcomes}
    there = declared()
    return "\n".join(
        f"<tr><th>{escape(one.id)}</th><td>{escape(one.caption)}</td>"
        f"<td>{'not run' if one.id in there else 'not declared'}</td></tr>"
        for one in RESULTS
        if one.id not in done
    )


def _text(name: str) -> str:
    return files("palaestra.lab").joinpath(name).read_text(encoding="utf-8")
