"""Texts with the edits of a repair made, by what `cuda-lsp fix` makes them with."""

from cuda_lsp.cli.fix import apply as applied

__all__ = ["applied"]
