"""A package that is not found for a while."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from palaestra.base.hidden_package import hidden

RARE = "this"  # a module of Python's own that nothing imports; it prints a poem


def test_a_hidden_package_is_missing_inside_and_there_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop(RARE, None)
    with hidden(RARE), pytest.raises(ModuleNotFoundError, match=RARE):
        importlib.import_module(RARE)
    assert importlib.import_module(RARE).__name__ == RARE
    with hidden(RARE):
        importlib.import_module(RARE)  # what is there already stays


def test_other_threads_find_what_one_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop(RARE, None)
    with hidden(RARE):
        other = threading.Thread(target=importlib.import_module, args=(RARE,))
        other.start()
        other.join()
    assert RARE in sys.modules


@pytest.mark.skipif(find_spec("scipy") is None, reason="matrix products need SciPy")
def test_a_kernel_with_a_matrix_product_finds_scipy_when_it_is_compiled() -> None:
    script = (
        "import sys, numpy as np\nfrom palaestra.base.jit import allocating, kernel\n"
        "one = kernel(lambda a: a + 1)\none(1)\nassert 'scipy' not in sys.modules\n"
        "product = allocating(lambda a: np.dot(a, a))\nprint(product(np.eye(2))[1, 1])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1.0\n", "")
