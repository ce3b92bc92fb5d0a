"""Declarations in a conditional that is taken apart: what one half declares and the other uses goes in front of both.

Takes the body of a conditional and the places where it may be cut, gives the place with the least to carry over, and
what that is: declarations at the head of the body that any thread can compute go in front as they are, others without
their values, which are assigned where they were declared. References are declared once more where what they refer to
is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzers.frontend.blanking import uncommented
from analyzers.frontend.declared_apart import Elements
from analyzers.frontend.gaps import Body, Declared, FunctionTree, Statement
from quickfix.edits import Change, Layout
from quickfix.lasting import LASTING, ending_in, led_to
from quickfix.naming import NotPossible, line_of, redefines, with_macros
from quickfix.paths import Level, around
from quickfix.variables import declarations, mentioned, statements_of, stay, uses_in

_DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
_CONSTANT: Final = re.compile(rb"(?:const|constexpr)\b(?![^=]*\*\s*\w+\s*=)")
"""How constants begin, those that point aside: with `const` of what they point to they are none."""
_STATIC: Final = re.compile(rb"(?:(?:const|constexpr)\s+)?static\b(?!\s+__shared__)")
"""How what has its value before the kernel begins, and is one for all threads, may begin."""
_SHARED: Final = re.compile(rb"(?:(?:volatile|static|extern|__align__\s*\([^()]*\))\s+)*__shared__\b")
OF_PLACE: Final = re.compile(rb"\b__(?:LINE|COUNTER)__\b")
"""What means another thing elsewhere."""
_EXTENTS: Final = re.compile(rb"\s*(?:\[[^\[\]]*\]\s*)*")
_ASSERTED: Final = re.compile(rb"\s*static_assert\b")
_ASSEMBLED: Final = re.compile(rb"\s*(?:asm|__asm__|__asm)\b")
_TYPE: Final = re.compile(rb"\b(?:struct|class|union|enum|using|typedef|namespace)\b")
_Rule = Callable[[Declared], bool]


@dataclass(frozen=True, slots=True)
class Cut:
    """A body cut in front of the statement `at`."""

    at: int
    whole: int
    """How many statements at the head of the body go in front as they are."""
    apart: Mapping[int, tuple[Declared, ...]]
    """By statement: what goes in front without its value."""
    again: tuple[int, ...] = ()
    """References, and variables of one value, that the second half declares once more, by statement."""
    constants: frozenset[int] = frozenset()
    """The statements of `apart` that go in front as they are, shared memory among them."""

    @property
    def variables(self) -> list[Declared]:
        """Of `apart`."""
        return [each for declares in self.apart.values() for each in declares]

    @property
    def cost(self) -> tuple[int, int]:
        """The less, the better: how many variables are assigned apart from their declarations, and what is said
        twice."""
        return sum(len(d) for index, d in self.apart.items() if index not in self.constants), len(self.again)


def cut_with_least(layout: Layout, level: Level, cuts: Sequence[int]) -> Cut:
    """The place to cut with the fewest variables that have to be declared apart; of those the last. Raises
    `NotPossible`."""
    found: list[Cut] = []
    said: NotPossible | None = None
    for at in cuts:
        try:
            found.append(_cut(layout, level, at))
        except NotPossible as reason:
            said = reason
    if not found and said is not None:
        raise said
    return min(found, key=lambda cut: (*cut.cost, -cut.at))


def _cut(layout: Layout, level: Level, cut: int) -> Cut:
    text, function, body = layout.text, level.function, level.body
    used = mentioned(function, (body.statements[cut].start, body.end)) | _named_only(layout, level, cut)
    numbers = {u.at: u.variable for u in function.uses if u.kind == "declared"}

    def is_used(declared: Declared) -> bool:
        return numbers.get(declared.at) in used

    again = _declared_again(layout, level, cut, used, numbers)
    leading = _led_to(layout, level, cut) - used
    used |= leading
    used |= _in_types(layout, level, cut, used, numbers)
    whole = min((_head(layout, level, cut, is_used), *again))
    apart: dict[int, tuple[Declared, ...]] = {}
    constants: set[int] = set()
    for index, statement in enumerate(body.statements[whole:cut], whole):
        if statement.kind not in ("declaration", "other") or index in again:
            continue
        if statement.declares is None:
            if not _may_stay(layout, level, statement, cut, used):
                raise NotPossible(f"a declaration in line {line_of(text, statement.start)} cannot be moved")
            continue
        needed = next((d for d in statement.declares if is_used(d)), None)
        if needed is None:
            continue
        if _is_shared(layout, body, statement) or _is_constant(layout, level, index, {*range(whole), *constants}):
            constants.add(index)
        elif not can_be_in_front(layout, statement, statement.declares):
            refers = " refers to what is not the same everywhere, and" if needed.type.endswith("&") else ""
            why = "used in the other" if numbers.get(needed.at) not in leading else "may be led to from there"
            raise NotPossible(f"`{needed.name}`{refers} is declared in one half of a conditional and {why}")
        apart[index] = statement.declares
    return Cut(cut, whole, apart, again, frozenset(constants))


def _in_types(layout: Layout, level: Level, cut: int, used: set[int], numbers: Mapping[int, int]) -> set[int]:
    """What the types of declarations in front of a cut name whose variables are `used`: extents, and arguments of
    templates."""
    found = set[int]()
    for statement in reversed(level.body.statements[:cut]):
        for each in statement.declares or ():
            if numbers.get(each.at) in used | found:
                name = each.at + len(each.name.encode())
                extents = _EXTENTS.match(layout.code, name)
                typed = (statement.start, each.at), (name, extents.end() if extents is not None else name)
                found |= mentioned(level.function, *typed)
            if numbers.get(each.at) in found:  # a constant, which may be computed of others
                found |= mentioned(level.function, (statement.start, statement.end))
    return found


def _is_constant(layout: Layout, level: Level, index: int, moved: Iterable[int]) -> bool:
    """Whether a statement declares constants that any thread can compute, and to the same values, in front of the body:
    from what is declared outside, or in the statements `moved`; or what has its value before the kernel begins."""
    function, body = level.function, level.body
    statement = body.statements[index]
    fixed = _STATIC.match(layout.code, statement.start, statement.end) is not None and layout.is_first(statement.start)
    if not (fixed or is_quiet(layout, statement) or _is_quiet_array(layout, statement)):
        return False
    if not (fixed or _CONSTANT.match(layout.code, statement.start, statement.end)):
        return False
    if not _is_the_same_in_front(layout, body, statement):
        return False
    front = body.start, statement.start
    computed = mentioned(function, (statement.start, statement.end))
    places = [(body.statements[i].start, body.statements[i].end) for i in moved]
    known = {u.variable for u in uses_in(function, *places) if u.kind == "declared"}
    inner = {u.variable for u in uses_in(function, front) if u.kind == "declared"} - known
    return computed.isdisjoint(inner | _unset(layout, function)) and stay(function, computed - known, front)


def _is_shared(layout: Layout, body: Body, statement: Statement) -> bool:
    """Whether a statement declares what all threads of the block share, wherever it stands."""
    shared = _SHARED.match(layout.code, statement.start, statement.end) is not None
    return shared and layout.is_first(statement.start) and _is_the_same_in_front(layout, body, statement)


def _is_the_same_in_front(layout: Layout, body: Body, statement: Statement) -> bool:
    """Whether a declaration reads the same in front of the body: no preprocessor line and no comment is in the way."""
    place = slice(statement.start, layout.line_end(statement.end))
    if layout.code[place].rstrip() != layout.text[place].rstrip() or OF_PLACE.search(layout.code[place]):
        return False
    return _DIRECTIVE.search(layout.text, body.start, statement.end) is None


def _may_stay(layout: Layout, level: Level, statement: Statement, cut: int, used: Collection[int]) -> bool:
    """Whether a statement that is not understood may stay in front of a cut: the rest needs nothing that it declares,
    as far as the text tells. `used`: the variables that it needs."""
    rest = level.body.statements[cut].start, level.body.end
    declared = {u.variable for u in uses_in(level.function, (statement.start, statement.end)) if u.kind == "declared"}
    if not declared.isdisjoint(used):
        return False
    code = layout.code[statement.start : statement.end]
    if _ASSERTED.match(code) or (_ASSEMBLED.match(code) and not declared):
        return True
    if _TYPE.search(code) or not declared:
        return False
    own = uses_in(level.function, (statement.start, statement.end))
    names = {u.name for u in own if u.kind == "declared"}
    said = with_macros(layout.code[slice(*rest)], layout.text)
    return not any(_word(name).search(said) for name in names)


def _declared_again(
    layout: Layout, level: Level, cut: int, used: set[int], numbers: Mapping[int, int]
) -> tuple[int, ...]:
    """The statements in front of a cut with references that the rest uses, and with variables that have one value where
    there is no room for them in front. What they are made of is `used` then, too. Raises `NotPossible`."""
    function, body, found = level.function, level.body, list[int]()
    for index, statement in reversed(list(enumerate(body.statements[:cut]))):
        if any(numbers.get(d.at) in used for d in statement.declares or ()) and _has_no_room(layout, level, statement):
            made_of = mentioned(function, (statement.start, statement.end))
            own = {numbers[d.at] for d in statement.declares or () if d.at in numbers}
            first = statement.end, body.statements[cut].start
            same = not redefines(layout.text, *first, _written(layout, statement))
            if same and _is_of_one_value(layout, statement) and stay(function, made_of | own, first):
                used |= made_of
                found.append(index)
                continue
        references = [d for d in statement.declares or () if d.bound is not None]
        needed = next((d for d in references if numbers.get(d.at) in used), None)
        if needed is None:
            continue
        bound = {variable for d in references for variable in d.bound or ()}
        if len(references) != len(statement.declares or ()):
            raise NotPossible(f"`{needed.name}` is declared beside others in one half of a conditional")
        if not layout.is_first(statement.start):
            raise NotPossible(f"`{needed.name}` is not declared at the beginning of a line")
        if not stay(function, bound, (statement.end, body.end)) or _DIRECTIVE.search(_written(layout, statement)):
            raise NotPossible(f"what `{needed.name}` refers to may be another in the other half of a conditional")
        if redefines(layout.text, statement.end, body.statements[cut].start, _written(layout, statement)):
            raise NotPossible(f"macros are defined anew behind `{needed.name}` in one half of a conditional")
        used |= mentioned(function, (statement.start, statement.end))
        found.append(index)
    return tuple(reversed(found))


def _has_no_room(layout: Layout, level: Level, statement: Statement) -> bool:
    """Whether some name that a statement declares is another's in front of the conditional, or around it."""
    outer, function = around(level), level.function
    beside = {d.name for s in outer.body.statements for d in s.declares or ()} | _named_in_head(outer)
    rest = level.body.end, outer.body.end
    return any(
        d.name in beside or means_another(layout, function, d.name, d.at, rest) for d in statement.declares or ()
    )


