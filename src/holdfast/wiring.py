"""From settings to objects: the only module that knows which adapter stands behind a port. Adapters load when used."""

from __future__ import annotations

import errno
import logging
import os
import random
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import msgspec

from holdfast.blobs.journal import FileJournal, JournalReader
from holdfast.blobs.publish import PRIVATE, make_directory, publish_copy, refusal
from holdfast.blobs.publish import publish as _publish
from holdfast.blobs.reserve import RESERVE_BYTES, Reserve
from holdfast.blobs.segments import Segments
from holdfast.blobs.shelf import SegmentShelf, is_being_restored
from holdfast.blobs.shelf import opened as _opened
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.config.certificates import more_roots
from holdfast.engine.liveness import boot_id
from holdfast.engine.session import Parts, Session
from holdfast.errors import BadParams, HoldfastError, LedgerUnfit, Refused
from holdfast.model.exchange import Budget
from holdfast.model.job import Job, Options
from holdfast.model.keys import canonical
from holdfast.model.outcome import is_segment
from holdfast.model.spread import Spread
from holdfast.model.target import PageRow, TargetRow
from holdfast.policy.leasing import options_of
from holdfast.ports import Blobs, Fetcher, Ledger, ProgressListener, Query
from holdfast.recipe import AnyRecipe
from holdfast.recipes import catalogue
from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.blobs.leftovers import Leftovers
    from holdfast.control.restore import RestoreOptions, Snapshot
    from holdfast.engine.duplicates import Content
    from holdfast.fetch.http.secrets import PrivateHeaders
    from holdfast.model.snapshot import Manifest
    from holdfast.policy.filters import Condition
    from holdfast.views.ordering import Sort
    from holdfast.views.results import Fields, Results

log = logging.getLogger(__name__)

READER = "reader"  # a segment's writer in name only: who reads writes none
MEGABYTE = 1_000_000
NO_PLACE = frozenset({errno.EROFS, errno.ENOENT})  # to a folder that is not there yet: a wrong choice, not a full disk
OF_CHECKPOINTS = "F3."  # the laws whose breach costs a restore point only
TARGETS_IN_MEMORY = 20_000  # while they are sorted
AGENT = f"holdfast/{__version__} (+https://github.com/holdfast/holdfast)"


Tell = Callable[[str], object]


class Export(Protocol):
    """Write results in a form: all of them, or those that are handed in one by one."""

    def __call__(self, form: str, out: Callable[[bytes], object], rows: Iterable[PageRow] | None = None) -> int: ...


def open_ledger(settings: Settings, *, upgrades: bool = True) -> Ledger:
    """The ledger that the settings name; the data folder is made where it is missing. A SQLite ledger of an older
    version is upgraded, or, by who only looks, refused; one of PostgreSQL is upgraded by `db upgrade` alone."""
    _make_folder(settings)
    if settings.database_url == "sqlite":
        return _open_sqlite(settings, upgrades=upgrades)
    if settings.database_url.startswith(("postgresql://", "postgres://")):
        from holdfast.ledger.postgres import PostgresLedger

        return PostgresLedger.open(settings.database_url, None, boot_id())
    named, colon, _ = settings.database_url.partition(":")  # behind it there may be a password, or anywhere in words
    shown = repr(named + (colon and ":…")) if named.isalnum() else "what --database says"
    raise BadParams(f"{shown} names no ledger", hint="--database sqlite, or --database postgresql://…")


def open_to_look(settings: Settings, *, upgrades: bool = False) -> Ledger:
    """The ledger of who looks at jobs that are there: it may lie where nothing can be written, and a look changes
    nothing. `upgrades`: of who is about to change one of them."""
    path = settings.ledger_path
    if settings.database_url != "sqlite" or not path.exists() or os.access(settings.data, os.W_OK | os.X_OK):
        return open_ledger(settings, upgrades=upgrades)
    from holdfast.ledger.sqlite_look import LookedAtLedger

    return LookedAtLedger.open(path, SystemClock(), boot_id())


def is_untouched(settings: Settings) -> bool:
    """Whether nothing was ever stored where the settings point: whoever only reads need not make a ledger to say so."""
    if settings.database_url != "sqlite" or settings.data.is_file():
        return False
    return not settings.ledger_path.exists() and not settings.segments.exists()


