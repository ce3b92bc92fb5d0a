"""Where barriers can be inserted, and what the text looks like afterwards. `@` marks the gap in a source."""

from collections.abc import Iterator

import pytest

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.function_trees import function_trees
from analyzers.frontend.gaps import Body, FunctionTree, Gap, SourceTrees, Statement, Step, all_gaps
from analyzers.frontend.parse import UnitParser
from quickfix.edits import Change, OffsetMap, apply, insertions, removal, text_edits

PATH = "/virtual/edited.cu"
PARSER = UnitParser()


def trees(text: bytes) -> SourceTrees:
    unit = PARSER.parse(PATH, text.decode(), CompileFlags())
    return function_trees(unit.device, [(PATH, offset) for offset in range(len(text))])


def gap_at(text: bytes, offset: int) -> Gap:
    """The innermost gap whose blanks contain the offset."""
    found: list[Gap] = []
    for function in trees(text).functions:
        for gap in all_gaps(function):
            low = gap.before.end if gap.before else gap.body.start
            high = gap.after.start if gap.after else gap.body.end
            if low <= offset <= high:
                found.append(gap)
    assert found, "no gap at the mark"
    return max(found, key=lambda gap: len(gap.steps))


def inserted(source: str) -> str:
    marked = source.encode()
    text = marked.replace(b"@", b"")
    gaps = [gap_at(text, match - number) for number, match in enumerate(marks(marked))]
    return apply(text, insertions(text, gaps)).decode()


def marks(text: bytes) -> Iterator[int]:
    at = text.find(b"@")
    while at >= 0:
        yield at
        at = text.find(b"@", at + 1)


def function(body: str) -> str:
    return "__device__ void f(int *s, int t, int c) {\n" + body + "}\n"


