"""Headers are checked through the units that include them; documents that are no files, and other languages."""

from pathlib import Path

import pytest
from lsp.client import Connect, Editor, jobs, pulling, pushing
from lsp.test_configuration import changed
from lsprotocol import types

HEADER = "__global__ void inner(float *a) {\n  a[i] = a[i + 1];\n}\n"
FIXED = HEADER.replace("  a[i]", "  __syncthreads();\n  a[i]")
UNIT = '#include "inner.cuh"\n__global__ void outer(float *a) {\n  __syncthreads(); // useless\n}\n'


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "inner.cuh"
    path.write_text(HEADER)
    return path


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    path = tmp_path / "unit.cu"
    path.write_text(UNIT)
    return path


async def test_findings_in_a_header_go_to_the_header(editor: Editor, header: Path, unit: Path) -> None:
    uri = editor.open(unit, UNIT)
    await editor.until(editor.has(header.as_uri(), "data-race"))
    await editor.until(editor.has(uri, "redundant-barrier"))
    editor.close(uri)
    await editor.until(editor.has(header.as_uri()))


async def test_a_header_opened_alone_is_checked_through_a_unit(editor: Editor, header: Path, unit: Path) -> None:
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    # The unit was checked too, although it is not open.
    await editor.until(editor.has(unit.as_uri(), "redundant-barrier"))


async def test_a_header_that_nothing_includes_is_checked_by_itself(editor: Editor, header: Path) -> None:
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))


async def test_a_header_of_a_header(editor: Editor, tmp_path: Path, unit: Path) -> None:
    deep = tmp_path / "include" / "deep.h"
    deep.parent.mkdir()
    deep.write_text(HEADER)
    (tmp_path / "inner.cuh").write_text('#include "include/deep.h"\n')
    uri = editor.open(deep, HEADER, language="cpp")
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(editor.has(unit.as_uri(), "redundant-barrier"))


async def test_saving_a_header_checks_its_dependents(editor: Editor, header: Path, unit: Path) -> None:
    editor.open(unit, UNIT)
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "  a[i] =", "  __syncthreads();\n  a[i] =")
    editor.save(uri, header)
    await editor.until(editor.has(uri))
    await editor.until(editor.has(unit.as_uri(), "redundant-barrier"))


async def test_unsaved_text_of_another_buffer_counts(editor: Editor, header: Path, unit: Path) -> None:
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "  a[i] =", "  __syncthreads();\n  a[i] =")
    unit_uri = editor.open(unit, UNIT)
    editor.save(unit_uri)
    await editor.until(editor.has(uri))
    editor.close(uri)
    # The file on disk still has the race.
    await editor.until(editor.has(uri, "data-race"))


async def test_a_header_that_changes_outside_the_editor(editor: Editor, header: Path, unit: Path) -> None:
    editor.open(unit, UNIT)
    await editor.until(editor.has(header.as_uri(), "data-race"))
    header.write_text(FIXED)
    await changed(editor, header)
    await editor.until(editor.has(header.as_uri()))


async def test_a_header_that_appears(editor: Editor, tmp_path: Path, unit: Path) -> None:
    uri = editor.open(unit, UNIT)
    await editor.until(editor.has(uri, "redundant-barrier"))
    path = tmp_path / "inner.cuh"
    path.write_text(HEADER)
    await changed(editor, path)
    await editor.until(editor.has(path.as_uri(), "data-race"))


async def test_a_header_finds_its_unit_when_that_is_opened_later(editor: Editor, tmp_path: Path, header: Path) -> None:
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    unit = editor.open(tmp_path / "late.cu", UNIT)
    await editor.until(editor.has(unit, "redundant-barrier"))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "  a[i] =", "  __syncthreads();\n  a[i] =")
    editor.save(uri, header)
    await editor.until(editor.has(uri))


async def test_non_ascii_text_in_a_header_that_is_not_open(editor: Editor, header: Path, unit: Path) -> None:
    header.write_text(HEADER.replace("  a[i] =", "  /* ä𝄞 */ a[i] ="), encoding="utf-8")
    editor.open(unit, UNIT)
    await editor.until(
        lambda: [each.range.start for each in editor.diagnostics.get(header.as_uri(), ())] == [types.Position(1, 12)]
    )


async def test_a_client_that_pulls_gets_the_header_with_the_unit(connect: Connect, header: Path, unit: Path) -> None:
    editor = await connect(pulling(refresh=False, related=True))
    uri = editor.open(unit, UNIT)
    report = await editor.pull(uri)
    assert [item.code for item in report.items] == ["redundant-barrier"]
    assert [item.code for item in report.related_documents[header.as_uri()].items] == ["data-race"]


