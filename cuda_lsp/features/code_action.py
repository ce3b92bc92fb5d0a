"""`textDocument/codeAction` and `codeAction/resolve`: the verified repairs at a place, as edits of the checked text.

The list comes from what the worker has verified ahead; a repair is offered only while its text is the one that was
checked. Clients that resolve get the edit in a second request; a document that changed in between gets an error. What
is still being looked for when the list has to be there is one entry, of which the edit is verified when it is chosen.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from analyzers.model import Fix, SourceSpan, TextEdit, Verdict
from cuda_lsp import wire
from cuda_lsp.cache import UNSURE, file_digest
from cuda_lsp.checking import read_text
from cuda_lsp.documents import text_digest
from cuda_lsp.features import execute_command, ignore_comment, run_kernel
from cuda_lsp.features.diagnostics import mistakes, place
from cuda_lsp.mistakes import Mistake
from cuda_lsp.positions import LineIndex
from cuda_lsp.scheduler import Job, JobKind, Outcome
from cuda_lsp.unit_view import UnitView

if TYPE_CHECKING:
    from cuda_lsp.documents import Document
    from cuda_lsp.session import Session

FIX_ALL = "source.fixAll.cuda-lsp"
RECHECK = "source.recheck.cuda-lsp"
KINDS = (types.CodeActionKind.QuickFix.value, types.CodeActionKind.RefactorRewrite.value, FIX_ALL, RECHECK)

_REQUEST_FAILED = -32803
_PATIENCE_S = 1.0
"""For a check that is about to end, and for repairs, where a client takes the edits with the list."""
_PATIENCE_OF_RESOLVING_S = 0.03
"""The same where it does not."""
_PATIENCE_FOR_CHOSEN_S = 60.0
_PATIENCE_FOR_ALL_S = 10.0

_REPAIRED = frozenset(
    {Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE, Verdict.BARRIER_DIVERGENCE, Verdict.REDUNDANT_BARRIER}
)


def refused(text: str) -> JsonRpcException:
    """An answer that tells the user why there is no edit."""
    return JsonRpcException(text, code=_REQUEST_FAILED)


async def code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The repairs whose diagnostics touch the range. When the user asks right after a save, wait a little for them."""
    document = session.documents.get(params.text_document.uri)
    if document is None or not session.client.features.code_action_literals:
        return []
    wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    encoding = session.client.features.encoding
    session.attention = (document.path, document.index.byte_offset(params.range.start, encoding))
    if params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic:
        await _hurry(session, document, params.range)
    actions: list[types.CodeAction] = []
    if not wanted or any(_is_kind(types.CodeActionKind.QuickFix.value, kind) for kind in wanted):
        actions.extend(await _quick_fixes(session, document, params))
        actions.extend(_confirmations(session, document.path, params))
        actions.extend(ignore_comment.removals(session, document, params.range, params.context.diagnostics))
    if not wanted or any(_is_kind(ignore_comment.KIND, kind) for kind in wanted):
        actions.extend(_ignoring(session, document, params))
    if not wanted or any(_is_kind(types.CodeActionKind.RefactorRewrite.value, kind) for kind in wanted):
        actions.extend(await _hints(session, document.path, params))
    if any(_is_kind(FIX_ALL, kind) for kind in wanted):
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_checked_now(session, document), _PATIENCE_FOR_ALL_S)
        everything = await _fix_all(session, document.uri, document.path)
        actions.extend([everything] if everything is not None else [])
    if any(_is_kind(RECHECK, kind) for kind in wanted):
        actions.append(execute_command.action(document.uri))
    return actions


async def _hurry(session: Session, document: Document, wanted: types.Range) -> None:
    """The user asks: wait for a check that is about to end, and while the repairs of the unit are still being looked
    for, have those at the place verified first."""
    patience = _PATIENCE_OF_RESOLVING_S if session.client.features.resolves_edits else _PATIENCE_S
    there = asyncio.Event()
    session.spawn(_verified_first(session, document.uri, document.path, wanted, there))
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(there.wait(), patience)


