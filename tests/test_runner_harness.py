"""A request in a process of its own: findings in the user's words, and everything that can go wrong as an answer."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import gpu_runner.compile as compiling
from gpu_runner.compile import nearest_arch
from gpu_runner.harness import _death, run  # pyright: ignore[reportPrivateUsage]
from gpu_runner.naming import Shapes, entry_named, together
from gpu_runner.ptx.parse import parse
from gpu_runner.request import (
    ArrayArgument,
    Focus,
    Goal,
    Recast,
    Request,
    RunResult,
    ScalarArgument,
    Side,
    Variable,
    from_json,
    to_json,
)
from gpu_runner.session import refused, serve
from gpu_runner.shown import shows
from gpu_runner.too_large import too_large
from gpu_runner.worker import processor_seconds

SHIFT = """
namespace ns {
template <class T> __device__ T *at(T *p, int i) { return p + i; }
template <class T> __global__ void shift(T *a, int n) {
  __shared__ T s[64];
  int i = threadIdx.x;
  *at(s, i) = a[i];
  if (i < n) a[i] = s[i + 1];
}
}
"""
REQUEST = Request(
    "shift",
    (1, 1, 1),
    (64, 1, 1),
    (ArrayArgument("f32", 64, "iota"), ScalarArgument(63)),
    ("a", "n"),
    SHIFT,
    "/project/shift.cu",
    compiler="nvrtc",
    instances=("ns::shift<float>",),
    seeds=(0, 1),
    variables=(Variable("s", 256, 4, (64,)), Variable("t", 256, 8, (32,)), Variable("s", 32, 4, (8,))),
)


def test_a_race_is_told_with_its_threads_lines_and_address() -> None:
    result = run(REQUEST)
    assert (result.status, result.runs, result.faults, result.compiler) == ("finished", 2, (), "nvrtc")
    assert {(race.scope, race.space, race.same_value) for race in result.races} == {
        ("intra-warp", "shared", False),
        ("intra-block", "shared", False),
    }
    race = next(race for race in result.races if race.scope == "intra-block")
    assert race.address == "s[32]"
    sides = {access.kind: access for access in (race.first, race.second)}
    assert sides["write"].thread == (32, 0, 0)
    assert sides["read"].thread == (31, 0, 0)
    assert [place.line for place in sides["write"].places] == [7]
    assert [(place.path, place.line) for place in sides["read"].places] == [("/project/shift.cu", 8)]
    assert from_json(RunResult, to_json(result)) == result
    assert from_json(Request, to_json(REQUEST)) == REQUEST


def test_memory_whose_shape_is_not_known_is_told_in_bytes() -> None:
    """Where nobody says what it is, and where variables of two shapes have the name and the size."""
    two_shapes = (*REQUEST.variables, Variable("s", 256, 8, (4, 8)))
    for variables in ((), two_shapes):
        races = run(replace(REQUEST, variables=variables)).races
        assert {race.address for race in races if race.scope == "intra-block"} == {"s + 128 bytes"}


@pytest.mark.parametrize("gap", ["a", "b", "c", ""])
def test_padding_is_copied_and_not_said_to_be_read_before_it_was_written(gap: str) -> None:
    """A member that was not written is, though."""
    members = "".join(f"s[t].{name} = t; " for name in "abc" if name != gap)
    text = f"""
    struct P {{ char a; double b; short c; }};
    extern "C" __global__ void k(P *out) {{
      __shared__ P s[32]; int t = threadIdx.x;
      {members} __syncthreads();
      P copied = s[t ^ 1];
      out[t] = copied;
    }}"""
    shape = Variable("s", 768, 24, (32,), ((1, 8), (18, 24)))
    arguments = (ArrayArgument("b8", 768),)
    asked = Request(
        "k", (1, 1, 1), (32, 1, 1), arguments, ("out",), text, compiler="nvrtc", seeds=(0,), variables=(shape,)
    )
    assert bool(serve(asked).faults) == bool(gap)
    assert serve(replace(asked, variables=())).faults


def test_a_member_that_some_threads_left_out_is_told_though_a_copy_read_padding_first() -> None:
    text = """
    struct P { char a, b; double c; };
    extern "C" __global__ void k(P *out) {
      __shared__ P s[32]; int t = threadIdx.x;
      s[t].a = t; if (t < 31) s[t].b = t;
      s[t].c = t;
      __syncthreads();
      P copied = s[t];
      out[t] = copied;
    }"""
    shape = Variable("s", 512, 16, (32,), ((2, 8),))
    asked = Request(
        "k", (1, 1, 1), (32, 1, 1), (ArrayArgument("b8", 512),), ("out",), text,
        compiler="nvrtc", seeds=(0,), variables=(shape,),
    )  # fmt: skip
    (fault,) = serve(asked).faults
    assert fault.kind == "uninitialised"
    assert fault.access.thread == (31, 0, 0)
    assert fault.text.startswith("s[31]")


_SECTIONS = """
struct P { char a; double b; short c; };
extern "C" __global__ void k(P *out, float *rest, int n) {
  extern __shared__ unsigned char raw[]; int t = threadIdx.x;
  float *w = (float *)raw;
  P *s = (P *)(raw + (n * 4 + 7 & ~7));
  LEFT_OUT
  __syncthreads();
  P copied = s[t ^ 1];
  out[t] = copied;
  rest[t] = w[t ^ 1];
}"""


@pytest.mark.parametrize("build", ["confirm", "shipped"])
@pytest.mark.parametrize("left_out", ["", "s[t].a", "s[t].b", "s[t].c", "w[t]"])
def test_padding_of_what_raw_memory_is_taken_for(left_out: str, build: Literal["confirm", "shipped"]) -> None:
    """Where its elements begin, only the launch says; all that is read unwritten has to fit one place."""
    written = ("s[t].a", "s[t].b", "s[t].c", "w[t]")
    text = "".join(f"if (t != 8) {one} = t; " if one == left_out else f"{one} = t; " for one in written)
    raw = Variable("raw", None, 1, (), (), (Recast(24, 8, ((1, 8), (18, 24))),))
    arguments = (ArrayArgument("b8", 768), ArrayArgument("f32", 32), ScalarArgument(37))
    asked = Request(
        "k", (1, 1, 1), (32, 1, 1), arguments, ("out", "rest", "n"), _SECTIONS.replace("LEFT_OUT", text),
        compiler="nvrtc", seeds=(0,), variables=(raw,), dynamic_shared=2048, build=build,
    )  # fmt: skip
    faults = serve(asked).faults
    assert {fault.kind for fault in faults} == ({"uninitialised"} if left_out else set())
    address = {"s[t].a": 152 + 8 * 24, "s[t].b": 160 + 8 * 24, "s[t].c": 168 + 8 * 24, "w[t]": 32}
    assert all(fault.text.startswith(f"raw[{address[left_out]}] ") for fault in faults)
    assert serve(replace(asked, variables=())).faults
    assert not serve(replace(asked, variables=(replace(raw, recast=(*raw.recast, Recast(1, 1, ((0, 1),)))),))).faults


def test_places_of_several_casts_are_told_apart_as_far_as_there_are_bits() -> None:
    first, second = Recast(8, 4, ((1, 4),)), Recast(4, 2, ((1, 2),), 2)
    shapes = Shapes((Variable("a", 64, 1, (64,), (), (first, second, first)),), {"a": 64})
    assert list(shapes.recast("a")) == [first, second]
    two, one = (((1, 4),), ((5, 8),)), (((3, 4),),)
    five = tuple(((n, n + 1),) for n in range(5))
    assert together([two, one]) == (((1, 4), (3, 4)), ((5, 8), (3, 4)))
    assert together([]) == ()
    assert len(together([two] * 6)) == len(together([two] * 9 + [one])) == 64
    assert len(together([*[two] * 5, five])) == 32


def test_the_end_of_a_mangled_name_that_can_be_read_in_two_ways() -> None:
    """`13__nv_bfloat16S2_S2_PS0_ifE2Ks`: sixteen letters stand behind a 16 that is none of their number."""
    mangled = "_ZZ5flashILi64ELi32EEvPK13__nv_bfloat16S2_S2_PS0_ifE2Ks"
    shapes = Shapes((Variable("Ks", 8192, 4, (64, 32)),), {mangled: 8192})
    assert shapes.cell(mangled, 132) == "Ks[1][1]"
    assert Shapes((), {mangled: 8192}).cell(mangled, 132) == "Ks + 132 bytes"
    assert Shapes((Variable("a1b", 8, 4, (2,)),), {"_ZZ1kvE3a1b": 8}).cell("_ZZ1kvE3a1b", 4) == "a1b[1]"


@pytest.mark.parametrize("build", ["confirm", "shipped"])
def test_addresses_in_front_of_shared_memory_are_told_by_name(build: Literal["confirm", "shipped"]) -> None:
    source = """extern "C" __global__ void k(int *a) {
      __shared__ int s[32];
      s[threadIdx.x] = 1;
      __syncthreads();
      a[threadIdx.x] = s[(int)threadIdx.x - 4];
    }"""
    request = replace(REQUEST, kernel="k", source=source, arguments=(ArrayArgument("i32", 32),), instances=())
    shared = (Variable("s", 128, 4, (32,)),)
    one_block = replace(request, names=("a",), growing=("a",), block=(32, 1, 1))
    result = run(replace(one_block, build=build, variables=shared))
    assert {fault.text for fault in result.faults} == {
        "access outside of every array: s[-4], in front of the block's shared memory"
    }
    assert result.arguments == (ArrayArgument("i32", 32),)


UNDEFINED = """extern "C" __global__ void k(const int *in, int *out, int used, int n) {
  int t = threadIdx.x, v = in[t];
  if (t >= n) return;
  if (t < 16) v += __shfl_down_sync(0xffff, v, 8);
  if (t < used) out[t] = v;
  v = __shfl_xor_sync(0xffffffff, v, 1);
  if (t == n - 1 && v > 1000) printf("large\\n");
}"""


@pytest.mark.parametrize(
    ("used", "n", "told"),
    [
        (8, 32, []),
        (9, 32, ["out[8] depends on what a shuffle reads from lane 16, which takes no part in it"]),
        (8, 31, ["what the kernel does depends on what a shuffle reads from lane 31, which takes no part in it"]),
    ],
)
def test_shuffles_that_read_from_lanes_that_take_no_part(used: int, n: int, told: list[str]) -> None:
    """Only where it makes a difference: lanes whose results are not needed read so in many a reduction."""
    arguments = (ArrayArgument("i32", 32, "iota"), ArrayArgument("i32", 32), ScalarArgument(used), ScalarArgument(n))
    request = replace(REQUEST, kernel="k", source=UNDEFINED, arguments=arguments, instances=())
    result = run(replace(request, names=("in", "out", "used", "n"), block=(32, 1, 1), variables=()))
    assert result.status == "finished"
    assert [(fault.kind, fault.text) for fault in result.faults] == [("undefined-shuffle", text) for text in told]


def test_global_addresses_are_told_by_argument_and_index() -> None:
    source = 'extern "C" __global__ void k(int *out, short *p) { out[threadIdx.x / 2] = p[threadIdx.x]; }'
    arguments = (ArrayArgument("i32", 8), ArrayArgument("i16", 30, "iota"))
    result = run(replace(REQUEST, kernel="k", source=source, arguments=arguments, names=("out", "p"), instances=()))
    assert {race.address for race in result.races} <= {f"out[{n}]" for n in range(8)}
    assert {(fault.kind, fault.text) for fault in result.faults} == {
        ("out-of-bounds", "access outside of every array: p[30], which has 30 elements"),
        ("out-of-bounds", "access outside of every array: out[8], which has 8 elements"),
    }


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("while (*(volatile int *)a == 0) { }", "time", "64 threads wait in a loop for what no thread"),
        ("while (1) { }", "time", "stopped after 0.5 s; 64 threads had not ended"),
        ("if (threadIdx.x == 63) for (int i = 1; i; i |= 2) { }", "time", "after 0.5 s; 1 thread had not ended"),
        ("if (threadIdx.x) __syncwarp(); else __syncthreads();", "deadlock", "32 threads wait for each other"),
        ("a[0] = nothing;", "compile", 'identifier "nothing" is undefined'),
        ('asm volatile("mbarrier.expect_tx.shared.b64 [%0], 4;" :: "r"(0));', "unsupported", "cannot run"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_an_answer(body: str, status: str, message: str) -> None:
    source = f'extern "C" __global__ void k(int *a) {{ {body} }}'
    arguments = (ArrayArgument("i32", 64),)
    # That nothing can come is found out in time, also on a busy machine; the others run until it is over.
    seconds = 30 if "for what no thread" in message else 0.5
    result = run(replace(REQUEST, kernel="k", source=source, arguments=arguments, instances=(), seconds=seconds))
    assert result.status == status
    assert message in result.message
    assert result.races == ()


def test_a_barrier_of_the_whole_grid_gets_room_for_all_blocks() -> None:
    source = """
    extern "C" __global__ void k(int *count, int *a) {
      a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x) { }
        __threadfence();
      }
      __syncthreads();
      int other = (blockIdx.x + 1) % gridDim.x;
      if (a[other * blockDim.x + threadIdx.x] != 1) a[threadIdx.x] = 2;
    }
    """
    arguments = (ArrayArgument("i32", 1), ArrayArgument("i32", 100 * 128))
    result = run(
        replace(
            REQUEST,
            kernel="k",
            source=source,
            arguments=arguments,
            instances=(),
            grid=(100, 1, 1),
            block=(128, 1, 1),
            seconds=300,
        )
    )
    assert (result.status, result.message, result.races) == ("finished", "", ())


def test_a_run_that_needs_more_memory_than_it_may_have_is_stopped() -> None:
    source = 'extern "C" __global__ void k(int *a) { a[0] = 1; }'
    arguments = (ArrayArgument("i32", 1 << 28),)
    result = run(replace(REQUEST, kernel="k", source=source, arguments=arguments, instances=(), memory=1 << 30))
    assert result.status == "memory"


def test_the_kernel_is_found_by_its_plain_name_where_that_is_clear() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    module = parse(
        head + "".join(f".entry {name}() {{ ret; }}\n" for name in ("c", "_Z4kernPi", "_ZN2ns5shiftIfEEvPT_i"))
    )
    assert entry_named(module, "c") == "c"
    assert entry_named(module, "kern") == "_Z4kernPi"
    assert entry_named(module, "ns::shift<float>") == "_ZN2ns5shiftIfEEvPT_i"
    with pytest.raises(KeyError):
        entry_named(module, "ker")


def test_a_pair_that_is_looked_at_alone_is_not_hidden_by_later_writes() -> None:
    source = """
    extern "C" __global__ void k(int *a) {
      a[threadIdx.x / 2] = 1 + threadIdx.x;
      if (threadIdx.x % 2 == 0) a[threadIdx.x / 2] = 100 + threadIdx.x;
    }
    """
    base = replace(REQUEST, kernel="k", source=source, arguments=(ArrayArgument("i32", 64),), instances=(), seeds=(0,))

    def lines(result: RunResult) -> set[tuple[int, ...]]:
        return {tuple(sorted(side.places[0].line for side in (r.first, r.second))) for r in result.races}

    assert lines(run(base)) == {(3, 4)}
    focus = (Focus(3, (0, 0, 0), (2, 0, 0)), Focus(3, (0, 0, 0), (3, 0, 0)))
    result = run(replace(base, focus=focus))
    assert lines(result) == {(3, 3)}
    assert [(r.first.thread, r.second.thread, r.address) for r in result.races] == [((2, 0, 0), (3, 0, 0), "a[1]")]


def test_shared_memory_is_that_of_the_kernel_alone() -> None:
    source = """
    extern "C" __global__ void other(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; a[0] = s[1]; }
    __device__ int last(int *s) { return s[32]; }
    extern "C" __global__ void k(int *a) { __shared__ int s[32]; s[threadIdx.x] = 1; a[threadIdx.x] = last(s); }
    """
    base = replace(REQUEST, kernel="k", source=source, arguments=(ArrayArgument("i32", 64),), instances=(), seeds=(0,))
    result = run(replace(base, block=(32, 1, 1)))
    assert {(fault.kind, fault.access.places[0].line) for fault in result.faults} == {("out-of-bounds", 3)}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits; the harness ends the process there")
def test_a_process_that_runs_kernels_opens_neither_files_nor_connections(tmp_path: Path) -> None:
    program = f"""
