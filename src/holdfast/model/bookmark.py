"""Where a reader of results stands: a vector of commit numbers, and how far into the next commit. No I/O."""

from __future__ import annotations

import msgspec

from holdfast.errors import BadParams, Corrupt
from holdfast.model.target import PageRow

CONSUMER_LENGTH_MAX = 100


class Bookmark(msgspec.Struct, frozen=True):
    """Commits up to `commits[chunk]` are read; of the one behind it in the chunk `inside` also its first `rows`."""

    commits: dict[int, int] = {}
    inside: int = 0
    rows: int = 0

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)

    def behind(self, other: Bookmark) -> Bookmark:
        """The further of both, chunk by chunk: no reader can move a bookmark back."""
        furthest = dict(other.commits)
        for chunk, no in self.commits.items():
            furthest[chunk] = max(no, furthest.get(chunk, 0))
        for each in sorted((self, other), key=lambda mark: -mark.rows):
            if each.rows and furthest.get(each.inside, 0) == each.commits.get(each.inside, 0):
                return Bookmark(furthest, each.inside, each.rows)
        return Bookmark(furthest)

    def after(self, row: Fresh) -> Bookmark:
        """Behind this row. Rows come commit by commit, so everything before its commit is read."""
        commits = {**self.commits, row.chunk: row.no - 1}
        return Bookmark(commits, row.chunk, row.place + 1)


def read_bookmark(stored: bytes) -> Bookmark:
    try:
        return msgspec.json.decode(stored, type=Bookmark)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"a consumer's bookmark cannot be read: {error}") from error


class Fresh(msgspec.Struct, frozen=True):
    """A result and the commit that published it; `place` is its number in that commit."""

    chunk: int
    no: int
    place: int
    row: PageRow


class EndedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A target that came to its end in a commit: succeeded, skipped or failed, by which try."""

    chunk: int
    no: int
    target: int
    url: str
    outcome: str
    disposition: str | None  # None also where it was put back since
    code: str | None
    status_code: int | None
    message: str | None
    attempt: int
    at: int


def check_consumer(name: str) -> str:
    """A name that can be printed and stored."""
    if not name or len(name) > CONSUMER_LENGTH_MAX or not name.isprintable():
        raise BadParams(f"{name!r} cannot be a consumer's name; at most {CONSUMER_LENGTH_MAX} printable characters")
    return name
