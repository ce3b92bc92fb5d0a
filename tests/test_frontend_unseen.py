"""What the text shows and clang does not take in is listed: lost kernels, lost launches, headers that are not there."""

# ruff: noqa: E501 (CUDA text keeps its lines)

import textwrap
from pathlib import Path

import pytest
from lowering import unit

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags, translate
from analyzers.frontend.include_search import SoughtHeader, search
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import UnitParser
from analyzers.model import UnitResult
from analyzers.requests import CheckRequest, UnitFinished


def listed(text: str, flags: CompileFlags | None = None) -> list[tuple[str, int]]:
    """What was skipped, with its line; the text begins in line 1."""
    return [
        (s.what, s.span.start_line if s.span else 0)
        for s in unit(textwrap.dedent(text).lstrip("\n"), None, flags).skipped
    ]


def checked(path: Path, flags: CompileFlags | None = None) -> UnitResult:
    request = CheckRequest(str(path), path.read_text(), flags or CompileFlags())
    return next(e.result for e in Engine().check(request) if isinstance(e, UnitFinished))


def test_nothing_is_listed_where_everything_was_taken_in():
    text = """
        // __global__ void comment(int *p) {}
        const char *s = "__global__ void text(int *p) {}";
        #if 0
        __global__ void dead(int *p) {}
        #endif
        __global__ void declared(int *p);
        #define KERNEL(name) __global__ void name(int *p) { p[0] = 1; }
        #define NAME(op) kernel_##op
        #define PAIR(a, b) KERNEL(a) KERNEL(b)
        #define UNUSED(name) __global__ void name##_unused(int *p) { p[0] = 1; }
        KERNEL(one)
        PAIR(two, three)
        __global__ void NAME(add)(int *p) { p[0] = 1; }
        template <class T> __global__ void __launch_bounds__(32) nobody(T *p) { p[0] = 1; }
        namespace { extern "C" __global__ void inner(int *p) { p[1] = 2; } }
        """
    assert listed(text) == []


def test_a_kernel_in_a_branch_that_is_not_compiled():
    text = """
        #ifdef WIDE
        __global__ void wide(int *p) { p[0] = 1; }
        #elif __CUDA_ARCH__ < 600
        __global__ void old(int *p) { p[0] = 1; }
        #else
        __global__ void plain(int *p) { p[0] = 1; }
        #endif
        """
    assert listed(text) == [
        ("kernel wide: not compiled with these flags (#ifdef WIDE)", 2),
        ("kernel old: not compiled with these flags (#elif __CUDA_ARCH__ < 600)", 4),
    ]
    assert [what for what, _ in listed(text, translate(["-DWIDE"], "/"))] == [
        "kernel old: not compiled with these flags (#elif __CUDA_ARCH__ < 600)",
        "kernel plain: not compiled with these flags (#else of #elif __CUDA_ARCH__ < 600)",
    ]


def test_a_kernel_behind_an_error():
    text = """
        __global__ void open(int *p) { if (p[0]) { p[0] = 1; }
        __global__ void swallowed(int *p) { p[0] = 1; }
        """
    (only,) = listed(text)
    assert only[0].startswith("kernel swallowed: the compiler could not take it in (line 2: ")
    assert only[1] == 2


def test_a_macro_that_makes_no_kernel():
    text = """
        #define KERNEL(name) __global__ void name(int *p) { p[0] = 1; }
        #ifdef MORE
        KERNEL(extra)
        #endif
        KERNEL(plain)
        """
    assert listed(text) == [("kernel written by macro KERNEL: not compiled with these flags (#ifdef MORE)", 3)]


def test_kernels_of_headers_and_missing_headers(tmp_path: Path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    header = tmp_path / "inc" / "k.cuh"
    header.write_text(
        "#ifndef K_H\n#define K_H\n__global__ void k(int *p) { p[0] = 1; }\n#ifdef X\n__global__ void x(int *p) { p[0] = 1; }\n#endif\n#endif\n"
    )
    source = tmp_path / "src" / "a.cu"
    source.write_text('#include "../inc/k.cuh"\n#include "nowhere.h"\nvoid run(int *p) { k<<<1, 1>>>(p); }\n')
    result = checked(source)
    assert [(s.what, s.span.path if s.span else "", s.span.start_line if s.span else 0) for s in result.skipped] == [
        ("header nowhere.h not found: code that needs it is unknown", str(source), 2),
        ("kernel x: not compiled with these flags (#ifdef X)", str(header), 5),
    ]
    (kernel,) = result.kernels
    # One file has one name, however it is included.
    assert kernel.span.path == str(header)
    assert kernel.contexts[0].launch.source == "launch"


def test_nothing_is_listed_of_a_part_of_a_unit():
    parsed = UnitParser().parse(
        "/project/part.cu",
        "#ifdef X\n__global__ void x(int *p) {}\n#endif\n__global__ void y(int *p) {}\n",
        CompileFlags(),
    )
    assert lower_unit(parsed, None, ["y"]).skipped == ()
    assert len(lower_unit(parsed).skipped) == 1


def test_a_header_no_include_path_leads_to_is_looked_for(tmp_path: Path):
    project = tmp_path / "project"
    for folder in (".git", "src/deep", "third_party/vec/include/vec", "third_party/vec/include/more"):
        (project / folder).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "far.h").write_text("#define FAR 1\n")
    (project / "third_party/vec/include/vec/vec.h").write_text("#include <more/more.h>\nstruct vec { float x; };\n")
    (project / "third_party/vec/include/more/more.h").write_text("#define MORE 1\n")
    source = project / "src" / "deep" / "a.cu"
    source.write_text(
        "#include <vec/vec.h>\n#include <outside/far.h>\n__global__ void k(vec *p) { p[threadIdx.x].x = MORE; }\n"
    )
    result = checked(source)
    (kernel,) = result.kernels
    found = "vec/vec.h is the one in ../../third_party/vec/include: no include path leads to it"
    assert found in kernel.contexts[0].assumptions
    # The search ends at the top of the project.
    assert [s.what for s in result.skipped] == ["header outside/far.h not found: code that needs it is unknown"]