import json, socket
from pathlib import Path
from gpu_runner.request import Request
from gpu_runner.worker import limit
limit(Request("k", (1, 1, 1), (1, 1, 1), seconds=1))
told = {{}}
for name, what in (
    ("connection", lambda: socket.socket()),
    ("read", lambda: Path({str(tmp_path / "there")!r}).read_text()),
    ("write", lambda: Path({str(tmp_path / "new")!r}).write_text("x")),
    ("pipe", lambda: __import__("os").pipe()),
):
    try:
        what()
    except OSError as error:
        told[name] = error.strerror
print(json.dumps(told))
"""
    (tmp_path / "there").write_text("text")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {"connection", "read", "write", "pipe"}
    assert not (tmp_path / "new").exists()


def test_contents_are_searched_where_no_file_can_be_opened() -> None:
    source = 'extern "C" __global__ void k(const int *a, int *b) { if (a[0] == 917) b[0] = threadIdx.x; }'
    arrays = (ArrayArgument("i32", 64), ArrayArgument("i32", 64))
    goal = Goal("race", (Side(1), Side(1)), "", (), 200, ("a",))
    result = run(Request("k", (1, 1, 1), (64, 1, 1), arrays, ("a", "b"), source, compiler="nvrtc", goal=goal))
    assert (result.status, shows(goal, result, ("a",))) == ("finished", True), result.message


def test_numbers_that_a_type_does_not_hold_wrap_around() -> None:
    source = """extern "C" __global__ void k(const int *a, int *b) {
      if (a[0] == 0x7fffffff && a[1] == 3) b[0] = threadIdx.x;
    }"""
    beyond = ArrayArgument("i32", 64, "values", (float(-(1 << 31) - 1), 3.0), ((1, float((1 << 32) + 3)),))
    result = run(Request("k", (1, 1, 1), (64, 1, 1), (beyond, ArrayArgument("i32", 4)), ("a", "b"), source))
    assert (result.status, bool(result.races)) == ("finished", True), result.message


def test_processor_time_is_limited_where_no_clock_is_looked_at() -> None:
    """Whatever the process does: the system ends it, and that is an answer."""
    program = """
