"""The precompiled shim: what is read is the same with it and without it, and no file is unreadable because of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from analyzers.frontend import cindex, parse
from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import HEADERS, ParsedUnit, UnitParser, pass_arguments
from analyzers.frontend.precompiled import PrecompiledShims

PATH = "/nowhere/a.cu"
SHIM = str(Path(HEADERS, "core", "cuda_lsp_shim.h"))
TEXT = """#include <vector>
#include "mine.h"
#include "absent.h"
__global__ void k(float *a, int n) {
#if __CUDA_ARCH__ >= 700
  if (threadIdx.x < n) a[threadIdx.x] = FACTOR * mine(n);
#endif
}
void run(std::vector<float> &v) { k<<<1, 256>>>(v.data(), v.size()); }
"""
UNSAVED = {"/nowhere/mine.h": "__device__ int mine(int n) { return n / 2; }\n"}
FLAGS = CompileFlags(arguments=("-std=c++17", "-DFACTOR=2"), arch=80)

needs_memory_files = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="the system has no files without a name: nothing is precompiled"
)


def shown(unit: ParsedUnit) -> tuple[object, ...]:
    """All that a walk sees of the user's file, and what is said of it."""
    cursors = [
        (
            c.kind,
            c.spelling,
            c.type.spelling,
            c.location.line,
            c.location.column,
            c.referenced and c.referenced.get_usr(),
        )
        for side in (unit.device, unit.host)
        for c in side.cursor.walk_preorder()
        if c.location.file is not None and c.location.file.name == PATH
    ]
    return cursors, unit.errors, unit.missing_headers, unit.dependencies


@needs_memory_files
def test_a_file_reads_the_same_with_a_precompiled_shim(monkeypatch: pytest.MonkeyPatch) -> None:
    precompiled = shown(UnitParser().parse(PATH, TEXT, FLAGS, UNSAVED))
    assert any(key for key in parse._SHIMS._entries if "-DFACTOR=2" in key)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.delattr(os, "memfd_create")
    assert shown(UnitParser().parse(PATH, TEXT, FLAGS, UNSAVED)) == precompiled
    assert len(precompiled[0]) > 40  # type: ignore[arg-type]


@needs_memory_files
def test_files_with_the_same_arguments_share_one() -> None:
    shims = PrecompiledShims(SHIM)
    device = pass_arguments(FLAGS, "device")
    assert shims.of(device) is shims.of(device)
    assert shims.of(pass_arguments(FLAGS, "host")) is not shims.of(device)


def test_what_the_project_wants_included_comes_before_the_shim() -> None:
    flags = CompileFlags(arguments=("-include", "/nowhere/first.h"), arch=80)
    assert PrecompiledShims(SHIM).of(pass_arguments(flags, "device")) is None
    unit = UnitParser().parse(PATH, "int x = FIRST;\n", flags, {"/nowhere/first.h": "#define FIRST 1\n"})
    assert unit.errors == ()


@needs_memory_files
def test_a_shim_that_has_errors_with_the_flags_is_not_precompiled() -> None:
    flags = CompileFlags(arguments=("-Dunsigned=nonsense",), arch=80)
    assert PrecompiledShims(SHIM).of(pass_arguments(flags, "device")) is None
    assert UnitParser().parse(PATH, "float x;\n", flags).errors != ()


@needs_memory_files
def test_one_whose_headers_have_changed_since_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = tmp_path / "headers"
    shutil.copytree(HEADERS, headers)
    shim = headers / "core" / "cuda_lsp_shim.h"
    monkeypatch.setattr(
        parse, "_INCLUDE_FOLDERS", tuple(str(headers / n) for n in ("core", "cuda", "cpp", "c", "libraries"))
    )
    shims = PrecompiledShims(str(shim))
    monkeypatch.setattr(parse, "_SHIMS", shims)
    parser = UnitParser()
    parser.parse(PATH, "int x;\n", FLAGS)
    stale = shims.of(pass_arguments(FLAGS, "device"))
    assert stale is not None
    shim.write_text(shim.read_text() + "\n#define ADDED_LATER 1\n")
    with pytest.raises(cindex.LibclangError):
        cindex.parse(cindex.create_index(), PATH, stale.arguments, [(PATH, b"int x;\n")])
    assert parser.parse(PATH, "int x = ADDED_LATER;\n", FLAGS).errors == ()
    assert UnitParser().parse(PATH, "int x = ADDED_LATER;\n", FLAGS).errors == ()
    fresh = shims.of(pass_arguments(FLAGS, "device"))
    assert fresh is not None
    assert fresh is not stale


@needs_memory_files
def test_files_are_closed_once_nobody_reads_them() -> None:
    def opened() -> int:
        links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
        return sum("cuda-lsp-shim" in link for link in links)

    before = opened()
    shims = PrecompiledShims(SHIM)
    made = shims.of(pass_arguments(FLAGS, "device"))
    assert made is not None
    assert opened() == before + 1
    shims.forget(made)
    del made
    assert opened() == before
