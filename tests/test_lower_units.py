"""Which kernels a unit has: templates and their instantiations, headers, namespaces, broken code."""

# ruff: noqa: E501 (CUDA text and printed programs keep their lines)

import re
from collections.abc import Sequence

from lowering import PATH, kernel, kernels, program, unit, unsupported

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.lower import lower_unit
from analyzers.frontend.parse import ParsedUnit, UnitParser
from analyzers.ir.kernel import Unsupported, statements


def names(text: str, files: dict[str, str] | None = None) -> list[str]:
    return list(kernels(text, files))


def test_instantiations_at_launches_and_through_templates():
    text = """
        template <class T, int N> __global__ void run(T *p) { p[0] = N; }
        namespace inner { template <class T, bool B = true> __global__ void fill(T *p, const T v) { if (B) p[threadIdx.x] = v; } }
        template <class T> struct Launcher { static void go(T *p) { inner::fill<<<1, 2>>>(p, T(3)); } };
        template <typename T> void launch(T *p) { run<T, 32><<<1, 1>>>(p); Launcher<T>::go(p); }
        void host(float *p, double *q, int c) {
          launch(p);
          auto f = c ? &run<float, 1> : run<float, 2>;
          f<<<1, 1>>>(p);
          void *args[] = {&q};
          cudaLaunchKernel((void *)run<double, 8>, 1, 1, args, 0, 0);
          auto l = [&](auto v) { run<decltype(v), 5><<<1, 1>>>(nullptr); };
          l(1u);
        }
    """
    assert sorted(names(text)) == [
        "fill<float, true>", "run<double, 8>", "run<float, 1>", "run<float, 2>", "run<float, 32>", "run<unsigned int, 5>"
    ]  # fmt: skip


def test_instances_for_lambdas_are_named_without_the_folder():
    text = "template <class F> __global__ void run(F f) { f(); }\nvoid host(int *p) { run<<<1, 1>>>([=] __device__ { *p = 1; }); }"
    assert "/" in PATH
    assert names(text) == [f"run<(lambda at {PATH.rpartition('/')[2]}:2:35)>"]


def test_each_instance_has_its_own_body():
    text = """
        template <class T, int N> __device__ T twice(T v) { if constexpr (N > 1) return v * 2; return v; }
        template <class T, int N> __global__ void run(T *p) { p[sizeof(T)] = twice<T, N>(N); }
        void host(char *p, double *q) { run<char, 1><<<1, 1>>>(p); run<double, 2><<<1, 1>>>(q); }
    """
    assert program(text, "run<char, 1>") == "#1 store 1B ptradd(&p, 1) := 1"
    assert program(text, "run<double, 2>") == "#1 store 8B ptradd(&p, 64) := (2.0 * 2.0)"


def test_explicit_instantiations_and_specialisations():
    text = """
        template <class T> __global__ void run(T *p) { p[0] = 1; }
        template <> __global__ void run<char>(char *p) { p[0] = 2; }
        template __global__ void run<double>(double *);
        namespace a { namespace { template <int N> __global__ void deep(int *p) { *p = N; } } template __global__ void deep<7>(int *); }
    """
    lowered = unit(text)
    assert sorted(k.name for k in lowered.kernels) == ["deep<7>", "run<char>", "run<double>"]
    assert len(lowered.probes) == 2
    assert not any(k.assumptions for k in lowered.kernels)


def test_defaults_of_parameters_stand_in_any_declaration():
    text = """
        __device__ int early(int a, int b = 3);
        __device__ int early(int a, int b) { return a + b; }
        __device__ int later(int a, int b) { return a + b; }
        __device__ int later(int a, int b = 5);
        template <class T> __device__ T both(T a, T b = T(7));
        template <class T> __device__ T both(T a, T b) { return a + b; }
        template <class T> struct Box { T x; __device__ Box(T a = T(11)) : x(a) {} __device__ T get(T k = 13) const; };
        template <class T> __device__ T Box<T>::get(T k) const { return k; }
        __global__ void run(int *p) {
          auto plus = [](int a, int b = 17) { return a + b; };
          p[0] = early(1); p[1] = later(1); p[2] = both(1); p[3] = Box<int>().get(); p[4] = plus(1);
        }
    """
    stored = re.findall(r":= (\d+)", program(text, "run"))
    assert [number for number in stored if number != "11"] == ["4", "6", "8", "13", "18"]


