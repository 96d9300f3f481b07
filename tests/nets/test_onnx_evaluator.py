from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from palaestra.base.errors import ModelError
from palaestra.base.types import Float32s
from palaestra.games.registry import make_game
from palaestra.nets.evaluator import Calls, OnnxEvaluator, largest_value
from palaestra.rewards.base import Primitive
from palaestra.rewards.registry import make_reward
from tests.nets.reference import leaves_of, random_model, random_positions

TIC_TAC_TOE = make_game("tic_tac_toe-3x3")


def hand_made(nodes: list[Any], rows: str | int = "N", **names: str) -> bytes:
    """A model for tic-tac-toe from nodes that read `observation` and write `logits` [N, 9] and `value` [N]."""
    axes = helper.make_tensor("axes", TensorProto.INT64, [3], [1, 2, 3])
    zero = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "hand made",
        [tensor(names.get("observation", "observation"), TensorProto.FLOAT, [rows, 2, 3, 3])],
        [
            tensor(names.get("logits", "logits"), TensorProto.FLOAT, [rows, "A"]),
            tensor(names.get("value", "value"), TensorProto.FLOAT, [rows]),
        ],
        [axes, zero],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def node(operator: str, inputs: str, output: str, **attributes: object) -> Any:
    return helper.make_node(operator, inputs.split(), [output], **attributes)


# logits: the two planes of each cell added; value: tanh of the mean of the observation.
LOGITS = [
    node("ReduceSum", "observation one", "cells", keepdims=0),
    node("Flatten", "cells", "logits"),
]
ONE = node("Constant", "", "one", value=helper.make_tensor("v", TensorProto.INT64, [1], [1]))
MEAN = node("ReduceMean", "observation", "mean", axes=[1, 2, 3], keepdims=0)
VALUE = node("Tanh", "mean", "value")


def test_any_file_with_the_agreed_names_and_shapes_is_an_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "someone_elses.onnx"
    path.write_bytes(hand_made([ONE, *LOGITS, MEAN, VALUE]))
    states = random_positions(TIC_TAC_TOE, 20)
    planes = TIC_TAC_TOE.observe(states)
    answer = OnnxEvaluator(TIC_TAC_TOE, path)(leaves_of(TIC_TAC_TOE, states))
    assert answer.logits is not None and answer.logits.dtype == answer.values.dtype == np.float32
    np.testing.assert_allclose(answer.logits, planes.sum(axis=1).reshape(20, 9), atol=1e-6)
    np.testing.assert_allclose(answer.values, np.tanh(planes.mean(axis=(1, 2, 3))), atol=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "id, net",
    [
        ("tic_tac_toe-3x3", "b2c16"),
        ("tic_tac_toe-3x3", "b1c5"),
        ("connect_four-6x7", "b3c32"),
        ("connect_four-5x5", "b2c24"),
        ("othello-6x6", "b2c32"),
        ("gobang-6x7", "b1c64"),
        ("opposition-3x9", "b2c16"),
        ("hex-5x5", "b1c16"),
        ("opposition-3x9", "schmidt-outcome"),
    ],
)
def test_an_answer_does_not_depend_on_the_positions_asked_about_with_it(id: str, net: str, threads: int) -> None:
    game = make_game(id)
    planes = game.observe(random_positions(game, 400))
    evaluator = OnnxEvaluator(game, random_model(game, net), threads=threads, batch=512)
    logits, values = evaluator.forward(planes)
    assert evaluator.calls == Calls(
        512, 0
    )  # calls of any size are allowed: the kernels of this machine need no padding
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 17, 31, 32, 33, 64, 65, 128, 255, 399):
        rows = rng.permutation(len(planes))[:count]
        some_logits, some_values = evaluator.forward(planes[rows])
        assert np.array_equal(some_logits, logits[rows]) and np.array_equal(some_values, values[rows]), count