async def test_a_client_that_pulls_the_workspace_gets_what_is_not_open(
    connect: Connect, header: Path, unit: Path
) -> None:
    editor = await connect(pulling())
    editor.open(unit, UNIT)
    report = await editor.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
    (item,) = report.items
    assert item.uri == header.as_uri()
    assert isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
    assert [each.code for each in item.items] == ["data-race"]


# Files that change while a check is on its way: the check may have read them before, and knows its files at its end


class Gate:
    """A file to include whose kernel keeps a check waiting, when the kernels of the files before it have been told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.include = '#include "gate.cuh"\n'
        path.with_name("gate.cuh").write_text(f"__global__ void last(float *a) {{\n  // wait {path}\n}}\n")

    def open(self) -> None:
        self.path.touch()


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


async def test_a_header_that_appears_during_the_first_check(editor: Editor, tmp_path: Path, gate: Gate) -> None:
    uri = editor.open(tmp_path / "unit.cu", UNIT + gate.include)
    await editor.until(editor.has(uri, "redundant-barrier"))
    path = tmp_path / "inner.cuh"
    path.write_text(HEADER)
    await changed(editor, path)
    await editor.status()
    gate.open()
    await editor.until(editor.has(path.as_uri(), "data-race"))


async def test_a_header_that_vanishes_during_the_first_check(
    editor: Editor, tmp_path: Path, header: Path, gate: Gate
) -> None:
    uri = editor.open(tmp_path / "unit.cu", UNIT + gate.include)
    await editor.until(editor.has(header.as_uri(), "data-race"))
    await editor.until(editor.has(uri, "redundant-barrier"))
    header.unlink()
    await changed(editor, header)
    await editor.status()
    gate.open()
    await editor.until(editor.has(header.as_uri()))


async def test_a_header_saved_in_another_buffer_during_the_first_check(
    editor: Editor, tmp_path: Path, header: Path, gate: Gate
) -> None:
    # Nothing tells yet that the unit includes the file: its name does not end like a header's.
    text = UNIT.replace("inner.cuh", "inner.cu") + gate.include
    (tmp_path / "inner.cu").write_text(HEADER)
    other = editor.open(tmp_path / "inner.cu", HEADER)
    await editor.until(editor.has(other, "data-race"))
    uri = editor.open(tmp_path / "unit.cu", text)
    await editor.until(editor.has(uri, "redundant-barrier"))
    editor.replace(other, "  a[i] =", "  __syncthreads();\n  a[i] =")
    editor.save(other, tmp_path / "inner.cu")
    await editor.status()
    gate.open()
    await editor.until(editor.has(other))


async def test_a_header_that_changes_while_an_edited_unit_is_checked(
    editor: Editor, tmp_path: Path, header: Path, gate: Gate
) -> None:
    """The file is known to be read, the running check has the texts of all buffers, and only the disk has changed."""
    unit = tmp_path / "unit.cu"
    uri = editor.open(unit, UNIT)
    await editor.until(editor.has(header.as_uri(), "data-race"))
    await editor.until(editor.has(uri, "redundant-barrier"))
    editor.replace(uri, "// useless\n}\n", "\n}\n" + gate.include)
    editor.save(uri, unit)
    await editor.until(editor.has(uri))
    header.write_text(FIXED)
    await changed(editor, header)
    await editor.status()
    gate.open()
    await editor.until(editor.has(header.as_uri()))


async def test_a_save_while_the_same_text_is_checked_finds_a_header_that_no_watcher_told_of(
    editor: Editor, tmp_path: Path, header: Path, gate: Gate
) -> None:
    unit = tmp_path / "unit.cu"
    uri = editor.open(unit, UNIT)
    await editor.until(editor.has(header.as_uri(), "data-race"))
    editor.replace(uri, "// useless\n}\n", "\n}\n" + gate.include)
    editor.save(uri, unit)
    await editor.until_status(jobs)
    await editor.until(editor.has(uri))
    header.write_text(FIXED)
    editor.save(uri, unit)
    await editor.status()
    gate.open()
    await editor.until(editor.has(header.as_uri()))


async def test_a_folder_that_is_searched_earlier_gets_the_header_during_the_first_check(
    editor: Editor, tmp_path: Path, gate: Gate
) -> None:
    first, second = tmp_path / "first" / "inner.cuh", tmp_path / "second" / "inner.cuh"
    second.parent.mkdir()
    second.write_text(HEADER)
    (tmp_path / ".cuda-lsp.toml").write_text('extra-args = ["-I", "first", "-I", "second"]\n')
    uri = editor.open(tmp_path / "unit.cu", UNIT + gate.include)
    await editor.until(editor.has(second.as_uri(), "data-race"))
    await editor.until(editor.has(uri, "redundant-barrier"))
    first.parent.mkdir()
    first.write_text(HEADER)
    # A client may tell of the folder only.
    await changed(editor, first.parent)
    await editor.status()
    gate.open()
    await editor.until(editor.has(first.as_uri(), "data-race"))
    await editor.until(editor.has(second.as_uri()))


async def test_a_folder_that_is_searched_earlier_gets_the_header_later(editor: Editor, tmp_path: Path) -> None:
    first, second = tmp_path / "first" / "inner.cuh", tmp_path / "second" / "inner.cuh"
    for path in (first, second):
        path.parent.mkdir()
    second.write_text(HEADER)
    (tmp_path / ".cuda-lsp.toml").write_text('extra-args = ["-I", "first", "-I", "second"]\n')
    editor.open(tmp_path / "unit.cu", UNIT)
    await editor.until(editor.has(second.as_uri(), "data-race"))
    await editor.until(lambda: editor.published)
    first.write_text(HEADER)
    await changed(editor, first)
    await editor.until(editor.has(first.as_uri(), "data-race"))
    await editor.until(editor.has(second.as_uri()))


async def test_the_search_folders_change_during_the_first_check(editor: Editor, tmp_path: Path, gate: Gate) -> None:
    header = tmp_path / "include" / "inner.cuh"
    header.parent.mkdir()
    header.write_text(HEADER)
    uri = editor.open(tmp_path / "unit.cu", UNIT + gate.include)
    await editor.until(editor.has(uri, "redundant-barrier"))
    settings = tmp_path / ".cuda-lsp.toml"
    settings.write_text('extra-args = ["-I", "include"]\n')
    await changed(editor, settings)
    await editor.status()
    gate.open()
    await editor.until(editor.has(header.as_uri(), "data-race"))


async def test_an_open_header_whose_unit_is_deleted_is_checked_through_another(
    editor: Editor, tmp_path: Path, header: Path, unit: Path
) -> None:
    other = tmp_path / "zzz.cu"
    other.write_text(UNIT)
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(editor.has(unit.as_uri(), "redundant-barrier"))
    unit.unlink()
    await changed(editor, unit)
    await editor.until(editor.has(other.as_uri(), "redundant-barrier"))
    await editor.until(editor.has(unit.as_uri()))
    await editor.until(editor.has(uri, "data-race"))


async def test_a_header_opened_with_another_text_than_its_file_has(editor: Editor, header: Path, unit: Path) -> None:
    """As after a crash of the editor: the buffer counts for every unit, not only for the one chosen for the header."""
    second = unit.with_name("a_second.cu")
    second.write_text(UNIT)
    for path in (unit, second):
        editor.open(path, UNIT)
        await editor.until(editor.has(path.as_uri(), "redundant-barrier"))
    await editor.until(editor.has(header.as_uri(), "data-race"))
    uri = editor.open(header, FIXED)
    await editor.until(editor.has(uri))


# What else can be opened


async def test_the_language_ids(editor: Editor, tmp_path: Path) -> None:
    for name, language in (
        ("a.cu", "cuda"),
        ("b.cu", "cuda-cpp"),
        ("c.cu", "cpp"),
        ("d.txt", "cuda"),
        ("e.cuh", "cpp"),
    ):
        uri = editor.open(tmp_path / name, HEADER, language)
        await editor.until(editor.has(uri, "data-race"))
    other = editor.open(tmp_path / "f.cpp", HEADER, "cpp")
    last = editor.open(tmp_path / "g.cu", HEADER)
    await editor.until(editor.has(last, "data-race"))
    assert other not in editor.diagnostics


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-vfs://github/a/b/kernel.cu"])
async def test_a_document_that_is_no_file(editor: Editor, uri: str) -> None:
    editor.open(uri, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "inner")
    assert told is not None


async def test_without_a_workspace_folder(connect: Connect, header: Path, unit: Path) -> None:
    editor = await connect(folder=None)
    uri = editor.open(header, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(editor.has(unit.as_uri(), "redundant-barrier"))


async def test_a_name_with_blanks_and_umlauts(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "zwei wörter & %20.cu"
    uri = editor.open(path, HEADER)
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.related_information is not None
    assert diagnostic.related_information[0].location.uri == uri


# Position encodings


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 18), ("utf-16", 13), ("utf-32", 12)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_columns_count_in_the_encoding_that_was_agreed_on(
    connect: Connect, tmp_path: Path, encoding: str, column: int, end: str
) -> None:
    capabilities = pushing()
    capabilities.general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    editor = await connect(capabilities)
    text = HEADER.replace("  a[i] =", "\t/* ä€𝄞 */  a[i] =").replace("\n", end)
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.range == types.Range(types.Position(1, column), types.Position(1, column + 4))
    found = await editor.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, column + 2))
    )
    assert found is not None
    assert found.range == diagnostic.range
