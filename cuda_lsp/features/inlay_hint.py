"""`textDocument/inlayHint`: what the host code says of a kernel's parameters, beside each of them. Off by default.

A fact that holds at every launch is shown as it is; of what is passed the launches may say different things, which are
shown as alternatives. What else only some launches say stands in the tooltip.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.model import ParameterFact, SourceSpan
from cuda_lsp.client import Encoded
from cuda_lsp.features.diagnostics import place, range_json, sliced, where_in_words
from cuda_lsp.features.kernels import of_document

if TYPE_CHECKING:
    from cuda_lsp.session import Session
    from cuda_lsp.unit_view import ShownKernel

_MAXIMAL_ALTERNATIVES = 3
_MAXIMAL_LENGTH = 80
_SIGNS = ((">=", "≥"), ("<=", "≤"), (" != ", " ≠ "), (" == ", " = "))

Hint = dict[str, Any]


async def inlay_hints(session: Session, params: types.InlayHintParams) -> Encoded:
    """At once, with what is known: the client is asked to come again when there is more."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return Encoded("[]")
    hints = await _hints(session, document.path)
    session.hints.given(document.path, json.dumps(hints))
    first, last = params.range.start.line, params.range.end.line
    return Encoded(json.dumps([hint for hint in hints if first <= hint["position"]["line"] <= last]))


async def encoded(session: Session, path: str) -> str:
    """All hints of a file as a JSON array."""
    return json.dumps(await _hints(session, path))


async def _hints(session: Session, path: str) -> list[Hint]:
    if not session.settings_for_file(path).inlay_hints:
        return []
    stamp = (session.results, session.texts)
    known = session.memo.get(("hints", path))
    if known is not None and known[0] == stamp:
        return known[1]
    hints: list[Hint] = []
    async for _ in sliced(_collect(session, path, hints), whole=False):
        pass
    if stamp == (session.results, session.texts):
        session.memo["hints", path] = (stamp, hints)
    return hints


def _collect(session: Session, path: str, hints: list[Hint]) -> Iterator[None]:
    """Fill the list, a kernel at a time. Instances of a template share their declarations."""
    kernels: dict[SourceSpan, list[ShownKernel]] = {}
    for _, shown in of_document(session, path):
        if shown.result.extent.path == path and not shown.stale:
            kernels.setdefault(shown.result.extent, []).append(shown)
        yield
    for instances in kernels.values():
        for name, span in instances[0].result.parameters:
            hint = _hint(session, path, instances, name, span)
            if hint is not None:
                hints.append(hint)
        yield


def _hint(session: Session, path: str, instances: Sequence[ShownKernel], name: str, span: SourceSpan) -> Hint | None:
    launches = [
        (shown, [fact for fact in context.said if fact.parameter == name or fact.parameter.startswith(f"{name}.")])
        for shown in instances
        for context in shown.result.contexts
        if context.launch.source != "default"
    ]
    label = _label([facts for _, facts in launches])
    where = place(session, instances[0], span) if label else None
    if where is None:
        return None
    told = dict.fromkeys(
        f"{_with_signs(fact.text)}{_where(session, path, shown, fact)}" for shown, facts in launches for fact in facts
    )
    return {
        "position": range_json(where)["end"],
        "label": label,
        "tooltip": "The host code says:\n" + "\n".join(told),
        "paddingLeft": True,
    }


def _where(session: Session, path: str, shown: ShownKernel, fact: ParameterFact) -> str:
    return f" ({where_in_words(session, path, shown, fact.span)})" if fact.span is not None else ""


def _label(launches: Sequence[Sequence[ParameterFact]]) -> str:
    """What all launches say, and what each of them passes."""
    if not launches:
        return ""
    everywhere = [text for text in _texts(launches[0]) if all(text in _texts(facts) for facts in launches)]
    passed = [_passed(facts) for facts in launches]
    values = list(dict.fromkeys(value for value in passed if value is not None))
    parts = [text for text in everywhere if text not in values]
    if None not in passed and values:
        first, *others = values[:_MAXIMAL_ALTERNATIVES]
        name = first.partition(" = ")[0]
        shown = [first, *(other.removeprefix(f"{name} = ") for other in others)]
        if len(values) > _MAXIMAL_ALTERNATIVES:
            shown.append("…")
        parts.append(" or ".join(shown))
    label = ", ".join(map(_with_signs, parts))
    return label if len(label) <= _MAXIMAL_LENGTH else label[: _MAXIMAL_LENGTH - 1] + "…"


def _texts(facts: Sequence[ParameterFact]) -> list[str]:
    return list(dict.fromkeys(fact.text for fact in facts))


def _passed(facts: Sequence[ParameterFact]) -> str | None:
    """What a launch passes: `n = rows`."""
    return next((fact.text for fact in facts if fact.text.startswith(f"{fact.parameter} = ")), None)


def _with_signs(text: str) -> str:
    for written, sign in _SIGNS:
        text = text.replace(written, sign)
    return text
