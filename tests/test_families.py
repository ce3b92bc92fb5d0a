"""Unrolled accesses, told apart from others all at once: held against counting, and at the cost of a few questions."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.symbolic import summarize
from analyzers.model import Verdict
from analyzers.races.families import Families
from analyzers.races.pairs import place, place_key
from analyzers.races.threads import Launch
from analyzers.requests import CheckRequest, UnitFinished
from analyzers.solve.ladder import Ladder

THREADS = 40


def verdict_of(text: str) -> Verdict:
    for event in Engine().check(CheckRequest("/unrolled.cu", text, translate([], "/"))):
        if isinstance(event, UnitFinished):
            return event.result.kernels[0].verdict
    raise AssertionError


def kernel_of(step: int, offsets: list[int]) -> str:
    body = "".join(f"  q[{o}] = {i};\n" for i, o in enumerate(offsets))
    return f"""__global__ void k(int *p) {{
  int *q = p + {step} * threadIdx.x;
{body}}}
void launch(int *p) {{ k<<<1, {THREADS}>>>(p); }}
"""


@pytest.mark.parametrize("seed", range(60))
def test_offsets_of_threads_against_counting(seed: int) -> None:
    rng = random.Random(seed)
    step = rng.randint(1, 9)
    offsets = rng.sample(range(-4, 14), rng.randint(3, 6))
    written = [{step * t + o for o in offsets} for t in range(THREADS)]
    collide = any(one & two for i, one in enumerate(written) for two in written[:i])
    assert verdict_of(kernel_of(step, offsets)) is (Verdict.DATA_RACE if collide else Verdict.RACE_FREE)


def test_a_family_is_each_of_its_members() -> None:
    text = """__global__ void k(int *p, int n, int c) {
  int *q = p + c + threadIdx.x;
  q[0] = 1;
  q[n] = 2;
  q[3 * n + 4] = 3;
  q[(c + 1) * n] = 4;
  q[(c + 5) * n + 8] = 5;
}
void launch(int *p, int n, int c) { k<<<1, 64>>>(p, n, c); }
"""
    analysis = Engine().analyse(CheckRequest("/members.cu", text, translate([], "/")))
    kernel = analysis.kernels[0]
    launch = Launch(summarize(kernel.kernel), kernel.contexts[0])
    families = Families(launch)
    found = {}
    for access in launch.events.accesses:
        where = place(launch, access)
        family = families.of(place_key(where, access))
        assert family is not None
        found.setdefault(id(family), (family, []))[1].append(where.offset)
    assert sorted(len(offsets) for _, offsets in found.values()) == [2, 3]
    rng = random.Random(1)
    for family, offsets in found.values():
        symbols = E.symbols(family.place.offset)
        holes = [hole for hole, _, _ in family.holes]
        for offset in offsets:
            values = {s: rng.randint(1, 50) for s in E.symbols(offset)} | {
                s: rng.randint(1, 50) for s in symbols if s not in holes
            }
            wanted = evaluate(offset, values)
            assert any(
                evaluate(family.place.offset, values | dict(zip(holes, chosen, strict=True))) == wanted
                for chosen in _choices(family.holes)
            )


def _choices(holes: tuple[tuple[E.Expr, int, int], ...]) -> list[tuple[int, ...]]:
    chosen: list[tuple[int, ...]] = [()]
    for _, low, high in holes:
        chosen = [(*c, v) for c in chosen for v in range(low, high + 1)]
    return chosen


def test_unsigned_constants_that_stand_for_negative_ones() -> None:
    text = """__global__ void k() {
  __shared__ short s[4000];
  short *p = s + 1600;
  unsigned long long i = 12ull * threadIdx.x;
  atomicAdd(&((int *)p)[i + (-3ull) * 30ull], 1);
  p[i + (-2ull) * 30ull] = threadIdx.x;
  short x = p[i + (-1ull) * 30ull] + p[i + 60ull];
  if (x > 3) s[0] = 1;
}
void launch() { k<<<2, 8>>>(); }
"""
    assert verdict_of(text) is Verdict.DATA_RACE


def test_members_under_other_conditions() -> None:
    text = """__global__ void k(int *p) {
  int t = threadIdx.x;
  if (t == 0) p[t + 2] = 1;
  if (t == 1) p[t + 1] = 2;
  if (t == 2) p[t] = 3;
}
void launch(int *p) { k<<<1, 40>>>(p); }
"""
    assert verdict_of(text) is Verdict.DATA_RACE


def test_members_of_another_width() -> None:
    text = """__global__ void k(char *p) {
  char *q = p + 4 * threadIdx.x;
  q[1] = 1;
  q[2] = 2;
  *(int *)(q + 4) = 3;
}
void launch(char *p) { k<<<1, 40>>>(p); }
"""
    assert verdict_of(text) is Verdict.DATA_RACE


def test_many_rows_take_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    for name in ("decide", "proof", "brief"):
        plain = getattr(Ladder, name)

        def counted(self: Ladder, *args: object, plain: object = plain, **more: object) -> object:
            asked.append(1)
            assert callable(plain)
            return plain(self, *args, **more)

        monkeypatch.setattr(Ladder, name, counted)
    rows = range(17, 29)
    body = "".join(f"  q[{r} * n] = {r};\n" for r in rows)
    text = f"""__global__ void k(int *p, int n) {{
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  int *q = p + c;
{body}}}
void launch(int *p, int n) {{ k<<<(n + 95) / 96, 96>>>(p, n); }}
"""
    assert verdict_of(text) is Verdict.RACE_FREE
    assert len(asked) < len(list(combinations_with_replacement(rows, 2))) / 4
