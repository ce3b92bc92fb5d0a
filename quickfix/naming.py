"""What rewriting a source needs beside its trees: names that are free, lines, and the word for what cannot be done."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Final

from analyzers.frontend.blanking import blanked, without_comments
from analyzers.frontend.gaps import FunctionTree
from analyzers.model import SourceSpan
from quickfix.edits import Layout
from quickfix.paths import Level
from quickfix.variables import declarations, hidden, stay, uses_in

_MACRO: Final = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE)

_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


class NotPossible(Exception):
    """The source is not of the form that can be rewritten; the text says why."""


def fresh_name(level: Level, text: bytes, stem: str, taken: Collection[bytes]) -> bytes:
    """A name that occurs neither in the function nor in a macro of the file, which the function may use, and is not
    one of `taken` (`Session.reserved_in`)."""
    name, number = stem.encode(), 2
    function = b"\n".join((text[level.function.start : level.function.end], *_MACRO.findall(text)))
    while name in taken or re.search(rb"\b" + name + rb"\b", function):
        name, number = f"{stem}{number}".encode(), number + 1
    return name


def with_macros(code: bytes, text: bytes) -> bytes:
    """Code, followed by the definitions of the text's macros that it uses, directly or through others."""
    left = {m[1]: m[0] for d in _MACRO.findall(text) if (m := re.match(rb"[ \t]*#[ \t]*define[ \t]+(\w+)[^\0]*", d))}
    while used := [name for name in left if re.search(rb"\b" + name + rb"\b", code)]:
        code = b"\n".join((code, *(left.pop(name) for name in used)))
    return code


def macros_of(texts: Iterable[bytes]) -> dict[bytes, bytes]:
    """What defines the macros of some files, by name: all definitions of one that has several."""
    found: dict[bytes, bytes] = {}
    for text in texts:
        for name, start, end in definitions(text):
            found[name] = found.get(name, b"") + b" " + text[start:end]
    return found


def macros_of_flags(arguments: Iterable[str]) -> dict[bytes, bytes]:
    """The same of those that a compile command defines (`-DNAME=…`)."""
    given = [*arguments, ""]
    found = (after if each == "-D" else each[2:] for each, after in pairwise(given) if each.startswith("-D"))
    names = (re.match(r"[A-Za-z_]\w*", each) for each in found)
    return {m[0].encode(): m.string[m.end() :].encode() for m in names if m is not None}


def said_by_macros(code: bytes, macros: Mapping[bytes, bytes]) -> set[bytes]:
    """The words in the definitions of the macros that code uses, directly or through others."""
    found, words = set[bytes](), set(_WORD.findall(code))
    while used := words & macros.keys() - found:
        found |= used
        words = set(_WORD.findall(b" ".join(macros[name] for name in used)))
        found |= words - macros.keys()
    return found


def definitions(text: bytes) -> list[tuple[bytes, int, int]]:
    """The macros that the text defines: the name, and from where behind it to where the definition goes."""
    found = ((m, re.match(rb"[ \t]*#[ \t]*define[ \t]+(\w+)", m.group())) for m in _MACRO.finditer(text))
    return [(name[1], m.start() + name.end(), m.end()) for m, name in found if name is not None]


def names_of_definition(text: bytes, place: int) -> set[bytes]:
    """The macro in whose definition a place is, if there is one."""
    return {name for name, start, end in definitions(text) if start <= place <= end}


def uses_of_definition(texts: Mapping[str, bytes], path: str, place: int) -> list[tuple[str, int]]:
    """Where code of the texts, which are by path, uses the macro in whose definition a place is, directly or through
    others, or the variables of the device in whose declaration it is; nothing elsewhere."""
    text = texts.get(path, b"")
    names = names_of_definition(text, place)
    known = [(name, each[start:end]) for each in texts.values() for name, start, end in definitions(each)] * bool(names)
    while more := {name for name, said in known if _word_of(names, said)} - names:
        names |= more
    names |= _declared_on_device(blanked(text), place)
    found = ((p, name, blanked(each)) for p, each in texts.items() for name in names)
    return [(p, m.start()) for p, name, code in found for m in re.finditer(rb"\b" + re.escape(name) + rb"\b", code)]


