"""`workspace/executeCommand`: Re-check, and the check of all CUDA sources of the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from cuda_lsp.documents import normalised
from cuda_lsp.progress import CheckProgress
from cuda_lsp.workspace.cuda_sources import walk
from cuda_lsp.workspace.suffixes import HEADER_SUFFIXES

if TYPE_CHECKING:
    from cuda_lsp.session import Session

RECHECK = "cuda-lsp.recheck"
CHECK_ALL = "cuda-lsp.checkAll"
COMMANDS = (RECHECK, CHECK_ALL)

_REQUEST_FAILED = -32803


async def execute(session: Session, params: types.ExecuteCommandParams) -> int | None:
    """Do it, and answer when it has ended: `CHECK_ALL` with the number of files, `RECHECK` with nothing."""
    arguments = [argument for argument in params.arguments or () if isinstance(argument, str)]
    if len(arguments) != len(params.arguments or ()):
        raise JsonRpcInvalidParams("the arguments are the URIs of documents")
    if params.command == RECHECK:
        await _recheck(session, arguments, params.work_done_token)
        return None
    if params.command == CHECK_ALL:
        return await _check_all(session, params.work_done_token)
    raise JsonRpcInvalidParams(f"there is no command {params.command!r}")


async def _recheck(session: Session, documents: list[str], token: types.ProgressToken | None) -> None:
    """Check the documents with these URIs, by default all that are open."""
    uris = session.recheck(documents or None, token)
    await asyncio.gather(*(session.checks.settled(uri) for uri in uris))


async def _check_all(session: Session, token: types.ProgressToken | None) -> int:
    """Check the CUDA sources below the workspace folder one after the other, headers that none of them includes by
    themselves; the findings stay. Cancelling the request ends it, and what was found stays too."""
    if session.top is None:
        raise JsonRpcException("there is no workspace folder", code=_REQUEST_FAILED)
    session.scheduler.revive()
    found = await asyncio.to_thread(lambda: [normalised(str(path)) for path in walk(Path(session.top or ""))])
    # Headers last: by then it is known which of them were read with a source.
    found.sort(key=lambda path: Path(path).suffix.lower() in HEADER_SUFFIXES)
    progress = CheckProgress(session.client, "Checking the workspace", token)
    progress.start(session.spawn)
    try:
        for number, path in enumerate(found):
            progress.report(number, len(found), Path(path).name)
            if not any(view.path != path and view.includes(path) for view in session.views.values()):
                await session.checks.check_and_keep(path)
    finally:
        progress.finish()
    return len(found)


def action(uri: str) -> types.CodeAction:
    """Re-check as a source action on a document."""
    title = "Re-check"
    return types.CodeAction(
        title=title,
        kind="source.recheck.cuda-lsp",
        command=types.Command(title=title, command=RECHECK, arguments=[uri]),
    )
