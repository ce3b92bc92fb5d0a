"""``python -m cuda_lsp …`` is the ``cuda-lsp`` command, for where the console script is not on the search path."""

import sys

from cuda_lsp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
