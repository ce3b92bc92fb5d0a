"""Updates of shared cells that a macro writes, made atomic: in its definition if that is right for all its uses, else
where the macro is used.

Takes a session and a group of races of which each is between accesses of such uses. The uses are written out in a text
of their own, in which the updates are found as anywhere else; what makes them atomic there is then brought back to the
definition, where all uses have to agree about it, or takes the place of the uses that race.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import WORD, blanked, group_end, macro_use_end, without_comments
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.update_kinds import AnyUpdate, Claim
from analyzers.model import Access, Finding, Fix, FixRefusal
from quickfix.atomic_calls import atomic_call, function_of
from quickfix.atomics import Done, gone_on, not_atomic
from quickfix.callers import changes_of
from quickfix.edits import Change, Layout, OffsetMap
from quickfix.macro_definitions import macros_named
from quickfix.macro_expansion import Expansion, expanded, uses_in_code
from quickfix.macro_places import Macro
from quickfix.naming import NotPossible, definitions, line_of
from quickfix.paths import on_host
from quickfix.search import sentence
from quickfix.session import Session
from quickfix.verify import RACES, findings_of, new_error

_MOST_USES: Final = 32
"""Of one macro that are written out."""
_CALLED: Final = re.compile(rb"[\w)\]>]\Z")
"""In front of a bracket: it is a call's, or the head of a statement."""
_ONCE: Final = re.compile(rb"do\s*\{\s*([^{};]*)\s*;\s*\}\s*while\s*\(\s*(?:0|false)\s*\)")


class _NoUpdateError(NotPossible):
    """A use is none."""


@dataclass(frozen=True, slots=True)
class _Written:
    """One use, written out, and the update that it is or holds."""

    expansion: Expansion
    at: int
    """Where what it stands for begins in the text in which all uses are written out."""
    update: AnyUpdate
    whole: tuple[int, int]
    """Of the update in that text, without a semicolon that is behind the use."""
    change: Change
    """What makes it atomic there, when all that it is to be is in the use."""
    shared: Change | None
    """The same as the definition says it; None where the definition cannot."""


