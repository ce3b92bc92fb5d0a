"""Every launch in a translation unit, with what the host code says about it.

``launch_contexts(unit)`` finds the functions of the host pass from which a kernel can be launched, runs them
symbolically from those that the world outside can call, and gives the launch contexts of each kernel instance. Given
the host passes of other files of the program, it follows calls and launches from there too. Launches in the unit's text
that no context accounts for are listed, with the reason.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache

from analyzers.frontend.cindex import Cursor, CursorKind, children, cursor_at, file_contents, kernel_identity
from analyzers.frontend.invalid import CompilerError, invalid_names
from analyzers.frontend.parse import HostPass, ParsedUnit
from analyzers.garbage import dismantle, uncollected
from analyzers.hostguide.asked import Asked
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.build_expressions import instance_text
from analyzers.hostguide.callers import Callers, Texts
from analyzers.hostguide.contexts import any_launch
from analyzers.hostguide.declared import (
    FUNCTIONS,
    MEMBERS,
    FoundFunction,
    called_as,
    on_device,
)
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.given import Mention, named_as_values, not_evaluated, template_around, variables_around
from analyzers.hostguide.hosttypes import HostTypes
from analyzers.hostguide.implied import Implied
from analyzers.hostguide.instantiations import is_typed_probe, probes_of, probes_of_texts
from analyzers.hostguide.launching import RawLaunch
from analyzers.hostguide.leading import Leading
from analyzers.hostguide.left_out import LAUNCH_TEXT, LeftOut
from analyzers.hostguide.listing import Listings
from analyzers.hostguide.macros import Macros
from analyzers.hostguide.merging import Merged, merged
from analyzers.hostguide.notes import span, text_of
from analyzers.hostguide.pitched import row_pitches
from analyzers.hostguide.program import Linker, Program
from analyzers.hostguide.recorded import Drafts, contexts_of
from analyzers.hostguide.replaceable import replaceable
from analyzers.hostguide.source import SourceTexts, blanked, extent
from analyzers.hostguide.specials import Run, is_allocator, is_applied
from analyzers.hostguide.tree import HostFunction, identity
from analyzers.hostguide.untouched import Reached
from analyzers.hostguide.wanted import Search, Wanted
from analyzers.hostguide.written import Code
from analyzers.ir.context import LaunchContext
from analyzers.model import Skipped, SourceSpan

_MOST_CONTEXTS = 12
"""Contexts of one kernel from one launch; beyond it the function around the launch is taken as called with anything."""
_RECURSION = 20_000
"""Python frames; trees are cut where they would need more."""
_DELETER = re.compile(
    rb"\bshared_ptr\s*<[^;{}()]*>\s*(?:[A-Za-z_]\w*\s*)?[({][^;]*,"
    rb"|\ballocate_shared\b|(?:\.|->)\s*reset\s*\([^;]*,"
)
"""A shared pointer is made with something more than a pointer."""
_TUPLE_SIZE = re.compile(rb"\b(?:struct|class)\s+(?:\w+\s*::\s*)*tuple_size\s*<([^{};]*)>\s*[:{]")
_SEEN_ONLY = "the kernel is launched only where that is seen: its address can be had elsewhere"
_USES = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR})


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
    defined: Collection[str] | None = None,
    listings: Listings | None = None,
) -> HostFacts:
    """The launches of a unit's kernels and what is known at each.

    ``linked`` are the passes of the files of ``program``. With names of ``kernels``, launches that name another kernel
    are left out. ``defined``: the mangled names of the kernels to give contexts of, None for all.
    ``listings``: what is known of passes that were asked about before."""
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    with uncollected():
        guide = _Guide(unit, linked, program or Program(), kernels, defined, listings or Listings())
        try:
            return guide.run()
        finally:
            machine = guide.machine
            dismantle(guide, machine.builder, machine)


def _broken_places(one: HostPass) -> Iterator[tuple[str, int]]:
    """Where a pass has errors, and where it names what is declared with one: clang leaves out what uses that."""
    yield from ((d.path, d.offset) for d in one.errors)

    def text_of(path: str) -> bytes:
        return file_contents(one.host, path)

    paths = (one.path, *one.dependencies)
    errors = (CompilerError(d.message, d.path, d.offset) for d in one.errors)
    invalid = invalid_names(one.host, paths, text_of, errors)
    for path in paths if invalid else ():
        yield from ((path, at) for at, _ in invalid.uses(text_of(path)))


class _Guide:
    """One run over one unit and the files linked with it."""

    def __init__(
        self,
        unit: ParsedUnit,
        linked: Sequence[HostPass],
        program: Program,
        kernels: Sequence[str],
        defined: Collection[str] | None,
        listings: Listings,
    ) -> None:
        self.unit = unit
        self._listings = listings
        self.kernels = kernels
        self.defined = defined
        self.program = program
        passes = (unit.host_pass, *linked)
        errors = [place for p in passes if p.errors for place in _broken_places(p)]
        self.sources = SourceTexts([p.host for p in passes], errors)
        suspect = self.sources.is_broken if errors else None
        self.linker = Linker(passes, program)
        self.machine = Executor(TreeBuilder(HostTypes(suspect), self.sources, self.linker.definition))
        self.own_paths = [unit.path, *unit.dependencies]
        self.paths = list(dict.fromkeys(path for p in passes for path in (p.path, *p.dependencies)))
        self.texts: dict[str, bytes] = {}
        self.functions: list[FoundFunction] = []
        self.classes: list[Cursor] = []
        self.probes: list[tuple[Cursor, str]] = []
        """Variables that probes declare, and the lines that do."""
        self.wanted = Wanted()
        self.places: dict[str, list[int]] = {}
        """Per file the offsets at which functions start, to find the one around an offset."""
        self.by_path: dict[str, list[FoundFunction]] = {}
        self.copies: dict[tuple[str, int], list[FoundFunction]] = {}
        """By file and offset, the copies of a function that the units have which include a header; `functions` lists
        the first."""
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
            if LAUNCH_TEXT.search(text):
                self.texts[path] = text
        if not self.texts:
            return HostFacts({}, (), ())
        self.texts = {path: blanked(self.sources.text(path)) for path in self.paths}
        self.macros = Macros(self.texts)
        files = frozenset(self.texts)
        for one in self.linker.passes:
            before = len(self.functions)
            self._list_functions(one, files)
            self.linker.learn(self.functions[before:])
        for path, found in self.by_path.items():
            found.sort(key=lambda f: (f.start, -f.end))
            self.places[path] = [f.start for f in found]
        self.asked = Asked(self.kernels, self.functions, self.texts)
        search = Search(self.texts, self.sources, self.macros, self._around, self.asked, self.functions)
        self.wanted = search.run(self.unit.path)
        foreseen = self._probes_foreseen()
        if foreseen:
            return HostFacts({}, (), (), foreseen.pop(self.linker.passes[0].path, ()), foreseen)
        self.machine.builder.replaceable = replaceable(self.texts, self.macros)
        self.machine.builder.tuple_like = self._tuple_like()
        for declared in self.classes:
            self.machine.builder.learn_bases(declared)
        self._resolve_probes()
        self.by_value = self._by_value()
        self.machine.by_value = frozenset(self.by_value.values())
        self.machine.wanted = frozenset(f.name for f in self.wanted.functions)
        self.code = cache(lambda: Code(self.texts, self.functions, self._around))
        implied = cache(self._implied)
        reached = cache(lambda: Reached(self.code(), self.macros.by_name(), implied(), self._meant))
        self.leading = cache(lambda: Leading(implied(), self.wanted))
        self.machine.leaves_alone = lambda function, of, name: reached().leaves_alone(function, of, name)
        self.machine.handed_out = cache(self._handed_out)
        self.machine.specials.free = cache(self._free_functions)
        self.machine.specials.allocators = cache(self._allocators)
        self.machine.specials.bases = lambda: self.machine.builder.bases
        self.machine.specials.custom_deleters = cache(lambda: any(_DELETER.search(t) for t in self.texts.values()))
        self._run_all()
        return self._collected()

    def _by_value(self) -> dict[Mention, str]:
        """Where kernels are named otherwise than in a launch of their own."""
        declared = {(f.path, f.named_at) for f in self.functions}
        kernels = (f for f in self.functions if not self.asked.leaves_out_name(f.name) and _is_kernel(f.cursor))
        return named_as_values(kernels, self.texts, declared)

    def _handed_out(self) -> list[Cursor]:
        """The kernels, templates left out, that are named otherwise than in a launch of their own."""
        names = set(self.by_value.values())
        return [f.cursor for f in self.functions if f.name in names and not f.template and _is_defined_kernel(f)]

    def _free_functions(self) -> list[tuple[Cursor, str]]:
        """The functions outside of classes that library templates may apply to objects, with their types."""
        free = (f.cursor for f in self.functions if f.cursor.kind not in MEMBERS and is_applied(f.name))
        return [(c, c.type.spelling) for c in free]

    def _tuple_like(self) -> frozenset[str]:
        """The names in the specializations of ``std::tuple_size`` that the program has."""
        heads = (match[1] for text in self.texts.values() for match in _TUPLE_SIZE.finditer(text))
        return frozenset(
            name for head in heads for name in re.findall(r"[A-Za-z_]\w*", head.decode("utf-8", "replace"))
        )

    def _allocators(self) -> Run:
        """The global ``operator new`` and ``operator delete`` that the program has in place of the library's."""
        free = (f for f in self.functions if f.defined and f.cursor.kind not in MEMBERS)
        return Run(tuple(f.cursor for f in free if is_allocator(f.name)))

    def _implied(self) -> Implied:
        builder = self.machine.builder
        return Implied(self.functions, self.sources, builder.definition, self.machine.bundled, builder.replaceable)

    def _meant(self, path: str, offset: int) -> Cursor | None:
        """The declaration that a name at a place means, None where clang does not say, or units differ."""
        found = [cursor_at(p.host, path, offset) for p in self.linker.passes if path in (p.path, *p.dependencies)]
        meant = [c.referenced for c in found if c is not None and c.kind in _USES and c.location.offset == offset]
        keys = {c.get_usr() for c in meant if c is not None}
        return meant[0] if len(keys) == 1 and len(meant) == len(found) else None

    # --- which functions

    def _list_functions(self, one: HostPass, files: frozenset[str]) -> None:
        listed = self._listings.of(one, files)
        for found in listed.functions:
            copies = self.copies.setdefault((found.path, found.start), [])
            if not copies:
                self.functions.append(found)
                self.by_path.setdefault(found.path, []).append(found)
            copies.append(found)
        self.classes += listed.classes
        self.probes += listed.probes

    def _resolve_probes(self) -> None:
        for probe, line in self.probes:
            for child in probe.walk_preorder():
                target = child.referenced if child.kind == CursorKind.DECL_REF_EXPR else None
                if target is not None and target.kind in FUNCTIONS and not is_typed_probe(line):
                    text = line.rpartition("&")[2].partition(";")[0]
                    self.machine.builder.overloads[instance_text(text.rstrip(") }").encode())] = target

    def _probes_wanted(self, one: HostPass) -> tuple[str, ...]:
        """What to append to a file to see further instances."""
        functions, wanted, own = self._read_by(one)
        idle = {f.name for f in wanted if f.template and f.name not in self.machine.ran}
        found = probes_of(functions, wanted, own, self.machine.builder.open_overloads, idle)
        return tuple(p for p in found if p not in one.probes)

    def _read_by(self, one: HostPass) -> tuple[list[FoundFunction], list[FoundFunction], list[bytes]]:
        """The functions that a file reads, those of them that may lead to launches, and the texts."""
        paths = dict.fromkeys((one.path, *one.dependencies))
        functions, wanted = ([f for f in fs if f.path in paths] for fs in (self.functions, self.wanted.functions))
        return functions, wanted, [self.texts[path] for path in paths]

    def _probes_foreseen(self) -> dict[str, tuple[str, ...]]:
        """By file, what to append to it whatever is found by running it: without, all of it would be run again. Empty
        once some of that is there."""
        foreseen: dict[str, tuple[str, ...]] = {}
        for one in self.linker.passes:
            _, wanted, own = self._read_by(one)
            found = probes_of_texts(wanted, own)
            if not set(one.probes).isdisjoint(found):
                return {}
            if found:
                foreseen[one.path] = found
        return foreseen

    def _around(self, path: str, offset: int) -> FoundFunction | None:
        """The innermost function whose text holds an offset."""
        found = self.by_path.get(path, [])
        at = bisect_right(self.places.get(path, []), offset) - 1
        # Functions nest only where a class is local to one, so the first that reaches the offset is the innermost.
        for index in range(at, max(-1, at - 64), -1):
            if offset < found[index].end:
                return found[index]
        return None

    # --- running them

    def _run_all(self) -> None:
        declared: dict[str, list[FoundFunction]] = {}
        for f in self.functions:
            declared.setdefault(called_as(f), []).append(f)
        texts = Texts(
            self.texts,
            self.wanted.mentions,
            declared,
            self._around,
            lambda path, at: self.macros.at(path, at) is not None,
        )
        self.callers = Callers(self.linker, self.machine, self.sources, texts)
        self.callers.gather(self.wanted.functions, lambda f: self.copies[f.path, f.start])
        self._run_open()
        for variable in self._variables_at(self.wanted.outside):
            self.machine.run_initialiser(variable)
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
        defined = self.machine.builder.definition(cursor)
        callee = self.callers.callee(defined)
        if callee is not None and not callee.is_open and not callee.first.template:
            callee.is_open, callee.assumption = True, None
        function = self.machine.builder.function(cursor) if self.leading().may_launch(defined) else None
        if function is None:
            return False
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
        contexts |= self._of_unreached(contexts)
        left_out = self._left_out()
        skipped = left_out.besides(set(sites))
        probes = {p.path: found for p in self.linker.passes if (found := self._probes_wanted(p))}
        own_probes = probes.pop(self.linker.passes[0].path, ())
        if self.by_value or left_out.named:
            self._add_unseen(contexts, left_out.named, set(sites))
        return HostFacts(
            contexts={name: merged(made) for name, made in contexts.items()},
            skipped=tuple(skipped),
            launches=tuple(found_sites),
            probes=own_probes,
            linked_probes=probes,
        )

    def _add_unseen(
        self, contexts: dict[str, list[LaunchContext]], left_out: dict[str, str], sites: Set[tuple[str, int, int]]
    ) -> None:
        """What may be launched where that is not seen has more contexts than those at hand. ``left_out``: by name of a
        kernel, a launch that is not followed; ``sites``: the launches that are."""
        machine = self.machine
        macros = self.macros.by_name()

        def missed() -> list[Mention]:
            """The names of kernels that nothing that was run came by."""
            seen = sorted(sites)
            return list(not_evaluated(self.by_value, self.texts, machine.evaluated, seen, macros.__contains__))

        launches = machine.launches, machine.unresolved
        self._give_from(set(missed()))
        found = machine.launches
        machine.launches, machine.unresolved = launches
        how: dict[str, str] = {}
        for raw in found:
            if self._is_ours(raw) and extent(raw.node.cursor) not in sites:
                line = raw.node.cursor.location.line
                how[self._identity(raw.kernel)] = f"the launch in line {line}, which is not followed, is such a one"
        for kernel, by in machine.given_away.values():
            name = self._identity(machine.builder.definition(kernel))
            how[name] = how.get(name) or by
        names = {name: self._kernel_names(name) for name in {*self.by_value.values(), *left_out}}
        for path, at in missed():
            around = template_around(self.texts[path], at)
            declared = (f.cursor for f in self.functions if f.name == around and not f.defined)
            unseen = any(machine.builder.definition(cursor) == cursor for cursor in declared)
            by = f"`{around}`, which is given the kernel and is not in sight, launches it so" if unseen else ""
            for name in names[self.by_value[path, at]]:
                how[name] = how.get(name) or by
        lost = {
            w: f"code in line {line}, which the parser cannot read, launches it so"
            for w, line in machine.in_lost.items()
        }
        for word, by in (lost | dict(left_out)).items():
            how.update((name, by) for name in names[word] if not how.get(name))
        for name in how.keys() & contexts.keys():
            if how[name]:
                contexts[name].append(any_launch(how[name]))
            else:
                contexts[name] = [replace(c, assumptions=(*c.assumptions, _SEEN_ONLY)) for c in contexts[name]]

    def _kernel_names(self, word: str) -> list[str]:
        """The instances of a kernel, by its name, that were launched."""
        return list(dict.fromkeys(self._identity(r.kernel) for r in self.machine.launches if _called(r.kernel) == word))

    def _give_from(self, missed: Set[Mention]) -> None:
        """Run the code around names of kernels that leads to no launch in sight, for who is given them there."""
        machine = self.machine
        machine.launches, machine.unresolved = [], []
        outside: dict[str, list[int]] = {}
        inside: dict[int, FoundFunction] = {}
        run = {id(f) for f in self.wanted.functions}
        for path, at in self.by_value:
            around = self._around(path, at)
            if around is None:
                outside.setdefault(path, []).append(at)
                continue
            known = (path, at) not in missed and around.cursor.linkage.name != "EXTERNAL"
            if not known and around.defined and not around.template and not on_device(around) and id(around) not in run:
                inside[id(around)] = around
        for f in inside.values():
            function = machine.builder.function(f.cursor)
            if function is not None:
                machine.run_root(function)
        # That a table is made does not say what becomes of it.
        evaluated = set(machine.evaluated)
        for variable in self._variables_at(outside):
            machine.run_initialiser(variable)
        machine.evaluated = evaluated

    def _variables_at(self, offsets: Mapping[str, Sequence[int]]) -> Iterator[Cursor]:
        """The variables outside of functions whose declarations hold offsets, by file."""
        for one in self.linker.passes:
            own = {path: sorted(places) for path, places in offsets.items() if path in (one.path, *one.dependencies)}
            if own:
                yield from variables_around(one.host.cursor, own)

    def _left_out(self) -> LeftOut:
        return LeftOut(
            self.unit,
            self.texts,
            self.sources,
            self.macros,
            self._around,
            self.machine,
            self.linker,
            self.asked,
            self.own_paths,
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
        distinct = Merged()
        events = tuple(raw.event for raw in raws)
        crowded = events in self._crowded
        for raw in raws:
            if crowded or len(distinct) > _MOST_CONTEXTS:
                self._crowded.add(events)
                anything = self._called_with_anything([r.owner for r in raws], site, name)
                if anything:
                    return anything
            made = _doubted(raw, contexts_of(self.machine, raw, self._trust(raw), drafts))
            distinct.add(self.linker.doubted(made, raw.kernel.spelling, site[0]))
        if len(distinct) > _MOST_CONTEXTS:
            return self._called_with_anything([r.owner for r in raws], site, name) or tuple(distinct)
        return tuple(distinct)

    def _of_unreached(self, reached: Container[str]) -> dict[str, list[LaunchContext]]:
        """The contexts of kernels that no call in sight leads to, such as those of the types that a program could pass
        to its library and does not: from the outermost functions that lead there, as called with anything."""
        missing = {name for name in self.defined or () if name not in reached}
        found: dict[str, list[LaunchContext]] = {}
        machine = self.machine
        for functions in self.callers.outermost_closed() if missing else ():
            recorded, machine.launches = machine.launches, []
            for function in functions:
                machine.run_root(function)
            launches, machine.launches = machine.launches, recorded
            drafts: Drafts = {}
            for raw in launches:
                name = self._identity(raw.kernel)
                if name in missing and self._is_ours(raw):
                    found.setdefault(name, []).extend(
                        _doubted(raw, contexts_of(machine, raw, self._trust(raw), drafts))
                    )
            missing -= found.keys()
            if not missing:
                break
        return found

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
        return merged(c for raw in found.get(name, ()) for c in _doubted(raw, contexts_of(machine, raw, drafts=drafts)))

    def _trust(self, raw: RawLaunch) -> tuple[str, ...]:
        """What is assumed of the callers of the functions on the way to a launch."""
        builder = self.machine.builder
        functions = [raw.root, *(builder.function(call.value) for call in raw.calls if call.value is not None)]
        callees = [self.callers.callee(f.cursor) for f in functions if f is not None]
        known = [c.assumption for c in callees if c is not None and c.assumption is not None]
        taken = [(f.name, extent(f.cursor)[0]) for f in raw.taken]
        known += [f"`{name}` is the one in {path}" for name, path in taken if not self.linker.is_own(path)]
        return tuple(dict.fromkeys(known))


def _doubted(raw: RawLaunch, contexts: Iterable[LaunchContext]) -> list[LaunchContext]:
    return [replace(c, uncertain=c.uncertain or raw.doubt) for c in contexts] if raw.doubt else list(contexts)


def _called(kernel: Cursor) -> str:
    return kernel.spelling.partition("<")[0]


def _is_defined_kernel(f: FoundFunction) -> bool:
    return f.defined and _is_kernel(f.cursor)


def _is_kernel(function: Cursor) -> bool:
    return any(c.kind == CursorKind.CUDAGLOBAL_ATTR for c in children(function))
