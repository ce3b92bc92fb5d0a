"""What a plain token scan of CUDA text shows: launches, kernel definitions and explicit instantiations.

clang deletes statements that use unknown names, and a template that nobody instantiates has no body to look at. So the
text itself is searched, comments and literals left out: what clang did not see can then be counted and named. All
offsets and columns are UTF-8 bytes, lines and columns count from 1.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

LaunchForm = Literal["chevron", "cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
                     "cudaLaunchKernelC", "cudaLaunchCooperativeKernel"]  # fmt: skip

_LAUNCH_CALLS: Final = frozenset(
    {
        "cudaLaunchKernel",
        "cudaLaunchKernelEx",
        "cudaLaunchKernelExC",
        "cudaLaunchKernelC",
        "cudaLaunchCooperativeKernel",
    }
)


@dataclass(frozen=True, slots=True)
class ScannedLaunch:
    """A launch in the text. `kernel` is the callee as written, without blanks; `in_macro` when a #define holds it."""

    offset: int
    line: int
    column: int
    kernel: str
    form: str
    in_macro: bool


@dataclass(frozen=True, slots=True)
class ScannedKernel:
    """A `__global__` definition in the text; `template` when it is one; `in_macro` when a #define holds it."""

    offset: int
    line: int
    column: int
    name: str
    template: bool
    in_macro: bool


@dataclass(frozen=True, slots=True)
class ExplicitInstantiation:
    """`template … void run<double>(double *);`: scope is the enclosing namespaces, outermost first, "" if unnamed."""

    offset: int
    line: int
    scope: tuple[str, ...]
    name: str
    parameters: str


