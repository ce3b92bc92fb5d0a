"""What a function is called with when its name stands in several places, and not all of them are calls of it."""

from __future__ import annotations

import textwrap

import hostguide_cases as hg
import pytest

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
def test_what_a_function_is_called_with(more: str, others: bool) -> None:
    text = textwrap.dedent(_CALLED).format(more=more)
    contexts = [c for found in hg.guide(text).contexts.values() for c in found]
    assert any(hg.allows(c, bdim_x=32) for c in contexts)
    assert any(hg.allows(c, bdim_x=7) for c in contexts) is others
