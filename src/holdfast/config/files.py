"""The files that settings come from: found, read, never written here. A file that is not there costs one look."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import BadParams

NAME = "holdfast.toml"
PREFIX = "HOLDFAST_"  # of every variable that is a setting
FILE_BYTES_MAX = 10_000_000
_LINE = r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)"


def nearest(start: Path) -> Path | None:
    """The `holdfast.toml` of this folder, or of the nearest one above it."""
    folder = os.path.abspath(start)
    while True:
        path = os.path.join(folder, NAME)
        if os.path.isfile(path):
            return Path(path)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def users_own(environ: Mapping[str, str]) -> Path | None:
    """The user's own file, whether it is there or not; None where the user has no home."""
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # the specification says so: a relative one is to be ignored
        home = environ.get("HOME") or ""
        base = os.path.join(home, ".config") if os.path.isabs(home) else ""
    return Path(base, "holdfast", "config.toml") if base else None


def read_toml(path: Path) -> dict[str, Any]:
    """The document in this file. BadParams says which file, and where in it."""
    return parse(read_text(path), where=str(path))


def read_text(path: Path) -> str:
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise BadParams(f"{path} is too large for a file of settings")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadParams(f"{path} cannot be read: {reason}") from error


def parse(text: str, *, where: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib lets int() refuse a number of thousands of digits
        raise BadParams(f"{where} is not TOML: {error}") from None


def read_env_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines, as `.env` files have them: comments, `export` and quotes are understood."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        pair = re.fullmatch(_LINE, text)
        if pair is None:
            raise BadParams(f"{path}:{number} is not NAME=value")
        found[pair[1]] = _unquoted(pair[2])
    return found


def _unquoted(text: str) -> str:
    for quote in "'\"":
        if len(text) > 1 and text[0] == quote and (end := text.find(quote, 1)) > 0:
            return text[1:end]
    return text.partition(" #")[0].rstrip()