def test_instances_that_only_macros_make():
    text = """
        namespace a { namespace {
        template <class T, int N> __global__ void run(T *p) { p[0] = N; }
        #define ONE(T, N) template __global__ void run<T, N>(T *)
        #define MANY(N) ONE(int, N); \\
                        ONE(double, N)
        MANY(1);
        #undef ONE
        #ifdef NOT_DEFINED
        MANY(7);
        #endif
        } }
        #define WORD(T) { return sizeof(T) > 1 ? "template void" : ""; }
        const char *text() WORD(int)
        #define ONE(N) namespace a { namespace { template __global__ void run<char, N>(char *p); } }
        ONE(3) ONE(4)
    """
    assert sorted(names(text)) == ["run<char, 3>", "run<char, 4>", "run<double, 1>", "run<int, 1>"]
    header = {"/project/instances.h": "#define INSTANCE(T) template __global__ void run<T>(T *);\n"}
    kernel = "template <class T> __global__ void run(T *p) { p[0] = 1; }\n"
    found = kernels(f'#include "instances.h"\n{kernel}INSTANCE(long)\n', header)
    assert list(found) == ["run<long>"]


def test_templates_nobody_instantiates_are_tried():
    text = """
        template <class T, int N, bool B> __global__ void run(T *p) { p[0] = N; }
        template <class Op> __global__ void apply(float *p, Op op) { p[0] = op(p[1]); }
        template <template <class> class C> __global__ void odd(C<int> *p) { p->x = 1; }
    """
    found = kernels(text)
    assert next(iter(found)) == "run<float, 32, true>"
    assert found["run<float, 32, true>"].assumptions == (
        "the template is not instantiated in sight; checked as run<float, 32, true>",
    )
    assert unsupported(text, "odd<…>") == ["uninstantiated-template"]
    assert any(name.startswith("apply<") for name in found)


def test_the_first_arguments_that_a_template_accepts_are_taken():
    text = """
        template <int N> __global__ void run(int *p) { static_assert(N % 3 == 2 && N < 9, "odd demand"); p[0] = N; }
        __global__ void other(int *p) { p[0] = 1; }
    """
    lowered = unit(text)
    assert [k.name for k in lowered.kernels] == ["run<8>", "other"]
    assert len(lowered.probes) == 1
    assert not unsupported(text, "run<8>")
    assert not unsupported(text, "other")


def parses(text: str) -> list[tuple[str, ...]]:
    """The probes of each parse that finding the kernels of a text takes."""
    parser, seen = UnitParser(), list[tuple[str, ...]]()

    def parse(probes: Sequence[str] = ()) -> ParsedUnit:
        seen.append(tuple(probes))
        return parser.parse(PATH, text, CompileFlags(), {}, probes)

    lower_unit(parse(), parse)
    return seen


def test_a_template_that_accepts_the_first_arguments_takes_one_more_parse():
    template = "template <class T, int N> __global__ void run(T *p) { p[0] = N; }\n"
    assert [len(probes) for probes in parses(template)] == [0, 1]
    demanding = 'template <int N> __global__ void odd(int *p) { static_assert(N == 8, "odd demand"); p[0] = N; }\n'
    assert [len(probes) for probes in parses(template + demanding)] == [0, 2, 10, 2]


