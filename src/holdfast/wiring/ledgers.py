"""Ledgers: opened for work or to look, made, upgraded, copied. An adapter is loaded when it is used."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from holdfast.blobs.publish import PRIVATE, make_directory, publish_copy, refusal
from holdfast.blobs.shelf import is_being_restored
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.liveness import boot_id
from holdfast.errors import BadParams, HoldfastError, LedgerUnfit
from holdfast.model.spread import Spread
from holdfast.ports import Ledger
from holdfast.recipes import catalogue
from holdfast.wiring.folders import storage

NO_PLACE = frozenset({errno.EROFS, errno.ENOENT})  # to a folder that is not there yet: a wrong choice, not a full disk


def open_ledger(settings: Settings, *, upgrades: bool = True) -> Ledger:
    """The ledger that the settings name; the data folder is made where it is missing. A SQLite ledger of an older
    version is upgraded, or refused where the caller only reads; one of PostgreSQL is upgraded by `db upgrade` alone."""
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


def load_adapters(settings: Settings, recipe: str) -> None:
    """Load what works jobs of this recipe, and open nothing: for a process of which workers are forked."""
    import holdfast.fetch.http.fetcher

    catalogue.load(recipe)
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
