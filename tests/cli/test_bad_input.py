"""Bad input and bad surroundings: the right code, a sentence, and nothing written (ux 3.5, C3, C7)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast, ledger_in, submit
from disks import mounted, sealed
from holdfast.config import Settings
from holdfast.demo.serving import WorldServer
from holdfast.dispatch.crashes import keep_traceback

PRIVATE = "127.0.0.1 is a private address; refused. To allow: --allow-private"


def test_a_private_seed_is_refused_and_nothing_is_asked_for(tree: WorldServer, tmp_path: Path) -> None:
    """C7."""
    asked = len(tree.asks())
    done = holdfast("crawl", *tree.oracle()["seeds"], cwd=tmp_path)
    assert (done.code, done.err) == (2, PRIVATE + "\n")
    assert len(tree.asks()) == asked
    assert holdfast("status", "--json", cwd=tmp_path).json()["jobs"] == []


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://localhost:1/", "http://[::1]/", "http://2130706433/"])
def test_every_spelling_of_a_private_address_is_refused(url: str, tmp_path: Path) -> None:
    done = holdfast("crawl", url, cwd=tmp_path)
    assert done.code == 2
    assert "is a private address; refused. To allow: --allow-private" in done.err


def test_the_metadata_address_is_refused_even_where_private_ones_are_allowed(tmp_path: Path) -> None:
    done = holdfast("crawl", "http://169.254.169.254/", "--allow-private", cwd=tmp_path)
    assert done.code == 2
    assert "cloud-metadata" in done.err


@pytest.mark.parametrize(
    "url", ["ftp://marsh.test/", "http://", "http://us er.test/", "http://a:b@marsh.test/", "x/ y", "not a url", ""]
)
def test_a_bad_url_is_refused(url: str, tmp_path: Path) -> None:
    done = holdfast("crawl", url, cwd=tmp_path)
    assert done.code == 2
    assert "is not an http or https URL" in done.err


@pytest.mark.parametrize("url", ["http://marsh.test:99999/", "marsh.test:65536", f"http://marsh.test:{'9' * 5000}/x"])
def test_a_port_that_is_none_is_said_to_be_what_is_wrong(url: str, tmp_path: Path) -> None:
    done = holdfast("crawl", url, cwd=tmp_path)
    assert (done.code, done.err) == (2, f"'{url}': a port is a number up to 65535\n")


def test_seeds_that_cannot_be_read_are_refused_without_numbers_for_programs(tmp_path: Path) -> None:
    (tmp_path / "toads.txt").write_bytes(b"\xff\xfe")
    missing = holdfast("crawl", "--seeds", "nope.txt", cwd=tmp_path)
    assert (missing.code, missing.err) == (2, "--seeds: nope.txt cannot be read: No such file or directory\n")
    unread = holdfast("crawl", "--seeds", "toads.txt", cwd=tmp_path)
    assert (unread.code, unread.err) == (2, "--seeds: toads.txt cannot be read: it is not UTF-8 text\n")


def test_a_data_folder_that_is_a_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "reeds").write_text("green")
    done = holdfast("crawl", "marsh.test", "--data", "reeds", cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith("The data folder ")
    assert done.err.endswith("reeds is a file (choose another with --data DIR)\n")


@pytest.mark.parametrize("word", ["toads", "toads~1", "J-12ab", "\u0166oads"])
def test_a_word_that_may_be_a_job_is_one_that_is_not_there(word: str, tmp_path: Path) -> None:
    assert holdfast("crawl", word, cwd=tmp_path).code == 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("resume", "frogs", "--extend", "-3s"), "--extend: '-3s' is not "),
        (("config", "set", "delay", "-3s"), "delay: '-3s' is not "),
        (("crawl", "marsh.test", "--max-bytes", "-5MB"), "--max-bytes: '-5MB' is not "),
        (("crawl", "marsh.test", "--delay", "-1"), "--delay: '-1' is not "),
    ],
)
def test_a_value_below_nothing_is_refused_as_one(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 2
    assert sentence in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "marsh.test", "--include", "re:("),
        ("crawl", "marsh.test", "--seeds", "missing.txt"),
        ("crawl", "marsh.test", "--allow", "frog"),
        ("crawl", "marsh.test", "--resolve", "a.test"),
        ("crawl", "marsh.test", "toad"),
        ("crawl", "marsh.test", "--database", "mysql://x"),
        ("targets", "frogs", "--where", "colour:green"),
        ("status", "--json=colour", "frogs"),
    ],
)
def test_bad_parameters_exit_with_2(words: tuple[str, ...], tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    done = holdfast(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["crawl", "status", "pause", "cancel", "resume", "targets", "verify", "export"])
def test_a_job_that_is_not_there_exits_with_5(verb: str, tmp_path: Path) -> None:
    words = [verb, "frogs", *(["-o", "-"] if verb == "export" else [])]
    assert holdfast(*words, cwd=tmp_path).code == 5
    with ledger_in(tmp_path) as ledger:
        submit(ledger, name="toads")
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 5
    assert "this ledger has: toads" in done.err


@pytest.mark.parametrize("words", [("crawl", "marsh.test"), ("status",), ("resume",), ()])
def test_a_file_in_place_of_the_data_folder_exits_with_2(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "holdfast-data").write_text("a frog")
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 2
    assert "--data DIR" in done.err
    assert (tmp_path / "holdfast-data").read_text() == "a frog"


def test_a_newer_ledger_is_refused_and_not_written(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    path = tmp_path / "holdfast-data" / "ledger.db"
    subprocess.run(["python3", "-c", BUMP, str(path)], check=True)
    before = _rows(path)
    for words in (("crawl", "frogs"), ("status",), ("pause", "frogs")):
        done = holdfast(*words, cwd=tmp_path)
        assert done.code == 9
        assert "schema 99" in done.err
    assert _rows(path) == before


BUMP = """
import sqlite3, sys
ledger = sqlite3.connect(sys.argv[1])
ledger.execute("UPDATE ledger SET schema_version = 99")
ledger.commit()
"""


def _rows(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_a_damaged_ledger_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "holdfast-data" / "ledger.db"
    path.parent.mkdir()
    path.write_bytes(b"SQLite format 4\x00" + bytes(range(256)) * 64)
    before = path.read_bytes()
    done = holdfast("crawl", "marsh.test", cwd=tmp_path)
    assert done.code == 9
    assert "is damaged" in done.err
    assert path.read_bytes() == before


def test_an_unreachable_database_exits_with_7(tmp_path: Path) -> None:
    done = holdfast("status", "--database", "postgresql://frog@127.0.0.1:1/marsh?connect_timeout=2", cwd=tmp_path)
    assert done.code == 7


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of 64 kB."""
    yield from mounted(tmp_path / "tiny", "size=64k")


