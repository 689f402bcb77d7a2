"""Is everything in order (DOC-30)? Settings, folder, disk, ledger, stored pages; and the few repairs that are safe.

A check looks and never writes. What `repair` does is what a start would do anyway, or what loses nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast import config, wiring
from holdfast.audit.artifacts import StoredFile, WrongFile, wrong_files
from holdfast.audit.segments import lost_pages, short_segments
from holdfast.config import Settings
from holdfast.engine import recovery
from holdfast.engine.liveness import is_dead
from holdfast.errors import Corrupt, HoldfastError, NotFound
from holdfast.model.job import Job
from holdfast.model.spelling import as_word
from holdfast.ports import Ledger

NAMED_MAX = 5
STORED_PAGES = "stored pages"
TARGETS_AT_ONCE = 500
NOT_REOPENED = ("cancelled", "pending")
SQLITE_SETTINGS = ("journal_mode", "synchronous", "foreign_keys")
POSTGRES_SETTINGS = ("fsync", "full_page_writes", "synchronous_commit")


class HealthCheck(msgspec.Struct, frozen=True):
    """One look. Where a required one is not ok, nothing may be relied on."""

    name: str
    ok: bool
    detail: str
    required: bool = True


def examine(
    *, data: str | None = None, database: str | None = None, config_file: str | None = None, deep: bool = False
) -> tuple[Settings | None, list[HealthCheck]]:
    """Every check in turn; one that cannot be made because an earlier one failed is left out. `deep` reads and hashes
    every file of its own, as PDFs and images are (DOC-32)."""
    try:
        settings = config.load(data=data, database=database, config=config_file)
    except HoldfastError as error:
        return None, [HealthCheck("configuration", False, _told(error))]
    checks = [_configuration(settings), _folder(settings)]
    if settings.data.is_dir():
        checks += [_access(settings), _disk(settings)]
    return settings, [*checks, *_ledger(settings, deep), _browser(settings)]


def _configuration(settings: Settings) -> HealthCheck:
    """Variables of older systems that no longer mean anything are harmless, but their user should know (CFG-02)."""
    notes = [f"{name} is {why}" for name, why in settings.obsolete.items()]
    return HealthCheck("configuration", True, "; ".join(["read and understood", *notes]))


def _folder(settings: Settings) -> HealthCheck:
    data = settings.data
    if not data.exists():
        why = _cannot_be_made(data)
        if why is not None:
            return HealthCheck("data folder", False, f"{data} cannot be made: {why}; choose another with --data DIR")
        return HealthCheck("data folder", True, f"{data} is not there yet; the first job makes it")
    if not data.is_dir():
        return HealthCheck("data folder", False, f"{data} is a file; choose another with --data DIR")
    if not os.access(data, os.W_OK | os.X_OK):
        return HealthCheck("data folder", False, f"{data} cannot be written; choose another with --data DIR")
    return HealthCheck("data folder", True, str(data))


def _access(settings: Settings) -> HealthCheck:
    """A folder that we made is its owner's alone. An earlier one keeps its mode: it may be shared on purpose."""
    data = settings.data
    mode = stat.S_IMODE(data.stat().st_mode)
    if mode & stat.S_IRWXO:
        close = f"chmod -R o= {as_word(str(data))}"
        return HealthCheck(
            "access", False, f"every user of this computer can look into it; to end that: {close}", False
        )
    return HealthCheck(
        "access", True, "its owner and group" if mode & stat.S_IRWXG else "its owner alone", required=False
    )


def _browser(settings: Settings) -> HealthCheck:
    """Only jobs with --browser need one."""
    try:
        return HealthCheck("browser", True, wiring.browser_version(settings.browser), required=False)
    except HoldfastError as error:
        return HealthCheck("browser", False, _told(error), required=False)


def _cannot_be_made(data: Path) -> str | None:
    """Tried with a folder of another name, which is gone at once: a job that begins at this moment is not disturbed."""
    from tempfile import TemporaryDirectory

    there = next(folder for folder in data.absolute().parents if folder.exists())
    try:
        with TemporaryDirectory(prefix=".holdfast-doctor-", dir=there):
            return None
    except OSError as error:
        return error.strerror


