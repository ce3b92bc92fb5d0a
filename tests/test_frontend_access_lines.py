"""Accesses get lines of their own, and what a compiler says of these lines leads back to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from analyzers.explain import launchable
from analyzers.frontend.access_lines import AccessLines
from analyzers.ir.kernel import Recast
from analyzers.model import Mark, MarkedAccess, SourceSpan, marked_path, marks_in
from analyzers.requests import CheckRequest
from cuda_lsp.running import plan
from gpu_runner.request import ArrayArgument, Place, Request, RunAccess, RunRace, ScalarArgument, Side
from gpu_runner.session import serve
from gpu_runner.shown import is_between


def spans(text: bytes, pieces: Iterable[bytes], does: str = "r") -> dict[SourceSpan, str]:
    """Of pieces of a text that occur once."""
    found: dict[SourceSpan, str] = {}
    for piece in pieces:
        assert text.count(piece) == 1
        start = text.index(piece)
        (line, column), (last, behind) = (
            (text.count(b"\n", 0, at) + 1, at - text.rfind(b"\n", 0, at)) for at in (start, start + len(piece))
        )
        found[SourceSpan("a.cu", line, column, last, behind, start, start + len(piece))] = does
    return found


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        (b"x = a[i] + b[i];", [b"a[i]", b"b[i]"], ["x = ", "@a[i]", " + ", "@b[i]", ";"]),
        (b"x = a[b[i]];", [b"a[b[i]]", b"b[i]"], ["x = ", "@a[", "@b[i]", "@]", ";"]),
        (b"x = p[i][j];", [b"p[i]", b"p[i][j]"], ["x = ", "@", "@p[i]", "@[j]", ";"]),
        (b"x = a[i]\n  + b[\n i];", [b"b[\n i]", b"a[i]"], ["x = ", "@a[i]", "\n  + ", "@b[\n i]", ";"]),
        (b"\tx=*p;", [b"*p"], ["\tx=", "@*p", ";"]),
        # Overlapping, in front of a macro's arguments, among them: left as they are.
        (b"x = a[i] + b;", [b"a[i] +", b"+ b"], ["x = ", "@a[i] +", " b;"]),
        (b"x = *AT (p);", [b"*AT"], ["x = *AT (p);"]),
        (b"x = AT(a, 3);", [b"a, 3)"], ["x = AT(a, 3);"]),
    ],
)
def test_each_access_has_a_line_and_all_keep_their_columns(
    text: bytes, pieces: list[bytes], expected: list[str]
) -> None:
    lines = AccessLines("a.cu", text, spans(text, pieces))
    marked = lines.between(0, len(text)).decode()
    parts = re.split(r'\n#line (\d+) "(.*)"\n', marked)
    shown = [parts[0]]
    at = len(parts[0])
    for number, name, piece in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        path, marks = marks_in(name)
        assert path == "a.cu"
        start = text.rfind(b"\n", 0, at) + 1
        assert int(number) == text.count(b"\n", 0, at) + 1
        assert piece[: at - start] == " " * (at - start)
        kept = piece[at - start :]
        assert text[at : at + len(kept)].decode() == kept
        for one in marks:
            assert one.mark in {span.mark for span in spans(text, pieces)}
        at += len(kept)
        shown.append("@" * bool(marks) + kept)
    assert [piece for piece in shown if piece] == expected
    assert at == len(text)


def test_a_name_says_what_is_made_there() -> None:
    accesses = (MarkedAccess(Mark(7, 3, 12), "r"), MarkedAccess(Mark(7, 1, 15), "rw"))
    assert marked_path("a.cu", accesses) == "a.cu@7.3.12r@7.1.15rw"
    assert marks_in("a.cu@7.3.12r@7.1.15rw") == ("a.cu", accesses)
    assert marks_in("a@b/c@2.cu") == ("a@b/c@2.cu", ())
    assert marks_in("a@b/c.cu@1.2.3a") == ("a@b/c.cu", (MarkedAccess(Mark(1, 2, 3), "a"),))


@pytest.mark.parametrize(
    ("text", "write", "read", "expected"),
    [
        (b"s[t] = a[t];", b"s[t]", b"a[t]", ["s[t]:w", " ", "= :w", "a[t]:rw", ";"]),
        (b"s[t] += f(a[t], 2) + 1, u;", b"s[t]", b"a[t]", ["s[t]:w", " ", "+= f(:w", "a[t]:rw", ", 2) + 1:w", ", u;"]),
        (b"if (s[t] == a[t]) {}", b"s[t]", b"a[t]", ["if (", "s[t]:w", " == ", "a[t]:r", ") {}"]),
    ],
)
def test_what_is_assigned_belongs_to_the_write(text: bytes, write: bytes, read: bytes, expected: list[str]) -> None:
    lines = AccessLines("a.cu", text, spans(text, [write], "w") | spans(text, [read]))
    first, *parts = re.split(r'\n#line \d+ "(.*)"\n', lines.between(0, len(text)).decode())
    shown = [first] if first else []
    at = len(first)
    for name, piece in zip(parts[::2], parts[1::2], strict=True):
        kept = piece[at:]
        at += len(kept)
        does = "".join(one.does for one in marks_in(name)[1])
        shown += [f"{kept}:{does}" if does else kept] if kept else []
    assert shown == expected


KERNEL = """\
#define AT(p, i) p[i]
struct S {
  int x;
  int y[4];
};
__device__ int twice(const int *p, int j) { return p[j] + p[j + 1]; }
__global__ void k(int *a, int *idx, S *s, float4 *f, int n) {
  __shared__ int t[64];
  int i = threadIdx.x;
  t[i] = i;
  int q = a[idx[i]] + 1;
  a[idx[t[i]]] = t[i] + a[i + 2];
  a[i] += a[i + 1];
  *(a + i + q) = s[i].x ? s->y[i % 4] : (*s).x;
  atomicAdd(&a[i], idx[i]);
  f[i + 9] = make_float4(f[i].y, 0, q, twice(idx, i));
  q += AT(a, 3) + a[i + 5];
  for (int j = t[0]; j < a[1]; j += t[2] + 1) a[j] = j;
  a[q] = idx[7];
}
"""


def test_what_a_run_saw_is_told_by_access(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    found = launchable(CheckRequest(path, KERNEL), "k")
    arrays = (ArrayArgument("i32", 4096),) * 3
    asked = replace(
        plan.base_request(found, path, (), seeds=1),
        block=(64, 1, 1),
        arguments=(*arrays, ArrayArgument("f32", 4096), ScalarArgument(64)),
    )
    result = serve(asked)
    assert result.status == "finished", result.message
    sides = [side for race in result.races for side in (race.first, race.second)]
    told = {(side.places[0].line, side.kind, written(side)) for side in sides}
    known = {(mark.line, text_of(mark)) for _, mark in found.marks}
    assert {(line, text) for line, _, text in told if text} <= known
    assert told >= {
        (12, "write", "a[idx[t[i]]]"),
        (12, "read", "a[i + 2]"),
        (13, "read", "a[i + 1]"),
        (13, "write", "a[i]"),
        (17, "read", ""),  # a macro's
        (17, "read", "a[i + 5]"),
        (18, "read", "a[1]"),
    }
    assert not any(
        line > 10 and kind == "write" and text in ("idx[i]", "t[i]", "idx[t[i]]") for line, kind, text in told
    )


def text_of(mark: Mark) -> str:
    return KERNEL.splitlines()[mark.line - 1][mark.column - 1 :][: mark.length]


def written(access: RunAccess) -> str:
    """What an access is in the kernel's text; "" where that is not known."""
    place = access.places[0]
    if not place.marks:
        return ""
    assert (place.line, place.column) == (place.marks[0].line, place.marks[0].column)
    return text_of(place.marks[0])


