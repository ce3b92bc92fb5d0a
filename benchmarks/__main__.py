"""``python -m benchmarks NAME``: run one benchmark, or all of them."""

from __future__ import annotations

import importlib
import sys

NAMES = ("coverage", "editor", "hgrd", "scor")


def main() -> None:
    """Dispatch to the ``main`` of the benchmark module."""
    chosen = sys.argv[1:2] or list(NAMES)
    unknown = [n for n in chosen if n not in NAMES]
    if unknown:
        sys.exit(f"no benchmark `{unknown[0]}`; there are: {', '.join(NAMES)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
