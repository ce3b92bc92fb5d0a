"""What the tests of the host guide share: text in, contexts out, expressions as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.launches import HostFacts, launch_contexts
from analyzers.ir.context import LaunchContext
from analyzers.ir.expr import BDIM, GDIM, show

_parser = UnitParser(capacity=1)


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
    return show(value)


def dims(context: LaunchContext) -> tuple[str, ...]:
    return tuple(bound(context, str(s.value)) for s in (*GDIM, *BDIM))


def conditions(context: LaunchContext, kind: str | None = None) -> list[str]:
    """The facts as text, without "or" implications from joined paths unless they matter."""
    return [show(c.condition) for c in context.constraints if kind is None or c.note.kind == kind]
