"""What cannot be translated, in words: of what programmers know by another name, that name and what to do instead."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from gpu_runner.cpu.body import Body
from gpu_runner.ptx import model

_TEXTURES: Final = "textures: a run has none; give the kernel the data as an array"
_SURFACES: Final = "surfaces: a run has none; give the kernel the data as an array"
_CLUSTERS: Final = "this use of thread block clusters"
_MATRICES: Final = "matrix instructions of groups of warps (wgmma, tcgen05)"
_BULK: Final = "bulk copies (TMA)"
_BY_OPCODE: Final = {
    **dict.fromkeys(("tex", "tld4", "txq"), _TEXTURES),
    **dict.fromkeys(("suld", "sust", "sured", "suq"), _SURFACES),
    **dict.fromkeys(("wgmma", "tcgen05"), _MATRICES),
}


def refusal(statement: model.Statement, why: str, body: Body) -> str:
    """One construct, why it is refused, and where."""
    if isinstance(statement, model.Instruction):
        text = ".".join((statement.opcode, *statement.modifiers))
        known = _BY_OPCODE.get(statement.opcode)
        if known is None and ("cluster" in statement.modifiers or "shared::cluster" in statement.modifiers):
            known = _BULK if "bulk" in statement.modifiers else _CLUSTERS
        elif known is None and "bulk" in statement.modifiers:
            known = _BULK
        if known is not None:
            return f"{known}{_where(body, inside=False)}"
    elif isinstance(statement, model.Call):
        text = "call"
    else:
        text = type(statement).__name__.lower()
    return f"{text}: {why}{_where(body)}"


def _where(body: Body, *, inside: bool = True) -> str:
    """The line of the kernel, and where it leads to by calls (`inside`)."""
    chain = [call for call in (body.location, *body.frame.calls, *(body.entered or ())) if call is not None]
    if not chain:
        return ""
    here, outer = chain[0].position, chain[-1].inlined_at or chain[-1].position
    if here == outer:
        return f" (line {here.line})"
    names = {file.index: PurePath(file.name).name for file in body.module.files}
    name = names.get(outer.file, "")
    called = f"{name}:{outer.line}" if name.endswith((".h", ".hpp")) else f"line {outer.line}"
    if not inside:
        return f" ({called})"
    return f" ({names.get(here.file, '')}:{here.line}, called in {called})"
