"""The one table of settings: key, default, meaning, and where each goes. Every page and error about them follows it.

Settings that are defaults of jobs are made from the table of job options (options.py).

Every start of the program pays for this module, so its values are structs: dataclasses take ten times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from holdfast.config import types
from holdfast.config.files import PREFIX as PREFIX
from holdfast.config.options import DAY_S, HOUR_S, OPTIONS
from holdfast.config.settings import Settings
from holdfast.model.value_types import ValueType

OF_A_FILE = "_FILE"
SECTIONS = ("http", "limits", "", "checkpoint")  # in this order; others behind them


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `pace` is the field of a job's options that it is the default of; without `used`, kept for later."""

    key: str
    kind: ValueType
    default: Any
    meaning: str
    option: str = ""
    field: str = ""
    pace: str = ""
    secret: bool = False
    used: bool = True

    @property
    def variable(self) -> str:
        return PREFIX + self.key.upper().replace(".", "__")


def _of_jobs() -> Iterator[Setting]:
    """The defaults of every new job, which keeps its own; a section stands together."""
    rows = [(row, row.stored, row.configured) for row in OPTIONS if row.stored and row.configured]
    for row, stored, setting in sorted(rows, key=lambda each: _section(each[2].key)):
        kind = setting.type or row.type
        yield Setting(
            key=setting.key,
            kind=kind,
            default=stored.default,
            meaning=setting.meaning or row.meaning,
            option=row.flag,
            pace=stored.field,
            secret=kind.reference_behind is not None,
        )


def _section(key: str) -> int:
    section = key.rpartition(".")[0]
    return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS)


def _later(key: str, kind: ValueType, default: Any, meaning: str, *, secret: bool = False) -> Setting:
    return Setting(key=key, kind=kind, default=default, meaning=meaning, secret=secret, used=False)


def _browser(key: str, field: str, kind: ValueType, default: Any, meaning: str) -> Setting:
    """Of the browser that `--browser` fetches with."""
    return Setting(key=f"browser.{key}", kind=kind, default=default, meaning=meaning, field=f"browser_{field}")


def _own(key: str, field: str, kind: ValueType, meaning: str, *, option: str = "", secret: bool = False) -> Setting:
    """A field of `Settings`, which has its default."""
    default = getattr(_DEFAULTS, field)
    default = str(default) if kind is types.PATH else default
    return Setting(key=key, kind=kind, default=default, meaning=meaning, field=field, option=option, secret=secret)


_DEFAULTS = Settings()
_OF_JOBS = tuple(_of_jobs())
_WAIT = types.duration(0, DAY_S)
# fmt: off
SETTINGS: tuple[Setting, ...] = (
    _own("data", "data", types.PATH, "the data folder; in a file, relative to the folder of that file",
         option="--data"),
    _own("database_url", "database_url", types.DATABASE,
         "the ledger: `sqlite` in the data folder, or `postgresql://…`", option="--database", secret=True),
    _own("min_free_mb", "min_free_mb", types.whole(0, 10**9),
         "below so much free disk, in MB, nothing is claimed and the job pauses itself"),
    _own("lease", "lease_s", types.duration(0.5, HOUR_S), "how long a lease lasts without renewal"),
    _own("pause_deadline", "pause_deadline_s", types.duration(0, HOUR_S),
         "how long pages in hand may go on after a pause was asked for"),
    _own("stale_after", "stale_after_s", types.duration(1, 365 * DAY_S),
         "a job fails as stale when nothing moved for this long while it was worked"),
    _own("outage", "outage_s", types.duration(1, 365 * DAY_S),
         "how long a worker waits for a ledger that does not answer, before it ends with 7"),
    _own("log.debug", "log_debug", types.FLAG,
         "`true`: a line for every target in the job's log, not only for failures"),
    *_OF_JOBS,
    Setting(key="checkpoint.enabled", kind=types.FLAG, default=True,
            meaning="`false`: checkpoints only at pauses, limits and changes of phase"),
    _later("server", types.TEXT, "", "a Holdfast server to work with"),
    _later("token", types.SECRET, "", "the token for that server", secret=True),
    _later("broker_url", types.DATABASE, "", "`redis://…`, only when scaled out", secret=True),
    _later("record", types.FLAG, False, "keep requests, redirects, robots and failed answers too"),
    _later("offline", types.FLAG, False, "answer from what was recorded, never from the network"),
    _browser("path", "path", types.PATH, "", "the Chromium that is driven; empty: it is looked for"),
    _browser("sandbox", "sandbox", types.FLAG, True, "`false`: without it, where Chromium cannot start otherwise"),
    _browser("pages", "pages", types.clamped(1, 64), 4, "pages that one process has open at once"),
    _browser("nav_timeout", "nav_timeout_s", _WAIT, 25.0, "until a page has loaded"),
    _browser("quiet", "quiet_s", _WAIT, 0.3, "without any request, until a page has come to rest"),
    _browser("settle_wait", "settle_wait_s", _WAIT, 0.0, "after that, before the page is read"),
    _browser("selector_timeout", "selector_timeout_s", _WAIT, 20.0, "until what is waited for is on the page"),
    _browser("click_timeout", "click_timeout_s", _WAIT, 5.0, "until a click has its effect"),
    _browser("post_click_wait", "post_click_wait_s", _WAIT, 0.0, "after a click"),
    _browser("images", "images", types.FLAG, False, "`true`: load images, fonts and media, too"),
    _browser("recycle_pages", "recycle_pages", types.whole(1, 10**9), 500, "a new Chromium after so many pages"),
    _browser("recycle_mb", "recycle_mb", types.whole(100, 10**6), 1500, "a new Chromium beyond so much memory, in MB"),
    _browser("process_mb", "process_mb", types.whole(100, 10**6), 2000,
             "memory of one page, in MB; a page that takes more fails as `bomb`"),
    _later("documents.sweep_wait", _WAIT, 0.0, "before failed documents are tried once more at the end"),
    _later("documents.max_pending", types.clamped(1, 100_000), 100, "documents waiting to be downloaded"),
    _later("documents.new_limit", types.whole(0, 10**9), 0, "new documents per run; 0: all"),
    _later("webhook.secret", types.SECRET, "", "shared with the callers of a webhook", secret=True),
    _later("webhook.new_limit_max", types.whole(1, 10**6), 50, "new documents that one webhook call may ask for"),
    _later("redis.compress_above", types.size(0, 10**9), 102_400, "cached documents above this size are packed"),
)
# fmt: on
KEYS: dict[str, Setting] = {row.key: row for row in SETTINGS}
VARIABLES: dict[str, Setting] = {row.variable: row for row in SETTINGS}


