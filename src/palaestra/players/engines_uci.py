"""A program that speaks UCI, as a player: it is told the moves since the start, and thinks as long as its text says."""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.base.errors import EngineError, PlayerError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.players.engines import EnginePlayer
from palaestra.players.engines_notation import UciMoves
from palaestra.players.engines_process import EngineProcess


class UciPlayer(EnginePlayer):
    """`limit` is what stands after `go`; `options` are set before the first game."""

    def __init__(
        self, game: Game, text: str, command: str, wait: float, limit: str, thinking: float, options: dict[str, str]
    ) -> None:
        self.limit, self.thinking, self.options = limit, thinking, options
        self._known: tuple[int, ...] = ()  # the actions of the game that the process knows
        super().__init__(game, text, command, wait)

    def _prepare(self) -> None:
        self.moves = UciMoves(self.game)

    def _greet(self, process: EngineProcess) -> None:
        process.send("uci")
        deadline = self._deadline()
        offered: list[str] = []
        while (line := process.read(deadline, "uciok").strip()) != "uciok":
            words = line.split()
            if words[:2] == ["option", "name"] and "type" in words:
                offered.append(" ".join(words[2 : words.index("type")]))
        known = {name.lower(): name for name in offered}
        for name, value in self.options.items():
            if name.lower() not in known:
                listed = ", ".join(offered[:20]) or "none"
                raise PlayerError(
                    f"{self.text} has no option {clip(name)}{did_you_mean(name, offered)}; it has {listed}"
                )
            process.send(f"setoption name {known[name.lower()]} value {value}")
        self._known = ()
        self._new_game(process)

    def _new_game(self, process: EngineProcess) -> None:
        process.send("ucinewgame")
        process.send("isready")
        deadline = self._deadline()
        while process.read(deadline, "readyok").strip() != "readyok":
            pass

    def _ask(self, process: EngineProcess, states: Sequence[Int8s], actions: Sequence[int]) -> int:
        if tuple(actions[: len(self._known)]) != self._known:
            self._new_game(process)
        texts = [self.moves.text(state, action) for state, action in zip(states, actions, strict=False)]
        process.send("position startpos" + (f" moves {' '.join(texts)}" if texts else ""))
        process.send(f"go {self.limit}")
        deadline = self._deadline(self.thinking)
        while not (line := process.read(deadline, "bestmove").strip()).startswith("bestmove"):
            pass
        answer = line.split()[1] if len(line.split()) > 1 else ""
        legal = self.moves.legal(states[-1])
        if answer not in legal:
            raise EngineError(f"{self.text} answered {clip(answer)}, which is not a legal move")
        self._known = (*actions, legal[answer])
        return legal[answer]