def test_large_calls_are_cut_into_batches_and_empty_ones_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    planes = TIC_TAC_TOE.observe(random_positions(TIC_TAC_TOE, 50))
    model = random_model(TIC_TAC_TOE)
    whole, cut = OnnxEvaluator(TIC_TAC_TOE, model), OnnxEvaluator(TIC_TAC_TOE, model, batch=7)
    sizes: list[int] = []
    run = cut._run

    def noted(some: Float32s) -> tuple[Float32s, Float32s]:
        sizes.append(len(some))
        return run(some)

    monkeypatch.setattr(cut, "_run", noted)
    for one, other in zip(whole.forward(planes), cut.forward(planes), strict=True):
        assert np.array_equal(one, other)
    assert sizes == [7] * 7 + [1]
    logits, values = whole.forward(planes[:0])
    assert logits.shape == (0, 9) and values.shape == (0,)


CORNER = [
    node("Constant", "", "first", value=helper.make_tensor("v", TensorProto.INT64, [], [0])),
    node("Gather", "logits first", "corner", axis=1),
]


def test_where_answers_depend_on_the_size_of_a_call_all_calls_get_one_size() -> None:
    count = [node("Shape", "logits", "shape"), node("Gather", "shape first", "count"), node("Cast", "count", "n", to=1)]
    value = [node("Div", "corner n", "part"), node("Tanh", "part", "value")]
    evaluator = OnnxEvaluator(TIC_TAC_TOE, hand_made([ONE, *LOGITS, *CORNER, *count, *value]), batch=16)
    planes = TIC_TAC_TOE.observe(random_positions(TIC_TAC_TOE, 40))
    assert evaluator.calls == Calls(16, 16)
    _, values = evaluator.forward(planes)
    assert values.any()
    np.testing.assert_allclose(values, np.tanh(planes.sum(axis=1)[:, 0, 0] / 16), atol=1e-6)
    assert np.array_equal(evaluator.forward(planes[5:8])[1], values[5:8])


@pytest.mark.parametrize("rows", ["N", 4])
def test_where_a_network_mixes_the_rows_of_a_call_each_position_has_its_own(rows: str | int) -> None:
    share = [node("ReduceSum", "corner zero", "all"), node("Sub", "corner all", "rest"), node("Tanh", "rest", "value")]
    model = hand_made([ONE, *LOGITS, *CORNER, *share], rows)
    evaluator = OnnxEvaluator(TIC_TAC_TOE, model)
    assert evaluator.calls == Calls(1, 1 if rows == "N" else 4)
    planes = TIC_TAC_TOE.observe(random_positions(TIC_TAC_TOE, 9))
    assert planes[:, :, 0, 0].any()
    assert not evaluator.forward(planes)[1].any()  # alone, or beside empty boards, nothing is left of a corner


@pytest.mark.parametrize("rows", [1, 4])
def test_a_model_for_a_fixed_number_of_positions_is_called_with_that_number(rows: int) -> None:
    model = hand_made([ONE, *LOGITS, *CORNER, node("Tanh", "corner", "value")], rows)
    evaluator = OnnxEvaluator(TIC_TAC_TOE, model)
    planes = TIC_TAC_TOE.observe(random_positions(TIC_TAC_TOE, 10))
    assert evaluator.calls == Calls(rows, rows)
    np.testing.assert_allclose(evaluator.forward(planes)[1], np.tanh(planes.sum(axis=1)[:, 0, 0]), atol=1e-6)


def test_sums_that_depend_on_where_a_row_begins_in_memory_are_made_to_agree() -> None:
    evaluator = OnnxEvaluator(TIC_TAC_TOE, hand_made([ONE, *LOGITS, MEAN, VALUE]))
    planes = np.random.default_rng(0).standard_normal((60, 2, 3, 3)).astype(np.float32)
    _, values = evaluator.forward(planes)
    for at in range(60):
        assert evaluator.forward(planes[at : at + 1])[1][0] == evaluator.forward(planes[at:])[1][0] == values[at]


def damaged(change: Callable[[bytes], bytes]) -> Callable[[], bytes]:
    return lambda: change(random_model(TIC_TAC_TOE, "b1c8"))


