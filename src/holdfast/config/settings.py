"""Settings, as the program is handed them. Every path of the product is here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.model.lease import LEASE_S, OUTAGE_S

if TYPE_CHECKING:
    from holdfast.config.jobfile import JobDescription


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things lie and how long things last. Below `wiring.py` nobody sees this object.

    `config_file` is the one that was named, or found nearest, for who hands these settings on to a process of its own.
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
    config_file: str | None = None
    pace: Mapping[str, Any] = field(default_factory=dict)
    pace_origins: Mapping[str, str] = field(default_factory=dict)
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, JobDescription] = field(default_factory=dict)
    obsolete: Mapping[str, str] = field(default_factory=dict)

    @property
    def ledger_path(self) -> Path:
        return self.data / "ledger.db"

    @property
    def segments(self) -> Path:
        return self.data / "segments"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def snapshots(self) -> Path:
        return self.data / "snapshots"

    @property
    def exports(self) -> Path:
        return self.data / "exports"
