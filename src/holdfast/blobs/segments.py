"""WARC segments: page bodies appended to files of one writer and one job, read back by reference.

The truth is the ledger's (segment, offset, length, sha256). Unreferenced bytes are legal anywhere, so nothing scans a
segment, cuts it, or writes to one that it did not create; after any error a segment is never written again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec

from holdfast.blobs.publish import DISK, NEW_FILE, NO_ROOM, Disk, file_mode, make_directory, refusal, sync_directory
from holdfast.blobs.warc import MEMBER_BYTES_MAX, answer_of, damaged, member, payload
from holdfast.errors import BadParams, HoldfastError, NotFound
from holdfast.faults import point
from holdfast.model.outcome import SEGMENT_NAME, Body, BodyRef, is_segment

SEGMENT_BYTES_MAX = 256 * 1024 * 1024


class Segments:
    """`Blobs` in files below `root`. `writer` names one start of one process, so that no two ever share a file."""

    def __init__(
        self,
        root: Path,
        job_uid: str,
        writer: str,
        *,
        segment_bytes_max: int = SEGMENT_BYTES_MAX,
        disk: Disk = DISK,
    ) -> None:
        for name in (job_uid, writer):
            if not SEGMENT_NAME.fullmatch(name):
                raise BadParams(f"{name!r} cannot be part of a segment's name")
        self._root, self._job_uid, self._writer = root, job_uid, writer
        self._segment_bytes_max, self._disk = segment_bytes_max, disk
        self._numbers = count(1)
        self._segment: _Open | None = None

    def pack(self, body: Body) -> Body:
        """Pure, and most of it without the interpreter."""
        if body.member:
            return body
        if not body.sha256:
            body = msgspec.structs.replace(body, sha256=sha256(body.content).digest())
        return msgspec.structs.replace(body, member=member(body))

    def append(self, bodies: Sequence[Body]) -> list[BodyRef]:
        """Store a group with one fsync. On any error nothing was stored, and the next call begins a new segment."""
        packed = [self.pack(body) for body in bodies]
        if not packed:
            return []
        try:
            return self._writable(sum(len(body.member) for body in packed)).append(packed)
        except OSError as error:
            raise self._abandoned(error) from error
        except BaseException:  # an armed fault, a second Ctrl-C: what the file holds now is not known
            self.close()
            raise

    def read(self, reference: BodyRef) -> bytes:
        """The decoded body, checked; Corrupt where it differs, NotFound where its segment is missing."""
        return payload(self._stored(reference), reference)

    def answer(self, reference: BodyRef) -> Body:
        """The same with what the record says of it: URL, status, headers, time."""
        return answer_of(self._stored(reference), reference)

    def raw_member(self, reference: BodyRef) -> bytes:
        """The gzip member as it lies there, checked like `read`: a WARC export copies it."""
        stored = self._stored(reference)
        payload(stored, reference)
        return stored

    def close(self) -> None:
        """Write to this segment no more. What `append` returned is on the disk already."""
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    def _writable(self, bytes_wanted: int) -> _Open:
        if self._segment is not None and not self._segment.takes(bytes_wanted, self._segment_bytes_max):
            self.close()
        if self._segment is None:
            directory = self._root / self._job_uid
            make_directory(directory, disk=self._disk, mode=None)
            self._segment = self._create()
            sync_directory(directory, disk=self._disk)
        return self._segment

    def _create(self) -> _Open:
        mode = file_mode(self._root / self._job_uid)
        while True:
            name = f"{self._job_uid}/{self._writer}-{next(self._numbers)}.warc.gz"
            with suppress(FileExistsError):
                return _Open(name, os.open(self._root / name, NEW_FILE, mode), self._disk)

    def _abandoned(self, error: OSError) -> HoldfastError:
        name = f"{self._job_uid}/{self._writer}"
        if self._segment is not None:
            name = self._segment.name
            if error.errno in NO_ROOM:
                self._segment.give_back(self._root)
            self.close()
        return refusal(error, self._root / name)

    def _stored(self, reference: BodyRef) -> bytes:
        """The referenced bytes. References may come from a restored snapshot, so neither path nor length is trusted."""
        if not is_segment(reference.segment) or reference.offset < 0:
            raise damaged(reference, "has an impossible reference")
        if not 0 < reference.length <= MEMBER_BYTES_MAX:
            raise damaged(reference, f"claims {reference.length} stored bytes")
        try:
            descriptor = os.open(self._root / reference.segment, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                return _read_all(descriptor, reference)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unreadable(error, reference) from error


class _Open:
    """A segment being written, by the process that created it."""

    def __init__(self, name: str, descriptor: int, disk: Disk) -> None:
        self.name = name
        self._descriptor, self._disk = descriptor, disk
        self._offset = self._kept = 0
        self._pid = os.getpid()

    def takes(self, bytes_wanted: int, bytes_max: int) -> bool:
        """Room is left, and this is not a fork's copy of its parent's segment."""
        return self._offset + bytes_wanted <= bytes_max and self._pid == os.getpid()

    def append(self, packed: Sequence[Body]) -> list[BodyRef]:
        begin = self._offset
        self._write(memoryview(b"".join([body.member for body in packed])))
        point("segment.before_fsync")
        self._disk.fdatasync(self._descriptor)
        point("segment.after_fsync")
        references = []
        for body in packed:
            length = len(body.member)
            references.append(BodyRef(self.name, begin, length, len(body.content), body.sha256, body.media))
            begin += length
        self._kept = self._offset
        return references

    def give_back(self, root: Path) -> None:
        """Free what no reference was given for: on a full disk the ledger needs that room to write its pause."""
        with suppress(OSError):
            if self._kept:
                os.ftruncate(self._descriptor, self._kept)
            else:
                (root / self.name).unlink()

    def close(self) -> None:
        with suppress(OSError):  # everything acknowledged is fsynced; the rest is unreferenced
            os.close(self._descriptor)

    def _write(self, rest: memoryview) -> None:
        while rest:
            try:
                written = self._disk.pwrite(self._descriptor, rest, self._offset)
            except InterruptedError:
                continue
            if written <= 0:
                raise OSError(errno.EIO, "the disk took no byte")
            self._offset += written
            rest = rest[written:]


def _read_all(descriptor: int, reference: BodyRef) -> bytes:
    parts, missing = [], reference.length
    while missing:
        part = os.pread(descriptor, missing, reference.offset + reference.length - missing)
        if not part:
            raise damaged(reference, f"lacks its last {missing} bytes: the file ends there")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _unreadable(error: OSError, reference: BodyRef) -> HoldfastError:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"segment {reference.segment} is missing")
    if error.errno in (errno.EIO, errno.ELOOP):
        return damaged(reference, f"cannot be read ({error.strerror})")
    return refusal(error, reference.segment)
