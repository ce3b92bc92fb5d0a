"""Names that repairs declare: none that a macro has, or that one says which the function uses."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine

from analyzers.frontend.flags import translate
from analyzers.requests import CheckRequest
from quickfix import fix_all
from quickfix.naming import macros_of_flags, said_by_macros

TEXT = f"""#include "names.cuh"
{LAUNCH}__global__ void k(int *a, int *o, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {{
    s[t] = a[t];
    o[t] = s[63 - t] + MORE;
  }}
}}
"""


@pytest.mark.parametrize(
    ("header", "flags", "name"),
    [
        ("#define MORE 1\n", (), "taken"),
        ("#define MORE 1\n#define taken(x) x\n", (), "taken2"),
        ("#define MORE 1\n", ("-Dtaken=1", "-D", "taken2=1"), "taken3"),
        ("__device__ int taken = 3;\n#define LESS (taken - 1)\n#define MORE (LESS + 1)\n", (), "taken2"),
        ("__device__ int taken = 3;\n#define LESS (taken - 1)\n#define MORE 1\n", (), "taken"),
        ("", ("-DMORE=taken", "-include", "taken.cuh"), "taken2"),
    ],
    ids=["none", "header", "flags", "said by another", "not used", "said by a flag"],
)
def test_no_name_is_that_of_a_macro_or_said_by_one(header: str, flags: tuple[str, ...], name: str) -> None:
    if "-include" in flags:
        flags, header = flags[:1], "__device__ int taken = 3;\n"
    unsaved = {"/names/names.cuh": header}
    request = CheckRequest("/names/a.cu", TEXT, translate(flags, "/names"), unsaved)
    assert f"const bool {name} = t < n;" in edited(TEXT, fix_all(engine(), request))


def test_what_macros_say() -> None:
    macros = {b"A": b"(x) (B + x)", b"B": b" c", b"D": b" e"}
    assert said_by_macros(b"int y = A(1);", macros) == {b"A", b"B", b"x", b"c"}
    assert macros_of_flags(("-DX", "-D", "Y=z + 1", "-UX", "-DF(a)=a")) == {b"X": b"", b"Y": b"=z + 1", b"F": b"(a)=a"}