def test_a_race_of_other_accesses_of_the_lines_confirms_nothing() -> None:
    read, other, write = Mark(4, 12, 4), Mark(4, 19, 8), Mark(5, 5, 4)

    def access(mark: Mark | None, kind: Literal["read", "write"], line: int) -> RunAccess:
        marks = (mark,) if mark is not None else ()
        places = (Place("a.cu", line, 5, "k", marks), Place("a.cu", 9, 1, "caller"))
        return RunAccess(kind, (0, 0, 0), (0, 0, 0), places, "")

    def race(first: RunAccess, second: RunAccess) -> RunRace:
        return RunRace(first, second, "intra-block", "global", "a[1]", False, 1, 0)

    sides = (Side(4, other), Side(5, write))
    assert is_between(sides, race(access(other, "read", 4), access(write, "write", 5)))
    assert is_between(sides, race(access(write, "write", 5), access(other, "read", 4)))
    assert not is_between(sides, race(access(read, "read", 4), access(write, "write", 5)))
    # The write of an update is the same access, and may hide the read.
    assert is_between(sides, race(access(other, "write", 4), access(write, "write", 5)))
    # What is not marked is told by its line, as is what is called there.
    assert is_between(sides, race(access(None, "read", 4), access(write, "write", 5)))
    assert is_between((Side(4), sides[1]), race(access(read, "read", 4), access(write, "write", 5)))
    assert is_between((Side(9, Mark(9, 1, 1)), sides[1]), race(access(read, "read", 4), access(write, "write", 5)))