@pytest.mark.parametrize("left_kb", [0, 4, 8, 16, 32, 36])
def test_a_disk_that_is_full_at_the_start_exits_with_14(tiny_disk: Path, tmp_path: Path, left_kb: int) -> None:
    """Also with room for some of the ledger's files: SQLite calls a lack of it by several names."""
    (tiny_disk / "ballast").write_bytes(b"\0" * (64 - left_kb) * 1024)
    done = holdfast("crawl", "marsh.test", "--data", str(tiny_disk / "data"), cwd=tmp_path)
    assert done.code == 14
    assert "no room" in done.err.lower()


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "read-only", "ro")


def test_a_data_folder_that_cannot_be_made_exits_with_2(read_only_disk: Path, tmp_path: Path) -> None:
    for folder in (read_only_disk, read_only_disk / "data", Path("/proc/data"), Path("/dev/null/data")):
        done = holdfast("crawl", "marsh.test", "--data", str(folder), cwd=tmp_path)
        assert done.code == 2, done.err
        assert f"the data folder {folder} cannot be" in done.err.lower()
        assert "--data DIR" in done.err


@pytest.fixture
def disk_to_be_sealed(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "sealed", "size=64m")


LOOKS = (
    ["jobs"], ["status"], ["status", "frogs", "--by", "host"], ["targets", "frogs"], ["errors", "frogs"],
    ["frontier", "frogs"], ["events", "frogs"], ["logs", "frogs"], ["checkpoints", "frogs"],
    ["verify", "frogs", "--deep"], ["explain", "frogs", "/p/1"], ["diff", "frogs", "R-1", "R-2"],
    ["export", "frogs", "-o", "-"], ["watch", "frogs", "--jsonl"],
)  # fmt: skip


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_data_folder_that_cannot_be_written_can_be_looked_at(
    is_killed: bool, disk_to_be_sealed: Path, tree: WorldServer, tmp_path: Path
) -> None:
    """Also with what a killed process left beside the ledger. Whoever would write is told so, and what to do."""
    data = disk_to_be_sealed / "data"
    here = ("--data", str(data))
    for more in ((), ("--mode", "full")):
        assert holdfast(*crawl_words(tree, *more), *here, cwd=tmp_path).code == 0
    exported = holdfast("export", "frogs", "-o", "-", *here, cwd=tmp_path).out
    if is_killed:
        change_and_be_killed(data / "ledger.db", "UPDATE job SET because = 'only in the -wal'")
    sealed(disk_to_be_sealed)
    looked = [(words, holdfast(*words, *here, cwd=tmp_path)) for words in LOOKS]
    assert [(words, done.err) for words, done in looked if done.code] == []
    assert holdfast("export", "frogs", "-o", "-", *here, cwd=tmp_path).out == exported
    because = holdfast("status", "frogs", "--json=because", *here, cwd=tmp_path).json()["because"]
    assert (because == "only in the -wal") == is_killed
    for words in (["crawl", "frogs", "--mode", "full"], ["label", "frogs", "T-1", "keep"]):
        done = holdfast(*words, *here, cwd=tmp_path)
        assert (done.code, "cannot be written" in done.err) == (2, True), done.err
        assert "copy it and name the copy with --data DIR" in done.err


