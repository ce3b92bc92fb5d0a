"""Real CUDA sources to measure on: fetched from the package index, never committed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

CACHE = Path(__file__).resolve().parent / ".cache"
PACKAGES = {"exllamav2": "0.3.2", "gsplat": "1.5.3", "nerfacc": "0.5.3"}


def package_sources(name: str) -> Path:
    """The unpacked wheel of a package, fetched on first use."""
    folder = CACHE / name
    if not folder.is_dir():
        CACHE.mkdir(exist_ok=True)
        wheel = f"{name}=={PACKAGES[name]}"
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            str(CACHE),
        ]
        subprocess.run([*command, wheel], check=True)
        archive = next(CACHE.glob(f"{name}-*.whl"))
        partial = CACHE / f"{name}.partial"
        with zipfile.ZipFile(archive) as z:
            z.extractall(partial)
        partial.rename(folder)
    return folder


def cuda_files(folder: Path) -> list[Path]:
    """Every ``.cu`` below a folder, in order."""
    return sorted(p for p in folder.rglob("*.cu") if p.is_file())
