"""`workspace/executeCommand`: the one command, Re-check."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

if TYPE_CHECKING:
    from cuda_lsp.session import Session

RECHECK = "cuda-lsp.recheck"
COMMANDS = (RECHECK,)


async def execute(session: Session, params: types.ExecuteCommandParams) -> None:
    """Check the documents whose URIs are the arguments, by default all, and answer when that has ended."""
    if params.command != RECHECK:
        raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
    arguments = [argument for argument in params.arguments or () if isinstance(argument, str)]
    if len(arguments) != len(params.arguments or ()):
        raise JsonRpcInvalidParams("the arguments are the URIs of documents")
    uris = session.recheck(arguments or None, params.work_done_token)
    await asyncio.gather(*(session.checks.settled(uri) for uri in uris))


def action(uri: str) -> types.CodeAction:
    """The command as a source action on a document."""
    title = "Re-check"
    return types.CodeAction(
        title=title,
        kind="source.recheck.cuda-lsp",
        command=types.Command(title=title, command=RECHECK, arguments=[uri]),
    )