WIDE = node("Concat", "logits9 logits9", "logits", axis=1)
BAD_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "not a readable ONNX model"),
    "text": (lambda: b"def forward(x):\n    return x\n", "not a readable ONNX model"),
    "pickle": (lambda: b"\x80\x04cos\nsystem\n(S'exit 1'\ntR.", "not a readable ONNX model"),
    "truncated": (damaged(lambda model: model[: len(model) // 2]), "not a readable ONNX model"),
    "last byte lost": (damaged(lambda model: model[:-1]), "not a readable ONNX model"),
    "zeroed": (damaged(lambda model: b"\0" * len(model)), "not a readable ONNX model"),
    "unknown operator": (damaged(lambda model: model.replace(b"Relu", b"Rely")), "not a readable ONNX model"),
    "other game": (lambda: random_model(make_game("tic_tac_toe-4x4")), "its game is 'tic_tac_toe-4x4'"),
    "other version": (damaged(lambda model: model.replace(b"game_version\x12\x011", b"game_version\x12\x012")), "'2'"),
    "other shape, unnamed": (
        lambda: random_model(make_game("tic_tac_toe-4x4")).replace(b"palaestra.", b"nobody-xx."),
        r"\['N', 2, 4, 4\], tic_tac_toe-3x3 needs \['N', 2, 3, 3\]",
    ),
    "other actions": (
        lambda: hand_made([ONE, LOGITS[0], node("Flatten", "cells", "logits9"), WIDE, MEAN, VALUE]),
        r"gives logits\[\d+, 18\]",
    ),
    "other input": (
        lambda: hand_made(
            [ONE, node("ReduceSum", "board one", "cells", keepdims=0), LOGITS[1], node("Sin", "cells", "s"),
             node("ReduceMean", "s", "value", axes=[1, 2], keepdims=0)], observation="board"),
        "needed are the input observation",
    ),
    "other output": (
        lambda: hand_made([ONE, *LOGITS, MEAN, node("Tanh", "mean", "score")], value="score"),
        "outputs logits, score",
    ),
    "values outside": (lambda: hand_made([ONE, *LOGITS, MEAN, node("Exp", "mean", "value")]), r"outside \[-1, 1\]"),
    "not a number": (lambda: hand_made([ONE, *LOGITS, MEAN, node("Log", "mean", "value")]), "not finite"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_one_line_that_names_it_and_nothing_else_is_printed(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make, complaint = BAD_FILES[kind]
    path = tmp_path / "bad.onnx"
    path.write_bytes(make())
    with pytest.raises(ModelError, match=complaint) as error:
        OnnxEvaluator(TIC_TAC_TOE, path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_a_missing_file_and_a_folder_are_errors_of_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.onnx", tmp_path):
        with pytest.raises(ModelError, match=r"cannot read this file .* a network is an \.onnx file"):
            OnnxEvaluator(TIC_TAC_TOE, path)


def test_outputs_that_stop_being_finite_in_play_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "edge.onnx"
    # 1 / (1 - maximum): finite for fractions, infinite as soon as a board holds a stone.
    peak = node("ReduceMax", "observation", "peak", axes=[1, 2, 3], keepdims=0)
    unit = node("Constant", "", "unit", value=helper.make_tensor("v", TensorProto.FLOAT, [], [1.0]))
    room = [node("Sub", "unit peak", "room"), node("Div", "mean room", "odds"), node("Mul", "odds zerof", "value")]
    zerof = node("Constant", "", "zerof", value=helper.make_tensor("v", TensorProto.FLOAT, [], [1e-6]))
    path.write_bytes(hand_made([ONE, *LOGITS, MEAN, peak, unit, zerof, *room]))
    evaluator = OnnxEvaluator(TIC_TAC_TOE, path)
    with pytest.raises(ModelError, match=r"edge\.onnx: the network's outputs are not finite"):
        evaluator(leaves_of(TIC_TAC_TOE, random_positions(TIC_TAC_TOE, 12)))


def test_weights_in_another_file_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = onnx.load_from_string(random_model(TIC_TAC_TOE, "b1c8"))
    onnx.save(model, "split.onnx", save_as_external_data=True, location="weights.bin", size_threshold=100)
    with pytest.raises(ModelError, match=r"split\.onnx: not a readable ONNX model"):
        OnnxEvaluator(TIC_TAC_TOE, "split.onnx")


def test_what_outcomes_are_worth_depends_on_the_reward_and_by_default_a_win_is_one() -> None:
    model, states = random_model(TIC_TAC_TOE, "b1c8-outcome"), random_positions(TIC_TAC_TOE, 30)
    hand_tuned = make_reward("hand_tuned", TIC_TAC_TOE)
    plain, primitive, tuned = (
        OnnxEvaluator(TIC_TAC_TOE, model, reward=reward)(leaves_of(TIC_TAC_TOE, states))
        for reward in (None, Primitive(), hand_tuned)
    )
    assert np.array_equal(plain.values, primitive.values) and np.array_equal(plain.logits, tuned.logits)
    raw = OnnxEvaluator(TIC_TAC_TOE, model).forward(TIC_TAC_TOE.observe(states))[1]
    shares = np.exp(raw[:, :3]) / np.exp(raw[:, :3]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(plain.values, shares[:, 0] - shares[:, 2], atol=1e-6)
    assert np.abs(plain.values - tuned.values).max() > 0.01


def test_a_reward_that_has_learned_changes_the_values_of_the_same_evaluator() -> None:
    reward = make_reward("cdf", TIC_TAC_TOE)
    evaluator = OnnxEvaluator(TIC_TAC_TOE, random_model(TIC_TAC_TOE, "b1c8-categorical"), reward=reward)
    leaves = leaves_of(TIC_TAC_TOE, random_positions(TIC_TAC_TOE, 20))
    before = evaluator(leaves).values
    reward.observe(np.array([5, 3, 3, 1, 0, -2, -4], dtype=np.int32))
    assert np.abs(evaluator(leaves).values - before).max() > 0.01


def test_a_file_that_does_not_name_its_network_has_an_outcome_head() -> None:
    named = random_model(TIC_TAC_TOE, "b1c8-outcome")
    leaves = leaves_of(TIC_TAC_TOE, random_positions(TIC_TAC_TOE, 20))
    unnamed = OnnxEvaluator(TIC_TAC_TOE, named.replace(b"palaestra.net", b"nobody-xx.net"))
    assert np.array_equal(unnamed(leaves).values, OnnxEvaluator(TIC_TAC_TOE, named)(leaves).values)
    categorical = random_model(TIC_TAC_TOE, "b1c8-categorical").replace(b"palaestra.net", b"nobody-xx.net")
    with pytest.raises(ModelError, match=r"gives .* and outcome\[\d+, 19\], not .* and outcome\[\d+, 5\]"):
        OnnxEvaluator(TIC_TAC_TOE, categorical)
    with pytest.raises(ModelError, match="the model: unknown network 'b1c8-outcomx'"):
        OnnxEvaluator(TIC_TAC_TOE, named.replace(b"b1c8-outcome", b"b1c8-outcomx"))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_is_noticed_wherever_it_stands(wrong: float) -> None:
    logits, values = np.full((3, 4), 50.0, dtype=np.float32), np.array([0.5, -0.75, 0.25], dtype=np.float32)
    assert largest_value(logits, values) == 0.75
    for place in np.ndindex(3, 4):
        spoilt = logits.copy()
        spoilt[place] = wrong
        assert largest_value(spoilt, values) == np.inf
    for row in range(3):
        spoilt = values.copy()
        spoilt[row] = wrong
        assert largest_value(logits, spoilt) == np.inf


def test_threads_and_batch_must_be_positive() -> None:
    for wrong in ({"threads": 0}, {"batch": 0}):
        with pytest.raises(ModelError, match="at least 1"):
            OnnxEvaluator(TIC_TAC_TOE, random_model(TIC_TAC_TOE), **wrong)
