"""How an update of a cell is written as an atomic function: which one, of which arguments, in place of which text.

Takes an `Update` or a `Claim` of the source, gives the `Change`s, or raises `NotPossible` with the reason: there is no
such function, not for cells of that type, or its argument would be converted at another time than the operand was.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import group_end, next_visible
from analyzers.frontend.update_kinds import INTEGERS, NARROW, AnyUpdate, Cell, Claim, Operand, Range, Store, Update
from quickfix.edits import Change, Layout
from quickfix.naming import NotPossible, line_of

_INT: Final = frozenset({"int", "unsigned int", "unsigned long long"})
_REAL: Final = frozenset({"float", "double"})
_FUNCTIONS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "+": ("atomicAdd", _INT | _REAL),
    "-": ("atomicSub", frozenset({"int", "unsigned int"})),
    "&": ("atomicAnd", _INT),
    "|": ("atomicOr", _INT),
    "^": ("atomicXor", _INT),
    "max": ("atomicMax", _INT | {"long long"}),
    "min": ("atomicMin", _INT | {"long long"}),
}
"""Operator -> the function, and the types of cells it has an overload for."""
_COMPARED: Final = _INT
"""The types that `atomicCAS` has an overload for."""
_EXCHANGED: Final = _INT | {"float"}
_NUMBERS: Final = INTEGERS | _REAL
_WORDS_64: Final = re.compile(r"(?:std::)?(u?)int(?:_(?:fast|least))?64_t|(?:std::)?(?:(s)ize_t|ptrdiff_t)")
"""Names of types of 64 bits on every system, whatever they stand for."""
_PARAMETER: Final = "type-parameter-"
"""How clang spells a parameter of a template."""
_ELSE: Final = re.compile(rb"\s*else\b")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*")
_NAMED: Final = re.compile(rb"\w")
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMON: Final[dict[str, frozenset[str]]] = {
    "int": NARROW,
    "unsigned int": NARROW | {"int"},
    "long long": NARROW | {"int", "unsigned int", "long"},
    "unsigned long long": INTEGERS,
    "float": INTEGERS,
    "double": INTEGERS | {"float"},
}
"""Type -> those that are converted to it where one of each is combined or compared."""


def function_of(update: AnyUpdate) -> str:
    """The atomic function. Raises `NotPossible`."""
    return "atomicCAS" if isinstance(update, Claim) else _function(update)[0]


def atomic_call(update: AnyUpdate, layout: Layout) -> list[Change]:
    """The changes of an update. A conditional with more statements behind the assignment keeps that: deleting it is
    left to the caller. Raises `NotPossible`."""
    return [_claimed(update, layout)] if isinstance(update, Claim) else [_updated(update, layout)]


def exchange(store: Store, layout: Layout) -> Change:
    """The change that makes an assignment an exchange. Raises `NotPossible`."""
    type_, cast = _addressed(store.cell, _EXCHANGED, "atomicExch")
    if store.value.type not in _NUMBERS and store.value.type != type_:
        raise NotPossible(f"a `{store.value.type}` is no number")
    if not store.is_ordered:
        raise NotPossible("the value changes which cell is written")
    written = _Text(layout)
    _open(written, "atomicExch", store.cell, cast)
    if cast and store.value.type in _REAL and type_ != store.cell.type:
        # What is below zero is converted to the type with the sign first.
        written.add(f", ({store.cell.spelling})(", _bare(layout, store.value.at), "))")
    else:
        written.add(", ", _bare(layout, store.value.at), ")")
    return written.change(store.whole)


def _updated(update: Update, layout: Layout) -> Change:
    function, type_, cast = _function(update)
    operand, cell = update.operand, update.cell
    _check_conversion(update, type_)
    written = _Text(layout)
    new = update.yields == "new"
    if new and operand is not None and not operand.is_plain:
        text = layout.text[slice(*operand.at)].decode(errors="replace")
        raise NotPossible(f"the new value is used, and `{text}` would be evaluated twice")
    signed = f"({cell.spelling})" if cast and update.yields != "nothing" else ""
    call = update.call if new and update.operator in ("max", "min") else None
    if new and update.operator in ("max", "min") and call is None:
        raise NotPossible(f"the new value is used, and `{function}` gives the old one")
    if call is not None:
        whole, own = call
        written.add((whole[0], own[0]), signed)
    elif update.compared is not None:
        written.add((update.whole[0], update.compared[0]), signed)
    else:
        written.add(f"({signed}" if new else signed)
    _open(written, function, cell, cast)
    written.add(", ")
    value: tuple[Range | str, ...] = (_bare(layout, operand.at),) if operand is not None else ("1",)
    bracketed = value if operand is None or _is_word(layout, operand) else ("(", *value, ")")
    if update.operator == "-" and function == "atomicAdd":
        written.add(*_negated(type_, cell.spelling, operand, bracketed))
    else:
        written.add(*value)
    written.add(")")
    if call is not None:
        whole, own = call
        written.add((own[1], whole[1]))
    elif update.compared is not None:
        written.add((update.compared[1], update.whole[1]))
    elif new:
        written.add(f" {update.operator} ", *bracketed, ")")
    if update.is_statement:
        _check_end(update.whole, layout)
        written.add(";")
    return written.change(update.whole)


def _claimed(claim: Claim, layout: Layout) -> Change:
    type_, cast = _addressed(claim.cell, _COMPARED, "atomicCAS")
    expected = claim.expected
    if expected is not None and not _is_common(type_, expected.type):
        raise NotPossible(f"`{type_}` and `{expected.type}` are compared as neither is in `atomicCAS`")
    if not claim.desired.is_safe:
        text = layout.text[slice(*claim.desired.at)].decode(errors="replace")
        raise NotPossible(f"`{text}` would be evaluated by threads that do not get in, too")
    if claim.desired.type not in INTEGERS:
        raise NotPossible(f"a `{claim.desired.type}` would be converted to `{type_}` at another time")
    written = _Text(layout)
    _open(written, "atomicCAS", claim.cell, cast)
    compared = expected.at if expected is not None else "0"
    first = _bare(layout, expected.at) if expected is not None else "0"
    written.add(", ", first, ", ", _bare(layout, claim.desired.at), ")")
    if claim.whole is not None:
        _check_end(claim.whole, layout)
        written.add(";")
        return written.change(claim.whole)
    opened, closed = ("", "") if expected is None or expected.is_tight else ("(", ")")
    written.add(f" == {opened}", compared, closed)
    return written.change(claim.condition, elsewhere=(claim.write,))


def _check_end(conditional: Range, layout: Layout) -> None:
    """An `else` of a conditional that has none stands behind a preprocessor line, and another build has it."""
    if _ELSE.match(layout.code, conditional[1]):
        line = line_of(layout.text, conditional[1])
        raise NotPossible(f"the conditional in line {line} has an `else` behind a preprocessor line")


def _function(update: Update) -> tuple[str, str, str]:
    """The function, the type of the cell that it is for, and the type that the address is cast to, or nothing."""
    known = _FUNCTIONS.get(update.operator)
    if known is None:
        loop = "only a loop around `atomicCAS` does it"
        raise NotPossible(f"there is no atomic function for `{update.operator}`: {loop}")
    function, types = known
    if update.operator == "-":
        plain = update.cell.type in types and not _word(update.cell)
        function, types = (function, types) if plain else _FUNCTIONS["+"]
    return function, *_addressed(update.cell, types, function)


def _word(cell: Cell) -> str:
    """`long long` or `unsigned long long` for what has the width of these on every system, by another name."""
    name = _WORDS_64.fullmatch(cell.spelling)
    if name is not None and cell.type in ("long", "unsigned long"):
        return "unsigned long long" if cell.type.startswith("unsigned") else "long long"
    return ""


def _addressed(cell: Cell, types: Collection[str], function: str) -> tuple[str, str]:
    type_, cast = cell.type, ""
    if type_.startswith(_PARAMETER):
        return type_, ""
    word = _word(cell)
    if word:
        type_ = cast = word
    if type_ == "long long" and type_ not in types and "unsigned long long" in types:
        type_ = cast = "unsigned long long"
    if type_ not in types:
        width = ", and how wide that is depends on the system" if type_ in ("long", "unsigned long") else ""
        raise NotPossible(f"`{function}` has no form for cells of type `{cell.spelling}`{width}")
    return type_, cast


def _open(written: _Text, function: str, cell: Cell, cast: str) -> None:
    """`function(&cell`, where `&*p` is `p`."""
    written.add(f"{function}(")
    if cell.address is None:
        written.add(f"({cast} *)&" if cast else "&", cell.at)
        return
    text = written.layout.text[slice(*cell.address)]
    bracketed = cast and re.fullmatch(rb"[A-Za-z_]\w*", text) is None
    written.add(f"({cast} *)" if cast else "", "(" if bracketed else "", cell.address, ")" if bracketed else "")


def _bare(layout: Layout, at: Range) -> Range:
    """An expression without brackets around all of it, as an argument of a call."""
    start, end = at
    code = layout.code
    while code.startswith(b"(", start) and group_end(code, start) == end and b"," not in code[start:end]:
        low = next_visible(code, start + 1)
        start, end = low, low + len(code[low : end - 1].rstrip())
    return start, end


def _is_word(layout: Layout, operand: Operand) -> bool:
    """Whether a value is a name or a number, of which no macro makes more."""
    return operand.is_tight and _WORD.fullmatch(layout.text, *_bare(layout, operand.at)) is not None


def _negated(
    type_: str, spelling: str, operand: Operand | None, value: tuple[Range | str, ...]
) -> tuple[Range | str, ...]:
    """The operand of a subtraction, to be added, with the brackets that it needs. What is narrower than the cell is
    widened first."""
    if operand is None:
        return ("0ULL - 1",) if type_ == "unsigned long long" else ("-1",)
    if type_ == "unsigned long long":
        return ("0ULL - ", *value)
    if operand.type != type_:
        return (f"-({spelling})", *value)
    return ("-", *value)


def _check_conversion(update: Update, type_: str) -> None:
    """Converting the operand to the type of the cell first has to come to the same as computing with it as it is."""
    operand = update.operand
    if operand is None or operand.type == type_ or operand.type == update.cell.type:
        return
    if type_.startswith(_PARAMETER):
        if operand.type in NARROW | {"int"}:
            return
    elif _is_common(type_, operand.type):
        return
    elif update.operator not in ("max", "min") and update.yields != "new" and {type_, operand.type} <= INTEGERS:
        # Sums and bits of integers are the same whether the upper ones are cut off before or afterwards.
        return
    raise NotPossible(
        f"a `{operand.type}` would be converted to `{update.cell.spelling}` before it is combined, not afterwards"
    )


def _is_common(type_: str, other: str) -> bool:
    """Whether values of the two types are computed with, and compared, in the first."""
    return other == type_ or other in _COMMON.get(type_, ())


@dataclass
class _Text:
    """What is written in place of a piece of a text, with the code that it repeats."""

    layout: Layout

    def __post_init__(self) -> None:
        self.written = b""
        self.kept: list[Range] = []
        self._moved: list[tuple[int, int, int]] = []

    def add(self, *pieces: Range | str) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self.written += piece.encode()
                continue
            start, end = piece
            self._moved.append((len(self.written), start, end - start))
            self.kept.append(piece)
            self.written += self.layout.text[start:end]

    def change(self, whole: Range, elsewhere: Collection[Range] = ()) -> Change:
        """Comments in what is dropped go to lines of their own in front of it. `elsewhere`: pieces outside of the whole
        that are repeated. Raises `NotPossible`."""
        start, end = whole
        at, comments = start, list[bytes]()
        inside = sorted(k for k in self.kept if start <= k[0] < end and k not in elsewhere)
        for low, high in (*inside, (end, end)):
            comments += self._comments(at, low)
            at = max(at, high)
        if comments and not self.layout.is_first(start):
            raise NotPossible(f"there is a comment in the update in line {line_of(self.layout.text, start)}")
        lines = self.layout.newline + self.layout.indentation(start)
        # Behind `else` or `return` a `*` or a bracket may stand without a space, a name may not.
        front = b" " if _NAMED.match(self.layout.text, start - 1) and _NAMED.match(self.written) else b""
        front += b"".join(comment.rstrip() + lines for comment in comments)
        moved = tuple((place + len(front), old, length) for place, old, length in self._moved)
        return Change(start, end, front + self.written, moved=moved)

    def _comments(self, start: int, end: int) -> list[bytes]:
        text, code = self.layout.text, self.layout.code
        if re.search(rb"^[ \t]*#", text[start:end], re.MULTILINE):
            raise NotPossible(f"there is a preprocessor line in the update in line {line_of(text, start)}")
        found = _COMMENT.finditer(text, start, max(start, end))
        return [m.group() for m in found if not code[m.start() : m.end()].strip()]
