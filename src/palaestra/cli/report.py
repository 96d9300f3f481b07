"""`palaestra report`: one HTML page about a run."""

from __future__ import annotations

from typing import Annotated

import typer

from palaestra.base.errors import RecordError
from palaestra.cli.options import Json, RunName, StoredGame


def report(
    run: RunName,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the page; report.html in the run's folder by default.",
            show_default=False,
        ),
    ] = None,
    game: StoredGame = None,
    json: Json = False,
) -> None:
    """Write one page with a run's plots, its settings and a few games to step through; it needs no network."""
    from pathlib import Path

    from palaestra.cli.output import print_json, say
    from palaestra.lab.report import make_report
    from palaestra.runs.places import find_run

    folder = find_run(run)
    page = make_report(folder, game)
    path = folder / "report.html" if out is None else Path(out)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"cannot write {path} ({reason}); choose a file with --out FILE") from None
    if json:
        print_json({"run": str(folder), "path": str(path), "bytes": len(page.encode())})
    else:
        say(f"{path}: {len(page.encode()) / 1e6:.1f} MB, open it in a browser")
