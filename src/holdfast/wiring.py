"""From settings to objects: the only module that knows which adapter stands behind a port. Adapters load when used."""

from __future__ import annotations

import errno
import logging
import os
import random
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from holdfast.blobs.artifacts import ArtifactFiles, StoredFiles
from holdfast.blobs.journal import FileJournal, JournalReader
from holdfast.blobs.publish import PRIVATE, make_directory, publish_copy, refusal
from holdfast.blobs.publish import publish as _publish
from holdfast.blobs.reserve import RESERVE_BYTES, Reserve
from holdfast.blobs.segments import Segments
from holdfast.blobs.shelf import is_being_restored
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.config.certificates import more_roots
from holdfast.engine.liveness import boot_id
from holdfast.engine.session import Parts, Session
from holdfast.errors import BadParams, HoldfastError, LedgerUnfit, Refused
from holdfast.model.artifact import below
from holdfast.model.exchange import BROWSER, HTTP, Budget
from holdfast.model.job import Job, Options
from holdfast.model.keys import canonical
from holdfast.model.outcome import is_segment
from holdfast.model.spread import Spread
from holdfast.model.states import wire_status
from holdfast.policy.leasing import options_of
from holdfast.ports import Blobs, Fetcher, LanguageModel, Ledger, ProgressListener, Recorder, WebArchive
from holdfast.recipe import AnyRecipe
from holdfast.recipes import catalogue
from holdfast.version import __version__

if TYPE_CHECKING:
    from holdfast.blobs.leftovers import Leftovers
    from holdfast.blobs.storage import FolderStorage
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

log = logging.getLogger(__name__)

CONTINUED = ("pending", "in_progress", "failed")  # targets of which a download that was cut off may go on
MEGABYTE = 1_000_000
MODEL_S = 300.0  # for one answer of a model
NO_PLACE = frozenset({errno.EROFS, errno.ENOENT})  # to a folder that is not there yet: a wrong choice, not a full disk
AGENT = f"holdfast/{__version__} (+https://github.com/holdfast/holdfast)"


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
    """The ledger for commands about existing jobs: it may lie where nothing can be written, and reading changes
    nothing. `upgrades`: for a command that is about to change a job."""
    path = settings.ledger_path
    if settings.database_url != "sqlite" or not path.exists() or os.access(settings.data, os.W_OK | os.X_OK):
        return open_ledger(settings, upgrades=upgrades)
    from holdfast.ledger.sqlite_look import LookedAtLedger

    return LookedAtLedger.open(path, SystemClock(), boot_id())


def is_untouched(settings: Settings) -> bool:
    """Whether nothing was ever stored where the settings point: a command that only reads then makes no ledger."""
    if settings.database_url != "sqlite" or settings.data.is_file():
        return False
    return not settings.ledger_path.exists() and not settings.segments.exists()


def _open_sqlite(settings: Settings, *, upgrades: bool) -> Ledger:
    """The ledger file, unless it cannot be the one under which the bodies in this folder were fetched."""
    from holdfast.ledger.sqlite import SqliteLedger

    # Asked first: a job is always stored before its bodies.
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


def recorder_of(settings: Settings, job: Job) -> Recorder | None:
    """Where the exchanges of a job are kept that was told to record."""
    if not job.options.record:
        return None
    from holdfast.blobs.recording import Recording

    writer = f"{os.getpid():x}-{secrets.token_hex(4)}"
    segments = Segments(settings.recordings, job.uid, writer)
    return Recording(segments, agent=job.options.user_agent or AGENT)


def storage(settings: Settings) -> FolderStorage:
    """The data folder beside the ledger, for those who read bodies, write files or sort many rows."""
    from holdfast.blobs.storage import FolderStorage

    return FolderStorage(
        settings.data, settings.segments, settings.artifacts, settings.snapshots, software=f"holdfast/{__version__}"
    )


class FetcherFactory:
    """The fetchers of one job, by name: a new kind of fetcher is a line here. They share the job's route and cookies.

    `held`: how many bytes of its answers steps hold, and how many wait for a commit.
    """

    def __init__(
        self,
        job: Job,
        options: Options,
        held: Callable[[], tuple[int, int]],
        browser: Mapping[str, Any],
        recorder: Recorder | None = None,
    ) -> None:
        self._job, self._options, self._held, self._browser = job, options, held, browser
        self._recorder = recorder
        self._route = route_of(job, options)
        self._http: Fetcher | None = None

    def __call__(self, name: str) -> Fetcher:
        fetcher = self._named(name)
        if self._recorder is None:
            return fetcher
        from holdfast.fetch.recording import RecordedFetcher

        return RecordedFetcher(fetcher, self._recorder, SystemClock())

    def _named(self, name: str) -> Fetcher:
        if name == HTTP:
            self._http = fetcher_of(self._job, self._options, self._held, self._route)
            return self._http
        if name == BROWSER:
            return browser_fetcher_of(
                self._named(HTTP) if self._http is None else self._http, self._options, self._route, self._browser
            )
        raise BadParams(f"there is no fetcher {name!r}", hint=f"{HTTP} {BROWSER}")


