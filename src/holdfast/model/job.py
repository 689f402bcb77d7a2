"""Jobs and runs as values: what a user asked for, and how far it is. No I/O."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.job_options import Options as Options
from holdfast.model.spelling import as_word

WORK_CHUNKS = 16  # of a job whose kind names none
CHUNKS_MAX = 1_000
CHUNK_NAME_MAX = 200
PHASES = ("crawling", "extracting", "analyzing", "generating")
FETCHING = PHASES[0]  # the phase that every job begins with, and the one that a page limit ends
REQUESTS = ("pause", "cancel", "time_out")
BEING_WORKED = "being worked"  # because of a job that a run was opened for
HEALTHS = ("ok", "partial", "failed", "suspicious")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STORED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}(~[0-9]{1,9})?")
_ID = re.compile(r"J-[0-9a-f]*")


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs are meant: those whose fields have these values. None: any."""

    uid: str | None = None
    name: str | None = None
    identity: str | None = None
    recipe: str | None = None
    status: str | None = None

    def wanted(self) -> dict[str, str]:
        """The fields that a value was given for."""
        values = ((name, getattr(self, name)) for name in ("uid", "name", "identity", "recipe", "status"))
        return {name: value for name, value in values if value is not None}


ANY_JOB = JobFilter()


class JobSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A job as submitted. `identity` is recipe + inputs, or recipe + name where the user named it."""

    recipe: str
    name: str
    identity: str
    params: dict[str, Any]
    options: Options = msgspec.field(default_factory=Options)
    chunking: str = "host"
    planned_total: int | None = None
    owner: str = ""
    chunks: tuple[str, ...] = ()  # names of its work chunks, in their order; none: WORK_CHUNKS without names


class Grown(msgspec.Struct, frozen=True):
    """What changed params make of a job whose plan grows: the names of its chunks, where they have any, and how many
    targets it has. `more`: the plan has targets behind those that it gave, also where no chunk was added."""

    chunks: tuple[str, ...]
    planned_total: int | None
    more: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the ledger has it. Times are wall milliseconds; `version` rises with every move or request."""

    id: int
    uid: str
    name: str
    recipe: str
    identity: str | None
    params: dict[str, Any]
    options: Options
    chunking: str
    status: str
    requested: str | None
    paused_by: str | None
    because: str
    stop_reason: str | None
    health: str | None
    version: int
    phase: str
    generation: int
    plan_done: bool
    planned_total: int | None
    run: int
    active_ms: int
    created_at: int
    since: int
    started_at: int | None
    paused_at: int | None
    finished_at: int | None
    last_error: str | None
    recoveries: int
    refetched: int

    @property
    def word(self) -> str:
        """Its name in a command that people copy: a ledger may have one from before names were checked."""
        return as_word(self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.uid})"


class Phases(msgspec.Struct, frozen=True):
    """The phases of a job in their order, the first of PHASES always among them.

    `made` are the types of targets that stand for no request: made from what is stored. A page limit does not count
    them.
    """

    names: tuple[str, ...] = (FETCHING,)
    made: tuple[str, ...] = ()

    def after(self, phase: str) -> str | None:
        """The next phase; None behind the last one."""
        behind = PHASES[PHASES.index(phase) + 1 :]
        return next((name for name in behind if name in self.names), None)


ONE_PHASE = Phases()


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The books of a job. `discovered` is the sum of the other six by construction of the rows, and is checked."""

    discovered: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    pending: int = 0
    in_progress: int = 0
    failed_by: dict[str, int] = {}
    skipped_by: dict[str, int] = {}
    by_type: dict[str, dict[str, int]] = {}

    @property
    def settled(self) -> int:
        return self.succeeded + self.failed + self.skipped + self.cancelled

    def without(self, types: tuple[str, ...]) -> Counts:
        """The books of all other types. Only the seven numbers: reasons are not split by type."""
        taken = [self.by_type[name] for name in types if name in self.by_type]
        if not taken:
            return self
        seven = {name: number - sum(counts[name] for counts in taken) for name, number in self.seven().items()}
        return msgspec.structs.replace(self, **seven)

    @property
    def left(self) -> int:
        return self.pending + self.in_progress

    def seven(self) -> dict[str, int]:
        """The identity's seven numbers, in the order people read them."""
        names = ("discovered", "succeeded", "failed", "skipped", "cancelled", "pending", "in_progress")
        return {name: getattr(self, name) for name in names}


def check_chunks(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a job's chunks, as its recipe gives them; BadParams where they cannot be."""
    if len(names) > CHUNKS_MAX:
        raise BadParams(f"a job has at most {CHUNKS_MAX:,} named chunks, not {len(names):,}")
    for name in names:
        if not name or len(name) > CHUNK_NAME_MAX or not name.isprintable():
            raise BadParams(f"a chunk's name has 1 to {CHUNK_NAME_MAX} printable characters, not {name!r:.60}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadParams(f"two chunks of a job cannot both be called {twice!r}")
    return names


def check_name(name: str) -> str:
    """A name that can be typed as JOB and cannot be taken for an id or an option."""
    if _ID.fullmatch(name) is not None:
        raise BadParams(f"{name!r} cannot be a job's name: it looks like a job's id")
    if _NAME.fullmatch(name) is None:
        raise BadParams(f"{name!r} cannot be a job's name; use letters, digits, dots, dashes, at most 100")
    return name


def is_stored_name(name: str) -> bool:
    """Whether a ledger can have given it: a name as people choose them, and what is added where two meet."""
    return _STORED_NAME.fullmatch(name) is not None and _ID.fullmatch(name) is None
