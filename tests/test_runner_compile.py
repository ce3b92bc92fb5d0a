"""What compilers are asked for, and what only one of them takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzers.explain import launchable
from analyzers.requests import CheckRequest
from cuda_lsp.running import plan
from gpu_runner.compile import find_nvcc
from gpu_runner.request import ArrayArgument, Request
from gpu_runner.session import serve

# NVRTC comes with the tests' packages, a toolkit only with the machine.
COMPILERS = (
    pytest.param("nvcc", marks=pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")),
    "nvrtc",
)
LAMBDAS = """\
constexpr int twice(int x) { return 2 * x; }
extern "C" __global__ void k(int *a) {
  auto put = [=] __device__ (int i) { a[i] = twice(i); };
  auto plain = [=](int i) { return i + 1; };
  auto both = [&] __host__ __device__ { return plain(1); };
  put(threadIdx.x / both());
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_lambdas_that_say_where_they_run(compiler: str) -> None:
    asked = Request("k", (1, 1, 1), (32, 1, 1), (ArrayArgument("i32", 64),), ("a",), LAMBDAS, "/k.cu")
    asked = replace(asked, compiler=compiler)  # pyright: ignore[reportArgumentType]
    result = serve(asked)
    assert result.status == "finished", result.message
    assert {race.same_value for race in result.races} == {True}
    assert {race.first.places[0].line for race in result.races} == {3}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_libraries_that_ask_for_the_version_of_cuda(tmp_path: Path, compiler: str) -> None:
    """As GLM does, which nvcc reads once more for the host."""
    (tmp_path / "library.h").write_text(
        "#if !defined(CUDA_VERSION)\n#include <cuda.h>\n#endif\n"
        '#if CUDA_VERSION < 7000\n#error "a newer CUDA is needed"\n#endif\n'
        "__device__ inline int one() { return 1; }\n"
    )
    text = '#include "library.h"\n__global__ void k(int *a) { a[threadIdx.x] = one(); }\n'
    path = str(tmp_path / "a.cu")
    found = launchable(CheckRequest(path, text), "k")
    asked = replace(
        plan.base_request(found, path, (), seeds=1),
        block=(32, 1, 1),
        arguments=(ArrayArgument("i32", 64),),
        compiler=compiler,  # pyright: ignore[reportArgumentType]
    )
    result = serve(asked)
    assert result.status == "finished", result.message


def test_an_instance_for_what_has_no_name_is_refused_before_it_is_compiled() -> None:
    instance = "apply<(lambda at a.cu:6:36)>"
    asked = Request("_Z5applyIZ2goPiEUliE_EvT_i", (1, 1, 1), (32, 1, 1), (), (), "nonsense", instances=(instance,))
    result = serve(asked)
    assert result.status == "unsupported"
    assert instance in result.details[0]
