"""Exit codes (ux 3.5): the one table, and which code a result or an error has. Decides, never exits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast import errors
from holdfast.model.job import Counts, Job
from holdfast.ports import Views

PROBLEMS = "problems"  # what counts for exit code 3 unless --fail-on says otherwise
DEAD_LINKS = ("http_404", "http_410", "not_archived")
FAIL_ON_HELP = (
    "failures that exit with 3: never, problems (all but dead links: 404, 410 or not in the archive, of a page found "
    "on a page), any or N%% (problems)"
)

OK = 0
UNEXPECTED = 1
USAGE = 2
SOME_FAILED = 3
NOT_ALLOWED = 4
NOT_FOUND = 5
REFUSED = 6
UNREACHABLE = 7
JOB_FAILED = 8
CHECK_FAILED = 9
PAUSED = 10
INTERRUPTED = 11
TIME_LIMIT = 12
OTHER_LIMIT = 13
DISK_FULL = 14
KILLED_BY_INT = 130
KILLED_BY_KILL = 137  # as a shell gives it: 128 and the signal
READER_GONE = 141
KILLED_BY_TERM = 143

# fmt: off
MEANINGS: dict[int, str] = {
    OK:           "done, or a read or control command succeeded",
    UNEXPECTED:   "unexpected error; the log file's path is printed",
    USAGE:        "wrong usage or configuration",
    SOME_FAILED:  "completed, some targets failed (dead links do not count: see --fail-on), or nothing came out of it",
    NOT_ALLOWED:  "not authenticated or not allowed: the database does not let this user in",
    NOT_FOUND:    "no such job, run, target, checkpoint or source",
    REFUSED:      "refused: illegal move, job held elsewhere, scope differs; the ways on are named. "
                  "Or cancelled from elsewhere",
    UNREACHABLE:  "database unreachable; the same command goes on",
    JOB_FAILED:   "job failed (seed unreachable, no valid list, stale); goes on after the fix",
    CHECK_FAILED: "a check failed, or the ledger is newer than the program or damaged: nothing written",
    PAUSED:       "paused from another surface, or because the site blocks us; the same command goes on",
    INTERRUPTED:  "interrupted (SIGINT, SIGTERM, SIGHUP), saved; the same command goes on",
    TIME_LIMIT:   "time limit; partial results readable",
    OTHER_LIMIT:  "page, size or failure limit; partial results readable",
    DISK_FULL:    "disk low or full, paused by itself; goes on after freeing space",
    KILLED_BY_INT: "killed without grace by a second Ctrl-C; the same command goes on",
    KILLED_BY_KILL: "killed without grace by SIGKILL; the same command goes on",
    READER_GONE:  "the reader of the output closed it",
    KILLED_BY_TERM: "killed without grace by SIGTERM, while it worked no job; the same command goes on",
}
PRECEDENCE = (JOB_FAILED, DISK_FULL, TIME_LIMIT, OTHER_LIMIT, INTERRUPTED, PAUSED, REFUSED, SOME_FAILED, OK)

_ERRORS: tuple[tuple[type[errors.HoldfastError], int], ...] = (   # the first match counts
    (errors.IllegalMove,       REFUSED),
    (errors.Refused,           REFUSED),
    (errors.NotFound,          NOT_FOUND),
    (errors.UsageError,        USAGE),
    (errors.LostLease,         REFUSED),
    (errors.Denied,            NOT_ALLOWED),
    (errors.LedgerUnavailable, UNREACHABLE),
    (errors.LedgerUnfit,       CHECK_FAILED),
    (errors.Corrupt,           CHECK_FAILED),
    (errors.DiskFull,          DISK_FULL),
    (errors.ListUnavailable,   JOB_FAILED),
)
# fmt: on


def of_error(error: BaseException) -> int:
    """The code of an error; what the table does not know is unexpected."""
    return next((code for kind, code in _ERRORS if isinstance(error, kind)), UNEXPECTED)


def of_result(
    how: str,
    job: Job,
    counts: Counts,
    fail_on: str | float = PROBLEMS,
    *,
    dead_seed: Callable[[], bool] = lambda: False,
) -> int:
    """The code of a job that ended, or stopped, in this way (see dispatch.driver).

    `dead_seed`: whether a page that the user named is one of those that do not exist; asked where it decides.
    """
    if how == "failed":
        return JOB_FAILED
    if how == "disk_full" or (how == "paused" and job.paused_by == "disk_full"):
        return DISK_FULL
    if how == "timeout":
        return TIME_LIMIT if job.stop_reason in ("time_limit", "timeout") else OTHER_LIMIT
    if how == "paused":
        return INTERRUPTED if job.paused_by == "interrupt" else PAUSED
    if how in ("interrupted", "watched"):
        return INTERRUPTED
    if how == "completed":
        too_many = job.health == "suspicious" or _too_many_failed(counts, fail_on, dead_seed)
        return SOME_FAILED if too_many else OK
    return REFUSED  # cancelled, or lost to another process


def worst(codes: Iterable[int]) -> int:
    """The one code for several results."""
    found = set(codes)
    unlisted = sorted(found - set(PRECEDENCE))
    return unlisted[0] if unlisted else next((code for code in PRECEDENCE if code in found), OK)


def has_dead_seed(ledger: Views, job: Job) -> bool:
    """Whether a target that was planned, not found on a page, does not exist."""
    where = [("status", True, ("failed",)), ("code", True, DEAD_LINKS), ("depth", True, ("0",))]
    return bool(ledger.targets(job.id, where=where, limit=1))


def _too_many_failed(counts: Counts, fail_on: str | float, dead_seed: Callable[[], bool]) -> bool:
    """A link to a page that does not exist is a fact about the site, not a failure of the crawl."""
    if counts.failed == 0 or fail_on == "never":
        return False
    if fail_on == PROBLEMS:
        return counts.failed > sum(counts.failed_by.get(code, 0) for code in DEAD_LINKS) or dead_seed()
    if isinstance(fail_on, str):
        return True
    return counts.failed / (counts.succeeded + counts.failed) >= fail_on
