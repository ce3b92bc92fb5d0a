"""The wheel carries everything an installed cuda-lsp needs: the four packages whole, bundled headers included."""

import posixpath
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pygls import uris

from analyzers.model import Verdict

ROOT = Path(__file__).parent.parent
PACKAGES = ("analyzers", "cuda_lsp", "gpu_runner", "quickfix")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    build = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stderr
    (wheel,) = out.glob("cuda_lsp-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel_names(wheel: Path) -> set[str]:
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


def test_all_that_installed_pages_link_to_and_show_is_installed(wheel_names: set[str], wheel: Path) -> None:
    folder = "cuda_lsp/docs/"
    pages = [name for name in wheel_names if name.startswith(folder) and name.endswith(".md")]
    assert f"{folder}vscode.md" in pages
    with zipfile.ZipFile(wheel) as archive:
        for page in pages:
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", archive.read(page).decode()):
                assert posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) in wheel_names, (page, link)


def test_diagnostics_of_an_installed_server_link_to_pages_that_were_installed(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(place)]
    subprocess.run([*command, str(wheel)], check=True)
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r})\n"
        "from cuda_lsp import documentation; from analyzers.model import Verdict\n"
        "print(*[documentation.diagnostic_page(verdict.value) for verdict in Verdict], sep='\\n')"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(told) == len(Verdict)
    for address in told:
        page = Path(uris.to_fs_path(address) or "")
        assert page.is_relative_to(place)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).is_file(), f"{page.name} links to {link}, which is not installed"
