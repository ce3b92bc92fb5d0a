"""Everything the bundled headers declare parses without an error, in both passes, with no toolkit on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import HEADERS, UnitParser, is_bundled

SNIPPETS = sorted((Path(__file__).parent / "frontend_snippets").glob("*.cu"))


def problems(path: Path, arch: int = 80) -> list[str]:
    unit = UnitParser().parse(str(path), path.read_text(), CompileFlags(arch=arch))
    assert unit.missing_headers == ()
    assert unit.dependencies == ()
    return [f"{e.side} {e.path}:{e.line}: {e.message}" for e in unit.errors]


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_snippet_parses_cleanly(path: Path) -> None:
    assert problems(path) == []


@pytest.mark.parametrize("arch", [35, 60, 90, 120])
@pytest.mark.parametrize("name", ["language", "intrinsics", "half"])
def test_device_code_parses_for_every_architecture(name: str, arch: int) -> None:
    assert problems(Path(__file__).parent / "frontend_snippets" / f"{name}.cu", arch) == []


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


OWN_NAMES = ("stack", "queue", "list", "map", "set", "complex", "bitset", "optional", "variant", "any")
"""Of types that programs define though they say ``using namespace std``."""


@pytest.mark.parametrize("header", ["iostream", "vector", "string", "cmath", "memory", "algorithm", "functional"])
def test_names_of_headers_that_are_not_included_are_the_programs(header: str) -> None:
    own = "".join(f"struct {name} {{ int n; }}; {name} make_{name}() {{ return {name}{{1}}; }}\n" for name in OWN_NAMES)
    unit = UnitParser().parse("/nowhere/a.cu", f"#include <{header}>\nusing namespace std;\n{own}", CompileFlags())
    assert unit.errors == ()


@pytest.mark.parametrize("header", ["vector", "string", "random", "map"])
def test_simple_algorithms_come_with_containers(header: str) -> None:
    text = f"#include <{header}>\nvoid f(int *a, int n) {{ std::fill(a, a + n, 0); std::copy(a, a + n, a); }}\n"
    assert UnitParser().parse("/nowhere/a.cu", text, CompileFlags()).errors == ()


def test_bundled_headers_win_over_a_real_toolkit(tmp_path: Path) -> None:
    (tmp_path / "cuda_fp16.h").write_text("#error the real one\n")
    unit = UnitParser().parse(
        "/nowhere/a.cu", "#include <cuda_fp16.h>\n#include <stdio.h>\nhalf x;\n",
        CompileFlags(arguments=("-std=c++17", "-I", str(tmp_path))),
    )  # fmt: skip
    assert unit.errors == ()
    assert unit.dependencies == ()
    assert is_bundled(str(Path(HEADERS, "cuda", "cuda_fp16.h")))


def test_a_toolkit_or_torch_installation_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "ATen").mkdir()
    (tmp_path / "ATen" / "ATen.h").write_text("#error the real one\n")
    (tmp_path / "ATen" / "Rare.h").write_text("#error the real one\n")
    unit = UnitParser().parse(
        "/nowhere/a.cu", "#include <ATen/ATen.h>\n#include <ATen/Rare.h>\nat::Tensor x;\n",
        CompileFlags(arguments=("-std=c++17", "-I", str(tmp_path))),
    )  # fmt: skip
    assert unit.errors == ()
    assert [missing.name for missing in unit.missing_headers] == ["ATen/Rare.h"]
