"""The files around a document: includers of headers, compile commands, projects."""

import ntpath
import posixpath
from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzers.frontend.flags import CompileFlags
from cuda_lsp.config import Layer, Settings
from cuda_lsp.workspace import compile_commands, includers, project
from cuda_lsp.workspace.compile_commands import Database
from cuda_lsp.workspace.spelling import one_spelling


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def unit_of(
    folder: Path, header: str, open_names: tuple[str, ...] = (), texts: Mapping[str, str] | None = None
) -> str | None:
    graph = includers.scan(str(folder), {str(folder / name): text for name, text in (texts or {}).items()})
    opened = frozenset(str(folder / name) for name in open_names)
    found = includers.unit_for(str(folder / header), graph, opened)
    return str(Path(found).relative_to(folder)) if found is not None else None


@pytest.mark.parametrize("spelled", ["c:\\p\\a.cu", "C:/p/a.cu", "C:\\p\\b\\..\\a.cu", "c:/p//./a.cu"])
def test_a_file_of_windows_has_one_spelling(spelled: str) -> None:
    assert one_spelling(spelled, ntpath) == "c:\\p\\a.cu"


def test_what_is_no_drive_letter_keeps_its_case() -> None:
    assert one_spelling("//Server/Share/A.cu", ntpath) == "\\\\Server\\Share\\A.cu"
    assert one_spelling("C:/P/A.cu", ntpath) == "c:\\P\\A.cu"
    assert one_spelling("/P/../Q/A.cu", posixpath) == "/Q/A.cu"
    assert one_spelling("C:/a.cu", posixpath) == "C:/a.cu"


def test_the_unit_of_a_header_is_found_through_other_headers(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/main.cu": '#include "a.cuh"\n',
            "src/a.cuh": "#  include <lib/b.cuh>\n",
            "include/lib/b.cuh": "",
            "other.cu": "",
        },
    )
    assert unit_of(tmp_path, "include/lib/b.cuh") == "src/main.cu"
    assert unit_of(tmp_path, "src/a.cuh") == "src/main.cu"
    assert unit_of(tmp_path, "other.cu") is None


def test_which_of_several_units(tmp_path: Path) -> None:
    include = '#include "x.cuh"\n'
    write(tmp_path, {"x.cuh": "", "b.cu": include, "c.cu": include, "a.cpp": include, "z/x.cu": '#include "../x.cuh"'})
    assert unit_of(tmp_path, "x.cuh") == "z/x.cu", "of the same name"
    (tmp_path / "z" / "x.cu").unlink()
    assert unit_of(tmp_path, "x.cuh") == "b.cu", "device code before host code, then by name"
    assert unit_of(tmp_path, "x.cuh", ("c.cu",)) == "c.cu", "an open one"
    assert unit_of(tmp_path, "x.cuh", ("a.cpp",)) == "a.cpp"


def test_the_text_of_a_buffer_counts_instead_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"x.cuh": "", "a.cu": '#include "x.cuh"\n', "b.cu": ""})
    assert unit_of(tmp_path, "x.cuh", texts={"a.cu": "", "b.cu": '#include "x.cuh"\n'}) == "b.cu"


def test_includes_in_a_circle_end(tmp_path: Path) -> None:
    write(tmp_path, {"x.cuh": '#include "y.cuh"\n', "y.cuh": '#include "x.cuh"\n'})
    assert unit_of(tmp_path, "x.cuh") is None


def test_hidden_and_build_folders_are_not_searched(tmp_path: Path) -> None:
    write(tmp_path, {"x.cuh": "", ".git/a.cu": '#include "../x.cuh"', "node_modules/b.cu": '#include "../x.cuh"'})
    assert unit_of(tmp_path, "x.cuh") is None


def test_a_large_workspace_is_not_searched_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includers, "_MAXIMAL_FILES", 2)
    write(tmp_path, {f"{name}.cu": "" for name in "abc"})
    assert not includers.scan(str(tmp_path), {}).complete


# Compile commands

COMMANDS = '[{"directory": "%s", "file": "a.cu", "command": "nvcc -arch=sm_90 -DA -Iinc -o a.o a.cu"}]'


def test_the_nearest_database_is_found_also_in_build_folders(tmp_path: Path) -> None:
    top, deep = tmp_path / "top", tmp_path / "top" / "src"
    deep.mkdir(parents=True)
    write(tmp_path, {"compile_commands.json": "[]"})
    assert compile_commands.find(deep, top, None, top) is None
    write(top, {"build/release/compile_commands.json": "[]"})
    assert compile_commands.find(deep, top, None, top) == top / "build" / "release" / "compile_commands.json"
    write(top, {"compile_commands.json": "[]"})
    assert compile_commands.find(deep, top, None, top) == top / "compile_commands.json"
    assert compile_commands.find(deep, top, "build/release", top) == top / "build/release" / "compile_commands.json"


def test_a_file_without_a_command_takes_the_closest_one(tmp_path: Path) -> None:
    commands = {
        name: CompileFlags(arguments=("-std=c++17", f"-D{name.replace('/', '_')}"))
        for name in ("/p/a/x.cu", "/p/a/y.cc", "/p/b/z.cu", "/q/w.cu")
    }
    database = Database("/p/compile_commands.json", commands)

    def origin(path: str) -> str:
        return compile_commands.flags_for(path, database, Settings(), "/p")[1].rpartition(" ")[2]

    assert origin("/p/a/x.cu") == "/p/compile_commands.json"
    assert origin("/p/a/other.cu") == "/p/a/x.cu"
    assert origin("/p/b/y.cuh") == "/p/a/y.cc", "of the same name"
    assert origin("/p/c/new.cu") in ("/p/a/x.cu", "/p/b/z.cu")
    assert compile_commands.flags_for("/x.cu", Database(), Settings(), "/")[1] == "defaults"


def test_settings_add_to_the_command(tmp_path: Path) -> None:
    write(tmp_path, {"compile_commands.json": COMMANDS % tmp_path})
    database, problems = compile_commands.load(tmp_path / "compile_commands.json")
    assert problems == ()
    path = str(tmp_path / "a.cu")
    plain, _ = compile_commands.flags_for(path, database, Settings(), str(tmp_path))
    assert plain.arch == 90
    assert ("-I", str(tmp_path / "inc")) == plain.arguments[-2:]
    more, _ = compile_commands.flags_for(path, database, Settings(extra_args=("-DB", "-Iown")), str(tmp_path))
    assert more.arguments == (*plain.arguments, "-DB", "-I", str(tmp_path / "own"))
    assert more.arch == 90
    chosen = Settings(extra_args=("-std=c++20",), arch=75)
    other, _ = compile_commands.flags_for(path, database, chosen, str(tmp_path))
    assert other.arguments[0] == "-std=c++20"
    assert other.arch == 75


def test_a_project_is_current_until_something_changes(tmp_path: Path) -> None:
    layers = (Layer("client", {"workers": 1}),)
    loaded = project.load(str(tmp_path), str(tmp_path), layers)
    assert loaded.settings.workers == 1
    assert loaded.is_current(layers)
    assert not loaded.is_current(())
    write(tmp_path, {".cuda-lsp.toml": 'arch = "sm_90"\n'})
    assert not loaded.is_current(layers)
    loaded = project.load(str(tmp_path), str(tmp_path), layers)
    assert loaded.is_current(layers)
    assert loaded.flags_for(str(tmp_path / "a.cu")).arch == 90
    write(tmp_path, {"compile_commands.json": COMMANDS % tmp_path})
    assert not loaded.is_current(layers)