def test_instances_that_explicit_instances_of_host_templates_use_take_one_more_parse():
    text = """
        template <class T, int N> __global__ void run(T *p) { p[0] = N; }
        template <class T> void launch(T *p, int n) { if (n) run<T, 1><<<1, 1>>>(p); else run<T, 2><<<1, 1>>>(p); }
        template <class T> struct Holder { void go(T *p) { run<T, 3><<<1, 1>>>(p); } };
        template void launch<int>(int *p, int n);
        template void Holder<int>::go(int *p);
    """
    assert [len(probes) for probes in parses(text)] == [0, 1]
    assert names(text) == ["run<int, 1>", "run<int, 2>"]


def test_a_guess_gives_way_to_the_code():
    template = "template <class T> __global__ void run(T *p) { p[0] = 1; }\n"
    assert names(template) == ["run<float>"]
    assert names(template + "void host(int *p) { run<<<1, 1>>>(p); }\n") == ["run<int>"]


def test_kernels_of_headers_carry_their_path():
    files = {
        "/project/part.cuh": "#pragma once\ntemplate <class T> __global__ void scale(T *p) { p[threadIdx.x] *= 2; }\n"
        "static __global__ void plain(int *p) { *p = 1; }\n"
    }
    found = kernels('#include "part.cuh"\nvoid host(float *p) { scale<<<1, 32>>>(p); }\n', files)
    assert {name: k.span.path for name, k in found.items()} == {
        "scale<float>": "/project/part.cuh",
        "plain": "/project/part.cuh",
    }


def test_names_spans_and_extents():
    text = "namespace n {\ntemplate <class T>\n__global__ void  run(T *p)\n{\n  p[0] = 1;\n}\n}\nvoid h(int *p) { n::run<<<1, 1>>>(p); }\n"
    k = kernel(text)
    assert (k.name, k.base_name) == ("run<int>", "run")
    assert (k.span.path, k.span.start_line, k.span.start_column, k.span.end_column) == (PATH, 3, 18, 21)
    assert text[k.extent.start_offset : k.extent.end_offset].startswith("template <class T>")
    assert text[k.body_span.start_offset : k.body_span.end_offset] == "{\n  p[0] = 1;\n}"


def test_the_device_branch_of_the_preprocessor_counts():
    text = """
        __global__ void k(int *p) {
        #if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
          p[0] = 1;
        #else
          p[1] = 2;
        #endif
        }
    """
    assert program(text) == "#1 store 4B &p := 1"


def test_instances_only_the_host_pass_sees():
    text = """
        template <int N> __global__ void run(int *p) { *p = N; }
        #ifndef __CUDA_ARCH__
        void host(int *p) { run<9><<<1, 1>>>(p); }
        #endif
    """
    assert names(text) == ["run<9>"]


def test_an_error_makes_the_kernels_that_reach_it_unknown():
    text = """
        __device__ void helper(int *p) { p[0] = nowhere::value; }
        __global__ void broken(int *p) { helper(p); }
        __global__ void sound(int *p) { p[0] = 1; }
        void host() { undeclared(); }
    """
    assert unsupported(text, "broken")[0] == "parse-error"
    assert unsupported(text, "sound") == []


def test_an_error_in_an_instance_leaves_the_others():
    text = """
        struct Plain {};
        template <class T> __device__ float bare(T v) { return v; }
        template <class T> __global__ void cast(T *a, float *b) { a[0] = static_cast<T>(b[0]); }
        template <class T> __global__ void through(T *a, float *b) { b[0] = bare(a[0]); }
        void host(int *a, Plain *p, float *b) { cast<<<1, 1>>>(a, b); cast<<<1, 1>>>(p, b); through<<<1, 1>>>(a, b); through<<<1, 1>>>(p, b); }
    """
    found = {n: {s.kind for s in statements(k.body) if isinstance(s, Unsupported)} for n, k in kernels(text).items()}
    assert found == {
        "cast<int>": set(),
        "cast<Plain>": {"parse-error"},
        "through<int>": {"parse-error"},
        "through<Plain>": {"parse-error", "call-to-unknown-function"},
    }


