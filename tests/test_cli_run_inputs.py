"""`cuda-lsp run`: the arguments, arrays and dimensions that a kernel is run with, given, made up or the host's."""

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
from gpu_runner.request import ArrayArgument, PointersArgument, ScalarArgument

pytestmark = pytest.mark.usefixtures("lasting_workers")

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