async def _verified_first(session: Session, uri: str, path: str, wanted: types.Range, there: asyncio.Event) -> None:
    """Have the repairs at a place verified, and say when they are `there`. It goes on when nobody waits any more: who
    asks again finds them, or waits for the same answers."""
    try:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(session.checks.settled(uri), _PATIENCE_S)
        unit = session.unit_of(uri)
        view = session.views.get(unit) if unit is not None else None
        if view is None or not view.is_current or not session.checks.offers_are_pending(view.path):
            return
        snapshot = view.snapshot
        for mistake in mistakes(session, path):
            if mistake.group not in view.answered and _touches(session, mistake, wanted):
                await _verified(session, view, mistake.group)
            if view.snapshot is not snapshot:
                return
    finally:
        there.set()


async def _verified(session: Session, view: UnitView, group: str) -> Fix | str:
    """The verified repair of a group, or why there is none. Who asks while somebody else does waits for that answer."""
    while (asked := view.asked_for.get(group)) is not None:
        await asyncio.wait({asked})
        if not asked.cancelled():
            return asked.result()
    snapshot = view.snapshot
    asked = view.asked_for[group] = asyncio.get_running_loop().create_future()
    try:
        found = await _computed(session, view, group)
        asked.set_result(found)
    finally:
        if not asked.done():
            asked.cancel()  # who waits asks for itself
        if view.asked_for.get(group) is asked:
            del view.asked_for[group]
    if view.snapshot is snapshot:
        view.answered.add(group)
        if isinstance(found, Fix):
            view.add_fix(found)
    return found


def _is_pending(session: Session, uri: str, view: UnitView, group: str) -> bool:
    """Whether it is not known yet if there is a repair for a group."""
    if session.checks.is_busy(uri):
        return True
    return view.is_current and session.checks.offers_are_pending(view.path) and group not in view.answered


async def _checked_now(session: Session, document: Document) -> None:
    """Have a document checked as it is, saved or not, and its repairs found: an editor that fixes on saving asks before
    it saves."""
    unit = session.unit_of(document.uri)
    view = session.views.get(unit) if unit is not None else None
    if view is None or not view.is_current:
        session.checks.check([document])
    await session.checks.settled(document.uri)
    await session.checks.offered(document.uri)


def _is_kind(kind: str, wanted: str) -> bool:
    return not wanted or kind == wanted or kind.startswith(wanted + ".")


async def _quick_fixes(session: Session, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    features, path = session.client.features, document.path
    here = {mistake.group: mistake for mistake in mistakes(session, path) if _touches(session, mistake, params.range)}
    actions: list[types.CodeAction] = []
    offered: set[tuple[str, tuple[TextEdit, ...]]] = set()
    preferred = _preferred(session, path, here)
    repaired: set[str] = set()
    for view in tuple(session.views.values()):
        if not view.is_current:
            continue
        for fix in tuple(view.fixes):
            cured = [here[group] for group in fix.groups if group in here and view.finds(group, path)]
            repaired.update(mistake.group for mistake in cured)
            if not cured or (fix.title, fix.edits) in offered:
                continue
            # Files that include one header have the same repairs for it.
            offered.add((fix.title, fix.edits))
            if await _is_outdated(session, view, fix):
                continue
            action = types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=list(_linked(session, cured, params.context.diagnostics)),
                is_preferred=fix in preferred if features.preferred_actions else None,
                data=_data(params.text_document.uri, view, fix),
            )
            if not features.resolves_edits:
                action.edit, action.data = await workspace_edit(session, view, fix.edits), None
            actions.append(action)
        needless = _needless(session, view)
        cured = [here[group] for group in needless if group in here and view.finds(group, path)]
        if cured and len(needless) > 1 and (without := await _without(session, view, params, needless)) is not None:
            without.diagnostics = list(_linked(session, cured, params.context.diagnostics))
            actions.append(without)
    left = [m for m in here.values() if m.group not in repaired and (not actions or _begins(session, m, params.range))]
    if features.resolves_edits:
        actions.extend(_being_looked_for(session, params, document, left))
    return [*actions, *_explanations(session, left, params.context.diagnostics)]


