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


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Pointer to word `index` of an int8 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _WORD.as_pointer()), [index])


def _begins(context: Any, builder: Any, signature: Any, arguments: Any, kind: Any) -> Any:
    """Pointer to what begins at byte `arguments[1]` of the int8 array `arguments[0]`."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    byte = context.cast(builder, arguments[1], signature.args[1], types.intp)
    begin = builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [byte])
    return builder.bitcast(begin, kind.as_pointer())


def _is_state(state: Any) -> bool:
    return isinstance(state, types.Array) and state.dtype == types.int8 and state.ndim == 1 and state.layout == "C"


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load(typingctx: Any, state: Any, index: Any) -> Any:
    """load(state, index) -> uint64: word `index` of a state."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return builder.load(_address(context, builder, signature.args[0], arguments[0], where), align=1)

    return types.uint64(state, index), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store(typingctx: Any, state: Any, index: Any, value: Any) -> Any:
    """store(state, index, value): write word `index` of a state."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = context.cast(builder, arguments[1], signature.args[1], types.intp)
        builder.store(arguments[2], _address(context, builder, signature.args[0], arguments[0], where), align=1)
        return context.get_dummy_value()

    return types.none(state, index, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load_word(typingctx: Any, state: Any, byte: Any) -> Any:
    """load_word(state, byte) -> uint64: the eight bytes from `byte` on, which need not be a multiple of 8."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_begins(context, builder, signature, arguments, _WORD), align=1)

    return types.uint64(state, byte), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store_word(typingctx: Any, state: Any, byte: Any, value: Any) -> Any:
    """store_word(state, byte, value): write the eight bytes from `byte` on."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _begins(context, builder, signature, arguments, _WORD), align=1)
        return context.get_dummy_value()

    return types.none(state, byte, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def load_four(typingctx: Any, state: Any, byte: Any) -> Any:
    """load_four(state, byte) -> int64: the number in the four bytes from `byte` on, not negative."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = builder.load(_begins(context, builder, signature, arguments, _FOUR), align=1)
        return builder.zext(four, _WORD)

    return types.int64(state, byte), generate


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no type information
def store_four(typingctx: Any, state: Any, byte: Any, value: Any) -> Any:
    """store_four(state, byte, value): write the low four bytes of a number from `byte` on."""
    if not _is_state(state):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = builder.trunc(arguments[2], _FOUR)
        builder.store(four, _begins(context, builder, signature, arguments, _FOUR), align=1)
        return context.get_dummy_value()

    return types.none(state, byte, types.int64), generate


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