STRUCTURES = """\
#include <cuda_fp16.h>
struct Own { float v; __device__ Own &operator=(const Own &o) { v = o.v; return *this; } };
struct Pair { int x; float y; };
template <typename T> __global__ void rotate(T *a) {
  __shared__ T s[64];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}
void f(half *a, Own *b, Pair *c, int4 *d) {
  rotate<<<1, 64>>>(a);
  rotate<<<1, 64>>>(b);
  rotate<<<1, 64>>>(c);
  rotate<<<1, 64>>>(d);
}
"""


@pytest.mark.parametrize("kernel", ["rotate<__half>", "rotate<Own>", "rotate<Pair>", "rotate<int4>"])
def test_a_race_of_structures_that_are_assigned_is_confirmed(tmp_path: Path, kernel: str) -> None:
    """The compiler gives the write of a structure the place of the value."""
    path = str(tmp_path / "a.cu")
    found = launchable(CheckRequest(path, STRUCTURES), kernel)
    (outcome,) = plan.outcomes(found, plan.base_request(found, path, (), seeds=2))
    assert outcome.seen is not None
    race = outcome.seen.races[0]
    (write,) = (side for side in (race.first, race.second) if side.kind == "write")
    assert write.places[-1].line == 6


def test_a_compiler_that_takes_no_marked_text_gets_the_other() -> None:
    kernel = "__global__ void k(int *a) { a[0] = threadIdx.x; }\n"
    request = Request("k", (1, 1, 1), (32, 1, 1), (ArrayArgument("i32", 4),), ("a",), "nonsense;\n" + kernel)
    assert serve(request).status == "compile"
    assert serve(replace(request, plain=kernel)).races


def test_a_read_that_its_own_statement_hides_is_seen_alone(tmp_path: Path) -> None:
    """The write of `a[i] = a[i] + 1` is the last access to the cell when another thread comes."""
    text = (
        "__global__ void k(int *a) {\n"
        "  a[threadIdx.x] = a[threadIdx.x] * 2;\n"
        "  a[threadIdx.x + 1] = 7;\n"
        "}\n"
        "void f(int *a) { k<<<1, 64>>>(a); }\n"
    )
    path = str(tmp_path / "a.cu")
    found = launchable(CheckRequest(path, text), "k")
    base = plan.base_request(found, path, (), seeds=2)
    outcomes = list(plan.outcomes(found, base))
    pairs = {tuple(a.text for a in o.finding.accesses) for o in outcomes if o.finding is not None}
    assert any(o.finding is not None and "read" in {a.kind for a in o.finding.accesses} for o in outcomes), pairs
    assert all(o.confirmed for o in outcomes)


