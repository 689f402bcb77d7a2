"""Bodies are on the disk before their references exist, and no error makes a later one false."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from blobs.bodies import Witness, half_pwrite, make_body, nth_call_fails, room_for_one_write
from holdfast import faults
from holdfast.blobs.publish import Disk
from holdfast.blobs.segments import Segments
from holdfast.errors import BadParams, Corrupt, DiskFull, LedgerUnavailable, LedgerUnfit, NotFound
from holdfast.model.outcome import Body, BodyRef

FROGS = [make_body(number) for number in range(5)]
TOADS = [make_body(number) for number in range(5, 8)]


@pytest.fixture
def _disarmed() -> Iterator[None]:
    yield
    faults.arm("")


def contents(blobs: Segments, references: list[BodyRef]) -> list[bytes]:
    return [blobs.read(reference) for reference in references]


def bytes_of(bodies: list[Body]) -> list[bytes]:
    return [body.content for body in bodies]


def test_every_record_of_a_segment_is_read_by_an_independent_reader(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-7f3a", "w1")
    references = blobs.append(FROGS) + blobs.append(TOADS)
    with (tmp_path / "J-7f3a" / "w1-1.warc.gz").open("rb") as file:
        records = [
            (r.rec_headers.get_header("WARC-Target-URI"), r.content_stream().read(), r.digest_checker.passed)
            for r in ArchiveIterator(file, check_digests="raise")
        ]
    assert records == [(body.url, body.content, True) for body in FROGS + TOADS]
    assert contents(blobs, references) == bytes_of(FROGS + TOADS)


def test_a_reference_carries_what_the_ledger_keeps(tmp_path: Path) -> None:
    first, second = Segments(tmp_path, "J-7f3a", "w1").append(FROGS[:2])
    body = FROGS[1]
    assert second == BodyRef(
        "J-7f3a/w1-1.warc.gz", first.length, second.length, len(body.content), body.sha256, "text/html"
    )
    assert (tmp_path / second.segment).stat().st_size == first.length + second.length


def test_nothing_is_created_before_there_is_something_to_keep(tmp_path: Path) -> None:
    blobs = Segments(tmp_path / "segments", "J-1", "w1")
    assert blobs.append([]) == []
    blobs.close()
    assert list(tmp_path.iterdir()) == []


def test_a_group_costs_one_fsync_and_a_new_segment_makes_its_names_durable_first(tmp_path: Path) -> None:
    witness = Witness()
    blobs = Segments(tmp_path / "segments", "J-1", "w1", disk=witness.disk)
    blobs.append(FROGS)
    file = tmp_path / "segments" / "J-1" / "w1-1.warc.gz"
    assert witness.seen[-5:] == [
        ("fsync directory", tmp_path),
        ("fsync directory", tmp_path / "segments"),
        ("fsync directory", file.parent),
        ("pwrite", file),
        ("fdatasync", file),
    ]
    witness.seen.clear()
    blobs.append(TOADS)
    assert witness.seen == [("pwrite", file), ("fdatasync", file)]


def test_short_writes_shift_no_offset(tmp_path: Path) -> None:
    """D5: a write may take less than it was given."""
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(pwrite=half_pwrite))
    references = blobs.append(FROGS) + blobs.append(TOADS)
    assert contents(blobs, references) == bytes_of(FROGS + TOADS)


def test_an_interrupted_write_goes_on(tmp_path: Path) -> None:
    interrupted = nth_call_fails(1, errno.EINTR, os.pwrite)
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(pwrite=interrupted))
    assert contents(blobs, blobs.append(FROGS)) == bytes_of(FROGS)


def test_a_disk_that_takes_nothing_is_an_error_and_no_endless_loop(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(pwrite=lambda *_: 0))
    with pytest.raises(LedgerUnfit, match=r"the disk refused to keep .*w1-1"):
        blobs.append(FROGS)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("call", ["pwrite", "fdatasync", "fsync"])
def test_no_room_is_said_as_such_wherever_it_shows(tmp_path: Path, call: str, number: int) -> None:
    """D2: writing, syncing and making a name can each find the disk full."""
    disk = Disk(**{call: nth_call_fails(1, number, getattr(os, call))})
    blobs = Segments(tmp_path, "J-1", "w1", disk=disk)
    with pytest.raises(DiskFull, match="no room to save"):
        blobs.append(FROGS)
    assert contents(blobs, blobs.append(FROGS)) == bytes_of(FROGS)


def test_a_full_disk_gets_back_the_room_of_what_was_not_kept(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(pwrite=room_for_one_write()))
    references = blobs.append(FROGS)
    kept = (tmp_path / references[0].segment).stat().st_size
    for _ in range(3):
        with pytest.raises(DiskFull):
            blobs.append(TOADS)
    assert {file.name: file.stat().st_size for file in (tmp_path / "J-1").iterdir()} == {"w1-1.warc.gz": kept}
    assert contents(blobs, references) == bytes_of(FROGS)


@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_after_a_failed_write_or_fsync_the_segment_is_never_written_again(tmp_path: Path, call: str) -> None:
    """D3: what a failed fsync left behind is not known, and a second fsync may lie about it."""
    disk = Disk(**{call: nth_call_fails(2, errno.EIO, getattr(os, call))})
    blobs = Segments(tmp_path, "J-1", "w1", disk=disk)
    before = blobs.append(FROGS)
    with pytest.raises(LedgerUnfit, match="the disk refused to keep"):
        blobs.append(TOADS)
    size = (tmp_path / before[0].segment).stat().st_size
    after = blobs.append(TOADS)
    assert {reference.segment for reference in after} == {"J-1/w1-2.warc.gz"}
    assert (tmp_path / before[0].segment).stat().st_size == size
    assert contents(blobs, before + after) == bytes_of(FROGS + TOADS)


def test_a_failed_fsync_of_the_directory_abandons_the_new_segment(tmp_path: Path) -> None:
    (tmp_path / "J-1").mkdir()
    disk = Disk(fsync=nth_call_fails(2, errno.EIO, os.fsync))
    blobs = Segments(tmp_path, "J-1", "w1", disk=disk)
    with pytest.raises(LedgerUnfit):
        blobs.append(FROGS)
    assert blobs.append(FROGS)[0].segment == "J-1/w1-2.warc.gz"


@pytest.mark.usefixtures("_disarmed")
@pytest.mark.parametrize("name", ["segment.before_fsync", "segment.after_fsync"])
def test_a_fault_around_the_fsync_abandons_the_segment(tmp_path: Path, name: str) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    before = blobs.append(FROGS)
    faults.arm(f"{name}:1:unknown")
    with pytest.raises(LedgerUnavailable, match=name):
        blobs.append(TOADS)
    assert blobs.append(TOADS)[0].segment == "J-1/w1-2.warc.gz"
    assert contents(blobs, before) == bytes_of(FROGS)


def test_too_many_open_files_is_a_reason_to_try_again(tmp_path: Path) -> None:
    """D5: EMFILE backs off, it does not fail the page."""
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(pwrite=nth_call_fails(1, errno.EMFILE, os.pwrite)))
    with pytest.raises(LedgerUnavailable, match="at the moment"):
        blobs.append(FROGS)


def test_a_full_segment_is_followed_by_the_next(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1", segment_bytes_max=2_000)
    references = [blobs.append([make_body(n, content=os.urandom(900))])[0] for n in range(5)]
    assert [reference.segment for reference in references] == [f"J-1/w1-{n}.warc.gz" for n in range(1, 6)]
    assert all(file.stat().st_size <= 2_000 for file in (tmp_path / "J-1").iterdir())


def test_a_group_larger_than_a_segment_is_still_kept(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1", segment_bytes_max=10)
    assert contents(blobs, blobs.append(FROGS)) == bytes_of(FROGS)


def test_two_writers_never_share_a_file_even_under_one_name(tmp_path: Path) -> None:
    one, same, other = (Segments(tmp_path, "J-1", writer) for writer in ("w1", "w1", "w2"))
    groups = [blobs.append(FROGS) for blobs in (one, same, other, one)]
    names = [{reference.segment for reference in group} for group in groups]
    assert names == [{"J-1/w1-1.warc.gz"}, {"J-1/w1-2.warc.gz"}, {"J-1/w2-1.warc.gz"}, {"J-1/w1-1.warc.gz"}]
    assert all(contents(other, group) == bytes_of(FROGS) for group in groups)


def test_a_file_that_was_there_before_is_not_touched(tmp_path: Path) -> None:
    """D11: what another start of this writer left behind stays as it is."""
    (tmp_path / "J-1").mkdir()
    (tmp_path / "J-1" / "w1-1.warc.gz").write_bytes(b"half a rec")
    assert Segments(tmp_path, "J-1", "w1").append(FROGS)[0].segment == "J-1/w1-2.warc.gz"
    assert (tmp_path / "J-1" / "w1-1.warc.gz").read_bytes() == b"half a rec"


FORKING = """
import os, sys
from pathlib import Path
from blobs.bodies import make_body
from holdfast.blobs.segments import Segments
blobs = Segments(Path(sys.argv[1]), "J-1", "w1")
blobs.append([make_body(1)])
child = os.fork()
if child:
    os.waitpid(child, 0)