_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|\\\r?\n|//(?:[^\n\\]|\\(?:\r?\n|.))*|/\*.*?(?:\*/|\Z))
  | (?P<text>(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
      |(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"?
      |(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)*'?)
  | (?P<word>[A-Za-z_\x80-\xff$][\w\x80-\xff$]*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=[\w])|[\w.])*)
  | (?P<sign><<<|>>>|::|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    offset: int
    macro: bool


def _tokens(data: str) -> list[_Token]:
    """Tokens of preprocessed-away-comment text; those on a `#define` line are marked, other directives are left out."""
    result: list[_Token] = []
    position = 0
    line_start = True
    size = len(data)
    while position < size:
        if line_start and data[position] == "#":
            end = _directive_end(data, position)
            if _DEFINE.match(data, position):
                result.extend(_plain_tokens(data, position, end, macro=True))
            elif (skipped := _disabled_end(data, position)) is not None:
                end = skipped
            position = end
            continue
        match = _TOKEN.match(data, position)
        if match is None:  # the pattern ends in "any character"
            position += 1
            continue
        if match.lastgroup == "space":
            if "\n" in match.group() and not match.group().startswith("\\"):
                line_start = True
        else:
            line_start = False
            result.append(_Token(match.group(), position, macro=False))
        position = match.end()
    return result


_DEFINE: Final = re.compile(r"#[ \t]*define\b")
_DISABLED: Final = re.compile(r"#[ \t]*if[ \t]+(?:0|false)[ \t]*(?://.*|/\*.*)?\r?$", re.MULTILINE)
_CONDITIONAL: Final = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)


def _directive_end(data: str, start: int) -> int:
    """The offset of the newline that ends a directive, continuation lines and block comments included."""
    position = start
    while position < len(data):
        match = _TOKEN.match(data, position)
        if match is None:
            return position
        if match.lastgroup == "space" and "\n" in match.group():
            text = match.group()
            if text.startswith(("/", "\\")):
                position = match.end()
                continue
            return position + text.index("\n")
        position = match.end()
    return position


def _disabled_end(data: str, start: int) -> int | None:
    """For `#if 0`, the offset of the directive that ends the disabled text; None for any other directive."""
    if not _DISABLED.match(data, start):
        return None
    depth = 0
    for match in _CONDITIONAL.finditer(data, start):
        word = match.group(1)
        if word.startswith("if"):
            depth += 1
        elif word == "endif":
            depth -= 1
        if depth == 0 or (depth == 1 and word in ("else", "elif")):
            return _directive_end(data, match.end())
    return len(data)


def _plain_tokens(data: str, start: int, end: int, *, macro: bool) -> Iterator[_Token]:
    position = start
    while position < end:
        match = _TOKEN.match(data, position, end)
        if match is None:
            return
        if match.lastgroup != "space":
            yield _Token(match.group(), position, macro)
        position = match.end()


class _Lines:
    """Line and column of an offset."""

    __slots__ = ("_starts",)

    def __init__(self, data: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", data))]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def source_bytes(text: str) -> bytes:
    """The bytes that stand for a text everywhere in the front end, so that all offsets agree.

    Text read with `surrogateescape` gives its original bytes back; what no file can hold becomes "?".
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _bytewise(text: str) -> str:
    """One character per byte, so that indices into the result are byte offsets."""
    return source_bytes(text).decode("latin-1")


def _readable(bytewise: str) -> str:
    return bytewise.encode("latin-1").decode("utf-8", "replace")


def scan_launches(text: str) -> list[ScannedLaunch]:
    """Every `kernel<<<…>>>(…)` and `cudaLaunchKernel*`/`cudaLaunchCooperativeKernel` call that the text shows.

    Text under `#if 0`, in comments and in literals is left out.
    """
    data = _bytewise(text)
    tokens = _tokens(data)
    lines = _Lines(data)
    found: list[ScannedLaunch] = []
    for index, token in enumerate(tokens):
        if token.text == "<<<":
            start = _callee_start(tokens, index)
            kernel = _joined(tokens[start:index])
            place = tokens[start]
            form = "chevron"
        elif token.text in _LAUNCH_CALLS and (argument := _first_argument(tokens, index)) is not None:
            kernel, place, form = argument, token, token.text
        else:
            continue
        line, column = lines.place(place.offset)
        found.append(ScannedLaunch(place.offset, line, column, _readable(kernel), form, token.macro))
    return found


def _callee_start(tokens: list[_Token], chevron: int) -> int:
    """Index of the first token of the expression that is launched, the chevron standing at `chevron`."""
    index = chevron
    while index > 0:
        previous = tokens[index - 1].text
        if previous in (">", ">>>", ")", "]"):
            opened = _opening(tokens, index - 1)
            if opened is None:
                return index
            index = opened
            if previous == ")" and (index == 0 or not _is_word(tokens[index - 1].text)):
                return index
        elif _is_word(previous) and previous not in _NOT_A_CALLEE:
            index -= 1
            if index >= 2 and tokens[index - 1].text == "template" and tokens[index - 2].text in ("::", "->", "."):
                index -= 1
            if index == 0 or tokens[index - 1].text not in ("::", "->", ".", "#"):
                return index
        elif previous in ("::", "->", ".", "#"):
            index -= 1
        else:
            return index
    return index


_NOT_A_CALLEE: Final = frozenset({"return", "else", "do", "template", "typename", "case"})
_PAIRS: Final = {")": "(", "]": "[", ">": "<"}


def _opening(tokens: list[_Token], closing: int) -> int | None:
    """Index of the bracket that the one at `closing` closes; angle brackets count only outside of round ones."""
    stack: list[str] = []
    for index in range(closing, -1, -1):
        text = tokens[index].text
        closers = _closers(text)
        if closers:
            stack.extend(_PAIRS[character] for character in closers)
            continue
        if text in ("(", "[", "<") and stack:
            while stack and stack[-1] == "<" and text != "<":
                stack.pop()
            if stack and stack[-1] == text:
                stack.pop()
            if not stack:
                return index
        elif text in (";", "{", "}"):
            return None
    return None


def _closers(text: str) -> str:
    return text if text in (")", "]", ">") or text == ">>>" else ""


def _is_word(text: str) -> bool:
    return text[0].isalpha() or text[0] in "_$" or text[0] >= "\x80"


def _joined(tokens: list[_Token]) -> str:
    """Tokens without blanks, but with one between two words."""
    parts: list[str] = []
    for token in tokens:
        if parts and _is_word(parts[-1]) and (_is_word(token.text) or token.text[0].isdigit()):
            parts.append(" ")
        parts.append(token.text)
    return "".join(parts)


def _first_argument(tokens: list[_Token], callee: int) -> str | None:
    """The kernel that a `cudaLaunch*` call names, casts and `&` taken off; None when it is no call.

    The extensible forms take the configuration first and the kernel second.
    """
    position = callee + 1
    if position < len(tokens) and tokens[position].text == "<":
        depth = 0
        while position < len(tokens):
            depth += {"<": 1, ">": -1, ">>>": -3}.get(tokens[position].text, 0)
            position += 1
            if depth <= 0:
                break
    if position >= len(tokens) or tokens[position].text != "(":
        return None
    arguments: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens[position + 1 :]:
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            if depth == 0:
                break
            depth -= 1
        elif token.text == "," and depth == 0 and not _inside_angles(arguments[-1]):
            arguments.append([])
            continue
        elif token.text == ";":
            break
        arguments[-1].append(token)
    which = 1 if tokens[callee].text in ("cudaLaunchKernelEx", "cudaLaunchKernelExC") else 0
    if which >= len(arguments):
        return ""
    return _joined(_uncast(arguments[which]))


def _inside_angles(tokens: list[_Token]) -> bool:
    """Whether a comma after these tokens would stand between template arguments."""
    depth = 0
    for token in tokens:
        depth += {"<": 1, ">": -1, ">>>": -3}.get(token.text, 0)
    return depth > 0


def _uncast(tokens: list[_Token]) -> list[_Token]:
    while tokens:
        first = tokens[0].text
        if first == "&":
            tokens = tokens[1:]
        elif first in ("reinterpret_cast", "static_cast", "const_cast"):
            opened = next((index for index, token in enumerate(tokens) if token.text == "("), None)
            if opened is None:
                return tokens
            tokens = tokens[opened + 1 : -1] if tokens[-1].text == ")" else tokens[opened + 1 :]
        elif first == "(":
            tokens = tokens[_past(tokens, 0) :] or tokens[1:-1]
        else:
            return tokens
    return tokens


def scan_kernels(text: str) -> list[ScannedKernel]:
    """Every `__global__` function that the text defines; declarations without a body are left out."""
    data = _bytewise(text)
    tokens = _tokens(data)
    lines = _Lines(data)
    found: list[ScannedKernel] = []
    for index, token in enumerate(tokens):
        if token.text != "__global__":
            continue
        named = _defined_name(tokens, index + 1)
        if named is None:
            continue
        line, column = lines.place(named.offset)
        found.append(
            ScannedKernel(named.offset, line, column, _readable(named.text), _is_template(tokens, index), token.macro)
        )
    return found


_ATTRIBUTE_CALLS: Final = frozenset(
    {
        "__launch_bounds__",
        "__cluster_dims__",
        "__attribute__",
        "__declspec",
        "__maxnreg__",
        "__block_size__",
        "alignas",
        "decltype",
        "noexcept",
        "requires",
    }
)


def _defined_name(tokens: list[_Token], start: int) -> _Token | None:
    """The name token of the function whose declaration goes on at `start`, if a body follows its parameters.

    `__global__ void BOUNDS(256) name(…) {` and `__global__ void NAME(op)(…) {` are definitions too.
    """
    name: _Token | None = None
    index = start
    while index < len(tokens):
        text = tokens[index].text
        if text == "(":
            before = tokens[index - 1]
            if _is_word(before.text) and before.text not in _ATTRIBUTE_CALLS:
                name = before
            index = _past(tokens, index)
        elif text == "{":
            return name
        elif text in (";", "}", "="):
            return None
        else:
            index += 1
    return None


def _past(tokens: list[_Token], opened: int) -> int:
    """Index after the round bracket that closes the one at `opened`."""
    depth = 0
    for index in range(opened, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index + 1
    return len(tokens)


def _is_template(tokens: list[_Token], kernel: int) -> bool:
    """Whether the declaration that holds the token at `kernel` began with `template <…>`."""
    depth = 0
    for index in range(kernel - 1, -1, -1):
        text = tokens[index].text
        if text == ")":
            depth += 1
        elif text == "(":
            depth -= 1
        elif depth == 0 and text in (";", "{", "}"):
            return False
        elif text == "template":
            return index + 1 < len(tokens) and tokens[index + 1].text == "<"
    return False


def scan_explicit_instantiations(text: str) -> list[ExplicitInstantiation]:
    """Explicit function instantiations (`template [__global__] void name<…>(…);`), for which clang shows no cursor."""
    data = _bytewise(text)
    tokens = [token for token in _tokens(data) if not token.macro]
    lines = _Lines(data)
    found: list[ExplicitInstantiation] = []
    scopes: list[str | None] = []
    for index, token in enumerate(tokens):
        if token.text == "{":
            scopes.append(_namespace_name(tokens, index))
        elif token.text == "}" and scopes:
            scopes.pop()
        elif token.text == "template" and None not in scopes:
            declared = _instantiated(tokens, index)
            if declared is not None:
                name, parameters = declared
                scope = tuple(part for scope in scopes if scope is not None for part in scope.split("::"))
                line, _ = lines.place(token.offset)
                found.append(ExplicitInstantiation(token.offset, line, scope, _readable(name), _readable(parameters)))
    return found


def _namespace_name(tokens: list[_Token], brace: int) -> str | None:
    """The name of the namespace (or "" for `extern "C"` and unnamed ones) that a brace opens; None for other braces."""
    index = brace - 1
    if index >= 1 and tokens[index].text.startswith('"') and tokens[index - 1].text == "extern":
        return ""
    parts: list[str] = []
    while index >= 0 and (_is_word(tokens[index].text) or tokens[index].text == "::"):
        if tokens[index].text == "namespace":
            return "".join(reversed(parts)).replace("inline", "")
        parts.append(tokens[index].text)
        index -= 1
    return None


def _instantiated(tokens: list[_Token], template: int) -> tuple[str, str] | None:
    index = template + 1
    if index >= len(tokens) or tokens[index].text in ("<", "class", "struct", "union"):
        return None
    if template > 0 and tokens[template - 1].text in ("::", ".", "->", "extern", "<", ","):
        return None
    while index < len(tokens) and tokens[index].text not in (";", "{", "}", "="):
        if tokens[index].text == "(" and tokens[index - 1].text not in _ATTRIBUTE_CALLS:
            start = _callee_start(tokens, index)
            after = _past(tokens, index)
            if start <= template + 1 or after >= len(tokens) or tokens[after].text != ";":
                return None
            return _joined(tokens[start:index]), _joined(tokens[index + 1 : after - 1])
        index = _past(tokens, index) if tokens[index].text == "(" else index + 1
    return None
