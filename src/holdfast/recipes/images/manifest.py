"""Names of an images job's files: a folder per keyword that every file system takes, and a number in it (IMG-08)."""

from __future__ import annotations

NUMBER_DIGITS = 4
FOLDER_BYTES_MAX = 80  # a file system takes 255, and something may be added
_UNSAFE = frozenset('<>:"/\\|?*')


def folder_of(keyword: str) -> str:
    """A name that every file system takes. Two keywords that come out alike differ by what the caller adds."""
    plain = "".join("_" if letter in _UNSAFE or not letter.isprintable() else letter for letter in keyword)
    return plain.strip(". ").encode()[:FOLDER_BYTES_MAX].decode(errors="ignore").strip(". ") or "_"