import resource
from gpu_runner.request import Request
from gpu_runner.worker import limit
limit(Request("k", (1, 1, 1), (1, 1, 1), seconds=1000))
print(resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_CORE)[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    processor, core = map(int, done.stdout.split())
    assert (2000 <= processor < 2300, core) == (True, 0), done.stderr
    assert "it used up its processor time" in _death(-signal.SIGXCPU, "")


def test_an_access_far_outside_ends_as_a_message_and_not_the_process() -> None:
    source = 'extern "C" __global__ void k(int *a) { a[(long long)threadIdx.x << 40] = 1; *(int *)16 = 2; }'
    arguments = (ArrayArgument("i32", 64),)
    result = run(replace(REQUEST, kernel="k", source=source, arguments=arguments, instances=()))
    assert result.status == "finished"
    assert {fault.kind for fault in result.faults} == {"out-of-bounds"}


def test_the_time_of_a_run_is_that_of_a_clock_not_of_processors() -> None:
    limit = processor_seconds(replace(REQUEST, seconds=100.0), 40.0, 2)
    assert limit >= 40 + 2 * 100, "the compiler has used 40 s; kernel and detector run at the same time"


def test_an_architecture_that_the_compiler_does_not_know_is_the_nearest_one() -> None:
    result = run(replace(REQUEST, arch=85))
    assert (result.status, result.compiler) == ("finished", "nvrtc for sm_80, as it knows no sm_85")
    assert [nearest_arch(arch, (75, 80, 90)) for arch in (60, 85, 90, 100)] == [75, 80, 80, 90]
    assert nearest_arch(80, ()) is None


def test_a_full_disk_and_a_folder_that_cannot_be_written_end_as_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compiling.tempfile, "TemporaryDirectory", full)
    monkeypatch.setattr(compiling, "find_nvcc", lambda: "/usr/bin/nvcc")
    result = serve(replace(REQUEST, compiler="nvcc"))
    assert (result.status, result.message) == (
        "compile",
        "nvcc cannot be used, for want of temporary files: No space left on device",
    )
    (tmp_path / "file").write_text("")
    source = '#include <cuda_fp16.h>\nextern "C" __global__ void k(half *a) { a[0] = 1.0f; }'
    request = replace(REQUEST, kernel="k", source=source, instances=(), folder=str(tmp_path / "file" / "cache"))
    result = serve(replace(request, arguments=(ArrayArgument("f16", 8),)))
    assert result.status == "compile"
    assert "cuda_fp16.h" in result.message
    assert result.message.splitlines()[-1].startswith(
        ("the headers of NVRTC cannot be written to ", "this NVRTC brings")
    )


