"""What Python asks for: a site, a recipe of one's own, a range, a row of a list. Opens nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast import wiring
from holdfast.client.options import read_options
from holdfast.config import Settings
from holdfast.control.sources import configured_params
from holdfast.control.submit import JobRequest
from holdfast.errors import BadParams
from holdfast.model.job import check_name
from holdfast.model.keys import looks_like_url
from holdfast.model.option import COMMAND
from holdfast.recipes import catalogue

if TYPE_CHECKING:
    from holdfast.config.job_description import JobDescription

SITE = "site"


def start(
    settings: Settings,
    kind: str,
    inputs: Sequence[str],
    options: Mapping[str, Any],
    *,
    name: str | None = None,
    new: bool = False,
) -> JobRequest:
    """A job of a kind that comes with Holdfast; what makes its params stands among the options."""
    recipe = catalogue.built_in(kind)
    params, pace = read_options(options, catalogue.kind(kind))
    params = configured_params(catalogue.kind(kind), settings, params)
    wiring.check_archives(params, pace)
    return JobRequest(
        recipe=recipe,
        given=catalogue.kind(kind).given(inputs, params),
        pace=pace,
        configured=settings.pace,
        name=_checked(name),
        new=new,
    )


def site(
    settings: Settings, urls: Sequence[str], options: Mapping[str, Any], *, name: str | None = None, new: bool = False
) -> JobRequest:
    if not urls and not options.get("from_warc"):
        read_options(options, catalogue.kind(SITE))  # an unknown option is said first
        raise BadParams("crawl needs a URL", hint='crawl("https://docs.example.dev"); a job by its name: job("docs")')
    for word in urls:
        if not looks_like_url(word):
            hint = f'crawl("https://docs.example.dev"); a job by its name: job({word!r})'
            raise BadParams(f"{word!r} is not a URL", hint=hint)
    return start(settings, SITE, urls, options, name=name, new=new)


def own(
    settings: Settings,
    recipe: str | Path,
    options: Mapping[str, Any],
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    new: bool = False,
) -> JobRequest:
    """A recipe of one's own."""
    located = catalogue.locate(str(recipe))
    pace = read_options(options, catalogue.kind(located.recipe.name))[1]
    checked = located.recipe.check({name: str(value) for name, value in (params or {}).items()})
    return JobRequest(
        recipe=located.recipe,
        given=checked,
        pace=pace,
        configured=settings.pace,
        name=_checked(name),
        new=new,
        whole=True,
        first_urls=tuple(located.recipe.first_urls(checked)),
        kept={"recipe_source": located.source, "recipe_sha256": located.digest},
        planned_total=located.recipe.planned_total(checked),
    )


def row(settings: Settings, description: JobDescription, batch: str) -> JobRequest:
    """The job that a row of a list describes, as one of its batch."""
    settings = replace(settings, pace={**settings.pace, **description.pace, "batch": batch})
    options = _as_python(description.options)
    if not catalogue.kind(description.kind).is_own_code:
        return start(settings, description.kind, description.inputs, options, name=description.name)
    return own(settings, description.kind, options, params=description.params, name=description.name)


def _as_python(options: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a job file as Python has them, but for those that are matters of the command that works the job."""
    from holdfast.config.job_keys import job_keys

    rows = {key: job_keys()[key].option for key in options}
    found = {rows[key].python_name or key: value for key, value in options.items() if rows[key].part != COMMAND}
    if "headers" in found:
        lines = (line.partition(":") for line in found["headers"])
        found["headers"] = {name.strip(): text.strip() for name, _, text in lines}
    return found


def _checked(name: str | None) -> str | None:
    if name is not None:
        check_name(name)
    return name
