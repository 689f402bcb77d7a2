"""A snapshot that somebody made to harm: sound by every hash, and still no more than data (SEC-10)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from holdfast.engine.snapshots import load_zstd
from holdfast.model.snapshot import Manifest
from snapshots.jobs import repacked, sqlite_ledger, taken, write_jobs

Deceit = Callable[[Manifest, dict[str, bytes]], Manifest]
MB = 1024 * 1024
PEAK_BYTES_MAX = 160 * MB  # of the whole process, Python and all of the program in it
SECONDS_MAX = 20


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Rows only."""
    with closing(sqlite_ledger(tmp_path_factory.mktemp("rows") / "ledger.db")) as ledger:
        return taken(ledger, write_jobs(ledger)["court"])


def with_lines(table: str, lines: Iterator[bytes], rows: int | None = None) -> Deceit:
    """The segment of this table with other lines in it, all hashes right."""

    def change(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        parts = list(manifest.segments)
        [place] = [n for n, part in enumerate(parts) if part.table == table]
        packer = load_zstd().ZstdCompressor()
        count, packed = 0, []
        for block in lines:
            count += block.count(b"\n")
            packed.append(packer.compress(block))
        content = b"".join([*packed, packer.flush()])
        files[parts[place].name] = content
        parts[place] = msgspec.structs.replace(
            parts[place],
            rows=count if rows is None else rows,
            bytes=len(content),
            sha256=sha256(content).hexdigest(),
        )
        return msgspec.structs.replace(manifest, segments=tuple(parts))

    return change


def measured(file: Path, folder: Path) -> tuple[int, int, float, str]:
    """`holdfast restore` in a process of its own: exit code, peak memory, CPU seconds, what it said."""
    words = [sys.executable, "-m", "holdfast", "restore", str(file), "--trust"]
    environ = {**os.environ, "HOLDFAST_MIN_FREE_MB": "0"}
    with (folder / "said").open("w+b") as said:
        child = subprocess.Popen(words, cwd=folder, env=environ, stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        said.seek(0)
        text = said.read().decode()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, text


EVENT = b'[1,1,0,"","job","","","",""]\n'
BOMBS: dict[str, Callable[[], Deceit]] = {
    "very many rows": lambda: with_lines("event", (EVENT * (MB // len(EVENT)) for _ in range(258))),
    "one very long row": lambda: with_lines("event", (b" " * MB for _ in range(258)), rows=1),
    "a window of its own": lambda: with_lines("event", iter([b" " * MB] * 200), rows=1),
    "very long params": lambda: with_lines("job", (b"[" * MB for _ in range(200)), rows=1),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_costs_memory(
    name: str, stored: bytes, tmp_path: Path
) -> None:
    """SEC-10: bytes, rows and their size have budgets, and no more than a piece is held at a time."""
    bomb = tmp_path / "bomb.tar"
    bomb.write_bytes(repacked(stored, BOMBS[name]()))
    assert bomb.stat().st_size < 100_000
    code, peak, seconds, said = measured(bomb, tmp_path)
    print(name, bomb.stat().st_size, code, peak / MB, seconds, said)
    assert (code, "larger than it may be" in said or "has more than" in said) == (6, True), said
    assert peak < PEAK_BYTES_MAX
    assert seconds < SECONDS_MAX
