"""The index of a workspace: which files are linked with a unit, and what stays known when files come, change and go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.outline import Outline
from analyzers.frontend.parse import HostPass, ParseFailure, SourceFile, UnitParser
from analyzers.hostguide.program import Program
from analyzers.model import CheckOptions, UnitResult
from analyzers.requests import CheckRequest, UnitFinished
from cuda_lsp.cache import DiskCache
from cuda_lsp.workspace import program_index
from cuda_lsp.workspace.program_index import ProgramIndex

KERNEL = """#include "kernel.h"
__global__ void rows(int *out, int width) {
  out[(int)blockIdx.x * width + (int)threadIdx.x] = threadIdx.x;
}
extern "C" void launch_rows(int *out, int width) { rows<<<4, 64>>>(out, width); }
"""
HEADER = 'extern "C" void launch_rows(int *out, int width);\n'
HOST = '#include "kernel.h"\nvoid host(int *out) { launch_rows(out, 64); }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "kernel.h").write_text(HEADER)
    (tmp_path / "host.cc").write_text(HOST)
    return tmp_path


def linked(folder: Path, index: ProgramIndex | None = None, unit: str = "kernel.cu", **texts: str) -> Program:
    shadows = {str(folder / name.replace("_", ".")): text for name, text in texts.items()}
    view = (index or ProgramIndex(str(folder))).refresh(shadows)
    return view.program(str(folder / unit), lambda _: CompileFlags())


def names(program: Program) -> list[str]:
    return [Path(file.path).name for file in program.files]


def checked(folder: Path, program: Program) -> UnitResult:
    request = CheckRequest(str(folder / "kernel.cu"), (folder / "kernel.cu").read_text(), program=program)
    return next(e.result for e in Engine().check(request) if isinstance(e, UnitFinished))


def verdicts(folder: Path, program: Program) -> list[str]:
    return [kernel.verdict.value for kernel in checked(folder, program).kernels]


def test_callers_are_linked_and_their_facts_are_used(folder: Path) -> None:
    assert verdicts(folder, Program()) == ["data-race"]
    program = linked(folder)
    assert names(program) == ["host.cc"]
    unit = checked(folder, program)
    (kernel,) = unit.kernels
    assert kernel.verdict.value == "race-free"
    assert f"`launch_rows` is called only from the files in {folder}" in kernel.contexts[0].assumptions
    assert str(folder / "host.cc") in unit.linked
    assert {*unit.linked} < {*unit.dependencies}


def test_only_files_that_show_more_instances_with_probes_are_parsed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "host.cc").write_text(
        '#include "kernel.h"\ntemplate <class T> struct Rows { void run(T *out) { launch_rows(out, 64); } };\n'
        "template struct Rows<int>;\n"
    )
    (folder / "other.cc").write_text('#include "kernel.h"\nvoid other(int *out) { launch_rows(out, 64); }\n')
    asked: list[dict[str, int]] = []
    parse = UnitParser.parse_hosts

    def parse_hosts(
        self: UnitParser, owner: str, files: Sequence[SourceFile], room: int = 0
    ) -> list[HostPass | ParseFailure]:
        asked.append({Path(file.path).name: len(file.probes) for file in files})
        return parse(self, owner, files, room)

    monkeypatch.setattr(UnitParser, "parse_hosts", parse_hosts)
    (kernel,) = checked(folder, linked(folder)).kernels
    assert asked == [{"host.cc": 0, "other.cc": 0}, {"host.cc": 1}]
    assert kernel.verdict.value == "race-free"


def test_files_that_do_not_lead_to_the_kernels_are_left_alone(folder: Path) -> None:
    (folder / "other.cc").write_text("void other() {}\n// launch_rows(nullptr, 0);\n")
    (folder / "namesake.cu").write_text(
        "static void launch_rows(int *out, int width) {}\nvoid run() { launch_rows(nullptr, 3); }\n"
    )
    assert names(linked(folder)) == ["host.cc"]


def test_a_caller_that_is_not_linked_keeps_the_function_open(folder: Path) -> None:
    # It has a function of its own by that name, so which one its call means is not looked into.
    (folder / "namesake.cc").write_text("void launch_rows(int) {}\nvoid run() { launch_rows(3); }\n")
    assert verdicts(folder, linked(folder)) == ["data-race"]


def test_two_programs_in_one_folder_are_not_linked(folder: Path) -> None:
    (folder / "kernel.cu").write_text(KERNEL + "int main() { launch_rows(nullptr, 64); }\n")
    (folder / "host.cc").write_text(HOST + "int main() { host(nullptr); }\n")
    assert names(linked(folder)) == []


def test_chains_go_through_several_files(folder: Path) -> None:
    (folder / "host.cc").write_text(
        '#include "kernel.h"\nvoid middle(int *out, int width) { launch_rows(out, width * 2); }\n'
    )
    (folder / "outer.cpp").write_text("void middle(int *, int);\nvoid outer(int *out) { middle(out, 32); }\n")
    program = linked(folder)
    assert names(program) == ["host.cc", "outer.cpp"]
    assert verdicts(folder, program) == ["race-free"]
    (folder / "outer.cpp").write_text("void middle(int *, int);\nvoid outer(int *out) { middle(out, 31); }\n")
    assert verdicts(folder, linked(folder)) == ["data-race"]


def test_functions_that_callers_call_are_linked_too(folder: Path) -> None:
    (folder / "host.cc").write_text(
        '#include "kernel.h"\nint chosen(int);\nvoid host(int *out, int n) { launch_rows(out, chosen(n)); }\n'
    )
    (folder / "sizes.cc").write_text("int chosen(int n) { return n < 64 ? 64 : n; }\n")
    program = linked(folder)
    assert names(program) == ["host.cc", "sizes.cc"]
    assert verdicts(folder, program) == ["race-free"]
    (folder / "sizes.cc").write_text("int chosen(int n) { return n < 63 ? 63 : n; }\n")
    assert verdicts(folder, linked(folder)) == ["data-race"]


def test_of_two_definitions_none_is_followed(folder: Path) -> None:
    for name in ("first", "second"):
        (folder / f"{name}.cc").write_text(
            f'#include "kernel.h"\nint chosen();\nvoid {name}(int *out) {{ launch_rows(out, chosen()); }}\n'
            f"int chosen() {{ return {64 if name == 'first' else 63}; }}\n"
        )
    (folder / "host.cc").write_text(
        '#include "kernel.h"\nint chosen();\nvoid host(int *out) { launch_rows(out, chosen()); }\n'
    )
    unit = checked(folder, linked(folder))
    widths = {dict(c.findings[0].witness.parameters).get("width") if c.findings and c.findings[0].witness else 64
              for c in unit.kernels[0].contexts}  # fmt: skip
    # Nothing known of what the third caller gets, and a fixed width of each of the others.
    assert len(unit.kernels[0].contexts) == 3
    assert unit.kernels[0].verdict.value == "data-race"
    assert 63 in widths


def test_a_workspace_too_large_to_read_whole_closes_no_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_index, "_MAXIMAL_BYTES", 400)
    (folder / "large.cc").write_text("// " + "x" * 400)
    program = linked(folder)
    assert names(program) == ["host.cc"]
    assert not program.complete
    assert verdicts(folder, program) == ["data-race"]


def test_changes_are_noticed_and_nothing_else_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = program_index.summarised

    def counting(data: bytes) -> program_index.Summary:
        read.append(data.decode())
        return real(data)

    monkeypatch.setattr(program_index, "summarised", counting)
    disk = DiskCache(folder / ".cache")
    index = ProgramIndex(str(folder), disk)
    assert names(linked(folder, index)) == ["host.cc"]
    assert len(read) == 3
    (folder / "host.cc").write_text('#include "kernel.h"\n')
    assert names(linked(folder, index)) == []
    assert read[3:] == ['#include "kernel.h"\n']
    # A later process starts from what lies on the disk.
    again = ProgramIndex(str(folder), disk)
    (folder / "second.cc").write_text(HOST)
    assert names(linked(folder, again)) == ["second.cc"]
    assert read[4:] == [HOST]


def test_deleted_and_broken_files(folder: Path) -> None:
    index = ProgramIndex(str(folder))
    assert names(linked(folder, index)) == ["host.cc"]
    (folder / "host.cc").unlink()
    assert names(linked(folder, index)) == []
    (folder / "host.cc").write_bytes(b'\xff\xfe}}}} void host( { launch_rows(0, 64) "')
    assert verdicts(folder, linked(folder, index)) == ["data-race"]
    (folder / "host.cc").write_text(
        '#include "kernel.h"\nvoid host(int *out) { unknown::name(launch_rows(out, 64)); }\n'
    )
    assert verdicts(folder, linked(folder, index)) == ["data-race"]


def test_a_file_that_vanishes_before_it_is_parsed(folder: Path) -> None:
    program = linked(folder)
    (folder / "kernel.h").unlink()
    assert verdicts(folder, program) == ["data-race"]


def test_open_buffers_count(folder: Path) -> None:
    index = ProgramIndex(str(folder))
    assert names(linked(folder, index, host_cc="void nothing() {}\n")) == []
    (file,) = linked(folder, index, host_cc=HOST.replace("64", "63")).files
    assert "63" in file.text


def test_an_outline_names_functions_and_where_they_stand() -> None:
    text = """
