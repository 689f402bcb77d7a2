"""A documents job and the versions of its list: what a start plans after a crash between the list and the job."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.blobs.publish import publish
from holdfast.clock import ManualClock
from holdfast.control.documents import ListAccess, synced
from holdfast.control.list_store import ListStore
from holdfast.model.job import Options
from holdfast.ports import Fetcher
from holdfast.recipe import Context
from holdfast.recipes.documents.recipe import DocumentsRecipe

RECIPE = DocumentsRecipe(ManualClock())


class Desk:
    """A list in a file, what is kept of it, and a job that knows some of its versions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.artifacts = folder, folder / "artifacts"
        store = ListStore(self.artifacts, lambda path, write: publish(path, write, ours=True))
        self.clock = ManualClock()
        hosts: Any = None  # a file is of no host
        self.access = ListAccess(
            store=store, open_fetcher=nobody, clock=self.clock, hosts=hosts, options=Options(), random=Random
        )
        self.job: Any = None

    def publish(self, *numbers: int) -> None:
        """A new version of the list."""
        rows = "".join(f"https://e.example/{n}.pdf,A-{n}\n" for n in numbers)
        (self.folder / "list.csv").write_text(f"Link,Number\n{rows}")

    def synced(self) -> dict[str, Any]:
        """The list is looked at, and then the program is killed: the job has not heard of it."""
        self.clock.advance(60)
        params = RECIPE.check(
            {"list": str(self.folder / "list.csv"), "columns": {"url": "Link", "id": "Number"}}
            | (self.job.params if self.job else {})
        )
        return synced(self.access, params, self.job)[0]

    def started(self) -> None:
        self.job = SimpleNamespace(params=self.synced())

    def plan(self, done: int = 0) -> list[str]:
        """What a worker finds to do behind so many targets that are there."""
        context = Context(params=self.job.params, salt=b"s" * 16, chunking="key", kept=self.artifacts.joinpath)
        return [found.name for found in RECIPE.plan(context, done)]


def nobody(url: str) -> Fetcher:
    raise AssertionError(url)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_list_that_was_synced_and_not_planned_is_planned_by_the_next_start(desk: Desk) -> None:
    """Worlds 1, line 2: a crash right after the sync; and again when another version is published in between."""
    desk.publish(1, 2)
    desk.started()
    desk.publish(4, 2, 3, 1)
    desk.synced()
    desk.started()
    assert desk.plan() == ["A-1", "A-2", "A-4", "A-3"]
    assert desk.job.params["planned"] == 4
    desk.publish(4, 2, 3, 1, 5)
    desk.synced()
    desk.publish(6, 4, 2, 3, 1, 5)
    desk.started()
    assert desk.plan(done=4) == ["A-6", "A-5"]


def test_a_list_that_is_synced_again_changes_nothing_and_a_later_one_forgets_nothing(desk: Desk) -> None:
    """Worlds 1, lines 1 and 5: all that the list names is planned before anything is fetched, and stays planned."""
    everything = [f"A-{n}" for n in range(120)]
    desk.publish(*range(120))
    desk.started()
    versions = desk.job.params["versions"]
    assert desk.plan() == everything
    desk.synced()
    desk.started()
    assert (desk.job.params["versions"], desk.plan(done=3)) == (versions, everything[3:])
    desk.publish(*range(119, 0, -1), 120)  # A-0 was withdrawn and is unfinished
    desk.started()
    assert desk.plan(done=3) == [*everything[3:], "A-120"]
