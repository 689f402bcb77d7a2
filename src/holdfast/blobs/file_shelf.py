"""Artifacts as whole files: read for a snapshot, and received from one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from holdfast.blobs.artifacts import PARTIAL, StoredFiles, publish_file
from holdfast.blobs.partial import READ_BYTES, Partial
from holdfast.blobs.publish import make_directory, refusal
from holdfast.errors import Corrupt, NotFound
from holdfast.model.artifact import BY_HASH, content_path
from holdfast.policy.resuming import Note

LOST = "holdfast doctor --repair puts its target back, to be fetched again; --without-artifacts leaves files out"


class FolderShelf:
    """Fulfils ports.FileShelf for the files below `root`."""

    def __init__(self, root: Path) -> None:
        self._root, self._stored = root, StoredFiles(root)

    def size(self, path: str) -> int | None:
        return self._stored.size(path)

    def blocks(self, path: str, size: int) -> Iterator[bytes]:
        """All of it, piece by piece; Corrupt where it is not as long as its row says."""
        try:
            descriptor = os.open(self._stored.path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise NotFound(f"the file {path} cannot be read: {error.strerror}", hint=LOST) from None
        with os.fdopen(descriptor, "rb") as file:
            while size:
                block = file.read(min(size, READ_BYTES))
                if not block:
                    raise Corrupt(f"the file {path} is shorter than its row says", hint=LOST)
                size -= len(block)
                yield block

    def receive(self, path: str, sha256: bytes, blocks: Iterable[bytes]) -> str:
        """Put a file in its place, durably, and answer its path: another one where other bytes have that name."""
        is_ours = path.startswith(f"{BY_HASH}/")
        if is_ours and path != content_path(sha256):
            raise Corrupt(f"the snapshot has a file under the hash of another: {path}")
        try:
            folder = self._root / PARTIAL
            make_directory(folder, mode=None)
            with ThreadPoolExecutor(1) as threads:
                note = Note(job="", target=0, url="")
                partial = Partial(folder, secrets.token_hex(16), note, boot="", threads=threads)
                try:
                    partial.limit(1 << 62)
                    for block in blocks:
                        partial.write(block)
                    partial.make_durable()
                    return publish_file(self._root, partial.path, path, sha256, is_ours=is_ours)
                finally:
                    partial.close(keep=False)
        except OSError as error:
            raise refusal(error, self._root / path) from error