def _is_of_one_value(layout: Layout, statement: Statement) -> bool:
    """Whether variables are computed from numbers of the thread, and no preprocessor line is in the way."""
    plain = all(d.plain for d in statement.declares or ()) and is_quiet(layout, statement)
    written = _written(layout, statement)
    return plain and not _DIRECTIVE.search(written) and not OF_PLACE.search(written)


def declared_again(layout: Layout, level: Level, cut: Cut, line: bytes) -> bytes:
    """What is declared once more at the beginning of the second half; `line`: the end of a line, and the blanks of the
    next."""
    written = (_written_again(layout, level.body.statements[index]) for index in cut.again)
    return b"".join(line + each for each in written)


def _written_again(layout: Layout, statement: Statement) -> bytes:
    """A statement without its comments: what they say is said once."""
    text = _written(layout, statement)
    code = uncommented(text)
    quoted = b'"' in code or b"'" in code
    return text if code == text else code if quoted else b" ".join(code.split())


def _written(layout: Layout, statement: Statement) -> bytes:
    return layout.text[statement.start : statement.end]


def _head(layout: Layout, level: Level, cut: int, is_used: _Rule) -> int:
    """How many statements at the head of a body are declarations that any thread can compute and the rest uses."""
    body, owner = level.body, level.owner
    plain = owner is not None and body.role == "then" and len(owner.bodies) == 1
    if owner is None or not plain or layout.text[owner.head_end : body.start].strip() != b"{":
        return 0
    unset = _unset(layout, level.function)
    count = 0
    for statement in body.statements[:cut]:
        quiet = is_quiet(layout, statement) or _is_quiet_array(layout, statement)
        if not quiet or not any(map(is_used, statement.declares or ())):
            break
        if not mentioned(level.function, (statement.start, statement.end)).isdisjoint(unset):
            break
        count += 1
    end = body.statements[count - 1].end if count else body.start
    return 0 if _DIRECTIVE.search(layout.text, body.start, end) else count


