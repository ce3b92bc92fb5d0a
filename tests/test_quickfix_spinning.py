"""New barriers in kernels whose threads wait in a loop for what others write."""

from __future__ import annotations

import pytest
from restructured import LAUNCH, edited, engine

from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

KERNEL = """__global__ void k(int *o, const int *d) {{
  __shared__ {type} flag;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
{body}
}}
"""
SIGNALLED = "  if (t == 9) flag = 1;\n  if (t == 0) while (flag == 0);\n"
READ = "  if (t == 0) o[0] = s[5];\n  s[t] = d[t];\n"


def found(body: str, type_: str) -> tuple[list[str], list[str]]:
    """The texts after the repairs, and what is said where there is none."""
    text = LAUNCH + KERNEL.format(body=body, type=type_)
    answered = list(answers(engine(), CheckRequest("/spinning/a.cu", text)))
    new = [edited(text, a) for a in answered if isinstance(a, Fix)]
    for each in new:
        kernels = engine().analyse(CheckRequest("/spinning/a.cu", each)).result.kernels
        assert kernels[0].verdict is not Verdict.DATA_RACE
    return new, [a.text for a in answered if isinstance(a, FixRefusal)]


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (f"  if (t == 0) while (atomicAdd(&flag, 0) < 63);\n{READ}  if (t) atomicAdd(&flag, 1);", "int"),
        (f"  if (t == 0) while (flag == 0);\n{READ}  if (t == 9) flag = 1;", "volatile int"),
        (
            (
                "  if (t < 32) {\n    if (t == 0) while (flag == 0);\n    s[t] = d[t];\n    __syncthreads();\n"
                "    o[t] = s[31 - t];\n  }\n  if (t == 40) flag = 1;"
            ),
            "volatile int",
        ),
    ],
    ids=["atomic", "volatile", "missed barrier"],
)
def test_no_barrier_keeps_threads_from_a_write_that_others_wait_for(body: str, type_: str) -> None:
    new, said = found(body, type_)
    assert not new
    assert said


@pytest.mark.parametrize(
    ("body", "barrier"),
    [
        (f"  if (t == 0) while (flag == 0);\n{READ}  if (t == 32) flag = 1;", "  __syncwarp();"),
        (f"{SIGNALLED}{READ}", "  __syncwarp();"),
        (f"{SIGNALLED}  __syncthreads();\n{READ}  if (t == 9) flag = 2;", ""),
    ],
    ids=["another warp", "written before", "written again"],
)
def test_barriers_stand_where_the_write_is_made_all_the_same(body: str, barrier: str) -> None:
    new, _ = found(body, "volatile int")
    assert new
    assert barrier in new[0]


ANSWERED = """__device__ int ready, ack;
__global__ void k(int *o) {{
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {{
    if (t == {waiting}) while (atomicAdd(&ack, 0) == 0) {{}}
    s[t] = t;
    o[t] = s[63 - t];
    {signal}
  }} else if (t == 0) {{
    while (atomicAdd(&ready, 0) == 0) {{}}
    atomicExch(&ack, 1);
  }}
}}
void go(int *o) {{ k<<<2, 64>>>(o); }}
"""


@pytest.mark.parametrize(
    ("waiting", "signal", "repaired"),
    [
        (63, "if (t == 0) atomicExch(&ready, 1);", False),
        (0, "if (t == 0) atomicExch(&ready, 1);", True),
        (63, "", True),
    ],
    ids=["by another thread", "by the thread that waits", "no answer"],
)
def test_no_barrier_keeps_a_thread_from_what_another_block_answers(waiting: int, signal: str, repaired: bool) -> None:
    """Where the thread that waits is the one that signals, it waits in vain without the barrier, too."""
    text = ANSWERED.format(waiting=waiting, signal=signal)
    answered = list(answers(engine(), CheckRequest("/spinning/b.cu", text)))
    assert answered
    assert any(isinstance(a, Fix) for a in answered) == repaired, answered


def test_a_barrier_that_is_seldom_there_tells_nothing_of_what_threads_wait_for() -> None:
    """Neither is it taken out of its condition, nor is there another one beside it."""
    text = ANSWERED.format(waiting=63, signal="if (t == 0) atomicExch(&ready, 1);")
    text = text.replace("    o[t] = s", "    if (n > 64) __syncthreads();\n    o[t] = s").replace(
        "(int *o)", "(int *o, int n)"
    )
    answered = list(answers(engine(), CheckRequest("/spinning/c.cu", text.replace("(o);", "(o, n);"))))
    assert answered
    assert not any(isinstance(a, Fix) for a in answered), answered
