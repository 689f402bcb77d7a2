"""The one table of settings: key, default, meaning, and where each goes. Every page and error about them follows it.

Every start of the program pays for this module, so its values are structs: dataclasses take ten times as long to make.
"""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.config import types
from holdfast.config.files import PREFIX as PREFIX
from holdfast.config.types import ValueType
from holdfast.model.job import Options
from holdfast.model.lease import LEASE_S, OUTAGE_S

OF_A_FILE = "_FILE"
HOUR_S = 3600
DAY_S = 24 * HOUR_S
AT_ONCE_MAX = 256
BODY_BYTES_MAX = 256_000_000


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


def _pace(key: str, pace: str, kind: ValueType, meaning: str, option: str = "") -> Setting:
    """A default of every new job; the job keeps its own."""
    return Setting(key=key, kind=kind, default=getattr(_OPTIONS, pace), meaning=meaning, option=option, pace=pace)


def _later(key: str, kind: ValueType, default: Any, meaning: str, *, secret: bool = False) -> Setting:
    return Setting(key=key, kind=kind, default=default, meaning=meaning, secret=secret, used=False)


_OPTIONS = Options()
_WAIT = types.duration(0, DAY_S)
# fmt: off
SETTINGS: tuple[Setting, ...] = (
    Setting(key="data", kind=types.PATH, default="holdfast-data", field="data", option="--data",
            meaning="the data folder; in a file, relative to the folder of that file"),
    Setting(key="database_url", kind=types.DATABASE, default="sqlite", field="database_url", option="--database",
            meaning="the ledger: `sqlite` in the data folder, or `postgresql://…`", secret=True),
    Setting(key="min_free_mb", kind=types.whole(0, 10**9), default=400, field="min_free_mb",
            meaning="below so much free disk, in MB, nothing is claimed and the job pauses itself"),
    Setting(key="lease", kind=types.duration(0.5, HOUR_S), default=LEASE_S, field="lease_s",
            meaning="how long a lease lasts without renewal"),
    Setting(key="pause_deadline", kind=types.duration(0, HOUR_S), default=10.0, field="pause_deadline_s",
            meaning="how long pages in hand may go on after a pause was asked for"),
    Setting(key="stale_after", kind=types.duration(1, 365 * DAY_S), default=float(HOUR_S), field="stale_after_s",
            meaning="a job in which nothing moved for so long, while it was worked, is failed as stale"),
    Setting(key="outage", kind=types.duration(1, 365 * DAY_S), default=OUTAGE_S, field="outage_s",
            meaning="how long a worker waits for a ledger that does not answer, before it ends with 7"),
    Setting(key="log.debug", kind=types.FLAG, default=False, field="log_debug",
            meaning="`true`: a line for every target in the job's log, not only for failures"),
    _pace("http.timeout", "timeout_s", types.duration(0.001, DAY_S), "one whole exchange", "--timeout"),
    _pace("http.connect_timeout", "connect_timeout_s", types.duration(0.001, DAY_S), "until a host is connected"),
    _pace("http.first_byte_timeout", "first_byte_timeout_s", types.duration(0.001, DAY_S),
          "until an answer begins"),
    _pace("http.idle_timeout", "idle_timeout_s", types.duration(0.001, DAY_S), "between two parts of an answer"),
    _pace("http.max_bytes", "max_bytes", types.size(1, BODY_BYTES_MAX), "size of one answer, unpacked", "--max-bytes"),
    _pace("http.bytes_in_flight", "bytes_in_flight", types.size(1_000_000, 10**12),
          "answers that one process holds at once; beyond it, fetches wait"),
    _pace("http.allow", "allow", types.ENDPOINTS, "private addresses let through, one by one", "--allow"),
    _pace("http.resolve", "resolve", types.NAMES, "names of simulated worlds, and where they are", "--resolve"),
    _pace("http.detect_blocks", "detect_blocks", types.FLAG,
          "`false`: neither block pages nor 403 ten times in a row pause the job"),
    _pace("limits.targets_per_host", "targets_per_host", types.whole(0, 10**9),
          "targets of one host in a job; links beyond are skipped; 0: any number"),
    _pace("concurrency", "concurrency", types.clamped(1, AT_ONCE_MAX), "fetches at once", "--concurrency"),
    _pace("per_host", "per_host", types.clamped(1, AT_ONCE_MAX), "fetches at once per host", "--per-host"),
    _pace("delay", "delay_ms", types.duration_ms(0, HOUR_S), "between fetches to one host", "--delay"),
    _pace("max_attempts", "max_attempts", types.whole(1, 100), "tries per target", "--max-attempts"),
    _pace("user_agent", "user_agent", types.AGENT, "what sites are told; empty: holdfast and its version",
          "--user-agent"),
    _pace("checkpoint.every_targets", "checkpoint_targets", types.whole(0, 10**9),
          "a checkpoint after so many targets, at most one a second; 0: not by number"),
    _pace("checkpoint.every", "checkpoint_s", types.duration(1, 365 * DAY_S), "a checkpoint after so much time"),
    _pace("auto_resume", "auto_resume", types.FLAG,
          "`false`: a bare `holdfast resume` pauses what a crash left, and says so"),
    Setting(key="checkpoint.enabled", kind=types.FLAG, default=True,
            meaning="`false`: checkpoints only at pauses, limits and changes of phase"),
    Setting(key="proxy", kind=types.SECRET_URL, default="", pace="proxy", option="--proxy", secret=True,
            meaning="fetch through this proxy; with a password: `env:NAME` or `file:PATH`"),
    _pace("ca_bundle", "ca_bundle", types.PATH,
          "a PEM file (absolute path) trusted besides the system's; also `SSL_CERT_FILE`",
          "--ca-bundle"),
    _later("server", types.TEXT, "", "a Holdfast server to work with"),
    _later("token", types.SECRET, "", "the token for that server", secret=True),
    _later("broker_url", types.DATABASE, "", "`redis://…`, only when scaled out", secret=True),
    _later("record", types.FLAG, False, "keep requests, redirects, robots and failed answers too"),
    _later("offline", types.FLAG, False, "answer from what was recorded, never from the network"),
    _later("browser.nav_timeout", _WAIT, 25.0, "until a page has loaded"),
    _later("browser.selector_timeout", _WAIT, 20.0, "until what is waited for is on the page"),
    _later("browser.click_timeout", _WAIT, 5.0, "until a click has its effect"),
    _later("browser.post_click_wait", _WAIT, 0.0, "after a click"),
    _later("browser.settle_wait", _WAIT, 0.0, "before a page is tried again"),
    _later("documents.sweep_wait", _WAIT, 0.0, "before failed documents are tried once more at the end"),
    _later("documents.max_pending", types.clamped(1, 100_000), 100, "documents waiting to be downloaded"),
    _later("documents.new_limit", types.whole(0, 10**9), 0, "new documents per run; 0: all"),
    _later("webhook.secret", types.SECRET, "", "shared with who calls a webhook", secret=True),
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