def _unset(layout: Layout, function: FunctionTree) -> set[int]:
    """The variables that are declared without a value."""
    bare = {d.at for d in declarations(function) if layout.code[d.at + len(d.name) :].lstrip()[:1] in (b";", b",")}
    return {u.variable for u in function.uses if u.kind == "declared" and u.at in bare}


def is_quiet(layout: Layout, statement: Statement) -> bool:
    """A declaration that computes with numbers of the thread, or gives no value."""
    code = layout.code[statement.start : statement.end]
    value = code.partition(b"=")[2].rstrip(b"; \t\r\n")
    plain = statement.declares is not None and all(d.plain or d.bare for d in statement.declares)
    return layout.is_first(statement.start) and (plain or (code.startswith(b"__shared__") and not value))


def _is_quiet_array(layout: Layout, statement: Statement) -> bool:
    """The same of an array whose values are numbers of the thread."""
    arrays = [d.elements for d in statement.declares or () if d.elements is not None and d.elements.plain]
    return len(arrays) == 1 == len(statement.declares or ()) and layout.is_first(statement.start)


def _led_to(layout: Layout, level: Level, cut: int) -> set[int]:
    """What is declared in front of a cut and has to last, though the rest does not name it: what it names may lead
    there."""
    body, function = level.body, level.function
    ending = set[int]()
    for statement in body.statements[:cut]:
        if not LASTING.search(layout.code, statement.start, statement.end):
            ending |= ending_in(function, statement)
    at = body.statements[cut].start
    return led_to(function, ending, (body.start, at), (at, body.end))


