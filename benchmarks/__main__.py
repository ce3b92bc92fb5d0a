"""``python -m benchmarks NAME``: run one benchmark, or all of them."""

from __future__ import annotations

import importlib
import sys

MODULES = {
    "aucs": "aucs",
    "autosync": "autosync",
    "collection": "collection",
    "coverage": "coverage",
    "differential": "differential",
    "editor": "editor",
    "gpu": "gpu",
    "hgrd": "hgrd",
    "litmus": "litmus",
    "random": "random_kernels",
    "repair_speed": "repair_speed",
    "repairs": "repairs",
    "restored": "restored",
    "run_speed": "run_speed",
    "runnable": "runnable",
    "runs": "runs",
    "scor": "scor",
}


def main() -> None:
    """Dispatch to the ``main`` of the benchmark module."""
    chosen = sys.argv[1:2] or list(MODULES)
    unknown = [n for n in chosen if n not in MODULES]
    if unknown:
        sys.exit(f"no benchmark `{unknown[0]}`; there are: {', '.join(MODULES)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{MODULES[name]}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
