"""What stands between barriers that all threads come to, put under a condition that only some meet.

Takes statements in a row, gives the changes after which they are executed under the condition. What others need of
their declarations goes in front: as it is, where any thread can compute it, else without a value, which is assigned
where it was declared. A conditional that stands alone takes the condition into its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.gaps import Body, Declared, Statement
from analyzers.frontend.plain import UNKNOWN_TEST, Test
from quickfix.carried import is_quiet, said_in
from quickfix.carried_assumptions import assumed_of, ends_earlier, made_by_all
from quickfix.distribute import DIRECTIVE
from quickfix.edits import Change
from quickfix.lasting import LASTING, ending_in, led_to
from quickfix.line_edits import LineEdits
from quickfix.naming import NotPossible, line_of, with_macros
from quickfix.negation import operand
from quickfix.sections import balanced
from quickfix.variables import declarations, mentioned, others_of_the_name, stay, uses_in

_PRAGMA: Final = re.compile(rb"^[ \t]*#[ \t]*pragma\b", re.MULTILINE)


NAME: Final = Test("")
"""A variable."""


@dataclass(frozen=True, slots=True)
class Under:
    """The condition that a thread has to meet, in the words of the source."""

    text: bytes
    test: Test = NAME
    """What the condition is made of."""
    at: int = -1
    """Where the words stand in the old text, where it is those."""

    @property
    def operand(self) -> bytes:
        """As one side of `&&`."""
        return operand(self.text, self.test)


@dataclass
class Between(LineEdits):
    """The changes of one function for what is between its barriers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.variables = {u.at: u.variable for u in self.function.uses if u.kind == "declared"}
        """By the offset of the name in the declaration."""
        bare = filter(self._has_no_value, declarations(self.function))
        self.unset = {self.variables[d.at] for d in bare}
        """Variables that may have no value in threads that the condition keeps out."""
        self.assumed: list[str] = []
        """What is taken for granted about variables that are assigned apart from their declarations."""

    def _has_no_value(self, declared: Declared) -> bool:
        following = self.layout.code[declared.at + len(declared.name.encode()) :].lstrip()
        return following[:1] in (b";", b",")

    def declared_in(self, statement: Statement) -> set[int]:
        return {self.variables[d.at] for d in statement.declares or ()}

    def mentioned(self, *ranges: tuple[int, int]) -> set[int]:
        """The variables that code mentions and does not declare."""
        return mentioned(self.function, *ranges)

    def guard(self, run: Sequence[Statement], body: Body, under: Under | None, depth: int) -> None:
        """Put statements under the condition; what others need of their declarations goes in front."""
        if under is None or not run:
            return
        layout, text = self.layout, self.text
        rest = run[-1].end, body.end
        items = list(run)
        while items and self.is_known(items[0]) and (not depth or self._used(rest, items[0])):
            self.assumed += filter(None, [made_by_all(items.pop(0))])
        if not items:
            return
        first = items[0]
        at, base = layout.line_start(first.start), self.indentation(first.keyword or first.start, depth)
        if not balanced(text, at, run[-1].end):
            raise NotPossible(f"preprocessor lines cut the code in line {line_of(text, first.start)}")
        if not layout.is_first(first.start):
            raise NotPossible(f"the code in line {line_of(text, first.start)} does not begin its line")
        named = self.mentioned(rest) | self._led_to(items, body)
        front = b""
        moved: list[tuple[int, int, int]] = []
        carried: dict[str, list[str]] = {}
        kept: list[Statement] = []
        for statement in items:
            used = self._declared_among(named, statement)
            line = line_of(text, statement.start)
            shared = layout.code.startswith(b"__shared__", statement.start)
            if not used and not shared:
                if self._may_declare(statement, rest, named):
                    raise NotPossible(f"a declaration in line {line} cannot be moved")
                self.assumed += filter(None, [ends_earlier(statement)])
                kept.append(statement)
                continue
            declares = statement.declares or ()
            before = [(each.start, each.end) for each in kept]
            hides = any(others_of_the_name(self.function, d.name, self.variables[d.at], *before) for d in declares)
            if (shared and depth) or hides:
                raise NotPossible(f"a declaration in line {line} cannot be moved")
            if DIRECTIVE.search(_PRAGMA.sub(b"", text[at : run[-1].end])):
                raise NotPossible(f"there are preprocessor lines around the declaration in line {line}")
            if (
                shared
                or all(d.bare or (d.elements is not None and not d.elements.values) for d in declares)
                or (self.is_known(statement) and self._is_first_use(kept, statement))
            ):
                self.assumed += filter(None, [made_by_all(statement)])
                stop = layout.line_end(statement.end)
                lines = self.whole_lines(statement.start, stop, line)
                front += base
                moved.append((len(front), statement.start, stop - statement.start))
                front += text[statement.start : stop] + layout.newline
                self.found.append(Change(*lines, b""))
                continue
            if len(declares) != 1 or not declares[0].assignable:
                raise NotPossible(f"`{used}` is declared in one half of a conditional and used in the other")
            (each,) = declares
            self.assumed += filter(None, [assumed_of(layout, self.function, statement, each)])
            carried.setdefault(each.type, []).append(each.name)
            self.unset.add(self.variables[each.at])
            self.found.append(Change(statement.start, each.at, said_in(layout, statement.start, each.at)))
            kept.append(statement)
        declared = b"".join(base + line + b";" + layout.newline for line in _declarations(carried))
        front, moved = declared + front, [(len(declared) + new, old, length) for new, old, length in moved]
        if not kept:
            self.found.append(Change(at, at, front, moved=tuple(moved)))
            return
        if len(kept) == 1 and self._merged(kept[0], under):
            if front:
                self.found.append(Change(at, at, front, moved=tuple(moved)))
            return
        end = layout.line_end(kept[-1].end)
        if b'R"' in text[at:end]:
            raise NotPossible("there is a raw string between the barriers, which cannot be indented")
        if under.at >= 0:
            moved.append((len(front + base) + 4, under.at, len(under.text)))
        opened = front + base + b"if (" + under.text + b") {" + layout.newline
        self.found.insert(0, Change(at, at, opened, moved=tuple(moved)))
        self.found.append(Change(end, end, layout.newline + base + b"}"))
        self.shift(at, end, 1)

    def is_known(self, statement: Statement) -> bool:
        """A declaration that any thread can execute."""
        if not is_quiet(self.layout, statement):
            return False
        return self.mentioned((statement.start, statement.end)).isdisjoint(self.unset)

    def _is_first_use(self, before: Iterable[Statement], statement: Statement) -> bool:
        """Nothing in front of a declaration declares or changes what it computes with."""
        ranges = [(s.start, s.end) for s in before]
        declared = {u.variable for u in uses_in(self.function, *ranges) if u.kind == "declared"}
        used = self.mentioned((statement.start, statement.end))
        return used.isdisjoint(declared) and stay(self.function, used, *ranges)

    def _used(self, rest: tuple[int, int], statement: Statement) -> str:
        """The first variable of a declaration that the code mentions, or nothing."""
        return self._declared_among(self.mentioned(rest), statement)

    def _declared_among(self, variables: Collection[int], statement: Statement) -> str:
        return next((d.name for d in statement.declares or () if self.variables[d.at] in variables), "")

    def _led_to(self, items: Sequence[Statement], body: Body) -> set[int]:
        """What statements declare and has to last, though nothing behind them names it."""
        ending = set[int]()
        for statement in items:
            if not LASTING.search(self.layout.code, statement.start, statement.end):
                ending |= ending_in(self.function, statement)
        end = items[-1].end
        return led_to(self.function, ending, (items[0].start, end), (end, body.end))

    def _may_declare(self, statement: Statement, rest: tuple[int, int], named: Collection[int]) -> bool:
        """Whether a statement that is not understood declares something that is used behind it: a variable, which the
        tree shows, or a type, as far as the text does."""
        if statement.declares is not None or statement.kind not in ("declaration", "other"):
            return False
        declared = {
            u.variable for u in uses_in(self.function, (statement.start, statement.end)) if u.kind == "declared"
        }
        if not declared.isdisjoint(named):
            return True
        names = set(re.findall(rb"([A-Za-z_]\w*)\s*[\[=;,({]", self.layout.code[statement.start : statement.end]))
        used = with_macros(self.layout.code[slice(*rest)], self.text)
        return any(re.search(rb"\b" + name + rb"\b", used) for name in names)

    def _merged(self, statement: Statement, under: Under) -> bool:
        """Add the condition to that of a conditional that stands alone."""
        head = slice(statement.keyword, statement.head_end)
        plain = statement.kind == "if" and len(statement.bodies) == 1 and not statement.macro
        opening = self.text.find(b"(", statement.keyword, statement.head_end)
        if not plain or self.layout.code[head] != self.text[head] or b"#" in self.text[head]:
            return False
        condition = self.text[opening + 1 : statement.head_end - 1]
        if self.layout.code[statement.keyword + 2 : opening].strip() or statement.test == UNKNOWN_TEST:
            return False
        bare = operand(condition, statement.test) == condition
        self.found.append(Change(opening + 1, opening + 1, under.operand + b" && " + (b"" if bare else b"(")))
        if not bare:
            self.found.append(Change(statement.head_end - 1, statement.head_end - 1, b")"))
        return True


def _declarations(names: Mapping[str, Sequence[str]]) -> Iterable[bytes]:
    """Declarations of variables without values, by type; pointers each alone."""
    for written, found in names.items():
        if written.endswith(("*", "&", "]")):
            yield from (f"{written}{name}".encode() for name in found)
        else:
            yield f"{written} {', '.join(found)}".encode()
