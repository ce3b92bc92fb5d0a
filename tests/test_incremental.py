"""A check after an edit says what a fresh check of the same text says: results are kept and moved, never made up."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.incremental import edit_inside_function, moved
from analyzers.model import CheckOptions, SourceSpan, UnitResult
from analyzers.requests import CheckRequest, Event, KernelFinished, KernelForeseen, UnitFinished
from benchmarks.large_file import large_file

CORPUS = Path(__file__).parent / "corpus"
KERNEL = re.compile(r"__global__[^;{]*\{\n")
SAMPLE = ("early_exit", "host_relations", "objects", "templates", "macros", "sync_forms")
WORK: dict[str, Any] = {"milliseconds": 0.0, "rungs": ()}
"""What a result cost: less, where answers are known."""


def checked(engine: Engine, path: str, text: str) -> UnitResult:
    (result,) = [event.result for event in events(engine, path, text) if isinstance(event, UnitFinished)]
    return without_cost(result)


def events(engine: Engine, path: str, text: str) -> list[Event]:
    return list(engine.check(CheckRequest(path=path, text=text, flags=CompileFlags(), options=CheckOptions())))


def foreseen(engine: Engine, path: str, text: str) -> list[str]:
    """The names of the kernels that were foreseen, each of which must have turned out so, verdict and key."""
    told = events(engine, path, text)
    final = {e.result.mangled: (without_cost(e.result), e.key) for e in told if isinstance(e, KernelFinished)}
    early = {e.result.mangled: (without_cost(e.result), e.key) for e in told if isinstance(e, KernelForeseen)}
    assert early == {mangled: final[mangled] for mangled in early}
    return sorted(result.name for result, _ in early.values())


def without_cost(value: Any) -> Any:
    """Plain result data without what it cost."""
    if isinstance(value, tuple):
        return tuple(map(without_cost, value))
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value)]
        return replace(value, **{n: WORK[n] if n in WORK else without_cost(getattr(value, n)) for n in names})
    return value


def edits(text: str) -> list[str]:
    """The text with a statement added to its first, its middle and its last kernel, and without its middle barrier."""
    starts = [m.end() for m in KERNEL.finditer(text)]
    chosen = sorted({starts[0], starts[len(starts) // 2], starts[-1]})
    changed = [f"{text[:at]}  const int added = 3;\n\n{text[at:]}" for at in chosen]
    barriers = [m.start() for m in re.finditer(r"__syncthreads\(\);", text)]
    if barriers:
        at = barriers[len(barriers) // 2]
        changed.append(text[:at] + text[at + len("__syncthreads();") :])
    return changed


@pytest.mark.parametrize("name", SAMPLE)
def test_after_an_edit_the_result_is_that_of_a_fresh_check(name: str) -> None:
    path = str(CORPUS / f"{name}.cu")
    text = Path(path).read_text()
    warm = Engine()
    checked(warm, path, text)
    for changed in edits(text):
        assert checked(warm, path, changed) == checked(Engine(), path, changed)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_foreseen_of_an_edited_kernel_comes_true(name: str) -> None:
    path = str(CORPUS / f"{name}.cu")
    text = Path(path).read_text()
    warm = Engine()
    checked(warm, path, text)
    told = [foreseen(warm, path, changed) for changed in edits(text)]
    assert any(told)


CALLS = """
constexpr int width() { return 32; }
__device__ void shared_by_none(int *s) { s[threadIdx.x ^ 1] = 1; }
__device__ void put(int *s) {
  s[threadIdx.x] = 1;
}
template <int N> __global__ void fold(int *a) {
  put(a);
}
__global__ void other(int *a) {
  put(a);
  shared_by_none(a + 64);
}
void go(int *a) {
  fold<3><<<1, 64>>>(a);
  other<<<1, 64>>>(a);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("  put(a);\n}\n__global__", "  put(a + 1);\n}\n__global__", ["fold<3>"]),
        ("put(int *s) {\n  s[", "put(int *s) {\n  s[1 + ", ["fold<3>", "other"]),
        # What is called now was left out of the text that is parsed first.
        ("  put(a);\n}\n__global__", "  put(a);\n  shared_by_none(a);\n}\n__global__", []),
        ("  put(a);\n}\n__global__", "  put(a + width());\n}\n__global__", ["fold<3>"]),
        ("  put(a);\n}\n__global__", "  put(a)\n}\n__global__", []),
        ("  put(a);\n}\n__global__", "  put(b);\n}\n__global__", []),
        ("return 32", "return 33", []),
        ("fold<3><<<1, 64", "fold<3><<<1, 65", []),
    ],
)
def test_which_kernels_are_foreseen(tmp_path: Path, old: str, new: str, names: list[str]) -> None:
    path, (text, changed) = str(tmp_path / "a.cu"), edited(CALLS, old, new)
    warm = Engine()
    checked(warm, path, text)
    assert foreseen(warm, path, changed) == names


