"""Do the jobs of experiments and write what they give: one folder an experiment below OUT.

    OUT/ID/data.csv        one row an observation; all below is computed from it
    OUT/ID/table.md        the table, then the verdicts
    OUT/ID/figure.svg, .png
    OUT/ID/verdicts.json   every claim with verdict, figure and interval; published numbers and where they were read
    OUT/ID/settings.toml   scale, seeds and settings; versions.json: rules of games, this program, libraries; seconds

Jobs write into OUT first (`jobs`), so everything can be stopped at any time and goes on when asked for again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import RunError
from palaestra.base.reading import MOST_TEXT, MOST_TOML, parse_json, parse_toml, read_bytes
from palaestra.lab.costs import Costs
from palaestra.lab.data import Data, Row, read_csv
from palaestra.lab.experiment import Claim, Table, Verdict
from palaestra.lab.jobs import Call, Job, Store, Train, game_version, with_needs
from palaestra.lab.plan import Plan
from palaestra.learn.provenance import about_program
from palaestra.learn.toml import dump_toml
from palaestra.work.jobs import Job as Piece
from palaestra.work.workers import Workers

DATA, TABLE, FIGURE, VERDICTS = "data.csv", "table.md", "figure", "verdicts.json"
SETTINGS, VERSIONS = "settings.toml", "versions.json"


@dataclass(frozen=True)
class Progress:
    """How far the jobs are: whole jobs done, all of them, what is under way, and the seconds that are left."""

    done: int
    jobs: int
    share: float  # of all work, from 0 to 1
    under_way: tuple[str, ...]
    seconds_left: float | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an experiment has given."""

    plan: Plan
    folder: Path
    data: Data
    table: Table
    verdicts: tuple[tuple[Claim, Verdict], ...]
    seconds: float
    departs: str  # how the scale departed from the published settings when this was measured

    def as_json(self) -> dict[str, Any]:
        identity, plan = self.plan.experiment.identity, self.plan
        return {
            "experiment": identity.id,
            "work": identity.work,
            "number": identity.number,
            "caption": identity.caption,
            "scale": plan.scale_name,
            "departs": self.departs,
            "seeds": list(plan.seeds),
            "values": dict(plan.values),
            "folder": str(self.folder),
            "seconds": self.seconds,
            "rows": len(self.data),
            "verdicts": [verdict_json(claim, verdict) for claim, verdict in self.verdicts],
        }


def jobs_of(plans: Sequence[Plan]) -> list[Job]:
    """All jobs, each once: runs first, because others need them. Of a run that one reads to its end, that one."""
    found: dict[Hashable, Job] = {}
    for plan in plans:
        for measure in plan.experiment.measures:
            for job in measure.jobs(plan):
                for one in with_needs(job):
                    same = one.same
                    before = found.get(same)
                    if not isinstance(before, Train) or before.until is not None:
                        found[same] = one
    return sorted(found.values(), key=_turn)


def _turn(job: Job) -> int:
    """When a job is due: runs, then those that start with the network of another, then calls, which look at runs."""
    return 2 if isinstance(job, Call) else int(job.after is not None)


def do_jobs(store: Store, jobs: Sequence[Job], workers: Workers, listen: Callable[[Progress], None]) -> None:
    """Do all that is not done yet; a stop at any moment loses no finished job, and of a run one iteration at most."""
    shares = {job.key: store.share(job) for job in jobs}
    weights = _weights(jobs)
    whole, began, words = sum(weights.values()) or 1.0, time.monotonic(), dict[str, str]()

    def share_of_all() -> float:
        return sum(weights[key] * share for key, share in shares.items()) / whole

    first = share_of_all()

    def tell() -> None:
        share = share_of_all()
        rate = (share - first) / max(time.monotonic() - began, 1e-9)
        left = (1.0 - share) / rate if rate > 0 else None
        done = sum(one >= 1.0 for one in shares.values())
        listen(Progress(done, len(jobs), share, tuple(words.values()), left))

    members: dict[str, list[str]] = {}  # the jobs of a piece of work

    def heard(piece: Piece, share: float, said: str) -> None:
        shares.update(dict.fromkeys(members[piece.key], min(share, 0.999)))
        words[piece.key] = said
        tell()

    tell()
    for turn in range(3):
        pieces = _pieces(store, [j for j in jobs if _turn(j) == turn and shares[j.key] < 1.0], workers.count)
        members = {piece.key: keys for piece, keys in pieces}
        for piece, _ in workers.run([piece for piece, _ in pieces], heard):
            shares.update(dict.fromkeys(members[piece.key], 1.0))
            words.pop(piece.key, None)
            tell()


