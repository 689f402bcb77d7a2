"""Who looks changes nothing: no older ledger, no folder that cannot be written. And what killed commands left."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast, ledger_in, put_into, submit
from crash.suites.migrations import BACK
from disks import mounted, sealed
from holdfast.blobs.shelf import MARK, mark_of
from holdfast.demo.serving import WorldServer
from holdfast.ledger.schema import SCHEMA_VERSION

KILLED = -9
LOOKS = (
    ["status"], ["status", "frogs"], ["jobs"], ["targets", "frogs"], ["frontier", "frogs"], ["errors", "frogs"],
    ["events", "frogs"], ["checkpoints", "frogs"], ["explain", "frogs", "https://marsh.test/"], ["verify", "frogs"],
    ["export", "frogs", "-o", "-", "--format", "jsonl"], ["limits"], ["logs", "frogs"], ["watch", "frogs"], [],
    ["doctor"], ["db", "check"],
)  # fmt: skip


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data folder with a paused job, as the version before this one left it."""
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "paused")
    data = tmp_path / "holdfast-data"
    with closing(sqlite3.connect(data / "ledger.db", isolation_level=None)) as file:
        for statement in BACK[SCHEMA_VERSION]:
            file.execute(statement)
        file.execute(f"UPDATE ledger SET schema_version = {SCHEMA_VERSION - 1}")
    return data


def version_in(data: Path) -> int:
    with closing(sqlite3.connect(f"file:{data / 'ledger.db'}?mode=ro", uri=True)) as file:
        return int(file.execute("SELECT schema_version FROM ledger").fetchone()[0])


def test_a_look_at_an_older_ledger_says_what_to_do_and_leaves_it_as_it_is(old: Path) -> None:
    """The version that is still in use elsewhere goes on reading it."""
    for words in LOOKS:
        done = holdfast(*words, cwd=old.parent)
        said = done.out + done.err
        assert (done.code, f"has schema {SCHEMA_VERSION - 1}" in said, "db upgrade" in said) == (9, True, True), words
    assert version_in(old) == SCHEMA_VERSION - 1
    assert [path.name for path in old.iterdir() if "backup" in path.name] == []


@pytest.mark.parametrize("words", [["cancel", "frogs"], ["exclude", "frogs", "/x/*"], ["db", "upgrade"]])
def test_whoever_works_or_controls_a_job_upgrades_its_ledger_after_a_backup(words: list[str], old: Path) -> None:
    assert holdfast(*words, cwd=old.parent).code == 0
    assert version_in(old) == SCHEMA_VERSION
    assert (old / f"ledger.db.v{SCHEMA_VERSION - 1}.backup").exists()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "size=64m")


@pytest.mark.parametrize("beside", [("ledger.db-wal", "ledger.db-shm"), ("ledger.db-wal",)])
def test_who_would_work_a_job_where_nothing_can_be_written_is_told_so(
    beside: tuple[str, ...], disk: Path, tree: WorldServer, tmp_path: Path
) -> None:
    """Also where a killed process has left its -wal: a sentence and 2, no traceback."""
    assert holdfast(*crawl_words(tree), cwd=disk, HOLDFAST_FAULT="settle.after_commit:3:kill").code == KILLED
    data = disk / "holdfast-data"
    for name in {"ledger.db-wal", "ledger.db-shm"} - {*beside}:
        (data / name).unlink()
    sealed(disk)
    backup = ["db", "backup", "-o", str(tmp_path / "copy.db")]
    for words in (["resume", "frogs"], ["resume"], ["crawl", "frogs"], ["cancel", "frogs"]):
        done = holdfast(*words, cwd=disk)
        assert (done.code, "Traceback" in done.err) == (2, False), (words, done.err)
        assert "can be written" in done.err or "cannot be written" in done.err
    assert "Traceback" not in holdfast(*backup, cwd=disk).err


def test_what_a_killed_restore_left_is_named_and_a_repair_removes_it(tree: WorldServer, tmp_path: Path) -> None:
    """SEC-10: but not what a restore that lives is at, what a job has, or what another ledger may have."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    assert holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=tmp_path).code == 0
    words = ("restore", "frogs.tar", "--name", "toads", "--trust")
    assert holdfast(*words, cwd=tmp_path, HOLDFAST_FAULT="restore.before_commit:1:kill").code == KILLED
    segments = tmp_path / "holdfast-data" / "segments"
    [left] = [mark.parent for mark in segments.glob(f"*/{MARK}")]
    [kept] = [folder for folder in segments.iterdir() if folder != left]
    with ledger_in(tmp_path) as ledger:
        [(own,)] = ledger.query("SELECT id FROM ledger")
    assert (left / MARK).read_text() == mark_of(own)
    for name, says in (("J-0001", mark_of("another")), ("J-0002", ""), ("J-0003", None)):
        (segments / name).mkdir()
        (segments / name / "w-1.warc.gz").write_bytes(b"somebody's")
        if says is not None:
            (segments / name / MARK).write_text(says)
    half = segments.parent / "snapshots" / "J-1" / f".publish-{'0' * 16}-{'1' * 16}.tmp"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half a snapshot")
    [row] = [row for row in holdfast("doctor", "--json", cwd=tmp_path).json()["checks"] if row["name"] == "left over"]
    assert (row["ok"], row["required"]) == (False, False)
    assert all(str(path.relative_to(tmp_path)) in row["detail"] for path in (left, half, segments / "J-0003"))
    with (left / MARK).open("rb+") as live, half.open("rb+") as writer:
        fcntl.flock(live, fcntl.LOCK_EX)
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert holdfast("doctor", "--repair", "--json", cwd=tmp_path).json()["repaired"] == []
    done = holdfast("doctor", "--repair", "--json", cwd=tmp_path).json()
    assert sum("which a killed command had left" in sentence for sentence in done["repaired"]) == 2
    assert (left.exists(), half.exists()) == (False, False)
    assert sorted(folder.name for folder in segments.iterdir()) == ["J-0001", "J-0002", "J-0003", kept.name]
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0
    assert holdfast(*words, cwd=tmp_path).code == 0
    assert holdfast("verify", "toads", "--deep", cwd=tmp_path).code == 0


def test_a_folder_that_only_a_copys_rows_name_is_not_left_over(tree: WorldServer, tmp_path: Path) -> None:
    """A fork's rows refer to the pages of the job that it was made of; a mark in there changes nothing of that."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    segments = tmp_path / "holdfast-data" / "segments"
    [folder] = segments.iterdir()
    with ledger_in(tmp_path) as ledger:
        [(own,)] = ledger.query("SELECT id FROM ledger")
    (folder / MARK).write_text(mark_of(own))
    assert holdfast("doctor", "--repair", "--json", cwd=tmp_path).json()["repaired"] == []
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0