def test_one_edit_after_the_other(tmp_path: Path) -> None:
    path, text = str(tmp_path / "large.cu"), large_file(12)
    warm = Engine()
    checked(warm, path, text)
    for number, start in enumerate(m.end() for m in list(KERNEL.finditer(text))[::-1]):
        text = f"{text[:start]}  const int added_{number} = {number};\n{text[start:]}"
        checked(warm, path, text)
    assert checked(warm, path, text) == checked(Engine(), path, text)


def test_every_span_of_a_result_is_moved(tmp_path: Path) -> None:
    """Also where the declared types of its parts do not say at once that there is one."""
    path, text = str(tmp_path / "large.cu"), large_file(12)
    result = checked(Engine(), path, text)
    first = KERNEL.search(text)
    assert first is not None
    longer = f"{text[: first.end()]}  const int added = 1;\n{text[first.end() :]}"
    edit = edit_inside_function(path, text, longer, [result.kernels[0].extent])
    assert edit is not None
    before, after = list(spans(result)), list(spans(moved(result, edit)))
    assert len(before) > 50
    assert after == [edit.moved(span) for span in before]
    assert after != before


def spans(value: Any) -> list[SourceSpan]:
    if isinstance(value, SourceSpan):
        return [value]
    if isinstance(value, tuple):
        return [span for item in value for span in spans(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return [span for f in fields(value) for span in spans(getattr(value, f.name))]
    return []


def edited(text: str, old: str, new: str) -> tuple[str, str]:
    """Before and after."""
    assert text.count(old) == 1
    return text, text.replace(old, new)


RUNS_ON_HOST = """
#define BOTH __host__ __device__
BOTH int width() {
  int w = 64;
  return w;
}
__global__ void rows(int *a) {
  int i = blockIdx.x * 64 + threadIdx.x % width();
  a[i] = i;
}
void run(int *a) { rows<<<4, width()>>>(a); }
"""
CONSTANT = """
#define CONSTANT constexpr
__device__ CONSTANT int width() {
  int w = 64;
  return w;
}
__global__ void one(int *a) {
  a[blockIdx.x * width() + threadIdx.x] = threadIdx.x;
}
__global__ void two(int *a) {
  __shared__ int s[width()];
  a[blockIdx.x * sizeof(s) / 4 + threadIdx.x] = threadIdx.x;
}
void run(int *a) { one<<<4, 64>>>(a), two<<<4, 64>>>(a); }
"""
ARGUMENT = """
constexpr __host__ __device__ int width() {
  int w = 64;
  return w;
}
template <int N> __global__ void rows(int *a) {
  a[blockIdx.x * N + threadIdx.x] = width();
}
void run(int *a) { rows<width()><<<4, 64>>>(a); }
"""
DEDUCED = """
__device__ auto pick(int i) {
  int j = i;
  return j;
}
__global__ void one(int *a) { a[pick(threadIdx.x)] = threadIdx.x; }
__global__ void two(int *a) { a[sizeof(decltype(pick(1))) * threadIdx.x / 4] = threadIdx.x; }
void run(int *a) { one<<<1, 64>>>(a), two<<<1, 64>>>(a); }
"""
LAUNCHES = """
__global__ void child(int *a) {
  a[threadIdx.x] = 1;
}
__global__ void parent(int *a) {
  int i = 0;
}
void run(int *a) { parent<<<1, 1>>>(a); }
"""
UNNAMED = """
__global__ void one(int *a) {
  int i = threadIdx.x;
  a[i] = 1;
}
template <class F> __global__ void each(F f) { f(threadIdx.x); }
void run(int *a) {
  one<<<1, 64>>>(a);
  each<<<1, 64>>>([=] __device__ (int i) { a[i] = 1; });
}
"""
UNLAUNCHED = """
__global__ void one(int *a) {
  int i = threadIdx.x;
  a[blockIdx.x * blockDim.x + i] = i;
}
// cuda-lsp: launch block=(64)
__global__ void two(int *a) { a[threadIdx.x] = 2; }
"""
TWO = """
__global__ void one(int *a) {
  int i = threadIdx.x;
  a[i] = 1;
}
__global__ void two(int *a) { /* all */ a[threadIdx.x] = 2; }
void run(int *a) { one<<<1, 64>>>(a), two<<<1, 64>>>(a); }
"""
HIDDEN = """
__global__ void one(int *a) {
  int i = threadIdx.x;
  a[i] = 1;
}
void run(int *a) { one<<<1, 64>>>(a), two<<<1, 64>>>(a); }
__global__ void two(int *a) { int i = ; }}
__global__ void three(int *a) { a[0] = 1; }
"""
BEYOND = {
    "a function that host code runs": edited(RUNS_ON_HOST, "64;", "32;"),
    "an array bound": edited(CONSTANT, "64;", "32;"),
    "a template argument": edited(ARGUMENT, "64;", "32;"),
    "the type of a result": edited(DEDUCED, "int j", "char j"),
    "a launch in a kernel": edited(LAUNCHES, "int i = 0;", "child<<<1, 1>>>(a);"),
    "the name of a lambda": edited(UNNAMED, "int i = threadIdx.x;", "int i =\n threadIdx.x;"),
    "a comment that does not end": edited(TWO, "int i = threadIdx.x;", "int i = threadIdx.x; /*"),
    "what launches are considered": edited(UNLAUNCHED, "int i = threadIdx.x;", "int i = threadIdx.x + threadIdx.y;"),
    "a line that a carriage return ends": edited(TWO, "int i = threadIdx.x;", "int i =\r threadIdx.x;"),
    "a macro": edited(TWO, "int i = threadIdx.x;", "int i = threadIdx.x;\n%:define threadIdx blockIdx"),
    "an error in another kernel": edited(HIDDEN, "int i = threadIdx.x;", "int i =\n threadIdx.x;"),
    "an error that hides a kernel": edited(TWO, "int i = threadIdx.x;", "int i = threadIdx.x; if ("),
}


@pytest.mark.parametrize("what", BEYOND)
def test_what_an_edit_inside_a_function_changes_elsewhere(tmp_path: Path, what: str) -> None:
    path, (before, after) = str(tmp_path / "edited.cu"), BEYOND[what]
    warm = Engine()
    first = checked(warm, path, before)
    assert checked(warm, path, after) == checked(Engine(), path, after)
    assert checked(warm, path, before) == first


def test_an_edit_keeps_its_place_in_bytes_of_any_encoding(tmp_path: Path) -> None:
    path, before = str(tmp_path / "edited.cu"), TWO.replace("int i", "/* \udce9 */ int i")
    after = before.replace("a[i] = 1;", "a[i] = 1; // \udce8")
    warm = Engine()
    checked(warm, path, before)
    assert checked(warm, path, after) == checked(Engine(), path, after)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_statement_at_the_end_of_a_function_is_an_edit_inside_it(end: str) -> None:
    before = TWO.replace("\n", end)
    after = before.replace("a[i] = 1;", f"a[i] = 1;{end}  i++;", 1)
    function = SourceSpan("a.cu", 2, 1, 5, 2, before.index("__global__"), before.index("}") + 1)
    edit = edit_inside_function("a.cu", before, after, [function])
    assert edit is not None
    assert (edit.lines, edit.delta) == (1, len(after) - len(before))
