"""What the tests of the host guide share: text in, contexts out, expressions as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.ir.context import LaunchContext
from analyzers.ir.expr import BDIM, GDIM, Expr, make, show

_parser = UnitParser(capacity=1)


_EITHER_WAY = frozenset({"eq", "ne", "add", "mul", "and", "or", "xor", "min", "max"})


def text_of(e: Expr) -> str:
    """``show`` with the operands of commutative operators in an order that does not depend on what ran before."""
    if e.op in _EITHER_WAY:
        a, b = sorted(e.args, key=lambda x: (x.op == "const", text_of(x)))
    elif e.args:
        return _with_parts(e, tuple(text_of(x) for x in e.args))
    else:
        return show(e)
    return _with_parts(e, (text_of(a), text_of(b)))


def _with_parts(e: Expr, parts: tuple[str, ...]) -> str:
    """The node's own notation around texts of its operands."""
    marks = tuple(make("sym", x.ty, (), f"<{i}>") for i, x in enumerate(e.args))
    text = show(make(e.op, e.ty, marks, e.value))
    for i, part in enumerate(parts):
        text = text.replace(f"<{i}>", part, 1) if f"<{i}>" in text else text
    return text


def guide(text: str, path: str = "/case/host.cu", probes: Sequence[str] = ()) -> HostFacts:
    return launch_contexts(_parser.parse(path, textwrap.dedent(text), CompileFlags(), probes=probes))


def only(text: str) -> LaunchContext:
    """The one context of the one kernel."""
    facts = guide(text)
    assert not facts.skipped, facts.skipped
    ((context,),) = facts.contexts.values()
    return context


def bound(context: LaunchContext, name: str) -> str:
    """The value of a kernel symbol as text."""
    (value,) = (v for s, v in context.bindings if s.value == name)
    return text_of(value)


def dims(context: LaunchContext) -> tuple[str, ...]:
    return tuple(bound(context, str(s.value)) for s in (*GDIM, *BDIM))


def conditions(context: LaunchContext, kind: str | None = None) -> list[str]:
    """The facts as text, without "or" implications from joined paths unless they matter."""
    return [text_of(c.condition) for c in context.constraints if kind is None or c.note.kind == kind]
