"""Games of OpenSpiel: `openspiel:breakthrough(rows=6,columns=6)`, `openspiel:go(board_size=9)`, `openspiel:chess`.

Everything that OpenSpiel says is deterministic, of perfect information, for one player or for two who take turns and
win what the other loses (`openspiel_catalogue`). Rules, observations and texts are OpenSpiel's; batches, outcomes, the
bound on plies and drawings are made here. Whoever moves first is the first player: at chess that is White, whom
OpenSpiel calls player 1. Knows no players and no search.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from palaestra.adapters.openspiel_catalogue import library
from palaestra.adapters.openspiel_load import Loaded, load
from palaestra.adapters.openspiel_states import Histories
from palaestra.adapters.openspiel_symmetry import symmetries_of
from palaestra.adapters.openspiel_text import Writer, read_one, write_all, writer_of
from palaestra.base.errors import GameError, MoveError
from palaestra.base.jit import allocating, kernel
from palaestra.base.streams import next_word
from palaestra.base.text import clip, whole_number
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, Playouts, Tiebreak
from palaestra.games.rows import ONGOING
from palaestra.games.svg import Spot
from palaestra.games.symmetry import Symmetry
from palaestra.games.text_board import TextBoard, cell_names, read_board

CHUNK = 64  # random numbers of a row that are made at once
NO_MOVES = "-"  # the text of the initial position
_HEAD = struct.Struct("<bxhi")  # as in palaestra.games.rows
# Legal moves are at most: pieces times ways to go. Elsewhere as many as there are actions.
MOST_LEGAL = {
    "antichess": 16 * 27,
    "chess": 218,
    "crazyhouse": 31 * 27 + 5 * 64,
    "lines_of_action": 12 * 8,
    "shogi": 593,
    "xiangqi": 2 * (17 + 17 + 8 + 4 + 4) + 4 + 5 * 3,
}
FROM_ZERO, FROM_ONE = ("gomoku", "mnk", "tic_tac_toe", "xiangqi"), ("amazons",)  # how they number rows and columns


@lru_cache(maxsize=32)
def make(id: str) -> OpenSpielGame:
    """The game of `openspiel:NAME(parameters)`; GameError if there is none."""
    return _of(load(id))


def _of(loaded: Loaded) -> OpenSpielGame:
    spiel, first = loaded.spiel, loaded.first
    players, actions = spiel.num_players(), spiel.num_distinct_actions()
    lowest, highest = int(spiel.min_utility()), int(spiel.max_utility())
    most = highest - lowest if players == 1 else max(highest, -lowest)
    tiebreak: Tiebreak = "score" if players == 1 else "margin" if most > 1 else "none"
    game = OpenSpielGame(
        id=loaded.id,
        num_actions=actions,
        max_plies=loaded.max_plies,
        max_legal=min(actions, MOST_LEGAL.get(loaded.name, actions)),
        state_size=Histories(first, actions, loaded.max_plies).state_size,
        observation_shape=_shape(spiel),
        players=players,
        tiebreak=tiebreak,
        largest_outcome=max(1, most),
        goal=f"The rules are those of OpenSpiel's {spiel.get_type().long_name}.",
        name=loaded.name,
        spiel=spiel,
        first=first,
        first_player=first.current_player(),
    )
    game = replace(game, symmetries=symmetries_of(game, loaded.name))
    object.__setattr__(game, "made_from", loaded.id)
    return game


def _shape(spiel: Any) -> tuple[int, int, int]:
    """C×H×W of OpenSpiel's tensor, and for two players one plane more, which says whose turn it is."""
    kind = spiel.get_type()
    given = [spiel.num_distinct_actions()]
    if kind.provides_observation_tensor:
        given = list(spiel.observation_tensor_shape())
    if kind.short_name == "gomoku":  # cells lie in one row
        size = spiel.get_parameters()["size"]
        given = [given[0], given[1] // size, size]
    if len(given) == 2:
        given = [1, *given]
    channels, height, width = (given[0], 1, 1) if len(given) == 1 else (int(np.prod(given[:-2])), *given[-2:])
    return channels + (spiel.num_players() == 2), height, width


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenSpielGame(Game):
    """A game of OpenSpiel with the batch interface of a Game; made by `make`."""

    name: str  # OpenSpiel's
    spiel: Any  # pyspiel.Game
    first: Any  # the initial state, never changed
    first_player: int  # OpenSpiel's number of whoever moves first

    # OpenSpiel's states.

    @cached_property
    def histories(self) -> Histories:
        return Histories(self.first, self.num_actions, self.max_plies)

    def spiel_state(self, state: Int8s) -> Any:
        """OpenSpiel's own state for one row int8[S]: a copy."""
        return self._seen(state).clone()

    def from_spiel(self, spiel_state: Any) -> Int8s:
        """The row int8[S] of OpenSpiel's own state, which began where this game begins."""
        actions = spiel_state.history()
        if len(actions) > self.max_plies:
            raise GameError(f"{len(actions)} moves were made; {self.id} ends after {self.max_plies}")
        if str(self.histories.get(self.histories.key_of(actions))) != str(spiel_state):
            raise GameError(f"the moves {actions} lead elsewhere in {self.id}: the game began from another position")
        return np.frombuffer(self._row(spiel_state, actions), dtype=np.int8).copy()

    def _seen(self, state: Int8s) -> Any:
        return self.histories.get(self.histories.keys(state[None])[0])

    def _side(self, player: int) -> int:
        return player ^ self.first_player if self.players == 2 else 0

    def _head(self, state: Any, ply: int) -> tuple[int, int]:
        """Whose turn it is, 0 after the end, and the outcome."""
        player = state.current_player()
        if player >= 0 and ply < self.max_plies:
            return self._side(player), ONGOING
        if player >= 0 and self.players == 2:  # play would go on: a draw
            return 0, 0
        value = state.returns()[self.first_player]
        if self.players == 1:
            return 0, round(value - self.spiel.min_utility())
        return 0, (value > 0) - (value < 0) if self.tiebreak == "none" else round(value)

    def _row(self, state: Any, actions: list[int]) -> bytes:
        """The row of a state after these actions."""
        turn, outcome = self._head(state, len(actions))
        key = self.histories.key_of(actions)
        return (_HEAD.pack(turn, len(actions), outcome) + key).ljust(self.state_size, b"\0")

    # Rules.

    def start(self, choices: Int64s) -> Int8s:
        rows = np.zeros((len(choices), self.state_size), dtype=np.int8)
        rows[:, 4:8] = np.array([ONGOING], dtype=np.int32).view(np.int8)
        return rows

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        return self._advance(states, actions)[0]

    def step(self, states: Int8s, actions: Int32s) -> tuple[Int8s, Int32s, Int32s]:
        rows, after = self._advance(states, actions)
        return rows, *self._listed(after, self.outcome(rows))

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        get = self.histories.get
        return self._listed([get(key) for key in self.histories.keys(states)], self.outcome(states))

    def _advance(self, states: Int8s, actions: Int32s) -> tuple[Int8s, list[Any]]:
        """New rows and OpenSpiel's states behind them."""
        histories = self.histories
        rows = np.array(states, dtype=np.int8, order="C")
        plies, chosen = self.plies(rows), np.asarray(actions).tolist()
        keys = histories.keys(rows)
        histories.actions(rows)[np.arange(len(rows)), plies] = actions
        turns, outcomes, after = [], [], []
        for key, ply, action in zip(keys, plies.tolist(), chosen, strict=True):
            state = histories.get(key).clone()
            state.apply_action(action)
            histories.put(histories.after(key, action), state)
            turn, outcome = self._head(state, ply + 1)
            turns.append(turn)
            outcomes.append(outcome)
            after.append(state)
        rows[:, 0] = turns
        rows[:, 2:4] = (plies + 1).astype(np.int16)[:, None].view(np.int8)
        rows[:, 4:8] = np.array(outcomes, dtype=np.int32)[:, None].view(np.int8)
        return rows, after

    def _listed(self, spiel_states: list[Any], outcomes: Int32s) -> tuple[Int32s, Int32s]:
        """Legal actions as arrays, none where play is over."""
        listed = [
            state.legal_actions() if going_on else []
            for state, going_on in zip(spiel_states, (outcomes == ONGOING).tolist(), strict=True)
        ]
        counts = np.array([len(moves) for moves in listed], dtype=np.int32)
        if counts.max(initial=0) > self.max_legal:
            raise GameError(f"{self.id}: {counts.max()} actions are legal; at most {self.max_legal} were expected")
        actions = np.zeros((len(listed), self.max_legal), dtype=np.int32)
        actions[np.arange(self.max_legal) < counts[:, None]] = [move for moves in listed for move in moves]
        return counts, actions

    def observe(self, states: Int8s) -> Float32s:
        """OpenSpiel's tensor for the mover, then the plane of whose turn it is."""
        planes = np.empty((len(states), *self.observation_shape), dtype=np.float32)
        flat = planes.reshape(len(states), -1)
        channels, height, width = self.observation_shape
        size = (channels - (self.players == 2)) * height * width
        keys = self.histories.keys(states)
        if not self.spiel.get_type().provides_observation_tensor:
            flat[:] = [self._played(key) for key in keys]
            return planes
        # Of this call alone: threads share games.
        seen = library()._Observation(self.spiel, self.spiel.make_observer({}))
        tensor = np.frombuffer(seen, np.float32)
        for row, key, mover in zip(flat, keys, states[:, 0].tolist(), strict=True):
            seen.set_from(self.histories.get(key), self._side(mover))  # its own inverse
            row[:size] = tensor
        flat[:, size:] = states[:, :1]
        return planes

    def _played(self, key: bytes) -> Float32s:
        """Which actions were played, for a game without a tensor: float32[A]."""
        played = np.zeros(self.num_actions, dtype=np.float32)
        played[np.frombuffer(key, dtype=self.histories.dtype)] = 1
        return played

    def permute(self, states: Int8s, symmetry: Symmetry, swap: bool = False) -> Int8s:
        if swap:
            raise GameError(f"{self.id} does not know how its players change places")
        return self.histories.images(states, symmetry.actions)

    def rollout(self, states: Int8s, streams: UInt64s, trace: bool = False) -> Playouts:
        """Each random game is played on one copy of OpenSpiel's state; rows are written when it is over."""
        keys, plies = self.histories.keys(states), self.plies(states).tolist()
        lengths = np.zeros(len(states), dtype=np.int32)
        moves = np.zeros((len(states), self.max_plies if trace else 0), dtype=np.int32)
        turns = np.zeros(moves.shape, dtype=np.int8)
        rows = [state.tobytes() for state in states]
        running = np.flatnonzero(self.outcome(states) == ONGOING)
        words = draw_words(streams, running, 0, CHUNK).tolist()
        for row, drawn in zip(running.tolist(), words, strict=True):
            state, ply = self.histories.get(keys[row]).clone(), plies[row]
            players = self._play_out(state, drawn, streams, row, self.max_plies - ply, trace)
            actions = state.history()
            rows[row] = self._row(state, actions)
            lengths[row] = len(actions) - ply
            if trace:
                moves[row, : lengths[row]] = actions[ply:]
                turns[row, : lengths[row]] = [self._side(player) for player in players]
        skip_words(streams, lengths)
        ends = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(states.shape).copy()
        if not trace:
            return Playouts(ends, self.outcome(ends))
        return Playouts(ends, self.outcome(ends), lengths, moves, turns)

    def playout_outcomes(self, states: Int8s, streams: UInt64s) -> Int32s:
        """In C++ from beginning to end, where no bound of ours is in the way and rewards come at the end alone.

        OpenSpiel's search with a single simulation plays one random game. It is made anew for each row, with a seed
        from the row's stream, so that no row depends on another.
        """
        if not self._plays_alone:
            return super().playout_outcomes(states, streams)
        spiel, game, get = library(), self.spiel, self.histories.get
        outcomes = self.outcome(states).copy()
        running = np.flatnonzero(outcomes == ONGOING)
        keys = self.histories.keys(states[running])
        seeds = draw_words(streams, running, 0, 1)[:, 0] >> 1
        values = []
        for key, seed in zip(keys, seeds.tolist(), strict=True):
            judge = spiel.RandomRolloutEvaluator(1, seed)
            values.append(spiel.MCTSBot(game, judge, 1.0, 1, 1, False, seed, False).mcts_search(get(key)).total_reward)
        for_first = np.array(values) * np.where(states[running, 0] == 1, -1, 1)
        outcomes[running] = np.sign(for_first) if self.tiebreak == "none" else np.rint(for_first)
        skip_words(streams, (self.outcome(states) == ONGOING).astype(np.int32))
        return outcomes

    @cached_property
    def _plays_alone(self) -> bool:
        terminal = self.spiel.get_type().reward_model == library().GameType.RewardModel.TERMINAL
        return self.players == 2 and terminal and self.spiel.max_game_length() <= self.max_plies

    def _play_out(self, state: Any, words: list[int], streams: UInt64s, row: int, room: int, trace: bool) -> list[int]:
        """Play at random in place, up to `room` plies, with the words that stream `row` gives; who moved, if traced."""
        legal, apply, mover = state.legal_actions, state.apply_action, state.current_player
        players: list[int] = []
        done = 0
        while True:
            for word in words[: room - done]:
                actions = legal()
                if not actions:
                    return players
                if trace:
                    players.append(mover())
                apply(actions[word * len(actions) >> 32])
            done += CHUNK
            if done >= room:
                return players
            words = draw_words(streams, np.array([row]), done, CHUNK)[0].tolist()

    # Text.

    @cached_property
    def _writer(self) -> Writer:
        return writer_of(self.name)

    @cached_property
    def _texts_of(self) -> Callable[[bytes], dict[int, str]]:
        """The texts of all legal actions; whoever asks for one will ask for the others, too."""
        return lru_cache(maxsize=8)(lambda key: write_all(self._writer, self.histories.get(key)))

    def action_to_text(self, state: Int8s, action: int) -> str:
        return self._texts_of(self.histories.keys(state[None])[0]).get(int(action), f"#{action}")

    def text_to_action(self, state: Int8s, text: str) -> int:
        if self.outcome(state[None])[0] != ONGOING:
            raise MoveError(f"the game is over: {clip(text)} cannot be played")
        return read_one(self._texts_of(self.histories.keys(state[None])[0]), self._seen(state), text)

    def split_moves(self, text: str) -> list[str]:
        """Moves stand apart by spaces; commas are part of some of them."""
        return text.split()

    def state_to_text(self, state: Int8s) -> str:
        """The actions that led here: 12.7.30, or a dash for the initial position."""
        actions = np.frombuffer(self.histories.keys(state[None])[0], dtype=self.histories.dtype)
        return ".".join(map(str, actions.tolist())) or NO_MOVES

    def state_from_text(self, text: str) -> Int8s:
        """The state after the actions of `state_to_text`; MoveError where one of them cannot be played."""
        rows = self.start(np.zeros(1, dtype=np.int64))
        for word in text.strip().split(".") if text.strip() != NO_MOVES else []:
            counts, actions = self.legal(rows)
            number = whole_number(word)
            if number is None or number not in actions[0, : counts[0]]:
                raise MoveError(
                    f"{clip(text)} is not a position of {self.id}: {clip(word)} is not a legal action there"
                )
            rows = self.advance(rows, np.array([number], dtype=np.int32))
        return rows[0]

    # Drawings.

    def render(self, state: Int8s) -> str:
        text = str(self._seen(state)).rstrip()
        board = self.board(state)
        return f"{board.text()}\n{text}" if board is not None and "\n" not in text else text

    def board(self, state: Int8s) -> TextBoard | None:
        """The board that OpenSpiel's text of a state shows, if it shows one."""
        return read_board(str(self._seen(state)).rstrip())

    def svg(self, state: Int8s) -> str:
        board = self.board(state)
        return super().svg(state) if board is None else board.svg()

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        board = self.board(drawn)
        if board is None:
            return None
        return board.spot(self._places(board, state, self.action_to_text(state, action)))

    def _places(self, board: TextBoard, state: Int8s, text: str) -> list[tuple[int, int]]:
        """The cells that a move's text names, in its order."""
        if self.name == "connect_four":
            column = int(text[1:])
            before = self.board(state)
            free = [] if before is None else [row for row, cells in enumerate(before.cells) if not cells[column]]
            return [(free[-1], column)] if free else []
        names = cell_names(text)
        if self.name in FROM_ZERO or self.name in FROM_ONE:
            pairs = [name.split(",") for name in names if "," in name]
            least = 0 if self.name in FROM_ZERO else 1
            return [(int(row) - least, int(col) - least) for row, col in pairs]
        return [place for name in names if (place := board.find(name)) is not None]


@allocating
def draw_words(streams: UInt64s, rows: Int64s, begin: int, count: int) -> Int64s:
    """The upper halves of the words `begin` … that streams[rows] will give: int64[n, count]; streams stay as they are.

    As `palaestra.base.streams.below` uses them: a number below n is word · n >> 32.
    """
    words = np.empty((rows.shape[0], count), dtype=np.int64)
    one = np.empty(1, dtype=np.uint64)
    for i in range(rows.shape[0]):
        one[0] = streams[rows[i]]
        for _ in range(begin):
            next_word(one, 0)
        for k in range(count):
            words[i, k] = np.int64(next_word(one, 0) >> np.uint64(32))
    return words


@kernel
def skip_words(streams: UInt64s, counts: Int32s) -> None:
    """Advance each stream by so many words."""
    for row in range(counts.shape[0]):
        for _ in range(counts[row]):
            next_word(streams, row)