print(blobs.append([make_body(2)])[0].segment, flush=True)
"""


def test_a_forked_process_does_not_write_into_its_parents_segment(tmp_path: Path) -> None:
    """D4: both would write at the same offset."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING, tmp_path], capture_output=True, text=True, check=True, env=beside()
    )
    assert done.stdout.split() == ["J-1/w1-2.warc.gz", "J-1/w1-1.warc.gz"]


WRITING = """
import sys
from pathlib import Path
import msgspec
from blobs.bodies import make_body
from holdfast.blobs.segments import Segments
blobs = Segments(Path(sys.argv[1]), "J-1", "w1")
for number in range(200):
    (reference,) = blobs.append([make_body(number)])
    print(msgspec.json.encode(reference).decode(), flush=True)
"""


def test_pages_are_readable_while_another_process_writes_on(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "reader")
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=beside()) as writer:
        assert writer.stdout is not None
        seen = [blobs.read(msgspec.json.decode(line, type=BodyRef)) for line in writer.stdout]
    assert seen == [make_body(number).content for number in range(200)]


def beside() -> dict[str, str]:
    """The environment of a child that imports what this process imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_flipped_byte_is_corrupt_and_named_by_segment_and_offset(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    reference = blobs.append(FROGS)[3]
    file = tmp_path / reference.segment
    stored = bytearray(file.read_bytes())
    stored[reference.offset + reference.length // 2] ^= 1
    file.write_bytes(stored)
    for reading in (blobs.read, blobs.raw_member):
        with pytest.raises(Corrupt, match=rf"J-1/w1-1\.warc\.gz at offset {reference.offset}"):
            reading(reference)


def test_a_missing_segment_is_not_found_and_a_cut_one_is_corrupt(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    reference = blobs.append(FROGS)[4]
    os.truncate(tmp_path / reference.segment, reference.offset + 10)
    with pytest.raises(Corrupt, match=f"lacks its last {reference.length - 10} bytes"):
        blobs.read(reference)
    (tmp_path / reference.segment).unlink()
    with pytest.raises(NotFound, match="J-1/w1-1"):
        blobs.read(reference)


@pytest.mark.parametrize("segment", ["../secret.warc.gz", "/etc/secret.warc.gz", "J-1/../x.warc.gz", "J-1/x", ""])
def test_a_reference_cannot_lead_out_of_the_root(tmp_path: Path, segment: str) -> None:
    """H13: a restored ledger may hold references that somebody made up."""
    blobs = Segments(tmp_path / "segments", "J-1", "w1")
    (reference,) = blobs.append(FROGS[:1])
    (tmp_path / "segments" / reference.segment).rename(tmp_path / "secret.warc.gz")
    with pytest.raises(Corrupt, match="impossible reference"):
        blobs.read(replace(reference, segment=segment))


def test_a_segment_that_is_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    (reference,) = blobs.append(FROGS[:1])
    file = tmp_path / reference.segment
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Corrupt):
        blobs.read(reference)


@pytest.mark.parametrize("change", [{"offset": -1}, {"length": 0}, {"length": -5}, {"length": 1 << 40}])
def test_an_impossible_reference_is_corrupt_before_anything_is_read(tmp_path: Path, change: dict[str, int]) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    (reference,) = blobs.append(FROGS[:1])
    with pytest.raises(Corrupt):
        blobs.read(replace(reference, **change))


def test_raw_members_put_together_are_a_warc_file(tmp_path: Path) -> None:
    blobs = Segments(tmp_path, "J-1", "w1")
    references = blobs.append(FROGS)
    copy = tmp_path / "export.warc.gz"
    copy.write_bytes(b"".join(blobs.raw_member(reference) for reference in reversed(references)))
    with copy.open("rb") as file:
        found = [record.content_stream().read() for record in ArchiveIterator(file, check_digests="raise")]
    assert found == bytes_of(FROGS)[::-1]


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "w 1"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadParams):
        Segments(tmp_path, name, "w1")
    with pytest.raises(BadParams):
        Segments(tmp_path, "J-1", name)


def test_closing_keeps_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    blobs = Segments(tmp_path, "J-1", "w1", disk=Disk(fdatasync=nth_call_fails(2, errno.EIO, os.fdatasync)))
    references = blobs.append(FROGS)
    with pytest.raises(LedgerUnfit):
        blobs.append(TOADS)
    blobs.append(TOADS)
    blobs.read(references[0])
    blobs.close()
    assert len(os.listdir("/proc/self/fd")) == before