def test_what_no_member_of_a_shared_variable_has() -> None:
    """Padding between members and behind them, in bases, inner arrays and inner classes; all of a union."""
    declared = {
        "char a; int b; double c; short d;": ((1, 4), (18, 24)),
        "int a; float b[3];": (),
        "struct { char a; short b; } x[2]; int c;": ((1, 2), (5, 6)),
        "union { int a; char b; }; double c;": ((0, 4), (4, 8)),
        "float4 a; unsigned char b;": ((17, 32),),
        "int a : 3; int b;": ((0, 8),),
        "double a; Base b;": ((9, 12),),
    }
    for members, gaps in declared.items():
        text = f"""
        struct Base {{ char x; int y; }};
        struct P {{ {members} }};
        __global__ void k(P *out) {{ __shared__ P s[2][8]; out[0] = s[0][0]; }}"""
        found = launchable(CheckRequest("/project/gaps.cu", text), "k")
        assert [v.gaps for v in found.variables if v.display == "s"] == [gaps], members


def test_what_raw_shared_memory_is_taken_for() -> None:
    """Casts to classes with padding: from where on, if that is a number. Not of pointers to other memory, to a base, or
    of memory that has padding of its own."""
    text = """
    struct Base { char x; int y; };
    struct P : Base { double c; };
    struct Full { int a, b; };
    struct Dependent { char *memory; template <class T> __device__ T *at(int i) { return (T *)memory + i; } };
    __global__ void k(char *out, int n) {
      extern __shared__ __align__(16) char raw[];
      __shared__ float4 more[8];
      __shared__ P own[8];
      CASTS
    }"""
    base, whole = ((1, 4),), ((1, 4),)
    cases = {
        "((P *)raw)->c = 1;": [Recast(16, 8, whole, 0)],
        "auto p = reinterpret_cast<P *>(raw + 64); p[n].c = 1; p[n].x = 2;": [Recast(16, 8, whole, 64)],
        "reinterpret_cast<P &>(raw[16 * n]).c = 1;": [Recast(16, 8, whole)],
        "(*(P (*)[4])(raw + 8 * n))[1].c = 1;": [Recast(16, 8, whole)],
        "void *p = raw; static_cast<Base *>(p)->x = 1;": [Recast(8, 4, base)],
        "Dependent d{raw}; d.at<Base>(n)->y = 1;": [Recast(8, 4, base)],
        "((Full *)raw)->a = 1;": [],
        "((P *)out)->c = raw[0];": [],
        "Base &b = own[n]; b.x = raw[0];": [],
        "((Base *)(void *)more)[n].x = raw[0];": [],
    }
    for casts, expected in cases.items():
        found = launchable(CheckRequest("/project/raw.cu", text.replace("CASTS", casts)), "k")
        by_name = {v.display: list(v.recast) for v in found.variables}
        assert by_name.get("raw", []) == expected, casts
        assert not by_name.get("own")
        if "more" in casts:
            assert by_name["more"] == [Recast(8, 4, base, 0)]


@pytest.mark.parametrize(
    ("statement", "written", "build"),
    [
        ("base = atomicAdd(next, 1);", "base", "confirm"),
        ("base = atomicAdd(next, 1);", "base", "shipped"),
        ("out[atomicAdd(next, 1) & 1] = t;", "out[atomicAdd(next, 1) & 1]", "confirm"),
    ],
)
def test_a_write_and_an_atomic_of_one_statement_are_told_apart(
    tmp_path: Path, build: Literal["confirm", "shipped"], statement: str, written: str
) -> None:
    text = (
        "__global__ void k(int *next, int *out) {\n"
        "  __shared__ int base;\n"
        "  int t = threadIdx.x;\n"
        f"  {statement}\n"
        "  __syncthreads();\n  out[t + 8] = base;\n"
        "}\n"
    )
    path = str(tmp_path / "a.cu")
    found = launchable(CheckRequest(path, text), "k")
    asked = plan.base_request(found, path, (), seeds=2, build=build)
    arguments = (ArrayArgument("i32", 64), ArrayArgument("i32", 128))
    races = serve(replace(asked, grid=(1, 1, 1), block=(64, 1, 1), arguments=arguments)).races
    shown = {
        text.splitlines()[3][mark.column - 1 :][: mark.length]
        for race in races
        for side in (race.first, race.second)
        if side.kind == "write" and side.places[0].line == 4
        for mark in side.places[0].marks[:1]
    }
    assert shown == {written}
