"""`holdfast snapshot` and `restore` by the real command (C11), killed on the way, and what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.commands import crawl_words, holdfast, ledger_in, put_into, submit
from cli.schemas import validator
from holdfast.demo.serving import WorldServer

KILLED = -9


@pytest.fixture
def half_way(tree: WorldServer, tmp_path: Path) -> Path:
    """A folder in which a crawl was killed after its third settle."""
    folder = tmp_path / "half"
    folder.mkdir()
    assert holdfast(*crawl_words(tree), cwd=folder, HOLDFAST_FAULT="settle.after_commit:3:kill").code == KILLED
    return folder


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def archived(folder: Path) -> bytes:
    """All pages, under one date: equal crawls give equal bytes."""
    done = holdfast("export", "frogs", "-o", "frogs.warc.gz", "--date", "2026-01-01", cwd=folder)
    assert done.code == 0, done.err
    return (folder / "frogs.warc.gz").read_bytes()


def asked_since(world: WorldServer, line: int) -> set[str]:
    lines = world.log_path.read_text().splitlines()[line:]
    return {json.loads(each)["key"] for each in lines}


def test_a_killed_crawl_is_carried_to_an_empty_folder_and_ends_like_an_undisturbed_one(
    tree: WorldServer, half_way: Path, tmp_path: Path
) -> None:
    """SNP-05: nothing that had succeeded is asked for again."""
    taken = holdfast("snapshot", "frogs", "-o", "../frogs.tar", cwd=half_way)
    assert (taken.code, taken.out.startswith("Wrote frogs as it stands to ../frogs.tar")) == (0, True)
    shutil.rmtree(half_way)
    empty = made(tmp_path / "empty")
    killed = holdfast("restore", "../frogs.tar", cwd=empty, HOLDFAST_FAULT="restore.before_commit:1:kill")
    assert killed.code == KILLED
    assert holdfast("jobs", "--json", cwd=empty).json()["jobs"] == []
    restored = holdfast("restore", "../frogs.tar", "--json", cwd=empty)
    assert (restored.code, restored.json()["status"], restored.json()["paused_by"]) == (0, "paused", "restore")
    assert "continue: holdfast resume frogs" in restored.err
    validator("job").validate(restored.json())
    verified = holdfast("verify", "frogs", "--deep", "--json", cwd=empty).json()
    assert verified["ok"]
    done = {row["url"] for row in targets(empty, "status:succeeded")}
    assert verified["bodies_read"] == len(done) > 0
    line = len(tree.log_path.read_text().splitlines())
    assert holdfast("resume", cwd=empty).code == 0  # nobody asked for this job: it is left as it is
    assert asked_since(tree, line) == set()
    assert holdfast("resume", "frogs", cwd=empty).code == 0
    assert not asked_since(tree, line) & done
    assert holdfast("verify", "frogs", "--deep", cwd=empty).code == 0
    calm = made(tmp_path / "calm")
    assert holdfast(*crawl_words(tree), cwd=calm).code == 0
    assert archived(empty) == archived(calm)


def targets(folder: Path, where: str) -> list[dict[str, Any]]:
    done = holdfast("targets", "frogs", "--where", where, "--jsonl", cwd=folder)
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_snapshot_without_bodies_says_what_is_missing_and_a_repair_fetches_it(
    tree: WorldServer, half_way: Path, tmp_path: Path
) -> None:
    """SNP-04: it lies in a folder of its job's own."""
    taken = holdfast("snapshot", "frogs", "--without-artifacts", "--json", cwd=half_way).json()
    validator("snapshot").validate(taken)
    path = half_way / taken["path"]
    assert path.parent == half_way / "holdfast-data" / "snapshots" / taken["job"]
    empty = made(tmp_path / "empty")
    restored = holdfast("restore", str(path), cwd=empty)
    assert restored.code == 0
    pages = taken["counts"]["succeeded"]
    assert f"The bytes of {pages} pages are not here" in restored.err
    assert "holdfast doctor --repair" in restored.err
    assert holdfast("verify", "frogs", cwd=empty).code == 9
    assert holdfast("doctor", "--repair", cwd=empty).code == 0
    assert holdfast("resume", "frogs", cwd=empty).code == 0
    assert holdfast("verify", "frogs", "--deep", cwd=empty).code == 0
    assert len(targets(empty, "status:succeeded")) == 60
    # Where the bodies are, they are found: beside the job itself, which keeps its own rows.
    assert "not here" not in holdfast("restore", str(path), "--replace", cwd=half_way).err
    assert holdfast("verify", "frogs", "--deep", cwd=half_way).code == 0


def test_refusals_leave_everything_as_it_is(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "paused")
    assert holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=tmp_path).code == 0
    stored = (tmp_path / "frogs.tar").read_bytes()
    again = holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=tmp_path)
    assert (again.code, "overwrites nothing" in again.err) == (2, True)
    assert (tmp_path / "frogs.tar").read_bytes() == stored
    taken = holdfast("restore", "frogs.tar", cwd=tmp_path)
    assert (taken.code, "--replace keeps it as frogs~1" in taken.err) == (6, True)
    assert holdfast("snapshot", "frogs", "-o", "-", cwd=tmp_path).code == 2
    assert holdfast("restore", "nothing.tar", cwd=tmp_path).code == 5
    (tmp_path / "torn.tar").write_bytes(stored[:-700])
    empty = made(tmp_path / "empty")
    torn = holdfast("restore", "../torn.tar", cwd=empty)
    assert (torn.code, "this snapshot is damaged" in torn.err.lower()) == (6, True)
    assert list(empty.iterdir()) == []
