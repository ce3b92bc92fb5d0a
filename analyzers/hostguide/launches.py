"""Every launch in a translation unit, with what the host code says about it.

``launch_contexts(unit)`` finds the functions of the host pass from which a kernel can be launched, runs them
symbolically from those that the world outside can call, and gives the launch contexts of each kernel instance. Given
the host passes of other files of the program, it follows calls and launches from there too. Launches in the unit's text
that no context accounts for are listed, with the reason.
"""

from __future__ import annotations

import gc
import re
import sys
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from analyzers.frontend.cindex import Cursor, CursorKind, cursor_at, kernel_identity
from analyzers.frontend.parse import Diagnostic, HostPass, ParsedUnit, ScannedLaunch, scan_launches
from analyzers.frontend.unseen import not_compiled
from analyzers.hostguide.asked import Asked
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.build_expressions import instance_text
from analyzers.hostguide.callers import Callers, Texts
from analyzers.hostguide.declared import (
    FUNCTIONS,
    MEMBERS,
    SCOPES,
    FoundFunction,
    called_as,
    in_template,
    on_device,
)
from analyzers.hostguide.disguises import may_give, pastes, spliced_words
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.hosttypes import HostTypes
from analyzers.hostguide.implied import Implied
from analyzers.hostguide.instantiations import is_typed_probe, probes_of
from analyzers.hostguide.launching import RawLaunch
from analyzers.hostguide.notes import span, text_of
from analyzers.hostguide.pitched import row_pitches
from analyzers.hostguide.program import Linker, Program
from analyzers.hostguide.recorded import Drafts, contexts_of, merged
from analyzers.hostguide.source import SourceTexts, blanked, closing, extent
from analyzers.hostguide.tree import HostFunction, identity
from analyzers.hostguide.untouched import Reached
from analyzers.hostguide.written import Code
from analyzers.ir.context import LaunchContext
from analyzers.model import Skipped, SourceSpan

