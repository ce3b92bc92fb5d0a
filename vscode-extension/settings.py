"""Keeps the settings in package.json those of the server: `python vscode-extension/settings.py` rewrites them.

The schema is `cuda_lsp.config.json_schema()`; here it gets the names and the words that VS Code wants.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from cuda_lsp import __version__, config

MANIFEST = Path(__file__).parent / "package.json"
TITLE = "Analysis"
PREFIX = "cudaLsp."


def properties() -> dict[str, Any]:
    """The server's settings as VS Code shows them."""
    schema = config.json_schema()["properties"]
    return {
        PREFIX + camel(name): _property(name, option, schema)
        for name, option in schema.items()
        if name not in config.EDITOR_ONLY  # VS Code says by itself whether a workspace is trusted
    }


def camel(name: str) -> str:
    return re.sub(r"-(\w)", lambda match: match[1].upper(), name)


def _property(name: str, option: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    described = {**option, "scope": "resource"}
    text = re.sub(r"“([^”]*)”", r"`\1`", described.pop("description")).replace("<", r"\<")
    # What is one word on the command line is another one here.
    for other in sorted(names, key=len, reverse=True):
        if "-" in other and other != name:
            text = re.sub(rf"(?<![\w#.-]){re.escape(other)}(?![\w-])", f"`#{PREFIX}{camel(other)}#`", text)
    described["markdownDescription"] = text
    if "enum" in described:
        described["type"] = "string"
    elif "string" in described["type"] and described["default"] is None:
        # Its settings page has a field for text, and none for text or nothing: nothing is the empty text there.
        described |= {"type": "string", "default": ""}
    return described


def updated(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest with the settings and the version of this server."""
    found = json.loads(json.dumps(manifest))
    found["version"] = __version__
    (section,) = [each for each in found["contributes"]["configuration"] if each["title"] == TITLE]
    section["properties"] = properties()
    return found


if __name__ == "__main__":
    before = json.loads(MANIFEST.read_text(encoding="utf-8"))
    MANIFEST.write_text(json.dumps(updated(before), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
