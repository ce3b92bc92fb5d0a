"""Loops that stride from the number of the thread on, made by all threads over a base that is the same for them.

Takes ``for (int i = lo + threadIdx.x; i < n; i += S)``, gives the changes after which ``for (int base = lo; base < n;
base += S)`` has ``int i = base + threadIdx.x;`` and the old body under the old condition; of a `while`, the counter of
the thread stays beside the base. What is added up to the first value is told apart by the text alone: terms that follow
from the number of the thread, and the rest. That the base is what the first thread of the block counts, which has to
do for all, the engine proves (`strides`); that bounds are the same for all threads, it finds out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from analyzers.frontend.gaps import FunctionTree, Statement
from quickfix.edits import Change, Layout
from quickfix.naming import fresh_name, redefines
from quickfix.paths import Level
from quickfix.uniform_loops import guarded_body, is_plain, open_test
from quickfix.variables import Range, declarations, scope_of, stay, uses_in

_TEST: Final = re.compile(rb"\s*(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|<|>)\s*(?P<right>[^<>=!]+?)\s*\Z")
_DECLARATION: Final = re.compile(rb"\s*(?P<type>[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+?)\s*\Z")
_STEP: Final = re.compile(rb"\s*(?P<name>[A-Za-z_]\w*)\s*\+=\s*(?P<by>.+?)\s*\Z")
_WIDE: Final = re.compile(
    rb"int|long|long long|unsigned|unsigned int|unsigned long|unsigned long long|u?int(?:32|64)_t|size_t|uint"
)
"""Types that do not wrap around between two strides."""
_GIVEN: Final = re.compile(rb"\s*=\s*(?P<value>[^;,]+?)\s*[;,]")
_SUM: Final = re.compile(rb"(?:\s|[()+*/%&-]|<<|>>|\d+[uU]?\b|[A-Za-z_]\w*|\.\s*[xyz]\b)+")
"""Numbers and names, calculated with."""
_STEPS: Final = re.compile(rb"\+\+|--|&&|\b[A-Za-z_]\w*\s*\(")
"""What calculates more than that: changes, and calls."""
_THREAD: Final = re.compile(rb"\bthreadIdx\b")


def over_a_base(
    level: Level, loop: Statement, text: bytes, vote: bytes, taken: Collection[bytes]
) -> list[Change] | None:
    """The changes; None for other loops. Raises `NotPossible`. `taken`: names that nothing new may have."""
    layout = Layout(text)
    test = open_test(level, loop, layout, vote)
    if test is None or not is_plain(level, loop, layout, test):
        return None
    made = _for(level, loop, layout, test, taken) if loop.kind == "for" else _while(level, loop, layout, test, taken)
    return sorted(made, key=lambda c: (c.start, c.end)) if made is not None else None


def _for(level: Level, loop: Statement, layout: Layout, place: Range, taken: Collection[bytes]) -> list[Change] | None:
    text = layout.text
    opening = layout.code.find(b"(", loop.keyword, loop.head_end)
    start = _DECLARATION.match(text, opening + 1, place[0] - 1)
    test = _TEST.match(text[slice(*place)])
    step = _STEP.match(text[place[1] + 1 : loop.head_end - 1])
    if start is None or test is None or step is None:
        return None
    name = start["name"]
    if test["left"] != name or test["operator"] not in (b"<", b"<=") or step["name"] != name:
        return None
    first = _first(start.span("value"), level.function, layout, loop.start)
    if first is None or _mentions(name, test["right"] + b" " + step["by"]):
        return None
    # The step is made as often as the base needs it, not the thread; a base of type `auto` would be an `int`.
    if "step" not in loop.plain or not _WIDE.fullmatch(start["type"]):
        return None
    counter = {u.variable for u in uses_in(level.function, (opening, place[0])) if u.kind == "declared"}
    if len(counter) != 1 or not stay(level.function, counter, (level.body.start, level.body.end)):
        return None
    base = fresh_name(level, text, "base", taken)
    block, thread = first
    kind, bound = start["type"], test["operator"] + b" " + test["right"]
    head = kind + b" " + base + b" = " + block + b"; " + base + b" " + bound + b"; " + base + b" += " + step["by"]
    declaration = kind + b" " + name + b" = " + base + b" + " + thread + b";"
    condition = name + b" " + bound
    return [Change(opening + 1, loop.head_end - 1, head), *guarded_body(level, layout, condition, declaration)]


def _while(
    level: Level, loop: Statement, layout: Layout, place: Range, taken: Collection[bytes]
) -> list[Change] | None:
    """`for (int base = 0; base < n; base += S)` instead of `while (i < n)`, beside `i += S` in its body."""
    function, text, body = level.function, layout.text, level.body
    test = _TEST.match(text[slice(*place)])
    outer = level.steps[-1] if level.steps else None
    if test is None or outer is None or test["operator"] not in (b"<", b"<=") or not loop.test.integers:
        return None
    name = test["left"]
    counter = {u.variable for u in uses_in(function, place) if u.name.encode() == name}
    others = {u.variable for u in uses_in(function, place)} - counter
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in counter}
    before = outer.body.statements[: outer.index]
    # Declared in the same body: the loop begins anew only with it.
    declared = next(((s, d) for s in before for d in s.declares or () if d.at in places), None)
    steps = [
        s for s in body.statements if s.assignment is not None and layout.code[slice(*s.assignment.target)] == name
    ]
    if declared is None or len(counter) != 1 or len(steps) != 1 or not _WIDE.fullmatch(declared[1].type.encode()):
        return None
    step = steps[0].assignment
    assert step is not None
    at = declared[1].at + len(name)
    given = _GIVEN.match(layout.code, at, declared[0].end)
    first = _first(given.span("value"), function, layout, loop.start) if given is not None else None
    elsewhere = (at, steps[0].start), (steps[0].end, loop.end)
    if step.operator != "+=" or first is None or not stay(function, counter, *elsewhere):
        return None
    others |= {u.variable for u in uses_in(function, step.value)}
    if not others.issubset(_own(function)) or not stay(function, others, (loop.start, loop.end)):
        return None
    by = text[slice(*step.value)]
    base = fresh_name(level, text, "base", taken)
    head = b"for (" + declared[1].type.encode() + b" " + base + b" = " + first[0] + b"; "
    head += base + b" " + test["operator"] + b" " + test["right"] + b"; " + base + b" += " + by + b")"
    condition = text[slice(*place)].strip()
    # The new loop stands for the old one.
    return [
        Change(loop.keyword, loop.head_end, head, moved=((0, loop.keyword, 1),)),
        *guarded_body(level, layout, condition),
    ]


def _own(function: FunctionTree) -> set[int]:
    """The variables that no other thread reaches, and the dimensions: those of the function, and parameters of kernels,
    which are none that refer to others."""
    inside = {d.at for d in declarations(function) if d.assignable or d.bare}
    parameters = function.signature is None and not function.is_lambda
    return {
        u.variable
        for u in function.uses
        if u.name in ("blockDim", "gridDim")
        or (u.kind == "declared" and (u.at in inside or (parameters and u.at < function.body.start)))
    }


def _first(value: Range, function: FunctionTree, layout: Layout, loop: int) -> tuple[bytes, bytes] | None:
    """What does not follow from the thread index in a sum, ``0`` if there is nothing, and what does; the same of a
    variable that is declared as that and never changed. None of other values, and where the words of one would mean
    something else at the loop, which begins at `loop`."""
    code = layout.code
    written = code[slice(*value)].strip()
    own = {u.variable for u in uses_in(function, value) if u.name.encode() == written}
    declared = _declared(function, code, own) if len(own) == 1 else None
    if declared is not None:
        if not _means_the_same(function, layout, declared, loop):
            return None
        first = _first(declared, function, layout, loop)
        # The variable says it shorter.
        return first if first is None or first[0] != b"0" else (first[0], written)
    terms = list(_terms(value, code))
    if len(terms) > 1 and _LOOSER.search(_outside_brackets(code[slice(*value)])):
        terms = [value]
    if not _SUM.fullmatch(code, *value) or _STEPS.search(code, *value):
        return None
    used = {u.variable for u in uses_in(function, value) if u.name not in _GIVEN_TO_THREADS}
    if not stay(function, used, (function.start, function.end)) or any(_refers(function, code, v) for v in used):
        return None
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    for term in terms:
        parts[_follows(term, function, code)].append(code[slice(*term)].strip())
    block, thread = (b" + ".join(each) for each in parts)
    if not thread:
        return None
    loose = _LOOSER.search(_outside_brackets(thread))
    return block or b"0", b"(" + thread + b")" if loose else thread


def _means_the_same(function: FunctionTree, layout: Layout, value: Range, loop: int) -> bool:
    """Whether the words of a value mean at a loop what they mean where it stands."""
    until = value[0], loop
    names = {(u.name, u.variable) for u in uses_in(function, value)}
    hidden = any(
        u.kind == "declared" and u.name == name and u.variable != variable and scope_of(function.body, u.at).end > loop
        for u in uses_in(function, until)
        for name, variable in names
    )
    return not hidden and not redefines(layout.text, *until, layout.code[slice(*value)])


def _refers(function: FunctionTree, code: bytes, variable: int) -> bool:
    """Whether a variable is declared as a reference, as far as its declaration shows."""
    places = [u.at for u in function.uses if u.kind == "declared" and u.variable == variable]
    heads = (code[max(code.rfind(sign, 0, at) for sign in (b";", b"{", b"}", b"(", b",")) + 1 : at] for at in places)
    return any(b"&" in head for head in heads)


def _outside_brackets(code: bytes) -> bytes:
    while (shorter := re.sub(rb"\([^()]*\)", b"", code)) != code:
        code = shorter
    return code


_LOOSER: Final = re.compile(rb"<<|>>|&")
"""Operators that bind less than ``+``."""
_GIVEN_TO_THREADS: Final = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})


def _terms(value: Range, code: bytes) -> Iterator[Range]:
    """The terms between those ``+`` that bind least."""
    depth, begin = 0, value[0]
    for at in range(*value):
        byte = code[at : at + 1]
        depth += (byte == b"(") - (byte == b")")
        if byte == b"+" and depth == 0:
            yield begin, at
            begin = at + 1
    yield begin, value[1]


def _follows(place: Range, function: FunctionTree, code: bytes) -> bool:
    """Whether code mentions the number of the thread, or a variable that is declared as what does."""
    if _THREAD.search(code, *place):
        return True
    values = (_declared(function, code, {u.variable}) for u in uses_in(function, place))
    return any(value is not None and value[0] < place[0] and _follows(value, function, code) for value in values)


def _declared(function: FunctionTree, code: bytes, variable: Collection[int]) -> Range | None:
    """Where the value stands that a variable of the function is declared with and keeps."""
    if not stay(function, variable, (function.start, function.end)):
        return None
    places = {u.at for u in function.uses if u.kind == "declared" and u.variable in variable}
    declared = next((d for d in declarations(function) if d.at in places), None)
    if declared is None or not _WIDE.fullmatch(declared.type.encode()):
        return None
    given = _GIVEN.match(code, declared.at + len(declared.name))
    return given.span("value") if given is not None else None


def _mentions(name: bytes, code: bytes) -> bool:
    return re.search(rb"(?<![\w.])" + name + rb"\b", code) is not None
