"""The commands that run a kernel under the race detector: all of it, or what may confirm one finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from analyzers.ir.names import base_word
from cuda_lsp.config import RunOn
from cuda_lsp.runs import RunError

if TYPE_CHECKING:
    from cuda_lsp.session import Session

RUN_KERNEL = "cuda-lsp.runKernel"
"""With a document's URI and the name of a kernel in it, as in the language or as the linker sees it."""
CONFIRM = "cuda-lsp.confirm"
"""With a document's URI, the name of a kernel in it, and the group of one of its findings."""
COMMANDS = (RUN_KERNEL, CONFIRM)
_PLACES: Final[Mapping[RunOn, str]] = {"cpu": "CPU", "gpu": "GPU", "auto": "GPU or CPU"}


async def execute(session: Session, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Run; what was seen is published, shown in a message and summed up in the answer, which says `refused` where there
    was no run."""
    wanted = 3 if params.command == CONFIRM else 2
    arguments = [argument for argument in params.arguments or () if isinstance(argument, str)]
    if len(arguments) != wanted or len(params.arguments or ()) != wanted:
        group = ", and the group of a finding" if wanted == 3 else ""
        raise JsonRpcInvalidParams(f"the arguments are the URI of a document, the name of a kernel{group}")
    uri, kernel, *rest = arguments
    try:
        found = await session.runs.run(uri, kernel, rest[0] if rest else None, params.work_done_token)
    except RunError as error:
        # No error of the protocol: clients show those in their own words beside ours.
        session.client.show(types.MessageType.Error, f"cuda-lsp: {base_word(kernel)} is not run: {error}")
        return {"kernel": kernel, "refused": str(error)}
    bad = bool(found["confirmed"] or found["races"] or found["faults"] or found["troubles"])
    session.client.show(types.MessageType.Warning if bad else types.MessageType.Info, in_words(found))
    return found


def in_words(found: dict[str, Any]) -> str:
    """A sentence or two about a run, never that a kernel has no races."""
    runs = f"{found['runs']} run{'s' * (found['runs'] != 1)}"
    parts: list[str] = []
    if not found["runs"] and found["troubles"]:
        return f"{found['kernel']} was not run: {'. '.join(found['troubles'])}"
    if found["findings"]:
        parts.append(f"{found['confirmed']} of {found['findings']} findings confirmed in {runs}")
    elif found["races"] or found["faults"]:
        parts.append(f"{found['races']} races and {found['faults']} other mistakes seen in {runs}")
    elif not found["troubles"]:
        parts.append(f"no race seen in {runs}")
    return f"{found['kernel']}: {'. '.join([*parts, *found['troubles']])}"


def confirm(uri: str, kernel: str, group: str, run_on: RunOn) -> types.Command:
    """What runs a finding."""
    return types.Command(
        title=f"Confirm by running ({_PLACES[run_on]})", command=CONFIRM, arguments=[uri, kernel, group]
    )
