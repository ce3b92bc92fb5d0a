"""Launches and assumptions that users write down."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostguide_cases import text_of

from analyzers.engine import Engine
from analyzers.hostguide.comments import (
    comment_directives,
    directives_for,
    parse_assumption,
    parse_launch,
    user_contexts,
    with_assumptions,
)
from analyzers.hostguide.contexts import context_of_user_launch, default_context
from analyzers.ir.expr import BID, F32, I32, PTR, U8, U32, U64, Type, add, addr, cast, const, show, sym
from analyzers.ir.kernel import KERNEL_BLOCK, Barrier, Block, Kernel, Parameter, Site, Stmt, Store
from analyzers.model import SourceSpan, UserLaunch, Verdict
from analyzers.requests import CheckRequest, UnitFinished

PATH = "/case/k.cu"


def span_in(text: str, piece: str) -> SourceSpan:
    start = text.encode().index(piece.encode())
    line = text.encode().count(b"\n", 0, start) + 1
    end_line = line + piece.count("\n")
    return SourceSpan(PATH, line, 1, end_line, 1, start, start + len(piece.encode()))


def kernel_of(text: str, name: str, whole: str, *parameters: tuple[str, Type], body: tuple[Stmt, ...] = ()) -> Kernel:
    extent = span_in(text, whole)
    return Kernel(
        name,
        name,
        name,
        span_in(text, name + "("),
        extent,
        extent,
        tuple(Parameter(n, t, str(t), object=n if t == PTR else None) for n, t in parameters),
        (),
        (Block(KERNEL_BLOCK, body),),
    )


ONE = "__global__ void k(int n, unsigned char b, unsigned long long u, float f, int *p) {}"


def one(*, body: tuple[Stmt, ...] = ()) -> Kernel:
    return kernel_of(ONE, "k", ONE, ("n", I32), ("b", U8), ("u", U64), ("f", F32), ("p", PTR), body=body)


@pytest.mark.parametrize(
    ("text", "launch"),
    [
        ("grid=(4,4),block=(16,16),n=64", UserLaunch((4, 4, 1), (16, 16, 1), (("n", 64),))),
        ("grid=4 block=128", UserLaunch((4, 1, 1), (128, 1, 1))),
        (
            " grid = (1, 2, 3) , shared=0x100, n=-5, flag=true ",
            UserLaunch((1, 2, 3), None, (("n", -5), ("flag", 1)), 256),
        ),
        ("p.n=3", UserLaunch(None, None, (("p.n", 3),))),
    ],
)
def test_launch_notation(text: str, launch: UserLaunch) -> None:
    assert parse_launch(text) == launch


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the launch is empty"),
        ("grid=(4,4", "expected name=value at 'grid=(4,4'"),
        ("grid=(1,2,3,4)", "one, two or three numbers"),
        ("grid=x", "'x' is no integer"),
        ("block=(32,33)", "at most 1024 threads, this one 1056"),
        ("block=0", "x must lie between 1 and 1024"),
        ("grid=(1,70000)", "y must lie between 1 and 65535"),
        ("grid=4,grid=5", "grid is given twice"),
        ("n=1,n=2", "n is given twice"),
        ("n 5", "expected name=value at 'n 5'"),
        ("shared=-1", "cannot be negative"),
    ],
)
def test_bad_launch_notation(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse_launch(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n > 0", "(0 < param:n)"),
        ("n % 32 == 0 && n <= 1 << 20", "(((param:n % 32) == 0) && (param:n <= 1048576))"),
        ("blockDim.x == warpSize", "(bdim.x == 32)"),
        ("b + 1 < 300", "((i32(param:b) + 1) < 300)"),
        ("u >= 2u", "(2 <= param:u)"),
        ("n", "(param:n != 0)"),
        ("!(n == 3 || n == 5);", "!((param:n == 3) || (param:n == 5))"),
        ("min(n, 4) == 4", "(min(param:n, 4) == 4)"),
        ("(n > 3 ? n : 3) == 3", "(((3 < param:n) ? param:n : 3) == 3)"),
        ("n & 1", "((param:n & 1) != 0)"),
        ("-n < ~0x10", "(neg(param:n) < -17)"),
    ],
)
def test_assumptions(text: str, shown: str) -> None:
    assert text_of(parse_assumption(text, one())) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m > 0", r"'m' is no integer parameter of k \(it has: n, b, u\)"),
        ("p > 0", "'p' is a pointer"),
        ("f > 0", "'f' is a floating-point number"),
        ("threadIdx.x < 3", "differs from thread to thread"),
        ("n >", "ends too early"),
        ("n > 0)", r"unexpected '\)'"),
        ("(n > 0", r"expected '\)', found the end"),
        ("n $ 3", r"cannot read '\$ 3'"),
        ("n / 0 == 1", "division by zero"),
        ("99999999999999999999 > n", "too large"),
        ("(" * 100 + "n", "nested too deeply"),
        ("-" * 100 + "n", "nested too deeply"),
    ],
)
def test_bad_assumptions(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_assumption(text, one())


TEXT = """\
// über cuda-lsp: nothing of this is for us? yes: it is malformed
// cuda-lsp: launch grid=2 block=64 n=7
/* cuda-lsp: assume n > 0 */
template <class T>
__global__ void a(int n) {
  // cuda-lsp: launch block=32
}
const char *s = "// cuda-lsp: launch grid=9";
// cuda-lsp: launch block=2000
// cuda-lsp: assume m > 0
__global__ void b(int n) {}
int after; // cuda-lsp: launch grid=5
__global__ void c(int n) {}
"""


def test_comments_belong_to_the_kernel_below_or_around() -> None:
    directives, skipped = comment_directives(TEXT, PATH)
    assert [(d.kind, d.text) for d in directives] == [
        ("launch", "grid=2 block=64 n=7"),
        ("assume", "n > 0"),
        ("launch", "block=32"),
        ("assume", "m > 0"),
        ("launch", "grid=5"),
    ]
    assert [s.what for s in skipped] == [
        (
            "cuda-lsp: nothing of this is for us? yes: it is malformed: "
            "expected 'launch', 'assume', 'run' or 'ignore' after 'cuda-lsp:'"
        ),
        "cuda-lsp: launch block=2000: block=2000: x must lie between 1 and 1024",
    ]
    a = kernel_of(TEXT, "a", TEXT[TEXT.index("__global__ void a") : TEXT.index("const char")], ("n", I32))
    b = kernel_of(TEXT, "b", "__global__ void b(int n) {}", ("n", I32))
    c = kernel_of(TEXT, "c", "__global__ void c(int n) {}", ("n", I32))
    assert [d.text for d in directives_for(a, directives)] == ["grid=2 block=64 n=7", "n > 0", "block=32"]
    assert [d.text for d in directives_for(b, directives)] == ["m > 0"]
    assert [d.text for d in directives_for(c, directives)] == ["grid=5"]
    line = TEXT.splitlines()[1].encode()
    assert TEXT.encode()[directives[0].span.start_offset :].startswith(b"cuda-lsp: launch grid=2")
    assert line[directives[0].span.start_column - 1 :].startswith(b"cuda-lsp")

    contexts, bad = user_contexts(a, directives)
    assert [c.summary.block for c in contexts] == [("64", "1", "1"), ("32", "1", "1")]
    assert not bad
    context, bad = with_assumptions(contexts[0], a, directives)
    assert [(c.note.kind, c.note.text) for c in context.constraints] == [("user", "assume n > 0")]
    assert not bad
    _, bad = with_assumptions(contexts[0], b, directives)
    assert [s.what for s in bad] == ["cuda-lsp: assume m > 0: 'm' is no integer parameter of b (it has: n)"]


def test_user_launch_binds_what_it_names() -> None:
    context = context_of_user_launch(UserLaunch((4, 1, 1), None, (("n", 64), ("b", 3)), 16), one())
    assert {str(s.value): show(v) for s, v in context.bindings} == {
        "gdim.x": "4",
        "gdim.y": "1",
        "gdim.z": "1",
        "smem.dynamic": "16",
        "param:n": "64",
        "param:b": "3",
    }
    assert context.summary.source == "user"
    assert context.summary.block == ("blockDim.x", "blockDim.y", "blockDim.z")
    with pytest.raises(ValueError, match=r"no integer parameter 'q' \(it has: n, b, u\)"):
        context_of_user_launch(UserLaunch(values=(("q", 1),)), one())
    with pytest.raises(ValueError, match="300 does not fit"):
        context_of_user_launch(UserLaunch(values=(("b", 300),)), one())


def test_default_context_fixes_axes_the_kernel_never_mentions() -> None:
    site = Site(span_in(ONE, ONE))
    store = Store(1, addr("p"), cast(add(BID[1], sym("gdim.x", BID[1].ty)), I32), 4, site)
    context = default_context(one(body=(store,)))
    assert {str(s.value) for s, _ in context.bindings} == {"gdim.z", "bdim.x", "bdim.y", "bdim.z"}
    assert all(v is const(1, U32) for _, v in context.bindings)
    assert "blockDim.x is 1: the kernel does not use this axis" in context.assumptions
    assert context.summary.grid == ("gridDim.x", "gridDim.y", "1")
    assert not context.cooperative


def test_default_context_of_a_kernel_with_a_grid_barrier_is_cooperative() -> None:
    context = default_context(one(body=(Barrier(1, "grid", Site(span_in(ONE, ONE))),)))
    assert context.cooperative
    assert any("cooperatively" in a for a in context.assumptions)


def test_comments_of_a_kernel_in_a_header(tmp_path: Path) -> None:
    header = tmp_path / "k.cuh"
    header.write_text(
        "// cuda-lsp: launch grid=2,block=32\n// cuda-lsp: assume n >= 32\n"
        "__global__ void k(int *p, int n) { p[blockIdx.x * n + threadIdx.x] = n; }\n// cuda-lsp: nonsense\n"
    )
    source = tmp_path / "a.cu"
    text = '#include "k.cuh"\n'
    (finished,) = [e for e in Engine().check(CheckRequest(str(source), text)) if isinstance(e, UnitFinished)]
    (kernel,) = finished.result.kernels
    (context,) = kernel.contexts
    assert (context.launch.source, context.launch.grid[0], context.launch.block[0]) == ("user", "2", "32")
    assert kernel.verdict is Verdict.RACE_FREE
    (skipped,) = finished.result.skipped
    assert skipped.span is not None
    assert (skipped.span.path, skipped.span.start_line) == (str(header), 4)


def test_default_context_with_any_number_of_blocks() -> None:
    context = default_context(one(), any_blocks=True)
    assert "gdim.x" not in {str(s.value) for s, _ in context.bindings}
    assert context.summary.grid == ("gridDim.x", "1", "1")
