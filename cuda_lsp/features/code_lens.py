"""`textDocument/codeLens`: the verdict over each kernel and each launch, with commands to see it and to run it.

The list comes from kept results and is encoded in slices. A lens names a command of the client only where the client
has declared that command; other clients get one of the server that tells the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.model import ContextResult, SourceSpan
from cuda_lsp.client import Encoded
from cuda_lsp.features import execute_command, run_kernel
from cuda_lsp.features.diagnostics import place, range_json, sliced
from cuda_lsp.features.kernels import ExactNames, Judged, base_name, edited_since, of_document, summary

if TYPE_CHECKING:
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel, UnitView

SHOW_RACES = "cuda-lsp.showRaces"
RUN = "cuda-lsp.run"
"""Commands of clients, with a URI and the name of a kernel as arguments; where several kernels have the name, the
linker's, and the name to show as a third."""


async def code_lenses(session: Session, params: types.CodeLensParams) -> Encoded:
    """At once, with what is known: the client is asked to come again when there is more."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return Encoded("[]")
    text = await encoded(session, document.path)
    session.lenses.given(document.path, text)
    return Encoded(text)


async def encoded(session: Session, path: str) -> str:
    """The lenses of a file as a JSON array."""
    if not session.settings_for_file(path).code_lens:
        return "[]"
    stamp = (session.results, session.texts)
    known = session.memo.get(("lenses", path))
    if known is not None and known[0] == stamp:
        return known[1]
    lenses: list[dict[str, Any]] = []
    async for _ in sliced(_collect(session, path, lenses), whole=False):
        pass
    lenses.sort(key=lambda lens: (lens["range"]["start"]["line"], lens["range"]["start"]["character"]))
    text = json.dumps(lenses, separators=(",", ":"))
    if stamp == (session.results, session.texts):
        session.memo["lenses", path] = (stamp, text)
    return text


def _collect(session: Session, path: str, lenses: list[dict[str, Any]]) -> Iterator[None]:
    """Fill the list, a kernel at a time. Instances of a template share their lenses."""
    kernels: dict[SourceSpan, list[tuple[UnitView, ShownKernel]]] = {}
    launches: dict[tuple[SourceSpan, str], list[tuple[UnitView, Judged]]] = {}
    for view, shown in of_document(session, path):
        result = shown.result
        if result.span.path == path:
            kernels.setdefault(result.span, []).append((view, shown))
        by_launch: dict[SourceSpan, list[ContextResult]] = {}
        for context in result.contexts:
            span = context.launch.span
            if span is not None and span.path == path and context.launch.source == "launch":
                by_launch.setdefault(span, []).append(context)
        for span, contexts in by_launch.items():
            launches.setdefault((span, base_name(result.name)), []).append((view, (shown, contexts)))
        yield
    names = ExactNames()
    for span, found in kernels.items():
        places = [(view, (shown, shown.result.contexts)) for view, shown in found]
        lenses.extend(_lenses(session, path, span, places, "", names))
        yield
    for (span, name), places in launches.items():
        lenses.extend(_lenses(session, path, span, places, f"{name}: ", names))
        yield


def _lenses(
    session: Session,
    path: str,
    span: SourceSpan,
    places: Sequence[tuple[UnitView, Judged]],
    prefix: str,
    names: ExactNames,
) -> Iterator[dict[str, Any]]:
    judged = [each for _, each in places]
    first = judged[0][0]
    where = place(session, first, span)
    if where is None:
        return
    title = prefix + summary(judged, session.settings_for_file(path).severity_of, session.muting.muted)
    if any(shown.stale for shown, _ in judged):
        title += " (of an earlier text)"
    elif any(edited_since(shown) for shown, _ in judged):
        title += " (before your edits)"
    commands = session.client.features.commands
    uri = session.documents.uri_of(first.result.extent.path)
    at = range_json(where)
    name = first.result.name if len(judged) == 1 else base_name(first.result.name)
    exact = [names.of(view, shown) for view, (shown, _) in places]
    shown_as = exact[0] if len(exact) == 1 else name
    if SHOW_RACES in commands:
        yield {"range": at, "command": _command(title, SHOW_RACES, uri, shown_as, name)}
    else:
        yield {"range": at, "command": _command(title, execute_command.TELL, uri, shown_as)}
    # Of several instances the one that it is worth to run.
    worst = min(range(len(judged)), key=lambda i: min((c.verdict.rank for c in judged[i][1]), default=0))
    view, (instance, _) = places[worst]
    if RUN in commands:
        # The unit: a header alone may not compile.
        unit = session.documents.uri_of(view.path)
        yield {"range": at, "command": _command("run", RUN, unit, exact[worst], instance.result.name)}
    elif session.settings_for_file(path).trusted and instance.result.extent.path == path:
        # In its own document, which is open. The linker's name: others may have the same in the language.
        yield {"range": at, "command": _command("run", run_kernel.RUN_KERNEL, uri, instance.mangled)}


def _command(title: str, command: str, uri: str, kernel: str, name: str | None = None) -> dict[str, Any]:
    """`name`: to be shown instead of the kernel's."""
    more = [name] if name is not None and name != kernel else []
    return {"title": title, "command": command, "arguments": [uri, kernel, *more]}
