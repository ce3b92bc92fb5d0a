"""Slices: what a kernel needs stays where it was, everything else of the file is blank."""

from __future__ import annotations

import re
from pathlib import Path

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.frontend.slices import qualified_name, slice_text

TEXT = """#include <vector>
#include "used.cuh"
#include "unused.cuh"
#include "macros.h"
#include <cassert>
#define SIZE 8
#define HOST(x) check(x, __FILE__)
std::vector<int> kept;
struct Base { float x; };
struct Pair : Base { float y; };
struct Host { std::vector<int> v; };
__constant__ float table[SIZE];
namespace ns {
using Number = float;
template <int N> __device__ Number pick(const Pair &p) { return p.x * table[N] * SCALE; }
__device__ int other() { return 7; }
__global__ void k(Number *a, Pair p) { a[threadIdx.x] = pick<2>(p) + used(1); }
#if 0
nothing here
#endif
void start() { k<<<1, 32>>>(nullptr, Pair()); }
}
__global__ void second(int *a) { a[0] = ns::other(); }
int main() { HOST(1); return 0; }
"""


def _kept(text: str, path: str) -> dict[str, set[int]]:
    """Lines with something in them, by file; those in front of the file and positions for the compiler aside."""
    kept: dict[str, set[int]] = {}
    file, number = path if not text.startswith("#include <cstd") else "", 1
    for line in text.split("\n"):
        position = re.match(r'#line (\d+) "(.*)"$', line)
        if position is not None:
            file, number = position[2], int(position[1])
            continue
        if line.strip() and file:
            kept.setdefault(file, set()).add(number)
        number += 1
    return kept


def test_a_kernel_keeps_what_it_reaches(tmp_path: Path) -> None:
    (tmp_path / "used.cuh").write_text(
        "#pragma once\n__device__ inline int unused(int x) { return x; }\n"
        "__device__ inline int used(int x) { return x; }\n"
    )
    (tmp_path / "unused.cuh").write_text("struct Missing { std::vector<int> v; };\n")
    (tmp_path / "macros.h").write_text("#define SCALE 2\n")
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, TEXT, CompileFlags(arguments=()))
    offset = TEXT.index("__global__ void k")
    assert qualified_name(unit, path, offset) == "ns::"
    text = slice_text(unit, [(path, offset)])
    kept = _kept(text, path)
    assert kept[path] == {5, 6, 7, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 22}
    assert kept[str(tmp_path / "used.cuh")] == {3}
    assert kept[str(tmp_path / "macros.h")] == {1}
    assert str(tmp_path / "unused.cuh") not in kept


def test_members_that_nothing_calls_and_their_types_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "spec.h").write_text(
        "#include <torch/extension.h>\n"
        "struct Tensors { torch::Tensor t; };\n"
        "struct Packed {\n"
        "  Packed(Tensors &t) : p(nullptr) {}\n"
        "  __device__ float at(int i) const { return p[i]; }\n"
        "  float *p;\n"
        "};\n"
    )
    path = str(tmp_path / "a.cu")
    text = '#include "spec.h"\n__global__ void k(Packed p, uint32_t n) { p.p[n] = p.at(0); }\n'
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    kept = _kept(sliced := slice_text(unit, [(path, text.index("__global__"))]), path)
    assert kept[str(tmp_path / "spec.h")] == {3, 5, 6, 7}
    assert "torch" not in sliced
    assert sliced.startswith("#include <cstddef>\n#include <cstdint>\n#line 1 ")


def test_a_kernel_of_a_header_and_what_only_a_template_names(tmp_path: Path) -> None:
    (tmp_path / "units").mkdir()
    header = str(tmp_path / "k.cuh")
    body = (
        "template <typename T> __device__ T twice(T x) { return x + x; }\n"
        "__device__ int other() { return 7; }\n"
        "template <typename T> __global__ void k(T *a) { a[0] = twice<T>(a[1]); }\n"
    )
    Path(header).write_text(body)
    path = str(tmp_path / "units" / "a.cu")
    unit = UnitParser().parse(path, '#include "../k.cuh"\nvoid f(int *a) { k<int><<<1, 1>>>(a); }\n', CompileFlags())
    assert _kept(slice_text(unit, [(header, body.index("template <typename T> __global__"))]), path) == {header: {1, 3}}