def _open_sqlite(settings: Settings, *, upgrades: bool) -> Ledger:
    """The ledger file, unless it cannot be the one under which the bodies in this folder were fetched."""
    from holdfast.ledger.sqlite import SqliteLedger

    # Asked first: whoever has bodies here has stored their job before them.
    has_bodies = settings.segments.is_dir() and not all(map(is_being_restored, settings.segments.iterdir()))
    if has_bodies and not settings.ledger_path.exists():
        raise _lost(settings)
    ledger = SqliteLedger.open(settings.ledger_path, SystemClock(), boot_id(), upgrades=upgrades)
    if has_bodies and not ledger.query("SELECT 1 FROM job LIMIT 1"):
        ledger.close()
        raise _lost(settings)
    return ledger


def _lost(settings: Settings) -> LedgerUnfit:
    return LedgerUnfit(
        f"{settings.segments} holds pages, but {settings.ledger_path} knows of no job: it seems to have been lost or "
        "replaced",
        hint="restore it, or begin in another folder with --data DIR",
    )


def damage_of(settings: Settings) -> HoldfastError | None:
    """What the store itself finds wrong with the file of a ledger; None also where there is no such file."""
    if settings.database_url != "sqlite" or not settings.ledger_path.exists():
        return None
    from holdfast.ledger.sqlite import damage_of as check_file

    return check_file(settings.ledger_path)


