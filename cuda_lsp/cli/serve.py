"""`cuda-lsp serve`: hand the process over to the language server."""

from __future__ import annotations

from cuda_lsp import worker_command

_LOG_LEVEL = "warning"
"""That of the settings, which would take longer to load than to be wrong about: then the worker starts anew."""


def serve(tcp: tuple[str, int] | None, log_level: str | None, backend: str) -> int:
    """Run until the client says `exit`; the exit code."""
    # Before the server is loaded: both take most of a second.
    ahead = worker_command.Ahead(worker_command.command(backend, (log_level or _LOG_LEVEL).upper()))
    try:
        from cuda_lsp import server

        return server.serve(tcp=tcp, engine=backend, log_level=log_level, ahead=ahead)
    finally:
        ahead.discard()
