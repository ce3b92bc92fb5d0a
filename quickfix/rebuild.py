"""Make a place for a barrier, then place it: restructured sources, judged step by step.

Takes a session and a group of races that no barrier separates, gives a `Fix` in two parts, the restructuring and the
barriers in what comes of it, both accepted by the engine; or why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.model import Finding, Fix, FixRefusal, Verdict
from quickfix.cost import called_often, trips_of
from quickfix.edits import Change
from quickfix.file_names import listed, numbered
from quickfix.flattened import flattened
from quickfix.grid_wide import explanation
from quickfix.kept_comments import with_comments
from quickfix.loosened import is_of_one_execution
from quickfix.lost_updates import made_once
from quickfix.naming import line_of
from quickfix.narrowing import cost_in_words, narrowed, placed_in_words
from quickfix.numbered import in_order
from quickfix.put_back import PutBack, TakenOut, barriers_at, difference_in_words, put_back
from quickfix.restructure import called_by_all, restructuring
from quickfix.search import Placed, obstacle, place, sentence, varying_bodies, ways_between
from quickfix.session import Session, Trial
from quickfix.steps import VOTES, Restructuring, costs_in_words, touch
from quickfix.verify import (
    RACES,
    EditedFile,
    PairKey,
    chained,
    findings_of,
    gone_groups,
    in_old_text,
    key_of,
    new_error,
    old_loop,
)
from quickfix.wording import edits_of_files, granted_in_words, notes_of, pairs_in_words

MAX_STEPS: Final = 14
"""Rounds of restructurings in one repair."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Edits that have been made already, in order, with what they do, and the text that came of them."""

    current: Session
    steps: tuple[Trial, ...] = ()
    done: tuple[str, ...] = ()
    costs: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    """What the edits take for granted."""
    begin_with_places: bool = False
    """Whether there may be places already for the barriers that are missing now."""
    taken: tuple[TakenOut, ...] = ()
    """Barriers that the edits have taken out, which those to come stand for."""
    may_narrow: bool = False
    """Whether the barriers to come stand for none that were wider."""


