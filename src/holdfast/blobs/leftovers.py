"""What killed commands left in the data folder: bodies of a restore that did not come to its commit, files that were
never published, folders that no row of the ledger names.

Only what is provably ours and unused is removed. A restore holds the lock of its mark, which names its ledger and its
computer; a publisher holds the lock of the new file.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.blobs.artifacts import PARTIAL
from holdfast.blobs.partial import NOTE, PART, read_note
from holdfast.blobs.publish import sync_directory
from holdfast.blobs.shelf import MARK, mark_of, read_mark

HALF_FILE = re.compile(r"\.publish-[0-9a-f]{16}-[0-9a-f]{16}\.tmp")  # other names carry no lock


class Leftover(msgspec.Struct, frozen=True):
    """A folder of bodies, or a file that was never finished. `ours`: it may be taken away."""

    path: Path
    ours: bool


class Whose(msgspec.Struct, frozen=True):
    """What the ledger is asked: whether a folder of segments is a job's, a file a target's, and whether a download that
    was cut off may still be continued, by the id of its job and its target."""

    folder: Callable[[str], bool]
    file: Callable[[str], bool]
    download: Callable[[str, int], bool]


class Leftovers:
    """Those below a data folder. `ledger` is the id of the one whose rows `whose` asks.

    `is_local`: no other computer writes here, so a lock that is free here is free everywhere.
    """

    def __init__(self, data: Path, ledger: str, whose: Whose, *, is_local: bool) -> None:
        self._data, self._mark, self._whose, self._is_local = data, mark_of(ledger), whose, is_local
        self._is_named = whose.folder

    def found(self) -> list[Leftover]:
        return [*self._folders(), *self._files(), *self._downloads(), *self._orphans()]

    def take_away(self) -> list[Path]:
        """What was ours and is gone now. A restore that lives, or came to its end meanwhile, keeps its folder."""
        ours = [each.path for each in self.found() if each.ours]
        return [path for path in ours if (self._remove_folder(path) if path.is_dir() else _remove_file(path))]

    def _folders(self) -> Iterator[Leftover]:
        for folder in sorted((self._data / "segments").glob("*/")):
            if self._is_named(folder.name):
                continue
            mark = folder / MARK
            if not mark.exists():
                yield Leftover(folder, False)
            with suppress(OSError), mark.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                yield Leftover(folder, read_mark(file.fileno()) == self._mark)

    def _files(self) -> Iterator[Leftover]:
        """But for those in the folder of a restore, which goes as a whole."""
        for path in sorted(self._data.rglob(".publish-*.tmp")):
            if HALF_FILE.fullmatch(path.name) and not (path.parent / MARK).exists() and not path.is_symlink():
                with suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    yield Leftover(path, self._is_local)

    def _downloads(self) -> Iterator[Leftover]:
        """Incomplete files that no writer will continue. What is locked is being written."""
        for path in sorted((self._data / "artifacts" / PARTIAL).glob(f"*{PART}")):
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                note = read_note(path)
                if note is None or not self._whose.download(note.job, note.target):
                    yield Leftover(path, self._is_local)

    def _orphans(self) -> Iterator[Leftover]:
        """Files under their names that no row has: a crash between the rename and the commit leaves some. They are only
        named: another ledger's rows may have them, or a commit that is under way."""
        root = self._data / "artifacts"
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder) / name
                if not name.startswith(".") and not self._whose.file(str(path.relative_to(root))):
                    yield Leftover(path, False)

    def _remove_folder(self, folder: Path) -> bool:
        """While its mark is held no restore begins there; one that waited for it finds that the mark is gone."""
        mark = folder / MARK
        with suppress(OSError), mark.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_named(folder.name) or not os.path.samestat(os.fstat(file.fileno()), mark.stat()):
                return False
            for path in folder.iterdir():
                if path != mark:
                    path.unlink()
            mark.unlink()  # last: until then what is left of the folder is known by it
            folder.rmdir()
            sync_directory(folder.parent)
            return True
        return False


def _remove_file(path: Path) -> bool:
    with suppress(OSError), path.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
        if path.suffix == PART:
            path.with_suffix(NOTE).unlink(missing_ok=True)
        return True
    return False
