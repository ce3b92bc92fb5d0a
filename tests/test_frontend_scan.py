"""What the token scan finds in texts that clang may not have kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.frontend.scan import scan_explicit_instantiations, scan_kernels, scan_launches


def callees(text: str) -> list[tuple[int, str]]:
    return [(launch.line, launch.kernel) for launch in scan_launches(text)]


@pytest.mark.parametrize(
    ("statement", "kernel"),
    [
        ("k<<<1, 2>>>(p);", "k"),
        ("k <<< grid, block, 0, s >>> (p);", "k"),
        ("ns::inner::k<<<1, 2>>>(p);", "ns::inner::k"),
        ("::k<<<1, 2>>>(p);", "::k"),
        ("k<float, 256><<<1, 2>>>(p);", "k<float,256>"),
        ("k<A<B<int>>><<<1, 2>>>(p);", "k<A<B<int>>>"),
        ("k<(N > 3)><<<1, 2>>>(p);", "k<(N>3)>"),
        ("k<T, decltype(f<int>(0))><<<1, 2>>>(p);", "k<T,decltype(f<int>(0))>"),
        ("S<int>::template run<3><<<1, 2>>>(p);", "S<int>::template run<3>"),
        ("k<unsigned int><<<1, 2>>>(p);", "k<unsigned int>"),
        ("(*chosen)<<<1, 2>>>(p);", "(*chosen)"),
        ("table[i + 1]<<<1, 2>>>(p);", "table[i+1]"),
        ("this->kernel<<<1, 2>>>(p);", "this->kernel"),
        ("o.kernel<<<1, 2>>>(p);", "o.kernel"),
        ("if (n > 0) k<<<1, 2>>>(p);", "k"),
        ("else k<<<1, 2>>>(p);", "k"),
        ("x = a > b ? 1 : 2; k<<<1, 2>>>(p);", "k"),
        ("cudaLaunchKernel(k, g, b, args);", "k"),
        ("cudaLaunchKernel((void *)k<float, 3>, g, b, args, 0, s);", "k<float,3>"),
        ("cudaLaunchKernel(reinterpret_cast<const void *>(&ns::k), g, b, args);", "ns::k"),
        ("cudaLaunchCooperativeKernel((const void *)(k<1, 2>), g, b, args);", "k<1,2>"),
        ("cudaLaunchKernelEx(&config, k<int>, a, b);", "k<int>"),
        ("cudaLaunchKernelExC(&config, (void *)k, args);", "k"),
        ("CHECK(cudaLaunchKernel(k, g, b, args));", "k"),
        ("größe<<<1, 2>>>(p);", "größe"),
    ],
)
def test_launch_forms(statement: str, kernel: str) -> None:
    text = f"void f() {{\n  {statement}\n}}\n"
    assert callees(text) == [(2, kernel)]
    (launch,) = scan_launches(text)
    assert text.encode()[launch.offset :].decode().startswith(("cudaLaunch", kernel[:1]))


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 2>>>(p);",
        "// a comment that goes on \\\n k<<<1, 2>>>(p);",
        "/* k<<<1, 2>>>(p); */",
        'const char *s = "k<<<1, 2>>>(p)";',
        'const char *s = "\\"k<<<1, 2>>>(p)";',
        'auto s = R"x(k<<<1, 2>>>(p) )" )x";',
        "#if 0\nk<<<1, 2>>>(p);\n#endif",
        "#if 0\n#if 1\nk<<<1, 2>>>(p);\n#endif\nk<<<1, 2>>>(p);\n#endif",
        "#error k<<<1, 2>>>(p)",
        "int cudaLaunchKernel;",
        "1 << 2 << 3;",
        "char c = '<'; int big = 1'000'000;",
        "/* never closed k<<<1, 2>>>(p);",
    ],
)
def test_what_is_no_launch(text: str) -> None:
    assert callees(text) == []


def test_text_after_a_disabled_part_counts() -> None:
    assert callees("#if 0\na<<<1, 1>>>();\n#else\nb<<<1, 1>>>();\n#endif\nc<<<1, 1>>>();\n") == [(4, "b"), (6, "c")]
    assert callees("#ifdef X\na<<<1, 1>>>();\n#else\nb<<<1, 1>>>();\n#endif\n") == [(2, "a"), (4, "b")]


def test_the_condition_around_a_launch_is_named() -> None:
    text = (
        "#ifndef A_H\na<<<1, 1>>>();\n#  if defined(X) && \\\n    Y  // why\nb<<<1, 1>>>();\n"
        "#else\nc<<<1, 1>>>();\n#endif\n#if 0\n#elif Z\nd<<<1, 1>>>();\n#endif\n#endif\n#else\n#endif\n"
        "e<<<1, 1>>>();\n#ifdef G\n__global__ void k() {}\n#endif\n"
    )
    assert [(launch.kernel, launch.condition) for launch in scan_launches(text)] == [
        ("a", "#ifndef A_H"),
        ("b", "#if defined(X) && Y"),
        ("c", "#else of #if defined(X) && Y"),
        ("d", "#elif Z"),
        ("e", ""),
    ]
    assert [kernel.condition for kernel in scan_kernels(text)] == ["#ifdef G"]


def test_a_launch_in_a_macro_is_marked() -> None:
    text = "#define RUN(k, n) \\\n  k<<<n, 32>>>(p)\nvoid f() { RUN(one, 1); two<<<1, 1>>>(); }\n"
    assert [(launch.kernel, launch.line, launch.in_macro) for launch in scan_launches(text)] == [
        ("k", 2, True),
        ("two", 3, False),
    ]


def test_columns_and_offsets_count_bytes() -> None:
    text = "/* é */ k<<<1, 1>>>();"
    (launch,) = scan_launches(text)
    assert (launch.offset, launch.line, launch.column) == (9, 1, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void k(int *p) { }", [("k", False)]),
        ("template <class T, int N = 3> __global__ void k(T *p) { }", [("k", True)]),
        ("template <> __global__ void k<int>(int *p);", []),
        ("__global__ void __launch_bounds__(256, 2) k(int *p)\n{ }", [("k", False)]),
        ("__launch_bounds__(256) __global__ void k(int *p) { }", [("k", False)]),
        ("static __global__ __launch_bounds__(A(1), 2) void k(int *p) noexcept { }", [("k", False)]),
        ('extern "C" __global__ void k(int *p) { }', [("k", False)]),
        ("void __global__ k() { }", [("k", False)]),
        ("__global__ void k(int *p);", []),
        ("__global__ void k(int a = f(1), void (*g)(int) = nullptr) { }", [("k", False)]),
        ("__global__ void MY_BOUNDS(256) k(int *p) { }", [("k", False)]),
        ("__global__ void NAME(op)(int *p) { }", [("NAME", False)]),
        ("template <class T> __global__ std::enable_if_t<(sizeof(T) > 2), void> k(T *p) { }", [("k", True)]),
        ("// __global__ void k() { }\n/* __global__ void l() { } */", []),
        ("#if 0\n__global__ void k() { }\n#endif", []),
        ("struct S { static __global__ void k() { } };", [("k", False)]),
        ("template <class T> struct S { }; __global__ void k() { }", [("k", False)]),
        ("__global__ void a() { int x[3] = {1, 2, 3}; } __global__ void b() { }", [("a", False), ("b", False)]),
    ],
)
def test_kernel_definitions(text: str, expected: list[tuple[str, bool]]) -> None:
    assert [(kernel.name, kernel.template) for kernel in scan_kernels(text)] == expected


def test_a_kernel_is_placed_at_its_name() -> None:
    (kernel,) = scan_kernels("\ntemplate <class T>\n__global__ void\n  named(T *p) {}\n")
    assert (kernel.line, kernel.column) == (4, 3)


def test_a_kernel_in_a_macro_is_marked() -> None:
    (kernel,) = scan_kernels("#define MAKE(name) __global__ void name(int *p) { p[0] = 1; }\nMAKE(k)\n")
    assert (kernel.name, kernel.in_macro) == ("name", True)


def test_explicit_instantiations() -> None:
    text = (
        "template <class T> __global__ void k(T *p) { }\n"
        "template __global__ void k<float>(float *);\n"
        "template __global__ void k(double *p);\n"
        "namespace a { namespace b {\n"
        "template void host<int, 3>(const std::vector<int> &, int (*)(float));\n"
        "} namespace { template __global__ void hidden<1>(); } }\n"
        "namespace c::d { inline namespace e { template int g<2>(int); } }\n"
        "template class S<int>;\n"
        "extern template void elsewhere<int>(int);\n"
        "template <> void special<int>(int) { }\n"
        "void f() { x.template call<int>(3); }\n"
    )
    found = [(i.line, i.scope, i.name, i.parameters) for i in scan_explicit_instantiations(text)]
    assert found == [
        (2, (), "k<float>", "float*"),
        (3, (), "k", "double*p"),
        (5, ("a", "b"), "host<int,3>", "const std::vector<int>&,int(*)(float)"),
        (6, ("a", ""), "hidden<1>", ""),
        (7, ("c", "d", "e"), "g<2>", "int"),
    ]


@given(st.text(alphabet="k<>(){}[];:,\"'\\/*#\n ab1é", max_size=60))
def test_any_text_is_survived(text: str) -> None:
    size = len(text.encode())
    for launch in scan_launches(text):
        assert 0 <= launch.offset < size
    scan_kernels("__global__ " + text)
    scan_explicit_instantiations("template " + text)