_MOST_CONTEXTS = 12
"""Contexts of one kernel from one launch; beyond it the function around the launch is taken as called with anything."""
_RECURSION = 20_000
"""Python frames; trees are cut where they would need more."""
_USES = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR})
_LAUNCH_TEXT = re.compile(rb"<<<|\bcudaLaunch(?:Cooperative)?Kernel(?:ExC?)?\b")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\(?:\r?\n|.))*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """A launch in the source and the kernel instances it can reach, by mangled name."""

    span: SourceSpan
    kernels: tuple[str, ...]
    text: str
    linked: frozenset[str] = frozenset()
    """Those that another file of the program defines."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the host pass of one unit says."""

    contexts: Mapping[str, tuple[LaunchContext, ...]]
    """By mangled name of the kernel instance, in source order; a kernel that nothing here launches is absent."""
    skipped: tuple[Skipped, ...]
    launches: tuple[LaunchSite, ...]
    probes: tuple[str, ...] = ()
    """Lines to append to the buffer to learn of kernels that stand in a table, and of templates that are instantiated
    explicitly: parse again with them, and ask again."""
    linked_probes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The same for linked files, by path."""

    @property
    def launched(self) -> frozenset[str]:
        return frozenset(self.contexts)


def launch_contexts(
    unit: ParsedUnit,
    linked: Sequence[HostPass] = (),
    program: Program | None = None,
    kernels: Sequence[str] = (),
    defined: Container[str] | None = None,
) -> HostFacts:
    """The launches of a unit's kernels and what is known at each.

    ``linked`` are the passes of the files of ``program``. With names of ``kernels``, launches that name another kernel
    are left out. ``defined``: the mangled names of the kernels to give contexts of, None for all."""
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    collecting = gc.isenabled()
    # Nearly everything made here lives until the end: collections would only walk it again and again.
    gc.disable()
    try:
        return _Guide(unit, linked, program or Program(), kernels, defined).run()
    finally:
        if collecting:
            gc.enable()


class _Guide:
    """One run over one unit and the files linked with it."""

    def __init__(
        self,
        unit: ParsedUnit,
        linked: Sequence[HostPass],
        program: Program,
        kernels: Sequence[str],
        defined: Container[str] | None,
    ) -> None:
        self.unit = unit
        self.kernels = kernels
        self.defined = defined
        self.program = program
        passes = (unit.host_pass, *linked)
        errors = [(d.path, d.offset) for p in passes for d in p.errors]
        self.sources = SourceTexts([p.host for p in passes], errors)
        suspect = self.sources.is_broken if errors else None
        self.linker = Linker(passes, program)
        self.machine = Executor(TreeBuilder(HostTypes(suspect), self.sources, self.linker.definition))
        self.own_paths = [unit.path, *unit.dependencies]
        self.paths = list(dict.fromkeys(path for p in passes for path in (p.path, *p.dependencies)))
        self.texts: dict[str, bytes] = {}
        self.functions: list[FoundFunction] = []
        self.probes: list[tuple[Cursor, str]] = []
        """Variables that probes declare, and the lines that do."""
        self.wanted: list[FoundFunction] = []
        self.places: dict[str, list[int]] = {}
        """Per file the offsets at which functions start, to find the one around an offset."""
        self.by_path: dict[str, list[FoundFunction]] = {}
        self.copies: dict[tuple[str, int], list[FoundFunction]] = {}
        """By file and offset, the copies of a function that the units have which include a header; `functions` lists
        the first."""
        self._define_cache: dict[str, list[tuple[str, int, int]]] = {}
        self.seen: set[int] = set()
        """The declarations that were asked for."""
        self.done: set[tuple[int, str]] = set()
        """The functions that were run as called with anything, by unit and USR."""
        self._identities: dict[int, str] = {}
        self._anything: dict[tuple[object, ...], tuple[dict[str, list[RawLaunch]], Drafts]] = {}
        """By launch and the functions around it, what it does when these are called with anything."""
        self._crowded: set[tuple[int, ...]] = set()
        """Launches that gave too many contexts for one of the kernels that they choose among."""

    def run(self) -> HostFacts:
        for path in self.paths:
            text = self.sources.text(path)
            if _LAUNCH_TEXT.search(text):
                self.texts[path] = text
        if not self.texts:
            return HostFacts({}, (), ())
        self.texts = {path: blanked(self.sources.text(path)) for path in self.paths}
        for one in self.linker.passes:
            before = len(self.functions)
            self._list_functions(one, one.host.cursor, True)
            self.linker.learn(self.functions[before:])
        for path, found in self.by_path.items():
            found.sort(key=lambda f: (f.start, -f.end))
            self.places[path] = [f.start for f in found]
        self._resolve_probes()
        self.asked = Asked(self.kernels, self.functions, self.texts)
        wanted, mentions = self._wanted()
        self.wanted = wanted
        self.machine.wanted = frozenset(f.name for f in wanted)
        self.code = cache(lambda: Code(self.texts, self.functions, self._around))
        reached = cache(lambda: Reached(self.code(), self._macros(), self._implied(), self._meant))
        self.machine.leaves_alone = lambda function, of, name: reached().leaves_alone(function, of, name)
        self._run_all(wanted, mentions)
        return self._collected()

    def _implied(self) -> Implied:
        return Implied(self.functions, self.sources, self.machine.builder.definition, self.machine.bundled)

    def _meant(self, path: str, offset: int) -> Cursor | None:
        """The declaration that a name at a place means, None where clang does not say, or units differ."""
        found = [cursor_at(p.host, path, offset) for p in self.linker.passes if path in (p.path, *p.dependencies)]
        meant = [c.referenced for c in found if c is not None and c.kind in _USES and c.location.offset == offset]
        keys = {c.get_usr() for c in meant if c is not None}
        return meant[0] if len(keys) == 1 and len(meant) == len(found) else None

    def _macros(self) -> dict[str, list[tuple[str, int, int]]]:
        """By name, the file and extent of the definitions of macros."""
        found: dict[str, list[tuple[str, int, int]]] = {}
        for path in self.texts:
            for name, start, end in self._defines(path):
                found.setdefault(name, []).append((path, start, end))
        return found

    # --- which functions

    def _list_functions(self, one: HostPass, cursor: Cursor, top: bool) -> None:
        for child in cursor.get_children():
            where = child.location
            file = where.file
            if file is None or file.name not in self.texts:
                continue
            kind = child.kind
            if kind in FUNCTIONS:
                path, start, end = extent(child)
                member = not top or kind in MEMBERS
                template = kind == CursorKind.FUNCTION_TEMPLATE or (member and in_template(child))
                defined = child.is_definition()
                found = FoundFunction(child, child.spelling, path, start, end, where.offset, template, defined)
                copies = self.copies.setdefault((path, start), [])
                if not copies:
                    self.functions.append(found)
                    self.by_path.setdefault(path, []).append(found)
                copies.append(found)
            elif kind in SCOPES:
                self._list_functions(one, child, False)
            elif kind == CursorKind.VAR_DECL and one.probes and child.spelling.startswith("cuda_lsp_probe_"):
                number = int(child.spelling.rpartition("_")[2])
                self.probes.append((child, one.probes[number] if number < len(one.probes) else ""))

    def _resolve_probes(self) -> None:
        for probe, line in self.probes:
            for child in probe.walk_preorder():
                target = child.referenced if child.kind == CursorKind.DECL_REF_EXPR else None
                if target is not None and target.kind in FUNCTIONS and not is_typed_probe(line):
                    text = line.rpartition("&")[2].partition(";")[0]
                    self.machine.builder.overloads[instance_text(text.rstrip(") }").encode())] = target

    def _probes_wanted(self, one: HostPass) -> tuple[str, ...]:
        """What to append to a file to see further instances."""
        paths = dict.fromkeys((one.path, *one.dependencies))
        own = [self.texts[path] for path in paths]
        functions, wanted = ([f for f in fs if f.path in paths] for fs in (self.functions, self.wanted))
        idle = {f.name for f in wanted if f.template and f.name not in self.machine.ran}
        found = probes_of(functions, wanted, own, self.machine.builder.open_overloads, idle)
        return tuple(p for p in found if p not in one.probes)

    def _around(self, path: str, offset: int) -> FoundFunction | None:
        """The innermost function whose text holds an offset."""
        found = self.by_path.get(path, [])
        at = bisect_right(self.places.get(path, []), offset) - 1
        # Functions nest only where a class is local to one, so the first that reaches the offset is the innermost.
        for index in range(at, max(-1, at - 64), -1):
            if offset < found[index].end:
                return found[index]
        return None

    def _wanted(self) -> tuple[list[FoundFunction], dict[str, list[tuple[str, int]]]]:
        """Functions that launch, or call one that may, and where their names are mentioned."""
        wanted: dict[int, FoundFunction] = {}
        mentions: dict[str, list[tuple[str, int]]] = {}
        names: set[str] = set()
        new: set[str] = set()

        def add(path: str, offset: int) -> None:
            macro = self._macro_at(path, offset)
            if macro is not None:
                if macro not in names:
                    new.add(macro)
                return
            found = self._around(path, offset)
            if found is not None and found.defined and id(found) not in wanted and not on_device(found):
                wanted[id(found)] = found
                name = called_as(found)
                if name not in names:
                    new.add(name)

        for path, text in self.texts.items():
            for match in _LAUNCH_TEXT.finditer(text):
                if not self.asked.leaves_out(text, match.start()):
                    add(path, match.start())
        while new:
            names |= new
            pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(n.encode()) for n in sorted(new)) + rb")\b")
            new.clear()
            for path, text in self.texts.items():
                for match in pattern.finditer(text):
                    mentions.setdefault(match.group().decode(), []).append((path, match.start()))
                    add(path, match.start())
                for name, start in self._disguised(text, names):
                    mentions.setdefault(name, []).append((path, start))
                    add(path, start)
        return sorted(wanted.values(), key=lambda f: (f.path != self.unit.path, f.path, f.start)), mentions

    def _disguised(self, text: bytes, names: set[str]) -> Iterator[tuple[str, int]]:
        """Names that a text spells in no way a search for words finds, and where."""
        if b"\\\n" in text or b"\\\r" in text:
            yield from ((name, at) for name, at in spliced_words(text) if name in names)
        if b"##" in text:
            for paste in pastes(text):
                yield from ((name, paste.offset) for name in sorted(names) if may_give(name, paste.before, paste.after))

    def _macro_at(self, path: str, offset: int) -> str | None:
        for match in self._defines(path):
            if match[1] <= offset < match[2]:
                return match[0]
        return None

    def _defines(self, path: str) -> list[tuple[str, int, int]]:
        known = self._define_cache.get(path)
        if known is None:
            known = [(m.group(1).decode(), m.start(), m.end()) for m in _DEFINE.finditer(self.texts[path])]
            self._define_cache[path] = known
        return known

    # --- running them

    def _run_all(self, wanted: list[FoundFunction], mentions: dict[str, list[tuple[str, int]]]) -> None:
        declared: dict[str, list[FoundFunction]] = {}
        for f in self.functions:
            declared.setdefault(called_as(f), []).append(f)
        texts = Texts(
            self.texts, mentions, declared, self._around, lambda path, at: self._macro_at(path, at) is not None
        )
        self.callers = Callers(self.linker, self.machine, self.sources, texts)
        self.callers.gather(wanted, lambda f: self.copies[f.path, f.start])
        self._run_open()
        for probe, _ in self.probes:
            for child in probe.walk_preorder():
                target = child.referenced if child.kind == CursorKind.DECL_REF_EXPR else None
                if target is not None and target.spelling in self.machine.wanted and target.kind in FUNCTIONS:
                    self._run(target)
        while True:
            while self._run_open() or self._run_needed():
                pass
            if not self.callers.open_another():
                break

    def _run_open(self) -> bool:
        """Run the functions that may be called with anything; whether there were new ones."""
        return sum(self._run(cursor) for cursor in list(self.callers.open_ones())) > 0

    def _run_needed(self) -> bool:
        """Run what the execution could not follow; whether there was any."""
        return sum(self._run(f.cursor) for f in list(self.machine.needs_root.values())) > 0

    def _run(self, cursor: Cursor) -> bool:
        """Run a function as called with anything, unless it was already."""
        if identity(cursor) in self.seen:
            return False
        self.seen.add(identity(cursor))
        key = (id(cursor.translation_unit), cursor.get_usr())
        if key in self.done:
            return False
        self.done.add(key)
        function = self.machine.builder.function(cursor)
        if function is None:
            return False
        callee = self.callers.callee(function)
        if callee is not None and not callee.is_open and not callee.first.template:
            callee.is_open, callee.assumption = True, None
        self.machine.run_root(function)
        return True

    # --- the result

    def _collected(self) -> HostFacts:
        machine = self.machine
        machine.row_pitches = cache(lambda: row_pitches(self.code(), self.sources))
        sites: dict[tuple[str, int, int], list[RawLaunch]] = {}
        for raw in machine.launches:
            if self._is_ours(raw):
                sites.setdefault(extent(raw.node.cursor), []).append(raw)
        contexts: dict[str, list[LaunchContext]] = {}
        found_sites: list[LaunchSite] = []
        main_first = sorted(sites, key=lambda s: (s[0] != self.unit.path, s))
        for site in main_first:
            raws = sites[site]
            drafts: Drafts = {}
            kernels: dict[str, list[RawLaunch]] = {}
            for raw in raws:
                kernels.setdefault(self._identity(raw.kernel), []).append(raw)
            for name, chosen in kernels.items():
                if self.defined is None or name in self.defined:
                    contexts.setdefault(name, []).extend(self._contexts_at(site, name, chosen, drafts))
            linked = frozenset(name for name, chosen in kernels.items() if self._is_linked(chosen[0].kernel))
            node = raws[0].node
            text = text_of(self.sources, node.cursor)
            found_sites.append(LaunchSite(span(node.cursor), tuple(kernels), text, linked))
        return HostFacts(
            contexts={name: merged(made) for name, made in contexts.items()},
            skipped=tuple(self._skipped(set(sites))),
            launches=tuple(found_sites),
            probes=self._probes_wanted(self.linker.passes[0]),
            linked_probes={p.path: found for p in self.linker.passes[1:] if (found := self._probes_wanted(p))},
        )

    def _is_ours(self, raw: RawLaunch) -> bool:
        """Whether a launch is one of the unit's text, or from elsewhere of a kernel that the unit defines."""
        path, _, _ = extent(raw.node.cursor)
        if self.linker.is_own(path):
            return True
        file = raw.kernel.location.file
        return raw.kernel.is_definition() and file is not None and self.linker.is_own(file.name)

    def _identity(self, kernel: Cursor) -> str:
        key = identity(kernel)
        if key not in self._identities:
            self._identities[key] = kernel_identity(kernel)
        return self._identities[key]

    def _is_linked(self, kernel: Cursor) -> bool:
        """Whether another file of the program has a definition of a kernel, and checks it with this launch."""
        unit = kernel.translation_unit
        return kernel.is_definition() and any(unit is p.host for p in self.linker.passes[1:])

    def _contexts_at(
        self, site: tuple[str, int, int], name: str, raws: list[RawLaunch], drafts: Drafts
    ) -> tuple[LaunchContext, ...]:
        """The contexts of one kernel from one launch, which may have been run many times."""
        distinct: tuple[LaunchContext, ...] = ()
        events = tuple(raw.event for raw in raws)
        crowded = events in self._crowded
        for raw in raws:
            if crowded or len(distinct) > _MOST_CONTEXTS:
                self._crowded.add(events)
                anything = self._called_with_anything([r.owner for r in raws], site, name)
                if anything:
                    return anything
            made = contexts_of(self.machine, raw, self._trust(raw), drafts)
            distinct = merged((*distinct, *self.linker.doubted(made, raw.kernel.spelling, site[0])))
        if len(distinct) > _MOST_CONTEXTS:
            return self._called_with_anything([r.owner for r in raws], site, name) or distinct
        return distinct

    def _called_with_anything(
        self, owners: list[HostFunction | None], site: tuple[str, int, int], name: str
    ) -> tuple[LaunchContext, ...]:
        """The contexts of one launch when the functions around it are called with anything: a few for many callers."""
        machine = self.machine
        unique = {id(o): o for o in owners if o is not None}
        key = (site, *unique)
        if key not in self._anything:
            recorded, machine.launches = machine.launches, []
            for owner in unique.values():
                machine.run_root(owner)
            here: dict[str, list[RawLaunch]] = {}
            for raw in machine.launches:
                if extent(raw.node.cursor) == site:
                    here.setdefault(self._identity(raw.kernel), []).append(raw)
            self._anything[key] = here, {}
            machine.launches = recorded
        found, drafts = self._anything[key]
        return merged(c for raw in found.get(name, ()) for c in contexts_of(machine, raw, drafts=drafts))

    def _trust(self, raw: RawLaunch) -> tuple[str, ...]:
        """What is assumed of the callers of the functions on the way to a launch."""
        builder = self.machine.builder
        functions = [raw.root, *(builder.function(call.value) for call in raw.calls if call.value is not None)]
        callees = [self.callers.callee(f) for f in functions if f is not None]
        known = [c.assumption for c in callees if c is not None and c.assumption is not None]
        taken = [(f.name, extent(f.cursor)[0]) for f in raw.taken]
        known += [f"`{name}` is the one in {path}" for name, path in taken if not self.linker.is_own(path)]
        return tuple(dict.fromkeys(known))

    def _skipped(self, sites: set[tuple[str, int, int]]) -> list[Skipped]:
        out: list[Skipped] = []
        unresolved: set[tuple[str, int, int]] = set()
        for node, why in self.machine.unresolved:
            where = extent(node.cursor)
            if where not in unresolved and self.linker.is_own(where[0]):
                unresolved.add(where)
                out.append(Skipped(f"launch {text_of(self.sources, node.cursor)}: {why}", span(node.cursor)))
        covered = sites | unresolved
        for path in self.own_paths:
            if not self._any_uncovered(path, covered):
                continue
            raw = self.sources.text(path).decode("utf-8", "replace")
            for launch in scan_launches(raw):
                if launch.in_macro or self.asked.leaves_out_name(launch.kernel):
                    continue
                if not any(p == path and start <= launch.offset < end for p, start, end in covered):
                    out.append(Skipped(self._why(path, launch), _point(path, launch)))
        out += self._skipped_macros(covered)
        return out

    def _any_uncovered(self, path: str, covered: set[tuple[str, int, int]]) -> bool:
        """Whether a launch stands in the text that nothing accounts for; cheaper than a scan by tokens."""
        spans = sorted((start, end) for p, start, end in covered if p == path)
        starts = [start for start, _ in spans]
        for match in _LAUNCH_TEXT.finditer(self.texts[path]):
            at = bisect_right(starts, match.start()) - 1
            inside = any(match.start() < end for _, end in spans[max(0, at - 3) : at + 1])
            if not inside and self._macro_at(path, match.start()) is None:
                return True
        return False

    def _why(self, path: str, launch: ScannedLaunch) -> str:
        what = f"launch of {launch.kernel}"
        around = self._around(path, launch.offset)
        end = self.texts[path].find(b";", launch.offset)
        end = end if end >= 0 else len(self.texts[path])
        error = self._error_in(path, launch.offset, end)
        compiled = error is None and self._is_compiled(path, launch, end)
        if error is None and launch.condition and not compiled:
            return f"{what}: {not_compiled(launch.condition)}"
        if around is not None and on_device(around):
            return f"{what} is in device code, which is not followed to further kernels"
        if around is not None and around.template and around.name not in self.machine.ran:
            return f"{what} is in a template that nothing here instantiates"
        if error is None and around is not None:
            error = self._error_in(path, around.start, around.end)
            if error is None or compiled:
                return f"{what} is never reached"
        return f"{what} not visible to the parser" + (f" (line {error.line}: {error.message})" if error else "")

    def _error_in(self, path: str, start: int, end: int) -> Diagnostic | None:
        """The first error of the host pass that is located in these bytes."""
        errors = [e for e in self.unit.all_errors if e.side == "host" and e.path == path and start <= e.offset <= end]
        return min(errors, key=lambda e: e.offset, default=None)

    def _is_compiled(self, path: str, launch: ScannedLaunch, end: int) -> bool:
        """Whether a cursor stands for the launch: around text that an `#if` leaves out there is only a wider one."""
        found = cursor_at(self.unit.host, path, launch.offset)
        if found is None or found.kind.is_translation_unit() or found.kind.is_declaration():
            return False
        _, start, stop = extent(found)
        return launch.offset <= start and stop <= end + 1

    def _skipped_macros(self, covered: set[tuple[str, int, int]]) -> list[Skipped]:
        """Uses of macros that contain a launch, where the parser saw none."""
        out: list[Skipped] = []
        names = {
            name
            for path in self.own_paths
            for name, start, end in self._defines(path)
            if _LAUNCH_TEXT.search(self.texts[path], start, end)
        }
        if not names:
            return out
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(n.encode()) for n in sorted(names)) + rb")\b")
        for path in self.own_paths:
            text = self.texts[path]
            for match in pattern.finditer(text):
                if self._macro_at(path, match.start()) is not None or self._around(path, match.start()) is None:
                    continue
                end = closing(text, match.end())
                if not any(p == path and start < end and match.start() < stop for p, start, stop in covered):
                    line = text.count(b"\n", 0, match.start()) + 1
                    column = match.start() - text.rfind(b"\n", 0, match.start())
                    where = SourceSpan(
                        path, line, column, line, column + len(match.group()), match.start(), match.end()
                    )
                    out.append(Skipped(f"launch through {match.group().decode()} not visible to the parser", where))
        return out


def _point(path: str, launch: ScannedLaunch) -> SourceSpan:
    return SourceSpan(path, launch.line, launch.column, launch.line, launch.column, launch.offset, launch.offset)
