"""How OpenSpiel's moves are written here: one word each, told apart without regard to case.

OpenSpiel's own text, with spaces made into underscores: `a2a3`, `x(0,1)`, `X_From_(7,1)`. Of go the colour is left out:
`d4`, `pass`. Moves of chess and crazyhouse are written as the UCI protocol does, `e2e4`, `e7e8q`, because in the short
notation `bxc3` and `Bxc3` differ by case alone; short notation is read as well. Where two moves would be written
alike, the action's number follows: `bxc3#112`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from palaestra.adapters.openspiel_catalogue import library
from palaestra.base.errors import MoveError
from palaestra.base.text import clip, whole_number

Writer = Callable[[Any, int], str]


def writer_of(name: str) -> Writer:
    """What writes an action of a state of this game."""
    return {"go": _of_go, "chess": _of_chess, "crazyhouse": _of_crazyhouse}.get(name, _in_one_word)


def _in_one_word(state: Any, action: int) -> str:
    return _word(state.action_to_string(action))


def _word(text: str) -> str:
    closed = re.sub(r"\s*([,;:])\s*", r"\1", text.strip())
    return re.sub(r"\s+", "_", closed.rstrip(";*"))


def _of_go(state: Any, action: int) -> str:
    return str(state.action_to_string(action)).split()[-1].lower()


def _of_chess(state: Any, action: int) -> str:
    return str(library().chess.action_to_move(action, state.board()).to_lan())


def _of_crazyhouse(state: Any, action: int) -> str:
    return str(library().crazyhouse.action_to_move(action, state.board()).to_lan())


def write_all(writer: Writer, state: Any) -> dict[int, str]:
    """The text of every legal action; texts differ by more than case."""
    actions = state.legal_actions()
    texts = [writer(state, action) for action in actions]
    seen = Counter(text.lower() for text in texts)
    return {
        action: text if seen[text.lower()] == 1 else f"{text}#{action}"
        for action, text in zip(actions, texts, strict=True)
    }


def read_one(texts: dict[int, str], state: Any, text: str) -> int:
    """The legal action that a person means, of those that `write_all` gave; MoveError says what is legal."""
    known = {written: action for action, written in texts.items()}
    wanted = _word(text)
    if wanted in known:
        return known[wanted]
    for written, action in known.items():
        if written.lower() == wanted.lower():
            return action
    own = {state.action_to_string(action): action for action in known.values()}
    if (found := _own_text(own, text.strip())) is not None:
        return found
    if (number := whole_number(wanted[1:])) in known.values() and wanted.startswith("#") and number is not None:
        return number
    raise MoveError(f"{clip(text)} is not a legal move here; legal: {', '.join(known)}")


def _own_text(own: dict[str, int], text: str) -> int | None:
    """OpenSpiel's own way of writing; marks of check and the like may be missing."""
    plain = {one.rstrip("+#"): action for one, action in own.items()}
    return own.get(text, plain.get(text.rstrip("+#!?")))