class Alias(msgspec.Struct, frozen=True):
    """An older name (CFG-02). `form` puts the unit that the older name implied."""

    name: str
    key: str
    form: str = "{}"


ALIASES: dict[str, Alias] = {
    row.name: row
    for row in (
        Alias("LEASE_S", "lease", "{}s"),
        Alias("PAUSE_DEADLINE_S", "pause_deadline", "{}s"),
        Alias("NAV_TIMEOUT_SECONDS", "browser.nav_timeout", "{}s"),
        Alias("SELECTOR_TIMEOUT_SECONDS", "browser.selector_timeout", "{}s"),
        Alias("DOWNLOAD_TIMEOUT_SECONDS", "http.timeout", "{}s"),
        Alias("CLICK_TIMEOUT_MS", "browser.click_timeout", "{}ms"),
        Alias("POST_CLICK_SLEEP_SECONDS", "browser.post_click_wait", "{}s"),
        Alias("RETRY_PAGE_SETTLE_SECONDS", "browser.settle_wait", "{}s"),
        Alias("RETRY_AFTER_SWEEP_SECONDS", "documents.sweep_wait", "{}s"),
        Alias("MAX_PARALLEL_DOWNLOADS", "concurrency"),
        Alias("MAX_PENDING_DOWNLOADS", "documents.max_pending"),
        Alias("RECORD_REPLAY_FIXTURES", "record"),
        Alias("REPLAY_SKIP_NETWORK", "offline"),
        Alias("WEBHOOK_SHARED_SECRET", "webhook.secret"),
        Alias("SCRAPE_NEW_LIMIT", "documents.new_limit"),
        Alias("WEBHOOK_NEW_LIMIT_MAX", "webhook.new_limit_max"),
        Alias("CHECKPOINT_ENABLED", "checkpoint.enabled"),
        Alias("REDIS_COMPRESSION_THRESHOLD", "redis.compress_above"),
    )
}

_ROLLOUT = "obsolete: there is no older system to move from"
OBSOLETE: dict[str, str] = {
    "USE_DB_CASES": _ROLLOUT,
    "USE_DB_REPORTING": _ROLLOUT,
    "USE_DB_WORKLIST_FOR_NEW": _ROLLOUT,
    "USE_DB_WORKLIST_FOR_FULL": _ROLLOUT,
    "USE_DB_WORKLIST_FOR_RESUME": _ROLLOUT,
    "CHECKPOINT_MIGRATION_PERCENTAGE": _ROLLOUT,
    "ENABLE_DOWNLOAD_EXECUTOR": "obsolete: concurrency alone says how many are fetched at once",
}

# Read by other parts of the program, or by its tests.
ELSEWHERE = frozenset({"FAULT", "MUTANT"})
