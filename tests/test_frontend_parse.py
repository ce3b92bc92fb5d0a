"""Text to translation units: what a walk sees, what is copied out, and what a plain scan finds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind
from analyzers.frontend.flags import CompileFlags, translate
from analyzers.frontend.parse import (
    ParsedUnit,
    ParseFailure,
    Severity,
    SourceFile,
    UnitParser,
    instantiation_probe,
    is_bundled,
    pass_arguments,
)

PATH = "/nowhere/a.cu"


def parsed(
    text: str, flags: str = "", unsaved: dict[str, str] | None = None, probes: tuple[str, ...] = ()
) -> ParsedUnit:
    return UnitParser().parse(PATH, text, translate(flags.split(), "/nowhere"), unsaved, probes)


def walk(root: Any, path: str = PATH) -> Iterator[Any]:
    """All cursors of the user's file, in order."""
    for child in root.get_children():
        if root.kind == CursorKind.TRANSLATION_UNIT and (
            child.location.file is None or child.location.file.name != path
        ):
            continue
        yield child
        yield from walk(child, path)


def named(unit: Any, kind: Any, name: str) -> Any:
    return next(cursor for cursor in walk(unit.cursor) if cursor.kind == kind and cursor.spelling == name)


def launches(unit: ParsedUnit) -> list[Any]:
    """Calls that hold a launch configuration."""
    return [
        cursor
        for cursor in walk(unit.host.cursor)
        if cursor.kind == CursorKind.CALL_EXPR
        and any(
            child.kind == CursorKind.CALL_EXPR and child.spelling == "__cudaPushCallConfiguration"
            for child in cursor.get_children()
        )
    ]


# What the two passes see


def test_a_launch_references_the_instantiation() -> None:
    unit = parsed(
        "template <class T, int N> __global__ void run(T *p) { p[0] = N; }\n"
        "void go(float *f, double *d) { run<float, 256><<<dim3(2, 3), 64, 128>>>(f); run<double, N_><<<1, 1>>>(d); }\n",
        "-DN_=7",
    )
    assert unit.errors == ()
    first, second = launches(unit)
    target = first.referenced
    assert target.kind == CursorKind.FUNCTION_DECL
    assert [argument.type.spelling for argument in target.get_arguments()] == ["float *"]
    literals = [
        cindex.evaluate(cursor) for cursor in target.walk_preorder() if cursor.kind == CursorKind.INTEGER_LITERAL
    ]
    assert literals == [0, 256]
    assert second.referenced.get_num_template_arguments() == 2
    assert second.referenced.get_template_argument_value(1) == 7


def test_a_launch_carries_its_configuration_with_defaults() -> None:
    unit = parsed("__global__ void k() {}\nvoid go(int n) { k<<<n, 32>>>(); }\n")
    (launch,) = launches(unit)
    configuration = next(c for c in launch.get_children() if c.spelling == "__cudaPushCallConfiguration")
    assert len(list(configuration.get_arguments())) == 4


def test_kernels_have_one_identity_in_both_passes() -> None:
    text = (
        "namespace n { template <class T> __global__ void k(T) {} }\n"
        'extern "C" __global__ void c() {}\nstatic __global__ void s(int) {}\n'
        "void go() { n::k<int><<<1, 1>>>(1); c<<<1, 1>>>(); s<<<1, 1>>>(2); }\n"
    )
    unit = parsed(text)
    on_host = [cindex.kernel_identity(launch.referenced) for launch in launches(unit)]
    on_device = {
        cindex.kernel_identity(cursor.referenced)
        for cursor in walk(unit.device.cursor)
        if cursor.kind == CursorKind.CALL_EXPR and cursor.referenced is not None
    }
    assert on_host[1] == "c"
    assert len(set(on_host)) == 3
    assert set(on_host) <= on_device
    assert not any("device_stub" in identity for identity in on_host)


