"""Functions whose code leads to no launch are not run, and what is known of callers does not suffer from that."""

from __future__ import annotations

import textwrap
from typing import Any

import hostguide_cases as hg
import pytest

from analyzers.frontend.flags import CompileFlags
from analyzers.frontend.parse import UnitParser
from analyzers.hostguide.leading import Leading
from analyzers.hostguide.source import SourceTexts

_CODE = """
__global__ void k(float *p) {}
__global__ void other(float *p) {}
struct Buffer {
  Buffer(int n) { size = n; }
  explicit Buffer(float *p) { k<<<1, 1>>>(p); }
  virtual void fill() {}
  int size;
};
void unknown(int n);
void plain(int n) { Buffer b(n); unknown(b.size); }
void launches(float *p) { k<<<1, 32>>>(p); }
void constructs(float *p) { Buffer b(p); }
void calls(float *p) { if (p) launches(p); }
void deeper(float *p) { plain(1); calls(p); }
void takes(void (**f)(float *)) { *f = launches; }
void through(void (*f)(float *), float *p) { f(p); }
void overridden(Buffer &b) { b.fill(); }
void of_another(float *p) { other<<<1, 32>>>(p); }
void round(int n) { if (n) round(n - 1); }
void there(int n);
void back(int n) { if (n) there(n - 1); }
void there(int n) { back(n - 1); launches(nullptr); }
template <class T> void pattern(T t) { t.run(); }
void in_a_lambda(float *p) { auto f = [=] { launches(p); }; }
void elsewhere(int n);
void declared(int n) { elsewhere(n); }
void broken(int n) { no_such_function(n); }
"""


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("plain", False),
        ("launches", True),
        ("constructs", True),
        ("calls", True),
        ("deeper", True),
        ("takes", True),
        ("through", True),
        ("overridden", True),
        ("of_another", False),
        ("round", False),
        ("back", True),
        ("there", True),
        ("in_a_lambda", True),
        ("broken", False),
        ("declared", True),
        ("broken by name", True),
        ("pattern by name", True),
    ],
)
def test_what_leads_to_a_launch(name: str, leads: bool) -> None:
    unit = UnitParser(capacity=1).parse("/case/leading.cu", _CODE, CompileFlags())
    functions: dict[str, Any] = {c.spelling: c for c in unit.host.cursor.get_children()}
    errors = [(d.path, d.offset) for d in unit.host_pass.errors]
    asked = Leading(
        SourceTexts([unit.host], errors),
        lambda cursor: cursor.get_definition() or cursor,
        lambda kernel: kernel == "other",
        lambda _: None if name.endswith("by name") else [],
        lambda called: called == "elsewhere",
    )
    assert asked(functions[name.partition(" ")[0]]) is leads


_CALLED = """
__global__ void k(float *p) {{}}
struct Other {{ void fill(float *p, int n); }};
static void fill(float *p, int n) {{ k<<<1, n>>>(p); }}
void outer(float *p) {{ fill(p, 32); }}
{more}
"""


@pytest.mark.parametrize(
    ("more", "others"),
    [
        ("void more(Other &o, float *p) { o.fill(p, 7); }", False),
        ("void more(float *p) { int fill = 7; fill++; }", False),
        ("void more(float *p, int m) { auto f = fill; f(p, m); }", True),
        ("#ifdef SMALL\nvoid more(float *p) { fill(p, 7); }\n#endif", True),
        ("void more(Other &o, float *p) {\n#ifdef SMALL\nfill(p, 7);\n#else\no.fill(p, 7);\n#endif\n}", True),
        ("void more(float *p) { fill(p, 7); }", True),
        ("void more(float *p) { if (missing) fill(p, 7); }", True),
        # Instances of templates that no call in sight shows.
        (
            (
                "#include <algorithm>\n#include <vector>\n"
                "template <class T> static void step(float *p, T x) {\n"
                "  if constexpr (sizeof(T) == 8) fill(p, (int)x);\n}\n"
                "void more(float *p) {\n  step(p, 8);\n  std::vector<double> v = {7};\n"
                "  std::for_each(v.begin(), v.end(), [=](auto x) { step(p, x); });\n}"
            ),
            True,
        ),
        # In a lambda that becomes a pointer; kept for whoever calls it; walked through without being named.
        (
            (
                "static void apply(void (*f)(float *, int), float *p, int m) { f(p, m); }\n"
                "void more(float *p) { apply([](float *q, int m) { fill(q, m); }, p, 7); }"
            ),
            True,
        ),
        (
            (
                "static void (*handler)(float *, int);\nstatic void keep(void (*f)(float *, int)) { handler = f; }\n"
                "void event(float *p) { handler(p, 7); }\nvoid more() { keep(fill); }"
            ),
            True,
        ),
        (
            (
                "struct Lines {\n  float *p;\n  float *begin() { fill(p, 7); return p; }\n"
                "  float *end() { return p; }\n};\nvoid more(Lines lines) { for (float x : lines) {} }"
            ),
            True,
        ),
        ("#define FILL fill(p, 7)\nvoid more(float *p) { if (missing) FILL; }", True),
        ("#define NONE nothing(p, 7)\nvoid more(Other &fill, float *p) { if (missing) NONE; }", False),
    ],
)
def test_a_function_that_leads_nowhere_does_not_hide_what_its_namesake_is_called_with(more: str, others: bool) -> None:
    text = textwrap.dedent(_CALLED).format(more=more)
    contexts = [c for found in hg.guide(text).contexts.values() for c in found]
    assert any(hg.allows(c, bdim_x=32) for c in contexts)
    assert any(hg.allows(c, bdim_x=7) for c in contexts) is others
