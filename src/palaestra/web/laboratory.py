"""Where the results of the laboratory are, and the commands that make them: `palaestra reproduce ID --scale SCALE`.

    RUNS/reproduce-SCALE            what experiments leave behind (`lab.reproduce`)
    RUNS/reproduce-SCALE/.command   the command as it was started last; one at a time, because experiments share runs

What comes from a browser is an id and a scale. Nothing of it becomes a path.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from palaestra.base.errors import RunError
from palaestra.web import lab_questions
from palaestra.web.commands import Command, is_running
from palaestra.web.house import House
from palaestra.web.lab_questions import Jobs, checked_id, checked_scale

ATLAS = Path("docs") / "atlas"  # of the repository
EVERY = 1.5  # seconds between two looks at the jobs of an experiment, however many look


def home(house: House, scale: str) -> Path:
    return house.runs / f"reproduce-{checked_scale(scale)}"


def atlas() -> Path | None:
    """The results that come with the repository; None where there are none, as outside of one."""
    import palaestra

    roots = (Path(), Path(palaestra.__file__).parents[2])
    return next((root / ATLAS for root in roots if (root / ATLAS).is_dir()), None)


def folder_of_command(house: House, scale: str) -> Path:
    return home(house, scale) / ".command"


def figure(house: House, where: str, id: str) -> Path | None:
    """The picture of a result: made here at a scale, or of the atlas."""
    found = atlas() if where == "atlas" else home(house, where)
    return None if found is None else lab_questions.figure_file([found / checked_id(id)])


def start(house: House, id: str, scale: str) -> Command:
    """Start an experiment, or go on with it; RunError while another one of that scale is under way."""
    folder = folder_of_command(house, scale)
    if is_running(folder):
        raise RunError(f"{running(house, scale) or 'an experiment'} is under way at scale {scale}; stop it, or wait")
    return Command.start(["reproduce", checked_id(id), "--scale", scale, "--out", str(home(house, scale))], folder)


def running(house: House, scale: str) -> str | None:
    """The id of the experiment that is under way at a scale."""
    folder = folder_of_command(house, scale)
    last = Command.last(folder)
    return id_of(last) if last is not None and is_running(folder) else None


def id_of(command: Command | None) -> str | None:
    """The experiment of a command."""
    return command.words[1] if command is not None and len(command.words) > 1 else None


@dataclass
class JobsWatch:
    """The jobs of experiments under way, looked at once for all who want to know."""

    house: House
    _seen: dict[tuple[str, str], tuple[float, Jobs]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self, id: str, scale: str) -> Jobs:
        async with self._lock:
            when, jobs = self._seen.get((id, scale), (0.0, None))
            if jobs is None or time.monotonic() - when > EVERY:
                place = home(self.house, scale)
                jobs = await self.house.readings.ask(lab_questions.look_at_jobs, id, scale, place)
                self._seen = {(id, scale): (time.monotonic(), jobs)}
            return jobs
