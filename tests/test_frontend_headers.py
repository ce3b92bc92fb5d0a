"""Everything the bundled headers declare parses without an error, in both passes, with no toolkit on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import HEADERS, UnitParser, is_bundled

SNIPPETS = sorted((Path(__file__).parent / "frontend_snippets").glob("*.cu"))


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
@pytest.mark.parametrize("arch", [60, 80, 120])
def test_snippet_parses_cleanly(path: Path, arch: int) -> None:
    text = path.read_text()
    if arch != 80 and path.stem in ("cpp_library", "libraries", "runtime", "thrust_algorithms", "torch_extension"):
        pytest.skip("host code does not depend on the architecture")
    unit = UnitParser().parse(str(path), text, CompileFlags(arch=arch))
    assert [f"{e.side} {e.path}:{e.line}: {e.message}" for e in unit.errors] == []
    assert unit.missing_headers == ()
    assert unit.dependencies == ()


def header_names() -> list[str]:
    roots = [Path(HEADERS, name) for name in ("cuda", "cpp", "c", "libraries")]
    return sorted(
        path.relative_to(root).as_posix() for root in roots for path in root.rglob("*") if path.is_file()
    )  # fmt: skip


def test_every_header_can_be_included_twice_and_together() -> None:
    # cublas.h and friends are one file; the order is the alphabetical one, which no author chose.
    text = "".join(f"#include <{name}>\n" for name in header_names()) * 2
    unit = UnitParser().parse("/nowhere/all.cu", text, CompileFlags())
    assert [f"{e.side} {e.path}:{e.line}: {e.message}" for e in unit.errors] == []
    assert unit.missing_headers == ()


@pytest.mark.parametrize(
    "name", ["vector", "cuda_bf16.h", "cooperative_groups.h", "torch/extension.h", "cub/cub.cuh", "mma.h"]
)
def test_a_header_needs_no_other(name: str) -> None:
    unit = UnitParser().parse("/nowhere/one.cu", f"#include <{name}>\n", CompileFlags())
    assert unit.errors == ()


def test_bundled_headers_win_over_a_real_toolkit(tmp_path: Path) -> None:
    (tmp_path / "cuda_fp16.h").write_text("#error the real one\n")
    unit = UnitParser().parse(
        "/nowhere/a.cu", "#include <cuda_fp16.h>\n#include <stdio.h>\nhalf x;\n",
        CompileFlags(arguments=("-std=c++17", "-I", str(tmp_path))),
    )  # fmt: skip
    assert unit.errors == ()
    assert is_bundled(str(Path(HEADERS, "cuda", "cuda_fp16.h")))
