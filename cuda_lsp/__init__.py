"""The language server and the command line: JSON-RPC, documents, configuration and scheduling, nothing else."""

__version__ = "0.1.0"
