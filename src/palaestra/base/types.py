"""Short names for types that many signatures share: arrays by dtype (shapes stand in docstrings), and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int8s = NDArray[np.int8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Bools = NDArray[np.bool_]

Array = NDArray[np.generic]  # of any dtype
Arrays = Mapping[str, Array]  # by name, as a file holds them

# A value as JSON and TOML hold it; tables of such values, by name, are what settings are read from and written to.
JsonLike: TypeAlias = "bool | int | float | str | Sequence[JsonLike] | Mapping[str, JsonLike] | None"