def _disk(settings: Settings) -> HealthCheck:
    free, wanted = wiring.free_mb(settings.data), settings.min_free_mb
    if free < wanted:
        return HealthCheck("disk room", False, f"{free:.0f} MB free, {wanted} are wanted; free {wanted - free:.0f} MB")
    return HealthCheck("disk room", True, f"{free:.0f} MB free, {wanted} are wanted")


def _ledger(settings: Settings, deep: bool) -> Iterator[HealthCheck]:
    if settings.database_url == "sqlite" and not settings.ledger_path.exists() and not settings.segments.exists():
        yield HealthCheck("ledger", True, "none yet; the first job makes it")
        return
    try:
        ledger = wiring.open_ledger(settings, upgrades=False)
    except HoldfastError as error:
        yield HealthCheck("ledger", False, _told(error))
        return
    try:
        yield from _inside(settings, ledger, deep)
    except HoldfastError as error:
        yield HealthCheck("ledger", False, _told(error))
    finally:
        ledger.close()


def _inside(settings: Settings, ledger: Ledger, deep: bool) -> Iterator[HealthCheck]:
    """A connection that opened has passed its own assertions; here they are shown, and its file is read."""
    [(version,)] = ledger.query("SELECT schema_version FROM ledger")
    yield HealthCheck("ledger", True, f"{_engine(settings, ledger)}, schema {version}")
    yield HealthCheck("ledger settings", True, _settings_of(settings, ledger))
    damage = ledger.damage()
    yield HealthCheck("ledger file", not damage, damage[0] if damage else "whole")
    if damage:
        return
    jobs = ledger.jobs()
    yield _artifacts(settings, ledger, jobs, deep)
    yield _left_over(settings, ledger)
    yield _checkpoints(ledger, jobs)
    yield _workers(ledger, jobs)


def _engine(settings: Settings, ledger: Ledger) -> str:
    is_sqlite = settings.database_url == "sqlite"
    [(version,)] = ledger.query("SELECT sqlite_version()" if is_sqlite else "SELECT current_setting('server_version')")
    return f"{'SQLite' if is_sqlite else 'PostgreSQL'} {version}"


def _settings_of(settings: Settings, ledger: Ledger) -> str:
    if settings.database_url == "sqlite":
        found = {name: ledger.query(f"PRAGMA {name}")[0][0] for name in SQLITE_SETTINGS}
    else:
        found = {name: ledger.query("SELECT current_setting(?)", (name,))[0][0] for name in POSTGRES_SETTINGS}
    return ", ".join(f"{name} = {value}" for name, value in found.items())


def _artifacts(settings: Settings, ledger: Ledger, jobs: list[Job], deep: bool) -> HealthCheck:
    """Every segment that rows refer to is there and long enough; `verify --deep` reads what is in them."""
    short = [
        str(each)
        for job in jobs
        for each in short_segments(ledger.query, job.id, lambda name: wiring.segment_size(settings, name))
    ]
    short += [str(each) for job in jobs for each in _wrong_files(settings, ledger, job, deep)]
    whole = "every segment and file is there and long enough" + (", every file has its sha256" if deep else "")
    return HealthCheck(STORED_PAGES, not short, _named(short) if short else whole)


def _wrong_files(settings: Settings, ledger: Ledger, job: Job, deep: bool) -> list[WrongFile]:
    files = wiring.files_of(settings)

    def is_whole(row: StoredFile) -> bool:
        try:
            files.check(row.path, row.sha256)
        except (Corrupt, NotFound):
            return False
        return True

    return wrong_files(ledger.query, job.id, files.size, *((is_whole,) if deep else ()))


def _left_over(settings: Settings, ledger: Ledger) -> HealthCheck:
    """Bytes without a row do no harm and take room. Folders that may be another ledger's are only named."""
    found = wiring.leftovers(settings, ledger).found()
    ours = [str(each.path) for each in found if each.ours]
    others = [str(each.path) for each in found if not each.ours]
    told = [f"killed commands left {_named(ours)}: holdfast doctor --repair removes it"] if ours else []
    told += [f"no job of this ledger has {_named(others)}: remove it where no other ledger has"] if others else []
    return HealthCheck("left over", not found, "; ".join(told) or "nothing", required=False)


