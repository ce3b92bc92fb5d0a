"""Which files below a folder are sources: what git would ignore is left out, and counted."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_lsp.cli.exit_codes import CLEAN
from cuda_lsp.cli.main import main
from cuda_lsp.workspace import includers
from cuda_lsp.workspace.cuda_sources import BUILT, IGNORED, VENDORED, Sources

FAKE = "lsp.fake_engine:create"
KERNEL = "__global__ void k(int *a) {\n  f();\n}\n"
FILES = [
    "a.cu", "b.cu", "keep.cu", "gen/x.cu", "gen/keep.cu", "src/gen/y.cu", "src/z.gen.cu", "src/deep/z.gen.cu",
    "src/deep/a.cu", "src/tmp/one.cu", "src/tmp/two.cuh", "docs/a.cu", "logs/a.cu", "sub/only.cu", "sub/other.cu",
    "sub/in/only.cu", "excluded.cu", "space name.cu", "#hash.cu", "x/y/w.cu", "x/q/r/w.cu", "star1.cu", "star2.cu",
]  # fmt: skip
PATTERNS = {
    ".gitignore": "# comment\n/gen/\n*.gen.cu\n!src/deep/z.gen.cu\ndocs\n!docs/a.cu\n/b.cu\n\\#hash.cu\nx/**/w.cu\n"
    "!keep.cu\nstar[1-9].cu\n!star2.cu\nspace\\ name.cu\n",
    "src/.gitignore": "tmp/*\n!tmp/two.cuh\n",
    "sub/.gitignore": "/only.cu\n",
    ".git/info/exclude": "excluded.cu\n",
}


def written(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in Sources(folder).files()}


@pytest.fixture
def repository(tmp_path: Path, require_program: Callable[[str], str]) -> Path:
    git = require_program("git")
    subprocess.run([git, "init", "-q", str(tmp_path)], check=True)
    written(tmp_path, {**dict.fromkeys(FILES, KERNEL), **PATTERNS})
    return tmp_path


@pytest.mark.parametrize("folder", ["", "src", "sub", "x"])
def test_what_git_ignores_is_left_out(repository: Path, folder: str) -> None:
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard", "*.cu", "*.cuh"],
        cwd=repository / folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    expected = {name for name in listed.split("\0") if name}
    assert bool(expected) == (folder != "x")
    assert found(repository / folder) == expected


def test_a_folder_that_is_ignored_can_be_named(repository: Path) -> None:
    assert found(repository / "gen") == {"x.cu", "keep.cu"}
    assert found(repository / "docs") == {"a.cu"}


def test_without_a_repository_the_patterns_below_count_and_not_those_above(tmp_path: Path) -> None:
    written(tmp_path, {".gitignore": "a.cu\n", "sub/.gitignore": "b.cu\n", "sub/a.cu": "", "sub/b.cu": "", "a.cu": ""})
    assert found(tmp_path / "sub") == {"a.cu"}
    assert found(tmp_path) == set()


def test_links_in_a_circle_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "loop.cu").symlink_to("loop.cu")
    written(tmp_path, {"a.cu": KERNEL})
    folder = includers.Folder(str(tmp_path))
    assert [Path(path).name for path in folder.files()] == ["a.cu"]
    assert not folder.whole
    assert main(["check", str(tmp_path / "a.cu")], FAKE) == CLEAN


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            ".gitignore": "made.cu\nsecret/\n",
            **dict.fromkeys(["a.cu", "made.cu", "secret/b.cu", "secret/deep/c.cu"], ""),
            **dict.fromkeys(["third_party/d.cu", "x/_deps/e.cu", "build/f.cuh", "out/g.cpp", ".hidden/h.cu"], ""),
        },
    )
    sources = Sources(tmp_path)
    assert [path.name for path in sources.files()] == ["a.cu"]
    assert sources.left_out == {IGNORED: 3, VENDORED: 2, BUILT: 1}


def test_the_summary_says_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {"a.cu": KERNEL, "vendor/b.cu": KERNEL, "vendor/c.cu": KERNEL, ".gitignore": "d.cu", "d.cu": ""})
    monkeypatch.chdir(tmp_path)
    assert main(["check", "."], FAKE) == CLEAN
    out = capsys.readouterr().out
    assert "1 kernel in 1 file: 1 race-free" in out
    assert "left out unless named: 3 files (2 in vendored folders, 1 ignored by git)\n" in out
    main(["check", ".", "--format", "json"], FAKE)
    assert json.loads(capsys.readouterr().out)["left_out"] == [
        {"reason": VENDORED, "files": 2},
        {"reason": IGNORED, "files": 1},
    ]
    assert main(["check", "vendor", "d.cu"], FAKE) == CLEAN
    assert "left out" not in capsys.readouterr().out
