from __future__ import annotations

import resource
import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from palaestra.base.memory import keep_freed_memory
keep_freed_memory()
for _ in range(5):
    np.ones(2**20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    np.ones(2**20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
PAGES = 50 * 8 * 2**20 // resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
def test_freed_memory_is_used_again_without_asking_the_system() -> None:
    run = [sys.executable, "-c", CODE]
    assert int(subprocess.run(run, capture_output=True, text=True, check=True).stdout) < PAGES / 10
