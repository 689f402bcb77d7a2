"""A snapshot that somebody made to harm: sound by every hash, and still no more than data (SEC-10)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from audit.stories import BOOT
from holdfast import wiring
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock
from holdfast.config import Settings
from holdfast.control.snapshot import load_zstd
from holdfast.control.snapshot_file import copy_job
from holdfast.errors import Refused
from holdfast.ledger.postgres import PostgresLedger
from holdfast.model.demands import demands
from holdfast.model.job import Options
from holdfast.model.snapshot import Manifest
from holdfast.ports import Ledger
from snapshots.jobs import repacked, restored, sqlite_ledger, taken, write_jobs

Deceit = Callable[[Manifest, dict[str, bytes]], Manifest]
MB = 1024 * 1024
PEAK_BYTES_MAX = 160 * MB  # of the whole process, Python and all of the program in it
SECONDS_MAX = 20


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Rows only."""
    with closing(sqlite_ledger(tmp_path_factory.mktemp("rows") / "ledger.db")) as ledger:
        return taken(ledger, write_jobs(ledger)["court"])


def with_lines(table: str, lines: Iterator[bytes], rows: int | None = None, **packing: Any) -> Deceit:
    """The segment of this table with other lines in it, all hashes right."""

    def change(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        parts = list(manifest.segments)
        [place] = [n for n, part in enumerate(parts) if part.table == table]
        packer = load_zstd().ZstdCompressor(**packing)
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


# A process's peak as the kernel kept it since the program in it began; rusage would count its parent's, too.
MEASURED = """
import re, sys, time
from pathlib import Path
from holdfast.cli.main import main
code = main(sys.argv[1:])
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
print(code, peak, time.process_time())
"""


def measured(file: Path, folder: Path) -> tuple[int, int, float, str]:
    """`holdfast restore` in a process of its own: exit code, peak memory, CPU seconds, what it said."""
    words = [sys.executable, "-c", MEASURED, "restore", str(file), "--trust"]
    environ = {**os.environ, "HOLDFAST_MIN_FREE_MB": "0"}
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=True)
    code, peak, seconds = done.stdout.split()
    return int(code), int(peak), float(seconds), done.stderr


