"""What Python asks for: a site, a recipe of one's own, a range, a row of a list. Opens nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.client.options import read_options
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.control.submit import JobRequest
from holdfast.errors import BadParams
from holdfast.model.job import check_name
from holdfast.model.keys import looks_like_url
from holdfast.recipes import catalogue

if TYPE_CHECKING:
    from holdfast.config.jobfile import JobDescription

# Keys of a job file that are matters of the command that works it.
OF_COMMANDS = ("mode", "processes", "output", "to", "start_paused", "fail_on", "notify")


def site(
    settings: Settings, urls: Sequence[str], options: Mapping[str, Any], *, name: str | None = None, new: bool = False
) -> JobRequest:
    scope, pace = read_options(options, scope=True)
    if not urls:
        raise BadParams("crawl needs a URL", hint='crawl("https://docs.example.dev"); a job by its name: job("docs")')
    for word in urls:
        if not looks_like_url(word):
            hint = f'crawl("https://docs.example.dev"); a job by its name: job({word!r})'
            raise BadParams(f"{word!r} is not a URL", hint=hint)
    return JobRequest(
        recipe=catalogue.built_in("site"),
        given={**scope, "seeds": list(urls)},
        pace=pace,
        configured=settings.pace,
        name=_checked(name),
        new=new,
        first_urls=tuple(urls),
    )


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
    pace = read_options(options, scope=False)[1]
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


def cases(
    settings: Settings,
    ranges: Sequence[str],
    options: Mapping[str, Any],
    *,
    url: str,
    start: int | None = None,
    max_cases: int | None = None,
    name: str | None = None,
    new: bool = False,
) -> JobRequest:
    from holdfast.recipes.cases.ids import read_range
    from holdfast.recipes.cases.recipe import CasesRecipe

    recipe = CasesRecipe(SystemClock())
    params = recipe.check({"ranges": [str(read_range(each, start, max_cases)) for each in ranges], "url": url})
    return JobRequest(
        recipe=recipe,
        given=params,
        pace=read_options(options, scope=False)[1],
        configured=settings.pace,
        name=_checked(name),
        new=new,
        whole=True,
        first_urls=tuple(recipe.first_urls(params)),
        planned_total=recipe.planned_total(params),
    )


def row(settings: Settings, description: JobDescription, batch: str) -> JobRequest:
    """The job that a row of a list describes, as one of its batch."""
    settings = replace(settings, pace={**settings.pace, **description.pace, "batch": batch})
    options: dict[str, Any] = {key: value for key, value in description.options.items() if key not in OF_COMMANDS}
    if "header" in options:
        lines = (line.partition(":") for line in options.pop("header"))
        options["headers"] = {name.strip(): text.strip() for name, _, text in lines}
    if description.kind == "site":
        return site(settings, description.inputs, options, name=description.name)
    if description.kind == "cases":
        url, start, max_cases = options.pop("url", ""), options.pop("start", None), options.pop("max_cases", None)
        return cases(
            settings, description.inputs, options, url=url, start=start, max_cases=max_cases, name=description.name
        )
    return own(settings, description.kind, options, params=description.params, name=description.name)


def _checked(name: str | None) -> str | None:
    if name is not None:
        check_name(name)
    return name