INSERTIONS = {
    "between two lines": ("  s[0] = 1;@\n  s[1] = 2;\n", "  s[0] = 1;\n  __syncthreads();\n  s[1] = 2;\n"),
    "behind the comment of the line, in front of that of the next": (
        "  s[0] = 1;@ // one\n\n  // two\n  s[1] = 2;\n",
        "  s[0] = 1; // one\n  __syncthreads();\n\n  // two\n  s[1] = 2;\n",
    ),
    "a comment over several lines": (
        "  s[0] = 1;@ /* one\n  two */\n  s[1] = 2;\n",
        "  s[0] = 1;\n  __syncthreads(); /* one\n  two */\n  s[1] = 2;\n",
    ),
    "two statements of one line": ("  s[0] = 1;@ s[1] = 2;\n", "  s[0] = 1; __syncthreads(); s[1] = 2;\n"),
    "one-line block": ("  if (c) { s[0] = 1;@ s[1] = 2; }\n", "  if (c) { s[0] = 1; __syncthreads(); s[1] = 2; }\n"),
    "tabs": ("\tif (c) {\n\t\ts[0] = 1;@\n\t}\n", "\tif (c) {\n\t\ts[0] = 1;\n\t\t__syncthreads();\n\t}\n"),
    "CRLF": ("  s[0] = 1;@\r\n  s[1] = 2;\r\n", "  s[0] = 1;\r\n  __syncthreads();\r\n  s[1] = 2;\r\n"),
    "letters of several bytes": (
        "  s[0] = 'x'; // é λ\n  s[1] = 2;@ // ∑\n",
        "  s[0] = 'x'; // é λ\n  s[1] = 2; // ∑\n  __syncthreads();\n",
    ),
    "then-branch in the line of the if": (
        "  if (c) s[0] = 1;@ // one\n  s[1] = 2;\n",
        "  if (c) {\n    s[0] = 1; // one\n    __syncthreads();\n  }\n  s[1] = 2;\n",
    ),
    "then-branch on its own line, with an else": (
        "  if (c)  // why\n    s[0] = 1;@\n  else\n    s[1] = 2;\n",
        "  if (c) {  // why\n    s[0] = 1;\n    __syncthreads();\n  } else\n    s[1] = 2;\n",
    ),
    "else-if chain": (
        "  if (c) s[0] = 1;\n  else if (t) @s[1] = 2; else s[2] = 3;\n",
        "  if (c) s[0] = 1;\n  else if (t) {\n    __syncthreads();\n    s[1] = 2;\n  } else s[2] = 3;\n",
    ),
    "if within a one-line block": (
        "  { if (c) s[0] = 1; @s[1] = 2; }\n",
        "  { if (c) s[0] = 1; __syncthreads(); s[1] = 2; }\n",
    ),
    "loop body on its own line": (
        "  for (int i = 0; i < 3; ++i)\n    @s[i] = 1;\n",
        "  for (int i = 0; i < 3; ++i) {\n    __syncthreads();\n    s[i] = 1;\n  }\n",
    ),
    "nested loops in one line": (
        "  for (int i = 0; i < 3; ++i) @for (int j = 0; j < 3; ++j) {\n    s[j] = 1;@\n  }\n",
        (
            "  for (int i = 0; i < 3; ++i) {\n    __syncthreads();\n    for (int j = 0; j < 3; ++j) {\n"
            "      s[j] = 1;\n      __syncthreads();\n    }\n  }\n"
        ),
    ),
    "do": (
        "  do\n    s[0] = 1;@\n  while (s[1]);\n",
        "  do {\n    s[0] = 1;\n    __syncthreads();\n  } while (s[1]);\n",
    ),
    "section of a switch": (
        "  switch (c) {\n  case 1:\n    s[0] = 1;@\n    break;\n  }\n",
        "  switch (c) {\n  case 1:\n    s[0] = 1;\n    __syncthreads();\n    break;\n  }\n",
    ),
    "outside of a conditional of the preprocessor": (
        "#ifdef A\n  s[0] = 1;\n#else\n  s[0] = 2;@\n#endif // A\n  s[1] = 2;\n",
        "#ifdef A\n  s[0] = 1;\n#else\n  s[0] = 2;\n#endif // A\n  __syncthreads();\n  s[1] = 2;\n",
    ),
    "in front of a pragma": (
        "  s[0] = 1;@\n#pragma unroll\n  for (int i = 0; i < 3; ++i) s[i] = 1;\n",
        "  s[0] = 1;\n  __syncthreads();\n#pragma unroll\n  for (int i = 0; i < 3; ++i) s[i] = 1;\n",
    ),
    "in front of a closing brace": ("  s[0] = 1;@ ", "  s[0] = 1; __syncthreads(); "),
    "empty block": ("  if (c) {@\n  }\n", "  if (c) {\n    __syncthreads();\n  }\n"),
}


@pytest.mark.parametrize("name", INSERTIONS)
def test_insertion(name: str):
    source, expected = INSERTIONS[name]
    before = "int g[4];\r\n" if "\r" in source else "int g[4];\n"
    assert inserted(before + function(source)) == before + function(expected)


def test_the_macro_that_opens_a_loop_keeps_its_line():
    head = "#define EACH(i, n) for (int i = 0; i < n; ++i)\n"
    source = function("  EACH(i, 3)\n    s[i] = 1;@\n")
    expected = function("  EACH(i, 3) {\n    s[i] = 1;\n    __syncthreads();\n  }\n")
    assert inserted(head + source) == head + expected


MACROS = b"""#define BOTH(a) a = 1; __syncthreads()
#define ID(a) a
#define STORE(a) a = 1
#define ALL(n, body) for (int i = 0; i < n; ++i) { body }
__device__ void f(int *s, int n) {
  BOTH(s[1]);
  ALL(n, s[i] = 2; s[i + 1] = 3;)
  STORE(s[1]); s[2] = ID(s[1]); ID(s[3] = 4); s[4] = 1;
  auto l = [&](int q) { s[q] = 1; s[q + 1] = 2; };
  l(3);
}
"""