def test_the_device_pass_takes_the_branch_of_its_architecture() -> None:
    text = (
        "__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n  p[0] = 90;\n"
        "#elif defined(__CUDA_ARCH__)\n  p[0] = 1;\n#else\n  p[0] = 0;\n#endif\n}\n"
    )
    seen = {}
    for arch in (70, 90, 120):
        unit = parsed(text, f"-arch=sm_{arch}")
        assert unit.errors == ()
        for side, one in (("device", unit.device), ("host", unit.host)):
            values = [cindex.evaluate(c) for c in walk(one.cursor) if c.kind == CursorKind.INTEGER_LITERAL]
            seen[arch, side] = values[-1]
    assert seen == {
        (70, "device"): 1,
        (90, "device"): 90,
        (120, "device"): 90,
        (70, "host"): 0,
        (90, "host"): 0,
        (120, "host"): 0,
    }


def test_assertions_are_calls_on_both_sides_whatever_ndebug_says() -> None:
    unit = parsed(
        "#define NDEBUG\n#include <cassert>\n"
        "__global__ void k(int n) { assert(n > 0); }\nvoid go(int n) { assert(n % 4 == 0); }\n",
        "-DNDEBUG",
    )
    assert unit.errors == ()
    for one in (unit.device, unit.host):
        calls = [c for c in walk(one.cursor) if c.kind == CursorKind.CALL_EXPR]
        assert [call.spelling for call in calls] == ["__cuda_lsp_assert"] * 2


def test_host_code_under_ndebug_stays_visible_on_the_host() -> None:
    text = "#ifndef NDEBUG\nint checked;\n#endif\n"
    unit = parsed(text, "-DNDEBUG")
    assert [c.spelling for c in walk(unit.host.cursor)] == ["checked"]
    assert list(walk(unit.device.cursor)) == []


def test_dispatch_makes_the_launches_inside_visible_at_their_own_lines() -> None:
    text = (
        "#include <torch/extension.h>\n"
        "template <class T> __global__ void k(T *p) { p[threadIdx.x] = T(1); }\n"
        "void go(torch::Tensor x) {\n"
        '  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "go", [&] {\n'
        "    k<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>());\n"
        "  });\n"
        "}\n"
    )
    unit = parsed(text)
    assert unit.errors == ()
    found = launches(unit)
    assert [(launch.location.line, launch.location.column) for launch in found] == [(5, 5), (5, 5)]
    types = {next(launch.referenced.get_arguments()).type.spelling for launch in found}
    assert types == {"float *", "c10::Half *"}


def test_builtins_are_recognised_by_name() -> None:
    unit = parsed(
        "__global__ void k(int *p) { p[threadIdx.x + blockIdx.y * blockDim.z] = gridDim.x; __syncthreads(); }\n"
    )
    references = {c.spelling for c in walk(unit.device.cursor) if c.kind == CursorKind.DECL_REF_EXPR}
    assert {"threadIdx", "blockIdx", "blockDim", "gridDim", "__syncthreads"} <= references
    members = [c.spelling for c in walk(unit.device.cursor) if c.kind == CursorKind.MEMBER_REF_EXPR]
    assert members == ["x", "y", "z", "x"]


# The narrow wrapper


def test_operators_have_their_spelling() -> None:
    unit = parsed("void f(int a, int b) { a + b; a <<= b; a && b; a++; --b; ~a; *(&a); a, b; }\n")
    binary = [
        cindex.binary_operator(c)
        for c in walk(unit.host.cursor)
        if c.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
    ]
    unary = [cindex.unary_operator(c) for c in walk(unit.host.cursor) if c.kind == CursorKind.UNARY_OPERATOR]
    assert binary == ["+", "<<=", "&&", ","]
    assert unary == ["post++", "--", "~", "*", "&"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sizeof(float4)", 16),
        ("1u << 31", 2147483648),
        ("-7 / 2", -3),
        ("0xffffffffffffffffull", 18446744073709551615),
        ("1.5 * 2", 3.0),
        ("std::numeric_limits<int>::max()", 2147483647),
        ("std::max(3, 4) * warp", 128),
        ("somewhere()", None),
    ],
)
def test_evaluation(expression: str, value: object) -> None:
    unit = parsed(f"int somewhere();\nconstexpr int warp = 32;\nauto x = {expression};\n")
    assert cindex.evaluate(named(unit.host, CursorKind.VAR_DECL, "x")) == value


