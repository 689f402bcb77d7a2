"""Files of their own beside a target's body: what a step keeps, where it lies, and which names a file may have.

A file is named by its hash, so that equal bytes are stored once, or by a key that the recipe gives (`pdfs/17.pdf`). No
file that a row may refer to is ever replaced by other bytes: a key that is taken by others gets the hash in its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from holdfast.errors import BadParams, Corrupt
from holdfast.model.exchange import Headers

BY_HASH = "sha256"  # the folder of files that are named by their hash
PATH_LENGTH_MAX = 180
ROLE_LENGTH_MAX = 40
FILES_PER_TARGET_MAX = 1_000
BODY_BYTES_MAX = 50_000_000  # of one answer, unless the job says otherwise; as in the options
FILE_BYTES_MAX = 8_000_000_000  # unless the step says otherwise
HASH_KEPT = 12  # digits of the hash in the name of a file whose key is taken by other bytes
_PART = r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*"
_PATH = re.compile(rf"{_PART}(/{_PART}){{0,7}}")
_ROLE = re.compile(r"[a-z][a-z0-9_-]*")


class Artifact(msgspec.Struct, frozen=True, gc=False):
    """A file that a target refers to. `path` is relative to the artifacts folder; `role` says what it is to the
    target, such as `pdf` or `thumbnail`."""

    role: str
    path: str
    size: int
    sha256: bytes
    media: str
    url: str = ""  # where it came from, without its query


class ArtifactRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An artifact as the ledger has it; `n` is its place among those of its target."""

    job: int
    target: int
    generation: int
    n: int
    role: str
    path: str
    size: int
    sha256: bytes
    media: str
    url: str


class FileBytes(Protocol):
    """The bytes of a file that came in whole, in memory or on the disk."""

    def readable(self) -> Path: ...

    def ends(self, size: int) -> tuple[bytes, bytes]: ...


class FetchedFile(msgspec.Struct, frozen=True, kw_only=True):
    """An answer whose body went to a file. It is read at `path` and kept by `Keep`; otherwise it is removed."""

    url: str
    status: int
    headers: Headers
    size: int = 0
    sha256: bytes = b""
    stored: FileBytes | None = None  # None: the status was none of success, and `body` has what came
    body: bytes = b""
    resumed_at: int = 0  # how many bytes of it were there already from an earlier try
    let_go: Callable[[], None] = lambda: None  # forget it: the next try begins with its first byte

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def media(self) -> str:
        """The media type without parameters, lower-case; empty where none was declared."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    @property
    def path(self) -> Path | None:
        """Where it can be read; None where the body did not go to a file."""
        return None if self.stored is None else self.stored.readable()

    def ends(self, size: int) -> tuple[bytes, bytes]:
        """The first and the last so many bytes of it: what most looks need, without a file."""
        return (self.body[:size], self.body[-size:]) if self.stored is None else self.stored.ends(size)

    def __bool__(self) -> bool:
        return self.stored is not None


class Keep(msgspec.Struct, frozen=True):
    """What a step wants kept: a fetched file, or a few bytes that it made. Without a `name` it is named by its hash."""

    source: FetchedFile | bytes
    role: str = "file"
    name: str = ""
    media: str = ""
    url: str = ""


def content_path(sha256: bytes) -> str:
    """Where bytes of this hash lie that have no name of their own."""
    digits = sha256.hex()
    return f"{BY_HASH}/{digits[:2]}/{digits}"


def versioned(path: str, sha256: bytes) -> str:
    """The name of other bytes under a key that is taken: `pdfs/17~3f2a….pdf`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    mark = f"~{sha256.hex()[:HASH_KEPT]}"
    return f"{folder}{slash}{stem}{mark}{dot}{ending}" if stem else f"{folder}{slash}{name}{mark}"


def is_artifact(path: str) -> bool:
    """Whether this can be the path of a file below the artifacts folder. Rows may come from a restored snapshot."""
    return len(path) <= PATH_LENGTH_MAX + HASH_KEPT + 1 and _PATH.fullmatch(path) is not None


def below(root: Path, name: str) -> Path:
    """Where a file of this name below `root` lies. Rows may come from a restored snapshot: no other name is a path."""
    if not is_artifact(name):
        raise Corrupt(f"{name[:200]!r} cannot be the path of a file", hint="holdfast verify JOB")
    return root / name


def check_keep(keep: Keep) -> Keep:
    """The same, if its role and its name can be used."""
    if len(keep.role) > ROLE_LENGTH_MAX or _ROLE.fullmatch(keep.role) is None:
        raise BadParams(f"{keep.role!r:.100} cannot be the role of a file: small letters, digits, - and _, at most 40")
    if keep.name and (len(keep.name) > PATH_LENGTH_MAX or _PATH.fullmatch(keep.name) is None):
        raise BadParams(
            f"{keep.name!r:.200} cannot be the name of a file: a relative path of letters, digits and . _ ~ -, no part "
            f"of it beginning with a dot, at most {PATH_LENGTH_MAX} characters"
        )
    if keep.name.partition("/")[0] == BY_HASH:
        raise BadParams(f"the folder {BY_HASH}/ is for files that are named by their hash; choose another name")
    if isinstance(keep.source, FetchedFile) and not keep.source:
        raise BadParams(f"{keep.source.url[:200]} gave no file to keep: its status was {keep.source.status}")
    return keep