def _named_only(layout: Layout, level: Level, cut: int) -> set[int]:
    """What is declared in front of a cut and whose name the rest says where the syntax tree shows no use of it, as in
    `decltype`."""
    function, body = level.function, level.body
    place = body.statements[cut].start, body.end
    shown = {u.at for u in uses_in(function, place)}
    own = {d.at for s in body.statements[:cut] for d in s.declares or ()}
    return {
        use.variable
        for use in function.uses
        if use.kind == "declared"
        and use.at in own
        and any(m.start() not in shown for m in _word(use.name).finditer(layout.code, *place))
    }


def _word(name: str) -> re.Pattern[bytes]:
    """A name that is not the one of a field of something."""
    return re.compile(rb"(?<![\w.])(?<!->)" + name.encode() + rb"\b")


def can_be_in_front(layout: Layout, statement: Statement, declares: Sequence[Declared]) -> bool:
    """Whether the variables of one statement can be declared in front, and assigned in one statement where it is, or in
    one for each element of an array."""
    if all(_has_no_value(d) for d in declares):
        return True
    if len(declares) == 1 and (declares[0].elements is not None or declares[0].enclosed):
        place = slice(statement.start, statement.end)
        return layout.code[place] == layout.text[place] and layout.is_first(statement.start)
    plain = len({d.type for d in declares}) == 1 and (len(declares) == 1 or not declares[0].type.endswith("*"))
    return plain and all(d.assignable for d in declares)


