"""Settings, built once at the edge: command line over environment over default. Every path of the product is here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import BadParams
from holdfast.model.lease import LEASE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things lie and how long things last. Below `wiring.py` nobody sees this object."""

    data: Path = Path("holdfast-data")
    database_url: str = "sqlite"
    lease_s: float = LEASE_S
    pause_deadline_s: float = 10.0
    min_free_mb: int = 400

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
    def exports(self) -> Path:
        return self.data / "exports"


def load(*, data: str | None = None, database: str | None = None, environ: dict[str, str] | None = None) -> Settings:
    """Flag over `HOLDFAST_*` over default."""
    env = dict(os.environ) if environ is None else environ
    return Settings(
        data=Path(data or env.get("HOLDFAST_DATA") or "holdfast-data"),
        database_url=database or env.get("HOLDFAST_DATABASE_URL") or "sqlite",
        lease_s=_number(env, "HOLDFAST_LEASE_S", LEASE_S, least=0.5),
        pause_deadline_s=_number(env, "HOLDFAST_PAUSE_DEADLINE_S", 10.0, least=0.0),
        min_free_mb=int(_number(env, "HOLDFAST_MIN_FREE_MB", 400, least=0)),
    )


def _number(env: dict[str, str], name: str, default: float, *, least: float) -> float:
    text = env.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        raise BadParams(f"{name}={text!r} is not a number") from None
    if value < least:
        raise BadParams(f"{name}={text} is too small; at least {least:g}")
    return value
