"""Inline assembly: barriers, fences and pure computations are recognised in the text; the rest is unsupported."""

from __future__ import annotations

import re

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.synchronisation import block_barrier, fence, lane, lane_mask, warp_barrier
from analyzers.ir.expr import U64

_BARRIER = re.compile(r"\b(?:bar|barrier(?:\.cta)?)\.sync(?:\.aligned)?(?:\.all)?\s+(?:0|%0|%%0)\s*;")
_WARP = re.compile(r"\bbar\.warp\.sync\s+(?:0xffffffff|-1|4294967295)\s*;", re.IGNORECASE)
_FENCE = re.compile(r"\b(?:membar|fence)\.(?:\w+\.)*(cta|gl|gpu|sys|cluster)\b")
_MEMORY = re.compile(r"\b(?:ld|st|atom|red|cp|ldmatrix|stmatrix|prefetch|tex|sust|suld|bar|barrier|mbarrier|wgmma|multimem)"
                     r"(?:\.|\b)(?!warp)")  # fmt: skip
_REGISTER = re.compile(r"mov\.[us]32\s+%0\s*,\s*%%?(laneid|lanemask_(?:lt|le|gt|ge|eq))\s*;$")
_SCOPES = {"cta": "block", "gl": "grid", "gpu": "grid", "sys": "system", "cluster": "cluster"}


def lower(ctx: Context, node: Node) -> None:
    """An asm statement. Its text and operands are not in libclang's tree: they are read from the source."""
    text = node.text
    if not re.match(r"\s*(?:asm|__asm__|__asm)\b", text):
        ctx.unsupported("asm", f"assembly written by the macro {text[:40]!r}", node)
        return
    literals = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', _template(text))).replace("\\n", " ").replace("\\t", " ")
    code = literals.strip()
    if not code:
        return
    if _BARRIER.search(code) and code.count(";") == 1:
        block_barrier(ctx, node)
        return
    if _WARP.search(code):
        warp_barrier(ctx, node, None)
        return
    found = _FENCE.search(code)
    if found and code.count(";") == 1:
        fence(ctx, node, _SCOPES[found.group(1)], "seq_cst")
        return
    if _MEMORY.search(code) or '"memory"' in text:
        ctx.unsupported("asm", code[:80], node)
        return
    register = _REGISTER.match(code)
    for operand in _outputs(node):
        place = ctx.place(operand)
        if register and place.type.scalar:
            value = lane() if register.group(1) == "laneid" else lane_mask(register.group(1)[-2:])
            memory.write(ctx, place, memory.convert_scalar(ctx, value, place.type.ir or U64), operand)
        elif place.type.scalar:
            memory.write(ctx, place, ctx.havoc(place.type.ir or U64, f"asm {code[:40]!r}", node), operand)
        else:
            ctx.unsupported("asm", code[:80], node)


def _template(text: str) -> str:
    """The assembly text: everything before the first colon outside of literals."""
    depth = 0
    quoted = False
    for at, letter in enumerate(text):
        if letter == '"' and (at == 0 or text[at - 1] != "\\"):
            quoted = not quoted
        elif not quoted:
            if letter == "(":
                depth += 1
            elif letter == ")":
                depth -= 1
            elif letter == ":" and depth == 1:
                return text[:at]
    return text


def _outputs(node: Node) -> list[Node]:
    """The expressions written by the statement: those with an ``=`` or ``+`` constraint."""
    text = node.text
    constraints = re.findall(r'"\s*([=+]?)[^"]*"\s*\(', text[len(_template(text)) :])
    operands = [k for k in node.kids if 100 <= k.kind < 200]
    return [operand for mark, operand in zip(constraints, operands, strict=False) if mark]
