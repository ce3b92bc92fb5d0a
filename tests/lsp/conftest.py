"""Starts servers for protocol tests, each in its own cache directory, and ends them whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsp.client import DEADLINE_S, ROOT, Connect, Editor, pushing, server_command
from lsprotocol import types


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]),
        "CUDA_LSP_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "CUDA_LSP_LOOP_MONITOR": "1",
    }


@pytest_asyncio.fixture
async def connect(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[Connect]:
    """Start a server and initialize it; keyword arguments are those of `InitializeParams` and a few of ours."""
    editors: list[Editor] = []

    async def start(
        capabilities: types.ClientCapabilities | None = None,
        *,
        settings: dict[str, Any] | None = None,
        engine: str | None = None,
        folder: Path | None = tmp_path,
        initialize: bool = True,
        search: Path | None = None,
        **more: Any,
    ) -> Editor:
        editor = Editor()
        if settings is not None:
            editor.set_configuration({"cuda-lsp": settings})
        if engine is not None:
            editor.server_command = server_command(engine)
        editors.append(editor)
        if search is not None:
            environment["PYTHONPATH"] += os.pathsep + str(search)
        await editor.start_io(*editor.server_command, env=environment, cwd=str(tmp_path))
        if initialize:
            folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)] if folder is not None else None
            await editor.initialize_session(
                types.InitializeParams(
                    capabilities=capabilities or pushing(),
                    root_uri=folder.as_uri() if folder is not None else None,
                    workspace_folders=folders,
                    **more,
                )
            )
        return editor

    yield start
    for editor in editors:
        process = editor._server
        if process is not None and process.returncode is None:
            # A test may have left the server in any state.
            with contextlib.suppress(Exception):
                await asyncio.wait_for(editor.shutdown_session(), DEADLINE_S)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await editor.stop()
        assert editor.codes_without_a_page == set()


@pytest_asyncio.fixture
async def editor(connect: Connect) -> Editor:
    """A client to which diagnostics are pushed."""
    return await connect()
