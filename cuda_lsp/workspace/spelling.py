"""One spelling for each absolute path, so that paths may be compared as text wherever they come from.

A client's URI, a compilation database and the working directory write the same file of Windows as `c:\\a.cu`, `C:/a.cu`
and `C:\\a.cu`. Letters behind the drive keep their case, as symbolic links stay what they are: the disk is not asked.
"""

from __future__ import annotations

import os.path
from types import ModuleType


def one_spelling(path: str | os.PathLike[str], system: ModuleType = os.path) -> str:
    """Normalised, with a small drive letter as in the URIs of editors. `system`: `ntpath` or `posixpath`."""
    whole: str = system.normpath(path)
    drive: str = system.splitdrive(whole)[0]
    return drive.lower() + whole[len(drive) :] if len(drive) == 2 else whole
