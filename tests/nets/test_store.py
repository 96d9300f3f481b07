from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from palaestra.errors import ModelError
from palaestra.nets.architecture import GameFacts
from palaestra.nets.store import load_weights, save_weights

FACTS = GameFacts("othello-6x6", 1, (2, 6, 6), 37)
ARRAYS = {
    "b.weight": np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2],
    "a": np.array(7, dtype=np.int64),
    "empty": np.zeros((0, 3), dtype=np.float64),
}


def test_arrays_come_back_bit_for_bit_with_their_types_and_shapes(tmp_path: Path) -> None:
    content = save_weights(ARRAYS, FACTS, "b3c32")
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    for source in (content, path):
        back = load_weights(source, FACTS, "b3c32")
        assert back.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            assert back[name].dtype == array.dtype and back[name].shape == array.shape
            assert np.array_equal(back[name], array)


def test_the_order_of_the_arrays_does_not_change_the_file() -> None:
    assert save_weights(dict(reversed(ARRAYS.items())), FACTS, "b3c32") == save_weights(ARRAYS, FACTS, "b3c32")


@pytest.mark.parametrize(
    "facts, net, complaint",
    [
        (GameFacts("othello-8x8", 1, (2, 8, 8), 65), "b3c32", "another game: 'othello-6x6', needed is 'othello-8x8'"),
        (GameFacts("othello-6x6", 2, (2, 6, 6), 37), "b3c32", "another version: 1, needed is 2"),
        (FACTS, "b3c64", "another net: 'b3c32', needed is 'b3c64'"),
    ],
)
def test_weights_of_another_game_version_or_network_are_refused(facts: GameFacts, net: str, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        load_weights(save_weights(ARRAYS, FACTS, "b3c32"), facts, net)


def test_every_truncation_is_noticed() -> None:
    content = save_weights(ARRAYS, FACTS, "b3c32")
    for length in range(len(content)):
        with pytest.raises(ModelError):
            load_weights(content[:length], FACTS, "b3c32")


def test_every_flipped_bit_is_noticed_or_changes_nothing() -> None:
    content = save_weights(ARRAYS, FACTS, "b3c32")
    noticed = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        try:
            back = load_weights(bytes(damaged), FACTS, "b3c32")
        except ModelError as error:
            assert "\n" not in str(error)
            noticed += 1
        else:  # white space after the header may change without harm
            assert all(np.array_equal(back[name], array) for name, array in ARRAYS.items())
    assert noticed > len(content) - 16


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("sprung"),)  # type: ignore[return-value]


def test_a_pickle_is_refused_and_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    torch.save({"weights": Trap()}, "model.pt")
    Path("plain.pkl").write_bytes(pickle.dumps(Trap()))
    for name in ("model.pt", "plain.pkl"):
        with pytest.raises(ModelError, match=f"{name}: not a safetensors file"):
            load_weights(Path(name), FACTS, "b3c32")
    assert not Path("sprung").exists()


@pytest.mark.parametrize("about", [None, {}, {"palaestra": "{"}, {"palaestra": "[1]"}, {"palaestra": "[" * 10**5}])
def test_a_safetensors_file_that_does_not_say_whose_it_is_is_refused(about: dict[str, str] | None) -> None:
    with pytest.raises(ModelError, match="does not say which game and network"):
        load_weights(save({"a": np.zeros(2)}, metadata=about), FACTS, "b3c32")


def test_a_checksum_that_is_missing_or_wrong_is_damage() -> None:
    about = {"game": FACTS.id, "version": 1, "net": "b3c32"}
    for extra in ({}, {"sha256": "0" * 64}):
        with pytest.raises(ModelError, match="the file is damaged"):
            load_weights(save({"a": np.zeros(2)}, metadata={"palaestra": json.dumps(about | extra)}), FACTS, "b3c32")


def test_what_cannot_be_read_is_an_error_of_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.safetensors", tmp_path):
        with pytest.raises(ModelError, match=r"cannot read this file .* weights are a \.safetensors file"):
            load_weights(path, FACTS, "b3c32")
