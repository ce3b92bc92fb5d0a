"""Barriers that an edit takes out and puts back elsewhere: written as they were where that is right, and counted
against those that stand there then.

Takes barriers of a text, and those that were placed in what came of it without them. Whether one that is written as it
was does what it is placed for is for a trial to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import blanked
from analyzers.model import Finding
from quickfix.cost import NO_MORE, Called, Trips, words
from quickfix.edits import Layout, respelled
from quickfix.file_names import FileNames
from quickfix.kept_comments import Comments, comments_at
from quickfix.naming import NotPossible, line_of
from quickfix.oracle import SearchSpentError
from quickfix.paths import Candidate, Key, Level, chain_to, place_of
from quickfix.search import Placed
from quickfix.session import Session, Trial
from quickfix.verify import EditedFile, Files, key_of, old_loop, old_place
from quickfix.wording import barrier_in_words, kind_in_words

_MOST: Final = 8
"""Barriers that are tried one by one as they were written."""
_KINDS: Final = {"warp": "warp barrier", "tile": "warp barrier", "grid": "grid barrier"}


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A barrier that is no longer where it was. Lines and offsets of the text before all edits."""

    place: Candidate
    at: int
    line: int
    written: bytes
    """Its statement."""
    kind: str
    """As a cost names it."""
    comments: Comments = field(default_factory=Comments)
    """They go where it goes."""

    @property
    def words(self) -> str:
        return self.written.decode(errors="replace").removesuffix(";")


def taken_out(
    session: Session,
    kernels: Iterable[KernelAnalysis],
    barrier: Finding,
    files: Files,
) -> TakenOut:
    """A barrier of the text that `files` have led to, which is a statement by itself."""
    access = barrier.accesses[0]
    chain = chain_to(session.trees, access)
    statement = chain[-1].statement if chain else None
    if not chain or statement is None:
        raise NotPossible("a barrier is written by a macro")
    path = chain[-1].function.path
    text = session.trees.texts[path]
    events = (e for a in kernels for e in a.events.barriers if e.site.span == access.span)
    scope = next((e.scope for e in events), "block")
    place, file = place_of(chain), files.get(path)
    at = old_place(file, statement.start)
    return TakenOut(
        replace(place, loops=tuple(old_loop(loop, session.trees.texts, files) for loop in place.loops)),
        at,
        line_of(text if file is None else file.before, at),
        text[statement.start : statement.end],
        _KINDS.get(scope, "barrier"),
        _comments_of(Layout(text), chain[-1], file),
    )


def _comments_of(layout: Layout, level: Level, file: EditedFile | None) -> Comments:
    """Those at the barrier at the position of `level`, by their places in the text before all edits. Of a barrier that
    is a branch by itself something stays where it is."""
    if level.statement is None or not level.body.braced:
        return Comments()
    found = comments_at(layout, level.statement)
    return replace(found, start=old_place(file, found.start))


@dataclass(frozen=True, slots=True)
class PutBack:
    """Barriers in the place of others."""

    placed: Placed
    taken: tuple[TakenOut, ...]
    pairs: Mapping[Key, TakenOut]
    """By the gap of a barrier: the one that it stands for."""
    kept: Collection[Key]
    """The gaps of those that are written as they were."""
    stay: Collection[Key] = ()
    """The gaps of those of them that are where they were, between the same statements."""
    comments: Mapping[Key, Comments] = field(default_factory=dict[Key, Comments])
    """At those that are written as they were, by their gaps."""

    @property
    def new(self) -> tuple[Candidate, ...]:
        """The barriers that are somewhere else now."""
        return tuple(each for each in self.placed.barriers if each.key not in self.stay)

    def done(self, session: Session) -> list[str]:
        """What becomes of those that are not put back elsewhere: `keep the barrier in line 7`."""
        said: list[str] = []
        if self.stay:
            said.append(f"keep {barriers_at(session, [self.pairs[key] for key in self.stay])}")
        if not self.new and (gone := self._moved()):
            said.append(f"remove {barriers_at(session, gone)}")
        return said

    def _moved(self) -> list[TakenOut]:
        stay = [self.pairs[key] for key in self.stay]
        return [each for each in self.taken if each not in stay]

    def kind(self, barrier: Candidate, session: Session) -> str:
        return self.pairs[barrier.key].kind if barrier.key in self.kept else kind_in_words(session)

    def words(self, session: Session) -> str:
        """Behind what says where there are new barriers: where they were, and which of them others have replaced."""
        taken = self._moved()
        if not taken or not self.new:
            return ""
        pairs = [pair for key, pair in self.pairs.items() if key not in self.kept]
        if len(taken) == len(pairs) == len(self.new) == 1:
            return f" in place of `{pairs[0].words}` in {_lines_of(session, pairs)}"
        them = "that" if len(taken) == 1 else "those"
        now = barrier_in_words(session)
        others = "".join(f", {now} for `{each.words}` in {_lines_of(session, [each])}" for each in pairs)
        return f" in place of {them} in {_lines_of(session, taken)}{others}"


