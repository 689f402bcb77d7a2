"""A guard on the live ledger file: no Python code of this process may open it.

POSIX locks of a file go when *any* descriptor of it is closed, so a stray `open("ledger.db")` would silently unlock
the database under a running writer. SQLite's own opens do not pass through Python's hook.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from holdfast.errors import HoldfastError

_guarded: set[str] = set()
_is_installed = False


class LiveFileOpened(HoldfastError):
    """The live ledger file may not be opened; use the backup of SQLite."""


def guard(path: Path) -> None:
    """From now on opening this file, its -wal or its -shm from Python raises."""
    global _is_installed
    stem = os.path.realpath(path)
    _guarded.update({stem, f"{stem}-wal", f"{stem}-shm", f"{stem}-journal"})
    if not _is_installed:
        sys.addaudithook(_hook)
        _is_installed = True


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not arguments:
        return
    name = arguments[0]
    if not isinstance(name, str | bytes | os.PathLike):
        return
    text = os.fsdecode(name)
    # The cheap test first: this hook sees every file that is opened.
    if "ledger" in text and os.path.realpath(text) in _guarded:
        raise LiveFileOpened(f"{os.path.basename(text)} is a live ledger; opening it would drop its locks")
