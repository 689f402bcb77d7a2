"""What killed commands left in the data folder: bodies of a restore that did not come to its commit, files that were
never published, folders that no row of the ledger names.

Only what is provably ours and nobody's at this moment is taken away: a restore holds the lock of its mark, which says
into which ledger and on which computer; whoever publishes holds the lock of the new file.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.blobs.publish import sync_directory
from holdfast.blobs.shelf import MARK, mark_of, read_mark

HALF_FILE = re.compile(r"\.publish-[0-9a-f]{16}-[0-9a-f]{16}\.tmp")  # others have no lock by which they are known


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder of bodies, or a file that was never finished. `ours`: it may be taken away."""

    path: Path
    ours: bool


class Leftovers:
    """Those below a data folder. `ledger` is the id of the one whose rows `is_named` asks for a folder's name.

    `is_local`: no other computer writes here, so that a lock which is not held is held by nobody.
    """

    def __init__(self, data: Path, ledger: str, is_named: Callable[[str], bool], *, is_local: bool) -> None:
        self._data, self._mark, self._is_named, self._is_local = data, mark_of(ledger), is_named, is_local

    def found(self) -> list[Leftover]:
        return [*self._folders(), *self._files()]

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
        return True
    return False
