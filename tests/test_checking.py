"""The order of checks: what was asked for last counts, in whatever order the preparations end."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from analyzers.frontend.flags import CompileFlags
from cuda_lsp.checking import Checks
from cuda_lsp.config import Settings
from cuda_lsp.documents import Documents
from cuda_lsp.scheduler import Job
from cuda_lsp.session import Session
from cuda_lsp.workspace.project import Workspace


class Stand:
    """As much of a session as checks need; what is spawned runs when the test says so."""

    def __init__(self) -> None:
        self.documents = Documents()
        self.jobs: list[Job] = []
        self.work: list[Coroutine[Any, Any, None]] = []
        self.attention = None
        self.top = None
        self.client = SimpleNamespace(features=SimpleNamespace(progress=False))
        self.publisher = SimpleNamespace(touch=lambda **_: None)
        project = SimpleNamespace(
            settings=Settings(),
            flags_for=lambda _: CompileFlags(),
            workspace_of=lambda _: Workspace("/a", False, None, "/a"),
        )

        async def of_folder(_: str) -> Any:
            return project

        self.projects = SimpleNamespace(of_folder=of_folder)
        self.scheduler = SimpleNamespace(submit=self.jobs.append)

    async def configured(self) -> None:
        return None

    def settings_for_file(self, _: str) -> Settings:
        return Settings()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.work.append(work)


async def test_an_older_request_that_is_ready_later_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    unit, header = tmp_path / "unit.cu", tmp_path / "inner.cuh"
    unit.write_text("")
    stand = Stand()
    checks = Checks(cast(Session, stand))
    stand.documents.open(header.as_uri(), "cuda", 1, "old", str(tmp_path))
    checks.check_units([str(unit)])
    stand.documents.close(header.as_uri())
    checks.check_units([str(unit)])
    older, newer = stand.work[:2]
    await newer
    await older
    (job,) = stand.jobs
    assert str(header) not in job.texts, "the buffer was closed when the last check was asked for"
    for rest in stand.work[2:]:
        rest.close()
