"""The network as an evaluator: any ONNX file with the agreed input and outputs, run by ONNX Runtime.

A file is data: reading one runs no code of its author's (no operator libraries are loaded, no pickle exists). What is
agreed stands in `palaestra.nets.graph`; a file that does not keep to it, or that says it belongs to another game, is a
ModelError of one line.

One evaluator per thread, each with a one-thread session: two pools of busy threads on two cores were ten times slower
than two such sessions.

**An answer does not depend on which positions are asked about together.** ONNX Runtime does not promise that, so every
file is tried when it is opened: the same rows, asked in calls of different sizes and at different places, must give the
same bits. The networks of this project pass on the CPU. Others may not (a ReduceMean, for one, adds in an order that
depends on where in memory a row begins): then calls are padded to one fixed size, and if even that does not help, every
position is asked about alone.
"""

from __future__ import annotations

import math
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.jit import kernel
from palaestra.base.reading import read_bytes
from palaestra.base.types import Float32s, Int8s
from palaestra.base.user_code import is_code
from palaestra.games.base import Game
from palaestra.nets.architecture import parse_net, split_head
from palaestra.nets.boards import facts_for, fitted, is_for_another_board
from palaestra.nets.graph import ACTIONS_KEY, GAME_KEY, INPUT, LOGITS, NET_KEY, OUTCOME, SHAPE_KEY, VALUE, VERSION_KEY
from palaestra.nets.heads import CATEGORICAL_HEAD, OUTCOME_HEAD, VALUE_HEAD, Head, make_head
from palaestra.nets.int8 import in_int8
from palaestra.rewards.base import Reward, default_reward
from palaestra.rewards.outcomes import OutcomeSpace
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves
from palaestra.search.search_speed import scattered

# Best first. Remote and ahead-of-time providers are left out on purpose: a network plays where it is loaded.
PROVIDERS = ("CUDAExecutionProvider", "ROCMExecutionProvider", "DmlExecutionProvider", "CoreMLExecutionProvider")
CPU = "CPUExecutionProvider"

BATCH = 64  # speed is flat from 8 rows on; beyond 128 the layers of a small network leave a core's cache

ROUNDING = 1e-3  # how far a value may leave [-1, 1] before it is an error and not rounding

MEASURED = 256  # positions on which the ranges of features are measured for int8

PROBES = 24  # rows with which a network is tried

Answer = tuple[Float32s, Float32s]


@dataclass(frozen=True)
class Calls:
    """How the network is called: at most `positions` at a time, padded to `rows` rows (0: never padded)."""

    positions: int
    rows: int