def _being_looked_for(
    session: Session, params: types.CodeActionParams, document: Document, left: Iterable[Mistake]
) -> Iterator[types.CodeAction]:
    """For each mistake of which it is not known yet whether there is a repair, an action that has it verified when it
    is chosen."""
    for mistake in left:
        view = next((v for v in session.views.values() if v.finds(mistake.group, document.path)), None)
        if mistake.code not in _REPAIRED or view is None:
            continue
        if not _is_pending(session, document.uri, view, mistake.group):
            continue
        texts = [f"`{a.text}`" for a in mistake.first.finding.accesses[:2] if a.text]
        what = " and ".join(dict.fromkeys(texts)) or "the barrier"
        yield types.CodeAction(
            title=f"Find the proved repair for {what} and apply it",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=list(_linked(session, [mistake], params.context.diagnostics)),
            is_preferred=True if session.client.features.preferred_actions else None,
            data={"uri": document.uri, "pending": True, "text": document.digest, "group": mistake.group},
        )


def _preferred(session: Session, path: str, here: Container[str]) -> list[Fix]:
    """The repairs to take without a choice, so that each of these groups of findings has one: the first of those that
    no other one makes needless by removing all of their findings here and more."""
    candidates = [
        (fix, frozenset(group for group in fix.groups if group in here and view.finds(group, path)))
        for view in session.views.values()
        for fix in (view.fixes if view.is_current else ())
        if fix.applies_unasked
    ]
    chosen: list[Fix] = []
    covered: set[str] = set()
    for fix, cured in candidates:
        if not covered.issuperset(cured) and not any(cured < more for _, more in candidates):
            chosen.append(fix)
            covered |= cured
    return chosen


def _needless(session: Session, view: UnitView) -> tuple[str, ...]:
    """The barriers of a unit that order nothing, and that may go as proved."""
    gone = {g for fix in view.fixes if fix.kind == "remove-barrier" and fix.applies_unasked for g in fix.groups}
    return tuple(group for group in _groups_shown(session, view, needless=True) if group in gone)


async def _without(
    session: Session, view: UnitView, params: types.CodeActionParams, groups: Sequence[str]
) -> types.CodeAction | None:
    """All of these barriers removed at once. That they go together is proved when the action is chosen."""
    features = session.client.features
    action = types.CodeAction(
        title=f"Remove all {len(groups)} barriers that order nothing",
        kind=types.CodeActionKind.QuickFix,
        is_preferred=False if features.preferred_actions else None,
        data={**_data(params.text_document.uri, view, None), "needless": groups},
    )
    if not features.resolves_edits:
        found = await _computed(session, view, None, groups)
        if isinstance(found, str) or await _is_outdated(session, view):
            return None
        action.edit, action.data = await workspace_edit(session, view, found.edits), None
    return action


