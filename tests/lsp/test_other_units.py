"""Repairs of a header in an editor: they are judged in the other units that include it, as these are now."""

from pathlib import Path

import pytest
from lsp.client import Connect, Editor, labels
from pygls.exceptions import JsonRpcException
from test_quickfix_other_units import ALL, FIXED, HEADER, SOME, unit

from cuda_lsp import backend


@pytest.fixture
async def editor(connect: Connect, tmp_path: Path) -> Editor:
    (tmp_path / "tile.cuh").write_text(HEADER)
    return await connect(engine=backend.DEFAULT)


async def opened(editor: Editor, tmp_path: Path) -> str:
    uri = editor.open(tmp_path / "a.cu", unit("a"))
    header = editor.open(tmp_path / "tile.cuh", HEADER)
    await editor.until(editor.has(header, "data-race"))
    await editor.until_idle()
    assert uri != header
    return header


async def test_what_is_right_in_all_known_units_is_a_choice(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(unit("b"))
    header = await opened(editor, tmp_path)
    (action,) = await editor.actions(header, "s[t] =", only=["quickfix"])
    assert "assumes that no other unit" in action.title
    assert not action.is_preferred
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert editor.texts[header] == FIXED


async def test_all_fixes_at_once_leave_a_header_alone(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(unit("b"))
    header = await opened(editor, tmp_path)
    assert await editor.actions(header, "s[t] =", only=["source.fixAll"]) == []


async def test_what_is_wrong_in_a_unit_is_not_offered_and_explained(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(unit("b", SOME))
    header = await opened(editor, tmp_path)
    assert await editor.actions(header, "s[t] =", only=["quickfix"]) == []
    told = [str(command) for command in await editor.commands(header, "s[t] =", only=["quickfix"])]
    assert any("which b.cu includes, too, and be wrong there" in text for text in told)


async def test_a_unit_that_has_changed_since_counts_as_it_is(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(unit("b"))
    header = await opened(editor, tmp_path)
    (action,) = await editor.actions(header, "s[t] =", only=["quickfix"])
    (tmp_path / "b.cu").write_text(unit("b", SOME))
    with pytest.raises(JsonRpcException, match=r"b\.cu includes, too"):
        await editor.code_action_resolve_async(action)
    other = editor.open(tmp_path / "b.cu", unit("b", SOME))
    editor.replace(other, SOME, ALL)
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None, "by the text in the editor, not by the one on the disk"


async def test_a_unit_that_came_since_counts(editor: Editor, tmp_path: Path) -> None:
    header = await opened(editor, tmp_path)
    (action,) = await editor.actions(header, "s[t] =", only=["quickfix"])
    (tmp_path / "b.cu").write_text(unit("b", SOME))
    with pytest.raises(JsonRpcException, match=r"b\.cu includes, too"):
        await editor.code_action_resolve_async(action)


async def test_a_stored_repair_does_not_outlive_another_unit(connect: Connect, tmp_path: Path, editor: Editor) -> None:
    (tmp_path / "b.cu").write_text(unit("b"))
    header = await opened(editor, tmp_path)
    assert labels(await editor.actions(header, "s[t] =", only=["quickfix"])) != []
    await editor.until_idle()
    await editor.shutdown_session()
    (tmp_path / "b.cu").write_text(unit("b", SOME))
    second = await connect(engine=backend.DEFAULT)
    header = await opened(second, tmp_path)
    assert await second.actions(header, "s[t] =", only=["quickfix"]) == []
    assert any("wrong there" in str(command) for command in await second.commands(header, "s[t] ="))
