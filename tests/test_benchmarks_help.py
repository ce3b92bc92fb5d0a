"""Every benchmark says what it does and how it is called, and does nothing else, when it is asked to."""

from __future__ import annotations

import importlib

import pytest

from benchmarks.__main__ import MODULES


@pytest.mark.parametrize("module", MODULES.values())
def test_help_runs_nothing(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"benchmarks.{module}").main(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
