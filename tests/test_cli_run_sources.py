"""`cuda-lsp run`: which sources, instances and headers are compiled and run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cuda_lsp.cli import main
from gpu_runner.compile import find_nvcc

pytestmark = pytest.mark.usefixtures("lasting_workers")


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
