"""The calls of a function in the texts of a program, with their arguments, whatever the form they have.

Objects are also made in lists in braces, by containers, under other names of the class and of type parameters: what
may be a call of a constructor counts as one. Raises Doubt where calls do not show what they give.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from analyzers.frontend.cindex import CursorKind
from analyzers.hostguide.brackets import arguments
from analyzers.hostguide.declared import FoundFunction
from analyzers.hostguide.written import Code, Doubt, parameters

_CLASS_HEAD = re.compile(rb"\b(?:class|struct|union)\s+(?:\w+\s+)?$")
_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)\s+([A-Za-z_]\w*)\s*(?=[,>=])")
_MADE_IN_PLACE = re.compile(rb"(?:emplace|construct|allocate_shared)\w*\s*(?:<[^<>;{}()]*>)?\s*\(")
_LISTED = re.compile(rb"(?:\b(return)|(?:([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>)?[\s*&]+\w+|(?<![\]\s]))\s*=|[(,])$")

Call = tuple[FoundFunction | None, int, list[str]]
"""The function around it, its offset in the file of that, and what it gives."""


class Calls:
    """The calls in a program."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._lists: list[tuple[str, Call]] | None = None
        self._made: list[Call] | None = None
        self._parameters: frozenset[str] | None = None

    def of(self, f: FoundFunction) -> Iterator[Call]:
        code, name = self._code, f.name.partition("<")[0]
        if f.cursor.kind != CursorKind.CONSTRUCTOR:
            if not name.isidentifier():
                raise Doubt(f"{name} is called by its sign")
            _check_only_called(code, name)
            yield from _by_name(code, [name], "function")
            return
        names = {name, *_other_names(code, name)}
        _check_not_inherited(code, names)
        yield from _by_name(code, names, "class")
        yield from self._made_otherwise(names, len(parameters(f)))

    def _made_otherwise(self, names: set[str], count: int) -> Iterator[Call]:
        """Where an object of a class may be made without its name."""
        code = self._code
        words = b"|".join(re.escape(n.encode()) for n in sorted(names))
        is_argument = re.compile(rb"[<,]\s*(?:const\s+)?(?:\w+\s*::\s*)*(?:" + words + rb")\b")
        if any(is_argument.search(text) for text in code.texts.values()):
            for call in self._made_in_place():
                if len(call[2]) > count:
                    raise Doubt("a container makes objects of parts")
                yield call
            yield from _by_name(code, self._type_parameters(), "parameter")
        for type_, call in self._in_lists():
            if not type_ or {"auto", *names} & set(re.findall(r"\w+", type_)):
                yield call

    def _type_parameters(self) -> frozenset[str]:
        if self._parameters is None:
            texts = self._code.texts.values()
            self._parameters = frozenset(p.decode() for text in texts for p in _TYPE_PARAMETER.findall(text))
        return self._parameters

    def _made_in_place(self) -> list[Call]:
        if self._made is None:
            found = [(path, m) for path, text in self._code.texts.items() for m in _MADE_IN_PLACE.finditer(text)]
            self._made = [self._at(path, m.start(), m.end() - 1) for path, m in found]
        return self._made

    def _in_lists(self) -> list[tuple[str, Call]]:
        """Lists in braces, each with the type of what it makes where that stands there."""
        if self._lists is None:
            self._lists = []
            for path, text in self._code.texts.items():
                at = text.find(b"{")
                while at >= 0:
                    found = _LISTED.search(text[max(0, at - 80) : at].rstrip())
                    if found is not None:
                        call = self._at(path, at, at)
                        given = call[0].cursor.result_type.spelling if found[1] and call[0] is not None else ""
                        self._lists.append((found[2].decode() if found[2] else given, call))
                    at = text.find(b"{", at + 1)
        return self._lists

    def _at(self, path: str, at: int, opened: int) -> Call:
        return self._code.around(path, at), at, arguments(self._code.texts[path], opened)[0]


def parameter_texts(code: Code, f: FoundFunction) -> list[str]:
    text = code.texts[f.path]
    opened = text.find(b"(", f.named_at)
    return arguments(text, opened)[0] if opened >= 0 else []


_FORMS = {
    "function": rb"\s*(?:<[^<>;{}()]*>)?\s*>*\s*([(])",
    "class": rb"\s*(?:<[^<>;{}()]*>)?\s*>*\s*(?:[A-Za-z_]\w*\s*)?([({])",
    "parameter": rb"\s*(?:[A-Za-z_]\w*\s*)?([({])",
}
"""What stands between a name and the arguments: of a class its variable, or the end of ``make_unique<...>``."""


def _by_name(code: Code, names: Collection[str], what: str) -> Iterator[Call]:
    words = b"|".join(re.escape(name.encode()) for name in sorted(names))
    pattern = re.compile(rb"\b(?:" + words + rb")\b" + _FORMS[what])
    if not names:
        return
    for path, text in code.texts.items():
        for match in pattern.finditer(text):
            words = re.finditer(rb"[A-Za-z_]\w*", match[0])
            if any((path, match.start() + w.start()) in code.declared_at for w in words):
                continue
            if _CLASS_HEAD.search(text[max(0, match.start() - 40) : match.start()]):
                continue
            given, _ = arguments(text, match.end() - 1)
            yield code.around(path, match.start()), match.start(), given


def _other_names(code: Code, name: str) -> Iterator[str]:
    """Aliases of a class."""
    word = re.escape(name.encode())
    forms = (
        rb"\busing\s+(\w+)\s*=\s*(?:typename\s+)?(?:\w+\s*::\s*)*" + word + rb"\b[^;]*;",
        rb"\btypedef\s+(?:(?:struct|class)\s+)?(?:\w+\s*::\s*)*" + word + rb"\b[^;]*?(\w+)\s*;",
    )
    for text in code.texts.values():
        for form in forms:
            yield from (found.decode() for found in re.findall(form, text))


def _check_not_inherited(code: Code, names: set[str]) -> None:
    words = b"|".join(re.escape(n.encode()) for n in sorted(names))
    form = re.compile(rb"\busing\s[^;=]*\b(" + words + rb")\s*(?:<[^;]*>)?\s*::\s*\w+\s*;")
    for text in code.texts.values():
        for match in form.finditer(text):
            if match[0].rstrip(b"; \t\n").rpartition(b"::")[2].strip().decode() in names:
                raise Doubt("another class takes the constructors over")


def _check_only_called(code: Code, name: str) -> None:
    """Nobody may hold a pointer to a function."""
    for path, at in code.uses(name):
        text = code.texts[path]
        rest = text[at + len(name) : at + len(name) + 200]
        if (path, at) not in code.declared_at and re.match(rb"\s*(?:<[^<>;{}()]*>\s*)?\(", rest) is None:
            raise Doubt(f"{name} is used without being called")
