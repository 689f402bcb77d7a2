"""Filesystems in memory, small or sealed. Mounting needs root, and without it their tests cannot be made true."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path


def mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def sealed(disk: Path) -> None:
    """Nothing can be written to it any more, not even by root."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
