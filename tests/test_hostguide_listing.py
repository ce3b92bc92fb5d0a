"""What the passes of a program declare: listed once for each parse."""

from __future__ import annotations

from pathlib import Path

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.listing import Listings

PATH = "/project/a.cu"
HEADER = "/project/a.h"
TEXT = """#include "a.h"
namespace n { struct Plain { void go(); }; }
template <class T> struct Holder { void go(T v) {} struct Inner { void in() {} }; };
template <class T> void Away<T>::out() {}
void n::Plain::go() {}
"""
FILES = {HEADER: "template <class T> struct Away { void out(); };\n"}


def test_functions_are_listed_with_what_is_around_them() -> None:
    unit = UnitParser().parse(PATH, TEXT, CompileFlags(), FILES)
    listed = Listings().of(unit.host_pass, frozenset((PATH, HEADER)))
    assert [(f.path, f.name, f.template, f.defined) for f in listed.functions] == [
        (HEADER, "out", True, False),
        (PATH, "go", False, False),
        (PATH, "go", True, True),
        (PATH, "in", True, True),
        (PATH, "out", True, True),
        (PATH, "go", False, True),
    ]
    assert [c.spelling for c in listed.classes] == ["Away", "Plain", "Holder", "Inner"]
    assert {f.path for f in Listings().of(unit.host_pass, frozenset((HEADER,))).functions} == {HEADER}


def test_a_pass_is_listed_again_when_it_was_parsed_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cu")
    Path(path).touch()
    parser, listings, files = UnitParser(), Listings(), frozenset((path,))
    one = parser.parse(path, "void f() {}\n", CompileFlags()).host_pass
    first = listings.of(one, files)
    assert listings.of(one, files) is first
    assert listings.of(one, frozenset((path, HEADER))) is not first
    probe = "auto cuda_lsp_probe_@ = &f;"
    again = parser.parse(path, "void f() {}\nvoid g() {}\n", CompileFlags(), probes=[probe]).host_pass
    assert again.host is one.host
    second = listings.of(again, files)
    assert [f.name for f in second.functions] == ["f", "g"]
    assert [(c.spelling, line) for c, line in second.probes] == [("cuda_lsp_probe_0", probe)]