def test_constructors_that_a_template_may_use(tmp_path: Path) -> None:
    """What is made of arguments whose types depend on the template's leads to no constructor in particular."""
    body = (
        "struct Pose { float x; int n;\n"
        "  __device__ Pose(const float *p) : x(*p), n(0) {}\n"
        "  __device__ Pose(int n) : x(0), n(n) {}\n"
        "  __device__ void unused() {}\n"
        "};\n"
        "template <typename T> __global__ void k(T *a) { auto p = Pose(a); a[0] = p.x; }\n"
        "__global__ void plain(int *a) { Pose p(3); a[0] = p.n; }\n"
    )
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, body + "void f(float *a) { k<float><<<1, 1>>>(a); }\n", CompileFlags())
    assert _kept(slice_text(unit, [(path, body.index("template"))]), path)[path] == {1, 2, 3, 5, 6}
    assert _kept(slice_text(unit, [(path, body.index("__global__ void plain"))]), path)[path] == {1, 3, 5, 7}


def test_members_that_a_template_selects_of_its_arguments(tmp_path: Path) -> None:
    body = (
        "template <typename D> struct Base {\n"
        "  __device__ int get() const { auto d = static_cast<const D *>(this); return d->own(3); }\n"
        "};\n"
        "struct Derived : Base<Derived> {\n"
        "  __device__ int own(int i) const { return i; }\n"
        "  __device__ int other(int i) const { return i; }\n"
        "};\n"
        "__global__ void k(int *a) { Derived d; a[0] = d.get(); }\n"
    )
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, body, CompileFlags())
    kept = _kept(slice_text(unit, [(path, body.index("__global__"))]), path)[path]
    assert kept == {1, 2, 3, 4, 5, 7, 8}


def test_names_that_are_brought_in_from_namespaces(tmp_path: Path) -> None:
    body = (
        "#include <cooperative_groups.h>\n"
        "using namespace cooperative_groups;\n"
        "namespace own { __device__ int f() { return 1; } __device__ int g(); namespace in { struct S {}; } }\n"
        "namespace other { __device__ int h() { return 1; } }\n"
        "using namespace own;\n"
        "using namespace own::in;\n"
        "using other::h;\n"
        "__global__ void k(int *a) { this_thread_block().sync(); a[0] = f(); }\n"
        "__global__ void second(int *a) { S s; a[0] = h(); }\n"
        "__global__ void third(int *a) { a[0] = 1; }\n"
    )
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, body, CompileFlags())

    def kept(kernel: str) -> set[int]:
        return _kept(slice_text(unit, [(path, body.index(f"__global__ void {kernel}("))]), path)[path] - {3, 4}

    assert kept("k") == {1, 2, 5, 8}
    assert kept("second") == {5, 6, 7, 9}
    assert kept("third") == {10}


def test_a_kernel_of_a_header_that_is_included_behind_declarations(tmp_path: Path) -> None:
    first, header = tmp_path / "first.cuh", tmp_path / "k.cuh"
    first.write_text("constexpr int one = 1;\n")
    header.write_text("__global__ void k(int *a) { a[0] = width + one; }\n")
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(
        path, '#include "first.cuh"\nconst int width = 3;\n\n#include "k.cuh"\n', CompileFlags(arguments=())
    )
    assert _kept(slice_text(unit, [(str(header), 0)]), path) == {str(first): {1}, path: {2}, str(header): {1}}