_ON_DEVICE: Final = re.compile(rb"\b__(?:device|managed|constant)__\b[^()]*\Z")
_DECLARED: Final = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*[,;={]")


def _declared_on_device(code: bytes, place: int) -> set[bytes]:
    """The variables of the device in whose declaration a place is; functions are none."""
    head = max(code.rfind(sign, 0, place) for sign in (b";", b"{", b"}")) + 1
    if _ON_DEVICE.search(code, head, place) is None:
        return set()
    end = code.find(b";", place) + 1
    return {m[1] for m in _DECLARED.finditer(code, place, end)} if b"(" not in code[place:end] else set()


def _word_of(names: Collection[bytes], code: bytes) -> bool:
    return any(re.search(rb"\b" + re.escape(name) + rb"\b", code) for name in names)


_LINE: Final = re.compile(rb"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?P<word>\w*)[ \t]*(?P<name>\w*)", re.MULTILINE)
_PLAIN_LINES: Final = frozenset([b"", *b"if ifdef ifndef elif elifdef elifndef else endif error warning line".split()])


def redefines(text: bytes, start: int, end: int, code: bytes) -> bool:
    """Whether code that stands at one of two places may mean something else at the other, because what it says is
    defined as a macro, or no longer, between them."""
    lines = list(_LINE.finditer(without_comments(text[start:end]).replace(b"\\\n", b"").replace(b"\\\r\n", b"")))
    defined = {line["name"] for line in lines if line["word"] in (b"define", b"undef")}
    others = [line for line in lines if line["word"] not in (*_PLAIN_LINES, b"define", b"undef")]
    if any(line["word"] != b"pragma" or line["name"] in (b"push_macro", b"pop_macro") for line in others):
        return True
    return bool(defined) and not defined.isdisjoint(_WORD.findall(with_macros(code, text)))


def defines(text: bytes, macro: bytes) -> bool:
    """Whether the text defines a macro of this name."""
    return any(name == macro for name, _, _ in definitions(text))


def kept_condition(code: bytes, function: FunctionTree, place: tuple[int, int], under: tuple[int, int]) -> bytes | None:
    """The condition in that place, if it is a variable that keeps the value of one already, or the opposite of such a
    variable: a `bool` that the code `under` the condition does not change, and which it can name."""
    condition = code[slice(*place)].strip()
    name = re.fullmatch(rb"!?\s*([A-Za-z_]\w*)", condition)
    used = {u.variable for u in uses_in(function, place) if name is not None and u.name.encode() == name[1]}
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in used}
    own = (d for d in declarations(function) if d.at in places and (d.assignable or d.bare))
    head = (code[function.start : at] for at in places if at < function.body.start)
    flag = any(d.type == "bool" for d in own) or any(re.search(rb"\bbool\s+\Z", code) for code in head)
    if len(used) != 1 or not flag or not stay(function, used, under) or hidden(function, used, under):
        return None
    return condition


def declares(layout: Layout, function: FunctionTree, place: tuple[int, int]) -> bool:
    """Whether a condition declares something, or is more than one expression."""
    return b";" in layout.code[slice(*place)] or any(u.kind == "declared" for u in uses_in(function, place))


def constant(type_: str, name: bytes) -> bytes:
    """The declaration of a variable of a type that keeps its value."""
    return (f"{type_}const " if type_.endswith("*") else f"const {type_} ").encode() + name


def line_of(text: bytes, offset: int) -> int:
    """The line that a byte stands in, from 1."""
    return text.count(b"\n", 0, offset) + 1


def span_of(path: str, text: bytes, start: int, end: int) -> SourceSpan:
    """A range of a file's text, by the offsets of its bytes."""
    first, last = (text.rfind(b"\n", 0, at) + 1 for at in (start, end))
    return SourceSpan(path, line_of(text, start), start - first + 1, line_of(text, end), end - last + 1, start, end)