def test_nothing_goes_into_the_arguments_of_a_macro():
    whole, inner = sorted(trees(MACROS).functions, key=lambda f: f.start)
    texts = [MACROS[s.start : s.end].decode() for s in whole.body.statements]
    assert texts[:6] == ["BOTH(s[1]);", "ALL(n, s[i] = 2; s[i + 1] = 3;)", "STORE(s[1]);", "s[2] = ID(s[1]);",
                         "ID(s[3] = 4);", "s[4] = 1;"]  # fmt: skip
    assert [s.macro for s in whole.body.statements] == [True, True, True, False, True, False, False, False]
    assert len(list(all_gaps(whole))) == 9
    assert inner.is_lambda
    assert len(list(all_gaps(inner))) == 3


EVERYTHING = b"""template <int N> __device__ int f(int *s, int c) {
  if (c) s[0] = 1; else if (c > 2) s[1] = 2; else { s[3] = 1; }
  if constexpr (N > 3) { s[5] = 1; }
  for (;;) s[0]++;
  do s[1] = 2; while (c--);
  while (int v = s[0]) { s[2] = v; break; }
  switch (c) { case 1: case 2: s[1] = 2; break; default: s[3] = 1; }
  { int x = 1; }
#pragma unroll
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (c)
        s[i] = j; // innermost
      else
        s[j] = i;
  again: s[4] = 1;
  return 3;
}
"""


def barriers(body: Body) -> int:
    return sum(
        (statement.call == "__syncthreads") + sum(map(barriers, statement.bodies)) for statement in body.statements
    )


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_barrier_in_every_gap_parses_back_as_such(newline: bytes):
    text = EVERYTHING.replace(b"\n", newline)
    before = trees(text).functions[0]
    gaps = list(all_gaps(before))
    edited = apply(text, insertions(text, gaps))
    unit = PARSER.parse(PATH, edited.decode(), CompileFlags())
    assert not unit.errors
    assert barriers(trees(edited).functions[0].body) == len(gaps) == 41
    assert edited.count(b"\n") == edited.count(newline)
    without = edited.replace(b"__syncthreads();", b"")
    assert [b for b in without.split() if b not in b"{}"] == [b for b in text.split() if b not in b"{}"]


def test_each_single_insertion_parses():
    text = EVERYTHING
    for gap in list(all_gaps(trees(text).functions[0]))[::2]:
        edited = apply(text, insertions(text, [gap]))
        unit = PARSER.parse(PATH, edited.decode(), CompileFlags())
        assert not unit.errors, edited.decode()
        assert barriers(function_trees(unit.device, [(PATH, gap.function.body.start)]).functions[0].body) == 1


def test_text_edits_turn_one_text_into_the_other():
    text = EVERYTHING.replace(b"innermost", "innerst é".encode())
    for gap in all_gaps(trees(text).functions[0]):
        edited = apply(text, insertions(text, [gap]))
        edits = text_edits(PATH, text, edited)
        rebuilt = text
        for edit in reversed(edits):
            span = edit.span
            line = text.split(b"\n")[span.start_line - 1]
            assert text[: span.start_offset].endswith(line[: span.start_column - 1])
            rebuilt = rebuilt[: span.start_offset] + edit.new_text.encode() + rebuilt[span.end_offset :]
        assert rebuilt == edited
        assert sum(len(e.new_text) for e in edits) < 80


def test_offsets_before_and_after():
    mapping = OffsetMap([Change(2, 2, b"XX"), Change(5, 7, b""), Change(9, 10, b"YYY")])
    assert apply(b"0123456789ab", [Change(2, 2, b"XX"), Change(5, 7, b""), Change(9, 10, b"YYY")]) == b"01XX23478YYYab"
    assert [mapping.old(i) for i in range(14)] == [0, 1, None, None, 2, 3, 4, 7, 8, None, None, None, 10, 11]
    assert [mapping.new(i) for i in range(12)] == [0, 1, 4, 5, 6, None, None, 7, 8, None, 12, 13]


def test_what_a_change_has_moved_is_found_both_ways():
    mapping = OffsetMap([Change(0, 0, b"v = cd; ", moved=((4, 5, 2),)), Change(5, 7, b"v")])
    assert [mapping.new(i) for i in (0, 4, 5, 6, 7)] == [8, 12, 4, 5, 14]
    assert [mapping.old(i) for i in (8, 12, 4, 5, 14)] == [0, 4, 5, 6, 7]


