"""Lanes that have ended count as there where others of their warp meet, as threads do at barriers of the block."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import launched, prepared, rehearsing, run, watched

CASES = {
    "named": ("if (t >= 16) return; __syncwarp(); a[t] = s[t + 16];", False),
    "named, in a tile": ("if (t % 4 == 3) return; __syncwarp(0xfu << (t % 32 / 4 * 4)); a[t] = s[t | 3];", False),
    "not named": ("if (t >= 16) return; __syncwarp(0xffff); a[t] = s[t + 16];", True),
    "of another warp": ("if (t >= 32) return; __syncwarp(); a[t] = t < 16 ? s[t + 32] : 0;", True),
    "ended behind it": ("__syncwarp(); if (t >= 16) { s[t] = 1; return; } a[t] = s[t + 16];", True),
    "before a second one": ("__syncwarp(); if (t >= 16) { s[t] = 1; return; } __syncwarp(); a[t] = s[t + 16];", False),
}


@pytest.mark.parametrize("name", CASES)
def test_lanes_that_have_ended(name: str) -> None:
    body, races = CASES[name]
    source = f"""extern "C" __global__ void k(int *a) {{
      __shared__ int s[64];
      int t = threadIdx.x;
      s[t] = t;
      {body}
    }}"""
    arguments = [np.zeros(64, np.int32)]
    for seed in (0, 1, 2):
        assert bool(run(prepared(source, arguments, block=48), seed).races) == races
    _, detector = watched(launched(source, arguments, block=48, on=rehearsing()))
    assert bool(len(detector.races())) == races