EVENT = b'[1,1,0,"","job","","","",""]\n'
WIDE = {load_zstd().CompressionParameter.window_log: 27, load_zstd().CompressionParameter.compression_level: 1}
BOMBS: dict[str, Callable[[], Deceit]] = {
    "very many rows": lambda: with_lines("event", (EVENT * (MB // len(EVENT)) for _ in range(258))),
    "one very long row": lambda: with_lines("event", (b" " * MB for _ in range(258)), rows=1),
    "a very large window": lambda: with_lines("event", (b" " * MB for _ in range(258)), rows=1, options=WIDE),
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
    assert (code, "larger than it may be" in said or "too much memory" in said) == (6, True), said
    assert peak < PEAK_BYTES_MAX
    assert seconds < SECONDS_MAX


def full_of_events(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
    """As many rows as a small file may have, each with a number of its own."""
    chunk = manifest.ids["chunk"][1]
    made = (b'[%d,%d,0,"","job","pause","paused","paused",""]\n' % (chunk, seq) for seq in range(150_000))
    return with_lines("event", iter([b"".join(made)]))(manifest, files)


def test_what_the_budgets_let_through_costs_little_memory_until_the_laws_refuse_it(
    stored: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "events.tar"
    file.write_bytes(repacked(stored, full_of_events))
    code, peak, seconds, said = measured(file, tmp_path)
    assert (code, "not those of a job" in said) == (6, True), said
    assert peak < 2 * PEAK_BYTES_MAX
    assert seconds < SECONDS_MAX


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """An empty one, of which nothing may be written."""
    opened: Ledger
    if request.param == "sqlite":
        opened = sqlite_ledger(tmp_path / "ledger.db")
    else:
        opened = PostgresLedger.open(request.getfixturevalue("pg_schema_url"), ManualClock(), BOOT)
    with closing(opened):
        yield opened


def rewritten(table: str, **values: Any) -> Deceit:
    """The first row of a table with other values, all hashes right."""

    def change(manifest: Manifest, files: dict[str, bytes]) -> Manifest:
        [shape] = [each for each in manifest.tables if each.table == table]
        [part] = [each for each in manifest.segments if each.table == table]
        names = [column.name for column in shape.columns]
        rows = [msgspec.json.decode(line) for line in load_zstd().decompress(files[part.name]).splitlines()]
        for name, value in values.items():
            rows[0][names.index(name)] = value
        return with_lines(table, iter([msgspec.json.encode(row) + b"\n" for row in rows]))(manifest, files)

    return change


LAWLESS: dict[str, tuple[Deceit, str]] = {
    "completed with pages pending": (rewritten("job", status="completed"), "L"),
    "a tally that counts too many": (rewritten("tally", n=4711), "L"),
    "an attempt of nobody's": (rewritten("attempt", n=77), "L"),
    "a history that begins in the middle": (rewritten("event", source="paused"), "L7"),
    "a record that was changed": (rewritten("record", doc="W10="), "F1.record"),
}


@pytest.mark.parametrize("name", LAWLESS)
def test_rows_that_break_a_law_are_refused_before_the_commit(
    name: str, stored: bytes, ledger: Ledger, tmp_path: Path
) -> None:
    """SEC-10: on SQLite and on PostgreSQL; what is wrong is said."""
    deceit, law = LAWLESS[name]
    with pytest.raises(Refused, match=rf"are not those of a job: .*\({law}") as refused:
        restored(ledger, tmp_path, repacked(stored, deceit))
    assert "nothing was restored" in refused.value.message
    assert_untouched(ledger, tmp_path)


@pytest.mark.parametrize("values", [{"doc": "W10="}, {"checksum": "W10="}], ids=["document", "checksum"])
def test_a_damaged_checkpoint_is_told_and_costs_a_restore_point_only(
    values: dict[str, str], ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SEC-10: the copy has it as it was; whatever else is wrong is refused all the same."""
    with closing(sqlite_ledger(tmp_path / "source.db")) as source:
        stored = taken(source, write_jobs(source)["marsh"])
    damaged = rewritten("checkpoint", **values)
    job = restored(ledger, tmp_path, repacked(stored, damaged))
    assert {found.check for found in verify(ledger.query, job.id)} == {"F3.chain"}
    assert "holdfast verify marsh" in caplog.text
    pending = repacked(repacked(stored, damaged), rewritten("job", status="completed"))
    with pytest.raises(Refused, match=r"are not those of a job: .*\(L"):
        restored(ledger, tmp_path, pending, name="other")
    fork = copy_job(wiring.storage(Settings(data=tmp_path)), ledger, job, "fork", actor="cli")
    assert ledger.books(fork.id)[1] == ledger.books(job.id)[1]


def assert_untouched(ledger: Ledger, folder: Path) -> None:
    assert ledger.jobs() == []
    assert ledger.query("SELECT count(*) FROM target") == [(0,)]
    assert not list((folder / "segments").rglob("*"))


def named(name: str) -> Deceit:
    return lambda manifest, files: msgspec.structs.replace(manifest, name=name)


@pytest.mark.parametrize("name", ["$(touch x)", "a b", "-rf", "J-7f3a", "~", "../x", "x;y", "ü", "a" * 200, "", "a\nb"])
def test_a_name_that_no_job_can_have_is_refused(name: str, stored: bytes, ledger: Ledger, tmp_path: Path) -> None:
    """SEC-10: it would stand in commands that people copy."""
    with pytest.raises(Refused, match="name that cannot be used"):
        restored(ledger, tmp_path, repacked(stored, named(name)))
    assert_untouched(ledger, tmp_path)
    assert restored(ledger, tmp_path, repacked(stored, named("docs.x-1~2"))).name == "docs.x-1~2"


WANTS: dict[str, tuple[Options, str]] = {
    "private addresses": (Options(allow_private=True), "allow_private: fetches from private addresses"),
    "one of them": (Options(allow=("127.0.0.1:22",)), "allow: fetches from these private addresses: 127.0.0.1:22"),
    "names elsewhere": (Options(resolve={"bank.test": "10.0.0.1:80"}), "other addresses: bank.test=10.0.0.1:80"),
    "a file": (Options(headers=(("X", "file:/etc/shadow"),)), "header X: sends what it finds here: file:/etc/shadow"),
    "a variable": (Options(headers=(("A", "b"), ("X", "env:TOKEN"))), "header X: sends what it finds here: env:TOKEN"),
    "a proxy": (Options(proxy="http://eve.test:1"), "proxy: fetches everything through http://eve.test:1"),
    "robots": (Options(ignore_robots=True), "ignore_robots: does not obey robots.txt"),
    "nofollow": (Options(nofollow="off"), "nofollow: does not obey nofollow"),
    "headers elsewhere": (
        Options(headers_to=("https://a.test", "any")),
        "sends its headers also to https://a.test, any",
    ),
    "certificates": (Options(ca_bundle="/tmp/eve.pem"), "ca_bundle: trusts also the certificates in /tmp/eve.pem"),
    "code": (Options(recipe_source="/tmp/evil.py:evil"), "recipe_source: runs the code in /tmp/evil.py:evil"),
    "what no row calls harmless": (Options(browser=True), "browser: True"),
    "what is never stored": (Options(private_headers=(("A", "b"),)), "private_headers: "),
}


@pytest.mark.parametrize("want", WANTS)
def test_what_a_job_wants_beyond_public_pages_is_said_and_needs_a_word(
    want: str, stored: bytes, tmp_path: Path
) -> None:
    """SEC-10: `--trust`, `trust=True`."""
    options, line = WANTS[want]
    asking = repacked(stored, rewritten("job", options=msgspec.json.encode(options).decode()))
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        with pytest.raises(Refused, match="wants more than public pages") as refused:
            restored(ledger, tmp_path, asking)
        assert line in refused.value.message
        assert "--trust" in refused.value.hint
        assert_untouched(ledger, tmp_path)
        assert restored(ledger, tmp_path, asking, trust=True).name == "court"


@pytest.mark.parametrize("given", ["/etc/passwd", {"path": "/etc/passwd", "sha256": ""}], ids=["documents", "images"])
def test_a_list_on_this_computer_is_said_and_needs_a_word(given: object, stored: bytes, tmp_path: Path) -> None:
    """SEC-10: also files that params name."""
    asking = repacked(stored, rewritten("job", params=msgspec.json.encode({"list": given}).decode()))
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        with pytest.raises(Refused, match="list: reads this file of this computer: /etc/passwd"):
            restored(ledger, tmp_path, asking)
        assert_untouched(ledger, tmp_path)
    assert demands(Options(), {"list": "https://e.example/list.csv"}) == ()


def test_a_job_that_only_fetches_public_pages_needs_no_word(stored: bytes, tmp_path: Path) -> None:
    """However fast it is to be, and whatever it sends that is no secret of this computer."""
    options = Options(delay_ms=1, concurrency=99, headers=(("Accept", "text/html"),), cookies=True, nofollow="all")
    quiet = repacked(stored, rewritten("job", options=msgspec.json.encode(options).decode()))
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        assert restored(ledger, tmp_path, quiet).options.concurrency == 99


def test_a_snapshot_whose_job_is_of_another_recipe_than_it_says_is_refused(stored: bytes, tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        with pytest.raises(Refused, match="does not begin with the job that it names"):
            restored(ledger, tmp_path, repacked(stored, rewritten("job", recipe="forum")))
        assert_untouched(ledger, tmp_path)
