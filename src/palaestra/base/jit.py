"""Compiled functions with a disk cache that can be trusted.

`kernel` is the only way this project compiles code. It is `numba.njit(nogil=True)` with a cache of its own, because
Numba's looks only at the function's own file, raises EOFError on a truncated file, and can hand one process the code
that another compiled for other types when several start cold at once. This one

- notices an edit in *any* file whose compiled functions this one may call, and another value of a global constant;
- keeps one checksummed file per function and signature, written under a temporary name and renamed: there is no index
  to race for, and a file that is damaged, or missing, or cannot be written only costs the time to compile again;
- loads nothing that another user may have written: the files hold code, in a folder that only the user can enter.

`bind` gives a module of loops the functions it should call: a template such as `palaestra.games.loops` names `play`
and `legal` without defining them, and `bind` makes one copy of the module per game, compiled once per machine. No
function closes over another, so all of it can be cached.

This module knows no game.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pickle
import re
import shlex
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from palaestra.base import compiling
from palaestra.base.hidden_package import hidden
from palaestra.base.imported_files import installed_folders
from palaestra.base.own_files import NotOwn, read_own, write_own
from palaestra.base.printable import printable

with hidden("scipy"):  # see `_ready`
    import numba
    from numba.core.caching import _Cache
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.compiler import CompileResult
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher
    from numba.core.errors import NumbaError
    from numba.core.extending import _Intrinsic
    from numba.core.serialize import dumps

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
KIND = 2  # of compiled code: another number where options here change, which no file of a kernel tells
BOUND = "__bound__"  # global of a bound module: fingerprint of the functions it was given
_REACHABLE = (Dispatcher, _Intrinsic, ModuleType, np.ndarray, tuple, bool, int, float, complex, np.generic)
_kinds: WeakKeyDictionary[type, type | None] = WeakKeyDictionary()
_PACKAGE = str(Path(__file__).parents[1])
_DIGEST = hashlib.sha256().digest_size
_TOLD = threading.Event()  # that the cache is not the user's own
_BINDING = threading.RLock()  # a copy that another thread is still loading must not be taken for a whole one


def cache_root() -> Path:
    """Folder of compiled code: $PALAESTRA_CACHE, or `palaestra` in the user's cache folder, if there is one."""
    if chosen := os.environ.get("PALAESTRA_CACHE"):
        return Path(chosen)
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "palaestra"
    try:
        return Path.home() / ".cache" / "palaestra"
    except RuntimeError:  # neither HOME nor an entry in the list of users, as in some containers
        return Path(tempfile.gettempdir()) / f"palaestra-{os.geteuid() if hasattr(os, 'geteuid') else 'cache'}"


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first call, without the GIL, cached on disk.

    It makes no arrays (`allocating` does), so references to those it is given are not counted: that takes two locked
    instructions for every function that an array is handed to, which was a third to a half of the time of searches.
    """
    return _compiled(function, _nrt=False)


def allocating(function: Callable[..., Any]) -> Any:
    """A `kernel` that makes arrays of its own, or calls one that returns some: references are counted."""
    return _compiled(function, _nrt=True)  # said, because a function takes over what its caller says


def inlined(function: Callable[..., Any]) -> Any:
    """A `kernel` whose body is placed into its callers: for small functions of one row, called at every ply."""
    return _compiled(function, forceinline=True, _nrt=False)


def _compiled(function: Callable[..., Any], **options: bool) -> Any:
    if function.__closure__:
        raise TypeError(f"{function.__qualname__} closes over variables: a kernel is a function of its module")
    # Nothing here is handed on as a C function, and an entry for that is an eighth of the time to compile.
    dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    dispatcher._cache = _DiskCache(function, cache_root() / fingerprint(function.__globals__))
    _with_entries_where_called(dispatcher)
    return dispatcher


class _Thread(threading.local):
    """What one thread is doing."""

    called: Callable[..., Any] | None = None  # the function that Python has called and that is made ready for it


_thread = _Thread()


def _with_entries_where_called(dispatcher: Any) -> None:
    """Let a function have an entry for Python only where Python calls it.

    Of the functions that are compiled, nine of ten are only called by others, and an entry takes longer to compile than
    many a function. Numba would call one without an entry all the same: so it is not told of it (`insert`), and what
    it knows is forgotten when Python calls the function after all (`watched`).
    """
    function = dispatcher.py_func
    compile_for = dispatcher._compile_for_args  # what Numba calls when a function meets new types
    insert, customize = dispatcher.add_overload, dispatcher._compiler._customize_flags
    inner = set[Any]()  # types for which there is only a version without an entry

    def watched(*arguments: Any, **keywords: Any) -> Any:
        with compiling.making_ready(function.__module__), global_compiler_lock:
            before, _thread.called = _thread.called, function
            try:
                types = tuple(map(dispatcher.typeof_pyval, arguments))
                if types in inner:
                    inner.remove(types)
                    del dispatcher.overloads[types]
                return compile_for(*arguments, **keywords)
            finally:
                _thread.called = before

    def add_overload(result: Any) -> None:
        if _thread.called is function:
            insert(result)
        else:
            types = tuple(result.signature.args)
            inner.add(types)
            dispatcher.overloads[types] = result

    def customize_flags(flags: Any) -> Any:
        flags = customize(flags)
        flags.no_cpython_wrapper = _thread.called is not function
        return flags

    dispatcher._compile_for_args = watched
    dispatcher.add_overload = add_overload
    dispatcher._compiler._customize_flags = customize_flags


def _optimize_defined_functions(library: Any, module: Any) -> None:
    """What Numba does to a module's functions, without those that it only names: a tenth of the time to compile.

    It takes the place of Numba's own, for everything that is compiled in this process; the code is the same.
    """
    module.data_layout = library._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = library._codegen._function_pass_manager()
            passes.run(function, builder)


CPUCodeLibrary._optimize_functions = _optimize_defined_functions


class _DiskCache(_Cache):  # type: ignore[misc]  # Numba has no type information
    """What a dispatcher asks before it compiles and tells afterwards: one file per signature."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        self._function = function
        self._name = "".join(c if c.isalnum() or c in "._" else "-" for c in name)[-80:]
        # The path and the line tell equal sources in two places apart: their code names different modules. Of this
        # package all copies that are alike are one: a second checkout, or an installed one, compiles nothing again.
        file = function.__code__.co_filename
        file = file.removeprefix(_PACKAGE) if file.startswith(_PACKAGE + os.sep) else file
        self._place = f"{name} {file}:{function.__code__.co_firstlineno}"
        self._folder = folder
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Forget the function's files, for all signatures."""
        for file in self._folder.glob(f"{self._name}-*.code"):
            file.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            compiling.missed()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for `sig`, or None where there is none that can be trusted."""
        _ready(target_context)
        if not self._enabled:
            return None
        try:
            stored = read_own(self._file(sig, target_context.codegen()))
            if hashlib.sha256(stored[_DIGEST:]).digest() != stored[:_DIGEST]:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(stored[_DIGEST:]))
        except NotOwn as error:
            _tell_once(error)
            return None
        except Exception:  # whatever is wrong with it, compiling again is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._enabled or data.lifted or data.library.has_dynamic_globals:
            return
        payload = dumps(data._reduce())
        file = self._file(sig, data.codegen)
        try:
            write_own(file, hashlib.sha256(payload).digest() + payload, f"{uuid.uuid4().hex}.tmp")
        except NotOwn as error:
            _tell_once(error)
        except OSError:
            pass  # a full disk or a folder that cannot be written: the code in memory is good

    def _file(self, sig: Any, codegen: Any) -> Path:
        entry = "called" if _thread.called is self._function else "inner"
        key = f"{self._place} {sig} {codegen.magic_tuple()} {entry}"
        return self._folder / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.code"


def _ready(target_context: Any) -> None:
    """Let Numba load what it knows of Python and NumPy.

    Where SciPy is installed it would be loaded with it, for a fifth of a second, only to see whether it is there. A
    kernel with a matrix product imports it when it is compiled.
    """
    with hidden("scipy"):
        target_context.refresh()


def _tell_once(error: NotOwn) -> None:
    """Say once that the cache is not used, and how to mend it. Its files are code that others may have written."""
    if not _TOLD.is_set():
        _TOLD.set()
        mend = f"rm -r {shlex.quote(str(cache_root()))}, or set PALAESTRA_CACHE to a folder that only you can write"
        print(printable(f"note: the cache of compiled code is not used: {error}; to mend it: {mend}"), file=sys.stderr)


def bind(template: str, functions: Mapping[str, Any], name: str, stamp: str | None = None) -> ModuleType:
    """A copy of the module `template` whose free names are `functions`; `name` tells the copies apart.

    The functions' own sources go into the fingerprint, so that editing a game recompiles its loops; `stamp` is that
    fingerprint if it was taken earlier, when the sources were read.
    """
    stamp = stamp or fingerprint(functions)
    full_name = f"{template}@{name}-{stamp[:12]}"
    with _BINDING:
        return sys.modules[full_name] if full_name in sys.modules else _load_copy(template, full_name, functions, stamp)


def _load_copy(template: str, full_name: str, functions: Mapping[str, Any], stamp: str) -> ModuleType:
    original = importlib.util.find_spec(template)
    assert original is not None and original.origin is not None, template
    spec = importlib.util.spec_from_file_location(full_name, original.origin)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    for function in functions.values():
        if isinstance(function, Dispatcher):  # one of the user's may make arrays, whatever the loops that call it do
            function.targetoptions.setdefault("_nrt", True)
    module.__dict__.update(functions)
    module.__dict__[BOUND] = stamp
    # Numba rebuilds cached code by module name, so the copy must be findable while and after it loads.
    sys.modules[full_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[full_name]
        raise
    return module


def reason(error: NumbaError) -> str:
    """What is wrong and where, out of the pages that Numba writes about it."""
    plain = _COLOURS.sub("", str(error))  # there are colours in it where some package has brought colorama
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    what = next((line for line in lines if not line.startswith("Failed in")), lines[0])
    where = next((line.rstrip(":") for line in lines if line.startswith("File ")), "")
    return f"{what} ({where})" if where else what


def fingerprint(namespace: Mapping[str, Any]) -> str:
    """Hash of the sources and constants that compiled code with these globals can reach, and of what was bound in."""
    reach = _Reach()
    reach.namespace(namespace)
    digest = hashlib.sha256(f"{KIND} numba {numba.__version__} python {sys.version_info[:2]}".encode())
    for file in sorted(reach.files):
        digest.update(_file_digest(file))
    for fact in sorted(reach.facts):
        digest.update(fact.encode())
    return digest.hexdigest()[:32]


class _Reach:
    """What compiled code can reach: the files that its functions are written in, and facts that are in no file."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.facts: set[str] = set()
        self._seen: set[int] = set()

    def namespace(self, names: Mapping[str, Any]) -> None:
        """Everything that a module's globals, or the functions given to a template, lead to."""
        if id(names) in self._seen:
            return
        self._seen.add(id(names))
        if (own := names.get("__file__")) is not None:
            self.files.add(own)
        if (bound := names.get(BOUND)) is not None:
            self.facts.add(bound)
        is_package = "__path__" in names
        for name, value in list(names.items()):
            kind = _kind(type(value))
            if kind is None:
                continue
            if kind is Dispatcher:
                self._function(name, value.py_func)
            elif kind is _Intrinsic:
                self.namespace(value._defn.__globals__)
            elif kind is ModuleType:
                # A package's modules become its attributes as others import them: they say nothing about its code.
                if not is_package and _may_hold_kernels(value):
                    self.namespace(vars(value))
            elif not name.startswith("__") and (constant := _constant(value)) is not None:
                self.facts.add(f"{name}={constant}")

    def _function(self, name: str, function: Any) -> None:
        code = function.__code__
        self.files.add(code.co_filename)
        self.facts.add(f"{name} is {function.__qualname__}:{code.co_firstlineno}")
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self.namespace(function.__globals__)
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            held = cell.cell_contents
            if isinstance(held, Dispatcher):
                self._function(variable, held.py_func)
            else:  # a variable that has no lasting text is told apart by where it lies: right, though never found again
                self.facts.add(f"{name}.{variable}={_constant(held) or id(held)}")


