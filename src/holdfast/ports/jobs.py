"""What people do to jobs, as the ledger offers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from holdfast.model.bookmark import Bookmark
from holdfast.model.edit import Exclusion, Place, RolledBack, Swept, Walked
from holdfast.model.job import Grown, Job, JobSpec, Options
from holdfast.model.lease import Owner

IsDead = Callable[[Owner], bool]


class Jobs(Protocol):
    """What people do to jobs. A verb that the lifecycle table lacks raises IllegalMove and changes nothing."""

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        """Accept a job, or find the one with this identity: (job, whether it is new). Safe to repeat."""

    def set_aside(self, known: Job) -> tuple[Job, bool]:
        """Rename a job to NAME~N and free its identity, so that `--new` can start over. Its rows stay.

        (the job, whether this call did it): one that has another name than `known` was set aside by another process.
        """

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        """start or resume. With `version`, a move by another process in between raises IllegalMove or Refused."""

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        """Ask for a pause, cancel or time-out: durable, on the job and every chunk. No claim commits after it."""

    def amend(
        self,
        known: Job,
        *,
        options: Options | None = None,
        actor: str,
        because: str,
    ) -> Job:
        """Apply changed pace and limits, with an event; what is not given stays.

        Refused where what would be overwritten is not what `known` had: it was changed meanwhile. What stands
        there already is answered, so an unknown outcome may be repeated.
        """

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        """Begin an execution and get its number in the job; an earlier run left open is closed as crashed."""

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        """Cancel up to `limit` pending targets of a cancelled job; 0 means none is left. Repeat until 0."""

    def save_bookmark(self, job: int, consumer: str, mark: Bookmark) -> Bookmark:
        """Keep where a consumer of results stands; one that lies further back than what is kept changes nothing."""


class Reopening(Protocol):
    """Open a job again, and the walks that put targets back."""

    def reopen(
        self,
        job: int,
        verb: str,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        mode: str = "full",
        actor: str,
        because: str,
        version: int | None = None,
    ) -> Job:
        """retry, rescan or restart: the guarded move, and a walk that stands until `walk` has come to its end.

        Of a retry `where` chooses among the failed targets. Nothing is put back yet; `advance` waits for the walk.
        """

    def walk(self, job: int, *, verb: str | None = None, limit: int = 1000) -> Walked:
        """The next slice of the oldest walk (of this verb): settled targets go back to pending, each with an undo row,
        as a new generation. Only what was settled when the walk began. Repeat until nothing is left.

        The walk of a removed exclusion (verb `include`) begins no new generation: what it left out was not worked. Nor
        does that of a changed scope (`rescope`), which also leaves out."""

    def walking(self, job: int, verb: str | None = None) -> str | None:
        """The verb of the oldest walk (of this verb) that stands; None: there is none. Reads only."""

    def repair(self, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
        """Put these succeeded targets, whose bytes are gone, back to pending with the reason; how many there were.

        A job that was over is in progress again; a pending or cancelled one raises IllegalMove.
        """


class Choosing(Protocol):
    """Which targets belong to the job: exclusions, scope, marks."""

    def exclude(self, job: int, pattern: str, *, syntax: str = "glob", this_run: bool = False, actor: str) -> Exclusion:
        """No worker fetches what this pattern matches any more. Adding the same pattern again finds the first one.

        `this_run`: until the job is rescanned or restarted. Pending targets that it matches are never claimed from
        here on; `sweep` leaves them out at once. What is in hand is finished.
        """

    def sweep(self, job: int, n: int, *, after: Place = (), limit: int = 1000) -> Swept:
        """Leave out the next slice of pending targets that exclusion n matches; repeat with its `after` while some are
        left."""

    def include(self, job: int, n: int, *, actor: str) -> Exclusion:
        """Remove exclusion n; NotFound where there is none. Removed already: answers it.

        A walk stands until `walk` has put back what it had left out, unless another one leaves it out, too. A completed
        job stays complete: its next rescan fetches them.
        """

    def rescope(
        self, known: Job, params: dict[str, Any], *, actor: str, because: str, grown: Grown | None = None
    ) -> Job:
        """Another scope, with an event, and a walk that stands until `walk` has judged by the job's params what is
        pending and what a rule of the scope had left out; till then `lease` gives nothing. Repeated, it is answered.

        Refused, and nothing is changed: a worker holds the job, or its params changed since `known`; it is completed
        or cancelled. BadParams: there is no scope in them.

        `grown`: the job's chunks have names, and more of them now. Those that are new are added and its plan goes on
        behind its cursor, in the same commit; Refused where one is missing, or the job is past its first phase. Without
        a scope in the params nothing is judged.
        """

    def exclusions(self, job: int) -> list[Exclusion]:
        """In the order of their numbers, the removed ones too."""

    def label(self, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
        """Put people's mark on these targets, or take it away (None): one commit, an event; how many. All or none."""


class Edits(Reopening, Choosing, Protocol):
    """What people do to the targets of a job. Large selections go in slices, each one commit that may be repeated."""


class Rollbacks(Protocol):
    """Going back to a checkpoint of a job."""

    def rollback(self, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None = None) -> RolledBack:
        """Go back to a checkpoint: targets found since are dropped, others stand as they stood, what was in hand then
        is pending. The job is paused, with the counts of that checkpoint; one commit, whatever its size.

        Every epoch is raised, so a live worker has lost its leases. Commit numbers, events and ids go on. Checkpoints
        in between are marked as undone; Refused for one of them, NotFound where there is no such number.
        """

    def foretell_rollback(self, job: int, number: int, *, is_dead: IsDead) -> RolledBack:
        """What `rollback` would answer now. Nothing is changed."""