def test_members_of_class_templates_that_are_defined_outside(tmp_path: Path) -> None:
    text = """\
template <int N, typename T> struct vec;
template <typename T> struct vec<2, T> {
  T x;
  vec &operator=(const vec &);
  template <typename U> vec &operator+=(U s);
  template <typename U> vec &operator-=(U s);
};
template <typename T>
vec<2, T> &vec<2, T>::operator=(const vec<2, T> &v) { return *this; }
template <typename T>
template <typename U>
inline vec<2, T> &vec<2, T>::operator+=(U s) { x += s; return *this; }
template <typename T>
template <typename U>
vec<2, T> &vec<2, T>::operator-=(U s) { x -= s; return *this; }
template <typename T> __global__ void sums(T *a) { vec<2, T> v; v += a[1]; }
__global__ void k(int *a) { a[0] = 1; }
void f(int *a) { sums<int><<<1, 1>>>(a); }
"""
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    assert _kept(slice_text(unit, [(path, text.index("__global__ void k"))]), path) == {path: {17}}
    kept = _kept(slice_text(unit, [(path, text.index("template <typename T> __global__"))]), path)
    assert kept == {path: set(range(1, 17))}
    # A member takes its class along.
    kept = _kept(slice_text(unit, [(path, text.index("template <typename U>\ninline"))]), path)
    assert kept[path] >= {1, 2, 7, 10, 11, 12}


def test_a_header_that_counts_once_stands_once(tmp_path: Path) -> None:
    once, first = tmp_path / "once.cuh", tmp_path / "first.cuh"
    once.write_text("#pragma once\n__device__ int one() { return 1; }\n")
    first.write_text('#include "once.cuh"\n__device__ int two() { return one() + one(); }\n')
    path = str(tmp_path / "a.cu")
    text = '#include "first.cuh"\nconst int n = 3;\n#include "once.cuh"\n__global__ void k(int *a) { a[n] = two(); }\n'
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    assert slice_text(unit, [(path, text.index("__global__"))]).count("return 1") == 1


def test_headers_of_templates_of_libraries(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    text = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
template <class T> __global__ void k(T *a) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  a[0] = cg::reduce(warp, a[0], cg::plus<T>());
}
__global__ void scan(int *a) {
  typedef cub::BlockScan<int, 32> Scan;
  __shared__ typename Scan::TempStorage storage;
  Scan(storage).InclusiveSum(a[0], a[1]);
}
"""
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    groups = slice_text(unit, [(path, text.index("template"))])
    assert "#include <cooperative_groups/reduce.h>" in groups
    assert "cub/" not in groups
    scan = slice_text(unit, [(path, text.index("__global__ void scan"))])
    assert "#include <cub/block/block_scan.cuh>" in scan
    assert "#include <cub/cub.cuh>" not in scan


def test_headers_of_the_standard_library_of_cuda(tmp_path: Path) -> None:
    """Those that the text includes, also by way of a header with nothing else in it, in front; not where they are not
    spoken of."""
    (tmp_path / "more.h").write_text("#pragma once\n#include <cuda/std/tuple>\n")
    path = str(tmp_path / "a.cu")
    text = """\
