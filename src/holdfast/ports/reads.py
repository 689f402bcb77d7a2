"""Reading, never a write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from holdfast.model.artifact import ArtifactRow
from holdfast.model.bookmark import Bookmark, EndedTarget, Fresh
from holdfast.model.job import ANY_JOB, Counts, Job, JobFilter
from holdfast.model.lease import Holder
from holdfast.model.look import (
    NOTHING_KNOWN,
    Change,
    CheckpointRow,
    Detail,
    EventKind,
    EventPlace,
    EventRow,
    Failures,
    Generation,
    HostWait,
    ListedTarget,
    RunLook,
    Upcoming,
)
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, PageRow, TargetRow


class JobReads(Protocol):
    """Jobs and their books."""

    def salt(self) -> bytes:
        """The ledger's salt for keys."""

    def damage(self) -> list[str]:
        """What the store itself finds wrong with its file; empty is good."""

    def job(self, reference: int | str, *, owner: str | None = None) -> Job:
        """By its number in this ledger, its id (`J-…`, a unique prefix suffices) or its name; NotFound says what there
        is instead. `owner`: only a job of this owner; names are unique among those."""

    def jobs(
        self, *, owner: str | None = None, where: JobFilter = ANY_JOB, after: int = 0, limit: int | None = None
    ) -> list[Job]:
        """In the order of their submission, those behind the number `after`, at most `limit`; None: all."""

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        """Job, counts and newest valid checkpoint as of one instant."""

    def holders(self, job: int) -> list[Holder]:
        """Chunks that have an owner."""

    def plan(self, job: int) -> tuple[int, bool, bytes]:
        """The planner's cursor, whether the plan is done, and the trail of the keys it has given."""

    def mode(self, job: int) -> str:
        """How the job is scanned: `full`, or `new` from a rescan that was asked for so until the next one."""

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        """Events of the job, and attempts of one target where given."""


class ResultReads(Protocol):
    """Targets and results, page by page."""

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        """Targets by id, page by page. `where`: (column, wanted?, values) as parsed by policy/filters.py."""

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        """Succeeded pages by target id, page by page: what exports read."""

    def results(
        self,
        job: int,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        after: tuple[int, int] = (0, -1),
        limit: int = 500,
    ) -> list[PageRow]:
        """Records of succeeded targets by (target, n), page by page: what exports of every recipe read."""


class StreamReads(Protocol):
    """Results in the order of their commits, and the bookmarks of their readers."""

    def fresh(
        self,
        job: int,
        mark: Bookmark,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        limit: int = 500,
    ) -> tuple[list[Fresh], Bookmark]:
        """Results committed behind a bookmark, commit by commit, and the bookmark behind them. None: all is read.

        After only some of them a reader stands at `mark.after(the last of those)`.
        """

    def ended(self, job: int, mark: Bookmark, *, limit: int = 500) -> tuple[list[EndedTarget], Bookmark]:
        """Targets that came to their end behind a bookmark, commit by commit, and the bookmark behind them."""

    def everything(self, job: int) -> Bookmark:
        """The bookmark behind all that is committed by now."""

    def bookmark(self, job: int, consumer: str) -> Bookmark:
        """Where a consumer stands; at the beginning, if it never saved."""


class ArtifactReads(Protocol):
    """Files of their own that targets have."""

    def artifacts(self, job: int, *, after: tuple[int, int] = (0, -1), limit: int = 500) -> list[ArtifactRow]:
        """Files of the results that are served, by (target, n), page by page."""

    def with_hash(self, sha256: bytes, *, job: int | None = None, limit: int = 10) -> list[ArtifactRow]:
        """Whether a file with these bytes is held, and as whose: rows of all jobs, or of one."""


class Views(JobReads, ResultReads, StreamReads, ArtifactReads, Protocol):
    """Reading. Each call is one short snapshot, so numbers of one answer agree with each other."""