def steps_to_barrier(functions: tuple[FunctionTree, ...]) -> tuple[FunctionTree, list[Step]]:
    def below(body: Body, steps: list[Step]) -> list[Step] | None:
        for index, statement in enumerate(body.statements):
            here = [*steps, Step(body, index)]
            if statement.call == "__syncthreads":
                return here
            for inner in statement.bodies:
                found = below(inner, here)
                if found:
                    return found
        return None

    for tree in functions:
        found = below(tree.body, [])
        if found:
            return tree, found
    raise AssertionError("no barrier")


REMOVALS = {
    "its line": ("  s[0] = 1;\n  __syncthreads();\n  s[1] = 2;\n", "  s[0] = 1;\n  s[1] = 2;\n"),
    "its own comment": ("  s[0] = 1;\n  __syncthreads(); // all\n", "  s[0] = 1;\n"),
    "its own block comment": ("  __syncthreads();  /* all */  \r\n  s[0] = 1;\r\n", "  s[0] = 1;\r\n"),
    "a comment that goes on": ("  __syncthreads(); /* all\n  of */\n", "  /* all\n  of */\n"),
    "a comment that goes on by a backslash": ("  __syncthreads(); // all \\\n  of\n", "  // all \\\n  of\n"),
    "two comments": ("  __syncthreads(); /* all */ /* of */\n", "  /* all */ /* of */\n"),
    "a comment before it": ("  /* all */ __syncthreads(); // of\n", "  /* all */ // of\n"),
    "a comment on a line with more": ("  s[0] = 1; __syncthreads(); // all\n", "  s[0] = 1; // all\n"),
    "a comment behind more": ("  __syncthreads(); s[0] = 1; // all\n", "  s[0] = 1; // all\n"),
    "the comment above": ("  // all\n  __syncthreads();\n", "  // all\n"),
    "a comment that steers": ("  __syncthreads(); // cuda-lsp: assume c > 0\n", "  // cuda-lsp: assume c > 0\n"),
    "CRLF": ("  s[0] = 1;\r\n  __syncthreads();\r\n", "  s[0] = 1;\r\n"),
    "in a line": ("  s[0] = 1; __syncthreads(); s[1] = 2;\n", "  s[0] = 1; s[1] = 2;\n"),
    "macro": ("  SYNC();\n  s[0] = 1;\n", "  s[0] = 1;\n"),
    "the if with nothing else": ("  if (c > 2) __syncthreads();\n  s[0] = 1;\n", "  s[0] = 1;\n"),
    "the braced if with nothing else": ("  if (c) {\n    __syncthreads();\n  }\n  s[0] = 1;\n", "  s[0] = 1;\n"),
    "not a condition that does something": ("  if (t = c) __syncthreads();\n", "  if (t = c) {}\n"),
    "not a condition that calls": ("  if (g(c)) __syncthreads();\n", "  if (g(c)) {}\n"),
    "not a macro that does something": ("  if (ANY(c)) __syncthreads();\n", "  if (ANY(c)) {}\n"),
    "the opposite of a macro": (
        "  if (EITHER) __syncthreads(); else s[0] = 1;\n",
        "  if (!(EITHER)) s[0] = 1;\n",
    ),
    "not with a comment": ("  if (c) { /* all */ __syncthreads(); }\n", "  if (c) { /* all */ }\n"),
    "an else with nothing else": (
        "  if (c) s[0] = 1;\n  else __syncthreads();\n  s[1] = 1;\n",
        "  if (c) s[0] = 1;\n  s[1] = 1;\n",
    ),
    "then-branch with an else": ("  if (c) __syncthreads(); else s[0] = 1;\n", "  if (!c) s[0] = 1;\n"),
    "then-branch with a braced else": (
        "  if (c > 2 && g(c)) {\n    __syncthreads();\n  } else {\n    s[0] = 1;\n  }\n",
        "  if (!(c > 2 && g(c))) {\n    s[0] = 1;\n  }\n",
    ),
    "then-branch with an else on its own lines": (
        "  if (c == 2)\n    __syncthreads();\n  else\n    s[0] = 1;\n",
        "  if (c != 2)\n    s[0] = 1;\n",
    ),
    "then-branch with an else if": (
        "  if (c) __syncthreads(); else if (c > 2) s[0] = 1; else s[1] = 2;\n",
        "  if (!c) if (c > 2) s[0] = 1; else s[1] = 2;\n",
    ),
    "not where an else would change its owner": (
        "  if (c > 1) if (c) __syncthreads(); else s[0] = 1; else s[1] = 2;\n",
        "  if (c > 1) if (c) {} else s[0] = 1; else s[1] = 2;\n",
    ),
    "not with a declaration": (
        "  if (int d = c) __syncthreads(); else s[0] = d;\n",
        "  if (int d = c) {} else s[0] = d;\n",
    ),
    "not with a comment on the branch": (
        "  if (c) __syncthreads(); /* all */ else s[0] = 1;\n",
        "  if (c) {} /* all */ else s[0] = 1;\n",
    ),
    "a loop that only counts": ("  for (int i = 0; i < c; i++) __syncthreads();\n  s[0] = 1;\n", "  s[0] = 1;\n"),
    "a braced loop that only counts": (
        "  for (unsigned i = c / 2; i > 0; i >>= 1) {\n    __syncthreads();\n  }\n  s[0] = 1;\n",
        "  s[0] = 1;\n",
    ),
    "not a loop that does more": (
        "  for (int i = 0; i < c; i += g(c)) __syncthreads();\n",
        "  for (int i = 0; i < c; i += g(c)) {}\n",
    ),
    "not a loop over a variable from outside": (
        "  for (; c > 0; c--) __syncthreads();\n",
        "  for (; c > 0; c--) {}\n",
    ),
    "loop body": ("  while (c--) __syncthreads();\n", "  while (c--) {}\n"),
    "behind a label": ("  if (c) goto end;\n  s[0] = 1;\n  end: __syncthreads();\n", None),
    "section of a switch": (
        "  switch (c) { case 1: __syncthreads(); break; }\n",
        "  switch (c) { case 1: break; }\n",
    ),
}


