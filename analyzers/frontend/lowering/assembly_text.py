"""The text of assembly statements: taken from the source or a macro, cut into instructions and operands."""

from __future__ import annotations

import re

from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.parse import is_bundled

_HAS_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def parts_of(text: str) -> tuple[str, str]:
    """The assembly code, and the text of the operand lists."""
    keyword = _HAS_ASM.search(text)
    opened = text.find("(", keyword.end() if keyword is not None else 0)
    depth, quoted, end = 0, False, len(text)
    for at in range(max(opened, 0), len(text)):
        letter = text[at]
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            if letter == "(":
                depth += 1
            elif letter == ")":
                depth -= 1
                if not depth:
                    end = min(end, at)
                    break
            elif letter == ":" and depth == 1:
                end = at
                break
    code = "".join(_LITERAL.findall(text[opened:end]))
    return code.replace("\\n", "\n").replace("\\t", " ").replace("\\r", " "), text[end:]


def instructions_of(code: str) -> list[str]:
    """The instructions of a template, blanks and comments normalised; a label keeps its colon."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL)
    # Braces around a whole statement open a scope; those of vector operands belong to the instruction.
    out: list[str] = []
    for line in code.split(";"):
        text = " ".join(line.split())
        while text[:1] in ("{", "}") and not re.match(r"\{[^{}]*\}\s*,", text):
            text = text[1:].strip()
        if text and text != "}":
            out.append(text)
    return out


def macro_text(node: Node, used: str) -> str | None:
    """The asm statement inside the macro that a text uses, when it holds exactly one."""
    name = re.match(r"\s*(\w+)", used)
    return _definition(node, name.group(1), 3) if name else None


def _definition(node: Node, name: str, depth: int) -> str | None:
    pattern = re.compile(
        rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\b((?:[^\\\n]|\\(?:\r?\n|.))*)", re.MULTILINE
    )
    for path in node.table.files():
        if is_bundled(path):
            continue
        found = pattern.search(node.table.bytes_of(path))
        if found is None:
            continue
        body = found.group(1).decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ")
        uses = list(_HAS_ASM.finditer(body))
        if len(uses) == 1:
            return body[uses[0].start() :]
        if uses or not depth:
            return None
        for inner in re.findall(r"[A-Za-z_]\w*", body):
            deeper = _definition(node, inner, depth - 1) if inner != name else None
            if deeper is not None:
                return deeper
        return None
    return None


def arguments_of(text: str) -> list[str]:
    """Operands split at commas outside of brackets and braces."""
    parts: list[str] = []
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
