"""What a plain token scan of CUDA text shows: launches, kernel definitions and explicit instantiations.

clang deletes statements that use unknown names, and a template that nobody instantiates has no body to look at. So the
text itself is searched, comments and literals left out: what clang did not see can then be counted and named. All
offsets and columns are UTF-8 bytes, lines and columns count from 1.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from analyzers.frontend.lexical import CodeText, code_text

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
    """A launch in the text. `kernel` is the callee as written, without blanks; `in_macro` when a #define holds it.

    `condition` is the innermost preprocessor condition around it ("#ifdef GPU"), "" if none: when clang did not see the
    launch and reports no error there, the flags leave it out.
    """

    offset: int
    line: int
    column: int
    kernel: str
    form: str
    in_macro: bool
    condition: str


@dataclass(frozen=True, slots=True)
class ScannedKernel:
    """A `__global__` definition in the text; `template` when it is one; the rest as in `ScannedLaunch`."""

    offset: int
    line: int
    column: int
    name: str
    template: bool
    in_macro: bool
    condition: str


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
    "[^"\n]*"?
  | [A-Za-z_\x80-\xff$][\w\x80-\xff$]*
  | \.?\d(?:[eEpP][+-]|'(?=[\w])|[\w.])*
  | <<<|>>>|::|->|\S
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class _Region:
    """A piece of text whose tokens belong together: the whole code, or one macro body."""

    text: str
    offset: int
    macro: bool

    def tokens(self, start: int, end: int) -> list[_Token]:
        return [
            _Token(match.group(), self.offset + match.start())
            for match in _TOKEN.finditer(self.text, start, end)
            if match.group() != "\\"
        ]

    def statement(self, at: int) -> tuple[int, int]:
        """From behind the last ";", "{" or "}" before a place to the next ";" or the end."""
        start = max(self.text.rfind(character, 0, at) for character in ";{}") + 1
        end = self.text.find(";", at)
        return start, len(self.text) if end < 0 else end + 1


def _regions(code: CodeText) -> Iterator[_Region]:
    yield _Region(code.code, 0, macro=False)
    for body in code.macros:
        yield _Region(body.text, body.offset, macro=True)


def _readable(bytewise: str) -> str:
    return bytewise.encode("latin-1").decode("utf-8", "replace")


_LAUNCH: Final = re.compile(r"<<<|\b(?:" + "|".join(sorted(_LAUNCH_CALLS)) + r")\b")


def scan_launches(text: str) -> list[ScannedLaunch]:
    """Every `kernel<<<…>>>(…)` and `cudaLaunchKernel*`/`cudaLaunchCooperativeKernel` call that the text shows.

    Text under `#if 0`, in comments and in literals is left out.
    """
    code = code_text(text)
    found: list[ScannedLaunch] = []
    for region in _regions(code):
        for hit in _LAUNCH.finditer(region.text):
            start, end = region.statement(hit.start())
            tokens = region.tokens(start, end)
            index = next(i for i, token in enumerate(tokens) if token.offset == region.offset + hit.start())
            launch = _launch(tokens, index, code, macro=region.macro)
            if launch is not None:
                found.append(launch)
    return sorted(found, key=lambda launch: launch.offset)


def _launch(tokens: list[_Token], index: int, code: CodeText, *, macro: bool) -> ScannedLaunch | None:
    form = tokens[index].text
    if form == "<<<":
        start, form = _callee_start(tokens, index), "chevron"
        kernel = _joined(tokens[start:index])
    else:
        argument = _first_argument(tokens, index)
        if argument is None:
            return None
        start, kernel = index, argument
    offset = tokens[start].offset
    line, column = code.place(offset)
    return ScannedLaunch(offset, line, column, _readable(kernel), form, macro, _readable(code.condition(offset)))


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
    code = code_text(text)
    found: list[ScannedKernel] = []
    for region in _regions(code):
        for hit in _GLOBAL.finditer(region.text):
            start, _ = region.statement(hit.start())
            named = _defined_name(region, hit.end())
            if named is None:
                continue
            line, column = code.place(named.offset)
            template = _is_template(region.tokens(start, hit.start()))
            condition = _readable(code.condition(named.offset))
            name = _readable(named.text)
            found.append(ScannedKernel(named.offset, line, column, name, template, region.macro, condition))
    return sorted(found, key=lambda kernel: kernel.offset)


_GLOBAL: Final = re.compile(r"\b__global__\b")
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


def _defined_name(region: _Region, start: int) -> _Token | None:
    """The name token of the function whose declaration goes on at `start`, if a body follows its parameters.

    `__global__ void BOUNDS(256) name(…) {` and `__global__ void NAME(op)(…) {` are definitions too.
    """
    name: _Token | None = None
    before: _Token | None = None
    depth = 0
    for match in _TOKEN.finditer(region.text, start):
        text = match.group()
        if depth == 0 and text == "{":
            return name
        if depth == 0 and text in (";", "}", "="):
            return None
        if text == "(":
            if depth == 0 and before is not None and _is_word(before.text) and before.text not in _ATTRIBUTE_CALLS:
                name = before
            depth += 1
        elif text == ")":
            depth -= 1
        before = _Token(text, region.offset + match.start())
    return None


def _past(tokens: list[_Token], opened: int) -> int:
    """Index after the round bracket that closes the one at `opened`."""
    depth = 0
    for index in range(opened, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index + 1
    return len(tokens)


def _is_template(before: list[_Token]) -> bool:
    """Whether what stands before a kernel's `__global__` in its statement begins with `template <…>`."""
    return any(token.text == "template" and following.text == "<" for token, following in itertools.pairwise(before))


