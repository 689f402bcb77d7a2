"""Loading the settings: once, at the edge, by every entry point."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from holdfast.config.files import PREFIX, nearest, read_env_file, users_own
from holdfast.config.settings import Settings


def load(
    *,
    data: str | None = None,
    database: str | None = None,
    config: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Flag over `HOLDFAST_*` over the nearest `holdfast.toml` (or `config`) over the user's own over default.

    Where none of them says anything, as is usual, the table of settings is not even loaded: it takes 10 ms.
    """
    if config is None and not _is_said(os.environ if environ is None else environ) and ":" not in (database or ""):
        plain = Settings()
        return replace(plain, data=Path(data) if data else plain.data, database_url=database or plain.database_url)
    from holdfast.config.building import places, read, settings_of

    settings = settings_of(read(places(data=data, database=database, config=config, environ=environ)))
    near = nearest(Path()) if config is None else Path(config)
    return settings if near is None else replace(settings, config_file=str(near.absolute()))


def _is_said(environ: Mapping[str, str]) -> bool:
    if any(name.startswith(PREFIX) for name in environ) or nearest(Path()) is not None:
        return True
    own = users_own(environ)
    return own is not None and own.is_file()


def add_env_file(name: str) -> None:
    """What a `.env` file says, where the environment says nothing: settings, and the secrets that they refer to."""
    for variable, text in read_env_file(Path(name)).items():
        os.environ.setdefault(variable, text)
