"""`holdfast snapshot` and `restore` by the real command (C11), killed on the way, and what they say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
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
    killed = holdfast("restore", "../frogs.tar", "--trust", cwd=empty, HOLDFAST_FAULT="restore.before_commit:1:kill")
    assert killed.code == KILLED
    assert holdfast("jobs", "--json", cwd=empty).json()["jobs"] == []
    restored = holdfast("restore", "../frogs.tar", "--trust", "--json", cwd=empty)
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
    restored = holdfast("restore", str(path), "--trust", cwd=empty)
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
    assert "not here" not in holdfast("restore", str(path), "--trust", "--replace", cwd=half_way).err
    assert holdfast("verify", "frogs", "--deep", cwd=half_way).code == 0


def test_refusals_leave_everything_as_it_is(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "paused")
    assert holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=tmp_path).code == 0
    stored = (tmp_path / "frogs.tar").read_bytes()
    again = holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=tmp_path)
    assert (again.code, "overwrites nothing" in again.err) == (2, True)
    assert (tmp_path / "frogs.tar").read_bytes() == stored
    taken = holdfast("restore", "frogs.tar", "--trust", cwd=tmp_path)
    assert (taken.code, "--replace keeps it as frogs~1" in taken.err) == (6, True)
    assert holdfast("snapshot", "frogs", "-o", "-", cwd=tmp_path).code == 2
    assert holdfast("restore", "nothing.tar", cwd=tmp_path).code == 5
    (tmp_path / "torn.tar").write_bytes(stored[:-700])
    empty = made(tmp_path / "empty")
    torn = holdfast("restore", "../torn.tar", cwd=empty)
    assert (torn.code, "this snapshot is damaged" in torn.err.lower()) == (6, True)
    assert list(empty.iterdir()) == []


def stored_pages(folder: Path) -> list[Path]:
    return sorted((folder / "holdfast-data" / "segments").rglob("*.warc.gz"))


def cut_off(segment: Path) -> None:
    with segment.open("r+b") as file:
        file.truncate(segment.stat().st_size // 2)


@pytest.mark.parametrize("lose", [Path.unlink, cut_off])
def test_a_job_whose_lost_pages_were_fetched_again_can_be_carried_elsewhere(
    tree: WorldServer, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    """What its results need is demanded; what is gone for good, and was told as lost, is told once more."""
    here, there = made(tmp_path / "here"), made(tmp_path / "there")
    assert holdfast(*crawl_words(tree, "--max-depth", "2"), cwd=here).code == 0
    whole = archived(here)
    [segment] = stored_pages(here)
    lose(segment)
    early = holdfast("snapshot", "frogs", "-o", "../frogs.tar", cwd=here)
    assert (early.code, (tmp_path / "frogs.tar").exists()) == (5 if lose is Path.unlink else 9, False), early.err
    assert "holdfast doctor --repair" in early.err
    assert holdfast("doctor", "--repair", cwd=here).code == 0
    lost = len(targets(here, "status:pending"))
    assert holdfast("snapshot", "frogs", "-o", "../before.tar", cwd=here).code == 0
    assert holdfast("resume", "frogs", cwd=here).code == 0
    told = holdfast("snapshot", "frogs", "-o", "../frogs.tar", cwd=here)
    assert told.code == 0, told.err
    assert f"{lost} bodies of earlier fetches are not in it: their bytes are lost." in told.err
    document = holdfast("snapshot", "frogs", "--json", cwd=here).json()
    validator("snapshot").validate(document)
    assert document["bodies_lost"] == lost > 0
    assert holdfast("restore", "../frogs.tar", "--trust", cwd=there).code == 0
    verified = holdfast("verify", "frogs", "--deep", "--json", cwd=there).json()
    assert (verified["ok"], verified["bodies_read"]) == (True, len(targets(here, "status:succeeded")))
    assert archived(there) == whole
    assert holdfast("restore", "../before.tar", "--trust", "--name", "before", cwd=there).code == 0
    assert holdfast("verify", "before", "--deep", cwd=there).code == 0


def test_pages_that_are_served_as_they_were_are_demanded_until_they_are_fetched_again(
    tree: WorldServer, tmp_path: Path
) -> None:
    """Nobody told them as lost: a scan that goes on serves the pages of the one before."""
    here, there = made(tmp_path / "here"), made(tmp_path / "there")
    words = crawl_words(tree, "--max-depth", "2")
    assert holdfast(*words, cwd=here).code == 0
    whole = archived(here)
    [first] = stored_pages(here)
    assert holdfast(*words, "--mode", "full", cwd=here, HOLDFAST_FAULT="settle.after_commit:1:kill").code == KILLED
    assert targets(here, "status:pending")
    first.unlink()
    refused = holdfast("snapshot", "frogs", "-o", "../frogs.tar", cwd=here)
    assert (refused.code, (tmp_path / "frogs.tar").exists()) == (5, False)
    assert f"egment {first.parent.name}/{first.name} is missing" in refused.err
    assert holdfast("resume", "frogs", cwd=here).code == 0
    told = holdfast("snapshot", "frogs", "-o", "../frogs.tar", cwd=here)
    assert (told.code, "bodies of earlier fetches are not in it" in told.err) == (0, True), told.err
    assert holdfast("restore", "../frogs.tar", "--trust", cwd=there).code == 0
    assert holdfast("verify", "frogs", "--deep", cwd=there).code == 0
    assert archived(there) == whole