@pytest.mark.parametrize("name", REMOVALS)
def test_removal(name: str):
    body, expected = REMOVALS[name]
    head = "#define SYNC() __syncthreads()\n#define ANY(c) c++\n#define EITHER c || t\n__device__ int g(int);\n"
    text = (head + function(body)).encode()
    _, steps = steps_to_barrier(trees(text).functions)
    edited = apply(text, removal(text, steps)).decode()
    assert edited == head + function(expected or body.replace("__syncthreads()", ""))
    assert not PARSER.parse(PATH, edited, CompileFlags()).errors


def test_statements_know_their_ranges():
    text = EVERYTHING
    seen: list[bytes] = []

    def check(body: Body) -> None:
        for statement in body.statements:
            seen.append(text[statement.start : statement.end])
            assert text[statement.end - 1 : statement.end] in (b";", b"}", b":")
            if statement.head_end:
                assert text[statement.start : statement.head_end].rstrip().endswith((b")", b"do"))
            for inner in statement.bodies:
                assert statement.start <= inner.start <= inner.end <= statement.end
                check(inner)

    check(trees(text).functions[0].body)
    assert b"do s[1] = 2; while (c--);" in seen
    assert b"break;" in seen
    assert isinstance(trees(text).functions[0].body.statements[0], Statement)


def test_a_statement_that_ends_with_a_list_in_braces_ends_behind_its_semicolon() -> None:
    text = b"struct P { int a, b; };\n__device__ P f(P *p) { p[0] = P{1, 2} ; if (p) return {3, 4}; return {5, 6}; }\n"
    (function,) = trees(text).functions
    whole = [text[s.start : s.end] for s in function.body.statements]
    assert whole == [b"p[0] = P{1, 2} ;", b"if (p) return {3, 4};", b"return {5, 6};"]