def _checkpoints(ledger: Ledger, jobs: list[Job]) -> HealthCheck:
    """Only the newest of each: rows are the truth, so a damaged one costs a restore point and nothing else."""
    newest = [(job, ledger.checkpoints(job.id, limit=1)) for job in jobs]
    damaged = [f"{rows[0].number} of {job.name}" for job, rows in newest if rows and rows[0].point is None]
    detail = (
        f"damaged: {_named(damaged)}; the one before serves, rows are intact" if damaged else "the newest are whole"
    )
    return HealthCheck("checkpoints", not damaged, detail, required=False)


def _workers(ledger: Ledger, jobs: list[Job]) -> HealthCheck:
    left = [job.name for job in jobs if _is_left(ledger, job)]
    detail = f"a dead worker holds {_named(left)}: holdfast resume, or holdfast doctor --repair frees it"
    return HealthCheck("workers", not left, detail if left else "no dead worker holds anything", required=False)


def _is_left(ledger: Ledger, job: Job) -> bool:
    return any(holder.lapsed or is_dead(holder.owner) for holder in ledger.holders(job.id))


def repair(settings: Settings, *, deep: bool = False) -> list[str]:
    """What was repaired, one sentence each: dead workers' holds are freed, requests that nobody is left to hear are
    carried out, a cancel that was cut short is finished, pages whose bytes are gone are to be fetched again (D8), and
    what killed commands left behind is removed."""
    if settings.database_url == "sqlite" and not settings.ledger_path.exists():
        return []
    ledger = wiring.open_ledger(settings)
    try:
        jobs = ledger.jobs()
        mended = [
            sentence
            for job in jobs
            for sentence in (*_mended(ledger, job), *_fetched_again(settings, ledger, job, deep))
        ]
        gone = wiring.leftovers(settings, ledger).take_away()
        return mended + [f"Removed {path}, which a killed command had left and no job has." for path in gone]
    finally:
        ledger.close()


def _mended(ledger: Ledger, job: Job) -> Iterator[str]:
    """By the recovery table, as a start would: it only makes work pending again."""
    if _is_left(ledger, job):
        rescued = ledger.rescue(job.id, is_dead=is_dead)
        yield f"Freed {job.name} from its dead worker: 0 lost, {rescued.targets} in flight are fetched again."
    now = ledger.job(job.id)
    row = recovery.outlook(ledger, now, recipe_known=True, asked=False)
    if row.action == "acknowledge" and now.requested is not None:
        after = recovery.make_ready(ledger, now, row, actor="doctor")
        yield f"Carried out the {now.requested} that was asked of {job.name}: it is {after.status}."
    now, counts, _ = ledger.books(job.id)
    if recovery.is_half_cancelled(ledger, now):
        recovery.cancel_rest(ledger, now)
        yield f"Finished cancelling {job.name}: {counts.left} pending became cancelled."


def _fetched_again(settings: Settings, ledger: Ledger, job: Job, deep: bool) -> Iterator[str]:
    """A row without its bytes is the one thing that cannot be right: its target goes back to pending, and says why."""
    short = short_segments(ledger.query, job.id, lambda name: wiring.segment_size(settings, name))
    pages = {target for segment in short for target in lost_pages(ledger.query, job.id, segment)}
    files = {each.row.target for each in _wrong_files(settings, ledger, job, deep)}
    lost = sorted(pages | files)
    if not lost:
        return
    if ledger.job(job.id).status in NOT_REOPENED:
        yield f"{len(lost)} pages of {job.name} lost their bytes; it is {job.status}, so they are not fetched again."
        return
    for start in range(0, len(lost), TARGETS_AT_ONCE):
        part = lost[start : start + TARGETS_AT_ONCE]
        ledger.repair(job.id, part, actor="doctor", because="its stored bytes are gone")
    told = "1 page" if len(lost) == 1 else f"{len(lost)} pages"
    yield f"Put {told} of {job.name} back, whose stored bytes are gone. To fetch them: holdfast resume {job.word}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return "; ".join(names[:NAMED_MAX]) + more


def _told(error: HoldfastError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{error.message}{hint}"