def _lines_of(session: Session, barriers: Iterable[TakenOut]) -> str:
    return session.names.lines((each.place.gap.function.path, each.line) for each in barriers)


def barriers_at(session: Session, barriers: Collection[TakenOut]) -> str:
    return f"the barrier{'s' * (len(barriers) != 1)} in {_lines_of(session, barriers)}"


def put_back(
    session: Session,
    placed: Placed,
    taken: Sequence[TakenOut],
    files: Files,
    is_right: Callable[[Trial], bool],
    kernels: Collection[KernelAnalysis],
) -> PutBack:
    """The placed barriers, each as the nearest of those that were taken out was written, where that means as much.
    `files`: what has led to the text in which they are placed."""
    pairs = _nearest(placed.barriers, taken, files)
    now = placed.spelled or session.barrier
    same = {key for key, each in pairs.items() if each.written == now}
    others = {key: each.written for key, each in pairs.items() if _is_plain(each.written) and key not in same}
    alone = [{key: written} for key, written in others.items()][:_MOST]
    spelled: dict[Key, bytes] = {}
    aims = frozenset(key_of(f) for f in placed.targets)
    names = [a.kernel.mangled for a in kernels]
    for more in (others, *(alone if len(alone) > 1 else ())):
        if not more or spelled == others:
            break
        tried = {**dict.fromkeys((c.key for c in placed.barriers), now), **spelled, **more}
        changes = {
            path: respelled(found, tried) for path, found in session.changes(placed.barriers, placed.spelled).items()
        }
        try:
            trial = session.trial(changes, aims, names, inserting=True)
            good = trial.difference.is_clean and trial.gone >= placed.trial.gone and trial.late == placed.trial.late
            if not good or not is_right(trial):
                continue
        except SearchSpentError:
            break
        spelled |= more
        alike = set(tried.values())
        one = alike.pop() if len(alike) == 1 else b""
        placed = replace(placed, trial=trial, spelled=one if one != session.barrier else b"")
    kept = {*same, *spelled}
    stay = {c.key for c in placed.barriers if c.key in kept and _is_where_it_was(session, c, pairs[c.key], files)}
    comments = _comments((c for c in placed.barriers if c.key in kept), pairs, files)
    return PutBack(placed, tuple(taken), pairs, kept, stay, comments)


def _is_where_it_was(session: Session, barrier: Candidate, taken: TakenOut, files: Files) -> bool:
    """Whether a barrier is in the same loops as before, and no code is between it and its place there."""
    loops = tuple(old_loop(loop, session.trees.texts, files) for loop in barrier.loops)
    return loops == taken.place.loops and _passes_no_code(barrier, taken, files)


def _passes_no_code(barrier: Candidate, taken: TakenOut, files: Files) -> bool:
    """Whether no code of the old text is between a barrier and its place there, braces aside."""
    gap, path = barrier.gap, barrier.gap.function.path
    if path not in files:
        return False
    # What stands in front of it may end with a brace that is new.
    before = gap.before.end if gap.before is not None else gap.body.start
    now = old_place(files[path], before - 1) + 1
    code, end = blanked(files[path].before), taken.at + len(taken.written)
    between = code[now : taken.at] if now <= taken.at else code[end:now]
    return not between.strip(b"{} \t\r\n")


