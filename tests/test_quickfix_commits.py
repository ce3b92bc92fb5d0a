"""Commits of asynchronous copies under a condition. A whole edit is in `tests/golden/committed.diff`."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal
from analyzers.requests import CheckRequest
from quickfix import fix_for
from quickfix.verify import RACES, findings_of

STAGED = """#include <cuda_pipeline.h>
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void staged(const float *in, float *out, int n) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) {
      __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) * 64 + t], 4);
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[i % 2][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
"""
MOVED = "    }\n    __pipeline_commit();\n    __pipeline_wait_prior(1);"


def answer(text: str) -> Fix | FixRefusal:
    engine, request = Engine(), CheckRequest("/commits/a.cu", text)
    races = (f for k in engine.result(request).kernels for f in findings_of(k) if f.code in RACES)
    return fix_for(engine, request, next(races).group)


def test_a_commit_goes_behind_its_condition() -> None:
    fix = answer(STAGED)
    assert isinstance(fix, Fix)
    assert applied(STAGED, fix.edits) == STAGED.replace("      __pipeline_commit();\n", "").replace(
        "    }\n    __pipeline_wait_prior(1);", MOVED
    )


@pytest.mark.parametrize(
    "commit", ["if (i + 1 < n) __pipeline_commit();", "if (i + 1 < n) {\n      __pipeline_commit();\n    }"]
)
def test_a_condition_of_nothing_but_a_commit_goes(commit: str) -> None:
    text = STAGED.replace("      __pipeline_commit();\n    }", f"    }}\n    {commit}")
    fix = answer(text)
    assert isinstance(fix, Fix)
    assert "out of its condition" in fix.title
    assert applied(text, fix.edits) == text.replace(commit, "__pipeline_commit();")


def test_a_barrier_is_preferred_where_one_is_missing() -> None:
    fix = answer(STAGED.replace("prior(1)", "prior(0)").replace("63 - t];\n    __syncthreads();", "63 - t];"))
    assert isinstance(fix, Fix)
    assert fix.kind == "insert-barrier"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    }\n    __pipeline_wait", "    } else {\n      sum += 1;\n    }\n    __pipeline_wait"),
        ("      __pipeline_commit();\n", "#ifndef LATE\n      __pipeline_commit();\n#endif\n"),
        ("prior(1)", "prior(2)"),
    ],
    ids=["else", "other build", "too few are waited for"],
)
def test_other_commits_stay(old: str, new: str) -> None:
    text = STAGED.replace(old, new)
    assert text != STAGED
    found = answer(text)
    assert isinstance(found, FixRefusal), applied(text, found.edits)
