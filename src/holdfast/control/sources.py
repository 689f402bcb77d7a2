"""What the settings say of where results come from: `sources.NAME`, a source by a name, and `engines.NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from holdfast.recipe.kind import Kind


class SourceSettings(Protocol):
    """Of the settings, what is needed here."""

    @property
    def sites(self) -> Mapping[str, Mapping[str, Any]]: ...

    @property
    def engines(self) -> Mapping[str, str]: ...


def configured_params(kind: Kind, settings: SourceSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a new job, with what the settings say of their sources."""
    found = named_source(kind, settings, options)
    if kind.asks_engines and settings.engines:
        found["origins"] = dict(settings.engines)
    return found


def named_source(kind: Kind, settings: SourceSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with the name of a configured source replaced by what is configured of it.

    One with a `url` only is that URL; one with more is handed on whole, and is kept with the job: a job must not
    change with the configuration of another day.
    """
    name = options.get(kind.sourced) if kind.sourced else None
    fields = settings.sites.get(str(name)) if name else None
    if not fields:
        return dict(options)
    if set(fields) == {"url"}:
        return {**options, kind.sourced: fields["url"]}
    return {**options, kind.sourced: fields.get("url", ""), "source": dict(fields)}
