"""A file on its way to the disk: written and hashed piece by piece as it comes in, continued by the next try.

Beside it lies a small note: which version of which URL it is, and up to where it is certainly on the disk. While the
computer has not been started anew, all of it counts (the page cache outlives a killed process); after that, only what
was synced. A file gets its note when a megabyte of it is there, or when its try failed: most files are whole before,
and a note costs as much as the file. The file is locked as long as its writer lives: without a lock it
has no writer and may be continued. What the disk has once refused to sync is never continued: the kernel may hold
those pages for clean, and the next fsync would say nothing of them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from holdfast.blobs.publish import DISK, Disk, file_mode, make_directory, publish, refusal
from holdfast.errors import FetchError, HoldfastError
from holdfast.faults import point
from holdfast.model.exchange import Headers
from holdfast.policy.resuming import Note, resumes_at

HELD_BYTES_MAX = 1 << 18  # in memory, of one file: libcurl brings 16 KB at a time, and a small file is written at once
NOTE_BYTES = 1 << 20  # a kill before that costs no more than that
SYNC_BYTES = 32 * 1024 * 1024  # between two moments at which what has come in is made durable
READ_BYTES = 1 << 20
PART, NOTE = ".part", ".json"


class Partial:
    """One file being downloaded. Fulfils `ports.PartialFile`. It is made when its first bytes are written, or by
    `take_up`; `size` counts what has come in, and only `settle` makes all of that readable at `path`."""

    def __init__(
        self,
        folder: Path,
        name: str,
        wanted: Note,
        *,
        boot: str,
        threads: ThreadPoolExecutor,
        disk: Disk = DISK,
        mode: int = 0,
    ) -> None:
        """`mode`: the permissions of files in the folder, where they are known; 0: they are looked up."""
        self._folder, self._boot, self._threads, self._disk, self._mode = folder, boot, threads, disk, mode
        self._call(name)
        self._note = wanted
        self._bytes_max = 0
        self._syncing: Future[None] | None = None
        self._descriptor = -1
        self._is_spoilt = False  # by a sync that failed
        self._is_over = False
        self._is_new = True  # nothing of an earlier try was seen
        self._may_have_note = True
        self._held: list[bytes] = []  # what has come in and is not written yet
        self.size, self._written, self._hash, self._asked, self._noted = 0, 0, sha256(), 0, False
        self._hashed = 0  # bytes; more than are written where all of a small file is held

    @property
    def path(self) -> Path:
        return Path(self._part)

    def readable(self) -> Path:
        """Where all of it can be read, for a step that hands it to others; at the end of its attempt it is gone."""
        if not self._is_over:
            self.settle()
        return self.path

    @property
    def is_left(self) -> bool:
        """Whether an earlier try left something that `take_up` may continue."""
        return os.path.exists(self._note_path)

    @property
    def is_at_rest(self) -> bool:
        return self._syncing is None or self._syncing.done()

    @property
    def sha256(self) -> bytes:
        """Of what is written, or of all of it once it is `whole`."""
        return self._hash.digest()

    @property
    def asking(self) -> Headers:
        """The headers that ask for the rest of it only, if it is still the same; empty where all of it is wanted."""
        if not self.size:
            return ()
        return (("Range", f"bytes={self.size}-"), ("If-Range", self._note.validator))

    def limit(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max

    def begin(self, status: int, headers: Headers) -> bool:
        """Whether the body of this answer goes here. Called once, before the first `write`."""
        if not 200 <= status < 300:
            return False
        at = resumes_at(self._note, self.size, status, headers)
        if at is None:  # another version, or another part than was asked for: it is not what lies here
            self.forget()
            raise FetchError("body_incomplete", "the rest of the file was not what was asked for", status=status)
        if at == 0:
            self._empty()
        self._note = self._note.of_answer(headers, at, boot=self._boot)
        if self._note.total is not None and self._note.total > self._bytes_max:
            raise self._too_large()
        return True

    def write(self, chunk: bytes) -> None:
        """More of it. Raises where there is no room, on the disk or in the budget."""
        if self.size + len(chunk) > self._bytes_max:
            raise self._too_large()
        self._held.append(chunk)
        self.size += len(chunk)
        if self.size - self._written >= HELD_BYTES_MAX:
            self._flush()
            if self._written - self._asked >= (SYNC_BYTES if self._noted else NOTE_BYTES):
                self._ask_sync()

    def sync(self, size: int) -> None:
        """So many bytes, which are written, are on the disk, and then the note says so."""
        note, self._noted = self._note, True
        self._may_have_note = True
        point("file.before_sync")
        self._confirm(self._disk.fdatasync)
        self._asked = size
        if note.validator:
            text = msgspec.json.encode(msgspec.structs.replace(note, synced=size, boot=self._boot))
            publish(Path(self._note_path), lambda file: file.write(text), disk=self._disk, ours=True)

    def whole(self) -> None:
        """All of it has come in. A small file stays in memory, and is written where the disk is waited for anyway."""
        if self._descriptor >= 0:
            self.settle()
        elif self._hashed < self.size:
            body = b"".join(self._held)
            self._hash.update(body)
            self._held, self._hashed = [body], len(body)

    def ends(self, size: int) -> tuple[bytes, bytes]:
        """The first and the last so many bytes of a whole file."""
        if self._descriptor < 0:
            body = self._held[0] if self._held else b""
            return body[:size], body[max(0, len(body) - size) :]
        try:
            last = os.pread(self._descriptor, size, max(0, self._written - size))
            return os.pread(self._descriptor, size, 0), last
        except OSError as error:
            raise refusal(error, self.path) from error

    def settle(self) -> None:
        """All that has come in is written, and nothing is under way; raises what went wrong with it."""
        self._flush()
        self._wait()

    def _wait(self) -> None:
        syncing, self._syncing = self._syncing, None
        if syncing is not None:
            try:
                syncing.result()
            except OSError as error:
                raise refusal(error, self.path) from error

    def make_durable(self) -> None:
        """The whole file, before it gets its name."""
        self.settle()
        point("file.before_fsync")
        try:
            self._confirm(self._disk.fsync)
        except OSError as error:
            raise refusal(error, self.path) from error

    def forget(self) -> None:
        """The next try begins with the first byte."""
        with suppress(HoldfastError, OSError):
            self._wait()
        self._empty()

    def close(self, *, keep: bool) -> None:
        """Let go of it. Without a note, or spoilt, it could not be continued: it is removed, as by `keep=False`."""
        keep = keep and not self._is_spoilt
        with suppress(HoldfastError, OSError):
            if keep and self.size and self._note.validator:
                self.settle()
                if not self._noted:
                    self.sync(self._written)
            else:
                self._wait()
        self._is_over = True
        if self._descriptor >= 0:
            if self._is_spoilt or not (keep and self.size and os.path.exists(self._note_path)):
                self.remove()
            self.let_go()

    def let_go(self) -> None:
        """Of its lock: what has its name by now needs none."""
        os.close(self._descriptor)
        self._descriptor, self.size, self._held = -1, 0, []

    def __del__(self) -> None:
        """Afterwards another process may continue it, or sweep it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def remove(self) -> None:
        """Take its name and its note away: it is published under another, or not wanted."""
        if self._may_have_note:
            _unlink(self._note_path)
        _unlink(self._part)

    def take_up(self) -> None:
        """Take what an earlier try left, as far as it can be trusted, and hash it."""
        self._is_new = False
        try:
            self._open()
        except OSError as error:
            raise refusal(error, self.path) from error

    def _open(self) -> None:
        if self._is_new and self._mode and (descriptor := _new(self._part, self._mode)) >= 0:
            self._descriptor, self._may_have_note = descriptor, False  # a note is only made of a file that is there
            return
        try:
            self._descriptor = self._made()
        except BlockingIOError:  # another try of the same key is under way: this one is not continued
            self._call(f"{self.path.stem}-{secrets.token_hex(8)}")
            self._descriptor = self._made()
        note = read_note(self.path) if not self._held else None
        if note is not None and note.is_of(self._note):
            there = os.fstat(self._descriptor).st_size
            known = there if note.boot == self._boot else min(there, note.synced)
            if known > 0:
                self._note = note
                self._noted = note.boot == self._boot
                self._take(known if note.total is None else min(known, note.total - 1))
        if not self._written:
            _unlink(self._note_path)  # it is of other bytes than will lie here
        if os.fstat(self._descriptor).st_size != self._written:
            os.ftruncate(self._descriptor, self._written)

    def _made(self) -> int:
        try:
            return _locked(self._part, file_mode(self._folder))
        except FileNotFoundError:
            make_directory(self._folder, disk=self._disk, mode=None)
            return _locked(self._part, file_mode(self._folder))

    def _call(self, name: str) -> None:
        """As text: a `Path` is made where somebody asks for one."""
        self._part, self._note_path = f"{self._folder}/{name}{PART}", f"{self._folder}/{name}{NOTE}"

    def _flush(self) -> None:
        """Write what is held; a file of no bytes is made, too."""
        try:
            if self._descriptor < 0:
                self._open()
            if self._held:
                self._write(b"".join(self._held))
                self._held = []
        except OSError as error:
            if self._hashed > self._written:
                self._written = 0  # all of it is held still: a call that is repeated begins anew
            else:
                self.size, self._held = self._written, []
            raise refusal(error, self.path) from error

    def _confirm(self, sync: Callable[[int], None]) -> None:
        """Once refused, always refused; and the note goes at once, before a kill can leave it."""
        if self._is_spoilt:
            raise OSError(errno.EIO, "what was written before is not sure to be there")
        try:
            sync(self._descriptor)
        except OSError:
            self._is_spoilt = True
            _unlink(self._note_path)
            raise

    def _write(self, held: bytes) -> None:
        rest = memoryview(held)
        while rest:
            written = self._disk.pwrite(self._descriptor, rest, self._written)
            if written <= 0:
                raise OSError(errno.EIO, "the disk took no byte")
            if self._hashed <= self._written:
                self._hash.update(rest[:written])
            self._written += written
            rest = rest[written:]

    def _take(self, size: int) -> None:
        """A file that is there in whole is still asked for its last byte: by that its version is confirmed."""
        while self._written < size:
            block = os.pread(self._descriptor, min(READ_BYTES, size - self._written), self._written)
            if not block:
                break
            self._hash.update(block)
            self._written += len(block)
        self.size = self._asked = self._written

    def _empty(self) -> None:
        if self._descriptor >= 0:
            _unlink(self._note_path)
            os.ftruncate(self._descriptor, 0)
        self._held = []
        self.size, self._written, self._hash, self._asked, self._noted = 0, 0, sha256(), 0, False
        self._hashed = 0

    def _ask_sync(self) -> None:
        """On a thread: an fsync would keep the event loop waiting."""
        if self._syncing is not None:
            if not self._syncing.done():
                return
            self._wait()
        self._asked, self._noted = self._written, True
        self._syncing = self._threads.submit(self.sync, self._written)

    def _too_large(self) -> FetchError:
        self.forget()
        return FetchError("body_too_large", f"the file is larger than {self._bytes_max} bytes")


def read_note(part: Path) -> Note | None:
    """What lies beside a file that is not complete; None where that is nothing that can be read."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(part.with_suffix(NOTE).read_bytes(), type=Note)
    return None


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _new(path: str, mode: int) -> int:
    """A file that was not there, locked and empty; -1 where it was, or its folder is not, or where before the lock it
    was swept, or another try of the same key wrote to it and died.

    What is new is empty and has one name: most files are, and half of the calls of `_locked` are not needed for them.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    except (FileExistsError, FileNotFoundError):
        return -1
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = os.fstat(descriptor)
        if there.st_nlink == 1 and there.st_size == 0:
            return descriptor
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return -1


def _locked(path: str, mode: int) -> int:
    """BlockingIOError: another process is writing it."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink > 1:  # published, and its writer died before this name was gone
                os.unlink(path)
            elif os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:  # published or swept just now
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
