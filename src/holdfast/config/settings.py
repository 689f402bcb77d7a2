"""Settings, as the program is handed them. Every path of the product is here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.model.lease import LEASE_S, OUTAGE_S

if TYPE_CHECKING:
    from holdfast.config.job_description import JobDescription

STOP_GRACE_S = 5.0  # beyond `pause_deadline_s`: who has not stopped by then does not do so by itself


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where things lie and how long things last. Nothing below `wiring` sees this object.

    `config_file` is the one that was named, or found nearest; it is passed on to child processes.
    `pace` has the defaults that somebody set for new jobs, by the field of a job's options; `pace_origins` says where.
    """

    data: Path = Path("holdfast-data")
    database_url: str = "sqlite"
    lease_s: float = LEASE_S
    pause_deadline_s: float = 10.0
    stale_after_s: float = 3600.0
    outage_s: float = OUTAGE_S
    min_free_mb: int = 400
    log_debug: bool = False
    browser: Mapping[str, Any] = msgspec.field(default_factory=dict)  # fields of `fetch.browser.limits.BrowserLimits`
    config_file: str | None = None
    pace: Mapping[str, Any] = msgspec.field(default_factory=dict)
    pace_origins: Mapping[str, str] = msgspec.field(default_factory=dict)
    hosts: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    engines: Mapping[str, str] = msgspec.field(default_factory=dict)
    sites: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)  # all that is configured of them
    jobs: Mapping[str, JobDescription] = msgspec.field(default_factory=dict)
    obsolete: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def ledger_path(self) -> Path:
        return self.data / "ledger.db"

    @property
    def segments(self) -> Path:
        return self.data / "segments"

    @property
    def artifacts(self) -> Path:
        return self.data / "artifacts"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def snapshots(self) -> Path:
        return self.data / "snapshots"

    @property
    def recordings(self) -> Path:
        """Every exchange of jobs that were told to record."""
        return self.data / "recordings"

    @property
    def archives(self) -> Path:
        """What is known of WARC files that jobs read in place of the web."""
        return self.data / "archives"

    @property
    def exports(self) -> Path:
        return self.data / "exports"
