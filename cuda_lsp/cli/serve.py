"""`cuda-lsp serve`: hand the process over to the language server."""

from __future__ import annotations


def serve(tcp: tuple[str, int] | None, log_level: str | None, backend: str) -> int:
    """Run until the client says `exit`; the exit code."""
    from cuda_lsp import server

    return server.serve(tcp=tcp, engine=backend, log_level=log_level)
