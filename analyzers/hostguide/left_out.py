"""The launches of a unit's text that no context accounts for, each with the reason."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from analyzers.frontend.cindex import cursor_at
from analyzers.frontend.parse import Diagnostic, ParsedUnit, ScannedLaunch, scan_launches
from analyzers.frontend.unseen import not_compiled
from analyzers.hostguide.asked import Asked
from analyzers.hostguide.declared import FoundFunction, on_device
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.macros import Macros
from analyzers.hostguide.notes import span, text_of
from analyzers.hostguide.program import Linker
from analyzers.hostguide.source import SourceTexts, closing, extent
from analyzers.ir.names import base_word
from analyzers.model import Skipped, SourceSpan

LAUNCH_TEXT = re.compile(rb"<<<|\bcudaLaunch(?:Cooperative)?Kernel(?:ExC?)?\b")
"""What stands where a kernel is launched."""

Site = tuple[str, int, int]
"""File and extent of a launch."""


class LeftOut:
    """Of one unit, after its host code has been run."""

    def __init__(
        self,
        unit: ParsedUnit,
        texts: Mapping[str, bytes],
        sources: SourceTexts,
        macros: Macros,
        around: Callable[[str, int], FoundFunction | None],
        machine: Executor,
        linker: Linker,
        asked: Asked,
        own_paths: Sequence[str],
    ) -> None:
        self._unit = unit
        self._texts = texts
        self._sources = sources
        self._macros = macros
        self._around = around
        self._machine = machine
        self._linker = linker
        self._asked = asked
        self._own_paths = own_paths
        self.named: dict[str, str] = {}
        """By name, kernels that are launched there all the same, though not in a way that is followed, and how."""

    def besides(self, sites: set[Site]) -> list[Skipped]:
        """``sites``: the launches that contexts account for."""
        out: list[Skipped] = []
        unresolved: set[Site] = set()
        for node, why in self._machine.unresolved:
            where = extent(node.cursor)
            if where not in unresolved and self._linker.is_own(where[0]):
                unresolved.add(where)
                out.append(Skipped(f"launch {text_of(self._sources, node.cursor)}: {why}", span(node.cursor)))
        covered = sites | unresolved
        for path in self._own_paths:
            if not self._any_uncovered(path, covered):
                continue
            raw = self._sources.text(path).decode("utf-8", "replace")
            for launch in scan_launches(raw):
                if launch.in_macro or self._asked.leaves_out_name(launch.kernel):
                    continue
                if not any(p == path and start <= launch.offset < end for p, start, end in covered):
                    how = self._launched_by(path, launch)
                    if how:
                        self.named.setdefault(base_word(launch.kernel), how)
                    out.append(Skipped(self._why(path, launch), _point(path, launch)))
        out += self._in_macros(covered)
        return out

    def _any_uncovered(self, path: str, covered: set[Site]) -> bool:
        """Whether a launch stands in the text that nothing accounts for; cheaper than a scan by tokens."""
        spans = sorted((start, end) for p, start, end in covered if p == path)
        starts = [start for start, _ in spans]
        for match in LAUNCH_TEXT.finditer(self._texts[path]):
            at = bisect_right(starts, match.start()) - 1
            inside = any(match.start() < end for _, end in spans[max(0, at - 3) : at + 1])
            if not inside and self._macros.at(path, match.start()) is None:
                return True
        return False

    def _why(self, path: str, launch: ScannedLaunch) -> str:
        what = f"launch of {launch.kernel}"
        around = self._around(path, launch.offset)
        end = self._texts[path].find(b";", launch.offset)
        end = end if end >= 0 else len(self._texts[path])
        error = self._error_in(path, launch.offset, end)
        compiled = error is None and self._is_compiled(path, launch, end)
        if error is None and launch.condition and not compiled:
            return f"{what}: {not_compiled(launch.condition)}"
        if around is not None and on_device(around):
            return f"{what} is in device code, which is not followed to further kernels"
        if self._is_in_lambda(path, launch):
            return f"{what} is in a lambda that names what it captures anew, which is not followed"
        if around is not None and around.template and around.name not in self._machine.ran:
            return f"{what} is in a template that nothing here instantiates"
        if error is None and around is not None:
            error = self._error_in(path, around.start, around.end)
            if error is None or compiled:
                return f"{what} is never reached"
        return f"{what} not visible to the parser" + (f" (line {error.line}: {error.message})" if error else "")

    def _launched_by(self, path: str, launch: ScannedLaunch) -> str:
        """What makes a launch that is not followed; empty where nothing does, as far as can be told."""
        around = self._around(path, launch.offset)
        if launch.condition:
            return ""
        if around is None:
            return f"the launch in line {launch.line}, which is not followed, is such a one"
        if on_device(around):
            return f"`{around.name}`, which runs on the device, launches it so"
        if around.template and around.cursor.is_virtual_method():
            return f"`{around.name}`, a virtual function of a template, launches it so"
        if self._is_in_lambda(path, launch):
            return f"the launch in line {launch.line}, which is not followed, is such a one"
        lost = self._error_in(path, around.start, around.end) is not None
        return f"the launch in line {launch.line}, which is not visible to the parser, is such a one" if lost else ""

    def _is_in_lambda(self, path: str, launch: ScannedLaunch) -> bool:
        """Whether a launch is in a lambda that the execution came to and did not follow."""
        left_out = self._machine.builder.lambdas_left_out
        return any(p == path and start <= launch.offset < end for p, start, end in left_out)

    def _error_in(self, path: str, start: int, end: int) -> Diagnostic | None:
        """The first error of the host pass that is located in these bytes."""
        errors = [e for e in self._unit.all_errors if e.side == "host" and e.path == path and start <= e.offset <= end]
        return min(errors, key=lambda e: e.offset, default=None)

    def _is_compiled(self, path: str, launch: ScannedLaunch, end: int) -> bool:
        """Whether a cursor stands for the launch: around text that an `#if` leaves out there is only a wider one."""
        found = cursor_at(self._unit.host, path, launch.offset)
        if found is None or found.kind.is_translation_unit() or found.kind.is_declaration():
            return False
        _, start, stop = extent(found)
        return launch.offset <= start and stop <= end + 1

    def _in_macros(self, covered: set[Site]) -> list[Skipped]:
        """Uses of macros that contain a launch, where the parser saw none."""
        out: list[Skipped] = []
        names = {
            name
            for path in self._own_paths
            for name, start, end in self._macros.of(path)
            if LAUNCH_TEXT.search(self._texts[path], start, end)
        }
        if not names:
            return out
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(n.encode()) for n in sorted(names)) + rb")\b")
        for path in self._own_paths:
            text = self._texts[path]
            for match in pattern.finditer(text):
                if self._macros.at(path, match.start()) is not None or self._around(path, match.start()) is None:
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