def change_and_be_killed(ledger: Path, sql: str) -> None:
    """A -wal with the change in it and a -shm: who closes the file leaves neither."""
    code = "import os, sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute(sys.argv[2]); file.commit(); "
    words = [sys.executable, "-c", f"{code}os.kill(os.getpid(), 9)", str(ledger), sql]
    assert subprocess.run(words, check=False).returncode == -9
    assert ledger.with_name("ledger.db-wal").stat().st_size > 0


@pytest.fixture
def disk_without_names(tmp_path: Path) -> Iterator[Path]:
    """A filesystem with room, and with a name for the data folder only."""
    yield from mounted(tmp_path / "nameless", "size=4m,nr_inodes=2")


def test_a_disk_without_names_at_the_start_exits_with_14(disk_without_names: Path, tmp_path: Path) -> None:
    done = holdfast("crawl", "marsh.test", "--data", str(disk_without_names / "data"), cwd=tmp_path)
    assert done.code == 14, done.err
    assert "no room for another file" in done.err.lower()


def test_a_disk_that_is_low_pauses_the_job_by_itself(tree: WorldServer, tmp_path: Path) -> None:
    words = ["crawl", *tree.oracle()["seeds"], "--allow", tree.address, "--name", "frogs"]
    done = holdfast(*words, cwd=tmp_path, HOLDFAST_MIN_FREE_MB="999999999")
    assert done.code == 14
    assert "MB free: paused frogs, 0 pages not saved. Free " in done.err
    assert done.err.splitlines()[-2].startswith("Paused  frogs  ")
    found = holdfast("status", "frogs", "--json=status,paused_by,stop_reason,because", cwd=tmp_path).json()
    assert found.pop("because").startswith("too little room on the disk")  # it is not full
    assert found == {"status": "paused", "paused_by": "disk_full", "stop_reason": "disk_full"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_job_that_paused_for_want_of_room_stays_paused_until_there_is_some(
    tree: WorldServer, small_disk: Path, tmp_path: Path
) -> None:
    """Without room for the reserve, not even the next pause could be written; how much to free is enough for it."""
    data = ("--data", str(small_disk / "data"))
    words = ["crawl", *tree.oracle()["seeds"], "--allow", tree.address, "--name", "frogs", "--delay", "0", *data]
    assert holdfast(*words, cwd=tmp_path, HOLDFAST_MIN_FREE_MB="999999999").code == 14
    (small_disk / "data" / "reserve").unlink(missing_ok=True)
    filler = small_disk / "filler"
    filler.write_bytes(b"\0" * (shutil.disk_usage(small_disk).free - 1_500_000))
    done = holdfast("resume", "frogs", *data, cwd=tmp_path)
    assert done.code == 14, done.err
    assert "Disk low, 1 MB free: frogs stays paused" in done.err
    assert done.err.splitlines()[-2].startswith("Paused  frogs  ")
    found = holdfast("status", "frogs", "--json=status,paused_by", *data, cwd=tmp_path).json()
    assert found == {"status": "paused", "paused_by": "disk_full"}
    said = re.search(r" Free ([0-9]+) MB, then: holdfast resume frogs", done.err)
    assert said is not None
    os.truncate(filler, filler.stat().st_size - int(said[1]) * 1_000_000)
    more = holdfast("resume", "frogs", *data, cwd=tmp_path)
    assert "Resuming frogs: " in more.err
    assert (more.code, more.err.splitlines()[-2][:6]) == (14, "Paused")  # the next pause was written
    filler.unlink()
    assert holdfast("resume", "frogs", *data, cwd=tmp_path).code == 0


def test_an_unexpected_error_leaves_its_traceback_in_a_file_and_says_where(tmp_path: Path) -> None:
    """ERR-04: people are told in a sentence."""
    done = holdfast("crawl", "marsh.test", cwd=tmp_path, HOLDFAST_FAULT="submit.after_commit:1:raise")
    assert done.code == 1
    assert "Nothing that was saved is lost" in done.err
    [log] = (tmp_path / "holdfast-data" / "logs").iterdir()
    assert str(log.relative_to(tmp_path)) in done.err
    assert "InjectedFault" in log.read_text()
    assert "Traceback" not in done.err


def test_a_data_folder_that_has_vanished_is_not_made_anew_to_keep_a_traceback(tmp_path: Path) -> None:
    """With it goes the ledger, and a folder of that name would look like the first use."""
    error = keep_traceback(Settings(data=tmp_path / "data"), RuntimeError("pond"))
    assert error.message == f"Unexpected: RuntimeError: pond. The data folder {tmp_path / 'data'} is not there"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [("status", "frogs", "--json"), ("--json", "status", "frogs"), ("--json", "crwl")])
def test_with_json_an_error_is_a_problem_on_stderr(words: tuple[str, ...], tmp_path: Path) -> None:
    done = holdfast(*words, cwd=tmp_path)
    problem = json.loads(done.err)
    assert done.out == ""
    assert problem["exit_code"] == done.code
    assert {"type", "title", "status", "detail", "instance", "code", "retryable", "hint"} <= set(problem)