def _kind(of: type) -> type | None:
    """Which of the kinds of values that compiled code can reach this type is; None for all others.

    There are thousands of names to look at whenever a function is declared, and few types.
    """
    if of not in _kinds:
        _kinds[of] = next((kind for kind in _REACHABLE if issubclass(of, kind)), None)
    return _kinds[of]


def _constant(value: Any) -> str | None:
    """Text of a value that Numba would freeze into the code, None for anything else."""
    if isinstance(value, bool | int | float | complex | np.generic):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        parts = [_constant(part) for part in value]
        return None if None in parts else repr(parts)
    return None


def _may_hold_kernels(module: ModuleType) -> bool:
    """Whether compiled code may call functions of this module: ours, or a file that no one installed."""
    if module.__name__.partition(".")[0] == "palaestra":
        return module.__name__ != "palaestra"
    file = getattr(module, "__file__", None)
    return file is not None and not file.startswith(installed_folders())


def _file_digest(file: str) -> bytes:
    try:
        status = os.stat(file)
        return _content_digest(file, status.st_mtime_ns, status.st_size)
    except OSError:  # code typed at a prompt has no file; its functions are then told apart by name only
        return file.encode()


@lru_cache(maxsize=1024)
def _content_digest(file: str, mtime: int, size: int) -> bytes:
    """Hash of a file's content; time and size are arguments so that a file edited meanwhile is read again."""
    return hashlib.sha256(Path(file).read_bytes()).digest()
