"""Where a document is kept: a path that follows from its key alone, never from its title (DOC-20).

A token is its own file name. Anything else (an id with slashes, a URL) becomes a short readable part and a digest, so
that two keys never share a file, also where letters of either case are one, and no key leaves its folder.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

NAME_CHARS_MAX = 120
SLUG_CHARS_MAX = 60
DIGEST_BYTES = 10
SUFFIX_CHARS_MAX = 8
_TOKEN = re.compile(r"[A-Z0-9](?:[A-Z0-9_-]{0,118}[A-Z0-9])?")
_SUFFIX = re.compile(r"[a-z0-9]{1,8}")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_RESERVED = re.compile(r"CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9]")  # of Windows, where an archive may be unpacked


def file_name(key: str) -> str:
    """The name, without suffix, of the file of a key. Raises ValueError for an empty key: it would name a folder."""
    if not key:
        raise ValueError("a document without a key has no file")
    if _TOKEN.fullmatch(key) and not _RESERVED.fullmatch(key):
        return key
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    slug = _NOT_IN_SLUG.sub("-", plain).strip("-")[:SLUG_CHARS_MAX].strip("-") or "document"
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{slug}-{digest}"  # in small letters, and twenty digits of a hash: never a token's name


def file_path(source: str, key: str, suffix: str = "pdf") -> str:
    """`pdfs/<source>/<name>.pdf`, relative to the folder of artifacts; other suffixes are under `files/`."""
    suffix = suffix.lower().lstrip(".")
    if not _SUFFIX.fullmatch(suffix):
        suffix = "bin"
    folder = "pdfs" if suffix == "pdf" else "files"
    return f"{folder}/{file_name_of_source(source)}/{file_name(key)}.{suffix}"


def file_name_of_source(source: str) -> str:
    """`unreported_judgments` as it is; a name of somebody's own made safe."""
    return source if re.fullmatch(r"[a-z0-9_]{1,60}", source) else file_name(f"source {source}")


def list_path(source: str, fetched_at: str, sha256: str) -> str:
    """DOC-03: `csv/<source>_<timestamp>_<hash>.csv`; the time is given as `YYYYMMDDTHHMMSSZ`."""
    return f"csv/{file_name_of_source(source)}_{fetched_at}_{sha256[:12]}.csv"