def _make_folder(settings: Settings) -> None:
    """Durable before the ledger in it is: a folder with a ledger was."""
    folder = settings.data
    if folder.exists() and not folder.is_dir():
        raise BadParams(f"the data folder {folder} is a file", hint="choose another with --data DIR")
    try:
        if not settings.ledger_path.exists():
            make_directory(folder, mode=PRIVATE)
    except OSError as error:
        told = refusal(error, folder)
        if error.errno not in NO_PLACE and not isinstance(told, BadParams):
            raise told from error
        raise BadParams(
            f"the data folder {folder} cannot be made: {error.strerror}", hint="choose another with --data DIR"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        from holdfast.ledger.sqlite import unwritable

        raise unwritable(settings.ledger_path)


def recipe_of(name: str) -> AnyRecipe:
    """A recipe that comes with Holdfast."""
    return catalogue.built_in(name)


def blobs_of(settings: Settings, job: Job) -> Blobs:
    """Where this job's bodies lie; a writer's name is new for every process, so nobody shares a segment."""
    writer = f"{os.getpid():x}-{secrets.token_hex(4)}"
    return Segments(settings.segments, job.uid, writer)


def fetcher_of(job: Job, options: Options, held: Callable[[], tuple[int, int]]) -> Fetcher:
    """The network for one job. Cookies are kept unless it is a site that did not ask for them (ux 3.2).

    `held`: how many bytes of its answers steps hold, and how many wait for a commit.
    """
    from holdfast.fetch.cookies import CookieJar
    from holdfast.fetch.guard import Guard
    from holdfast.fetch.http.fetcher import HttpFetcher
    from holdfast.fetch.http.in_flight import BytesInFlight
    from holdfast.fetch.http.route import Route

    budget = Budget(
        connect_s=min(options.connect_timeout_s, options.timeout_s),
        first_byte_s=min(options.first_byte_timeout_s, options.timeout_s),
        idle_s=min(options.idle_timeout_s, options.timeout_s),
        total_s=options.timeout_s,
        body_bytes_max=options.max_bytes,
    )
    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    keeps_cookies = options.cookies or job.recipe != "site"
    return HttpFetcher(
        guard,
        budget,
        user_agent=options.user_agent or AGENT,
        headers=options.headers,
        concurrency=options.concurrency,
        clock=SystemClock(),
        route=Route(
            proxy=options.proxy, jar=CookieJar() if keeps_cookies else None, more_roots=more_roots(options.ca_bundle)
        ),
        private=_private_headers(job, options),
        in_flight=BytesInFlight(options.bytes_in_flight, held),
    )


def _private_headers(job: Job, options: Options) -> PrivateHeaders:
    from holdfast.fetch.http.secrets import PrivateHeaders

    private = PrivateHeaders(options.private_headers, [*_home(job), *options.headers_to])
    if private and not private.origins:
        names = ", ".join(name for name, _ in options.private_headers)
        log.warning("%s: sent to no host, since no URL was given; say where it may go: --headers-to HOST", names)
    return private


def _home(job: Job) -> list[str]:
    """The URLs that a person gave, among the params too: where typed headers may go."""
    given = [*job.params.get("seeds", ()), *job.params.values()]
    return [text for text in given if isinstance(text, str)]


def refuse_private_seed(options: Options, url: str) -> str | None:
    """The sentence that refuses a seed at a literal private address, or None."""
    from holdfast.fetch.guard import Guard

    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    address = canonical(url)
    return None if address is None else guard.check_seed(address.url)


def open_session(
    settings: Settings,
    job: Job,
    *,
    progress: ProgressListener | None,
    trigger: str = "cli",
    workers: int = 1,
    place: int = 0,
) -> Session:
    """Everything a process needs to work this job, alone or as one of several workers."""
    options = options_of(job.options, workers=workers, place=place)
    options = msgspec.structs.replace(options, concurrency=make_room(options.concurrency))
    reserve = _reserve(settings)
    reserve.keep()
    session = Session(
        job,
        Parts(
            open_ledger=lambda: open_ledger(settings),
            open_fetcher=lambda: fetcher_of(job, options, lambda: session.held_bytes),
            blobs=blobs_of(settings, job),
            recipe=catalogue.recipe_for(job),
            clock=SystemClock(),
            progress=progress,
            has_room=lambda: free_mb(settings.data) >= settings.min_free_mb,
            make_room=reserve.give_up,
            random=random.Random(),
            lease_s=settings.lease_s,
            stop_deadline_s=settings.pause_deadline_s,
            stale_after_s=settings.stale_after_s,
            outage_s=settings.outage_s,
            trigger=trigger,
            workers=workers,
            place=place,
            journal=FileJournal(settings.logs, job.uid, SystemClock(), debug=settings.log_debug),
            refusal=lambda url: refuse_private_seed(options, url),
        ),
    )
    return session


def make_room(slots: int, *, workers: bool = False) -> int:
    """For so many fetches at once, or `workers` to supervise: how many this process may have descriptors for."""
    from holdfast.fetch.http import descriptors

    room = descriptors.make_room(slots)
    if not room:
        least = descriptors.BASE + descriptors.PER_FETCH
        raise Refused(
            f"this process may open only {descriptors.limit()} files and connections at once, and needs at least "
            f"{least}; nothing was fetched, and the same command goes on",
            hint="ulimit -n 1024",
        )
    if room < slots and workers:
        log.warning(
            "this process may open only %d files and connections at once (ulimit -n): that may be too few to supervise "
            "%d worker processes",
            descriptors.limit(),
            slots,
        )
    elif room < slots:
        log.warning(
            "this process may open only %d files and connections at once (ulimit -n): it fetches %d pages at once, "
            "not %d",
            descriptors.limit(),
            room,
            slots,
        )
    return room


def has_reserve(settings: Settings) -> bool:
    """Whether there is room to write the pause of a job on a disk that fills; it is kept from now on."""
    return _reserve(settings).keep()


def _reserve(settings: Settings) -> Reserve:
    return Reserve(settings.data / "reserve")


def wanted_mb(settings: Settings) -> float:
    """How much must be free for a job to go on: what the settings want, and never less than the reserve."""
    return max(float(settings.min_free_mb), RESERVE_BYTES / MEGABYTE + 1)


def journal_reader(settings: Settings, job: Job) -> JournalReader:
    """A job's log, from its beginning."""
    return JournalReader(settings.logs, job.uid)


def load_adapters(settings: Settings) -> None:
    """Load, and open nothing: for a process of which workers are forked."""
    import holdfast.fetch.http.fetcher
    import holdfast.recipes.site.recipe

    if settings.database_url == "sqlite":
        import holdfast.ledger.sqlite
    else:
        import holdfast.ledger.postgres  # noqa: F401


def lock_waits(settings: Settings) -> Spread | None:
    """How long this process waited for the ledger's write lock; None where rows are locked and not the whole file."""
    if settings.database_url != "sqlite":
        return None
    from holdfast.ledger.sqlite import LOCK_WAITS

    return LOCK_WAITS


def size_of(path: Path) -> int | None:
    """None where there is no such file."""
    return path.stat().st_size if path.is_file() else None


def segment_size(settings: Settings, name: str) -> int | None:
    """None where there is no such segment; whatever else a row may name is not looked at."""
    return size_of(settings.segments / name) if is_segment(name) else None


def upgrade(settings: Settings) -> tuple[int | None, int]:
    """Bring a ledger of an older version to this program's (PER-14): the versions before and after."""
    from holdfast.ledger.schema import SCHEMA_VERSION

    if settings.database_url == "sqlite":
        from holdfast.ledger.sqlite import version_of

        before = version_of(settings.ledger_path)
        open_ledger(settings).close()
        return before, SCHEMA_VERSION
    from holdfast.ledger.postgres import PostgresStore

    store = PostgresStore(settings.database_url, None, boot_id())
    try:
        return store.upgrade(), SCHEMA_VERSION
    finally:
        store.close()


def back_up(settings: Settings, path: Path) -> None:
    """A copy of the SQLite ledger as of one instant, while it is used; it appears whole or not at all."""
    if settings.database_url != "sqlite":
        raise BadParams("a PostgreSQL ledger is backed up by PostgreSQL's own tools", hint="pg_dump")
    from holdfast.ledger.sqlite import back_up as copy

    folder = settings.data if os.access(settings.data, os.W_OK | os.X_OK) else path.parent
    made = folder / f"backup-{secrets.token_hex(4)}.tmp"
    try:
        copy(settings.ledger_path, made)
        publish_copy(made, path, ours=_is_ours(settings, path))
    finally:
        with suppress(OSError):  # where it could not be made, that is what is told
            made.unlink()


def leftovers(settings: Settings, ledger: Ledger) -> Leftovers:
    """What killed commands left in the data folder, by the rows of this ledger."""
    from holdfast.blobs.leftovers import Leftovers

    def is_named(folder: str) -> bool:
        begins = f"{folder}/"
        rows = "SELECT 1 FROM job WHERE uid = ? UNION ALL SELECT 1 FROM segment WHERE substr(name, 1, ?) = ? LIMIT 1"
        return bool(ledger.query(rows, (folder, len(begins), begins)))

    [(own,)] = ledger.query("SELECT id FROM ledger")
    return Leftovers(settings.data, own, is_named, is_local=settings.database_url == "sqlite")


def take_snapshot(
    settings: Settings, ledger: Ledger, job: Job, path: Path | None = None, *, with_bodies: bool = True
) -> tuple[Path, Manifest]:
    """Write a job's portable form to a new file, whole or not at all: `path`, or a name of its own in a folder."""
    from holdfast.control import snapshot as snapshot_control

    at_ms = SystemClock().wall_ms()
    folder = settings.snapshots / job.uid if path is None else path
    path = folder / f"S-{at_ms:x}.tar" if path is None or path.is_dir() else path
    if path.exists():
        raise BadParams(f"{path} is there already; a snapshot overwrites nothing", hint="-o another-name.tar")
    shelf = SegmentShelf(settings.segments) if with_bodies else None
    written: list[Manifest] = []

    def write(file: BinaryIO) -> None:
        written.append(snapshot_control.write(ledger, shelf, job, file.write, at_ms=at_ms))

    _publish(path, write, ours=_is_ours(settings, path))
    return path, written[0]


@contextmanager
def opened_snapshot(path: Path) -> Iterator[Snapshot]:
    """A snapshot that was read once and is whole; else it is refused."""
    from holdfast.control.restore import Snapshot

    with _opened(path) as file:
        yield Snapshot(file)


def restore_snapshot(settings: Settings, ledger: Ledger, snapshot: Snapshot, restore_options: RestoreOptions) -> Job:
    """The job of a snapshot, made in this ledger; its bodies in this data folder. A damaged checkpoint is no restore
    point any more, and costs nothing else: that is told, and refuses nothing."""
    from holdfast.audit.verify import verify
    from holdfast.control.restore import restore

    lost: list[str] = []

    def judge(query: Query, job: int) -> list[str]:
        said = [(found.check, f"{found.sentence} ({found.check})") for found in verify(query, job)]
        lost[:] = [line for check, line in said if check.startswith(OF_CHECKPOINTS)]
        return [line for check, line in said if not check.startswith(OF_CHECKPOINTS)]

    made = restore(ledger, SegmentShelf(settings.segments), snapshot, restore_options, judge)
    for line in lost:
        log.warning(
            "a law is broken in %s, as it was in the snapshot: %s; the job goes on, but not back to such a checkpoint: "
            "holdfast verify %s",
            made.name,
            line,
            made.word,
        )
    return made


def copy_job(settings: Settings, ledger: Ledger, job: Job, name: str, *, actor: str) -> Job:
    """The same job once more, under another name; its rows refer to the same stored pages."""
    from holdfast.control.restore import RestoreOptions

    path, _ = take_snapshot(settings, ledger, job, with_bodies=False)
    try:
        with opened_snapshot(path) as snapshot:
            return restore_snapshot(
                settings, ledger, snapshot, RestoreOptions(name, actor=actor, trust=True)
            )  # its own
    finally:
        path.unlink()


def free_mb(folder: Path) -> float:
    return shutil.disk_usage(folder).free / MEGABYTE


@contextmanager
def exporter(
    settings: Settings,
    ledger: Ledger,
    job: Job,
    *,
    where: Sequence[Condition] = (),
    fields: Fields | None = None,
    distinct: bool = False,
    dated_ms: int | None = None,
    apart: bool = False,
    tell: Tell = warnings.warn,
) -> Iterator[Export]:
    """Writes the results of a job, and answers how many; wrong options raise here."""
    from holdfast.blobs.archive import WarcArchive
    from holdfast.views.exports import csv, jsonl, warc

    segments = Segments(settings.segments, job.uid, READER)
    archive = WarcArchive(segments, settings.data, software=f"holdfast/{__version__}", dated_ms=dated_ms)

    def write(form: str, out: Callable[[bytes], object], rows: Iterable[PageRow] | None = None) -> int:
        if form == "warc":
            return warc.write_warc(results, archive, out, rows)
        if dated_ms is not None:
            raise BadParams("--date is for WARC files; lines of jsonl and csv say when a page was fetched")
        return {"jsonl": jsonl.write_jsonl, "csv": csv.write_csv}[form](results, out, rows)

    with results_of(
        settings, ledger, job, where=where, fields=fields, distinct=distinct, apart=apart, tell=tell
    ) as results:
        yield write


@contextmanager
def results_of(
    settings: Settings,
    ledger: Ledger,
    job: Job,
    *,
    where: Sequence[Condition] = (),
    fields: Fields | None = None,
    distinct: bool = False,
    apart: bool = False,
    tell: Tell = warnings.warn,
) -> Iterator[Results]:
    """The results of a job, to be read one by one. What could not be read of them is told at the end.

    `apart`: texts are derived in another process, because a crawl works in this one.
    """
    from holdfast.blobs.spill import in_order
    from holdfast.recipes.site.text import visible_text
    from holdfast.recipes.site.text_process import TextProcess
    from holdfast.views.results import EVERYTHING, Results

    def sorted_outside(rows: Iterable[Content], key: Callable[[Content], Any]) -> Iterator[Content]:
        return in_order(rows, settings.data, kind=tuple[bytes, int, str], key=key)

    blobs, text_process = Segments(settings.segments, job.uid, READER), TextProcess()
    try:
        read_text = text_process if apart else visible_text
        results = Results(
            ledger, blobs, job, read_text, where, fields or EVERYTHING, distinct=distinct, in_order=sorted_outside
        )
        yield results.check()
        if told := results.told_unread():
            tell(told)
    finally:
        text_process.close()
        blobs.close()


def sorted_targets(
    settings: Settings, rows: Iterable[TargetRow], sort: Sort, *, rows_per_run: int = TARGETS_IN_MEMORY
) -> Iterator[TargetRow]:
    """The rows in another order; more than a few of them are put into unnamed files of the data folder meanwhile."""
    from holdfast.blobs.spill import in_order

    return in_order(rows, settings.data, kind=TargetRow, key=sort.key, reverse=sort.falling, rows_per_run=rows_per_run)


def publish(path: Path, write: Callable[[BinaryIO], None], *, ours: bool = False) -> None:
    """Write a file whole or not at all: beside, fsynced, renamed. `ours`: it belongs to the data folder."""
    _publish(path, write, ours=ours)


def _is_ours(settings: Settings, path: Path) -> bool:
    return settings.data.resolve() in path.resolve().parents