def test_what_a_macro_writes_lies_where_it_is_used_and_its_arguments_where_they_are_written() -> None:
    text = "#define BOTH(x) (x), (y)\nint y, z;\nint f() { return BOTH(\n  z); }\n"
    unit = parsed(text)
    places = {
        c.spelling: (c.location.line, c.location.column)
        for c in walk(unit.host.cursor)
        if c.kind == CursorKind.DECL_REF_EXPR
    }
    assert places == {"z": (4, 3), "y": (3, 18)}


# Diagnostics, headers, unsaved text


def test_errors_are_copied_out_with_their_place() -> None:
    parser = UnitParser()
    unit = parser.parse(PATH, "void f() {\n  int é = nope;\n}\n", CompileFlags())
    parser.parse(PATH, "void f() {}\n", CompileFlags())
    error = unit.errors[0]
    assert (error.severity, error.path, error.line, error.column) == (Severity.ERROR, PATH, 2, 12)
    assert error.message == "use of undeclared identifier 'nope'"
    assert {e.side for e in unit.errors} == {"device", "host"}
    assert (error.span.start_line, error.span.start_column) == (2, 12)


def test_passes_that_nobody_waits_for_do_not_stand_in_the_way_of_the_next() -> None:
    class EnoughError(Exception):
        pass

    def enough() -> None:
        raise EnoughError

    parser = UnitParser()
    parser.parse(PATH, "int x;\n", CompileFlags())
    long = "".join(f"int f{n}(int a) {{ return a + {n}; }}\n" for n in range(3000))
    for _ in range(3):
        with pytest.raises(EnoughError):
            parser.parse(PATH, long, CompileFlags(), poll=enough)
    polled: list[int] = []
    unit = parser.parse(PATH, "int y = z;\n", CompileFlags(), poll=lambda: polled.append(1))
    assert [e.message for e in unit.errors] == ["use of undeclared identifier 'z'"] * 2
    assert polled
    assert {c.spelling for c in walk(unit.host.cursor) if c.kind == CursorKind.VAR_DECL} >= {"y"}
    assert parser.parse(PATH, "int y;\n", CompileFlags()).errors == ()


KERNEL = "int host() { return 1; }\n__global__ void k(int *a) { a[0] = 1; }\n"


def test_the_device_pass_alone_sees_the_new_text() -> None:
    parser = UnitParser()
    assert parser.parse_device(PATH, KERNEL, CompileFlags(), {}, ()) is None  # there is no unit yet
    host = parser.parse(PATH, KERNEL, CompileFlags()).host
    unit = parser.parse_device(PATH, KERNEL.replace("a[0] = 1", "a[0] = none"), CompileFlags(), {}, ())
    assert unit is not None
    assert {e.message for e in unit.errors} == {"use of undeclared identifier 'none'"}
    # What is known of the host side is as it was, and the next parse of both starts from there.
    assert any(c.spelling == "host" for c in walk(host.cursor))
    again = parser.parse(PATH, KERNEL.replace("host()", "guest()"), CompileFlags())
    assert again.errors == ()
    assert any(c.spelling == "guest" for c in walk(again.host.cursor))


@pytest.mark.parametrize(
    ("wrong", "known"), [("int a = none;\n", True), ("#ifndef __CUDA_ARCH__\nint a = none;\n#endif\n", False)]
)
def test_the_device_pass_stands_for_the_host_pass_where_that_has_no_errors_of_its_own(wrong: str, known: bool) -> None:
    parser = UnitParser()
    parser.parse(PATH, wrong + KERNEL, CompileFlags())
    unit = parser.parse_device(PATH, wrong + KERNEL + "\n", CompileFlags(), {}, ())
    assert (unit is not None) == known


def test_a_file_that_is_not_on_disk_and_changed_headers_read_as_they_are(tmp_path: Path) -> None:
    def names(unit: ParsedUnit) -> set[str]:
        found = unit.device.cursor.walk_preorder()
        return {c.spelling for c in found if c.kind == CursorKind.VAR_DECL}

    for on_disk in (False, True):
        source, header = tmp_path / f"a{on_disk}.cu", tmp_path / "h.cuh"
        text = '#include "h.cuh"\nint own;\n'
        header.write_text("int first;\n")
        if on_disk:
            source.write_text(text)
        parser = UnitParser()
        for name in ("one", "two", "two", "three"):
            unit = parser.parse(str(source), text, CompileFlags(), {str(header): f"int {name};\n"})
            assert {"own", name} <= names(unit)
            assert names(unit).isdisjoint({"first", "one", "two", "three"} - {name})
        assert {"own", "first"} <= names(parser.parse(str(source), text, CompileFlags()))