def _is_plain(written: bytes) -> bool:
    """Whether a statement can be written elsewhere as it is."""
    return written.endswith(b";") and b"\n" not in written and b"/*" not in written and b"//" not in written


def _nearest(barriers: Iterable[Candidate], taken: Iterable[TakenOut], files: Files) -> dict[Key, TakenOut]:
    """Which barrier stands for which of those that were taken out: the nearest ones, in the order of the text."""
    ways: list[tuple[int, int, int, Candidate, TakenOut]] = []
    for candidate in barriers:
        gap = candidate.gap
        at = old_place(files.get(gap.function.path), gap.before.end if gap.before is not None else gap.body.start)
        ways += [
            (abs(at - each.at), each.at, at, candidate, each)
            for each in taken
            if each.place.gap.function.path == gap.function.path
        ]
    found: dict[Key, tuple[int, TakenOut]] = {}
    for _, _, at, candidate, each in sorted(ways, key=lambda way: way[:2]):
        if candidate.key not in found and all(each != other for _, other in found.values()):
            found[candidate.key] = at, each
    in_order = sorted(found, key=lambda key: (key[0], found[key][0]))
    stood = sorted((each for _, each in found.values()), key=lambda each: (each.place.gap.function.path, each.at))
    return dict(zip(in_order, stood, strict=True))


def comments_of(
    barriers: Sequence[Candidate], written: bytes, taken: Iterable[TakenOut], files: Files
) -> dict[Key, Comments]:
    """Those at the barriers for which others stand that are `written` as they were, by the gaps of these."""
    pairs = _nearest(barriers, taken, files)
    same = (c for c in barriers if c.key in pairs and pairs[c.key].written == written)
    return _comments(same, pairs, files)


def _comments(barriers: Iterable[Candidate], pairs: Mapping[Key, TakenOut], files: Files) -> dict[Key, Comments]:
    """Those in the lines above may be about what is there: they only go with a barrier that passes no code."""
    found: dict[Key, Comments] = {}
    for barrier in barriers:
        of_barrier = pairs[barrier.key].comments
        near = _passes_no_code(barrier, pairs[barrier.key], files)
        found[barrier.key] = of_barrier if near else replace(of_barrier, above=())
    return found


def difference_in_words(
    barriers: Iterable[tuple[Candidate, str]],
    taken: Iterable[TakenOut],
    trips: Trips,
    names: FileNames,
    often: Container[Called] = frozenset(),
) -> str:
    """What the barriers, each with its kind, cost beside those that were taken out: `no barrier more`."""

    barriers = tuple(barriers)
    functions = (b.gap.function for b, _ in barriers)
    several = {f.name for f in functions if (f.path, f.start) in often}

    def shape(barrier: Candidate, kind: str) -> tuple[str, tuple[tuple[str, int], ...], bool, str]:
        name = barrier.gap.function.name
        return kind, barrier.loops, barrier.sometimes, name if name in several else ""

    fewer = [(each.place, each.kind) for each in taken]
    before = Counter(shape(*each) for each in fewer)
    more: list[tuple[Candidate, str]] = []
    for each in barriers:
        if before[shape(*each)]:
            before[shape(*each)] -= 1
        else:
            more.append(each)
    left: list[tuple[Candidate, str]] = []
    for each in fewer:
        if before[shape(*each)]:
            before[shape(*each)] -= 1
            left.append(each)
    parts = [
        words((c for c, kind in found if kind == each), trips, names, each, often, sign)
        for found, sign in ((left, "−"), (more, "+"))
        for each in dict.fromkeys(kind for _, kind in found)
    ]
    kinds = [kind for _, kind in left], [kind for _, kind in more]
    if left and kinds == (["warp barrier"] * len(more), ["barrier"] * len(left)):
        parts.append("which costs more")
    return ", ".join(parts) or NO_MORE
