"""Files of their own below `artifacts/`: received beside, made durable, then given their name; never replaced.

A file appears under its name only when it is whole and on the disk, and the commit that refers to it comes after that.
So a file without a row is legal, and a row without its file is damage.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from holdfast.blobs.partial import NOTE, PART, READ_BYTES, Partial
from holdfast.blobs.publish import DISK, Disk, file_mode, make_directory, put_in_place, refusal, sync_directory
from holdfast.blobs.together import Together
from holdfast.errors import BadParams, Corrupt, NotFound
from holdfast.faults import point
from holdfast.model.artifact import Artifact, Keep, below, content_path, is_artifact, versioned
from holdfast.policy.resuming import Note
from holdfast.ports import Keeping

PARTIAL = ".partial"  # files on their way; no name of an artifact begins with a dot
FOLDERS_KNOWN_MAX = 1_000
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})


class ArtifactFiles:
    """Fulfils `ports.Files` for one job. Nothing is made before the first file is wanted."""

    def __init__(self, root: Path, job_uid: str, boot: str, *, disk: Disk = DISK) -> None:
        self._root, self._job_uid, self._boot, self._disk = root, job_uid, boot, disk
        self._partials = root / PARTIAL
        self._threads: ThreadPoolExecutor | None = None
        self._together = Together(root)
        self._folders: set[Path] = set()  # made, and durable with their ancestors
        self._mode = 0  # of files beside, once their folder is there

    def open(self, key: str, *, target: int, url: str, bytes_max: int) -> Partial:
        """A file to be filled, with what an earlier try of the same key has left of it."""
        if self._threads is None:
            sweep(self._partials)
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="file-sync")
        note = Note(job=self._job_uid, target=target, url=url.partition("?")[0])
        name = sha256(f"{self._job_uid} {key}".encode()).hexdigest()[:32]
        if not self._mode:
            with suppress(OSError):
                self._mode = file_mode(self._partials)
        made = Partial(
            self._partials, name, note, boot=self._boot, threads=self._threads, disk=self._disk, mode=self._mode
        )
        made.limit(bytes_max)
        return made

    def keep(self, group: Sequence[Keeping]) -> list[Artifact | BadParams]:
        """Give files their names, durably. On the disk under the paths that are answered, before any row says so.

        All of them, then all names, then all folders: what waits for the disk together waits once.
        """
        files = [(each.keep, self._partial_of(each)) for each in group]
        self._together(Partial.make_durable, [partial for _, partial in files])
        kept = [self._named(keep, partial) for keep, partial in files]
        named = {Path(each.path).parent for each in kept if isinstance(each, Artifact)}
        self._together(self._sync_folder, [self._root / each for each in named])
        for _, partial in files:
            point("file.before_remove")
            partial.remove()
            partial.let_go()
        return kept

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        self._together.close()

    def _partial_of(self, wanted: Keeping) -> Partial:
        partial, source = wanted.partial, wanted.keep.source
        if partial is None:
            assert isinstance(source, bytes)
            partial = self.open(secrets.token_hex(16), target=0, url="", bytes_max=len(source))
            partial.write(source)
        assert isinstance(partial, Partial)
        return partial

    def _named(self, keep: Keep, partial: Partial) -> Artifact | BadParams:
        digest, wanted = partial.sha256, keep.name or content_path(partial.sha256)
        try:
            self._make_folder((self._root / wanted).parent)
            path = give_name(self._root, partial.path, wanted, digest, is_ours=not keep.name)
        except OSError as error:
            self._folders.clear()
            refused = refusal(error, self._root / wanted)
            if isinstance(refused, BadParams):
                return refused
            raise refused from error
        return Artifact(keep.role, path, partial.size, digest, keep.media, keep.url.partition("?")[0])

    def _make_folder(self, folder: Path) -> None:
        """Only once: whether a folder is on the disk costs as much to find out as a file."""
        if folder in self._folders and folder.is_dir():
            return
        make_directory(folder, disk=self._disk, mode=None)
        if len(self._folders) >= FOLDERS_KNOWN_MAX:
            self._folders.clear()
        self._folders.add(folder)

    def _sync_folder(self, folder: Path) -> None:
        sync_directory(folder, disk=self._disk)


def sweep(folder: Path) -> None:
    """Remove what killed processes left and no try could continue: it has no note. What is locked has a live writer."""
    for left in folder.glob(f"*{PART}"):
        if not left.with_suffix(NOTE).exists():
            with suppress(OSError), left.open("rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def publish_file(root: Path, made: Path, wanted: str, digest: bytes, *, is_ours: bool, disk: Disk = DISK) -> str:
    """Put the durable file `made` below `root` as `wanted`; the path that it has.

    The name is durable with it.
    """
    make_directory((root / wanted).parent, disk=disk, mode=None)
    path = give_name(root, made, wanted, digest, is_ours=is_ours)
    sync_directory((root / path).parent, disk=disk)
    return path


def give_name(root: Path, made: Path, wanted: str, digest: bytes, *, is_ours: bool) -> str:
    """The same, in a folder that is there, and is synced by the caller.

    Under a name made of the hash (`is_ours`) it takes the place of equal bytes. Under a key it takes no other's place:
    where other bytes have the name, this file's hash becomes part of its own.
    """
    point("file.before_rename")
    if is_ours:
        _replaced(made, root / wanted, digest)
    else:
        wanted = _beside_others(root, made, wanted, digest)
    point("file.after_rename")
    return wanted


def _replaced(made: Path, path: Path, digest: bytes) -> None:
    """Of a call that is repeated, it may have its name already."""
    try:
        put_in_place(made, path)
    except FileNotFoundError:
        if not path.exists() or not has_hash(path, digest):
            raise


def _beside_others(root: Path, made: Path, wanted: str, digest: bytes) -> str:
    """The name that it gets. Of a call that is repeated, it may have either name already."""
    other = versioned(wanted, digest)
    try:
        if _linked(made, root / wanted) or has_hash(root / wanted, digest):
            return wanted
        put_in_place(made, root / other)
    except FileNotFoundError:
        for name in (wanted, other):
            if (root / name).exists() and has_hash(root / name, digest):
                return name
        raise
    return other


def _linked(made: Path, path: Path) -> bool:
    """Whether it has the name now, which nothing had before: a link, unlike a rename, replaces nothing."""
    try:
        os.link(made, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS or path.exists():
            raise
        put_in_place(made, path)
    return True


def has_hash(path: Path, digest: bytes) -> bool:
    """Whether a file has these bytes; read piece by piece."""
    return hash_of(path) == digest


def hash_of(path: Path, on_block: Callable[[int], object] = lambda _size: None) -> bytes:
    digest = sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        while block := os.read(descriptor, READ_BYTES):
            digest.update(block)
            on_block(len(block))
    finally:
        os.close(descriptor)
    return digest.digest()


class StoredFiles:
    """Files that rows refer to, to be read."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, name: str) -> Path:
        """Where it lies."""
        return below(self._root, name)

    def size(self, name: str) -> int | None:
        """None where there is no such file."""
        if not is_artifact(name):
            return None
        path = self._root / name
        return path.stat().st_size if path.is_file() and not path.is_symlink() else None

    def check(self, name: str, digest: bytes) -> None:
        """Read all of it. Corrupt where it has another hash, NotFound where it is missing."""
        path = self.path(name)
        try:
            found = hash_of(path)
        except FileNotFoundError:
            raise NotFound(f"the file {name} is missing") from None
        except OSError as error:
            raise BadParams(f"the file {name} cannot be read: {error.strerror}") from error
        if found != digest:
            raise Corrupt(f"the file {name} does not have the sha256 {digest.hex()}")