def test_an_error_covers_the_code_it_is_about() -> None:
    unit = parsed("struct S {};\nvoid f(S s) {\n  int a = s + 1;\n}\n")
    span = unit.errors[0].span
    assert unit.text.encode()[span.start_offset : span.end_offset] == b"s + 1"


def test_names_are_not_corrected() -> None:
    unit = parsed("__global__ void kernel(int *data) { dato[0] = 1; }\n")
    assert [e.message for e in unit.errors] == ["use of undeclared identifier 'dato'"] * 2
    assert not any(c.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR for c in walk(unit.device.cursor))


def test_a_missing_header_is_no_error() -> None:
    unit = parsed('#include "project.h"\n#include <vector>\n#include <vendor/x.hpp>\n__global__ void k() {}\n')
    assert unit.errors == ()
    assert [(m.name, m.line) for m in unit.missing_headers] == [("project.h", 1), ("vendor/x.hpp", 3)]
    assert any(c.spelling == "k" for c in walk(unit.device.cursor))


def test_included_files_are_dependencies_and_unsaved_text_wins(tmp_path: Path) -> None:
    header, source = tmp_path / "inc" / "h.cuh", tmp_path / "a.cu"
    header.parent.mkdir()
    header.write_text("constexpr int width = 1;\n")
    text = '#include "inc/h.cuh"\nint x = width;\n'
    source.write_text(text)
    parser, flags = UnitParser(), CompileFlags()

    def width(unsaved: dict[str, str]) -> object:
        unit = parser.parse(str(source), text, flags, unsaved)
        assert unit.dependencies == (str(header),)
        found = next(c for c in walk(unit.host.cursor, str(source)) if c.kind == CursorKind.VAR_DECL)
        return cindex.evaluate(found)

    assert width({}) == 1
    assert width({str(header): "constexpr int width = 22;\n"}) == 22
    assert width({str(header): "constexpr int width = 333;\n", "/other/file.h": "unrelated"}) == 333
    assert width({}) == 1
    header.write_text("constexpr int width = 4444;\n")
    assert width({}) == 4444


