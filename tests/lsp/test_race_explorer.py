"""The race explorer over a real server: the request, and the command that writes its page."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from explorer_pages import Page
from lsp.client import Connect, Editor, plain, pushing
from lsp.test_code_lens import TEXT, checked
from lsprotocol import types
from pygls.exceptions import JsonRpcException


async def drawn(editor: Editor, uri: str, kernel: str | None = None) -> Page:
    params = {"uri": uri} if kernel is None else {"uri": uri, "kernel": kernel}
    answer = plain(await editor.protocol.send_request_async("cudaLsp/raceExplorer", params))
    return Page(answer["html"])


async def test_a_document_is_drawn_with_all_its_kernels(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "a.cu")
    page = await drawn(editor, uri)
    assert [entry.text for entry in page.root.all("nav")[0].all("code")] == ["shift", "fine", "hard", "slow", "unused"]
    lines = [e for e in page.root.walk() if e.attributes.get("data-uri") == uri]
    assert lines
    assert page.root.all("body")[0].attributes["data-uri"] == uri


async def test_a_kernel_is_drawn_alone(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "a.cu")
    page = await drawn(editor, uri, "shift")
    assert not page.root.all("nav")
    (scene,) = page.scenes
    assert {mark.classes[0]: mark.text.split(" (")[0] for mark in scene.all("mark")} == {"s1": "a[i]", "s2": "a[i + 1]"}
    assert "Insert __syncthreads()" in scene.text


async def test_a_suppressed_finding_is_drawn_and_says_so(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "a.cu")
    editor.replace(uri, "  a[i] = a[i + 1];\n}", "  a[i] = a[i + 1];  // cuda-lsp: ignore[data-race] second pass\n}")
    page = await drawn(editor, uri, "shift")
    (scene,) = page.scenes
    assert "suppressed: second pass" in scene.all("p", "over")[0].text
    badge = page.root.all("div", "bar-top")[0].all("span", "verdict")[0]
    assert badge.text == "suppressed", "what is suppressed is no race that counts, and no proof"
    entries = (await drawn(editor, uri)).root.all("nav")[0].all("span", "verdict")
    assert "suppressed" in [entry.text for entry in entries]


async def test_places_follow_the_edits(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "a.cu")
    editor.replace(uri, "__global__ void shift", "// ä comment\n\n__global__ void shift")
    editor.replace(uri, "  a[i] = a", "  int ö = 1; a[i] = a")
    page = await drawn(editor, uri, "shift")
    (hit,) = page.scenes[0].all("li", "hit")
    assert hit.all("span", "ln")[0].text == "4"
    assert {mark.classes[0]: mark.text.split(" (")[0] for mark in hit.all("mark")} == {"s1": "a[i]", "s2": "a[i + 1]"}
    assert "Insert" not in page.scenes[0].text


async def test_a_file_that_was_not_checked_has_nothing_to_draw(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "a.cu")
    with pytest.raises(JsonRpcException, match=r"b\.cu was not checked yet"):
        await drawn(editor, (tmp_path / "b.cu").as_uri())
    with pytest.raises(JsonRpcException, match="no kernel nobody"):
        await drawn(editor, uri, "nobody")
    with pytest.raises(JsonRpcException, match="uri"):
        await editor.protocol.send_request_async("cudaLsp/raceExplorer", {"uri": 5})


async def test_a_unit_without_kernels_and_one_that_failed_say_so(editor: Editor, tmp_path: Path) -> None:
    uri = await checked(editor, tmp_path / "empty.cu", "int nothing;\n")
    assert "No kernel was found." in (await drawn(editor, uri)).root.text
    uri = await checked(editor, tmp_path / "bad.cu", "#error\n")
    assert "could not be analysed" in (await drawn(editor, uri)).root.text


async def report(editor: Editor, *arguments: Any) -> dict[str, str]:
    return plain(
        await editor.workspace_execute_command_async(
            types.ExecuteCommandParams("cuda-lsp.writeReport", list(arguments))
        )
    )


async def test_old_pages_are_removed_when_one_is_written(
    editor: Editor, tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = Path(environment["CUDA_LSP_CACHE_DIR"]) / "reports"
    folder.mkdir(parents=True)
    old, recent, other = folder / "races-0.html", folder / "races-1.html", folder / "notes.html"
    for page, days in ((old, 8), (recent, 6), (other, 8)):
        page.write_text("")
        then = time.time() - days * 86_400
        os.utime(page, (then, then))
    uri = await checked(editor, tmp_path / "a.cu")
    written = Path((await report(editor, uri))["path"])
    assert sorted(folder.iterdir()) == sorted([recent, other, written])


async def test_the_page_can_be_written(connect: Connect, tmp_path: Path, environment: dict[str, str]) -> None:
    capabilities = pushing()
    assert capabilities.window is not None
    capabilities.window.show_document = None
    editor = await connect(capabilities)
    uri = await checked(editor, tmp_path / "a.cu")
    written = await report(editor, uri)
    assert Path(written["path"]).is_relative_to(environment["CUDA_LSP_CACHE_DIR"])
    assert len(Page(Path(written["path"]).read_text(encoding="utf-8")).scenes) == 5
    await editor.until(editor.shown(written["path"]))
    target = tmp_path / "own.html"
    assert (await report(editor, uri, "shift", str(target)))["uri"] == target.as_uri()
    assert len(Page(target.read_text(encoding="utf-8")).scenes) == 1
    assert (await report(editor, uri, None))["path"] == written["path"]
    with pytest.raises(JsonRpcException, match="cannot be written"):
        await report(editor, uri, None, str(tmp_path / "no" / "folder.html"))
    with pytest.raises(JsonRpcException, match="arguments"):
        await report(editor, uri, 5)


async def test_a_client_that_shows_documents_is_asked_to(connect: Connect, tmp_path: Path) -> None:
    capabilities = pushing()
    assert capabilities.window is not None
    capabilities.window.show_document = types.ShowDocumentClientCapabilities(support=True)
    editor = await connect(capabilities)
    uri = await checked(editor, tmp_path / "a.cu", TEXT)
    written = await report(editor, uri)
    assert [(shown.uri, shown.external) for shown in editor.opened_outside] == [(written["uri"], True)]
    assert not editor.shown("drawn in")()
