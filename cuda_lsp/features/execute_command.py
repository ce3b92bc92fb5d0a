"""`workspace/executeCommand`: check again, check the workspace; of a kernel: tell the verdict, write its page, run."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from cuda_lsp.documents import normalised
from cuda_lsp.features import run_kernel
from cuda_lsp.progress import CheckProgress
from cuda_lsp.workspace.cuda_sources import Sources, told
from cuda_lsp.workspace.suffixes import HEADER_SUFFIXES

if TYPE_CHECKING:
    from cuda_lsp.session import Session

RECHECK = "cuda-lsp.recheck"
TELL = "cuda-lsp.tellKernel"
REPORT = "cuda-lsp.writeReport"
CHECK_ALL = "cuda-lsp.checkAll"
WHY_NO_FIX = "cuda-lsp.whyNoFix"
COMMANDS = (RECHECK, CHECK_ALL, TELL, REPORT, WHY_NO_FIX, *run_kernel.COMMANDS)

_REQUEST_FAILED = -32803


async def execute(session: Session, params: types.ExecuteCommandParams) -> Any:
    """Do it, and answer when it has ended: `CHECK_ALL` with the number of files, `TELL` with the text, `REPORT` with
    the file's path and URI. Every argument is a string; trailing ones that are optional may be null."""
    if params.command in run_kernel.COMMANDS:
        return await run_kernel.execute(session, params)
    given = list(params.arguments or ())
    while given and given[-1] is None:
        given.pop()
    arguments = [argument for argument in given if isinstance(argument, str)]
    if params.command == WHY_NO_FIX:
        if len(given) != 1 or len(arguments) != 1:
            raise JsonRpcInvalidParams("the argument is a sentence")
        session.client.show(types.MessageType.Info, f"cuda-lsp: {arguments[0]}")
        return None
    if params.command == RECHECK:
        if len(arguments) != len(given):
            raise JsonRpcInvalidParams("the arguments are the URIs of documents")
        return await _recheck(session, arguments, params.work_done_token)
    if params.command == CHECK_ALL:
        if given:
            raise JsonRpcInvalidParams("there are no arguments")
        return await _check_all(session, params.work_done_token)
    if params.command == TELL:
        if len(given) != 2 or len(arguments) != 2:
            raise JsonRpcInvalidParams("the arguments are the URI of a document and the name of a kernel")
        return _tell(session, *arguments)
    if params.command == REPORT:
        uri, kernel, target, *more = [*given, None, None, None]
        if not isinstance(uri, str) or not isinstance(kernel, str | None) or not isinstance(target, str | None):
            raise JsonRpcInvalidParams("the arguments are the URI of a document, perhaps a kernel, perhaps a file")
        if any(each is not None for each in more):
            raise JsonRpcInvalidParams("there are at most three arguments")
        return await _report(session, uri, kernel, target)
    raise JsonRpcInvalidParams(f"there is no command {params.command!r}")


async def _recheck(session: Session, uris: list[str], token: types.ProgressToken | None) -> None:
    """Check the documents with these URIs, by default all that are open."""
    checked = session.recheck(uris or None, token)
    await asyncio.gather(*(session.checks.settled(uri) for uri in checked))


def _tell(session: Session, uri: str, kernel: str) -> str:
    """Show what is known of a kernel as a message, and answer with the text."""
    from cuda_lsp.features import hover

    told = hover.about_kernel(session, uri, kernel)
    if told is None:
        raise JsonRpcInvalidParams(f"there is no kernel {kernel} in this document")
    session.client.show(types.MessageType.Info, told)
    return told


async def _report(session: Session, uri: str, kernel: str | None, target: str | None) -> dict[str, str]:
    """Write the page, show it in a browser where the client can have that done, else say where it is."""
    from cuda_lsp.features import race_explorer

    path = await race_explorer.write_report(session, uri, kernel, target)
    address = Path(path).resolve().as_uri()
    if not await session.client.show_document(address):
        session.client.show(types.MessageType.Info, f"cuda-lsp: the findings are drawn in {path}")
    return {"path": path, "uri": address}


async def _check_all(session: Session, token: types.ProgressToken | None) -> int:
    """Check the CUDA sources below the workspace folders one after the other, headers that none of them includes by
    themselves; the findings stay. What was left out is told. Cancelling the request ends it, and what was found
    stays too."""
    if not session.tops:
        raise JsonRpcException("there is no workspace folder", code=_REQUEST_FAILED)
    session.scheduler.revive()
    walks = [Sources(Path(top)) for top in session.tops]
    found = await asyncio.to_thread(lambda: [normalised(str(path)) for walk in walks for path in walk.files()])
    found = list(dict.fromkeys(found))
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
    left_out = sum((walk.left_out for walk in walks), Counter[str]())
    if left_out:
        number = sum(left_out.values())
        files = "1 CUDA file was" if number == 1 else f"{number} CUDA files were"
        text = f"{files} left out: {told(left_out)}. Such a file is checked when it is opened."
        session.client.show(types.MessageType.Info, text)
    return len(found)


def explanation(reason: str) -> types.CodeAction:
    """An action that tells why there is no repair."""
    title = "Why is there no fix?"
    command = types.Command(title=title, command=WHY_NO_FIX, arguments=[reason])
    return types.CodeAction(title=title, kind=types.CodeActionKind.QuickFix, command=command)


def action(uri: str) -> types.CodeAction:
    """Re-check as a source action on a document."""
    title = "Re-check"
    return types.CodeAction(
        title=title,
        kind="source.recheck.cuda-lsp",
        command=types.Command(title=title, command=RECHECK, arguments=[uri]),
    )