#define LAUNCH(n) k<<<1, n>>>()
namespace a { namespace {
template <class T, int N = (3 < 4)> void hidden(T *x) { if (x) { return; } }
} }
extern "C" { static int one() { return 1; } int two() { return 2; } }
class __align__(8) C : public B { static void made(); C() : x_{1} {} int operator()(int i) const { return i; } };
__global__ void __launch_bounds__(64) k() {}
int table[] = { 1, 2 };
auto ns::D::last(int n) -> int { return n; }
"""
    outline = Outline(text)
    assert [(f.name, f.internal) for f in outline.functions] == [
        ("LAUNCH", False),
        ("hidden", True),
        ("one", True),
        ("two", False),
        ("C", False),
        ("operator()", False),
        ("k", False),
        ("last", False),
    ]
    inside = outline.around(text.index("return 2"))
    assert inside is not None
    assert inside.name == "two"
    assert outline.around(text.index("table")) is None


def test_with_names_of_kernels_launches_of_others_are_left_out() -> None:
    text = """
    __global__ void one(int *a, int n) { a[threadIdx.x * n] = threadIdx.x; }
    template <typename T, int N> __global__ void two(T *a) { a[threadIdx.x + N] = 1; }
    #define RUN(k) k<<<1, 32>>>
    void first(int *a) { one<<<1, 64>>>(a, 1); }
    void second(float *a) { two<float, (1 + 2)><<<2, 32>>>(a); }
    void third(int *a) { auto chosen = one; chosen<<<1, 96>>>(a, 2); RUN(one)(a, 3); }
    """

    def found(*kernels: str) -> dict[str, list[str]]:
        request = CheckRequest("/unit.cu", text, options=CheckOptions(kernels=kernels))
        unit = next(e.result for e in Engine().check(request) if isinstance(e, UnitFinished))
        assert unit.skipped == ()
        return {k.name: [c.launch.block[0] for c in k.contexts] for k in unit.kernels}

    everything = found()
    assert sorted(map(int, everything["one"])) == [32, 64, 96]
    assert found("one") == {"one": everything["one"]}
    (two,) = found("two").items()
    assert two in everything.items()


def test_a_folder_without_those_below_closes_no_name(folder: Path) -> None:
    index = ProgramIndex(str(folder), recursive=False)
    assert names(linked(folder, index)) == ["host.cc"]
    assert verdicts(folder, linked(folder, index)) == ["data-race"]


def test_a_linked_folder_outside_closes_no_name(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (folder / "inside").mkdir()
    (folder / "again").symlink_to(folder / "inside")
    assert verdicts(folder, linked(folder)) == ["race-free"]
    (folder / "outside").symlink_to(tmp_path_factory.mktemp("outside"))
    assert verdicts(folder, linked(folder)) == ["data-race"]


def test_callers_of_header_functions_that_are_not_linked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_index, "_MOST_LINKED", 2)
    (folder / "wrap.h").write_text(HEADER + "inline void wrap(int *out, int width) { launch_rows(out, width); }\n")
    (folder / "host.cc").unlink()
    for name in ("a.cc", "b.cc"):
        (folder / name).write_text('#include "wrap.h"\nvoid use(int *out) { wrap(out, 64); }\n')
    assert verdicts(folder, linked(folder)) == ["race-free"]
    (folder / "z.cc").write_text('#include "wrap.h"\nvoid other(int *out) { wrap(out, 0); }\n')
    assert verdicts(folder, linked(folder)) == ["data-race"]


def test_macros_of_the_command_line_may_stand_for_a_function(folder: Path) -> None:
    view = ProgramIndex(str(folder)).refresh({})
    program = view.program(str(folder / "kernel.cu"), lambda _: CompileFlags(), (), frozenset({"launch_rows"}))
    assert verdicts(folder, program) == ["data-race"]


def test_a_member_main_makes_no_program(folder: Path) -> None:
    (folder / "kernel.cu").write_text(KERNEL + "int main() { launch_rows(nullptr, 64); }\n")
    (folder / "host.cc").write_text(HOST + "struct App { int main(int); };\n")
    assert names(linked(folder)) == ["host.cc"]


def test_deep_and_long_texts_have_an_outline() -> None:
    deep = "namespace a { " * 2000 + "void run() {} " + "}" * 2000
    assert "run" in Outline(deep).defined
    assert not Outline("a<" * 20000).defined
    text = (
        "struct A { void f(int, T<int, 2>) {} }; template <class T> int N<T>::g() {} namespace a::b { void h(...) {} }"
    )
    found = [(f.name, f.scope, f.parameters) for f in Outline(text).functions]
    assert found == [("f", "A", 2), ("g", "N", 0), ("h", "b", None)]
