"""Uses of an integer variable or member that only read it, as they stand in the text of host code.

Everything else may write it: through a reference that is bound to it, a pointer to it, a parameter that is a
reference. So uses count as reads where the text around them says so: operands, values that are assigned, returned or
handed to parameters in sight, none of which are references. Whatever has another form is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.brackets import arguments, first_behind, flat, last_before, opening
from analyzers.hostguide.declared import FoundFunction

_WRITTEN = re.compile(rb"(?:[-+*/%&|^]=|<<=|>>=|\+\+|--|=(?!=))")
_STEPPED = re.compile(rb"(?:\+\+|--|>>|(?<!&)&)$")
_OPERAND = re.compile(rb"(?:[-+*/%!~|^<?]|(?<!-)>|&&|[=<>!]=)$")
_BINDING = re.compile(rb"&\s*(?:\w+|\[[^\]]*\])\s*=$")
_NAME = re.compile(rb"([A-Za-z_]\w*)$")
_ARITHMETIC = re.compile(
    r"(?:const )?(?:std::)?(?:int|unsigned|signed|long|short|char|bool|float|double|size_t|ptrdiff_t|u?int\d+_t|auto)"
    r"(?: (?:int|long|short|char))*"
)
_TYPE = re.compile(r"(?:const )?[\w:]+(?: \w+)*")
_NO_CALLS = frozenset({"if", "while", "switch", "for", "sizeof", "alignof", "static_assert"})
_GIVES = frozenset({"return", "co_return", "co_yield"})
_BLOCKS = frozenset({"else", "do", "try", "const", "noexcept", "override", "final", "mutable"})
_WORDS = frozenset({*_GIVES, *_BLOCKS, "case", "throw", "new", "delete", "and", "or", "not", "goto"})
_CLASS_KEYS = frozenset({"struct", "class", "union", "enum", "namespace"})
_CHECKS = re.compile(
    r"(?:\w*_)?(?:ASSERT|CHECK|ICHECK|DCHECK|REQUIRE|REQUIRES|ENFORCE|EXPECTS|VERIFY|assert)(?:_[A-Z]+)?"
)
_BY_VALUE = re.compile(r"cuda[A-Z]\w*|cublas\w+|make_(?:cuda\w+|u?int\d)|f?printf|snprintf|min|max|abs|dim3")
"""Functions of C, and what the bundled headers declare: no number that they get is a reference that writes."""
_REFERENCE_MEMBER = re.compile(
    rb"[;{}:]\s*(?:int|long|short|unsigned|signed|char|\w+_t|\w*(?:Int|Index|Size|Dim)\w*|[A-Z])\s*&\s*\w+\s*;"
)
_LAMBDA = re.compile(rb"\]\s*(?:\([^{};]*\))?\s*(?:(?:mutable|noexcept|constexpr)\s*)*(?:->([^{};]*))?$")
_GIVES_REFERENCE = re.compile(rb"&\s*(?:\w+|operator\W+)\s*\([^{};]*\)\s*(?:const|noexcept|override|\s)*$")
_DEFINITION = re.compile(rb"\s*#\s*define\b")
_FARTHEST = 400
"""Bytes in front of a brace, or of a name, in which what belongs to it stands."""


@dataclass(frozen=True, slots=True)
class Use:
    """An expression that names an integer: where it stands, and in which function."""

    function: FoundFunction | None
    start: int
    end: int
    initialises: bool = False
    """Whether it stands in the initialisers of a constructor."""


class Reading:
    """The uses of integers in one text of a program."""

    def __init__(self, text: bytes, named: dict[str, list[FoundFunction]], has_reference_members: bool) -> None:
        """``named``: the functions of the program by the word that calls them."""
        self._text = text
        self._named = named
        self._has_reference_members = has_reference_members

    def only_reads(self, use: Use) -> bool:
        start, end = use.start, use.end
        for _ in range(_FARTHEST):
            before, behind = last_before(self._text, start), first_behind(self._text, end)
            front, back = self._text[max(0, before - 1) : before + 1], self._text[behind : behind + 3]
            if _WRITTEN.match(back) or _STEPPED.search(front):
                return False
            if _is_operator(back):
                return True
            if self._is_defined(start):
                return _OPERAND.search(front) is not None
            sign = front[-1:]
            if sign in b"?:" or back[:1] == b":":
                wide = self._conditional(start, end)
                if wide == (start, end):
                    return sign != b"?" and back[:1] != b":"
                start, end = wide
                continue
            if _OPERAND.search(front):
                return True
            if sign == b"=":
                return _BINDING.search(self._text[max(0, before - _FARTHEST) : before + 1]) is None
            if sign in b"(,{[":
                opened, index = self._around(start)
                found = self._handed(use, opened, index)
                if found is not None:
                    return found
                start, end = opened, arguments(self._text, opened)[1]
                continue
            return self._begins(use, before, sign)
        return False

    def _begins(self, use: Use, before: int, sign: bytes) -> bool:
        """An expression in front of which stands no operator."""
        if sign in b";}":
            return True
        if sign == b")":
            opened = opening(self._text, before)
            return opened >= 0 and not flat(self._text[opened + 1 : before]).endswith("&")
        word = self._word(before)
        if word in _GIVES:
            return self._returned(use)
        return bool(word) or (sign == b">" and self._text[before - 1 : before] != b"-")

    def _conditional(self, start: int, end: int) -> tuple[int, int]:
        """The whole of ``a ? b : c``, of which one part is given."""
        depth, at = 0, start
        while at > 0:
            sign = self._text[at - 1 : at]
            if sign in b")]}":
                depth += 1
            elif sign in b"([{":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and self._separates(sign, at):
                break
            at -= 1
        depth, stop = 0, end
        while stop < len(self._text):
            sign = self._text[stop : stop + 1]
            if sign in b"([{":
                depth += 1
            elif sign in b")]}":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and sign in b";,":
                break
            stop += 1
        return min(start, first_behind(self._text, at)), stop

    def _separates(self, sign: bytes, at: int) -> bool:
        """Whether what stands in front of an offset comes before an expression without being part of it."""
        if sign == b"=":
            return self._text[at - 2 : at - 1] not in (b"=", b"<", b">", b"!")
        return sign in b";," or (sign.isspace() and self._word(last_before(self._text, at)) in _GIVES)

    def _around(self, at: int) -> tuple[int, int]:
        """The bracket around an offset and the number of what stands there; -1 where a statement begins first."""
        depth = index = 0
        for back in range(at - 1, -1, -1):
            sign = self._text[back : back + 1]
            if sign in b")]}":
                depth += 1
            elif sign in b"([{":
                if depth == 0:
                    return back, index
                depth -= 1
            elif depth == 0 and sign == b",":
                index += 1
            elif depth == 0 and sign == b";":
                break
        return -1, 0

    def _handed(self, use: Use, opened: int, index: int) -> bool | None:
        """Whether what stands in a bracket is only read there; None: the bracket is one of an expression."""
        if opened < 0:
            return True
        sign = self._text[opened : opened + 1]
        before = last_before(self._text, opened)
        last = self._text[before : before + 1]
        if sign == b"[":
            return last in b")]" or bool(self._word(before))
        if sign == b"{":
            return self._listed(use, before, last, index)
        if self._text[max(0, before - 2) : before + 1] == b">>>":
            return True
        word, behind = self._word(before), ""
        if last == b">":
            less = opening(self._text, before)
            behind = flat(self._text[less + 1 : before]) if less >= 0 else "&"
            before = last_before(self._text, less)
            word = self._word(before)
        if word:
            return self._called(use, word, behind, before, opened, index)
        if last == b")":
            less = opening(self._text, before)
            front = last_before(self._text, less)
            named = self._word(front) not in ("", *_WORDS) or self._text[front : front + 1] in b")]"
            return less >= 0 and not named and _TYPE.fullmatch(flat(self._text[less + 1 : before])) is not None
        return False if last in b"]}" else None

    def _called(self, use: Use, word: str, behind: str, before: int, opened: int, index: int) -> bool | None:
        if word in _GIVES or word in _WORDS:
            return None
        if word.endswith("_cast"):
            return word != "const_cast" and "&" not in behind
        if word in _NO_CALLS or _ARITHMETIC.fullmatch(word) or _CHECKS.fullmatch(word) or _BY_VALUE.fullmatch(word):
            return True
        known = self._by_value(word, opened, index)
        if known is not None:
            return known
        if use.initialises and use.function is not None:
            return _member_by_value(use.function, word)
        front = last_before(self._text, before + 1 - len(word))
        if self._text[front : front + 1] == b">":
            front = last_before(self._text, max(0, opening(self._text, front)))
        type_ = self._word(front)  # of a variable that is declared
        if not type_ or type_ in _WORDS:
            return False
        return _ARITHMETIC.fullmatch(type_) is not None or type_ == "dim3" or bool(self._by_value(type_, opened, index))

    def _by_value(self, word: str, opened: int, index: int) -> bool | None:
        """Whether no function of a name writes what it gets; None where there is none of that name."""
        functions = self._named.get(word)
        if not functions:
            return None
        given, _ = arguments(self._text, opened)
        places = range(len(given)) if any("<" in g for g in given[: index + 1]) else (index,)
        return not any(takes_reference(g, i) for g in functions for i in places)

    def _listed(self, use: Use, before: int, last: bytes, index: int) -> bool:
        """In braces: of a block, or of a list of values."""
        word = self._word(before)
        if use.function is None or last in b");{}" or word in _BLOCKS:
            return True
        if word and word not in _GIVES:
            front = self._word(last_before(self._text, before + 1 - len(word)))
            if front in _CLASS_KEYS:
                return True
            if use.initialises:
                return _member_by_value(use.function, word) or self._by_value(word, before, index) is True
            known = self._by_value(word, first_behind(self._text, before + 1), index)
            if known is not None:
                return known
        return not self._has_reference_members

    def _returned(self, use: Use) -> bool:
        if use.function is None:
            return False
        at = use.start
        while at > use.function.start:
            depth = 0
            while at > use.function.start:
                sign = self._text[at - 1 : at]
                depth += (sign == b"}") - (sign == b"{")
                if depth < 0:
                    break
                at -= 1
            at -= 1
            head = self._text[max(use.function.start, at - _FARTHEST) : max(at, 0)]
            found = _LAMBDA.search(head)
            if found is not None:
                return b"&" not in (found[1] or b"") and b"decltype" not in (found[1] or b"")
            if at > use.function.start and _GIVES_REFERENCE.search(head):
                return False
        result = use.function.cursor.result_type
        if b"decltype" in self._text[use.function.start : use.start].partition(b"{")[0]:
            return False
        return result.kind != TypeKind.LVALUEREFERENCE or result.get_pointee().is_const_qualified()

    def _is_defined(self, at: int) -> bool:
        """Whether an offset lies in the definition of a macro."""
        start = at
        while True:
            start = self._text.rfind(b"\n", 0, start) + 1
            if start <= 1 or self._text[:start].rstrip(b"\r\n")[-1:] != b"\\":
                return _DEFINITION.match(self._text, start) is not None
            start -= 1

    def _word(self, last: int) -> str:
        """The word that ends at an offset."""
        found = _NAME.search(self._text[max(0, last - 200) : last + 1])
        return found[1].decode() if found is not None else ""


def has_reference_members(texts: Sequence[bytes]) -> bool:
    """Whether a class may have a member that is a reference to an integer."""
    return any(_REFERENCE_MEMBER.search(text) for text in texts)


def path_start(text: bytes, at: int) -> int:
    """Where the expression begins that a member's name at an offset ends: with ``rows[i].`` or ``Matrix::`` in front
    of it."""
    while True:
        last = last_before(text, at)
        two = text[max(0, last - 1) : last + 1]
        if two not in (b"->", b"::") and two[-1:] != b".":
            return at
        last = last_before(text, last + 1 - (1 if two[-1:] == b"." else 2))
        while last >= 0 and text[last : last + 1] in b")]>":
            opened = opening(text, last)
            if opened < 0:
                break
            at, last = opened, last_before(text, opened)
        name = _NAME.search(text[max(0, last - 200) : last + 1])
        if name is None:
            return at
        at = last + 1 - len(name[1])


def takes_reference(f: FoundFunction, index: int) -> bool:
    """Whether a function may write what it gets at a place."""
    given = [c for c in f.cursor.get_children() if c.kind == CursorKind.PARM_DECL]
    if not given:
        return False
    ty = given[min(index, len(given) - 1)].type
    if index >= len(given) and not ty.spelling.endswith("..."):
        return False
    if ty.kind == TypeKind.RVALUEREFERENCE:  # of a template it may be one to a variable
        return ty.get_pointee().kind in (TypeKind.UNEXPOSED, TypeKind.INVALID) or ty.spelling.endswith("...")
    if ty.kind == TypeKind.UNEXPOSED and "&" in ty.spelling:
        return not ty.spelling.startswith("const ")
    return ty.kind == TypeKind.LVALUEREFERENCE and not ty.get_pointee().is_const_qualified()


def _is_operator(back: bytes) -> bool:
    """What makes a value of the name in front of it; other brackets and dots belong to other things of that name."""
    return back[:2] in (b"==", b"!=") or (back[:1] != b"" and back[:1] in b"-+*/%<>|^&?.([{")


def _member_by_value(f: FoundFunction, name: str) -> bool:
    """Whether a class has a member of a name that is no reference."""
    parent = f.cursor.semantic_parent
    fields = cindex.class_members(parent) if parent is not None else ()
    return any(
        c.kind == CursorKind.FIELD_DECL and c.spelling == name and c.type.kind not in
        (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE, TypeKind.RECORD, TypeKind.UNEXPOSED)
        for c in fields
    )  # fmt: skip
