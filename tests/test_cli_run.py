"""`cuda-lsp run`: from a file with host code to the races that its kernel had when it was executed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analyzers.ir.kernel import Layout
from cuda_lsp.cli import main
from cuda_lsp.running import arguments as run_arguments
from cuda_lsp.running.arguments import ArgumentError
from gpu_runner import harness
from gpu_runner.compile import find_nvcc
from gpu_runner.request import ArrayArgument, PointersArgument, Request, RunResult, ScalarArgument

pytestmark = pytest.mark.usefixtures("lasting_workers")

SOURCE = """#include <vector>
#include <torch/extension.h>
#include "twice.cuh"
struct Pair { float x, y; };
std::vector<float> kept;
namespace ns {
template <int N> __global__ void shift(float *a, const Pair *p, int n, bool fixed) {
  __shared__ float s[N];
  int i = threadIdx.x;
  s[i] = a[i] + twice(p[i].x);
  if (fixed) __syncthreads();
  float v = s[(i + 1) % N];
  if (i < n) a[i] = v;
}
void start(at::Tensor t) { shift<64><<<1, 64>>>(t.data_ptr<float>(), nullptr, 64, true); }
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "twice.cuh").write_text("#pragma once\n__device__ inline float twice(float v) { return 2 * v; }\n")
    path = tmp_path / "shift.cu"
    path.write_text(SOURCE)
    return path


def arguments(file: Path, fixed: int, *more: str) -> list[str]:
    return ["run", f"{file}:shift", "--grid", "1", "--block", "64", "--arg", f"fixed={fixed}", "--seeds", "2", *more]


def test_a_race_is_shown_and_fails(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 0, "--arg", "a=64:iota", "--arg", "n=64")) == 1
    out, err = capsys.readouterr()
    assert f"{file}:12: intra-block data race on shared s[" in out or f"{file}:10: intra-block data race" in out
    assert "        float v = s[(i + 1) % N];" in out
    assert "in 2 runs" in out
    assert "not given: p: 16384 elements, zeros" in err


def test_a_run_without_races_says_so_and_no_more(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 1, "--arg", "n=64", "--format", "json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "finished"
    assert document["races"] == []
    assert document["kernel"] == "ns::shift<64>"


def test_a_kernel_or_parameter_that_is_not_there_is_a_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments(file, 1, "--arg", "m=3")) == 2
    assert "has no parameter m; it has a, p, n, fixed" in capsys.readouterr().err
    command = arguments(file, 1)
    command[1] = f"{file}:absent"
    assert main.main(command) == 2


HALO = """
extern "C" __global__ void halo(const float *in, float *out, int wide) {
  __shared__ float s[66];
  for (int k = threadIdx.x; k < 66; k += blockDim.x) s[k] = in[blockIdx.x * wide + k];
  __syncthreads();
  out[blockIdx.x * wide + threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];
}
"""


def test_arrays_that_nobody_gives_are_large_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is given, by name or place, is as large as it is; no other one grows because of it. What a thread was to
    write that ended there is not missed from the others of its block."""
    path = tmp_path / "halo.cu"
    path.write_text(HALO)
    command = ["run", f"{path}:halo", "--grid", "2", "--block", "64", "--seeds", "1"]
    assert main.main([*command, "--arg", "wide=2000"]) == 0
    out, err = capsys.readouterr()
    assert "no race seen in 1 run " in out
    assert "cuda-lsp: in: 16384 elements, as accesses were outside of 1024\n" in err
    assert "cuda-lsp: out: 16384 elements, as accesses were outside of 1024\n" in err
    for given in (["in=64:random"], ["64:random"]):
        assert main.main([*command, *(word for text in given for word in ("--arg", text)), "--arg", "wide=64"]) == 1
        out, err = capsys.readouterr()
        assert "in[64], which has 64 elements" in out
        assert "nobody has written" not in out
        assert "as accesses were outside" not in err


def test_a_number_that_is_given_by_its_place_is_not_made_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.cu"
    path.write_text("__global__ void many(int n, int *a) { for (long i = 0; i < 1L << n; i++) a[threadIdx.x] += 1; }")
    command = ["run", f"{path}:many", "--grid", "1", "--block", "32", "--seeds", "1", "--seconds", "2"]
    assert main.main([*command, "--arg", "60"]) == 4
    assert "as 60 is too large" not in capsys.readouterr().err


def test_what_is_given_has_names() -> None:
    parameters = [("p", "int *"), ("v", "View"), ("n", "int")]
    records = [Layout("v", "View", 16, (("v.data", 0, "float *"), ("v.size", 8, "int")))]
    assert run_arguments.named(parameters, ["8", "16", "2", "3"], records) == ("p=8", "v.data=16", "v.size=2", "n=3")
    assert run_arguments.named(parameters, ["v=4x4", "3"], records) == ("v=4x4", "n=3")
    assert run_arguments.named(parameters, ["v.data=4", "3"], records) == ("v.data=4", "v.size=3")
    assert run_arguments.named(parameters, ["unknown=4", "3"], records) == ("unknown=4", "p=3")
    with pytest.raises(ArgumentError, match="4: the kernel has 4 parameters"):
        run_arguments.named(parameters, ["n=3", "4"], records)


def test_arguments_are_read() -> None:
    parameters = [
        ("a", "const float *__restrict__"),
        ("v", "float4 *"),
        ("c", "int[]"),
        ("n", "unsigned int"),
        ("x", "float"),
    ]
    given = ["a=10:iota", "8:random", "c=1,2,-3", "n=0x10", "x=2.5"]
    found, notes = run_arguments.arguments_for(parameters, given, (1, 1, 1), (32, 1, 1))
    assert found == (
        ArrayArgument("f32", 10, "iota"),
        ArrayArgument("f32", 32, "random"),
        ArrayArgument("i32", 3, "values", (1, 2, -3)),
        ScalarArgument(16),
        ScalarArgument(2.5),
    )
    assert notes == []
    typed, _ = run_arguments.arguments_for([("p", "void *")], ["u16[5]:7"], (1, 1, 1), (1, 1, 1))
    assert typed == (ArrayArgument("u16", 5, "values", (7,)),)
    for wrong in (["q=1"], ["n=x"], ["a=1:what"]):
        with pytest.raises(ArgumentError):
            run_arguments.arguments_for(parameters, wrong, (1, 1, 1), (1, 1, 1))
    assert run_arguments.dimensions("(16, 2)", "--block") == (16, 2, 1)
    with pytest.raises(ArgumentError, match="--grid 0"):
        run_arguments.dimensions("0", "--grid")


def test_findings_of_the_check_are_confirmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "neighbours.cu"
    path.write_text(
        """__global__ void neighbours(int *a, const int *where, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
  int left = i > 0 && i < n ? a[i - 1] : 0;
  if (i < n) a[where[i]] = left;
}
void start(int *a, const int *where, int n) { neighbours<<<(n + 255) / 256, 256>>>(a, where, n); }
"""
    )
    assert main.main(["run", f"{path}:neighbours", "--seeds", "2"]) == 1
    out = capsys.readouterr().out
    assert f"{path}:" in out
    assert "\nconfirmed\n" in out
    (first, *_) = out.split("\nconfirmed\n")[1:]
    assert first.count(" written by thread ") + first.count(" read by thread ") == 2  # of the finding's race alone
    assert "\n  seen in the same runs:\n      " in first

    path.write_text("__global__ void fine(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n")
    assert main.main(["run", f"{path}:fine"]) == 0
    assert capsys.readouterr().out.startswith(
        "grid (2, 1, 1), block (64, 1, 1) (a: 1024 elements, zeros)\nno race seen"
    )
    assert main.main(["run", f"{path}:fine", "--grid", "1"]) == 2


def test_what_happens_inside_of_the_toolkits_headers_stands_where_they_were_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "count.cu"
    path.write_text(
        """__global__ void count(int *a) {
  atomicAdd(a, 1);
  if (threadIdx.x == 3) a[0] = 5;
}
void start(int *a) { count<<<1, 64>>>(a); }
"""
    )
    assert main.main(["run", f"{path}:count", "--seeds", "1"]) == 1
    out = capsys.readouterr().out
    assert re.search(rf"atomic access by thread .* at {re.escape(str(path))}:2\n +atomicAdd\(a, 1\);", out)
    assert ".hpp" not in out
    assert "called from" not in out


def test_the_block_that_the_host_gives_is_taken_when_it_does_not_give_the_grid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fill.cu"
    path.write_text(
        "__global__ void fill(int *out) { out[blockIdx.x * 96 + threadIdx.x] = 1; }\n"
        "void go(int *p, int blocks) { fill<<<blocks, 96>>>(p); }\n"
    )
    assert main.main(["run", f"{path}:fill", "--seeds", "1"]) == 0
    assert "grid (2, 1, 1), block (96, 1, 1)" in capsys.readouterr().out


def test_inputs_are_named_in_the_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scatter.cu"
    path.write_text(
        """// cuda-lsp: run grid=(1) block=(32) where=32:iota a=32 seeds=2