def _has_no_value(declared: Declared) -> bool:
    return declared.bare or (declared.elements is not None and not declared.elements.values)


def keep_scopes(layout: Layout, outer: Level, level: Level, cut: Cut) -> None:
    """What is declared in front is seen from the head of the conditional to the end of the body around it: raises
    `NotPossible` where the same name means something else there."""
    head = level.owner.head_end if level.owner is not None else level.body.start
    moved = [each for s in level.body.statements[: cut.whole] for each in s.declares or ()]
    beside = {d.name for s in outer.body.statements[: outer.position] for d in s.declares or ()}
    named = _named_in_head(outer)
    for each in (*moved, *cut.variables):
        if each.name in named or (each in moved and each.name in beside):
            raise NotPossible(f"`{each.name}` is declared in front of the conditional as well")
        ranges = (head, each.at), (level.body.end, outer.body.end)
        if any(means_another(layout, outer.function, each.name, each.at, place) for place in ranges):
            raise NotPossible(f"`{each.name}` means something else around the conditional")


def _named_in_head(outer: Level) -> set[str]:
    """What is declared in the head of a function or of a `for`, and must not be once more right in its body."""
    if outer.owner is not None and outer.owner.kind != "for":
        return set()
    first = outer.owner.keyword if outer.owner is not None else outer.function.start
    return {u.name for u in uses_in(outer.function, (first, outer.body.start)) if u.kind == "declared"}


def means_another(layout: Layout, function: FunctionTree, variable: str, at: int, place: tuple[int, int]) -> bool:
    """Whether code says the name of the variable that is declared at an offset, and means something else that is from
    outside of that code."""
    own = {u.variable for u in function.uses if u.kind == "declared" and u.at == at}
    found = [u for u in uses_in(function, place) if u.name == variable]
    inside = own | {u.variable for u in found if u.kind == "declared"}
    if any(u.variable not in inside for u in found):
        return True
    # A function or a type, which the uses of variables do not show; a member is what it is.
    code, shown = layout.code[slice(*place)], {u.at - place[0] for u in found}
    name = _word(variable)
    if any(match.start() not in shown for match in name.finditer(code)):
        return True
    more = with_macros(code, layout.text)[len(code) :]
    return not found and name.search(more) is not None


def assigned(layout: Layout, level: Level, cut: Cut) -> Iterable[Change]:
    """Leave the assignment of declarations that are made in front, or nothing of those without a value: with the line,
    if that may go. Of references that are declared again, leave those that the first half uses."""
    yield from _only_later(layout, level, cut)
    for index, (first, *_) in cut.apart.items():
        statement, moves = level.body.statements[index], index in cut.constants
        if not moves and first.elements is not None and first.elements.values:
            yield _filled(layout, statement, first.name, first.elements)
            continue
        if not moves and not _has_no_value(first):
            yield Change(statement.start, first.at, said_in(layout, statement.start, first.at))
            if first.enclosed:
                name = first.at + len(first.name)
                yield Change(name, len(layout.text) - len(layout.text[name:].lstrip()), b" = ")
            continue
        end = layout.text.find(b"\n", statement.end) + 1
        alone = layout.is_first(statement.start) and end > 0 and not layout.text[statement.end : end].strip()
        if not moves and (said := said_in(layout, statement.start, statement.end)):
            yield Change(statement.start, statement.end, said.rstrip())
        elif alone and index + 1 < cut.at:
            yield Change(layout.line_start(statement.start), end, b"")
        elif alone and (before := layout.text[: layout.line_start(statement.start)].rstrip(b"\r\n")):
            yield Change(len(before), statement.end, b"")  # what follows begins in this line
        else:
            yield Change(statement.start, statement.end, b"")


