"""Targets of several large files, killed in the middle and at every point of a file's way, end like undisturbed ones.

`python -m crash.test_files` plays the same at full size and tells its numbers: three files of 50 MB, one of 2 GB.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Done, holdfast
from files_web import FilesWeb, Rules, hash_of
from holdfast.config import Settings
from holdfast.demo.command import ChildCommand
from holdfast.faults import FILE_POINTS
from holdfast.wiring import open_ledger

SIZE = 4_000_000
RECIPE = """
from holdfast.recipe import Recipe, file, record, target

shelf = Recipe("shelf", params={"site": str, "files": 3, "size": 4000000, "targets": 2, "keyed": False})


@shelf.plan
def plan(params):
    for n in range(params["targets"]):
        yield target(f"{params['site']}/book/{n}", type="book", key=f"book-{n}", params=params)


@shelf.step("book")
async def book(here, fetch):
    asked = here.params
    for n in range(asked["files"]):
        name = f"{here.key}-{n}"
        fetched = await fetch.file(f"{asked['site']}/f/{name}/{asked['size']}")
        yield file(fetched, "pdf", name=f"pdfs/{name}.pdf" if asked["keyed"] else "")
    yield record(book=here.key)
"""


class Shelf:
    """A data folder, a site of files, and the command that fetches them."""

    def __init__(self, folder: Path, web: FilesWeb, **params: Any) -> None:
        self.folder, self.web, self.data = folder, web, folder / "data"
        self.recipe = folder / "shelf.py"
        self.recipe.write_text(RECIPE)
        said = [f"--param={name}={value}" for name, value in {"site": web.url, **params}.items()]
        pace = ["--allow", web.address, "--delay", "0", "--per-host", "8", "--plain", "--data", str(self.data)]
        self.order = ["run", str(self.recipe), "--name", "shelf", *said, *pace]
        self.runs = 0

    def start(self, fault: str = "") -> ChildCommand:
        self.runs += 1
        return ChildCommand(self.order, said=self.folder / f"said-{self.runs}", environ={"HOLDFAST_FAULT": fault})

    def run(self, fault: str = "", seconds: float = 60.0) -> ChildCommand:
        with self.start(fault) as command:
            command.wait(seconds)
        return command

    def killed_after(self, sent: int, *, with_peak: bool = False) -> int:
        """Killed when the site has sent so many bytes; the most memory it had, in bytes."""
        peak = 0
        with self.start() as command:
            while command.code is None and self.sent < sent:
                peak = max(peak, rss_of(command.pid)) if with_peak else 0
                time.sleep(0.02)
            command.send(signal.SIGKILL)
            command.wait(10)
        assert command.code == -signal.SIGKILL, command.err
        return peak

    @property
    def sent(self) -> int:
        return sum(ask.sent for ask in self.web.of("/f/"))

    def assert_whole(self, targets: int, files: int, size: int, *, keyed: bool = False) -> None:
        verified = command(self.folder, "verify", "shelf", "--deep", "--json", "--data", str(self.data))
        told = json.loads(verified.out)
        assert (verified.code, told["findings"], told["files_read"]) == (0, [], targets * files), verified.out
        ledger = open_ledger(Settings(data=self.data))
        try:
            rows = ledger.artifacts(ledger.job("shelf").id)
            assert ledger.books(ledger.job("shelf").id)[0].status == "completed"
        finally:
            ledger.close()
        wanted = {hash_of(f"book-{t}-{n}", size) for t in range(targets) for n in range(files)}
        assert {row.sha256 for row in rows} == wanted
        assert {row.path.partition("/")[0] for row in rows} == {"pdfs" if keyed else "sha256"}
        assert list((self.data / "artifacts" / ".partial").iterdir()) == []


def command(folder: Path, *words: str) -> Done:
    return holdfast(*words, cwd=folder)


def rss_of(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("keyed", [False, True], ids=["by_hash", "by_key"])
def test_targets_of_three_files_killed_in_the_middle_end_whole(tmp_path: Path, keyed: bool) -> None:
    """F1, D6: what was there is not fetched again."""
    with FilesWeb(Rules(per_s=8_000_000)) as web:
        shelf = Shelf(tmp_path, web, keyed=keyed)
        for part in (1, 2, 3):
            shelf.killed_after(part * 5_000_000)
        web.rules.per_s = 0
        ended = shelf.run()
        assert ended.code == 0, ended.err
        shelf.assert_whole(2, 3, SIZE, keyed=keyed)
        assert any(ask.range for ask in web.of("/f/"))
        assert shelf.sent < 6 * SIZE + 3 * 4_000_000  # what was in the pipe at a kill, and no more


@pytest.mark.parametrize("keyed", [False, True], ids=["by_hash", "by_key"])
@pytest.mark.parametrize("name", sorted(FILE_POINTS))
def test_a_file_killed_at_a_fault_point_is_whole_in_the_end(tmp_path: Path, name: str, keyed: bool) -> None:
    with FilesWeb() as web:
        shelf = Shelf(tmp_path, web, keyed=keyed)
        killed = shelf.run(f"{name}:3:kill")
        assert killed.code == -signal.SIGKILL, f"{name} was not hit: {killed.err}"
        ended = shelf.run()
        assert ended.code == 0, ended.err
        shelf.assert_whole(2, 3, SIZE, keyed=keyed)


def test_a_settle_killed_around_its_commit_keeps_the_files_of_its_target(tmp_path: Path) -> None:
    with FilesWeb() as web:
        shelf = Shelf(tmp_path, web)
        for name in ("settle.before_commit", "settle.after_commit"):
            shelf.run(f"{name}:2:kill")
        assert shelf.run().code == 0
        shelf.assert_whole(2, 3, SIZE)


def test_a_full_disk_pauses_the_job_and_publishes_no_part(tmp_path: Path) -> None:
    """D2, DOC-23: exit 14. The file is larger than a process may write here, which is refused like a full disk."""
    with FilesWeb() as web:
        shelf = Shelf(tmp_path, web, targets=1, files=1, size=40_000_000)
        words = [sys.executable, "-c", FULL, *shelf.order]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 14, ended.stderr
        files = [path for path in (shelf.data / "artifacts").rglob("*") if path.is_file()]
        named = [path for path in files if ".partial" not in path.parts]
        assert named == []
        again = shelf.run()
        assert again.code == 0, again.err
        shelf.assert_whole(1, 1, 40_000_000)


FULL = """
import errno, os, sys, msgspec
from holdfast.blobs import publish
real = os.pwrite
def pwrite(descriptor, data, at):
    if at + len(data) > 20_000_000:
        raise OSError(errno.ENOSPC, "No space left on device")
    return real(descriptor, data, at)
