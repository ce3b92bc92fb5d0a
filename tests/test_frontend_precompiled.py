"""The header that every file begins with is compiled once, and what is read behind it is the same."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from analyzers.engine import Engine
from analyzers.frontend import cindex, parse, precompiled
from analyzers.frontend.cindex import TranslationUnit
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import HEADERS, UnitParser, pass_arguments
from analyzers.frontend.precompiled import Precompiled
from analyzers.model import Verdict
from analyzers.requests import CheckRequest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is precompiled elsewhere")

HEADER = """#pragma once
#define FOUR 4
inline int five() { return FOUR + 1; }
template <typename T> struct Box { T in; };
"""
TEXT = "Box<int> six() { return {five() + 1}; }\nint nothing = missing;\n"
WORDS = ("-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-nostdinc", "--cuda-host-only")


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "first.h"
    path.write_text(HEADER)
    return path


def _parsed(words: tuple[str, ...], text: str = TEXT) -> TranslationUnit:
    return cindex.parse(cindex.create_index(), "/main.cu", (*WORDS, *words), [("/main.cu", text.encode())])


def _seen(unit: TranslationUnit) -> list[tuple[str, str, str, int, int]]:
    cursors = [(c, c.location.file) for c in unit.cursor.walk_preorder()]
    return [
        (c.kind.name, c.spelling, file.name if file else "", c.extent.start.offset, c.extent.end.offset)
        for c, file in cursors
        if file is not None
    ]


def test_behind_the_compiled_form_a_file_reads_the_same(header: Path) -> None:
    store = Precompiled(str(header))
    plain = ("-include", str(header))
    kind, path = compiled = store.included(WORDS)
    assert kind == "-include-pch"
    assert store.included(WORDS) == compiled
    assert path.startswith("/proc/self/fd/")
    assert _seen(_parsed(compiled)) == _seen(_parsed(plain))
    said = [[(d.spelling, d.severity, d.location.offset) for d in _parsed(w).diagnostics] for w in (plain, compiled)]
    assert said[0] == said[1]
    assert len(said[0]) == 1


def test_each_set_of_arguments_has_its_own(header: Path) -> None:
    header.write_text(HEADER + "#ifdef MORE\nint more;\n#endif\n")
    store = Precompiled(str(header))
    with_more = (*WORDS, "-DMORE")
    names = [{s[1] for s in _seen(_parsed((*w[len(WORDS) :], *store.included(w))))} for w in (WORDS, with_more)]
    assert ["more" in n for n in names] == [False, True]


def test_not_for_more_sets_of_arguments_than_a_project_has(header: Path) -> None:
    store = Precompiled(str(header))
    many = [(*WORDS, f"-DNUMBER={n}") for n in range(precompiled._MAXIMAL + 3)]
    for words in many:
        store.included(words)
    last = many[-1]
    assert store.included(last) == store.included(last) == ("-include", str(header))


@pytest.mark.parametrize("words", [("-include", "own.h"), ("-imacros", "own.h"), ("-includeown.h",)])
def test_files_of_the_user_are_not_compiled_into_it(header: Path, words: tuple[str, ...]) -> None:
    store = Precompiled(str(header))
    for _ in range(3):
        assert store.included((*WORDS, *words)) == ("-include", str(header))


def test_nothing_stays_in_the_temporary_folder(header: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert Precompiled(str(header)).included(WORDS)[0] == "-include-pch"
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "trouble", ["no folder", "no room", "no header", "wrong", "no files without a name", "another system"]
)
def test_without_it_the_header_is_parsed(
    header: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    if trouble == "no folder":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    elif trouble == "no room":
        monkeypatch.setattr(os, "posix_fallocate", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    elif trouble == "no header":
        header.unlink()
    elif trouble == "wrong":
        header.write_text("int three = ;\n")
    elif trouble == "no files without a name":
        monkeypatch.setattr(precompiled, "_DIRECTORY", tmp_path)
    else:
        monkeypatch.setattr(sys, "platform", "darwin")
    before = _open_files()
    store = Precompiled(str(header))
    for _ in range(3):
        assert store.included(WORDS) == ("-include", str(header))
    assert _open_files() == before


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_header_that_has_changed_since_is_read_as_it_is(
    header: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the package is upgraded under a running server."""
    store = Precompiled(str(header))
    monkeypatch.setattr(parse, "_PRECOMPILED", store)
    flags = CompileFlags()
    for side in ("device", "host"):
        words = pass_arguments(flags, side)[2:]
        assert store.included(words)[0] == "-include-pch"
    there = tmp_path / "there.cu"  # with a precompiled beginning of its own
    paths = ["/main.cu", str(there)]
    text = "#include <cuda_runtime.h>\nint a = five();\n"
    there.write_text(text)
    parser = UnitParser()
    for path in paths * 2:
        assert not parser.parse(path, text, flags).errors
    header.write_text(HEADER + "inline int seven() { return 7; }\n")
    for path in (*paths, "/another.cu"):
        assert not parser.parse(path, text + "int b = five() + seven();\n", flags).errors
    words = pass_arguments(flags, "host")[2:]
    assert store.included(words)[0] == "-include"


def test_findings_are_the_same_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parent / "corpus" / "templates.cu").read_text()
    found: list[list[tuple[str, Verdict, list[str]]]] = []
    kinds: set[str] = set()
    for system in ("darwin", "linux"):
        monkeypatch.setattr(sys, "platform", system)
        store = Precompiled(f"{HEADERS}/core/cuda_lsp_shim.h")
        monkeypatch.setattr(parse, "_PRECOMPILED", store)
        for path in ("/one.cu", "/two.cu"):
            kernels = Engine().analyse(CheckRequest(path, text)).result.kernels
        found.append([(k.name, k.verdict, [f.message for c in k.contexts for f in c.findings]) for k in kernels])
        kinds.add(store.included(pass_arguments(CompileFlags(), "device")[2:])[0])
    assert found[0] == found[1]
    assert found[0]
    assert kinds == {"-include", "-include-pch"}