def said_in(layout: Layout, start: int, end: int) -> bytes:
    """The comments in code that goes. Raises `NotPossible` where they cannot stay."""
    found = layout.comments(start, end)
    if found is None:
        raise NotPossible(f"there is a comment in the declaration in line {line_of(layout.text, start)}")
    return found


def _only_later(layout: Layout, level: Level, cut: Cut) -> Iterable[Change]:
    """Take references out of the first half that it does not use, where they have their lines to themselves."""
    function, first = level.function, level.body.statements[: cut.at]
    if len(first) == len(cut.again):
        return
    numbers = {u.at: u.variable for u in function.uses if u.kind == "declared"}
    for index in cut.again:
        statement = first[index]
        own = {numbers[d.at] for d in statement.declares or () if d.at in numbers}
        end = layout.text.find(b"\n", statement.end) + 1
        alone = index + 1 < cut.at and end > 0 and not layout.text[statement.end : end].strip()
        alone = alone and layout.code[statement.start : statement.end] == _written(layout, statement)
        if alone and own.isdisjoint(mentioned(function, (statement.end, first[-1].end))):
            yield Change(layout.line_start(statement.start), end, b"")


def _filled(layout: Layout, statement: Statement, name: str, elements: Elements) -> Change:
    """An assignment to each element of an array."""
    written, moved = b"", list[tuple[int, int, int]]()
    for index, value in elements.values:
        written += layout.newline + layout.indentation(statement.start) if written else b""
        written += f"{name}{index} = ".encode()
        if value is not None:
            moved.append((len(written), value[0], value[1] - value[0]))
        written += (layout.text[slice(*value)] if value is not None else b"0") + b";"
    return Change(statement.start, statement.end, written, moved=tuple(moved))


def moved_out(layout: Layout, level: Level, cut: Cut, indentation: bytes) -> Iterable[Change]:
    """The lines of the declarations that go in front as they are, as deep as the conditional."""
    if not cut.whole:
        return
    deeper = layout.indentation(level.body.statements[0].start)
    at = layout.text.find(b"\n", level.body.start)
    while 0 <= at < level.body.statements[cut.whole - 1].end:
        if deeper.startswith(indentation) and layout.text.startswith(deeper, at + 1):
            yield Change(at + 1, at + 1 + len(deeper) - len(indentation), b"")
        at = layout.text.find(b"\n", at + 1)


def declared_in_front(layout: Layout, outer: Level, level: Level, cut: Cut) -> Iterable[bytes]:
    """The declarations that stand in front of both halves, without their semicolons. `outer`: the body around. Raises
    `NotPossible`."""
    for index, declares in cut.apart.items():
        names = [each for each in declares if not _is_there(layout, outer, each, index in cut.constants)]
        if index in cut.constants:
            yield _written(layout, level.body.statements[index]).rstrip(b"; \t")
        else:
            yield from map(typed, names)


def _is_there(layout: Layout, outer: Level, declared: Declared, constant: bool) -> bool:
    """Whether the body around has a variable like this one that is not used any more: the same conditional in front may
    have been split. Raises `NotPossible` where it has another one of the name."""
    function, before = outer.function, outer.body.statements[: outer.position]
    same = next((d for s in before for d in s.declares or () if d.name == declared.name), None)
    if same is None:
        return False
    jumps = any(s.kind == "label" for s in statements_of(function.body))  # what is in front may come once more
    own = {u.variable for u in function.uses if u.kind == "declared" and u.at == same.at}
    start = outer.body.statements[outer.position].start
    over = all(u.at < start and not u.held for u in function.uses if u.variable in own)
    if constant or jumps or not over or not _has_no_value(same) or typed(same) != typed(declared):
        raise NotPossible(f"`{declared.name}` is declared in front of the conditional as well")
    return True


def typed(declared: Declared) -> bytes:
    """The declaration of a variable without a value, without its semicolon."""
    if declared.elements is not None:
        return f"{declared.elements.type} {declared.name}{declared.elements.extents}".encode()
    space = "" if declared.type.endswith("*") else " "
    return f"{declared.type}{space}{declared.name}".encode()
