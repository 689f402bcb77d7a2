"""From everything that was read to the one `Settings`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.config.reading import DEFAULT, Places, Reading
from holdfast.config.reading import read as read
from holdfast.config.settings import Settings
from holdfast.config.table import SETTINGS
from holdfast.errors import BadParams

if TYPE_CHECKING:
    from holdfast.config.job_description import JobDescription

BROWSER = "browser_"
NEVER_S = 1e9  # the interval of checkpoints that are switched off


def places(
    *,
    data: str | None = None,
    database: str | None = None,
    config: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Places:
    """Where to look, from what was typed."""
    typed = {"data": data, "database_url": database}
    flags = {key: text for key, text in typed.items() if text}
    if config is not None and not Path(config).is_file():
        raise BadParams(f"--config: there is no file {config}")
    return Places(flags=flags, environ=environ, config=None if config is None else Path(config).absolute())


def settings_of(reading: Reading) -> Settings:
    named = {row.field: reading[row.key] for row in SETTINGS if row.field}
    fields: dict[str, Any] = {name: found.value for name, found in named.items() if not name.startswith(BROWSER)}
    fields["browser"] = {
        name.removeprefix(BROWSER): found.value
        for name, found in named.items()
        if name.startswith(BROWSER) and found.origin != DEFAULT
    }
    fields["data"] = Path(fields["data"])
    pace = {row.pace: reading[row.key] for row in SETTINGS if row.pace and reading[row.key].origin != DEFAULT}
    values = {name: found.value for name, found in pace.items()}
    if not reading["checkpoint.enabled"].value:
        values |= {"checkpoint_targets": 0, "checkpoint_s": NEVER_S}
    return Settings(
        **fields,
        pace=values,
        pace_origins={name: found.origin for name, found in pace.items()},
        hosts=reading.trees["hosts"],
        sources={name: fields["url"] for name, fields in reading.trees["sources"].items() if "url" in fields},
        engines={name: fields["base_url"] for name, fields in reading.trees["engines"].items() if "base_url" in fields},
        sites=reading.trees["sources"],
        jobs=_jobs(reading),
        obsolete=reading.obsolete,
    )


def _jobs(reading: Reading) -> dict[str, JobDescription]:
    """The jobs that files describe, checked like everything else."""
    found: dict[str, JobDescription] = {}
    if not reading.trees["job"]:
        return found
    from holdfast.config.jobfile import description

    for name, table in reading.trees["job"].items():
        origin = reading.origins["job", name]
        found[name] = description(name, table, where=f"{origin}: job.{name}", folder=Path(origin).parent)
    return found