#include <cuda/atomic>
#include "more.h"
#include <cuda/std/array>
#include <cuda/std/absent>
__global__ void k(int *a) {
  __shared__ cuda::std::array<int, 64> s;
  s[threadIdx.x] = cuda::std::get<0>(cuda::std::make_tuple(a[0]));
}
__global__ void plain(int *a) { a[0] = 1; }
"""
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    sliced = slice_text(unit, [(path, text.index("__global__ void k"))])
    front = sliced[: sliced.index("#line 1 ")]
    for name in ("array", "tuple", "absent"):
        assert f"#if __has_include(<cuda/std/{name}>)\n#include <cuda/std/{name}>\n#endif\n" in front
    assert "cuda/std" not in slice_text(unit, [(path, text.index("__global__ void plain"))])


INSTANCES = """\
#include "k.cuh"
#define K(T) template __global__ void scale<T>(T *);
#define TYPES(X) X(short) X(float)
#define BOXES template class Box<int>; template struct Box<float>
#define OPEN namespace inner {
#define CLOSE }
template <typename T> struct Box { T v; __device__ T get(); };
template <typename T> __device__ T Box<T>::get() { return v; }
template <typename T> __global__ void scale(T *a) { Box<T> b; a[threadIdx.x] = b.get(); }
template __global__ void scale<int>(int *);
extern template __global__ void
scale<double>(double *);
K(char)
TYPES(K)
BOXES;
template struct Box<double>;
// a template for all; not code
const char *said = "template nothing;";
OPEN
template <int N> __global__ void one(int *a) { a[N] = typename Box<int>::template none<N>(); }
template <int N> __global__ void two(int *a) { a[N] = 2; }
template __global__ void two<3>(int *);
CLOSE
template __global__ void inner::two<4>(int *);
__global__ void plain(int *a) { a[threadIdx.x] = 1; }
template <> __global__ void scale<long>(long *a) { a[0] = 1; }
#if 0
template __global__ void scale<bool>(bool *);
#endif
"""


def test_explicit_instantiations_of_other_templates_are_left_out(tmp_path: Path) -> None:
    header = tmp_path / "k.cuh"
    header.write_text(
        "#define WIDTH 4\n"
        "template <int N> __global__ void far(int *a) { a[N] = WIDTH; }\n"
        "template __global__ void far<WIDTH>(int *);\n"
    )
    path = str(tmp_path / "a.cu")
    unit = UnitParser().parse(path, INSTANCES, CompileFlags(arguments=()))
    macros = {2, 3, 4, 5, 6}
    always = macros | {17, 19, 23, 27, 28, 29}  # a comment, namespaces and directives; of `#if 0` all
    lines = {
        "__global__ void plain": {25},
        "template <typename T> __global__ void scale": {7, 8, 9},
        "template <int N> __global__ void two": {21},
        "template <> __global__ void scale": {7, 8, 9, 26},  # with the template that it is one of
    }
    for text, own in lines.items():
        sliced = slice_text(unit, [(path, INSTANCES.index(text))])
        assert _kept(sliced, path)[path] == always | own, text
        assert "far" not in sliced


def test_what_instantiates_and_declares_more_stays_as_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    text = """\
#define BOTH(T) template <> __global__ void k<T>(T *a) { a[0] = 1; } template __global__ void other<T>(T *);
#define AS template
template <typename T> __global__ void k(T *a);
template <typename T> __global__ void other(T *a) { a[0] = 2; }
BOTH(int)
AS __global__ void other<char>(char *);
"""
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    assert _kept(slice_text(unit, [(path, text.index("BOTH(int)"))]), path)[path] == {1, 2, 3, 5}


def test_linkage_without_braces_goes_with_what_it_is_of(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    text = """\
extern "C" void first(float *h);
extern "C"
// of the host
void second(float *h) { first(h); }
extern "C" { void third(); __device__ int twice(int x) { return 2 * x; } }
__global__ void plain(int *a) { a[0] = twice(1); }
extern "C" __global__ void named(int *a) { a[0] = 1; }
extern "C" void last() { plain<<<1, 1>>>(nullptr); }
"""
    unit = UnitParser().parse(path, text, CompileFlags(arguments=()))
    sliced = slice_text(unit, [(path, text.index("__global__ void plain"))])
    assert _kept(sliced, path)[path] == {5, 6}
    assert "third" not in sliced
    sliced = slice_text(unit, [(path, text.index("__global__ void named"))])
    assert 'extern "C" __global__ void named' in sliced
    assert sliced.count("extern") == 2  # the one with braces stays


def test_a_header_without_a_guard_in_the_first_line(tmp_path: Path) -> None:
    """What every file begins with is compiled beforehand, and counts as included in that line, too."""
    (tmp_path / "view.h").write_text("struct View { int n; };\n")
    path = tmp_path / "view.cu"
    path.write_text('#include "view.h"\n__global__ void k(View v, int *out) { out[threadIdx.x] = v.n; }\n')
    unit = UnitParser().parse(str(path), path.read_text(), CompileFlags())
    text = slice_text(unit, [(str(path), path.read_text().index("__global__"))])
    assert text.count("struct View") == 1
    assert "#include" not in text
