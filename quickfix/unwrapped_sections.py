"""A section of a `switch` that is one block, taken out of its braces, so that the `switch` can be split within it.

Takes the body that the section is, gives the changes after which its statements stand in the section itself: what they
declare goes in front of the `switch`, because threads would jump past it to the labels behind, and values are assigned
where they were declared.
"""

from __future__ import annotations

from typing import Final

from analyzers.frontend.gaps import Declared, Statement, Step
from quickfix.braces import DECLARING
from quickfix.carried import Cut, assigned, can_be_in_front, means_another, typed
from quickfix.edits import Change, Layout, indented
from quickfix.naming import NotPossible, line_of
from quickfix.own_lines import first_word, require_braces, require_lines
from quickfix.paths import Chain, Level, around
from quickfix.sections import balanced

_ENDS: Final = frozenset({"jump", "empty"})


def block_in_section(first: Chain, second: Chain) -> Level | None:
    """The section of which two accesses stand in different statements of one block, which is all that it holds."""
    for a, b, inner, other in zip(first, second, first[1:], second[1:], strict=False):
        block = a.statement
        if a.identity == b.identity and a.body.role == "case" and a.position == b.position == 0 and block is not None:
            inside = inner.identity == other.identity and inner.position != other.position
            alone = all(s.kind in _ENDS for s in a.body.statements[1:])
            return a if block.kind == "compound" and inside and alone else None
    return None


def unwrapped(section: Level, layout: Layout) -> list[Change]:
    """The changes; raises `NotPossible`."""
    outer, switch, block = around(section), section.owner, section.body.statements[0]
    assert switch is not None
    text, inner = layout.text, block.bodies[0]
    line = line_of(text, block.start)
    label = layout.last_visible(block.start, switch.start)
    if block.macro or not inner.statements or not balanced(text, label, block.end):
        raise NotPossible(f"the section in line {line} is written by a macro, or preprocessor lines cut it")
    if text[label : block.start].strip() or any(s.kind == "label" for s in inner.statements):
        raise NotPossible(f"there is a comment in front of the section in line {line}, or it has labels")
    require_braces(layout, outer, f"the `switch` around line {line} is in a body without braces")
    require_lines(layout, outer, f"the `switch` around line {line} does not begin its line", switch.keyword)
    if outer.position and outer.body.statements[outer.position - 1].kind == "label":
        raise NotPossible(f"there is a label in front of the `switch` around line {line}")
    level = Level(section.function, (*section.steps, Step(section.body, 0)), inner, 0)
    ends = first_word(inner.statements[0]), inner.end
    require_lines(layout, level, f"the section in line {line} is in one line", *ends)
    apart = {i: _declared(layout, outer, block, s) for i, s in enumerate(inner.statements) if s.kind in DECLARING}
    margin = layout.line_start(switch.keyword)
    indentation = layout.indentation(switch.keyword)
    front = b"".join(indentation + typed(d) + b";" + layout.newline for each in apart.values() for d in each)
    changes = [Change(margin, margin, front)] if front else []
    changes.append(Change(label, inner.start, b""))
    changes += assigned(layout, level, Cut(len(inner.statements), 0, apart))
    own = not layout.same_line(label, block.start)
    unit = layout.unit(section.function)
    if own:
        deep = (at for at in indented(text, inner.start, inner.statements[-1].end) if text.startswith(unit, at))
        taken = [(c.start, c.end) for c in changes]
        changes += [Change(at, at + len(unit), b"") for at in deep if not any(s <= at < e for s, e in taken)]
    end = text.find(b"\n", inner.end) + 1
    if end and not text[inner.end + 1 : end].strip():
        changes.append(Change(layout.line_start(inner.end), end, b""))
    else:
        following = section.body.statements[1].start if len(section.body.statements) > 1 else inner.end + 1
        if text[inner.end + 1 : following].strip():
            raise NotPossible(f"there is a comment behind the section in line {line}")
        changes.append(Change(inner.end, following, b"" if own else unit))
    return sorted(changes, key=lambda c: (c.start, c.end))


def _declared(layout: Layout, outer: Level, block: Statement, statement: Statement) -> tuple[Declared, ...]:
    """What a statement of the block declares, which can be in front of the `switch`."""
    line = line_of(layout.text, statement.start)
    if statement.declares is None or not can_be_in_front(layout, statement, statement.declares):
        raise NotPossible(f"the declaration in line {line} cannot be moved in front of the `switch`")
    switch = outer.body.statements[outer.position]
    for each in statement.declares:
        ranges = (switch.start, block.start), (block.start, each.at), (block.end, outer.body.end)
        if any(means_another(layout, outer.function, each.name, each.at, place) for place in ranges):
            raise NotPossible(f"`{each.name}` means something else around the `switch`")
    return statement.declares