_EXPLICIT: Final = re.compile(r"\btemplate\b(?!\s*<)")


def scan_explicit_instantiations(
    text: str, expanded: Mapping[int, tuple[int, str]] | None = None
) -> list[ExplicitInstantiation]:
    """Explicit function instantiations (`template [__global__] void name<…>(…);`), for which clang shows no cursor.

    `expanded` says what uses of macros stand for, by the offset where the use begins: where it ends, and its text."""
    code = code_text(text)
    if not expanded and not _EXPLICIT.search(code.code):
        return []
    tokens = _tokens_with(code.code, expanded or {})
    found: list[ExplicitInstantiation] = []
    for index, scope in _outside_functions(tokens):
        if tokens[index].text != "template":
            continue
        declared = _instantiated(tokens, index)
        if declared is not None:
            name, parameters = declared
            offset = tokens[index].offset
            line, _ = code.place(offset)
            found.append(ExplicitInstantiation(offset, line, scope, _readable(name), _readable(parameters)))
    return found


def scan_words_outside_functions(text: str) -> Iterator[tuple[int, str]]:
    """The words between the declarations of a file and its namespaces, or in their heads, each with its offset."""
    code = code_text(text)
    tokens = _Region(code.code, 0, macro=False).tokens(0, len(code.code))
    for index, _ in _outside_functions(tokens):
        if _is_word(tokens[index].text):
            yield tokens[index].offset, tokens[index].text


def _tokens_with(code: str, expanded: Mapping[int, tuple[int, str]]) -> list[_Token]:
    """The tokens of a text in which these uses of macros are expanded; what they stand for is where the use begins."""
    whole = _Region(code, 0, macro=False)
    tokens: list[_Token] = []
    at = 0
    for start, (end, text) in sorted(expanded.items()):
        tokens += whole.tokens(at, start)
        tokens += [_Token(match.group(), start) for match in _TOKEN.finditer(text)]
        at = end
    return [*tokens, *whole.tokens(at, len(code))]


def _outside_functions(tokens: list[_Token]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Indices of the tokens that stand in no braces but those of namespaces, which are given with them."""
    scopes: list[str | None] = []
    for index, token in enumerate(tokens):
        if token.text == "{":
            scopes.append(_namespace_name(tokens, index))
        elif token.text == "}" and scopes:
            scopes.pop()
        elif None not in scopes:
            yield index, tuple(part for scope in scopes if scope is not None for part in scope.split("::"))


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
