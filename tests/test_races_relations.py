"""Sizes that the host does not fix: a race that ordinary ones do not have is reported with what would settle it."""

from __future__ import annotations

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.model import Finding, Severity, Verdict
from analyzers.races import relations
from analyzers.requests import CheckRequest, UnitFinished


def findings(kernel: str, host: str) -> list[Finding]:
    text = f"{kernel}\nvoid host(float *a, int w, int h, int n) {{\n  {host}\n}}\n"
    done = [
        e
        for e in Engine().check(CheckRequest("/none/sizes.cu", text, translate([], "/none")))
        if isinstance(e, UnitFinished)
    ]
    (result,) = done[-1].result.kernels
    return [f for c in result.contexts for f in c.findings]


PAIRS = """
__global__ void pairs(float *a, int w, int h) {
  int x = 2 * (int)(blockIdx.x * 32 + threadIdx.x), y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h) ((float2 *)a)[(y * w + x) / 2] = make_float2(x, y);
}"""
ROWS = """
__global__ void rows(float *a, int pitch, int w) {
  int x = blockIdx.x * 32 + threadIdx.x;
  if (x < w) a[blockIdx.y * pitch + x] = x + blockIdx.y;
}"""
MIXED = """
__global__ void mixed(float *a, int w, int h) {
  int x = blockIdx.x * 8 + threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  if (x < w && y < h) a[z * w * h + y * h + x] = x + y + z;
}"""
LAUNCH = "<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>"


@pytest.mark.parametrize(
    ("kernel", "host", "needed"),
    [
        (PAIRS, f"pairs{LAUNCH}(a, w, h);", "w % 2 == 0"),
        (ROWS, "rows<<<dim3((w + 31) / 32, h), 32>>>(a, n, w);", "n >= w"),
        (
            "__global__ void steps(float *a, int n) { a[threadIdx.x * n] = threadIdx.x; }",
            "steps<<<1, 64>>>(a, n);",
            "n >= 1",
        ),
    ],
    ids=["pairs", "rows", "steps"],
)
def test_the_missing_condition_is_named(kernel: str, host: str, needed: str) -> None:
    found = findings(kernel, host)
    assert found
    for f in found:
        assert f.code is Verdict.DATA_RACE
        assert f.severity is Severity.WARNING
        assert f.message.endswith(f"; not if {needed}")
        assert any(f"`{needed}`" in line.text for line in f.explanation)


def test_the_end_of_a_range_is_tried_behind_its_start() -> None:
    kernel = """
__global__ void inside(float *a, int pitch, int first, int last) {
  int x = first + blockIdx.x * 32 + threadIdx.x;
  if (x < last) a[blockIdx.y * pitch + x] = x + blockIdx.y;
}"""
    found = findings(kernel, "inside<<<dim3((h - w + 31) / 32, 8), 32>>>(a, n, w, h);")
    assert found
    assert all(f.severity is Severity.WARNING and "; not " in f.message for f in found)


def test_looking_for_conditions_is_work_that_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent() -> int:
        engine = Engine()
        text = f"{PAIRS}\nvoid host(float *a, int w, int h) {{ pairs{LAUNCH}(a, w, h); }}\n"
        list(engine.check(CheckRequest("/none/sizes.cu", text)))
        return engine.spent

    whole = spent()
    monkeypatch.setattr(relations, "EFFORT", 0)
    assert spent() < whole
    found = findings(PAIRS, f"pairs{LAUNCH}(a, w, h);")
    assert found
    assert all(f.code is Verdict.DATA_RACE and "not if" not in f.message for f in found)


@pytest.mark.parametrize(
    ("kernel", "host"),
    [
        (PAIRS, f"if (w % 2) return; pairs{LAUNCH}(a, w, h);"),
        (ROWS, "if (n < w) return; rows<<<dim3((w + 31) / 32, h), 32>>>(a, n, w);"),
    ],
    ids=["pairs", "rows"],
)
def test_the_missing_condition_settles_it(kernel: str, host: str) -> None:
    assert not any(f.severity is not Severity.INFORMATION for f in findings(kernel, host))


@pytest.mark.parametrize(
    ("kernel", "host"),
    [
        # Only for odd sizes does anything happen.
        ("__global__ void odd(float *a, int n) { if (n % 2) a[n] = threadIdx.x; }", "odd<<<1, 64>>>(a, n);"),
        # Small sizes are right: an upper bound is no ordinary condition.
        (
            "__global__ void wraps(float *a, int n) { for (int i = threadIdx.x; i < n; i += 64) a[i / 2] = i; }",
            "wraps<<<1, 64>>>(a, n);",
        ),
        # Rows are counted in the wrong extent: right for cubes only.
        (MIXED, "mixed<<<(w + 7) / 8, dim3(8, 8, 8)>>>(a, w, h);"),
        # Behind another loop: how often that was gone through is no content of memory.
        (
            """__global__ void later(float *a, int w, int n, int m) {
                float *at = a + threadIdx.x;
                int k = 0;
                while (k < n) { at += 3 * w; k += 16; }
                while (k < m) { at[1] = at[0]; at += 5 * w; k += 32; }
            }""",
            "later<<<1, 64>>>(a, w, h, n);",
        ),
        # Nothing depends on a size.
        ("__global__ void sum(float *a, int n) { if (threadIdx.x < n) a[0] += threadIdx.x; }", "sum<<<1, 64>>>(a, n);"),
    ],
    ids=["odd", "wraps", "mixed", "later", "sum"],
)
def test_a_race_of_ordinary_sizes_is_an_error(kernel: str, host: str) -> None:
    found = findings(kernel, host)
    assert any(f.code is Verdict.DATA_RACE and f.severity is Severity.ERROR for f in found)
    assert not any("; not " in f.message for f in found if f.severity is Severity.ERROR)