def test_a_brace_that_is_never_closed_belongs_to_the_kernel_that_lacks_it() -> None:
    text = """
    __global__ void closed(int *out) { out[threadIdx.x] = 1; }
    __global__ void open(int *out) { if (out[64] > 0) { out[threadIdx.x] = 1; }
    """
    assert unsupported(text, "closed") == []
    assert unsupported(text, "open") == ["parse-error"]


def test_an_open_namespace_is_no_fault_of_the_kernels_in_it() -> None:
    assert unsupported("namespace n {\n__global__ void inside(int *out) { out[threadIdx.x] = 1; }\n", "inside") == []


def test_every_definition_is_found():
    text = """
        extern "C" __global__ void c_kernel(int *p) { *p = 1; }
        extern "C" { __global__ void c_block(int *p) { *p = 1; } }
        static __global__ void internal(int *p) { *p = 1; }
        namespace { __global__ void hidden(int *p) { *p = 1; } }
        struct S { friend __global__ void friendly(int *p) { *p = 1; } };
        #define KERNEL(name) __global__ void name(int *p) { *p = 1; }
        KERNEL(made)
        __global__ void declared_only(int *p);
        inline __global__ __launch_bounds__(32) void attributes(int *p) { *p = 1; }
    """
    assert names(text) == ["c_kernel", "c_block", "internal", "hidden", "friendly", "made", "attributes"]


def test_overloads_are_two_kernels():
    text = "__global__ void k(int *p) { *p = 1; } __global__ void k(float *p) { *p = 1; }"
    lowered = unit(text).kernels
    assert [k.name for k in lowered] == ["k", "k"]
    assert len({k.mangled for k in lowered}) == 2


def test_nothing_is_lowered_twice_or_with_leftovers():
    """Taking the address of a local is found out late: the second round must not keep anything of the first."""
    k = kernel("""
        __device__ void put(int *q, int v) { *q = v; }
        __global__ void k(int *p) { int x = 1; put(&x, 2); int *y = &x; *y += 1; p[0] = x; __shared__ int s; s = *y; }
    """)
    assert [o.name for o in k.objects if o.space == "local"] == ["x"]
    assert not any(isinstance(s, Unsupported) for s in statements(k.body))
    assert "?" not in "".join(str(o.name) for o in k.objects)


def test_instances_that_only_a_macro_names():
    text = """
        template <int N> __global__ void run(int *p) { p[N] = N; }
        #define PICK(n) if (i == n) return run<n>;
        #define BOTH(a, b) PICK(a) PICK(b)
        typedef void (*kernel)(int *);
        kernel pick(int i) { BOTH(1, 2) return nullptr; }
    """
    assert names(text) == ["run<1>", "run<2>"]


def test_a_probe_of_a_launching_template_shows_its_kernels():
    text = """
        template <int N> __global__ void run(int *p) { p[N] = N; }
        template <int N> void launch(int *p) { run<N><<<1, 32>>>(p); }
    """
    probe = "namespace { auto cuda_lsp_probe_@ = &launch<5>; }"
    parser = UnitParser()
    parsed = parser.parse(PATH, text, CompileFlags(), probes=(probe,))
    lowered = lower_unit(parsed, lambda probes: parser.parse(PATH, text, CompileFlags(), probes=probes))
    assert [(k.name, k.assumptions) for k in lowered.kernels] == [("run<5>", ())]
    assert lowered.probes == (probe,)


def test_instances_in_a_generic_lambda_that_a_template_calls():
    text = """
        template <int N> struct number { static constexpr int value = N; };
        template <int N> __global__ void run(int *p) { p[N] = N; }
        template <class L> void dispatch(L &&launch, int n) { if (n) launch(number<1>{}); else launch(number<2>{}); }
        void host(int *p, int n) { dispatch([&](auto c) { run<c.value><<<1, 1>>>(p); }, n); }
    """
    assert sorted(names(text)) == ["run<1>", "run<2>"]
