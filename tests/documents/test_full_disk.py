"""A disk that is full in the middle of a download: the job pauses with the reason, publishes no part, and goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import mounted
from documents.collecting import Collector
from documents.shelf import serving
from servers import need_root

FILES, SIZE = 4, 8_000_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    need_root()
    yield from mounted(tmp_path / "disk", "size=30m")


def test_a_full_disk_pauses_the_job_and_it_goes_on_when_there_is_room(tmp_path: Path, disk: Path) -> None:
    """Defect 12: DOC-22, DOC-23: exit 14, no case is lost or counted failed."""
    with serving(tmp_path / "www") as shelf:
        for n in range(FILES):
            (shelf.root / f"{n}.bin").write_bytes(bytes([n + 1]) * SIZE)
        collector = Collector(disk / "work")
        (collector.folder / "holdfast.toml").write_text("min_free_mb = 1\n")
        rows = "".join(f"{shelf.url}/{n}.bin,A-{n}\n" for n in range(FILES))
        (collector.folder / "list.csv").write_text(f"Link,Number\n{rows}")
        words = ("docs", "list.csv", "--columns", "url=Link,id=Number", "--delay", "0", "--allow-private")
        collector.run(*words, expect=14)
        status = collector.json("status", "list")
        assert (status["status"], status["stop_reason"], status["counts"]["failed"]) == ("paused", "disk_full", 0)
        published = _published(collector)
        assert all(size == SIZE for size in published)
        subprocess.run(["mount", "-o", "remount,size=120m", str(disk)], check=True)
        collector.run(*words)
        assert len(collector.held("list")) == FILES
        assert _published(collector) == [SIZE] * FILES


def _published(collector: Collector) -> list[int]:
    folder = collector.folder / "holdfast-data" / "artifacts" / "files"
    return [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
