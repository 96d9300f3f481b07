"""64-bit words inside states, for games that keep their board as bits.

A state is int8[S] with S a multiple of 8, so it is also S // 8 words; word 0 is the header of `palaestra.games.rows`.
`load` and `store` compile to one machine instruction each, where a `.view()` inside a kernel builds a new array at
every call; so do `load_word` and `load_four`, which begin at any byte. Words are little-endian, as
`state.view(np.uint64)` shows them. Nothing here knows a game.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD, _FOUR, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
_BYTES_OF_WORD = 8


def _is_state(state: Any) -> bool:
    return isinstance(state, types.Array) and state.dtype == types.int8 and state.ndim == 1 and state.layout == "C"


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any, kind: Any, unit: int) -> Any:
    """Pointer to the number of this kind that begins `arguments[1]` units of bytes into the state `arguments[0]`."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    where = context.cast(builder, arguments[1], signature.args[1], types.intp)
    begin = builder.mul(where, where.type(unit))
    return builder.bitcast(builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [begin]), kind.as_pointer())


def _load(state: Any, index: Any, result: Any, kind: Any, unit: int) -> Any:
    """What makes a number of a state: the signature and the code that reads it, without a sign."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(_pointer(context, builder, signature, arguments, kind, unit), align=1)
        return found if kind is _WORD else builder.zext(found, _WORD)

    return (result(state, index), generate) if _is_state(state) else None


def _store(state: Any, index: Any, value: Any, kind: Any, unit: int) -> Any:
    """What puts a number, or the lowest bytes of it, into a state."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = arguments[2] if kind is _WORD else builder.trunc(arguments[2], kind)
        builder.store(given, _pointer(context, builder, signature, arguments, kind, unit), align=1)
        return context.get_dummy_value()

    return (types.none(state, index, value), generate) if _is_state(state) else None


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load(typingctx: Any, state: Any, index: Any) -> Any:
    """load(state, index) -> uint64: word `index` of a state."""
    return _load(state, index, types.uint64, _WORD, _BYTES_OF_WORD)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store(typingctx: Any, state: Any, index: Any, value: Any) -> Any:
    """store(state, index, value): write word `index` of a state."""
    return _store(state, index, types.uint64, _WORD, _BYTES_OF_WORD)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load_word(typingctx: Any, state: Any, byte: Any) -> Any:
    """load_word(state, byte) -> uint64: the eight bytes from `byte` on, which need not be a multiple of 8."""
    return _load(state, byte, types.uint64, _WORD, 1)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store_word(typingctx: Any, state: Any, byte: Any, value: Any) -> Any:
    """store_word(state, byte, value): write the eight bytes from `byte` on."""
    return _store(state, byte, types.uint64, _WORD, 1)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load_four(typingctx: Any, state: Any, byte: Any) -> Any:
    """load_four(state, byte) -> int64: the number in the four bytes from `byte` on, not negative."""
    return _load(state, byte, types.int64, _FOUR, 1)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store_four(typingctx: Any, state: Any, byte: Any, value: Any) -> Any:
    """store_four(state, byte, value): write the low four bytes of a number from `byte` on."""
    return _store(state, byte, types.int64, _FOUR, 1)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def popcount(typingctx: Any, word: Any) -> Any:
    """popcount(word) -> int64: how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def lowest(typingctx: Any, word: Any) -> Any:
    """lowest(word) -> int64: the number of the lowest set bit (64 for no bit)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate
