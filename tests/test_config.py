"""Settings: layers, spellings, and values that do not fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzers.model import CheckOptions, Severity, Verdict
from cuda_lsp import config
from cuda_lsp.cli import serve
from cuda_lsp.config import Layer, Settings, merge


def settings(**values: Any) -> Settings:
    merged, problems = merge([Layer("test", values)])
    assert problems == ()
    return merged


def complaint(**values: Any) -> str:
    merged, problems = merge([Layer("test", values)])
    assert merged == Settings()
    (problem,) = problems
    return str(problem)


def test_the_defaults_are_those_of_the_analysis() -> None:
    merged, problems = merge([])
    assert (merged, problems) == (Settings(), ())
    assert merged.check_options() == CheckOptions()


def test_later_layers_win() -> None:
    merged, _ = merge([Layer("one", {"workers": 1, "debounce-ms": 100}), Layer("two", {"workers": 2})])
    assert (merged.workers, merged.debounce_ms) == (2, 100)


@pytest.mark.parametrize("name", ["debounce-ms", "debounceMs", "debounce_ms"])
def test_every_spelling_of_a_name(name: str) -> None:
    assert settings(**{name: 250}).debounce_ms == 250


@pytest.mark.parametrize(("value", "arch"), [("sm_90", 90), ("sm_90a", 90), (75, 75), ("120", 120), ("", None)])
def test_architectures(value: object, arch: int | None) -> None:
    assert settings(arch=value).arch == arch


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("check-on", "sometimes", 'one of "save", "change"'),
        ("debounce-ms", "soon", "a whole number from 50 to 10000"),
        ("debounce-ms", 2.5, "a whole number"),
        ("debounce-ms", True, "a whole number"),
        ("workers", 3, "a whole number from 1 to 2"),
        ("arch", "fermi", 'an architecture such as "sm_80"'),
        ("extra-args", "-DX", "a list of strings"),
        ("extra-args", [1], "a list of strings"),
        ("use-host", "yes", "true or false"),
        ("compile-commands", 3, "a path"),
        ("severity", "off", "a table"),
    ],
)
def test_a_bad_value_counts_as_absent_and_is_told(name: str, value: object, expected: str) -> None:
    told = complaint(**{name: value})
    assert told.startswith("test: ")
    assert f"“{name}”, expected {expected}" in told
    assert "default" in told


@pytest.mark.parametrize(
    ("name", "value", "end"),
    [
        (
            "use-host",
            {"on": 1},
            "expected true or false; without another value the default true holds",
        ),
        ("extra-args", "-DX", "the default [] holds"),
        ("arch", "fermi", "without another value the default holds"),
    ],
)
def test_values_are_told_as_users_write_them(name: str, value: object, end: str) -> None:
    told = complaint(**{name: value})
    assert told.startswith(f"test: {json.dumps(value)} is no value for")
    assert told.endswith(end)


def test_a_bad_value_leaves_that_of_a_weaker_layer() -> None:
    merged, problems = merge([Layer("one", {"workers": 1}), Layer("two", {"workers": "many"})])
    assert merged.workers == 1
    assert len(problems) == 1


def test_an_unknown_name_is_told() -> None:
    assert complaint(warp_lock=True) == "test: there is no setting “warp_lock”: did you mean “warp-lockstep”?"
    assert complaint(colour="red") == "test: there is no setting “colour”"


def test_a_bad_severity_leaves_the_others() -> None:
    table = {"data-rac": "off", "benign-race": "hint", "redundant-barrier": "loud", "q": "off", "data-race": None}
    merged, problems = merge([Layer("test", {"severity": table})])
    assert merged.severity == {"benign-race": "hint"}
    told = [problem.text for problem in problems]
    assert told[0] == "“severity”: there is no code “data-rac”: did you mean “data-race”?"
    expected = 'expected one of "error", "warning", "information", "hint", "off"; findings keep their own'
    assert told[1] == f'"loud" is no value for “severity”, “redundant-barrier”, {expected}'
    assert told[2].startswith("“severity”: there is no code “q”: there are data-race, ")
    assert told[3] == f"null is no value for “severity”, “data-race”, {expected}"


def test_whole_numbers_may_come_as_floats() -> None:
    assert settings(workers=1.0).workers == 1


def test_severities() -> None:
    chosen = settings(severity={"data-race": "off", "benign-race": "hint"})
    assert chosen.severity_of(Verdict.DATA_RACE, Severity.ERROR) is None
    assert chosen.severity_of(Verdict.BENIGN_RACE, Severity.INFORMATION) is Severity.HINT
    assert chosen.severity_of(Verdict.BARRIER_DIVERGENCE, Severity.ERROR) is Severity.ERROR


def test_what_a_client_may_answer() -> None:
    assert config.from_client(None) == {}
    assert config.from_client("nonsense") == {}
    assert config.from_client({"arch": None, "workers": 1}) == {"workers": 1}
    assert config.from_client({"cuda-lsp": {"workers": 1}, "other": {}}) == {"workers": 1}


def test_project_files(tmp_path: Path) -> None:
    file = tmp_path / ".cuda-lsp.toml"
    file.write_text('arch = "sm_86"\n[severity]\nbenign-race = "off"\n')
    layer, problems = config.load_project_file(file)
    assert problems == ()
    assert merge([layer])[0].arch == 86
    file.write_text("arch = \n")
    layer, (problem,) = config.load_project_file(file)
    assert layer.values == {}
    assert "not a TOML file" in problem.text
    file.write_bytes(b"\xff")
    assert "cannot be read" in config.load_project_file(file)[1][0].text


def test_the_nearest_project_file_counts_within_the_workspace(tmp_path: Path) -> None:
    top, deep = tmp_path / "top", tmp_path / "top" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".cuda-lsp.toml").touch()
    assert config.find_project_file(deep, top) is None
    assert config.find_project_file(deep, None) == tmp_path / ".cuda-lsp.toml"
    (top / ".cuda-lsp.toml").touch()
    assert config.find_project_file(deep, top) == top / ".cuda-lsp.toml"
    (deep / ".cuda-lsp.toml").touch()
    assert config.find_project_file(deep, top) == deep / ".cuda-lsp.toml"


def test_the_schema_names_and_describes_every_setting() -> None:
    schema = config.json_schema()
    assert set(schema["properties"]) == {option.name for option in config.OPTIONS}
    assert all(len(each["description"]) > 20 for each in schema["properties"].values())
    assert schema["properties"]["check-on"]["default"] == "save"


def test_every_setting_is_documented_with_its_default() -> None:
    page = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert set(rows) == {option.name for option in config.OPTIONS}
    for name, schema in config.json_schema()["properties"].items():
        default = schema["default"]
        if default is not None:
            assert f"| `{json.dumps(default)}` |" in rows[name]


def test_an_address_has_a_scheme() -> None:
    for value in ("docs", "ftp://x", "https://a b", 3):
        settings, problems = config.merge([Layer("here", {"documentation-url": value})])
        assert settings.documentation_url is None
        assert "https://" in problems[0].text
    assert (
        config.merge([Layer("here", {"documentation-url": "file:///srv/docs/"})])[0].documentation_url
        == "file:///srv/docs"
    )


def test_the_worker_started_ahead_logs_as_the_settings_say() -> None:
    """Else it would be ended and started again with every server."""
    assert Settings().log_level == serve._LOG_LEVEL