class Looks(Protocol):
    """Reading for people who look into a job; workers never ask these. Pages are by key: rows added shift nothing."""

    def find(self, job: int, key: bytes) -> TargetRow | None:
        """The target of this key."""

    def attempts(self, target: int) -> list[AttemptRow]:
        """A target's tries, oldest first."""

    def failures(self, job: int, *, limit: int = 1000) -> list[Failures]:
        """Failed targets by code and host, the largest group first."""

    def events(
        self,
        job: int | None = None,
        *,
        since: int = 0,
        kinds: Sequence[EventKind] = (),
        without: Sequence[EventKind] = (),
        after: EventPlace | None = None,
        limit: int = 500,
        newest: bool = False,
        beyond: Mapping[int, int] = NOTHING_KNOWN,
    ) -> list[EventRow]:
        """Events and the beginnings and ends of runs in the order of time, of one job or of all.

        `newest` answers the last ones instead of the first. Without `kinds` every kind, but those of `without`.
        `beyond`: of these chunks only what has a larger number, whatever the clock said then.
        """

    def checkpoints(self, job: int, *, before: int | None = None, limit: int = 500) -> list[CheckpointRow]:
        """Newest first; a damaged one is in the list without its contents."""

    def as_of(
        self, job: int, commits: Mapping[str, int], *, settled: bool, after: int = 0, limit: int = 500
    ) -> list[ListedTarget]:
        """Targets by id that were settled (or still queued) when the chunks stood at these commit numbers."""

    def links_out(
        self, job: int, commits: Mapping[str, int], *, after: bytes = b"", limit: int = 500
    ) -> list[tuple[bytes, str]]:
        """(key, URL) of the links out of scope that were known at these commit numbers."""

    def generations(
        self,
        job: int,
        kind: str,
        *,
        commits: Mapping[str, int] | None = None,
        after: tuple[int, int, int] = (0, 0, -1),
        limit: int = 500,
    ) -> list[Generation]:
        """Records of the targets of one type, of every generation; with commit numbers, those published by then."""

    def pulse(self, job: int) -> int:
        """When the job's last commit was, apart from rescues, which tell of a death: wall ms, 0 before the first."""


class FrontierReads(Protocol):
    """What is waiting. Reads pending rows, or counters."""

    def hosts_waiting(self, job: int, *, host: str | None = None, limit: int = 1000) -> list[HostWait]:
        """Hosts with targets to fetch, the fullest first: from counters, never from the targets."""

    def pending_by(self, job: int, column: str, *, limit: int = 100_000) -> list[tuple[str, int]]:
        """Pending targets by `depth`, or by `pattern` (the first part of the path) among the first `limit` of them."""

    def upcoming(self, job: int, *, limit: int = 20) -> list[Upcoming]:
        """The next targets, about in the order in which they will be claimed."""

    def open_chunks(self, job: int) -> list[tuple[int, int]]:
        """(chunk, how many of its targets are not settled) of every chunk that has targets: from counters."""

    def chunk_names(self, job: int) -> dict[int, str]:
        """The work chunks by id, in the order of their indices, with their names; empty where the kind gives none."""

    def robots_text(self, origin: str) -> bytes | None:
        """What is kept of an origin's robots.txt; None where it was never asked for, or nothing is known of it."""


class ComparisonReads(Protocol):
    """How a job splits, and what changed between two runs. Reads all rows where it must."""

    def breakdown(self, job: int, by: str) -> list[tuple[str | None, str, int]]:
        """(group, status, how many) by host, depth, chunk, code or disposition; the parts sum to the whole."""

    def details(
        self,
        job: int,
        *,
        commits: Mapping[str, int] | None = None,
        params_of: Sequence[str] | None = None,
        records_of: Sequence[str] | None = None,
    ) -> list[Detail]:
        """All targets by id with all that is known of each; params and records are read of these types, None: of all.
        With commit numbers: those known when the chunks stood there, as they were then; labels are those of now."""

    def link_out(self, job: int, key: bytes) -> int | None:
        """Where a link out of scope was first found: the target's id, None where no such link is known."""

    def cut_short(self, job: int, *, limit: int = 10) -> list[tuple[int, bytes]]:
        """(target, record) of succeeded pages that have more links than were followed, by id. Looks at every record."""

    def runs(self, job: int) -> list[RunLook]:
        """Oldest first."""

    def changes(
        self, job: int, first: RunLook, second: RunLook, *, after: int = 0, limit: int = 500
    ) -> tuple[list[Change], int | None]:
        """What changed from the end of one run to the end of another; and where to go on, None at the end."""


class Surveys(FrontierReads, ComparisonReads, Protocol):
    """Reading across a job: what is waiting, how it splits, what changed. Reads pending rows, or all where it must."""