async def _hints(session: Session, path: str, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Edits about no finding, at what they are about."""
    features = session.client.features
    actions: list[types.CodeAction] = []
    for view in tuple(session.views.values()):
        index = session.index_of(path) if view.is_current else None
        for fix in tuple(view.fixes) if index is not None else ():
            if fix.at is None or index is None:
                continue
            spans = (span for span in (fix.at, *fix.heads) if span.path == path)
            places = [index.range(span.start_offset, span.end_offset, features.encoding) for span in spans]
            if not any(_meet(at, params.range) for at in places):
                continue
            if await _is_outdated(session, view):
                continue
            kind = types.CodeActionKind.RefactorRewrite
            action = types.CodeAction(title=fix.title, kind=kind, data=_data(params.text_document.uri, view, fix))
            if not features.resolves_edits:
                action.edit, action.data = await workspace_edit(session, view, fix.edits), None
            actions.append(action)
    return actions


def _explanations(
    session: Session, here: Iterable[Mistake], given: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    """Where there is no repair, an action for each reason that is known."""
    actions: dict[str, types.CodeAction] = {}
    for mistake in here:
        path = mistake.first.finding.span.path
        for view in session.views.values():
            if view.refuses(mistake.group, path) and view.refusals[mistake.group] not in actions:
                action = execute_command.explanation(view.refusals[mistake.group])
                action.diagnostics = list(_linked(session, [mistake], given))
                actions[view.refusals[mistake.group]] = action
    return list(actions.values())


def _confirmations(session: Session, path: str, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """A run for each finding here that has a witness, where kernels may be run."""
    settings = session.settings_for_file(path)
    if not settings.trusted:
        return
    for mistake in mistakes(session, path):
        first = mistake.first
        if first.finding.witness is None or first.finding.code is Verdict.BARRIER_AFTER_EXIT:
            continue
        if first.shown.stale or not _touches(session, mistake, params.range):
            continue
        command = run_kernel.confirm(params.text_document.uri, first.shown.mangled, mistake.group, settings.run_on)
        yield types.CodeAction(
            title=command.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=list(_linked(session, [mistake], params.context.diagnostics)),
            command=command,
        )


def _ignoring(session: Session, document: Document, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    here = [mistake for mistake in mistakes(session, document.path) if _touches(session, mistake, params.range)]
    given = [list(_linked(session, [mistake], params.context.diagnostics)) for mistake in here]
    return ignore_comment.actions(session, document, zip(here, given, strict=True), params.range)


async def _fix_all(session: Session, uri: str, path: str) -> types.CodeAction | None:
    """Everything that can be repaired in the document's unit, when that is anything here."""
    unit = session.unit_of(uri)
    view = session.views.get(unit) if unit is not None else None
    if view is None or not view.is_current:
        return None
    shown = frozenset(_groups_shown(session, view))
    fixes = (fix for fix in view.fixes if fix.applies_unasked and not shown.isdisjoint(fix.groups))
    if not any(edit.span.path == path for fix in fixes for edit in fix.edits):
        return None
    action = types.CodeAction(title="Apply all proved fixes", kind=FIX_ALL, data=_data(uri, view, None))
    if not session.client.features.resolves_edits:
        found = await _computed(session, view, None)
        if isinstance(found, str) or await _is_outdated(session, view):
            return None
        action.edit, action.data = await workspace_edit(session, view, found.edits), None
    return action


def _groups_shown(session: Session, view: UnitView, *, needless: bool = False) -> tuple[str, ...]:
    """The groups of a unit's findings that the user sees, of mistakes or of barriers that order nothing: what is
    suppressed is not to be repaired. A barrier may have been written for what is to come: those go when asked for."""
    here = {finding.group for kernel in view.kernels.values() for _, finding in kernel.findings}
    shown = (m for path in sorted(view.files_with_findings) for m in mistakes(session, path))
    own = (m for m in shown if (m.code is Verdict.REDUNDANT_BARRIER) == needless)
    return tuple(dict.fromkeys(m.group for m in own if m.group in here))


def _touches(session: Session, mistake: Mistake, wanted: types.Range) -> bool:
    """Whether any access of a mistake touches a range."""
    finding = mistake.first.finding
    return _any_touches(session, mistake, (finding.span, *(access.span for access in finding.accesses)), wanted)


def _begins(session: Session, mistake: Mistake, wanted: types.Range) -> bool:
    """Whether the squiggle of a mistake touches a range."""
    return _any_touches(session, mistake, (mistake.first.finding.span,), wanted)


def _any_touches(session: Session, mistake: Mistake, spans: Iterable[SourceSpan], wanted: types.Range) -> bool:
    for span in spans:
        if span.path != mistake.first.finding.span.path:
            continue
        at = place(session, mistake.first.shown, span)
        if at is not None and _meet(at, wanted):
            return True
    return False


def _meet(one: types.Range, other: types.Range) -> bool:
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _linked(
    session: Session, cured: Sequence[Mistake], given: Sequence[types.Diagnostic]
) -> Iterator[types.Diagnostic]:
    """Those of the client's diagnostics that a repair removes."""
    groups = {mistake.group for mistake in cured}
    ranges = {
        (mistake.code.value, _key(at.start))
        for mistake in cured
        if (at := place(session, mistake.first.shown, mistake.first.finding.span)) is not None
    }
    for diagnostic in given:
        data = diagnostic.data
        group = cast("Mapping[str, Any]", data).get("group") if isinstance(data, Mapping) else None
        if group in groups or (group is None and (diagnostic.code, _key(diagnostic.range.start)) in ranges):
            yield diagnostic


# Resolving


def _data(uri: str, view: UnitView, fix: Fix | None) -> dict[str, Any]:
    """What `resolve` needs; no fix stands for all."""
    return {
        "uri": uri,
        "unit": view.path,
        "digest": view.snapshot.digest if view.snapshot is not None else "",
        "fix": _name(fix) if fix is not None else None,
        "group": fix.groups[0] if fix is not None and fix.groups else None,
    }


def _name(fix: Fix) -> str:
    return hashlib.sha256(repr((fix.title, fix.groups, fix.edits)).encode()).hexdigest()[:16]


async def resolve(session: Session, action: types.CodeAction) -> types.CodeAction:
    """The action with its edit. Raises an error, which the user also sees, when the text is not the checked one."""
    data: Any = action.data
    if not isinstance(data, Mapping):
        return action
    wish = cast("Mapping[str, Any]", data)
    if wish.get("pending"):
        return await _resolve_pending(session, action, wish)
    view = session.views.get(str(wish.get("unit")))
    if view is None or not view.is_current or view.snapshot is None or view.snapshot.digest != wish.get("digest"):
        raise _told(session, "The document has changed since this fix was proved; save it to get a new one.")
    if (changed := await _changed_on_disk(session, view)) is not None:
        raise _told(session, f"{changed} has changed since this fix was proved; save to check again.")
    name, group = wish.get("fix"), wish.get("group")
    offered = next((fix for fix in view.fixes if _name(fix) == name), None)
    found: Fix | str | None = offered
    if found is None and name is not None and group is None:
        raise _told(session, "This is not known any more; save the document to have it looked for again.")
    needless = wish.get("needless")
    if found is None and isinstance(needless, list | tuple):
        found = await _computed(session, view, None, tuple(map(str, cast("Sequence[Any]", needless))))
    if offered is not None and offered.beyond:
        found = await _still_right(session, view, offered)
    found = found or await _computed(session, view, str(group) if group is not None else None)
    if isinstance(found, str):
        raise _told(session, f"{found}{_in_doubt(session, view)}")
    if not view.is_current:
        raise _told(session, "The document has changed while the fix was proved; save it to get a new one.")
    action.edit = await workspace_edit(session, view, found.edits)
    return action


async def _resolve_pending(session: Session, action: types.CodeAction, wish: Mapping[str, Any]) -> types.CodeAction:
    """The action with the edit that takes nothing for granted, once it is found for the text that the user saw."""
    uri, group = str(wish.get("uri")), str(wish.get("group"))
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(session.checks.settled(uri), _PATIENCE_FOR_CHOSEN_S)
    document, unit = session.documents.get(uri), session.unit_of(uri)
    view = session.views.get(unit) if unit is not None else None
    if document is None or document.digest != wish.get("text") or view is None or not view.is_current:
        raise _told(session, "The document has changed since the list was made; save it to get a new one.")
    snapshot = view.snapshot
    fitting = (fix for fix in view.fixes if fix.applies_unasked and group in fix.groups)
    found: Fix | str = next(fitting, None) or await _verified(session, view, group)
    if isinstance(found, str):
        raise _told(session, f"{found}{_in_doubt(session, view)}")
    if not view.is_current or view.snapshot is not snapshot:
        raise _told(session, "The document has changed while the fix was proved; save it to get a new one.")
    if not found.applies_unasked:
        raise _told(session, f"There is a choice to make: {found.title}. Ask for the code actions again to make it.")
    action.data = _data(uri, view, found)
    return await resolve(session, action)


def _told(session: Session, text: str) -> JsonRpcException:
    session.client.show(types.MessageType.Error, f"cuda-lsp: {text}")
    return refused(text)


async def _computed(
    session: Session, view: UnitView, group: str | None, needless: Sequence[str] | None = None
) -> Fix | str:
    """Have the repair for a group verified now, or that for all mistakes that are shown, or for these barriers that
    order nothing; why there is none, where there is none."""
    groups = _groups_shown(session, view) if group is None else ()
    if needless is not None:
        groups = tuple(g for g in _groups_shown(session, view, needless=True) if g in needless)
    if group is None and view.combined is not None and view.combined[0] == groups:
        return view.combined[1]
    snapshot = view.snapshot
    found = await _asked(session, view, {"group": group, "groups": groups})
    if group is None and isinstance(found, Fix) and not found.beyond and view.snapshot is snapshot:
        view.combined = groups, found
    return found


async def _still_right(session: Session, view: UnitView, fix: Fix) -> Fix | str:
    """A repair that other units were looked at for, as these are now; why not, where it would not be right."""
    found = await _asked(session, view, {"group": None, "groups": (), "again": wire.dump(fix)})
    if isinstance(found, Fix) and found.assumes and fix.applies_unasked:
        return f"Other units have changed since this fix was proved. {' '.join(found.assumes)}"
    return fix if isinstance(found, Fix) else found


async def _asked(session: Session, view: UnitView, wish: Mapping[str, Any]) -> Fix | str:
    """What a worker answers about the repairs of a checked unit. Of other units it sees the texts that are open now."""
    snapshot, request = view.snapshot, view.frame
    if snapshot is None or request is None:
        return "The document has to be checked first."
    own = {path: text for path, text in snapshot.texts.items() if path in view.dependencies or path == view.path}
    texts = {**session.checks.texts(), **own}
    unsaved = {path: digest for path, (digest, _) in texts.items() if path != view.path}
    answer: asyncio.Future[Fix | str] = asyncio.get_running_loop().create_future()

    def settle(value: Fix | str) -> None:
        if not answer.done():
            answer.set_result(value)

    def on_frame(frame: Mapping[str, Any]) -> None:
        settle(wire.load(Fix, frame["fix"]) if "fix" in frame else str(frame["refusal"]))

    def on_done(outcome: Outcome, error: str) -> None:
        settle(f"The fix could not be proved: {error or outcome.value}.")

    job = Job(JobKind.FIX, view.path, {**request, **wish, "unsaved": unsaved}, texts, on_frame, on_done)
    session.scheduler.submit(job)
    try:
        return await answer
    except asyncio.CancelledError:
        session.scheduler.cancel(job)
        raise


async def workspace_edit(session: Session, view: UnitView, edits: Iterable[TextEdit]) -> types.WorkspaceEdit:
    """Edits of a checked text as the client takes them: versioned where it can, so that it refuses stale ones."""
    by_path: dict[str, dict[TextEdit, None]] = {}
    for edit in edits:
        by_path.setdefault(edit.span.path, {})[edit] = None
    encoding = session.client.features.encoding
    changes: dict[str, list[types.TextEdit]] = {}
    versions: dict[str, int | None] = {}
    for path, wanted in by_path.items():
        document = session.documents.at(path)
        index = document.index if document is not None else await _index_on_disk(session, view, path)
        uri = session.documents.uri_of(path)
        versions[uri] = document.version if document is not None else None
        changes[uri] = [
            types.TextEdit(
                range=index.range(edit.span.start_offset, edit.span.end_offset, encoding),
                new_text=_with_line_ends_of(index, edit.new_text),
            )
            for edit in sorted(wanted, key=lambda each: (each.span.start_offset, each.span.end_offset))
        ]
    if not session.client.features.versioned_edits:
        return types.WorkspaceEdit(changes=changes)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                text_document=types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=versions[uri]),
                edits=list(edits_of),
            )
            for uri, edits_of in changes.items()
        ]
    )


