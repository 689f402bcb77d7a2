"""Looks at a file that is kept: whether a name is free."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from holdfast.model.artifact import versioned


def free_name(path: Path, name: str, digest: bytes) -> str:
    """The name that the file will have: where other bytes have it, the hash is part of it (decision 0060)."""
    try:
        with path.open("rb") as file:
            there = sha256()
            while part := file.read(1_000_000):
                there.update(part)
    except OSError:
        return name
    return name if there.digest() == digest else versioned(name, digest)