msgspec.structs.force_setattr(publish.DISK, "pwrite", pwrite)
from holdfast.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_files_go_into_a_snapshot_and_out_of_it_again(tmp_path: Path) -> None:
    with FilesWeb() as web:
        shelf = Shelf(tmp_path, web, keyed=True, targets=1)
        assert shelf.run().code == 0
        taken = command(tmp_path, "snapshot", "shelf", "-o", "s.tar", "--data", str(shelf.data))
        assert taken.code == 0, taken.err
        there = tmp_path / "there"
        other = there / "artifacts" / "pdfs" / "book-0-1.pdf"
        other.parent.mkdir(parents=True)
        other.write_bytes(b"another's")
        made = command(tmp_path, "restore", "s.tar", "--trust", "--data", str(there))
        assert made.code == 0, made.err
        assert other.read_bytes() == b"another's"
        verified = command(tmp_path, "verify", "shelf", "--deep", "--json", "--data", str(there))
        assert (verified.code, json.loads(verified.out)["files_read"]) == (0, 3), verified.out
        bare = command(tmp_path, "snapshot", "shelf", "-o", "b.tar", "--without-artifacts", "--data", str(shelf.data))
        assert bare.code == 0
        assert (tmp_path / "b.tar").stat().st_size < SIZE


def test_damage_to_files_is_found_named_and_repaired(tmp_path: Path) -> None:
    with FilesWeb() as web:
        shelf = Shelf(tmp_path, web, keyed=True, targets=1)
        assert shelf.run().code == 0
        where = ["--data", str(shelf.data)]
        first, second, third = (shelf.data / "artifacts" / "pdfs" / f"book-0-{n}.pdf" for n in range(3))
        second.write_bytes(second.read_bytes()[:-1] + b"?")
        assert command(tmp_path, "verify", "shelf", *where).code == 0
        deep = command(tmp_path, "verify", "shelf", "--deep", *where)
        assert (deep.code, "book-0-1.pdf does not have the sha256" in deep.err + deep.out) == (9, True)
        first.unlink()
        third.write_bytes(b"short")
        found = command(tmp_path, "verify", "shelf", "--json", *where)
        details = [finding["detail"] for finding in json.loads(found.out)["findings"]]
        assert found.code == 9
        assert [detail.rpartition(" of ")[2].partition(" ")[2] for detail in details] == [
            "is missing", f"has 5 bytes, not {SIZE}",
        ]  # fmt: skip
        orphan = shelf.data / "artifacts" / "pdfs" / "stray.pdf"
        orphan.write_bytes(b"nobody's")
        looked = command(tmp_path, "doctor", *where)
        assert "stray.pdf" in looked.out + looked.err
        mended = command(tmp_path, "doctor", "--repair", *where)
        assert "Put 1 page" in mended.out + mended.err
        assert orphan.exists()
        for path in (second, third):
            path.unlink(missing_ok=True)
        assert shelf.run().code == 0
        shelf.assert_whole(1, 3, SIZE, keyed=True)


def _measured() -> None:
    """At full size: what the report tells."""
    for name, params, size, files in (
        ("three of 50 MB, 4 targets", {"targets": 4, "files": 3, "size": 50_000_000}, 50_000_000, 3),
        ("one of 2 GB", {"targets": 1, "files": 1, "size": 2_000_000_000}, 2_000_000_000, 1),
    ):
        with tempfile.TemporaryDirectory() as folder, FilesWeb() as web:
            shelf = Shelf(Path(folder), web, **params)
            total = params["targets"] * files * size
            peaks = [shelf.killed_after(total // 2, with_peak=True)]
            before = shelf.sent
            began = time.monotonic()
            with shelf.start() as command:
                peak = 0
                while command.code is None:
                    peak = max(peak, rss_of(command.pid))
                    time.sleep(0.02)
            assert command.code == 0, command.err
            peaks.append(peak)
            took = time.monotonic() - began
            ranges = [ask.range for ask in web.of("/f/") if ask.range]
            shelf.assert_whole(params["targets"], files, size)
            print(
                f"{name}: peak RSS {max(peaks) / 1e6:.0f} MB; sent {shelf.sent / 1e6:.0f} MB of {total / 1e6:.0f}; "
                f"{before / 1e6:.0f} before the kill; ranges {ranges}; second run {took:.1f} s"
            )


if __name__ == "__main__":
    _measured()