class OnnxEvaluator(Evaluator):
    """Logits and values of one game's positions from an ONNX model, at most `batch` positions to a call.

    `model` is a path, or the bytes of a file. `calls` says how the network is called. What a network with an outcome or
    categorical `head` says is worth what `reward`, by default the game's own, makes of it as it now stands; a network
    that gives values has its reward in its weights. With `int8` convolutions compute with bytes (`nets.int8`).
    """

    def __init__(
        self,
        game: Game,
        model: str | Path | bytes,
        threads: int = 1,
        batch: int = BATCH,
        reward: Reward | None = None,
        int8: bool = False,
    ) -> None:
        if threads < 1 or batch < 1:
            raise ModelError(f"threads is {threads} and batch {batch}; both must be at least 1")
        self.game, self.batch = game, batch
        self.reward = default_reward(game) if reward is None else reward
        self.name = "the model" if isinstance(model, bytes) else str(model)
        content = model if isinstance(model, bytes) else read_model(Path(model))
        self._session = open_session(self.name, content, threads)
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        if is_for_another_board(self.metadata, game):
            content = fitted(content, game, self.name)
            self._session = open_session(self.name, content, threads)
            self.metadata = dict(self._session.get_modelmeta().custom_metadata_map)
        self.facts = facts_for(self.metadata, game, self.name)
        if int8:
            planes = self._observe(scattered(game, MEASURED, np.random.default_rng(0)))
            self._session = open_session(self.name, in_int8(content, planes), threads)
        self._seconds = 0.0
        self._check_game()
        self._answer, rows = self._check_signature()
        self.head = self._find_head()
        self.calls = self._settle_calls(rows)

    @property
    def provider(self) -> str:
        """The ONNX Runtime execution provider in use."""
        return str(self._session.get_providers()[0])

    @property
    def network_seconds(self) -> float:
        return self._seconds

    def __call__(self, leaves: Leaves) -> Evaluation:
        logits, raw = self.forward(self._observe(leaves.states))
        if logits.shape[1] > self.game.num_actions:  # a pass that other games of the network have
            logits = np.ascontiguousarray(logits[:, : self.game.num_actions])
        plies, movers = self.game.plies(leaves.states), self.game.to_play(leaves.states)
        return Evaluation(logits, self.head.value(raw, self.reward, plies, movers))

    def _observe(self, states: Int8s) -> Float32s:
        """What the network sees of positions [N, S]."""
        planes = self.game.observe(states)
        return planes if self.facts.shared is None else self.facts.shared.fill(self.game, planes)

    def forward(self, planes: Float32s) -> Answer:
        """logits float32[N, A] of observations float32[N, C, H, W], and the head's values [N] or raw outputs [N, K]."""
        count, step = len(planes), self.calls.positions
        if 0 < count <= step:
            return self._call(planes)
        shapes = self._shapes(count)
        logits, raw = np.empty(shapes[0], dtype=np.float32), np.empty(shapes[1], dtype=np.float32)
        for at in range(0, count, step):
            logits[at : at + step], raw[at : at + step] = self._call(planes[at : at + step])
        return logits, raw

    def _call(self, planes: Float32s) -> Answer:
        """One call with the rows first and, if calls have a fixed size, empty boards after them."""
        count, rows = len(planes), self.calls.rows
        if not rows:
            return self._run(planes)
        # A fixed size means that the network is touchy; it is then always given the same kind of memory too.
        filled = _aligned_zeros((rows, *planes.shape[1:]))
        filled[:count] = planes
        logits, raw = self._run(filled)
        return logits[:count], raw[:count]

    def _run(self, planes: Float32s) -> Answer:
        began = time.perf_counter()
        try:
            logits, raw = self._session.run((LOGITS, self._answer), {INPUT: planes})
        except Exception as error:  # ONNX Runtime's errors have no common base
            raise ModelError(f"{self.name}: the network failed on {len(planes)} positions ({_reason(error)})") from None
        self._seconds += time.perf_counter() - began
        expected = self._shapes(len(planes))
        if (logits.shape, raw.shape) != expected:
            raise ModelError(
                f"{self.name}: for {len(planes)} positions of {self.game.id} the network gives"
                f" {LOGITS}{list(logits.shape)} and {self._answer}{list(raw.shape)},"
                f" not {LOGITS}{list(expected[0])} and {self._answer}{list(expected[1])}"
            )
        if (largest := largest_value(logits, raw.ravel())) > 1.0:
            if largest == np.inf:
                raise ModelError(f"{self.name}: the network's outputs are not finite; the file may be damaged")
            if self._answer == OUTCOME:
                return logits, raw
            if largest > 1.0 + ROUNDING:
                raise ModelError(
                    f"{self.name}: a value of size {largest:g} is outside [-1, 1]; the value head ends in tanh"
                )
            raw = np.clip(raw, -1.0, 1.0)
        return logits, raw

    def _shapes(self, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of both outputs for `count` positions."""
        answer = (count,) if self._answer == VALUE else (count, self.head.outputs)
        return (count, self.facts.num_actions), answer

    def _check_game(self) -> None:
        """Metadata is optional, but what is there must be about this game."""
        shape = "x".join(map(str, self.facts.observation_shape))
        own = {
            GAME_KEY: self.game.id,
            VERSION_KEY: str(self.game.version),
            SHAPE_KEY: shape,
            ACTIONS_KEY: str(self.facts.num_actions),
        }
        if self.game.is_called(self.metadata.get(GAME_KEY, self.game.id)):
            del own[GAME_KEY]
        for key, value in own.items():
            if (found := self.metadata.get(key, value)) != value:
                what = key.removeprefix("palaestra.").replace("_", " ")
                raise ModelError(
                    f"{self.name}: made for another game: its {what} is {found!r}, {self.game.id} needs {value!r}"
                )

    def _check_signature(self) -> tuple[str, int | None]:
        """Which output stands beside the logits, and the number of rows of a call if that is fixed.

        ModelError unless names, types and shapes are, as the file declares them, what is agreed.
        """
        inputs = {given.name: given for given in self._session.get_inputs()}
        outputs = {given.name: given for given in self._session.get_outputs()}
        answer = VALUE if VALUE in outputs else OUTCOME
        if list(inputs) != [INPUT] or not {LOGITS, answer} <= outputs.keys():
            raise ModelError(
                f"{self.name}: inputs {', '.join(inputs)} and outputs {', '.join(outputs)};"
                f" needed are the input {INPUT} and the outputs {LOGITS} and {VALUE}, or {LOGITS} and {OUTCOME}"
            )
        for given in (inputs[INPUT], outputs[LOGITS], outputs[answer]):
            if given.type != "tensor(float)":
                raise ModelError(f"{self.name}: {given.name} is a {given.type}, not a tensor of float32")
        rows, *shape = inputs[INPUT].shape or [None]
        expected = self.facts.observation_shape
        # A dimension that is not a number is free.
        if len(shape) != 3 or any(isinstance(d, int) and d != e for d, e in zip(shape, expected, strict=True)):
            raise ModelError(
                f"{self.name}: {INPUT} has the shape {inputs[INPUT].shape}, {self.game.id} needs {['N', *expected]}"
            )
        return answer, rows if isinstance(rows, int) and rows > 0 else None

    def _find_head(self) -> Head:
        """What the second output means: the file names its network; those of an unnamed one are an outcome head's."""
        head, named = OUTCOME_HEAD, self.metadata.get(NET_KEY)
        try:
            if self._answer == VALUE:
                head = VALUE_HEAD
            elif named and _head_named(named) == CATEGORICAL_HEAD:
                head = CATEGORICAL_HEAD
            return make_head(head, OutcomeSpace.of(self.game), f"the network does not fit {self.game.id}")
        except ConfigError as error:
            raise ModelError(f"{self.name}: {error}") from None

    def _settle_calls(self, fixed: int | None) -> Calls:
        """The way to call in the largest batches so that the answer for a row depends on that row alone."""
        shape = self.facts.observation_shape
        rows = min(PROBES, self.batch)
        # Numbers with full mantissas: sums in another order show at once.
        probe = np.sin(np.arange(1, 1 + rows * math.prod(shape), dtype=np.float64)).astype(np.float32)
        probe = probe.reshape(rows, *shape)
        for calls in (Calls(fixed, fixed),) if fixed else (Calls(self.batch, 0), Calls(self.batch, self.batch)):
            self.calls = calls
            if self._answers_stand_alone(probe):
                return calls
        return Calls(1, fixed or 1)

    def _answers_stand_alone(self, probe: Float32s) -> bool:
        logits, raw = self.forward(probe)
        count = len(probe)
        for size in (1, 2, 3, 7, 16):
            for at in {0, count // 2, max(count - size, 0)}:
                rows = slice(at, at + size)
                some_logits, some_raw = self.forward(probe[rows])
                if not np.array_equal(some_logits, logits[rows]) or not np.array_equal(some_raw, raw[rows]):
                    return False
        return True


def _head_named(net: str) -> str:
    """The head of a network that a file names; code of the user's own is not needed for that, and not loaded."""
    return split_head(net)[1] if is_code(net) else parse_net(net).head


@kernel
def largest_value(logits: Float32s, values: Float32s) -> float:
    """The largest size of a number in `values` [M]; infinity if any number, logits included, is not finite."""
    for row in range(logits.shape[0]):
        for action in range(logits.shape[1]):
            if not math.isfinite(logits[row, action]):
                return math.inf
    largest = 0.0
    for row in range(values.shape[0]):
        if not math.isfinite(values[row]):
            return math.inf
        largest = max(largest, abs(values[row]))
    return largest


def best_providers() -> list[str]:
    """The execution providers to use on this machine, best first; the CPU is always the last resort."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    return [provider for provider in PROVIDERS if provider in there] + [CPU]


def _aligned_zeros(shape: tuple[int, ...], boundary: int = 64) -> Float32s:
    """Zeros that begin at a multiple of `boundary` bytes."""
    size = 4 * math.prod(shape)
    raw = np.zeros(size + boundary, dtype=np.uint8)
    start = -raw.ctypes.data % boundary
    return raw[start : start + size].view(np.float32).reshape(shape)


def read_model(path: Path) -> bytes:
    """The bytes of an ONNX file; ModelError if it cannot be read."""
    try:
        return read_bytes(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ModelError(f"{path}: cannot read this file ({reason}); a network is an .onnx file") from None


def open_session(name: str, content: bytes, threads: int) -> Any:
    """A session of `threads` threads, silent, with every graph optimisation."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4  # errors come as exceptions; nothing is to be printed beside them
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the core to others
    # A network is one file: weights that it says are in another one are looked for where there is none.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
    try:
        return onnxruntime.InferenceSession(content, options, providers=best_providers())
    except Exception as error:  # ONNX Runtime's errors have no common base
        raise ModelError(f"{name}: not a readable ONNX model ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    """The gist of an ONNX Runtime message: one line without its prefix `[ONNXRuntimeError] : 7 : NAME : `."""
    text = " ".join(str(error).split())
    gist = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    return gist if len(gist) <= 160 else gist[:157] + "..."
