"""What lowered kernels compute, executed by the reference interpreter: C's meaning of expressions and statements."""

import pytest
from lowering import computed
from lowering_cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_values(case: Case) -> None:
    found = computed(case.text, case.given, len(case.out), 8)
    wrong = {i: (got, want) for i, (got, want) in enumerate(zip(found, case.out, strict=True)) if got != want}
    assert not wrong