// cuda-lsp: run inputs=scatter.toml
__global__ void scatter(int *a, const int *where) { a[where[threadIdx.x]] = threadIdx.x; }
"""
    )
    (tmp_path / "scatter.toml").write_text(
        """[[run]]
kernel = "other"
gird = 1
arguments = 7
[[run]]
kernel = "scatter"
grid = 1
block = [32, 1]
seeds = 1
arguments = { where = "32:0,1,2,3", a = "32:7" }
"""
    )
    assert main.main(["run", f"{path}:scatter", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    first, second = document["inputs"]
    assert (first["run"]["races"], first["run"]["runs"]) == ([], 2)
    assert first["inputs"] == "run grid=(1) block=(32) where=32:iota a=32 seeds=2"
    assert second["inputs"] == "scatter.toml, run 2"
    assert {race["scope"] for race in second["run"]["races"]} == {"intra-warp"}
    # What shows the finding is a run with real inputs.
    assert [(f["code"], f["confirmed"], f["runs"]) for f in document["findings"]] == [("possible-data-race", True, 1)]
    assert main.main(["run", f"{path}:scatter", "--inputs", str(tmp_path / "scatter.toml")]) == 1
    assert capsys.readouterr().out.startswith("scatter.toml, run 2\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid=(1", "expected name=value"),
        ("grid=1 grid=2", "grid is given twice"),
        ("inputs=absent.toml", "cannot be read"),
        ("inputs=wrong.toml n=1", "together with n"),
        ("inputs=wrong.toml", "nothing is called gird"),
        ("inputs=beside.toml", "nothing is called kernel outside of a [[run]]"),
        ("inputs=number.toml", "kernel = 3 is no name of a kernel"),
        ("seeds=0", "expected a positive number"),
        ("m=1", "has no parameter m"),
    ],
)
def test_inputs_that_cannot_be_read_are_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"// cuda-lsp: run {text}\n__global__ void k(int *a) {{ a[threadIdx.x] = 1; }}\n")
    (tmp_path / "wrong.toml").write_text("[[run]]\ngird = 1\n")
    (tmp_path / "beside.toml").write_text('kernel = "k"\n[[run]]\ngrid = 1\n')
    (tmp_path / "number.toml").write_text("[[run]]\nkernel = 3\n")
    assert main.main(["run", f"{path}:k"]) == 2
    assert message in capsys.readouterr().err


def test_what_is_in_a_parameter_of_class_type_is_given_by_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the kernel does not read the parameters in their order, and does not read all."""
    (tmp_path / "view.h").write_text("struct View { char tag; int n; struct { float *data; } inner; };\n")
    path = tmp_path / "view.cu"
    path.write_text(
        '#include "view.h"\n'
        "__global__ void k(int unused, View v, int *out) {\n"
        "  out[threadIdx.x] = v.n;\n"
        "  v.inner.data[threadIdx.x / 2] = out[threadIdx.x] + threadIdx.x;\n"
        "}\n"
    )
    given = ("--arg", "v.n=7", "--arg", "v.inner.data=8:iota")
    assert main.main(["run", f"{path}:k", "--grid", "1", "--block", "16", *given, "--format", "json"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "cuda-lsp: not given: unused = 16",
        "cuda-lsp: not given: v.tag = 16",
        "cuda-lsp: not given: out: 1024 elements, zeros",
    ]
    result = json.loads(captured.out)
    assert (result["status"], result["faults"]) == ("finished", [])
    assert [race["address"].split("[")[0] for race in result["races"]] == ["v.inner.data"]


NAMESAKES = """\
namespace a { __global__ void inner(int *p) { p[threadIdx.x] = 1; } }
namespace b { namespace c { __global__ void inner(int *p) { p[threadIdx.x] = p[threadIdx.x + 1]; } } }
template <typename T, int N> __global__ void scale(T *p) { p[threadIdx.x] = N; }
template __global__ void scale<float, 4>(float *);
template __global__ void scale<int, 2>(int *);
__global__ void over(int *p) { p[threadIdx.x] = 1; }
__global__ void over(float *p, unsigned n) { if (threadIdx.x < n) p[0] = threadIdx.x; }
"""


@pytest.mark.parametrize(
    ("kernel", "name", "code"),
    [
        ("a::inner", "a::inner", 0),
        ("c::inner", "b::c::inner", 1),
        ("::b :: c::inner", "b::c::inner", 1),
        ("scale<float,4>", "scale<float, 4>", 0),
        ("scale<int, 2>", "scale<int, 2>", 0),
        ("_Z5scaleIiLi2EEvPT_", "scale<int, 2>", 0),
        ("_ZN1a5innerEPi", "a::inner", 0),
        ("_Z4overPfj", "over", 1),
        ("over(int*)", "over", 0),
        ("over(float *, unsigned int)", "over", 1),
    ],
)
def test_kernels_are_named_as_in_the_language(
    tmp_path: Path, kernel: str, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "names.cu"
    path.write_text(NAMESAKES)
    command = ["--grid", "1", "--block", "32", "--seeds", "1", "--format", "json"]
    assert main.main(["run", f"{path}:{kernel}", *command]) == code
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["kernel"], document["status"]) == (name, "finished")
    assert "there are also" not in captured.err


def test_a_name_that_several_kernels_have_is_not_guessed_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "names.cu"
    path.write_text(NAMESAKES)
    for kernel, names in (
        ("inner", "`a::inner(int *)` in line 1; `b::c::inner(int *)` in line 2"),
        ("over", "`over(int *)` in line 6; `over(float *, unsigned int)` in line 7"),
    ):
        assert main.main(["run", f"{path}:{kernel}"]) == 2
        assert capsys.readouterr().err == f"cuda-lsp: `{kernel}` is the name of several kernels: {names}\n"
    assert main.main(["run", f"{path}:scale", "--seeds", "1"]) == 0  # instances of one kernel
    assert "scale<float, 4> is run; there are also scale<int, 2>\n" in capsys.readouterr().err
    assert main.main(["run", f"{path}:d::inner"]) == 2
    assert "there are: a::inner, b::c::inner, over, scale<float, 4>, scale<int, 2>" in capsys.readouterr().err


def test_a_run_that_no_schedule_ends_is_not_a_clean_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wait.cu"
    path.write_text(
        """__global__ void wait(volatile int *flag, int *out, int n) {
  out[threadIdx.x / n] = threadIdx.x;
  while (flag[0] == 0) { }
}
"""
    )
    command = ["run", f"{path}:wait", "--grid", "1", "--block", "4", "--seconds", "0.3"]
    assert main.main([*command, "--arg", "n=1"]) == 4
    assert "no race seen in 1 run, which did not come to its end" in capsys.readouterr().out
    assert main.main([*command, "--arg", "n=2"]) == 1
    assert "1 race in 1 run, which did not come to its end" in capsys.readouterr().out
    assert main.main([*command, "--arg", "n=1", "--arg", "flag=1,1", "--format", "json", "--seeds", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["ended"]) == (2, 2)


def test_a_file_with_explicit_instantiations_is_run_without_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "instances.cu"
    path.write_text(
        """#define INSTANCE(T) template __global__ void scale<T>(T *)
template <typename T> struct Box { T v; __device__ T get() { return v; } };
template <typename T> __global__ void scale(T *p) { Box<T> b{p[threadIdx.x]}; p[threadIdx.x] = b.get(); }
template class Box<int>;
template __global__ void scale<float>(float *);
INSTANCE(int);
__global__ void plain(int *p) { p[threadIdx.x] = 1; }
"""
    )
    for kernel in ("plain", "scale<float>"):
        assert main.main(["run", f"{path}:{kernel}", "--grid", "1", "--block", "32", "--seeds", "1"]) == 0
        assert "no race seen in 1 run" in capsys.readouterr().out


def test_an_instance_that_only_macros_make_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.cu"
    path.write_text(
        """template <typename T> __global__ void scale(T *p) { p[threadIdx.x] *= 2; }
template <typename T> __global__ void other(T *p) { p[threadIdx.x] = sizeof(T); }
#define ONE(NAME, T) template __global__ void NAME<T>(T *)
#define ALL(T) namespace { ONE(other, T); } ONE(scale, T);
ALL(int)
#undef ONE
#define ONE(T) { return sizeof(T); }
int size() ONE(int)
"""
    )
    assert main.main(["run", f"{path}:scale<int>", "--grid", "1", "--block", "32", "--seeds", "1"]) == 0
    assert "no race seen in 1 run" in capsys.readouterr().out


def test_what_a_run_cannot_show_of_barriers_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "barriers.cu"
    path.write_text(
        """__global__ void skips(int *a) { if (threadIdx.x < 5) { __syncthreads(); } a[threadIdx.x] = 1; }
__global__ void leaves(int *a, int n) {
  if (threadIdx.x >= n) return;
  a[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x ^ 1] = 2;
}
void go(int *a, int n) { skips<<<1, 64>>>(a); leaves<<<1, 64>>>(a, n); }
"""
    )
    assert main.main(["run", f"{path}:skips", "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"barrier-divergence: .*\nnot confirmed in \d+ runs\n  A barrier does not wait for threads that", out
    )
    assert main.main(["run", f"{path}:leaves", "--seeds", "1"]) == 0
    assert "barrier-after-exit" not in capsys.readouterr().out  # CUDA defines it


def test_arguments_of_kinds_that_have_no_arrays_or_numbers() -> None:
    def read(kind: str, *given: str) -> tuple[object, list[str]]:
        found, notes = run_arguments.arguments_for([("x", kind)], list(given), (1, 1, 1), (256, 1, 1))
        return found[0], notes

    assert read("bool", "x=true") == read("const bool", "x=7") == (ScalarArgument(1), [])
    assert read("bool") == (ScalarArgument(1), ["x = 1"])
    assert read("char") == (ScalarArgument(127), ["x = 127"])
    assert read("__half", "x=1.5") == (ScalarArgument(1.5, "f16"), [])
    assert read("__nv_bfloat16", "x=1.5") == (ScalarArgument(0x3FC0, "u16"), [])
    assert read("unsigned char", "x=-1") == (ScalarArgument(-1), [])  # all ones
    row = ArrayArgument("f32", 1024, "random")
    pointers = ["x: 256 pointers to 1024 elements, random"]
    assert read("float **") == read("float *[]") == (PointersArgument(256, row), pointers)
    rows = PointersArgument(3, ArrayArgument("i32", 8, "iota"))
    assert read("int *const *__restrict__", "x=3:8:iota") == (rows, [])
    assert read("const int ***", "x=2:3:8:iota") == (PointersArgument(2, rows), [])
    assert read("int (*)(int)") == (ScalarArgument(0), ["x: a pointer to no function"])
    assert read("float (*)[16]") == read("float[][16]") == read("float *")
    for kind, value, message in (
        ("char", "300", "does not fit in char"),
        ("int", "2.5", "expected an integer"),
        ("unsigned int", "1e99", "does not fit"),
        ("int", "inf", "does not fit"),
        ("int", "true", "expected a number"),
        ("int **", "3:what", "expected a number of elements"),
        ("int **", "many", "expected how many pointers"),
        ("int **", "1000:1000000", "at most 16777216 are possible"),
        ("int (*)(int)", "1", "a pointer to a function cannot be given"),
    ):
        with pytest.raises(ArgumentError, match=message):
            read(kind, f"x={value}")


def test_arrays_of_pointers_lead_to_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.cu"
    path.write_text(
        """struct Batch { const int *const *in; int **out; };
__global__ void shift(int **rows, int n) {
  int i = threadIdx.x;
  if (i < n) rows[blockIdx.x][i] = rows[blockIdx.x][i + 1];
}
__global__ void sums(Batch b, int *index) {
  b.out[blockIdx.x][threadIdx.x] = b.in[threadIdx.x][2] + b.in[200][100 * threadIdx.x];
}
__global__ void none(int *p) { int *q = p[threadIdx.x] ? p : nullptr; q[1] = 2; }
"""
    )
    assert main.main(["run", f"{path}:shift", "--seeds", "1"]) == 1
    assert "confirmed\n  " in (out := capsys.readouterr().out)
    assert "data race on global rows[0][32]" in out
    sizes = ["--grid", "2", "--block", "32", "--seeds", "1"]
    assert main.main(["run", f"{path}:shift", *sizes, "--arg", "rows=2:8:iota", "--arg", "n=9"]) == 1
    assert "outside of every array: rows[0][8], which has 8 elements" in capsys.readouterr().out
    assert main.main(["run", f"{path}:sums", "--seeds", "1"]) == 0
    assert re.search(r"no race seen in \d+ run", capsys.readouterr().out)
    assert main.main(["run", f"{path}:none", *sizes]) == 1
    assert "access through a null pointer: address 0x4" in capsys.readouterr().out


def test_calls_of_functions_that_nobody_names_are_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "function.cu"
    path.write_text(
        """typedef int (*Op)(int);
struct Ops { Op op; int n; };
__global__ void calls(Op op, int *a) { a[threadIdx.x] = op(a[threadIdx.x]); }
__global__ void carries(Ops ops, int *a) { a[threadIdx.x] = ops.n; }
"""
    )
    sizes = ["--grid", "1", "--block", "32", "--seeds", "1"]
    assert main.main(["run", f"{path}:calls", *sizes]) == 3
    assert "call through a pointer that can be of no function in sight (line 3)" in capsys.readouterr().out
    assert main.main(["run", f"{path}:carries", *sizes]) == 0


def test_dynamic_shared_memory_that_nobody_gives_is_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dynamic.cu"
    path.write_text(
        """__global__ void turn(int *o) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""
    )
    assert main.main(["run", f"{path}:turn", "--seeds", "1"]) == 0
    assert "o: 1024 elements, zeros; shared: 32768 bytes)" in capsys.readouterr().out
    given = ["run", f"{path}:turn", "--grid", "1", "--block", "64", "--seeds", "1"]
    assert main.main(given) == 0
    assert "not given: --shared: 32768 bytes" in capsys.readouterr().err
    assert main.main([*given, "--shared", "252"]) == 1
    assert "access outside of every array: s[63]" in capsys.readouterr().out
    assert main.main([*given, "--shared", "-1"]) == 2


def test_memory_is_named_as_the_source_declares_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cells.cu"
    path.write_text(
        """struct Pair { float x, y; };
__device__ unsigned ticket;
__device__ float table[4][8];
__device__ float inner(float v) {
  __shared__ float tile[64];
  tile[threadIdx.x] = v;
  return tile[63 - threadIdx.x];
}
__global__ void cells(float *out) {
  extern __shared__ short dyn[];
  __shared__ float tile[4][17];
  __shared__ Pair pairs[64];
  int t = threadIdx.x;
  tile[t % 4][t / 4] = t;
  pairs[t].y = t;
  dyn[t] = t;
  table[t % 4][3] = t;
  ticket = t;
  out[t] = tile[3][t / 16] + pairs[63].y + dyn[63] + inner(t);
}
"""
    )
    given = ["--grid", "1", "--block", "64", "--shared", "128", "--seeds", "1", "--format", "json"]
    assert main.main(["run", f"{path}:cells", *given]) == 1
    races = json.loads(capsys.readouterr().out)["races"]
    found = {(line_of(race), race["space"], race["address"]) for race in races}
    assert {(line, space) for line, space, _ in found} == {
        (7, "shared"), (17, "global"), (18, "global"), (19, "shared"),
    }  # fmt: skip
    for line, pattern in (
        (7, r"tile\[\d+\]"),
        (17, r"table\[[0-3]\]\[3\]"),
        (18, "ticket"),
        (19, r"tile\[3\]\[\d\]|pairs\[63\] \+ 4 bytes|dyn\[63\]"),
    ):
        assert all(re.fullmatch(pattern, cell) for at, _, cell in found if at == line), found
    assert {cell.split("[")[0] for at, _, cell in found if at == 19} == {"tile", "pairs", "dyn"}


def line_of(race: dict[str, Any]) -> int:
    """The later one of a race's accesses in the text."""
    return max(int(race[side]["places"][0]["line"]) for side in ("first", "second"))


@pytest.mark.parametrize(("grid", "block"), [("1,65536", "1"), ("1", "1,1,65")])
def test_launches_that_no_gpu_takes(tmp_path: Path, grid: str, block: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.cu"
    path.write_text("__global__ void one(int *o) { if (threadIdx.x == 0 && blockIdx.x == 0) o[0] = 1; }\n")
    assert main.main(["run", f"{path}:one", "--grid", grid, "--block", block]) == 3
    assert "are possible" in capsys.readouterr().out


def test_dynamic_shared_memory_is_what_the_host_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "given.cu"
    path.write_text(
        """extern __shared__ int s[];
__global__ void small(int *o) { s[threadIdx.x] = 1; __syncthreads(); o[blockIdx.x * 64 + threadIdx.x] = s[63]; }
__global__ void fits(int *o, int n) { s[threadIdx.x] = 1; o[threadIdx.x] = s[n - 1 - threadIdx.x]; }
void go(int *o, int n) {
  small<<<2, 64, 32 * sizeof(int)>>>(o);
  fits<<<1, n, n * sizeof(int)>>>(o, n);
}
"""
    )
    outside = "outside of every array: s[32], where the block has 128 bytes of shared memory"
    assert main.main(["run", f"{path}:small", "--seeds", "1"]) == 1
    out = capsys.readouterr().out
    assert "shared: 128 bytes, as in the host's launch" in out
    assert outside in out
    assert main.main(["run", f"{path}:small", "--seeds", "1", "--grid", "2", "--block", "64"]) == 1
    assert outside in capsys.readouterr().out
    assert main.main(["run", f"{path}:small", "--seeds", "1", "--grid", "2", "--block", "64", "--shared", "256"]) == 0
    assert "--shared" not in capsys.readouterr().err
    assert main.main(["run", f"{path}:small", "--seeds", "1", "--grid", "1", "--block", "64", "--shared", "0"]) == 1
    assert "where the block has 0 bytes" in capsys.readouterr().out
    assert main.main(["run", f"{path}:fits", "--seeds", "1"]) == 1  # its race; n of the witness is that of the launch
    assert "confirmed\n" in (out := capsys.readouterr().out)
    assert "outside of every array" not in out


def test_the_architecture_is_that_of_the_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "newer.cu"
    path.write_text(
        """__global__ void k(int *a) {
#if __CUDA_ARCH__ >= 900
  a[threadIdx.x / 2] = threadIdx.x;
#endif
}
"""
    )
    command = ["run", f"{path}:k", "--grid", "1", "--block", "32", "--seeds", "1"]
    assert main.main(command) == 0
    assert main.main([*command, "--extra-arg", "-arch=sm_90"]) == 1
    assert main.main([*command, "--extra-arg", "-arch=sm_90", "--arch", "80"]) == 0


def test_atomics_of_pytorch_need_none_of_its_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "atomics.cu"
    path.write_text(
        """#include <ATen/cuda/Atomic.cuh>
#include <ATen/ATen.h>
template <typename T> __global__ void sum(T *out, int64_t *count) {
  gpuAtomicAdd(out, T(1)); gpuAtomicAdd(count, (int64_t)1); gpuAtomicAddNoReturn(out + 1, T(2));
  if (threadIdx.x == 7) out[1] = 0;
}
template <typename T> __global__ void largest(T *out, const T *in) { gpuAtomicMax(out, in[threadIdx.x]); }
void again(at::Tensor t) { largest<int><<<1, 64>>>(t.data_ptr<int>(), t.data_ptr<int>() + 1); }
void go(at::Tensor t, int64_t *n) { sum<float><<<1, 64>>>(t.data_ptr<float>(), n); }
"""
    )
    assert main.main(["run", f"{path}:sum", "--seeds", "1", "--grid", "1", "--block", "64", "--format", "json"]) == 1
    (first, *_), message = (document := json.loads(capsys.readouterr().out))["races"], document["message"]
    assert message == ""
    assert {first["first"]["places"][-1]["line"], first["second"]["places"][-1]["line"]} == {4, 5}
    assert main.main(["run", f"{path}:sum", "--seeds", "1", "--grid", "1", "--block", "64"]) == 1
    assert "Atomic.cuh" not in capsys.readouterr().out.replace("#include", "")
    assert main.main(["run", f"{path}:largest", "--seeds", "1", "--grid", "1", "--block", "64"]) == 0


def test_a_finding_is_not_confirmed_by_a_race_on_another_array_of_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "line.cu"
    path.write_text(
        """__global__ void both(int *a, int *b) { a[threadIdx.x] = b[threadIdx.x + 1]; b[threadIdx.x] = a[0]; }
__global__ void one(int *a, int *b, const int *k) { if (k[0] != k[0]) a[0] = threadIdx.x; b[0] = threadIdx.x; }
void go(int *a, int *b) { both<<<1, 64>>>(a, b); one<<<1, 64>>>(a, b, b + 64); }
"""
    )
    assert main.main(["run", f"{path}:both", "--seeds", "1"]) == 1
    said = re.split(r"^/.*data-race: ", capsys.readouterr().out, flags=re.MULTILINE)[1:]
    shown = [(re.search(r"on global `(\w)`", text), re.search(r"data race on global (\w)\[", text)) for text in said]
    assert sorted((claim[1], seen[1]) for claim, seen in shown if claim and seen) == [("a", "a"), ("b", "b")]
    assert main.main(["run", f"{path}:one", "--seeds", "1", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    claims = {
        (finding["confirmed"], finding["run"]["races"][0]["address"][0]) for finding in found if finding["confirmed"]
    }
    assert claims == {(True, "b")}


def test_writes_of_one_value_do_not_confirm_that_values_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "equal.cu"
    path.write_text(
        """__global__ void put(int *out, const int *in, const int *v) {
  if (in[threadIdx.x] > 5) out[in[threadIdx.x] - 5] = v[threadIdx.x];
}
__global__ void same(int *out, const int *in) {
  int i = in[threadIdx.x];
  out[i & 255] = i + ((i >> 1) << 1) - i;
}
__global__ void read(int *out, int *x) {
  if (threadIdx.x < 32) out[0] = 1;
  else x[threadIdx.x] = out[0];
}
void go(int *a, int *b) { put<<<1, 64>>>(a, b, b + 1000); same<<<1, 64>>>(a, b); read<<<1, 64>>>(a, b); }
"""
    )
    assert main.main(["run", f"{path}:put", "--seeds", "1", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["confirmed"]
    assert not found["run"]["races"][0]["same_value"]
    # `v` lies behind `in` in one array, of which other contents were looked for.
    assert any("in: " in text for text in found["run"]["inputs"])
    # A reader makes the race of the writes a definite one, whatever they write.
    assert main.main(["run", f"{path}:read", "--seeds", "1", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert found
    assert all(each["confirmed"] for each in found)
    main.main(["run", f"{path}:same", "--seeds", "1"])
    told = capsys.readouterr().out
    assert re.search(
        r"^not confirmed in \d+ runs: the accesses met, and wrote the same value each time$", told, re.MULTILINE
    )
    assert "both write the same value" in told
    assert re.search(r"^  \d benign races? in \d+ runs", told, re.MULTILINE)


def test_threads_that_did_not_end_are_told_in_the_words_of_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "stuck.cu"
    path.write_text(
        """__device__ void turn(volatile int *flag) {
  while (!*flag) { }
}
__global__ void spins(volatile int *flag) {
  if (threadIdx.x == 0) turn(flag);
  __syncthreads();
}
__global__ void waits(int *a) {
  int t = threadIdx.x;
  if (t < 8) a[t] = __shfl_sync(0xffff, t, 0);
  else if (t < 16) __syncthreads();
}
"""
    )
    sizes = ["--grid", "1", "--block", "32", "--seeds", "1", "--seconds", "0.5"]
    assert main.main(["run", f"{path}:spins", *sizes]) == 4
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f"{path}:6: thread (1, 0, 0) of block (0, 0, 0) and 30 others wait at a barrier")
    assert lines[at + 1] == "        __syncthreads();"
    at = next(
        n for n, line in enumerate(lines) if line.startswith(f"{path}:2: thread (0, 0, 0) of block (0, 0, 0) was ")
    )
    assert lines[at].endswith((" was at the end of a loop", " was at a read"))
    assert lines[at + 1 : at + 3] == ["        while (!*flag) { }", f"        called from {path}:5"]
    assert main.main(["run", f"{path}:waits", *sizes]) == 1
    out = capsys.readouterr().out
    assert f"{path}:10: thread (0, 0, 0) of block (0, 0, 0) and 7 others wait for other lanes of their warp\n" in out
    assert f"{path}:11: thread (8, 0, 0) of block (0, 0, 0) and 7 others wait at a barrier\n" in out
    assert not re.search(r"\((?:bar|shfl|bra|ld)\b", out)


def test_a_kernel_that_is_launched_nowhere_gets_blocks_and_threads_that_it_can_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One block, where it does not ask which one it is in; and several threads also where it asks for neither."""
    path = tmp_path / "nowhere.cu"
    path.write_text(
        """__global__ void threads(int *a) { a[threadIdx.x] = 1; }
__global__ void blocks(int *a) { a[blockIdx.x] = 1; }
__global__ void locked(int *lock, int *count) {
  while (atomicCAS(lock, 0, 1) != 0) { }
  ++count[0];
  *lock = 0;
}
"""
    )
    assert main.main(["run", f"{path}:threads", "--seeds", "1"]) == 0
    assert capsys.readouterr().out.startswith("grid (1, 1, 1), block (64, 1, 1) ")
    assert main.main(["run", f"{path}:blocks", "--seeds", "1"]) == 0
    assert capsys.readouterr().out.startswith("grid (2, 1, 1), block (1, 1, 1) ")
    assert main.main(["run", f"{path}:locked", "--seeds", "1"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("grid (2, 1, 1), block (64, 1, 1) ")
    assert "data race on global count[0]" in out


def test_atomics_that_headers_make_of_others_are_one_access(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before sm_90 those of `__nv_bfloat16` begin with a plain read."""
    path = tmp_path / "brain.cu"
    path.write_text(
        """#include <cuda_bf16.h>
__global__ void add(__nv_bfloat16 *sum, const __nv_bfloat16 *a, int at) {
  atomicAdd(&sum[3], a[threadIdx.x]);
  if (threadIdx.x == at) sum[3] = a[0];
  if (__bfloat162float(a[1]) != 1.5f) sum[0] = a[0];
}
"""
    )
    given = ["--grid", "2", "--block", "64", "--seeds", "2", "--arg", "sum=4", "--arg", "a=64:1.5"]
    assert main.main(["run", f"{path}:add", *given, "--arg", "at=-1"]) == 0
    assert "no race seen in 2 runs" in capsys.readouterr().out
    assert main.main(["run", f"{path}:add", *given, "--arg", "at=7"]) == 1
    assert "data race on global sum[3]" in capsys.readouterr().out


def test_what_a_run_lacks_is_told_in_the_words_of_the_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lacks.cu"
    path.write_text(
        """__global__ void sample(cudaTextureObject_t t, float *o) { o[threadIdx.x] = tex2D<float>(t, 1, 1); }
__global__ void inner(int *a) { a[threadIdx.x] = 1; }
__global__ void outer(int *a) {
  inner<<<1, 32>>>(a);
}
__global__ void before(int *a) {
  int own[2] = {1, 2};
  if (threadIdx.x == 1) a[(int)threadIdx.x - 2] = 1;
  if (threadIdx.x == 2) own[a[0] + 4000000] = 1;
  a[threadIdx.x] = own[a[1]];
}
"""
    )
    sizes = ["--grid", "1", "--block", "32", "--seeds", "1"]
    assert main.main(["run", f"{path}:sample", *sizes]) == 3
    assert "    textures: a run has none; give the kernel the data as an array (line 1)\n" in capsys.readouterr().out
    assert main.main(["run", f"{path}:outer", *sizes]) == 3
    out = capsys.readouterr().out
    assert "    launches of kernels from the device: run the inner kernel by itself (line 4)\n" in out
    assert main.main(["run", f"{path}:before", *sizes]) == 1
    out = capsys.readouterr().out
    assert f"{path}:8: access outside of every array: a[-1], which has 1024 elements\n" in out
    assert f"{path}:9: access outside of every array: memory of the thread's own, " in out


def test_a_witness_that_no_gpu_could_launch_is_not_the_last_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.cu"
    path.write_text("__global__ void k(int *a) { a[0] = threadIdx.x; }\n")

    def too_large(request: Request) -> RunResult:
        if request.goal is not None:
            return RunResult("launch", "a grid of many blocks")
        return RunResult("finished", runs=1, ended=1)

    monkeypatch.setattr(harness, "run", too_large)
    assert main.main(["run", f"{path}:k", "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [found["run"]["status"] for found in document["findings"]] == ["launch"]
    assert [found["run"]["status"] for found in document["inputs"]] == ["finished"]


def test_tensors_are_given_by_their_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "extension.cu"
    path.write_text(
        """#include <torch/extension.h>
template <typename T>
__global__ void sums(torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> x,
                     torch::PackedTensorAccessor32<T, 1, torch::RestrictPtrTraits> out) {
  int r = blockIdx.x, c = threadIdx.x;
  if (c < x.size(1)) out[r] += x[r][c];
}
void start(torch::Tensor x, torch::Tensor out) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sums", ([&] {
    sums<scalar_t><<<x.size(0), 128>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                       out.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>());
  }));
}
"""
    )
    command = ["run", f"{path}:sums<float>", "--grid", "4", "--seeds", "1", "--arg", "out=4", "--format", "json"]
    assert main.main([*command, "--block", "128", "--arg", "x=4x100:iota"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["faults"]) == ("finished", [])
    assert {race["address"] for race in result["races"]} == {"out.data_[0]"}
    assert {line_of(race) for race in result["races"]} == {6}
    assert main.main([*command, "--block", "1", "--arg", "x=2x100"]) == 1
    result = json.loads(capsys.readouterr().out)
    told = "access outside of every array: x.data_[200], which has 200 elements"
    assert [fault["text"] for fault in result["faults"]] == [told]
    assert main.main([*command, "--block", "128", "--arg", "x=4"]) == 2
    assert "x=4: expected the shape of a tensor of 2 dimensions, as in 4x128:random" in capsys.readouterr().err
    assert main.main(["run", f"{path}:sums<double>", "--seeds", "1"]) == 1
    assert "confirmed\n" in capsys.readouterr().out
    program = tmp_path / "inline.py"
    program.write_text("source = '__global__ void k() {}'")
    assert main.main(["run", f"{program}:k"]) == 2
    assert "put them into a file of their own" in capsys.readouterr().err


GENERATORS = """#include <curand_kernel.h>
__global__ void setup(curandState *state, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &state[i]);
}
__global__ void inside(curandState *state, unsigned *hits, int n, int own) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState *s = &state[own ? i : blockIdx.x];
  unsigned count = 0;
  for (int k = 0; k < n; k++) {
    float x = curand_uniform(s), y = curand_uniform(s);
    assert(0 < x && x <= 1 && 0 < y && y <= 1);
    count += x * x + y * y < 1;
  }
  atomicAdd(hits, count);
}
__global__ void others(float *out, unsigned *counts) {
  curandStatePhilox4_32_10_t s;
  curand_init(7, threadIdx.x, 0, &s);
  float4 four = curand_normal4(&s);
  out[threadIdx.x] = four.x + curand_normal(&s) + (float)curand_uniform_double(&s) + curand_log_normal(&s, 0, 1);
  counts[threadIdx.x] = curand(&s) + curand4(&s).w + curand_poisson(&s, 3.0);
}
"""


@pytest.fixture(params=["nvcc", "nvrtc"])
def compiler(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each compiler, as the one that a run finds."""
    name: str = request.param
    if name == "nvrtc":
        for variable in ("CUDA_PATH", "CUDA_HOME"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
    elif find_nvcc() is None:
        # A toolkit is none of the project's packages; what it compiles, NVRTC compiles in the other case.
        pytest.skip("there is no nvcc here")
    return name


def test_random_numbers_need_no_library(compiler: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where cuRAND is not installed there is a stand-in for its device side, with states of the same sizes."""
    path = tmp_path / "random.cu"
    path.write_text(GENERATORS)
    launch = ["--grid", "2", "--block", "32", "--seeds", "1"]
    assert main.main(["run", f"{path}:setup", *launch]) == 0
    assert f"compiled by {compiler})" in capsys.readouterr().out
    assert main.main(["run", f"{path}:inside", *launch, "--arg", "n=20", "--arg", "own=1"]) == 0
    assert main.main(["run", f"{path}:inside", *launch, "--arg", "n=20", "--arg", "own=0"]) == 1
    assert "random.cu:11: intra-warp data race on global state + " in capsys.readouterr().out
    assert main.main(["run", f"{path}:others", "--grid", "1", "--block", "32", "--seeds", "1"]) == 0


def test_numbers_of_a_witness_that_are_parts_of_structures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "parts.cu"
    path.write_text(
        """struct Image { int *px; int w, h; };
struct Range { int begin; bool on; Image im; };
__global__ void fill(Image img, Range r) {
  if (r.on) img.px[threadIdx.y * img.w + threadIdx.x + r.begin * r.im.w] = threadIdx.x + 16 * threadIdx.y;
}
void go(Image im, Range r) { fill<<<1, dim3(16, 16)>>>(im, r); }
"""
    )
    assert main.main(["run", f"{path}:fill", "--seeds", "1"]) == 1
    out = capsys.readouterr().out
    assert "\nconfirmed\n" in out
    assert "not confirmed" not in out


LAMBDAS = """#include <functional>
namespace par {
template <class F> __global__ void run(int n, F body) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}
template <class F> void loop(int n, F &&f) { run<<<(n + 63) / 64, 64>>>(n, std::forward<F>(f)); }
template <class Op> __global__ void fold(float *a, const Op op) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int d = 32; d; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *a = s[0];
}
}
namespace app {
struct Field { float *data; int n; __host__ __device__ float &at(int i) const { return data[i]; } };
__device__ inline float scale(float v) { return 3 * v; }
static void step(Field f, float dt, int *counts) {
  std::function<void()> host = [&] { f.n++; };
  const int halo = 2;
  par::loop(f.n, [=] __host__ __device__ (const int i) -> void {  // ] ( {
    f.at(i + halo) = scale(f.at(i)) * dt;
  });
  par::loop(f.n, [counts, k = halo + 1] __device__ (auto i) mutable { k += i; counts[i] = k; });
  par::fold<<<1, 64>>>(f.data, [] __device__ (float a, float b) { return a > b ? a : b; });
  par::loop(f.n, [&f] __device__ (int i) { f.at(i) = 1; });
}
}
"""


def test_lambdas_of_host_code_become_classes(compiler: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lambdas.cu"
    path.write_text(LAMBDAS)
    once = ["--seeds", "1"]
    assert main.main(["run", f"{path}:run<(lambda at lambdas.cu:25:18)>", *once]) == 1
    out = capsys.readouterr().out
    assert "confirmed\n" in out
    assert "`f.at(i + halo)` written by thread" in out
    assert f"{path}:26: intra-" in out
    assert f"compiled by {compiler})" in out
    assert main.main(["run", f"{path}:run<(lambda at lambdas.cu:28:18)>", *once]) == 0
    assert main.main(["run", f"{path}:fold", *once]) == 0
    assert main.main(["run", f"{path}:run<(lambda at lambdas.cu:30:18)>", *once]) == 3  # a reference into the host
    assert "a type without a name cannot be named" in capsys.readouterr().out


def test_template_arguments_that_are_enumerators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "colors.cu"
    path.write_text(
        """namespace ns {
enum class Color : char { Red, Black };
enum Plain { Zero, One };
template <Color C, class T, Plain P, int N> __global__ void sweep(T *u) {
  if (threadIdx.x % 2 == (C == Color::Red ? 0 : 1)) u[threadIdx.x] = u[threadIdx.x + N] + P;
}
void go(float *u) { sweep<Color::Black, float, One, 1><<<1, 64>>>(u); }
}
"""
    )
    assert main.main(["run", f"{path}:sweep", "--seeds", "1"]) == 0
    assert "no race seen in 1 run" in capsys.readouterr().out


def test_races_inside_of_inlined_functions_of_headers_are_told_where_they_were_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Debug builds of both compilers say nothing of what was inlined."""
    (tmp_path / "lib.cuh").write_text(
        "__device__ __forceinline__ void put(int *p, int v) { *p = v; }\n"
        "__device__ __forceinline__ void put_twice(int *p, int v) { put(p, v); put(p + 1, v); }\n"
    )
    path = tmp_path / "calls.cu"
    path.write_text(
        """#include "lib.cuh"
__global__ void calls(int *a) {
  int t = threadIdx.x;
  put(a + 128, 1);
  a[t] = t;
  put_twice(a + t + 64,
            t);
}
void go(int *a) { calls<<<1, 64>>>(a); }
"""
    )
    assert main.main(["run", f"{path}:calls", "--grid", "1", "--block", "64", "--seeds", "1", "--arg", "a=256"]) == 1
    out = capsys.readouterr().out
    assert f"called from {path}:4" in out
    assert f"called from {path}:6" in out or f"called from {path}:7" in out
    assert main.main(["run", f"{path}:calls", "--seeds", "1"]) == 1
    assert "\nconfirmed\n" in (out := capsys.readouterr().out)
    assert "not confirmed" not in out


def test_numbers_that_the_host_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the run of a launch, and of a finding whose witness says nothing of them."""
    path = tmp_path / "passed.cu"
    path.write_text(
        """struct Size { int w, h; };
__global__ void rows(float *a, Size s, int step, int last) {
  __shared__ float t[64];
  t[threadIdx.x] = a[blockIdx.x * s.w + threadIdx.x];
#ifndef RACE
  __syncthreads();
#endif
  for (int y = 0; y < s.h; y += step) a[(y * 2 + blockIdx.x) * s.w + threadIdx.x] = t[63 - threadIdx.x];
  if (threadIdx.x == last) printf("%d %d %d\\n", s.w, s.h, step);
}
int main() {
  const int w = 64, h = 6;
  float *a;
  cudaMalloc(&a, 16 * w * sizeof(float));
  Size s = {w, h};
  rows<<<2, 64>>>(a, s, 2, 63);
}
"""
    )
    assert main.main(["run", f"{path}:rows", "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert "step = 2, as in the host's launch" in out
    assert "64 6 2" in out
    assert main.main(["run", f"{path}:rows", "--seeds", "1", "--arg", "step=3"]) == 0
    assert "64 6 3" in capsys.readouterr().out
    assert main.main(["run", f"{path}:rows", "--seeds", "1", "--extra-arg=-DRACE"]) == 1
    out = capsys.readouterr().out
    assert "\nconfirmed\n" in out
    assert "outside of every array" not in out
