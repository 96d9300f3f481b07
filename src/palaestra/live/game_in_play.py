"""A game being played, by people, players or both: moves, undo and redo, resigning, hints, results, PGN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from palaestra.base.errors import ConfigError, GameError, MoveError, RecordError
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.registry import make_game, make_stored_game
from palaestra.live.analysis import PositionAnalysis
from palaestra.live.position import Position, PositionDocument
from palaestra.live.usual import usual_adviser, usual_opponent
from palaestra.live.words import SIDES
from palaestra.players.base import Player
from palaestra.players.exact import InstantJudge
from palaestra.players.human import HumanPlayer
from palaestra.players.registry import make_player
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.pgn_games import RESULT_OF, read_games, write_game

PERSON = "human"


class GameDocument(TypedDict):
    """A game being played, as JSON."""

    position: PositionDocument
    players: list[str]  # of the sides; a person is human
    seed: int
    over: bool
    points: float | None  # of the first player: 1, ½ or 0; null while undecided and with one player
    result: str | None  # for people
    resigned: str | None  # first or second
    can_undo: bool
    can_redo: bool


class GameInPlay:
    """One game. `players` has a player, its text, or None for a person, for each side.

    >>> game = GameInPlay("tic_tac_toe-3x3", [None, "perfect"])
    >>> game = game.play("b2").answer()
    >>> len(game.position.moves), game.is_persons_turn
    (2, True)
    >>> game.undo().position.moves
    ()
    """

    def __init__(
        self,
        game: Game | str,
        players: Sequence[Player | str | None] | None = None,
        *,
        moves: str = "",
        adviser: Player | str | None = None,
        seed: int = 0,
    ) -> None:
        """Without `players`, a person moves first against the usual opponent. `moves` are played already.

        A game of several initial positions begins in the one that `moves` name, or in one that the seed chooses.
        """
        self.game = make_game(game) if isinstance(game, str) else game
        given = list(players) if players is not None else [None, usual_opponent(self.game)][: self.game.players]
        if len(given) != self.game.players:
            raise ConfigError(f"{self.game.id} has {self.game.players} sides, and {len(given)} players are given")
        self.players = [self._made(player) for player in given]
        self.seed = seed
        if self.game.num_starts > 1 and not moves.lstrip().startswith("@"):
            moves = f"@{int(np.random.default_rng(seed).integers(self.game.num_starts))} {moves}"
        self.position = Position(self.game, moves)
        self.resigned: int | None = None  # the side that gave up
        self._gave_up: tuple[int, int] | None = None  # and at which ply, while an earlier position is looked at
        self._undone: list[int] = []  # actions that can be played again, the next one last
        self._adviser = adviser
        self._judge: InstantJudge | None = None  # made when the first hint is asked for

    def _made(self, player: Player | str | None) -> Player | None:
        made = make_player(player, self.game) if isinstance(player, str) else player
        return None if isinstance(made, HumanPlayer) else made

    # Who moves, and how it stands.

    @property
    def mover(self) -> Player | None:
        """Who is to move; None for a person."""
        return self.players[self.position.to_play]

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.position.is_over

    @property
    def is_persons_turn(self) -> bool:
        return not self.is_over and self.mover is None

    @property
    def points(self) -> float | None:
        """Of the first player: 1, ½ or 0; None while nothing is decided, and with one player."""
        if self.game.players == 1 or not self.is_over:
            return None
        if self.resigned is not None:
            return float(self.resigned)
        assert self.position.outcome is not None
        return points_of(self.position.outcome)

    @property
    def result(self) -> str | None:
        """How the game ended, for people; None while it goes on."""
        if self.resigned is None:
            return self.position.result
        if self.game.players == 1:
            return "given up"
        return f"the {SIDES[self.resigned]} player resigns: the {SIDES[1 - self.resigned]} player wins"

    @property
    def adviser(self) -> Player:
        """Who gives hints."""
        if not isinstance(self._adviser, Player):
            self._adviser = make_player(self._adviser or usual_adviser(self.game), self.game)
        return self._adviser

    @property
    def ply(self) -> int:
        """How many moves led to the position that is shown."""
        return len(self.position.actions)

    @property
    def line(self) -> tuple[int, ...]:
        """All actions of the game, also those that were taken back and can be played again."""
        return (*self.position.actions, *reversed(self._undone))

    # What can be done; all but a hint returns the game itself.

    def play(self, move: str | int) -> GameInPlay:
        """Make a move of the side to play; MoveError if it is illegal, or the game is over."""
        self._refuse_if_over()
        self.position = self.position.after(move)
        self._undone.clear()
        self._gave_up = None
        return self

    def answer(self) -> GameInPlay:
        """Let the player whose turn it is move; MoveError if that is a person."""
        self._refuse_if_over()
        if (player := self.mover) is None:
            raise MoveError("it is a person's turn: give a move")
        stream = keyed_seeds(self.seed, len(self.position.states))
        slot = np.zeros(1, dtype=np.int64)
        if player.follows:
            player.follow(0, self.position.start, self.position.actions)
        return self.play(int(player.act(self.position.state[None], stream, slot)[0]))

    def play_on(self) -> GameInPlay:
        """Let players answer until it is a person's turn or the game is over."""
        while not (self.is_over or self.is_persons_turn):
            self.answer()
        return self

    def undo(self) -> GameInPlay:
        """Take moves back to the last turn of a person, or one move where no person plays."""
        self.resigned = self._gave_up = None
        turns = self._turns(range(len(self.position.actions) - 1, -1, -1))
        if not turns:
            raise MoveError("there is no move of yours to take back")
        taken = len(self.position.actions) - turns[0]
        self._undone += reversed(self.position.actions[turns[0] :])
        self.position = self.position.back(taken)
        self._forget()
        return self

    def go(self, ply: int) -> GameInPlay:
        """Show the position after so many moves of the line; a move that is played there drops the rest of it."""
        line = self.line
        if not 0 <= ply <= len(line):
            raise MoveError(f"the game has {len(line)} moves; there is no position after {ply}")
        if self.resigned is not None:
            self._gave_up = self.resigned, self.ply
        if ply < self.ply:
            self.position = self.position.back(self.ply - ply)
        else:
            for action in line[self.ply : ply]:
                self.position = self.position.after(action)
        self._undone = list(reversed(line[ply:]))
        self.resigned = self._gave_up[0] if self._gave_up is not None and self._gave_up[1] == ply else None
        self._forget()
        return self

    def redo(self) -> GameInPlay:
        """Play again what was taken back last, up to the next turn of a person."""
        if not self._undone:
            raise MoveError("nothing was taken back that could be played again")
        while self._undone:
            self.position = self.position.after(self._undone.pop())
            if self.mover is None or all(player is not None for player in self.players):
                break
        return self

    def resign(self, side: int | None = None) -> GameInPlay:
        """Give the game up: the side to move, or a person's side where one is named."""
        self._refuse_if_over()
        self.resigned = self.position.to_play if side is None else side
        return self

    def swap_sides(self) -> GameInPlay:
        """The players change sides, the moves stay."""
        self.players.reverse()
        self._forget()
        return self

    def hint(self) -> PositionAnalysis:
        """What the adviser would play here, and why; it plays nothing."""
        self._refuse_if_over()
        rng = np.random.default_rng([self.seed, len(self.position.states)])
        self._judge = self._judge or InstantJudge(self.game)
        state = self.position.state
        found = self._judge.complete(state, self.adviser.analyse(state, rng))
        return PositionAnalysis(self.position, self.adviser.text, self.seed, found)

    def _turns(self, plies: range) -> list[int]:
        """Those of these plies that people moved at; all of them where no person plays."""
        alone = all(player is not None for player in self.players)
        return [ply for ply in plies if alone or self.players[int(self.position.states[ply][0])] is None]

    def _refuse_if_over(self) -> None:
        if self.is_over:
            raise MoveError(f"the game is over: {self.result}")

    def _forget(self) -> None:
        for player in self.players:
            if player is not None:
                player.forget()

    # Out and in.

    def names(self) -> list[str]:
        """Who plays the sides, the first first."""
        return [PERSON if player is None else player.text for player in self.players]

    def pgn(self) -> str:
        """The game as PGN text, finished or not."""
        first, second = [*self.names(), "?"][:2]
        outcome = None if self.resigned is not None else self.position.outcome
        record = GameRecord(
            0, self.position.start, self.position.actions, 0, outcome, self.points, first=first, second=second
        )
        tags = {"Event": "game", "White": first, "Black": second, "Round": "1", "Seed": str(self.seed)}
        tags["Result"] = "*" if self.points is None else RESULT_OF[self.points]
        if self.resigned is None and not self.is_over:
            tags["Termination"] = "unterminated"
        elif self.resigned is not None:
            tags["Termination"] = f"the {SIDES[self.resigned]} player resigned"
        return write_game(record, self.game, tags)

    @classmethod
    def from_pgn(
        cls,
        text: str,
        players: Sequence[Player | str | None] | None = None,
        *,
        game: Game | str | None = None,
        seed: int = 0,
    ) -> GameInPlay:
        """The first game of a PGN text, to go on with. `game` names the rules where they are code of one's own.

        Players that the text names are not made: say who plays on, or a person meets the usual opponent.
        """
        played = next(iter(read_games(text)), None)
        if played is None:
            raise RecordError("there is no game in this PGN text")
        try:
            named = played.tags.get("Variant", "")
            rules = game if isinstance(game, Game) else make_stored_game(named, "the PGN", given=game)
        except GameError as error:
            raise RecordError(str(error)) from None
        _, actions = played.replay(rules)
        start = played.tags.get("Start", "0")
        found = cls(rules, players, moves=f"@{start}", seed=seed)
        for action in actions:
            found.position = found.position.after(action)
        ends = (side for side in (0, 1) if played.tags.get("Termination") == f"the {SIDES[side]} player resigned")
        found.resigned = None if found.position.is_over else next(ends, None)
        return found

    def document(self) -> GameDocument:
        """The game as JSON."""
        return {
            "position": self.position.document(),
            "players": self.names(),
            "seed": self.seed,
            "over": self.is_over,
            "points": self.points,
            "result": self.result,
            "resigned": None if self.resigned is None else SIDES[self.resigned],
            "can_undo": bool(self._turns(range(len(self.position.actions)))),
            "can_redo": bool(self._undone),
        }

    def __repr__(self) -> str:
        return f"{' against '.join(self.names())}; {self.position!r}"

    def _repr_svg_(self) -> str:
        return self.position.svg()
