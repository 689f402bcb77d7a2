"""The file that a person names for results: whether it can be written, and is not one of our own."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.errors import BadParams

OURS = ("ledger.db", "segments", "artifacts", "snapshots", "spool", "logs", "reserve")  # ux 3.6


def writable(path: Path, data: Path) -> Path:
    """Checked before any work begins, so that hours of crawling do not end in a file that cannot be written.

    The file itself, not a link to it: a rename would put a file in the link's place. And never in the place of what
    the data folder keeps: the ledger, the pages.
    """
    real, folder = path.resolve(), data.resolve()
    if folder in real.parents and real.relative_to(folder).parts[0].startswith(OURS):
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
