"""The wheel carries everything an installed cuda-lsp needs: the four packages whole, bundled headers included."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("analyzers", "cuda_lsp", "gpu_runner", "quickfix")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    build = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stderr
    (wheel,) = out.glob("cuda_lsp-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_in_the_wheel(package: str, wheel_names: set[str]) -> None:
    # Headers have any extension or none, so the rule is every file, not every kind of file that somebody thought of.
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files
    assert files <= wheel_names


def test_nothing_else_is_at_the_top_of_the_wheel(wheel_names: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel_names if ".dist-info/" not in name} == set(PACKAGES)


def test_the_command_and_the_licence_are_in_the_wheel(wheel_names: set[str]) -> None:
    assert any(name.endswith(".dist-info/entry_points.txt") for name in wheel_names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel_names)