def test_an_include_path_comes_before_the_search(tmp_path: Path):
    for folder, width in (("external", 4), ("given", 8)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "w.h").write_text(f"constexpr int width = {width};\n")
    source = tmp_path / "a.cu"
    source.write_text('#include "w.h"\n__global__ void k(int *p) { p[width] = 1; }\n')
    parser = UnitParser()
    searched = parser.parse(str(source), source.read_text(), CompileFlags())
    assert [(s.name, Path(s.folder).name) for s in searched.sought] == [("w.h", "external")]
    given = parser.parse(str(source), source.read_text(), translate([f"-I{tmp_path / 'given'}"], "/"))
    assert given.sought == ()
    assert [Path(d).parent.name for d in given.dependencies] == ["given"]


def test_launches_that_bring_no_context_say_why(tmp_path: Path):
    source = tmp_path / "a.cu"
    source.write_text(
        textwrap.dedent("""\
        __global__ void k(float *p) { p[threadIdx.x] = 1; }
        typedef void (*kernel)(float *);
        kernel pick(int n);
        void a(float *p) { kernel f = pick(3); f<<<1, 2>>>(p); }
        __global__ void parent(float *p) { k<<<1, 2>>>(p); }
        void g(float *p) {
        #ifdef NOPE
          k<<<1, 2>>>(p);
        #else
          k<<<1, 4>>>(p);
        #endif
          if (0) k<<<1, 3>>>(p);
        }
        void h(float *p) { k<<<1, 5>>>(p); missing(p); k<<<missing, 6>>>(p); }
        """)
    )
    result = checked(source)
    assert [(s.what, s.span.start_line if s.span else 0) for s in result.skipped] == [
        ("launch f<<<1, 2>>>(p): its kernel is not known: it comes from pick", 4),
        ("launch of k is in device code, which is not followed to further kernels", 5),
        ("launch of k: not compiled with these flags (#ifdef NOPE)", 8),
        ("launch of k is never reached", 12),
        ("launch of k not visible to the parser (line 14: use of undeclared identifier 'missing')", 14),
    ]


def test_a_launch_of_a_kernel_without_definition(tmp_path: Path):
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(float *p);\nvoid run(float *p) { k<<<1, 2>>>(p); }\n")
    assert [s.what for s in checked(source).skipped] == [
        "launch k<<<1, 2>>>(p): its kernel has no definition in this unit"
    ]


def test_kernels_in_tables_and_in_explicit_instances_are_launched(tmp_path: Path):
    source = tmp_path / "a.cu"
    source.write_text(
        textwrap.dedent("""\
        template <int N> __global__ void k(float *p) { p[threadIdx.x] = N; }
        template <int N> __global__ void m(float *p) { p[threadIdx.x] = N; }
        typedef void (*kernel)(float *);
        const kernel table[] = {k<1>, k<2>};
        void run(float *p, int i) { table[i]<<<1, 32>>>(p); }
        template <int N> void launch(float *p) { m<N><<<1, N>>>(p); }
        #define EACH(n) template void launch<n>(float *);
        EACH(3)
        EACH(4)
        """)
    )
    result = checked(source)
    assert result.skipped == ()
    contexts = {k.name: [(c.launch.source, c.launch.block) for c in k.contexts] for k in result.kernels}
    assert contexts == {
        "k<1>": [("launch", ("32", "1", "1"))],
        "k<2>": [("launch", ("32", "1", "1"))],
        "m<3>": [("launch", ("3", "1", "1"))],
        "m<4>": [("launch", ("4", "1", "1"))],
    }


def test_launches_of_class_templates_instantiated_explicitly(tmp_path: Path):
    source = tmp_path / "a.cu"
    source.write_text(
        textwrap.dedent("""\
        namespace n {
        template <class T> __global__ void k(T *p) { p[threadIdx.x] = 1; }
        template <class T> struct Solver { void operator()(T *p); void rest(T *p) { k<T><<<2, 32>>>(p); } };
        template <class T> void Solver<T>::operator()(T *p) { k<T><<<1, 32>>>(p); rest(p); }
        template struct Solver<float>;
        template class Solver<double>;
        }
        """)
    )
    result = checked(source)
    assert result.skipped == ()
    grids = {k.name: sorted(c.launch.grid[0] for c in k.contexts) for k in result.kernels}
    assert grids == {"k<float>": ["1", "2"], "k<double>": ["1", "2"]}


@pytest.mark.parametrize(
    "place", ["include", "common", "../Common", "../../extern", "../../vendor/any", "../../deps/any/include"]
)
def test_where_headers_are_looked_for(tmp_path: Path, place: str):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    found = (folder / place).resolve()
    found.mkdir(parents=True, exist_ok=True)
    (found / "sought.h").write_text("")
    assert search("sought.h", [str(folder / "unit.cu")]) == SoughtHeader("sought.h", str(found))
    assert search("other.h", [str(folder / "unit.cu")]) is None