def test_a_run_that_needs_too_much_memory_says_what_takes_it_and_what_to_give() -> None:
    source = 'extern "C" __global__ void k(int *a, double *b) { a[threadIdx.x] = b[0]; }'
    arguments = (ArrayArgument("i32", 1 << 26), ArrayArgument("f64", 1 << 27))
    request = replace(REQUEST, kernel="k", source=source, arguments=arguments, names=("a", "b"), instances=())
    result = run(replace(request, memory=4 << 30))
    assert result.status == "memory"
    assert "needs more than 4 GiB" in result.message
    long = replace(request, arguments=(ArrayArgument("i32", 64), ScalarArgument(1 << 30)), names=("a", "n"))
    *_, number, _, advice = too_large(long).details
    assert number == "n = 1073741824"
    assert "`--arg n=16`" in advice
    assert result.details == (
        "b: 1 GiB",
        "a: 256 MiB",
        "the launch: 1 block of 64 threads",
        (
            "give smaller sizes: `--arg b=1024`, `--grid` and `--block`, or the comment "
            "`// cuda-lsp: run grid=2 block=64 b=1024` above the kernel"
        ),
    )


def test_a_kernel_is_compiled_for_a_newer_architecture_where_it_needs_one() -> None:
    source = """
    #if __CUDA_ARCH__ >= 900
    __device__ int newer() { return 1; }
    #endif
    extern "C" __global__ void k(int *a) { a[threadIdx.x] = newer(); }
    """
    request = replace(REQUEST, kernel="k", source=source, arguments=(ArrayArgument("i32", 64),), instances=())
    result = run(request)
    assert (result.status, result.races) == ("finished", ())
    assert result.compiler == "nvrtc for sm_90, as it does not compile for sm_80"
    broken = run(replace(request, source=source.replace("newer();", "absent();")))
    assert (broken.status, 'identifier "absent" is undefined' in broken.message) == ("compile", True)


