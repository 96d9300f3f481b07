"""The page "Watch": runs in a table, one run as it learns, several over each other, and a form that starts one."""

from __future__ import annotations

from nicegui import ui

from palaestra.base.printable import printable
from palaestra.web.frame import frame
from palaestra.web.frame import page as served
from palaestra.web.house import House
from palaestra.web.run_view import RunView
from palaestra.web.runs_view import RunsView
from palaestra.web.train_form import TrainForm
from palaestra.web.watch_parts import style
from palaestra.web.watched import Watchers
from palaestra.web.watching import SeenRun, SeenRuns, watched_run, watched_runs


def register(house: House) -> None:
    runs: Watchers[SeenRun] = Watchers(lambda name: watched_run(house, name))
    lists: Watchers[SeenRuns] = Watchers(lambda name: watched_runs(house))

    @served("/watch")
    def table() -> None:
        with frame("Runs", "Watch"):
            style()
            given = ui.context.client.request.query_params.get("runs", "")[:2000]
            view = RunsView(house, runs, [name for name in given.split(",") if name])
            lists.tell("all", view.show)

    @served("/watch/{name}")
    def one(name: str) -> None:
        with frame(printable(name[:200]), "Watch"):
            style()
            view = RunView(house, name)
            if view.is_known:
                runs.tell(name, view.show)

    @served("/train")
    def train(game: str = "") -> None:
        with frame("Train", "Watch"):
            style()
            TrainForm(house, game)
