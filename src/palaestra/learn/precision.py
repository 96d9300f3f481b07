"""The numbers that layers compute with in training: float32, or bfloat16, which has as wide a range in half the bytes.

Weights, their averages, the optimizer, means and variances are float32 in any case. bfloat16 pays only where the
processor has instructions for it. Some virtual machines promise those and then end the process (docs/notebook.md), so
they are tried in a process of their own.
"""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache

import torch

from palaestra.base.errors import ConfigError

SECONDS = 60  # a trial takes two, most of it the loading of PyTorch
TRIAL = """
import torch
x = torch.randn(8, 16, 6, 7).bfloat16().to(memory_format=torch.channels_last).requires_grad_()
kernel, matrix = (torch.randn(*shape).bfloat16().requires_grad_() for shape in ((16, 16, 3, 3), (32, 672)))
y = torch.relu(torch.nn.functional.conv2d(x, kernel, padding=1)).flatten(1) @ matrix.T
torch.autograd.grad(y.float().square().sum(), (x, kernel, matrix))
"""


def takes_bfloat16(setting: str, usual: bool) -> bool:
    """Whether `learn.precision` means bfloat16; `usual`: the network is one of the package's, trained by the processor.

    ConfigError if it is asked for and cannot be had.
    """
    if setting != "bfloat16":
        return setting == "auto" and usual and _has_bfloat16()
    if not usual:
        raise ConfigError(
            "learn.precision is bfloat16, for networks of the package on device=cpu only; take learn.precision=auto"
        )
    if not _has_bfloat16():
        raise ConfigError(
            "learn.precision is bfloat16, and this processor has no instructions for it; take learn.precision=auto"
        )
    return True


@lru_cache
def _has_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16, and they work."""
    if not torch.cpu.get_capabilities().get("avx512_bf16", False):
        return False
    try:
        done = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
