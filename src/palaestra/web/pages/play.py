"""The page "Play", with what players think of the position: a game at the board, also the first page that one sees."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from importlib.resources import files

from nicegui import app, background_tasks, events, ui
from starlette.requests import Request

from palaestra.base.errors import PalaestraError, WorkError
from palaestra.base.printable import printable
from palaestra.runs.folder import MANIFEST
from palaestra.web import thoughts
from palaestra.web.address import USUAL_GAME, Address
from palaestra.web.frame import frame
from palaestra.web.frame import page as served
from palaestra.web.game_names import canonical, find_game, make_ready
from palaestra.web.house import House
from palaestra.web.opponents import find_agents
from palaestra.web.play_view import PlayView
from palaestra.web.role_view import RoleView

READY = 1.5  # seconds that a page waits for its game before it is shown without
WARM = 2  # processes of each kind that are started before somebody comes
# Keys that no field, list or slider wants are the board's; a space on a button is the button's.
_KEYS = """
<script>
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.target instanceof Element)) return;
    const fields = "input, textarea, select, [role=slider], [role=listbox], [role=combobox], [role=dialog]";
    if (e.target.closest(fields)) return;
    const keys = ["ArrowLeft", "ArrowRight", "Home", "End", "u", "h", " "];
    if (!keys.includes(e.key) || (e.key === " " && e.target.closest("button, a, [role=button], [role=switch]"))) return;
    e.preventDefault();
    emitEvent("palaestra-key", e.key);
  });
</script>
"""


def register(house: House) -> None:
    @served("/play")
    async def page(request: Request) -> None:
        await _build(house, dict(request.query_params), front=False)

    @served("/")
    async def front(request: Request) -> None:
        await _build(house, dict(request.query_params), front=True)

    async def warm() -> None:
        """The first visitor finds that everything which the usual game needs is loaded, here and in processes."""
        with contextlib.suppress(WorkError):
            pools = [pool for pool in (house.moves, house.analyses) for _ in range(min(WARM, house.searches))]
            here = make_ready(house, USUAL_GAME, await asyncio.to_thread(house.allowed.game, USUAL_GAME))
            await asyncio.gather(here, *(pool.ask(thoughts.warm, USUAL_GAME) for pool in pools))

    app.on_startup(lambda: background_tasks.create(warm(), name="warm"))


async def _build(house: House, given: Mapping[str, str], *, front: bool) -> None:
    ui.add_head_html(f"<style>{(files('palaestra.web') / 'play.css').read_text(encoding='utf-8')}</style>{_KEYS}")
    with frame("" if front else "Play", "Play"):
        with ui.element("div").classes("p-wide") as place:
            waiting = ui.spinner(size="lg")
        task = background_tasks.create(_fill(house, given, front), name="play", context=place)
        task.add_done_callback(lambda _: waiting.delete())
        await asyncio.wait({task}, timeout=READY)


async def _fill(house: House, given: Mapping[str, str], front: bool) -> None:
    """The game that the address names; where it names none, why, and the usual game."""
    alone = front and not any(house.runs.glob(f"*/{MANIFEST}"))
    try:
        await _open(house, Address.read(given), alone)
    except PalaestraError as error:
        label = ui.label(printable(str(error))).classes("p-card p-wide").props('role="alert"')
        label.style("color: var(--bad); margin-bottom: 12px")
        await _open(house, Address(), alone)


async def _open(house: House, address: Address, alone: bool) -> None:
    game = await asyncio.to_thread(find_game, house, address.game)
    text = canonical(house, address.game)
    if game is None:
        view: PlayView | RoleView = await RoleView.open(house, text, address)
    else:
        await make_ready(house, text, game)
        agents = await asyncio.to_thread(find_agents, house.runs, game)
        async with house.building:
            view = PlayView(house, text, game, agents, address, alone)
            await asyncio.sleep(0)
        if address.think is not None:
            view.thinking.begin(address.think)
    client = ui.context.client

    def leave() -> None:
        if not client.has_socket_connection:
            view.close()

    client.on_disconnect(leave)
    client.on_delete(view.close)
    client.on_connect(view.wake)

    async def key(event: events.GenericEventArguments) -> None:
        if isinstance(event.args, str):
            await view.key(event.args)

    ui.on("palaestra-key", key)