def update_in_macro(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """None where the races are not those of updates that one macro writes. Raises `SearchSpentError`."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    path, text = session.request.path, session.texts[session.request.path]
    code = blanked(text)

    def use_of(access: Access) -> tuple[bytes, int]:
        return _use_around(session, code, access.span.start_offset) if access.span.path == path else (b"", -1)

    named = [{use_of(a)[0] for a in f.accesses} for f in races]
    inside = [(f, next(iter(names))) for f, names in zip(races, named, strict=True) if len(names) == 1]
    names = {name for _, name in inside} - {b""}
    if len(names) != 1:
        return None
    (name,) = names
    own = [f for f, each in inside if each == name]
    macros = macros_named(session, name)
    line = line_of(session.texts[macros[0].path], macros[0].start)
    try:
        if len(macros) > 1:
            raise NotPossible("has several definitions")
        session = session.reading([path])
        written = _written_out(session, macros[0], text)
        refusal: FixRefusal | None = None
        for begun in _begun(session, kernels, macros[0], written, _racing(kernels, own, lambda a: use_of(a)[1])):
            if isinstance(begun, _NoUpdateError):
                return None
            if isinstance(begun, NotPossible):
                refusal = refusal or FixRefusal(sentence(str(begun)))
                continue
            made = gone_on(session, kernels, group, begun.done)
            if isinstance(made, Fix) and begun.is_definition and not _is_right(session, made, group):
                made = FixRefusal("In other uses of the macro there would still be threads that collide.")
            if isinstance(made, Fix):
                return replace(made, notes=(*begun.notes, *made.notes))
            refusal = made
    except NotPossible as reason:
        return FixRefusal(f"Both accesses are written by the macro `{name.decode()}` (line {line}), which {reason}.")
    return refusal


def _use_around(session: Session, code: bytes, at: int) -> tuple[bytes, int]:
    """The outermost use of a macro that a place is in: the name, and where it begins; empty where there is none."""
    function = session.trees.at(session.request.path, at)
    known = {name for text in session.texts.values() for name, *_ in definitions(text)}
    for word in WORD.finditer(code, function.body.start if function is not None else at, at + 1):
        whole = WORD.match(code, word.start())
        if whole is not None and whole.group() in known and at < max(whole.end(), macro_use_end(code, word.start())):
            return whole.group(), word.start()
    return b"", at


def _racing(kernels: Sequence[KernelAnalysis], races: Sequence[Finding], use_at: Callable[[Access], int]) -> set[int]:
    """Where the uses are that race, and those that these race with in turn."""
    every = [f for a in kernels for f in findings_of(a.result) if f.code in RACES]
    pairs = [{use_at(a) for a in f.accesses} for f in every]
    found = {use_at(a) for f in races for a in f.accesses}
    while more := {at for pair in pairs if not found.isdisjoint(pair) for at in pair} - found:
        found |= more
    return found


# --- the updates of all uses ----------------------------------------------------------------------------------


def _written_out(session: Session, macro: Macro, text: bytes) -> list[_Written | NotPossible]:
    """All uses of the macro in the file of the unit, which is `text`; those that cannot be made atomic with the reason.
    Raises `NotPossible`."""
    path, defined_in = session.request.path, session.texts[macro.path]
    uses = uses_in_code(text, macro.name.encode())
    if len(uses) > _MOST_USES:
        raise NotPossible(f"has more than {_MOST_USES} uses")
    elsewhere = macro.path != path or _is_used_elsewhere(session, macro)
    expansions = [expanded(defined_in, macro, use) for use in uses]
    places, grown = list[int](), 0
    for each in expansions:
        places.append(each.use.start + grown)
        grown += len(each.text) - (each.use.end - each.use.start)
    drafted = session.draft({path: [Change(e.use.start, e.use.end, e.text) for e in expansions]})
    if new_error(session.result, drafted.analysis.result) is not None:
        raise NotPossible("cannot be written out where it is used")
    asked = [(path, at + i) for at, e in zip(places, expansions, strict=True) for i in range(len(e.text))]
    device = session.engine.still(drafted.analysis, session.stop).unit.device
    trees = function_trees(device, asked, session.instances)
    after = drafted.files[path].after
    updates = [u for f in trees.functions for u in f.updates]
    hosted = [f for f in trees.functions if f.on_host]
    found: list[_Written | NotPossible] = []
    for at, each in zip(places, expansions, strict=True):
        try:
            if (host := next((f for f in hosted if f.start <= at < f.end), None)) is not None:
                raise NotPossible(on_host(host.name))
            own = [u for u in updates if any(at <= p < at + len(each.text) for p in u.places)]
            one = _made_atomic(text, after, each, at, own)
            found.append(replace(one, shared=None) if elsewhere else one)
        except NotPossible as reason:
            found.append(reason)
    return found


def _is_used_elsewhere(session: Session, macro: Macro) -> bool:
    """Whether another macro or another file of the project names a macro: what comes of it there is not read."""
    name = re.compile(rb"\b" + re.escape(macro.name.encode()) + rb"\b")
    others = (text for path, text in session.texts.items() if path != macro.path)
    own = session.texts[macro.path]
    named = any(name.search(own, start, end) for _, start, end in definitions(own) if start != macro.start)
    return named or any(name.search(without_comments(text)) for text in others)


def _made_atomic(text: bytes, after: bytes, expansion: Expansion, at: int, updates: Sequence[AnyUpdate]) -> _Written:
    """The one update of a use. ``after``: the text in which the uses are written out. Raises `NotPossible`."""
    line = line_of(text, expansion.use.start)
    if not updates:
        raise _NoUpdateError(f"line {line} makes no update of the macro")
    update = updates[0] if len(updates) == 1 else None
    if update is None or (update.whole is None if isinstance(update, Claim) else update.write is not None):
        raise NotPossible(f"what line {line} makes of the macro is not one update")
    (change,) = atomic_call(update, Layout(after))
    change = _within(after, change, at + len(expansion.text))
    if not at <= change.start <= change.end <= at + len(expansion.text):
        raise NotPossible(f"the macro is part of an update in line {line}")
    if expansion.is_argument(update.cell.at[0] - at, update.cell.at[1] - at):
        # Whatever stands there in other uses: its address is taken.
        (shared,) = atomic_call(replace(update, cell=replace(update.cell, address=None)), Layout(after))
        shared = _within(after, shared, at + len(expansion.text))
    else:
        shared = change
    try:
        defined = expansion.in_definition(shared, at, text)
        if without_comments(text[defined.start : defined.end]) != text[defined.start : defined.end]:
            raise NotPossible("there is a comment in the update")
    except NotPossible:
        defined = None
    return _Written(expansion, at, update, (change.start, change.end), change, defined)


def _within(text: bytes, change: Change, end: int) -> Change:
    """The change without the semicolon behind the use."""
    if change.end > end and text[end : change.end].strip() == b";" and change.text.endswith(b";"):
        return replace(change, end=end, text=change.text[:-1])
    return change


# --- where they become atomic ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Begun:
    done: Done
    notes: tuple[str, ...] = ()
    is_definition: bool = False


def _begun(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    macro: Macro,
    written: Sequence[_Written | NotPossible],
    racing: set[int],
) -> Iterator[_Begun | NotPossible]:
    """The definition with the update made atomic, then the uses that race; with what is against it."""
    text = session.trees.texts[session.request.path]
    whole = [w for w in written if isinstance(w, _Written)]
    shared = whole[0].shared if len(whole) == len(written) else None
    if shared is not None and all(w.shared == shared for w in whole):
        found = _in_definition(session, kernels, macro, shared, whole)
        if found is not None:
            yield found
    uses = uses_in_code(text, macro.name.encode())
    own = [w for use, w in zip(uses, written, strict=True) if use.start in racing]
    if not own:
        return
    for each in own:
        if isinstance(each, NotPossible):
            yield each
            return
    yield _where_used(session, kernels, [w for w in own if isinstance(w, _Written)])


def _in_definition(
    session: Session,
    kernels: Sequence[KernelAnalysis],
    macro: Macro,
    change: Change,
    written: Sequence[_Written],
) -> _Begun | None:
    """None where some use would be no atomic operation on shared memory."""
    text, first = session.trees.texts[macro.path], written[0]
    head = re.match(rb"\([^()]*\)", text[macro.start : macro.end])
    begin = macro.start + (head.end() if head is not None else 0)
    low, high = change.start - begin, change.end - begin
    if _in_brackets(text[begin : macro.end], low, high, change):
        low, high = len(text[begin : change.start].rstrip()) - 1, text.index(b")", change.end) + 1 - begin
        change = replace(change, start=begin + low, end=begin + high)
    trial = session.trial({macro.path: [change]}, frozenset(), session.kernels_sharing_code(kernels))
    if new_error(session.result, trial.analysis.result) is not None:
        return None
    offsets = OffsetMap(trial.changes[macro.path])
    for each in written:
        start, use = offsets.new(each.expansion.use.start), each.expansion.use
        if start is None or not_atomic(
            trial, macro.path, Change(start, start, text[use.start : use.end]), each.update.cell
        ):
            return None
    shown = macro.name + (" ".join(head[0].decode().split()) if head is not None else "")
    line = line_of(text, macro.start)
    done = Done(trial, first.update, function_of(first.update), shown, line, macro.path)
    return _Begun(done, (f"All uses of {macro.name} are atomic.",), is_definition=True)


def _where_used(
    session: Session, kernels: Sequence[KernelAnalysis], written: Sequence[_Written]
) -> _Begun | NotPossible:
    path = session.request.path
    text, first = session.trees.texts[path], written[0]
    changes = [_instead(text, each) for each in written]
    trial = session.trial({path: changes}, frozenset(), session.kernels_sharing_code(kernels))
    if (error := new_error(session.result, trial.analysis.result)) is not None:
        return NotPossible(error)
    offsets = OffsetMap(trial.changes[path])
    for change, each in zip(changes, written, strict=True):
        function, line = function_of(each.update), line_of(text, change.start)
        # The place of the change itself is one that it wrote.
        before = offsets.new(change.start - 1)
        start = change.start if before is None else before + 1
        if reason := not_atomic(trial, path, replace(change, start=start), each.update.cell):
            return NotPossible(f"`{function}` in line {line} {reason}")
    use = first.expansion.use
    shown = text[use.start : use.end].decode(errors="replace")
    function = function_of(first.update)
    return _Begun(Done(trial, first.update, function, shown, line_of(text, use.start), path))


def _instead(text: bytes, written: _Written) -> Change:
    """What takes the place of a use: all that it stands for with the update made atomic, without brackets and braces
    that are not needed any more."""
    use, said = written.expansion.use, written.expansion.text
    low, high = (place - written.at for place in written.whole)
    while _in_brackets(said, low, high, written.change):
        low, high = len(said[:low].rstrip()) - 1, len(said) - len(said[high:].lstrip()) + 1
    new = said[:low] + written.change.text + said[high:]
    once = _ONCE.fullmatch(new.strip())
    if once is not None and text[use.end :].lstrip().startswith(b";"):
        new = once[1]
    return Change(use.start, use.end, new.strip())


def _in_brackets(code: bytes, low: int, high: int, change: Change) -> bool:
    """Whether what a change replaces is in brackets of its own that what it writes does not need: a call, or what is in
    brackets itself."""
    new = change.text
    tight = new.startswith(b"atomic") or (new.startswith(b"(") and group_end(new, 0) == len(new))
    before = code[:low].rstrip()
    own = before.endswith(b"(") and _CALLED.search(before[:-1].rstrip()) is None
    return own and code[high:].lstrip().startswith(b")") and tight


def _is_right(session: Session, fix: Fix, group: str) -> bool:
    """Whether an edit of a definition, and what more was edited after it, is right in all kernels that it reaches.
    Raises `SearchSpentError`."""
    trial = session.trial(changes_of(fix.edits, session.trees.texts), frozenset())
    return trial.difference.is_clean and group in trial.gone
