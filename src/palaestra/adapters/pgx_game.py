"""Games of PGX: `pgx:gardner_chess`, `pgx:shogi`, `pgx:go_9x9`; all for two players, without chance and hidden things.

PGX's rules are JAX functions of one state; they are compiled for batches of a few sizes, and smaller batches are filled
up with copies of their first row. A state is the row of `pgx_rows`. The player who moves first is the first player.
Knows no players and no search.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.adapters.pgx_names import EXAMPLE, GAMES, REFUSED
from palaestra.adapters.pgx_rows import Layout
from palaestra.adapters.pgx_text import board_of, move_text
from palaestra.base.errors import GameError
from palaestra.base.jit import allocating, cache_root
from palaestra.base.packages import need
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, Playouts, pick_rows
from palaestra.games.rows import HEADER, ONGOING
from palaestra.games.svg import Spot
from palaestra.games.text_board import TextBoard, cell_names

SIZES = (4, 16, 64, 256)  # batches that are compiled; larger ones are cut


@lru_cache(maxsize=16)
def make(id: str) -> PgxGame:
    """The game of `pgx:NAME`; GameError if there is none."""
    name = id.partition(":")[2].strip()
    if name.startswith("minatar") or name in REFUSED:
        reason = REFUSED.get(name, "chance decides something")
        raise GameError(f"pgx:{name} is not a game here: {reason}; for example {EXAMPLE}")
    if name not in GAMES:
        raise GameError(
            f"{clip(id)} is not a game of PGX{did_you_mean(name, GAMES)}; known: {', '.join(GAMES)}; for example"
            f" {EXAMPLE}"
        )
    need("jax", "pgx", f"pgx:{name}", GameError)
    pgx = need("pgx", "pgx", f"pgx:{name}", GameError)
    _keep_compiled()
    environment = pgx.make(name)
    first = _first(environment)
    facts, planes = GAMES[name], np.asarray(first.observation).shape
    layout, actions = Layout(first), first.legal_action_mask.shape[0]
    last = not (planes[0] > planes[1] == planes[2])  # whether channels come last
    game = PgxGame(
        id=f"pgx:{name}",
        num_actions=actions,
        max_plies=facts.max_plies,
        max_legal=facts.max_legal or actions,
        state_size=layout.state_size,
        observation_shape=(planes[2], planes[0], planes[1]) if last else (planes[0], planes[1], planes[2]),
        goal=f"The rules are those of PGX's {name}, {environment.version}.",
        version=int(environment.version.lstrip("v")) + 1,
        name=name,
        environment=environment,
        layout=layout,
        first=first,
        channels_last=last,
    )
    object.__setattr__(game, "made_from", game.id)
    return game


def _first(environment: Any) -> Any:
    """The initial state in which player 0 moves: PGX draws who does."""
    import jax

    begin = jax.jit(environment.init)
    return next(state for seed in range(64) if int((state := begin(jax.random.PRNGKey(seed))).current_player) == 0)


def _keep_compiled() -> None:
    """Let JAX keep compiled code beside ours, where only the user can write; compiling takes seconds."""
    import jax

    if jax.config.jax_compilation_cache_dir or os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    folder = cache_root() / "jax"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


@dataclass(frozen=True, eq=False, kw_only=True)
class PgxGame(Game):
    """A game of PGX with the batch interface of a Game; made by `make`."""

    name: str  # PGX's
    environment: Any  # pgx.Env
    layout: Layout
    first: Any  # the initial state
    channels_last: bool

    # PGX's functions, compiled.

    @cached_property
    def _stepped(self) -> Callable[[Any, Any], Any]:
        import jax

        def one(state: Any, action: Any) -> Any:
            after = self.environment.step(state, action)
            return after.replace(observation=state.observation)  # nobody asked: so it is not computed

        return jax.jit(jax.vmap(one))

    @cached_property
    def _observed(self) -> Callable[[Any], Any]:
        import jax

        return jax.jit(jax.vmap(self.environment.observe))

    def _arrays(self, state: Any, count: int) -> list[NDArray[Any]]:
        """The first `count` states of a batch as arrays in the order of the layout."""
        import jax

        return [np.asarray(leaf)[:count] for leaf in jax.tree_util.tree_leaves(state)]

    # Rules.

    def start(self, choices: Int64s) -> Int8s:
        import jax

        arrays = [np.asarray(leaf)[None] for leaf in jax.tree_util.tree_leaves(self.first)]
        header = np.zeros((1, HEADER), dtype=np.int8)
        header[:, 4:8] = np.array([ONGOING], dtype=np.int32).view(np.int8)
        return np.repeat(self.layout.rows(arrays, header), len(choices), axis=0)

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        chosen = np.ascontiguousarray(actions, dtype=np.int32)
        parts = [
            self._advance(states[at : at + SIZES[-1]], chosen[at : at + SIZES[-1]])
            for at in range(0, len(states), SIZES[-1])
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.state_size), dtype=np.int8)

    def _advance(self, states: Int8s, actions: Int32s) -> Int8s:
        batch = _filled(len(states))
        after = self._stepped(self.layout.state(_padded(states, batch)), _padded(actions, batch))
        return self._rows(after, self.plies(states) + 1)

    def _rows(self, after: Any, plies: Int32s) -> Int8s:
        """Rows of the first states of a batch that was stepped."""
        count = len(plies)
        over = np.asarray(after.terminated)[:count] | (plies >= self.max_plies)
        outcomes = np.where(over, np.sign(np.asarray(after.rewards)[:count, 0]), ONGOING).astype(np.int32)
        headers = np.zeros((count, HEADER), dtype=np.int8)
        headers[:, 0] = np.where(over, 0, np.asarray(after.current_player)[:count])
        headers[:, 2:4] = plies.astype(np.int16)[:, None].view(np.int8)
        headers[:, 4:8] = outcomes[:, None].view(np.int8)
        return self.layout.rows(self._arrays(after, count), headers)

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        masks = self.layout.masks(states) & (self.outcome(states) == ONGOING)[:, None]
        return self._listed(masks)

    def _listed(self, masks: NDArray[np.bool_]) -> tuple[Int32s, Int32s]:
        counts, actions = list_actions(masks, self.max_legal)
        if counts.max(initial=0) > self.max_legal:
            raise GameError(f"{self.id}: {counts.max()} actions are legal; at most {self.max_legal} were expected")
        return counts, actions

    def observe(self, states: Int8s) -> Float32s:
        planes = np.empty((len(states), *self.observation_shape), dtype=np.float32)
        for at in range(0, len(states), SIZES[-1]):
            part = states[at : at + SIZES[-1]]
            seen = np.asarray(self._observed(self.layout.state(_padded(part, _filled(len(part))))))[: len(part)]
            planes[at : at + len(part)] = np.moveaxis(seen, -1, 1) if self.channels_last else seen
        return planes

    def rollout(self, states: Int8s, streams: UInt64s, trace: bool = False) -> Playouts:
        """In lockstep, in the form that PGX gives: rows are made of a game when it is over."""
        ends = np.array(states, dtype=np.int8, order="C")
        lengths = np.zeros(len(states), dtype=np.int32)
        moves = np.zeros((len(states), self.max_plies if trace else 0), dtype=np.int32)
        movers = np.zeros(moves.shape, dtype=np.int8)
        running = np.flatnonzero(self.outcome(states) == ONGOING)
        for at in range(0, len(running), SIZES[-1]):
            self._play_out(ends, streams, running[at : at + SIZES[-1]], (lengths, moves, movers))
        if not trace:
            return Playouts(ends, self.outcome(ends))
        return Playouts(ends, self.outcome(ends), lengths, moves, movers)

    def _play_out(self, ends: Int8s, streams: UInt64s, running: Int64s, record: tuple[Int32s, Int32s, Int8s]) -> None:
        """Play the rows `running` of `ends` to their ends, in place; at most one batch."""
        import jax

        lengths, moves, movers = record
        batch = _filled(len(running))
        state = self.layout.state(_padded(ends[running], batch))
        plies = self.plies(ends[running])
        while running.size:
            if _filled(len(running)) < batch:  # enough are over for a smaller batch
                batch = _filled(len(running))
                state = jax.tree_util.tree_map(lambda leaf, size=batch: leaf[:size], state)
            counts, listed = self._listed(np.asarray(state.legal_action_mask)[: len(running)])
            chosen = pick_rows(counts, listed, streams, running)
            if moves.shape[1]:
                moves[running, lengths[running]] = chosen
                movers[running, lengths[running]] = np.asarray(state.current_player)[: len(running)]
            lengths[running] += 1
            plies = plies + 1
            state = self._stepped(state, _padded(chosen, batch))
            over = np.asarray(state.terminated)[: len(running)] | (plies >= self.max_plies)
            if over.any():
                ends[running[over]] = self._rows(state, plies)[over]
                kept = np.flatnonzero(~over)
                order = _padded(kept, batch) if kept.size else np.zeros(batch, dtype=np.int64)
                state = jax.tree_util.tree_map(lambda leaf, order=order: np.asarray(leaf)[order], state)
                running, plies = running[~over], plies[~over]

    # Text and drawings.

    def _one(self, state: Int8s) -> Any:
        import jax

        return jax.tree_util.tree_map(lambda leaf: leaf[0], self.layout.state(state[None]))

    def action_to_text(self, state: Int8s, action: int) -> str:
        return move_text(self.name, self._one(state), int(state[0]), int(action))

    def board(self, state: Int8s) -> TextBoard:
        return board_of(self.name, self._one(state), self._turned(state), self.observe(state[None])[0])

    def _turned(self, state: Int8s) -> int:
        """Whether PGX has turned the board; also after the end, where the header names no mover."""
        return int(self.plies(state[None])[0]) % 2

    def render(self, state: Int8s) -> str:
        return self.board(state).text()

    def svg(self, state: Int8s) -> str:
        return self.board(state).svg()

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        board, text = self.board(drawn), self.action_to_text(state, action)
        if self.name == "connect_four":
            cells = self.board(state).cells
            free = [row for row, cell in enumerate(cells) if not cell[action]]
            return board.spot([(free[-1], action)] if free else [])
        return board.spot([place for name in cell_names(text) if (place := board.find(name)) is not None])


def _filled(count: int) -> int:
    """The smallest compiled batch with room for so many rows."""
    return next(size for size in SIZES if size >= count)


def _padded(rows: NDArray[Any], size: int) -> NDArray[Any]:
    """Rows, and copies of the first one up to `size`."""
    return np.concatenate([rows, np.repeat(rows[:1], size - len(rows), axis=0)])


@allocating
def list_actions(masks: NDArray[np.bool_], most: int) -> tuple[Int32s, Int32s]:
    """counts int32[B] and actions int32[B, most] of masks bool[B, A]."""
    counts = np.zeros(masks.shape[0], dtype=np.int32)
    actions = np.zeros((masks.shape[0], most), dtype=np.int32)
    for row in range(masks.shape[0]):
        for action in range(masks.shape[1]):
            if masks[row, action]:
                if counts[row] < most:
                    actions[row, counts[row]] = action
                counts[row] += 1
    return counts, actions