def _pieces(store: Store, jobs: Sequence[Job], workers: int) -> list[tuple[Piece, list[str]]]:
    """The jobs as pieces of work, with the keys of each: calls of a batch together, shared among idle workers."""
    batches: dict[tuple[object, str], list[Call]] = {}
    found: list[tuple[Piece, list[str]]] = []
    for job in jobs:
        if isinstance(job, Call) and job.batch is not None:
            batches.setdefault((job.batch.function, job.batch.name), []).append(job)
        else:
            found.append((Piece(job.key, store.do, (job,)), [job.key]))
    for calls in batches.values():
        parts = min(len(calls), -(-workers // len(batches)))
        for number in range(parts):
            some = calls[number * len(calls) // parts : (number + 1) * len(calls) // parts]
            found.append((Piece(f"{some[0].key} and others", store.do_batch, (some,)), [job.key for job in some]))
    return found


def _weights(jobs: Sequence[Job]) -> dict[str, float]:
    """How much of all work each job is: its seconds where all are known, otherwise all alike."""
    costs = Costs()
    seconds = {job.key: costs.seconds(job) for job in jobs}
    known = {key: max(one, 0.1) for key, one in seconds.items() if one is not None}
    return known if len(known) == len(seconds) else dict.fromkeys(seconds, 1.0)


def conclude(plan: Plan, store: Store) -> Outcome:
    """Write the experiment's folder from its finished jobs."""
    experiment, folder = plan.experiment, store.out / plan.experiment.id
    make_folder(folder)
    rows: list[Row] = [
        {"measured": measure.name, **row} for measure in experiment.measures for row in measure.rows(plan, store)
    ]
    write_file(folder / DATA, Data.of(rows).to_csv())
    seconds = sum(store.seconds(job) for job in jobs_of([plan]))
    write_file(folder / SETTINGS, dump_toml(settings_of(plan)).encode())
    write_file(folder / VERSIONS, _json({**versions_of(plan), "seconds": seconds}))
    outcome = read_outcome(plan, folder)
    draw(outcome)
    write_file(folder / TABLE, table_text(outcome).encode())
    published = [{**one.__dict__, "source": one.source} for one in experiment.published]
    write_file(folder / VERDICTS, _json({**outcome.as_json(), "published": published}))
    return outcome


def read_outcome(plan: Plan, folder: Path) -> Outcome:
    """What a finished folder holds; table and verdicts are computed from its data, never read."""
    data = read_csv(folder / DATA)
    versions = _read_json(folder / VERSIONS)
    checked = ((claim, claim.check(data)) for claim in plan.experiment.claims)
    if plan.scale_name == "smoke":  # it shows that everything works, and decides nothing
        checked = ((claim, replace(verdict, answer="open")) for claim, verdict in checked)
    verdicts = tuple(checked)
    departs, seconds = str(read_settings(folder).get("departs", "")), float(versions.get("seconds", 0.0))
    return Outcome(plan, folder, data, plan.experiment.table(data), verdicts, seconds, departs)


def draw(outcome: Outcome) -> None:
    """The figure, as SVG and PNG."""
    from palaestra.lab.rating_plots import save_figure

    figure = outcome.plan.experiment.draw(outcome.data)
    for ending in ("svg", "png"):
        save_figure(figure, outcome.folder / f"{FIGURE}.{ending}")


def table_text(outcome: Outcome) -> str:
    """table.md: what it is, the table, the verdicts."""
    plan, identity = outcome.plan, outcome.plan.experiment.identity
    lines = [
        f"# {identity.number} of {identity.work}: {identity.caption}\n",
        f"Scale {plan.scale_name}: {outcome.departs}. Seeds: {len(plan.seeds)}. Intervals are 95 %.",
    ]
    if plan.experiment.reading:
        lines.append(f"Reading: {plan.experiment.reading}")
    parts = ["\n".join(lines) + "\n", outcome.table.markdown(), verdict_table(outcome.verdicts).markdown()]
    return "\n".join(parts)


def verdict_table(verdicts: Sequence[tuple[Claim, Verdict]]) -> Table:
    rows = tuple(
        (claim.text + (" (ours)" if claim.ours else ""), verdict.answer, str(verdict.estimate), verdict.what)
        for claim, verdict in verdicts
    )
    return Table(("claim", "verdict", "figure (95 %)", "of"), rows)


def verdict_json(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    from palaestra.arena.statistics import finite

    low, high = verdict.estimate.interval or (float("nan"), float("nan"))
    return {
        "claim": claim.text,
        "ours": claim.ours,
        "verdict": verdict.answer,
        "figure": finite(verdict.estimate.value),
        "low": finite(low),
        "high": finite(high),
        "what": verdict.what,
    }


# Folders that are there already.


def refuse_other(plan: Plan, out: Path) -> None:
    """RunError if the experiment's folder holds another experiment, scale or settings, or was made by other rules."""
    folder = out / plan.experiment.id
    if not (folder / SETTINGS).is_file():
        return
    there, wanted = read_settings(folder), settings_of(plan)
    for key in ("experiment", "scale", "values", "sets", "scale_sets", "board_sets"):
        if there.get(key) != wanted[key]:
            raise RunError(
                f"{folder} holds {there.get('experiment')} with {key} {_words(there.get(key))}, not"
                f" {_words(wanted[key])}; choose another folder, for example --out runs/again"
            )
    before, now = _read_json(folder / VERSIONS).get("games", {}), versions_of(plan)["games"]
    for game, version in now.items():
        if before.get(game, version) != version:
            raise RunError(
                f"{folder} was made with {before[game]}, and the rules are {version} now; choose another folder, for"
                " example --out runs/again: the old results stay as they are"
            )


def read_settings(folder: Path) -> dict[str, Any]:
    """settings.toml of a folder."""
    try:
        return parse_toml(read_bytes(folder / SETTINGS, MOST_TOML))
    except (OSError, ValueError):
        raise RunError(f"{folder / SETTINGS} is damaged or missing, so {folder} cannot be told to be ours") from None


def settings_of(plan: Plan) -> dict[str, Any]:
    """Everything that the plan chooses, as TOML can hold it."""
    return {
        "experiment": plan.experiment.id,
        "scale": plan.scale_name,
        "departs": plan.departs,
        "boards": list(plan.boards),
        "seeds": list(plan.seeds),
        "sets": list(plan.sets),
        "scale_sets": list(plan.scale.sets),
        "board_sets": {game: list(sets) for game, sets in plan.scale.board_sets.items()},
        "values": _known(plan.values),
        "arms": [
            {"name": arm.name, "game": arm.game, "sets": list(arm.sets), "values": _known(arm.values)}
            for arm in plan.arms
        ],
    }


def versions_of(plan: Plan) -> dict[str, Any]:
    """Versions of the games' rules, of this program and of what it stands on."""
    games = {arm.game: game_version(arm.game) for arm in plan.arms}
    return {"games": games, **about_program()}


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items()) or "none"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_bytes(path, MOST_TEXT))
        return dict(found)
    except (OSError, ValueError, TypeError):
        raise RunError(f"{path} is damaged or missing; give the experiment's command again, which writes it") from None
