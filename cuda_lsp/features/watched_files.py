"""Which files the client is asked to watch, and what happens when they change outside the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls import uris

from cuda_lsp import config
from cuda_lsp.adoption import baseline
from cuda_lsp.workspace import compile_commands
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES, HEADER_SUFFIXES, SOURCE_SUFFIXES

if TYPE_CHECKING:
    from cuda_lsp.session import Session


async def register(session: Session) -> None:
    """Ask a client that can watch files to do so; for others each check looks at the files itself."""
    if not session.client.features.watched_files_registration:
        return
    endings = ",".join(sorted(suffix.lstrip(".") for suffix in CUDA_SUFFIXES | HEADER_SUFFIXES | SOURCE_SUFFIXES))
    names = (compile_commands.NAME, config.PROJECT_FILE, baseline.USUAL_NAME)
    patterns = (*(f"**/{name}" for name in names), f"**/*.{{{endings}}}")
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in patterns]
    await session.client.register(
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )


def changed(session: Session, params: types.DidChangeWatchedFilesParams) -> None:
    """`workspace/didChangeWatchedFiles`."""
    session.files_changed(path for change in params.changes if (path := uris.to_fs_path(change.uri)) is not None)