def test_a_header_that_appears_is_found(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text('#include "late.h"\nint x;\n')
    parser = UnitParser()
    first = parser.parse(str(source), source.read_text(), CompileFlags())
    (tmp_path / "late.h").write_text("int late;\n")
    second = parser.parse(str(source), source.read_text(), CompileFlags())
    assert [m.name for m in first.missing_headers] == ["late.h"]
    assert second.missing_headers == ()


def test_new_flags_start_a_new_unit() -> None:
    parser = UnitParser()
    text = "int x = VALUE;\n"
    values = [
        cindex.evaluate(
            named(parser.parse(PATH, text, translate([f"-DVALUE={n}"], "/")).host, CursorKind.VAR_DECL, "x")
        )
        for n in (1, 2, 1)
    ]
    assert values == [1, 2, 1]


def test_many_files_in_few_slots() -> None:
    parser = UnitParser(capacity=2)
    for round_ in range(2):
        for n in range(4):
            unit = parser.parse(f"/nowhere/{n}.cu", f"int x = {n + round_};\n", CompileFlags())
            assert cindex.evaluate(next(walk(unit.host.cursor, unit.path))) == n + round_
    parser.forget("/nowhere/3.cu")
    parser.forget("/nowhere/never.cu")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_byte_order_mark(ending: str, mark: str) -> None:
    unit = parsed(mark + ending.join(["// ünïcode", "__global__ void k(int *p) {", "  p[0] = 1;", "}", ""]))
    assert unit.errors == ()
    store = next(c for c in walk(unit.device.cursor) if c.kind == CursorKind.BINARY_OPERATOR)
    assert (store.location.line, store.location.column) == (3, 3)


def test_text_that_is_not_utf_8() -> None:
    text = b"// \xa9 someone\n__global__ void k(int *p) { p[0] = 1; }\nvoid go() { k<<<1, 1>>>(0); }\n".decode(
        "utf-8", "surrogateescape"
    )
    unit = parsed(text)
    assert unit.errors == ()
    (launch,) = launches(unit)
    (scanned,) = unit.scanned_launches
    assert (scanned.line, scanned.column, scanned.offset) == (
        launch.location.line,
        launch.location.column,
        launch.location.offset,
    )
    assert parsed("// \ud800 lone surrogate\nint x;\n").errors == ()


def test_hostile_text_is_survived() -> None:
    assert parsed("").errors == ()
    assert parsed("\x00\x00").path == PATH
    assert parsed("{" * 2000).errors
    assert parsed("#include __FILE__\n").errors is not None


def test_flags_that_clang_cannot_represent_fail_with_a_message() -> None:
    with pytest.raises(ParseFailure, match=r"no device pass of /nowhere/a\.cu"):
        UnitParser().parse(PATH, "int x;\n", CompileFlags(arguments=("--version", "-###", "-E")))


def test_a_failed_parse_leaves_the_parser_usable() -> None:
    parser = UnitParser()
    with pytest.raises(ParseFailure):
        parser.parse(PATH, "int x;\n", CompileFlags(arguments=("-###", "-E")))
    assert parser.parse(PATH, "int x;\n", CompileFlags()).errors == ()


def test_no_argument_makes_clang_write_or_ask_the_machine() -> None:
    arguments = pass_arguments(translate(["-MD", "-MF", "x.d", "-o", "y"], "/"), "device")
    assert not any(argument.startswith(("-M", "-o")) for argument in arguments)
    assert {"-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "--cuda-path=/nonexistent"} <= set(arguments)


def test_bundled_files_are_told_apart() -> None:
    unit = parsed("#include <vector>\n")
    names = {inclusion.include.name for inclusion in unit.host.get_includes()}
    assert names
    assert all(is_bundled(name) for name in names)
    assert not is_bundled(PATH)


# Probes


def probed(text: str, *probes: str) -> list[Any]:
    unit = parsed(text, probes=probes)
    assert unit.errors == ()
    assert [d for d in unit.diagnostics if d.in_probe] == []
    return [
        cursor.referenced
        for variable in walk(unit.device.cursor)
        if variable.kind == CursorKind.VAR_DECL and variable.spelling.startswith("cuda_lsp_probe")
        for cursor in variable.walk_preorder()
        if cursor.kind == CursorKind.DECL_REF_EXPR
    ]


def test_a_probe_shows_an_instantiation_that_nobody_launches() -> None:
    text = "template <class T, int N> __global__ void run(T *p) { p[0] = N; }"
    double, single = probed(text, instantiation_probe("run<double, 3>"), instantiation_probe("run<float, 4>"))
    assert [a.type.spelling for a in double.get_arguments()] == ["double *"]
    assert any(c.kind == CursorKind.COMPOUND_STMT for c in single.get_children())


def test_a_probe_reaches_into_namespaces_and_picks_an_overload() -> None:
    text = (
        "namespace a { struct S {}; namespace {\n"
        "template <class T> __global__ void k(T *p) { p[0] = 1; }\n"
        "template <class T> __global__ void k(T *p, S s) { p[1] = 2; }\n"
        "} }\n"
    )
    (picked,) = probed(text, instantiation_probe("k<int>", "int *, S", ("a", "")))
    assert [argument.type.spelling for argument in picked.get_arguments()] == ["int *", "S"]


def test_a_broken_probe_says_so_without_touching_the_user() -> None:
    unit = parsed("template <class T> __global__ void k(T *p) {}\n", probes=(instantiation_probe("k<nope>"),))
    assert unit.errors == ()
    assert any(d.in_probe and d.severity == Severity.ERROR for d in unit.diagnostics)


def test_errors_of_a_tried_instance_are_not_the_users() -> None:
    text = """
    template <class T> __device__ void twice(T *p) { p->x = 1; p->y = 2; }
    template <class T> __global__ void k(T *p) { static_assert(sizeof(T) == 3, "odd"); twice(p); }
    """
    unit = parsed(text, probes=(instantiation_probe("k<float>"),))
    assert unit.errors == ()
    assert len([d for d in unit.all_errors if d.side == "device"]) == 3
    asked = parsed(text + "template __global__ void k<int>(int *);\n", probes=(instantiation_probe("k<float>"),))
    messages = [d.message for d in asked.errors if d.side == "device"]
    assert messages[0] == "static assertion failed due to requirement 'sizeof(int) == 3': odd"
    assert not any("float" in message for message in messages)
    outside = parsed("void f() { missing(); }\n" + text, probes=(instantiation_probe("k<float>"),))
    assert [d.message for d in outside.errors if d.side == "host"] == ["use of undeclared identifier 'missing'"]


def test_the_text_of_a_file_is_what_the_passes_saw(tmp_path: Path) -> None:
    source, header = tmp_path / "a.cu", tmp_path / "h.cuh"
    header.write_text("int disk;\n")
    unit = UnitParser().parse(str(source), '#include "h.cuh"\n', CompileFlags(), {str(header): "int é;\n"})
    assert unit.text_of(str(header)) == "int é;\n"
    assert unit.text_of(str(source)) == '#include "h.cuh"\n'
    assert unit.text_of("/somewhere/else.h") == ""


def test_headers_behind_declarations_are_dependencies(tmp_path: Path) -> None:
    """libclang does not list what the main file includes behind the preamble."""
    (tmp_path / "inc").mkdir()
    first, second, third = (tmp_path / "inc" / f"{name}.cuh" for name in ("first", "second", "third"))
    first.write_text("constexpr int one = 1;\n")
    second.write_text('#include "third.cuh"\nconstexpr int two = width + one;\n')
    third.write_text("constexpr int three = 3;\n")
    source = tmp_path / "a.cu"
    text = '#include "inc/first.cuh"\nconstexpr int width = 1;\n'
    text += '#if 0\n#include "none.cuh"\n#endif\n#include <second.cuh>\n'
    source.write_text(text)
    parser, flags = UnitParser(), CompileFlags(("-std=c++17", "-I", str(tmp_path / "inc")))
    for _ in range(2):  # once more with a preamble that is there already
        unit = parser.parse(str(source), text, flags)
        assert unit.errors == ()
        assert unit.dependencies == tuple(sorted(map(str, (first, second, third))))


def test_the_files_of_a_program_are_parsed_at_the_same_time_and_fail_one_by_one() -> None:
    parser = UnitParser(capacity=2)
    flags = [CompileFlags(), CompileFlags(arguments=("-###", "-E")), *[CompileFlags()] * 4]
    files = [SourceFile(f"/nowhere/{n}.cpp", f"int f{n}() {{ return {n}; }}\n", f, {}) for n, f in enumerate(flags)]
    for _ in range(2):  # the second time from what is warm
        found = parser.parse_hosts(PATH, files)
        assert isinstance(found[1], ParseFailure)
        passes = [p for p in found if not isinstance(p, ParseFailure)]
        assert [p.path for p in passes] == [f"/nowhere/{n}.cpp" for n in (0, 2, 3, 4, 5)]
        names = [
            [c.spelling for c in walk(p.host.cursor, p.path) if c.kind == CursorKind.FUNCTION_DECL] for p in passes
        ]
        assert names == [[f"f{n}"] for n in (0, 2, 3, 4, 5)]


def test_nothing_is_left_in_the_temporary_folder_by_a_process_that_is_ended(tmp_path: Path) -> None:
    program = f"""
import os
from analyzers.frontend.flags import translate
from analyzers.frontend.parse import UnitParser
parser = UnitParser()
for name in "ab":
    text = f"#include <cuda_runtime.h>\\n__global__ void {{name}}() {{{{}}}}"
    print(parser.parse({PATH!r}, text, translate([], "/nowhere")).device is not None)
os._exit(0)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TEMP": str(tmp_path), "TMP": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_to_the_end_of_the_process_ends_silently() -> None:
    program = """
import gc, sys
from analyzers.frontend.cindex import create_index
bindings = sys.modules["clang.cindex"]
bindings.ring = bindings, create_index()
gc.freeze()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
