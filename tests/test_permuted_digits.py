"""Random permutations of the dimensions of tensors, right ones and wrong ones, held against counting: what is proved
never collides, and what never collides is proved."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import pytest

from analyzers.engine import Engine
from analyzers.frontend.flags import translate
from analyzers.model import Verdict
from analyzers.requests import CheckRequest, UnitFinished

NAMES = "ABCD"
COUNT = 16


@dataclass(frozen=True)
class Permutation:
    """``digits`` are statements that take ``i`` apart, smallest first; ``place`` puts ``d0``, ``d1``, … together."""

    sizes: tuple[str, ...]
    digits: tuple[str, ...]
    place: str
    total: str


def _by_division(sizes: list[str], rng: random.Random) -> list[str]:
    found: list[str] = []
    for k, size in enumerate(sizes):
        quotient = f"i / ({' * '.join(sizes[:k])})" if k else "i"
        last = k == len(sizes) - 1 and rng.random() < 0.5
        found.append(f"d{k} = {quotient}" if last else f"d{k} = {quotient} % {size}")
    rng.shuffle(found)
    return found


def _one_after_the_other(sizes: list[str], _: random.Random) -> list[str]:
    found = ["t = i"]
    for k, size in enumerate(sizes):
        found += [f"d{k} = t % {size}", f"t = t / {size}"]
    return found


def _by_subtraction(sizes: list[str], _: random.Random) -> list[str]:
    found = ["t = i"]
    for k in range(len(sizes) - 1, 0, -1):
        below = " * ".join(sizes[:k])
        found += [f"d{k} = t / ({below})", f"t = t - d{k} * {below}"]
    return [*found, "d0 = t"]


def _what_is_left(sizes: list[str], _: random.Random) -> list[str]:
    found, lower = [f"d0 = i % {sizes[0]}"], "d0"
    for k in range(1, len(sizes)):
        below = " * ".join(sizes[:k])
        last = k == len(sizes) - 1
        found.append(f"d{k} = (i - {lower}) / ({below})" + ("" if last else f" % {sizes[k]}"))
        lower += f" - d{k} * {below}"
    return found


WAYS: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    _by_division,
    _one_after_the_other,
    _by_subtraction,
    _what_is_left,
)


def permutation(rng: random.Random) -> Permutation:
    sizes = list(NAMES[: rng.randint(2, 4)])
    order = rng.sample(range(len(sizes)), len(sizes))
    strides = [sizes[k] for k in order]
    total = " * ".join(sizes)
    k = rng.randrange(len(sizes))
    match rng.choice(("right", "right", "another size", "no size", "another digit", "beyond the end")):
        case "another size":
            strides[k] = rng.choice(sizes)
        case "no size":
            strides[k] = "1"
        case "another digit":
            order[k] = rng.choice(order)
        case "beyond the end":
            total += f" + {rng.choice(sizes)}"
        case _:
            pass
    place = f"d{order[-1]}"
    for digit, stride in zip(order[-2::-1], strides[-2::-1], strict=True):
        place = f"({place} * {stride} + d{digit})"
    return Permutation(tuple(sizes), tuple(rng.choice(WAYS)(sizes, rng)), place, total)


def collides(p: Permutation, values: Mapping[str, int]) -> bool:
    """By counting. Nothing is negative, so that Python's division is C's."""
    statements = compile("\n".join(p.digits).replace("/", "//"), "digits", "exec")
    place = compile(p.place, "place", "eval")
    seen: set[int] = set()
    for i in range(eval(p.total, {}, dict(values))):
        here: dict[str, int] = {**values, "i": i}
        exec(statements, {}, here)
        seen.add(eval(place, {}, here))
        if len(seen) <= i:
            return True
    return False


def kernel(number: int, p: Permutation) -> str:
    names = dict.fromkeys(statement.partition(" ")[0] for statement in p.digits)
    body = "".join(f"  {statement};\n" for statement in p.digits)
    return (
        f"__global__ void k{number}(float *out, const float *in, int A, int B, int C, int D) {{\n"
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= {p.total}) return;\n"
        f"  int {', '.join(names)};\n{body}  out[{p.place}] = in[i];\n}}\n"
    )


def verdicts(text: str) -> list[Verdict]:
    (done,) = [
        e
        for e in Engine().check(CheckRequest("/none/digits.cu", text, translate([], "/none")))
        if isinstance(e, UnitFinished)
    ]
    return [k.verdict for k in done.result.kernels]


def launches(permutations: list[Permutation], arguments: str) -> str:
    return "".join(
        f"  k{n}<<<({p.total} + 255) / 256, 256>>>(o, in, {arguments});\n" for n, p in enumerate(permutations)
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_sizes_that_nobody_knows(seed: int) -> None:
    rng = random.Random(seed)
    chosen = [permutation(rng) for _ in range(COUNT)]
    text = "".join(kernel(n, p) for n, p in enumerate(chosen)) + (
        "void launch(float *o, const float *in, int A, int B, int C, int D) {\n"
        f"  if (A < 1 || B < 1 || C < 1 || D < 1) return;\n{launches(chosen, 'A, B, C, D')}}}\n"
    )
    for p, verdict in zip(chosen, verdicts(text), strict=True):
        sizes = (dict(zip(NAMES, values, strict=True)) for values in product((1, 2, 3), repeat=len(NAMES)))
        expected = Verdict.DATA_RACE if any(collides(p, values) for values in sizes) else Verdict.RACE_FREE
        assert verdict is expected, p


@pytest.mark.parametrize("seed", [3, 4])
def test_sizes_that_the_compiler_knows(seed: int) -> None:
    rng = random.Random(seed)
    chosen = [permutation(rng) for _ in range(COUNT)]
    values = {name: rng.choice((2, 3, 4, 5, 7, 8, 12, 16)) for name in NAMES}
    text = "".join(kernel(n, p) for n, p in enumerate(chosen))
    for name, value in values.items():
        text = text.replace(f", int {name}", f", int no{name}")
        text = f"#define {name} {value}\n{text}"
    text += f"void launch(float *o, const float *in) {{\n{launches(chosen, '0, 0, 0, 0')}}}\n"
    for p, verdict in zip(chosen, verdicts(text), strict=True):
        assert verdict is (Verdict.DATA_RACE if collides(p, values) else Verdict.RACE_FREE), p