def rebuilt(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of one group of races; None where no restructuring is in sight."""
    races = [f for a in kernels for f in findings_of(a.result) if f.group == group and f.code in RACES]
    if not races or any(f.scope == "inter-block" for f in races):
        return None
    if any(f.code is Verdict.BARRIER_DIVERGENCE for a in kernels for f in findings_of(a.result)):
        return None  # who waits for whom is not known: that comes first
    return rebuilt_from(
        session, Begun(session, may_narrow=True), kernels, frozenset(key_of(f) for f in races), (group,)
    )


def rebuilt_with_others(session: Session, kernels: Sequence[KernelAnalysis], group: str) -> Fix | FixRefusal | None:
    """The repair of all races of the kernels, where several groups, this one among them, have no place: they are of one
    mistake, such as a reduction whose last steps go without barriers. None elsewhere."""
    findings = [f for a in kernels for f in findings_of(a.result)]
    races = [f for f in findings if f.code in RACES and f.scope != "inter-block" and not is_of_one_execution(f)]
    stuck = {f.group for f in races if obstacle(session, f) is not None}
    if group not in stuck or len(stuck) < 2 or any(f.code is Verdict.BARRIER_DIVERGENCE for f in findings):
        return None
    groups = tuple(dict.fromkeys(f.group for f in races))
    return rebuilt_from(session, Begun(session, may_narrow=True), kernels, frozenset(key_of(f) for f in races), groups)


def rebuilt_from(
    session: Session,
    begun: Begun,
    kernels: Sequence[KernelAnalysis],
    keys: frozenset[PairKey],
    groups: Sequence[str],
    also: Collection[str] = (),
) -> Fix | FixRefusal | None:
    """Go on from edits of the text of `session` until the races `keys` (in that text) are gone, and with them all that
    the edits brought, in `kernels` and in those with mangled names in `also`. The findings `groups` have to be gone in
    the end. None where no restructuring is in sight."""
    names = {a.kernel.mangled for a in kernels} | set(also)
    known = {key_of(f) for a in kernels for f in findings_of(a.result) if f.code in RACES} - keys
    current, steps, done, costs = begun.current, [*begun.steps], [*begun.done], [*begun.costs]
    granted = [*begun.granted]
    refusal: FixRefusal | None = None
    declared: set[bytes] = set()
    kept = frozenset[bytes]().union(*(session.promised.get(name, ()) for name in names))
    while len(steps) <= len(begun.steps) + MAX_STEPS:
        files = composed(steps)
        repaired = [a for a in current.kernels if a.kernel.mangled in names]

        def wanted(finding: Finding, files: dict[str, EditedFile] = files) -> bool:
            return _old_key(finding, files) not in known

        races = [f for f in dict.fromkeys((*_races_of(repaired), *current.learnt(names))) if wanted(f)]
        at_first = len(steps) == len(begun.steps)
        late = len(steps) >= len(begun.steps) + MAX_STEPS - 2
        tidied = [] if at_first or late else _numbered(current, files) or _flattened(current, files)
        ended = not races and not tidied and (begun.begin_with_places or not at_first)
        changes: list[Restructuring] | str | None = None
        if not ended:
            changes = _next(current, races, varying_bodies(current, repaired) | current.divergent, kept)
            changes = changes if isinstance(changes, list) else tidied or changes
        # What a step costs is what may order something: then some of the races may be gone.
        orders = len(costs) > len(begun.costs)
        if not isinstance(changes, list) and not current.decided and (ended or orders):
            steps[-1] = current.decide(steps[-1])
            continue
        if ended:
            made = _voted(session, _gone_on(begun, current, steps, done, costs, granted), groups)
            session.declared = dict.fromkeys(names, frozenset(declared))
            return made
        # With a place missing, there is no use in trying others, except once after what others have begun with.
        if begun.begin_with_places if at_first else not isinstance(changes, list):
            placed = place(current, repaired, lambda _, found, wanted=wanted: any(wanted(f) for f in found))
            if isinstance(placed, Placed):
                whole = _gone_on(begun, current, steps, done, costs, granted)
                made = _fix(session, whole, placed, repaired, groups)
                session.declared = dict.fromkeys(names, frozenset(declared))
                return made
            refusal = FixRefusal(in_old_lines(placed.text, current, steps))
            races = [*dict.fromkeys((*races, *(f for f in current.learnt(names) if wanted(f))))]
            changes = _next(current, races, varying_bodies(current, repaired) | current.divergent, kept)
            if not isinstance(changes, list) and not current.decided:
                # The races that were there before the steps are not all, perhaps, or some are gone.
                steps[-1] = current.decide(steps[-1])
                continue
        if not isinstance(changes, list):
            return refusal if changes is None else FixRefusal(in_old_lines(sentence(changes), current, steps))
        trial = _drafted(current, changes, repaired)
        error = new_error(current.result, trial.analysis.result)
        if error is not None and len(changes) > 1:
            # Each is right by itself, not all are together: a label behind what another one declares.
            changes = changes[:1]
            trial = _drafted(current, changes, repaired)
            error = new_error(current.result, trial.analysis.result)
        if error is not None:
            return FixRefusal(sentence(error))
        steps.append(trial)
        done += [_in_words(current, change, files, trial) for change in changes if change.text]
        costs += [change.cost for change in changes if change.cost]
        granted += [in_old_lines(change.granted, current, steps[:-1]) for change in changes if change.granted]
        declared |= {change.name for change in changes}
        current = current.rewritten(trial)
    return refusal


def _gone_on(
    begun: Begun,
    current: Session,
    steps: Sequence[Trial],
    done: Sequence[str],
    costs: Sequence[str],
    granted: Sequence[str],
) -> Begun:
    return Begun(
        current, tuple(steps), tuple(done), tuple(costs), tuple(granted), taken=begun.taken, may_narrow=begun.may_narrow
    )


def _drafted(current: Session, changes: Iterable[Restructuring], kernels: Sequence[KernelAnalysis]) -> Trial:
    """The text with all of these made. Raises like `Session.draft`."""
    edits: dict[str, list[Change]] = {}
    for change in changes:
        edits[change.path] = sorted((*edits.get(change.path, ()), *change.changes), key=lambda c: (c.start, c.end))
    return current.draft(edits, current.kernels_sharing_code(kernels))


def _numbered(current: Session, files: Mapping[str, EditedFile]) -> list[Restructuring]:
    """The names that the steps declare put in order, where they are not."""
    functions = current.trees.functions
    found = {path: in_order([f for f in functions if f.path == path], file) for path, file in files.items()}
    return [Restructuring(path, changes, "", changes[0].start) for path, changes in found.items() if changes]


def _flattened(current: Session, files: Mapping[str, EditedFile]) -> list[Restructuring]:
    """Conditionals that the steps have put into each other made one."""
    functions = current.trees.functions
    found = {path: flattened([f for f in functions if f.path == path], file) for path, file in files.items()}
    return [Restructuring(path, changes, "", changes[0].start) for path, changes in found.items() if changes]


def in_old_lines(text: str, current: Session, steps: Sequence[Trial]) -> str:
    """A sentence about the text that some steps have led to, with lines of the text before them."""
    files = composed(steps)
    names, texts = current.names, current.trees.texts
    only = next(iter(files)) if len(files) == 1 else current.request.path
    only = only if only in texts else current.request.path
    headers = {names.of(path): path for path in texts if path != names.own}

    def renamed(found: re.Match[str]) -> str:
        path = headers.get(found[2] or "", only)
        return str(old_loop((path, int(found[1])), texts, files)[1]) + (found[2] or "")

    return _LINE.sub(renamed, text)


_LINE: Final = re.compile(r"(?<=\bline )(\d+)( of [^\s,:;)]+\b)?")


def _in_words(current: Session, change: Restructuring, earlier: dict[str, EditedFile], trial: Trial) -> str:
    """What is restructured, and the line where that stood before all steps; without one for what a step wrote."""
    file = earlier.get(change.path)
    old = change.at if file is None else file.offsets.old(change.at)
    if old is None:
        return change.text
    text = file.before if file is not None else trial.files[change.path].before
    return f"{change.text} in {current.names.at(change.path, line_of(text, old))}"


def _races_of(kernels: Iterable[KernelAnalysis]) -> list[Finding]:
    return [f for a in kernels for f in findings_of(a.result) if f.code in RACES]


def _next(
    session: Session, races: Iterable[Finding], varying: Collection[tuple[str, int]], kept: Collection[bytes]
) -> list[Restructuring] | str | None:
    """What makes places where some are missing: of changes that can be made at once, all, and no change that declares
    one of the names `kept`. A sentence where one is in sight and cannot be made, None where there is nothing to do."""
    said: str | None = None
    found: list[Restructuring] = []
    spare: Restructuring | None = None
    session.reserved = {None: set(kept)}
    blocks = [race for race in races if race.scope != "inter-block"]
    # While some call of a function is conditional, no barrier in it is one that all threads reach.
    pairs = [(race.accesses[0], race.accesses[1]) for race in blocks]
    called = {*session.passed_on, *_missed_in(session)}
    inside = [*pairs, *((access, access) for access in session.calls_to(called))]
    changed = (called_by_all(session, one, two, varying) for one, two in inside)
    calls = (change for change in changed if change is not None)
    first = next(calls, None)
    others = (restructuring(session, race, varying) for race in blocks)
    # One by one: each keeps off the names of those before it.
    for change in others if first is None else chain((first,), calls):
        if not isinstance(change, Restructuring):
            said = said or change
        elif change.is_spare:
            spare = spare or change
        elif not found or (
            found[0].is_one_of_several and change.is_one_of_several and not any(touch(change, other) for other in found)
        ):
            found.append(change)
            session.reserve(change.path, change.at, change.name)
    session.reserved = {}
    return found or ([spare] if spare is not None else said)


def _missed_in(session: Session) -> Iterable[tuple[str, bytes]]:
    """The functions (path and name) in which a barrier was tried that some threads miss: callers that have no race of
    their own may be why."""
    for path, start in session.divergent:
        function = session.trees.at(path, start)
        if function is not None and function.signature is not None:
            yield path, function.name.encode()


def composed(steps: Sequence[Trial]) -> dict[str, EditedFile]:
    """All steps as one edit."""
    return chained([step.files for step in steps])


def _old_key(finding: Finding, files: dict[str, EditedFile]) -> PairKey | None:
    old = in_old_text(finding, files)
    return None if old is None else key_of(old)


def _voted(session: Session, begun: Begun, groups: Sequence[str]) -> Fix | FixRefusal:
    """The repair that needs no barrier beside the votes in the tests of loops; a refusal where there are none, because
    nothing else that was done orders anything."""
    if VOTES not in begun.costs:
        if any(k.verdict is Verdict.UNKNOWN for k in begun.steps[-1].analysis.result.kernels):
            return FixRefusal("What races in the restructured code is not known.")
        return FixRefusal("Restructured, the code has no race, which is not for a barrier to explain.")
    steps = begun.steps
    files = composed(steps)
    judged = session.judge(steps[-1], files)
    gone = gone_groups(session.result, steps[-1].checked, judged)
    targets = [f for f in _races_of(session.kernels) if f.group in groups]
    if judged.worse:
        return FixRefusal(sentence(judged.worse[0]))
    if not targets or not gone.issuperset(groups) or not judged.is_clean:
        return FixRefusal("With all threads in the same iterations there would still be threads that collide.")
    fewer = difference_in_words((), begun.taken, trips_of(session.kernels), session.names) if begun.taken else ""
    cost = ", ".join(filter(None, (fewer, costs_in_words(begun.costs))))
    done = _listed([_what(begun), *([f"remove {barriers_at(session, begun.taken)}"] if begun.taken else [])])
    what = f"{done} — orders {pairs_in_words(targets, targets[0])}, {cost}{granted_in_words(begun.granted)}"
    return _restructured(files, what, gone, cost, (), begun.granted)


def _what(begun: Begun) -> str:
    """What has been done, as a title begins."""
    lines: dict[tuple[str, str], dict[int, None]] = {}
    for text in begun.done:
        placed = _PLACED.fullmatch(text)
        # What a step wrote has no line.
        key = (placed[1], placed[3] or "") if placed else (text, "")
        lines.setdefault(key, {}).update({int(placed[2]): None} if placed else {})
    # What is done in one place names it once.
    done = [
        _at_lines(", ".join(what for (what, _), _ in several), at, of_file)
        for (at, of_file), several in groupby(lines.items(), lambda item: (tuple(item[1]), item[0][1]))
    ]
    return sentence(", ".join(done)).removesuffix(".")


def _listed(done: Iterable[str]) -> str:
    """What is done, as a title begins."""
    return sentence(listed(list(filter(None, done)))).removesuffix(".")


_SPLIT: Final = re.compile(r"[Ss]plit the statement in line (\d+(?: of \S+)?)\Z")
_PLACED: Final = re.compile(r"(.*) in line (\d+)( of \S+)?")


def _at_lines(what: str, lines: Sequence[int], of_file: str) -> str:
    """What is done to one thing, as what is done to those in several lines."""
    if not lines:
        return what
    several = _ONE.sub(lambda found: f"the {found[1]}s", what) if len(lines) > 1 else what
    return f"{several} in {numbered(lines)}{of_file}"


_ONE: Final = re.compile(r"the (statement|conditional|switch|condition|loop|declaration)\b")


def _restructured(
    files: Mapping[str, EditedFile],
    title: str,
    gone: Collection[str],
    cost: str,
    notes: Iterable[str],
    granted: Sequence[str],
) -> Fix:
    return Fix(
        title=title,
        kind="restructure",
        edits=edits_of_files(files),
        groups=tuple(sorted(gone)),
        cost=cost,
        notes=(*notes, *dict.fromkeys(granted)),
        assumes=tuple(dict.fromkeys(granted)),
    )


def _fix(
    session: Session,
    begun: Begun,
    placed: Placed,
    kernels: Sequence[KernelAnalysis],
    groups: Sequence[str],
) -> Fix | FixRefusal:
    current, steps = begun.current, begun.steps
    files = composed(steps)
    whole = composed([*steps, placed.trial])
    judged = session.judge(placed.trial, whole)
    gone = gone_groups(session.result, placed.trial.checked, judged)
    if not gone.issuperset(groups) or not judged.is_clean:
        wanted = [f for f in _races_of(session.kernels) if f.group in groups]
        asked = next((f for f in wanted if key_of(f) in judged.left), wanted[0] if wanted else None)
        keys = set(map(key_of, wanted))
        still_there = [f for k in placed.trial.analysis.result.kernels for f in findings_of(k) if f.code in RACES]
        colliding = [f for f in still_there if (old := in_old_text(f, whole)) is None or key_of(old) in keys]
        if asked is not None and colliding and all(f.scope == "inter-block" for f in colliding):
            return FixRefusal(sentence(explanation(session.trees, asked, ways_between(session, asked))))
        still = "With a barrier in the restructured code there would still be threads that collide."
        return FixRefusal(sentence(judged.worse[0]) if judged.worse else still)
    back = _put_back(session, begun, placed, kernels, groups)
    if back.placed is not placed:
        placed = back.placed
        whole = composed([*steps, placed.trial])
        gone = gone_groups(session.result, placed.trial.checked, session.judge(placed.trial, whole))
    if begun.may_narrow:
        placed = narrowed(current, placed, kernels, _is_right_for(session, begun, groups))
        whole = composed([*steps, placed.trial])
    whole = with_comments(placed.trial, whole, back.comments)
    places = placed_in_words(current, replace(placed, barriers=tuple(back.new)), files) + back.words(current)
    texts = current.trees.texts
    barriers = [replace(b, loops=tuple(old_loop(loop, texts, files) for loop in b.loops)) for b in placed.barriers]
    often = called_often(placed.barriers, current.kernels, current.trees.at)
    if begun.taken:
        kinds = (back.kind(b, current) for b in placed.barriers)
        inserted = difference_in_words(
            zip(barriers, kinds, strict=True), begun.taken, trips_of(kernels), session.names, often
        )
    else:
        inserted = cost_in_words(current, placed, barriers, trips_of(kernels), often)
    cost = ", ".join(filter(None, (inserted, costs_in_words(begun.costs))))
    shown = next((f for f in placed.targets if _old_key(f, files) is not None), placed.targets[0])
    once = [in_old_lines(each, current, steps) for each in made_once(current.kernels, placed.harmless)]
    granted = (*begun.granted, *once)
    taken = granted_in_words(granted)
    what = _what(begun)
    if (split := _SPLIT.search(what)) and places.endswith(f" after line {split[1]}"):
        places = f"{places.removesuffix(f' after line {split[1]}')} in between"
    what = _listed([what, *back.done(current), *([f"insert {places}"] if back.new else [])])
    title = f"{what} — orders {pairs_in_words(placed.targets, shown)}, {cost}{taken}"
    notes = (in_old_lines(note, current, steps) for note in notes_of(placed))
    return replace(_restructured(whole, title, gone, cost, notes, granted), preferred=not once)


def _put_back(
    session: Session, begun: Begun, placed: Placed, kernels: Sequence[KernelAnalysis], groups: Sequence[str]
) -> PutBack:
    """The placed barriers as those were written that the edits have taken out, where that is right."""
    is_right = _is_right_for(session, begun, groups)
    return put_back(begun.current, placed, begun.taken, composed(begun.steps), is_right, kernels)


def _is_right_for(session: Session, begun: Begun, groups: Sequence[str]) -> Callable[[Trial], bool]:
    """Whether a trial of barriers in what the edits have made rids the text of these findings, and brings no others."""

    def is_right(trial: Trial) -> bool:
        judged = session.judge(trial, composed([*begun.steps, trial]))
        return judged.is_clean and gone_groups(session.result, trial.checked, judged).issuperset(groups)

    return is_right