def test_of_a_compilers_log_the_errors_are_told_and_not_all_of_them() -> None:
    log = "/a.cuh(1): warning #1: odd\n  int x;\n\n/a.cu(2): error: bad\n  y;\n  ^\n\n/a.cu(3): note #2: here\n  z;\n"
    assert refused(log) == RunResult("compile", "/a.cu(2): error: bad\n  y;\n  ^\n")
    assert refused("nvcc ended with code 1") == RunResult("compile", "nvcc ended with code 1")
    many = refused("\n".join(f"/a.cu({n}): error: bad" for n in range(100))).message.splitlines()
    assert (len(many), many[-1]) == (25, "… and 76 more lines")


def test_arrays_do_not_grow_for_accesses_outside_of_shared_memory() -> None:
    source = """extern "C" __global__ void k(int *a) {
      __shared__ int s[32];
      s[threadIdx.x] = 1;
      a[threadIdx.x] = s[threadIdx.x];
    }"""
    arguments = (ArrayArgument("i32", 16),)
    request = replace(REQUEST, kernel="k", source=source, arguments=arguments, names=("a",), instances=())
    result = run(replace(request, growing=("a",)))
    assert {fault.text for fault in result.faults} == {
        "access outside of every array: s + 128 bytes, where the block has 128 bytes of shared memory"
    }
    assert result.arguments == (ArrayArgument("i32", 256),)  # as large as a[31] needs
