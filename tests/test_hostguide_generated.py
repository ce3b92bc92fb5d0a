"""No launch that happens in a concrete run of generated host code is excluded by the context found for it."""

from __future__ import annotations

import random
from contextlib import suppress

import hostguide_cases as hg
import pytest
from generated_hosts import PRELUDE, Machine, UndefinedBehaviour, generate


@pytest.mark.parametrize("seed", range(8))
def test_contexts_allow_what_runs_do(seed: int) -> None:
    rng = random.Random(seed)
    functions = [generate(rng, number) for number in range(1, 21)]
    text = PRELUDE + "".join(f.text for f in functions)
    contexts = hg.by_name(hg.guide(text))
    seen = 0
    for function in functions:
        passed: set[tuple[int, tuple[int, ...]]] = set()
        for _ in range(50):
            machine = Machine(rng)
            with suppress(UndefinedBehaviour):  # what was launched before it did happen
                function.run(machine)
            passed.update(machine.launched)
        chosen = sorted(passed)
        rng.shuffle(chosen)
        for site, (a, b, grid) in chosen[:6]:
            found = contexts.get(f"k{site}", ())
            assert found, f"no context for k{site} in\n{function.text}"
            allowed = any(hg.allows(c, a=a, b=b, gdim_x=grid) for c in found)
            facts = [hg.conditions(c) for c in found]
            assert allowed, f"k{site}(a={a}, b={b}) with grid {grid} is excluded by {facts} in\n{function.text}"
            seen += 1
    assert seen > 50