def route_of(job: Job, options: Options) -> Route:
    """How a job's exchanges leave. Cookies are kept where it asks for it, or its kind needs them (ux 3.2)."""
    from holdfast.fetch.cookies import CookieJar
    from holdfast.fetch.http.route import Route

    keeps_cookies = options.cookies or catalogue.kind_of(job).keeps_cookies
    jar = CookieJar() if keeps_cookies else None
    return Route(proxy=options.proxy, jar=jar, more_roots=more_roots(options.ca_bundle))


class ArchiveFactory:
    """The fetcher of a job that WARC files answer: there is no other, and none that connects."""

    def __init__(self, archive: WebArchive, options: Options) -> None:
        self._archive, self._options = archive, options

    def __call__(self, name: str) -> Fetcher:
        if name != HTTP:
            raise BadParams("an archive answers, not the web: there is no browser to show its pages")
        from holdfast.fetch.archive.fetcher import ArchiveFetcher

        return ArchiveFetcher(self._archive, budget_of(self._options))


def check_archives(params: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """BadParams where WARC files that were named cannot be read, or something is asked for that they cannot give."""
    if not params.get("from_warc"):
        return
    from holdfast.blobs.web_archive.index import check_archives

    if options.get("browser") or options.get("record"):
        raise BadParams("--from-warc: an archive answers, so there is nothing to fetch with --browser or to --record")
    check_archives(params["from_warc"])


def open_archive(settings: Settings, job: Job) -> WebArchive | None:
    """The WARC files that the job reads, indexed by its first worker; None: it reads the web."""
    names = None if catalogue.kind_of(job).is_own_code else job.params.get("from_warc")
    if not names:
        return None
    from holdfast.blobs.web_archive.archive import WarcFiles

    archive = WarcFiles.of(names, settings.archives / f"{job.uid}.db")
    for told in archive.told():
        log.warning("%s", told)
    return archive


def browser_fetcher_of(http: Fetcher, options: Options, route: Route, browser: Mapping[str, Any]) -> Fetcher:
    """Chromium, for one job. It is looked for now and started by the first page."""
    check_browser(msgspec.structs.replace(options, browser=True), browser)
    from holdfast.fetch.browser.fetcher import BrowserFetcher
    from holdfast.fetch.browser.limits import BrowserLimits
    from holdfast.fetch.guard import Guard

    limits = BrowserLimits(**browser)
    limits = msgspec.structs.replace(
        limits,
        pages=min(limits.pages, options.concurrency),
        nav_timeout_s=min(limits.nav_timeout_s, options.timeout_s),
        connect_s=min(options.connect_timeout_s, options.timeout_s),
        idle_s=min(options.idle_timeout_s, options.timeout_s),
        bytes_max=options.max_bytes,
    )
    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    return BrowserFetcher(http, guard, limits, route, options.user_agent or AGENT, clock=SystemClock())


def check_browser(options: Options, browser: Mapping[str, Any]) -> None:
    """BadParams where a job wants a browser and there is none, with what to install."""
    if options.browser:
        from holdfast.fetch.browser.executable import find_executable

        find_executable(browser.get("path", ""))


def browser_version(browser: Mapping[str, Any]) -> str:
    """Which browser would be driven, and that it starts; BadParams says what is missing."""
    from holdfast.fetch.browser.executable import find_executable, version_of

    executable = find_executable(browser.get("path", ""))
    return f"{version_of(executable)} ({executable})"


def fetcher_of(job: Job, options: Options, held: Callable[[], tuple[int, int]], route: Route) -> Fetcher:
    """The network for one job."""
    return _http_fetcher(options, held, _private_headers(job, options), route)


def language_model_of(options: Options) -> LanguageModel | None:
    """The service that words the sections of a report, behind the same guard as every site; None: the job names none.

    It has a fetcher of its own: it thinks for longer than a site may take, and is told none of the job's headers.
    """
    if not options.model_url:
        return None
    from holdfast.fetch.chat_completions import ChatCompletions
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

    patient = msgspec.structs.replace(
        options, headers=(), concurrency=1, max_bytes=MEGABYTE, timeout_s=MODEL_S, first_byte_timeout_s=MODEL_S,
        idle_timeout_s=MODEL_S,
    )  # fmt: skip
    route = Route(proxy=options.proxy, more_roots=more_roots(options.ca_bundle))
    return ChatCompletions(
        lambda: _http_fetcher(patient, lambda: (0, 0), PrivateHeaders((), []), route),
        options.model_url,
        options.model,
        options.model_key,
        SystemClock(),
    )


def list_fetcher(options: Options, url: str) -> Fetcher:
    """For the list of a job that may not be there yet; typed headers go to the list's own host."""
    from holdfast.fetch.http.route import Route
    from holdfast.fetch.http.secrets import PrivateHeaders

    route = Route(proxy=options.proxy, more_roots=more_roots(options.ca_bundle))
    private = PrivateHeaders(options.private_headers, [url, *options.headers_to])
    return _http_fetcher(options, lambda: (0, 0), private, route)


def _http_fetcher(
    options: Options, held: Callable[[], tuple[int, int]], private: PrivateHeaders, route: Route
) -> Fetcher:
    from holdfast.fetch.guard import Guard
    from holdfast.fetch.http.fetcher import HttpFetcher
    from holdfast.fetch.http.in_flight import BytesInFlight

    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    return HttpFetcher(
        guard,
        budget_of(options),
        user_agent=options.user_agent or AGENT,
        headers=options.headers,
        concurrency=options.concurrency,
        clock=SystemClock(),
        route=route,
        private=private,
        in_flight=BytesInFlight(options.bytes_in_flight, held),
    )


def budget_of(options: Options) -> Budget:
    """Deadlines and sizes of one exchange."""
    return Budget(
        connect_s=min(options.connect_timeout_s, options.timeout_s),
        first_byte_s=min(options.first_byte_timeout_s, options.timeout_s),
        idle_s=min(options.idle_timeout_s, options.timeout_s),
        total_s=options.timeout_s,
        body_bytes_max=options.max_bytes,
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
    inputs = job.params.get(catalogue.kind_of(job).inputs)
    listed = [text for text in inputs if "://" in text] if isinstance(inputs, list) else []
    return [*listed, *(text for text in job.params.values() if isinstance(text, str))]


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
    check_browser(options, settings.browser)
    archive, recorder = open_archive(settings, job), recorder_of(settings, job)
    reserve = _reserve(settings)
    reserve.keep()
    session = Session(
        job,
        Parts(
            open_ledger=lambda: open_ledger(settings),
            open_fetcher=FetcherFactory(job, options, lambda: session.held_bytes, settings.browser, recorder)
            if archive is None
            else ArchiveFactory(archive, options),
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
            files=ArtifactFiles(settings.artifacts, job.uid, boot_id()),
            kept=partial(below, settings.artifacts),
            journal=journal(settings, job),
            open_model=lambda: language_model_of(options),
            refusal=lambda url: refuse_private_seed(options, url) if archive is None else None,
            archived=None if archive is None else archive.pages,
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


def journal(settings: Settings, job: Job) -> FileJournal:
    """A job's log, to be written to."""
    return FileJournal(settings.logs, job.uid, SystemClock(), debug=settings.log_debug)


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


def files_of(settings: Settings) -> StoredFiles:
    """The files that targets have, to be looked at."""
    return StoredFiles(settings.artifacts)


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
        publish_copy(made, path, ours=storage(settings).holds(path))
    finally:
        with suppress(OSError):  # where it could not be made, that is what is told
            made.unlink()


def leftovers(settings: Settings, ledger: Ledger) -> Leftovers:
    """What killed commands left in the data folder, by the rows of this ledger."""
    from holdfast.blobs.leftovers import Leftovers, Whose

    def is_named(folder: str) -> bool:
        begins = f"{folder}/"
        rows = "SELECT 1 FROM job WHERE uid = ? UNION ALL SELECT 1 FROM segment WHERE substr(name, 1, ?) = ? LIMIT 1"
        return bool(ledger.query(rows, (folder, len(begins), begins)))

    [(own,)] = ledger.query("SELECT id FROM ledger")

    def is_kept(path: str) -> bool:
        of_lists = path.startswith("csv/")  # versions of lists belong to sources, not to targets
        return of_lists or bool(ledger.query("SELECT 1 FROM artifact WHERE path = ? LIMIT 1", (path,)))

    def is_wanted(job: str, target: int) -> bool:
        found = ledger.query(
            "SELECT t.state FROM target t JOIN job j ON j.id = t.job WHERE t.id = ? AND j.uid = ?", (target, job)
        )
        return any(wire_status(state) in CONTINUED for (state,) in found)

    whose = Whose(is_named, is_kept, is_wanted)
    return Leftovers(settings.data, own, whose, is_local=settings.database_url == "sqlite")


def free_mb(folder: Path) -> float:
    return shutil.disk_usage(folder).free / MEGABYTE


def publish(path: Path, write: Callable[[BinaryIO], None], *, ours: bool = False) -> None:
    """Write a file whole or not at all: beside, fsynced, renamed. `ours`: it belongs to the data folder."""
    _publish(path, write, ours=ours)