async def _is_outdated(session: Session, view: UnitView, fix: Fix | None = None) -> bool:
    """Whether an edit that goes out at once, to a client that does not ask for it later, would be of a unit of which a
    file changed unseen, or wrong in other units as they are now."""
    if session.client.features.resolves_edits:
        return False
    if await _changed_on_disk(session, view) is not None:
        return True
    return fix is not None and fix.beyond and isinstance(await _still_right(session, view, fix), str)


async def _changed_on_disk(session: Session, view: UnitView) -> str | None:
    """A file that is not open and is another one now than the unit was checked with."""
    closed = _closed(session, view)

    def changed() -> str | None:
        return next((path for path, digest in closed.items() if digest and file_digest(path) != digest), None)

    return await asyncio.to_thread(changed)


def _in_doubt(session: Session, view: UnitView) -> str:
    """What to add to a refusal where a file changed while it was read for the check, or just before."""
    path = next((path for path, digest in _closed(session, view).items() if digest == UNSURE), None)
    return "" if path is None else f" {path} may have changed since the check; save to check again."


def _closed(session: Session, view: UnitView) -> dict[str, str | None]:
    return {path: digest for path, digest in view.dependencies.items() if session.documents.at(path) is None}


async def _index_on_disk(session: Session, view: UnitView, path: str) -> LineIndex:
    """The lines of a file that is not open, if it still is what was checked."""
    text = await asyncio.to_thread(read_text, path)
    expected = view.dependencies.get(path)
    if text is None or (expected is not None and text_digest(text) != expected):
        raise _told(session, f"{path} has changed since this fix was proved; save to check again.")
    return LineIndex(text)


def _with_line_ends_of(index: LineIndex, text: str) -> str:
    """New lines end like those of the document."""
    return text if index.line_end == "\n" else text.replace("\r\n", "\n").replace("\n", index.line_end)
