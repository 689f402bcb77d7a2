"""What people do to the targets of a job, as values: walks that put targets back, exclusions, marks, rollbacks."""

from __future__ import annotations

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.job import Counts

REOPENING = ("retry", "rescan", "restart")  # job verbs that put targets back, each by a walk
NEW = "new"
MODES = ("full", NEW)
STORED = "stored"  # nothing is fetched: the recipe is run again over stored pages
SLICE = 1000  # rows that one commit looks at


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk puts back: settled targets that fit `where` and were settled at or before `commits`; or, where an
    exclusion was removed, what that one had left out; or, where the scope was changed, what the job's scope lets in.

    Kept in the ledger, so that a walk that was cut short goes on and means the same.
    """

    where: tuple[tuple[str, bool, tuple[str, ...]], ...] = ()
    commits: dict[str, int] = {}
    exclusion: int = 0

    def covers(self, chunk: int, no: int) -> bool:
        """Whether a commit was there when the walk began: what is settled later is not put back again."""
        return no <= self.commits.get(str(chunk), 0)


def read_walk(doc: bytes) -> Walk:
    try:
        return msgspec.json.decode(doc, type=Walk)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"a walk over targets cannot be read: {error}") from error


class Walked(msgspec.Struct, frozen=True):
    """One slice of a walk: how many targets it put back, whether walks are left, and how many a new scope left out."""

    requeued: int = 0
    left: bool = False
    excluded: int = 0


SYNTAXES = ("glob", "regex")
EXCLUDED = "excluded"
ROBOTS = "robots"
SCOPE_RULES = ("exclude", "include", "depth", "scope")  # rules of a job's own scope options
RULE = "exclusion "  # and its number: the rule of a target that an exclusion left out
Place = tuple[int, ...]  # where a slice ended; how it is made up is each ledger's own affair


class Exclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern that people added to a job: what it matches is not fetched. With a generation it ends with that one."""

    n: int
    pattern: str
    syntax: str
    generation: int | None
    actor: str
    at: int
    removed_at: int | None = None
    removed_by: str | None = None

    @property
    def rule(self) -> str:
        return f"{RULE}{self.n}"

    def is_active(self, generation: int) -> bool:
        return self.removed_at is None and self.generation in (None, generation)


class Swept(msgspec.Struct, frozen=True):
    """One slice of a sweep over targets: how many it changed, where it ended, and whether there is more."""

    changed: int = 0
    after: Place = ()
    left: bool = False


class RolledBack(msgspec.Struct, frozen=True, kw_only=True):
    """What a rollback did, or would do."""

    checkpoint: int  # gone back to
    requeues: int  # settled targets that are pending again
    drops: int  # targets that were found since: they are gone
    restores: int  # targets that are settled again as they were
    keeps_artifacts: int  # bodies that nothing refers to any more; their bytes stay where they are
    drops_exclusions: tuple[int, ...]
    restores_exclusions: tuple[int, ...]
    counts: Counts  # of the job afterwards
