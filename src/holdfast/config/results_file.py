"""The file that a person names for results: whether it can be written, and is not one of our own."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.errors import BadParams

OURS = ("ledger.db", "segments", "artifacts", "snapshots", "spool", "logs", "reserve")  # ux 3.6


def writable(path: Path, data: Path) -> Path:
    """Checked before any work begins, so that hours of crawling do not end in a file that cannot be written.

    The file itself, not a link to it: a rename would put a file in the link's place. And never in the place of what
    a data folder keeps, this one or another: the ledger, the pages.
    """
    real = path.resolve()
    if any(_keeps(folder, real, data.resolve()) for folder in real.parents):
        raise BadParams(f"{path} is where the data folder keeps its own", hint="write results somewhere else")
    if not real.parent.is_dir():
        raise BadParams(f"{path}: there is no folder {real.parent}", hint=f"mkdir -p {real.parent}")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise BadParams(f"{path}: the folder {real.parent} cannot be written")
    if real.is_dir():
        raise BadParams(f"{path} is a folder; name a file in it", hint=f"{path}/results.jsonl")
    if real.exists() and not real.is_file():
        raise BadParams(f"{path} is not a regular file", hint="-o - writes to stdout")
    return real


def _keeps(folder: Path, real: Path, data: Path) -> bool:
    """Whether the file would be among what a data folder keeps. One is known by its ledger, or by pages of a job."""
    if not real.relative_to(folder).parts[0].startswith(OURS):
        return False
    return folder == data or (folder / "ledger.db").exists() or any((folder / "segments").glob("J-*"))
