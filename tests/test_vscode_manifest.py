"""The VS Code extension's manifest agrees with the server, the extension's code and the pictures. Needs no Node."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cuda_lsp.features import execute_command

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "vscode-extension"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((FOLDER / "src").glob("*.ts")))
DECLARED = {command["command"] for command in MANIFEST["contributes"]["commands"]}
REGISTERED = set(re.findall(r'^\s+"(cuda-lsp\.\w+)": \(', CODE, re.MULTILINE))


def test_the_settings_and_the_version_are_those_of_the_server() -> None:
    spec = importlib.util.spec_from_file_location("settings", FOLDER / "settings.py")
    assert spec is not None
    assert spec.loader is not None
    settings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(settings)
    assert settings.updated(MANIFEST) == MANIFEST, "run `python vscode-extension/settings.py`"
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["version"] == lock["packages"][""]["version"] == MANIFEST["version"], "run `npm install` there"


def test_each_command_is_declared_and_does_something() -> None:
    # The client library registers those that the server offers.
    assert {execute_command.RECHECK} == DECLARED - REGISTERED
    assert REGISTERED <= DECLARED
    assert not REGISTERED & set(execute_command.COMMANDS), "a command may be registered once only"
    assert execute_command.CHECK_ALL in CODE


def test_menus_and_the_walkthrough_name_commands_that_exist() -> None:
    text = json.dumps(MANIFEST["contributes"])
    named = set(re.findall(r"command:(cuda-lsp\.\w+)", text)) | set(re.findall(r"onCommand:(cuda-lsp\.\w+)", text))
    for items in MANIFEST["contributes"]["menus"].values():
        named |= {item["command"] for item in items if "command" in item}
    assert named <= DECLARED


def test_each_setting_says_what_it_does() -> None:
    for section in MANIFEST["contributes"]["configuration"]:
        for name, option in section["properties"].items():
            assert option["markdownDescription"].endswith("."), name
            assert "default" in option, name


def test_what_executes_code_needs_trust() -> None:
    untrusted = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert untrusted["supported"] == "limited"
    assert set(untrusted["restrictedConfigurations"]) == {"cudaLsp.server.path", "cudaLsp.run.arguments"}
    (run,) = [each for each in MANIFEST["contributes"]["commands"] if each["command"] == "cuda-lsp.run"]
    assert run["enablement"] == "isWorkspaceTrusted"


STEPS = [step for walkthrough in MANIFEST["contributes"]["walkthroughs"] for step in walkthrough["steps"]]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["id"])
def test_the_pictures_of_the_walkthrough_are_there(step: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "images" / Path(step["media"]["image"]).name).is_file()
    assert step["media"]["altText"]


def test_the_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "images").glob("*.png"))
    assert pictures
    assert sum(path.stat().st_size for path in pictures) < 1_000_000
