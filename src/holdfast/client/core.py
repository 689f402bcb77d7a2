"""The client: where the jobs of one data folder are submitted and found. In the process, without any service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from holdfast import config, wiring
from holdfast.client.aio import AsyncJob, awaited, awaited_job
from holdfast.client.asking import Asked, find_or_submit
from holdfast.client.facade import Job
from holdfast.client.options import CrawlOptions, PaceOptions, read_options
from holdfast.client.values import Row
from holdfast.clock import SystemClock
from holdfast.errors import BadParams
from holdfast.recipes import catalogue

if TYPE_CHECKING:
    from types import TracebackType


class Client:
    """One data folder and its ledger. `with` and `async with` both work; in the second, every method is awaited."""

    def __init__(
        self, *, data: str | Path | None = None, database: str | None = None, config_file: str | Path | None = None
    ) -> None:
        self._settings = _settings(data, database, config_file)
        self._config_file = config_file

    def crawl(self, *urls: str, name: str | None = None, new: bool = False, **options: Unpack[CrawlOptions]) -> Job:
        """A site job: found by its URLs or its name, or submitted. Nothing is fetched before `run` or `stream`."""
        recipe = catalogue.built_in("site")
        scope, pace = read_options(options, scope=True)
        if not urls:
            raise BadParams(
                "crawl needs a URL", hint='crawl("https://docs.example.dev"); a job by its name: job("docs")'
            )
        given = {**scope, "seeds": list(urls)}
        return self._submitted(Asked(recipe, given, pace, name=name, new=new, first_urls=urls))

    def run(
        self,
        recipe: str | Path,
        *,
        params: Mapping[str, Any] | None = None,
        name: str | None = None,
        new: bool = False,
        **options: Unpack[PaceOptions],
    ) -> Job:
        """A job of a recipe of one's own: a file, or `module:recipe`."""
        located = catalogue.locate(str(recipe))
        pace = read_options(options, scope=False)[1]
        checked = located.recipe.check({name: str(value) for name, value in (params or {}).items()})
        asked = Asked(
            located.recipe,
            checked,
            pace,
            name=name,
            new=new,
            first_urls=tuple(located.recipe.first_urls(checked)),
            kept={"recipe_source": located.source, "recipe_sha256": located.digest},
            planned_total=located.recipe.planned_total(checked),
        )
        return self._submitted(asked)

    def cases(
        self,
        *ranges: str,
        url: str,
        start: int | None = None,
        max_cases: int | None = None,
        name: str | None = None,
        new: bool = False,
        **options: Unpack[PaceOptions],
    ) -> Job:
        """Every number of ranges such as `IMM-1-25..IMM-500-25`; `url` has `{prefix} {number} {year}` in it."""
        from holdfast.recipes.cases.ids import read_range
        from holdfast.recipes.cases.recipe import CasesRecipe

        recipe = CasesRecipe(SystemClock())
        given = {"ranges": [str(read_range(each, start, max_cases)) for each in ranges], "url": url}
        params = recipe.check(given)
        pace = read_options(options, scope=False)[1]
        first = tuple(recipe.first_urls(params))
        total = recipe.planned_total(params)
        return self._submitted(Asked(recipe, given, pace, name=name, new=new, first_urls=first, planned_total=total))

    def job(self, reference: str) -> Job:
        """By name, id or a unique beginning of the id; NotFound says what there is."""
        with closing(wiring.open_ledger(self._settings)) as ledger:
            return Job(self._settings, ledger.job(reference))

    def jobs(self, *, status: str | None = None, kind: str | None = None) -> list[Job]:
        """All jobs of this ledger, oldest first."""
        with closing(wiring.open_ledger(self._settings)) as ledger:
            rows = [row for row in ledger.jobs() if status in (None, row.status) and kind in (None, row.recipe)]
        return [Job(self._settings, row) for row in rows]

    def doctor(self) -> list[Row]:
        """Whether everything is in order: checks with `name`, `ok`, `required`, `detail`."""
        from holdfast.doctor import examine

        settings, file = self._settings, self._config_file
        named = None if file is None else str(file)
        checks = examine(data=str(settings.data), database=settings.database_url, config_file=named)[1]
        return [
            Row({"name": each.name, "ok": each.ok, "required": each.required, "detail": each.detail}) for each in checks
        ]

    def _submitted(self, asked: Asked) -> Job:
        with closing(wiring.open_ledger(self._settings)) as ledger:
            return Job(self._settings, find_or_submit(self._settings, ledger, asked))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing to give back: a client holds no connection."""

    async def __aenter__(self) -> AsyncClient:
        return AsyncClient(self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Nothing to give back either."""


class AsyncClient:
    """A client in an async program; `async with hf.Client() as client` gives one."""

    def __init__(self, plain: Client) -> None:
        self._plain = plain

    crawl = awaited_job(Client.crawl)
    cases = awaited_job(Client.cases)
    run = awaited_job(Client.run)
    job = awaited_job(Client.job)
    doctor = awaited(Client.doctor)

    async def jobs(self, *, status: str | None = None, kind: str | None = None) -> list[AsyncJob]:
        """As Client.jobs."""
        return [AsyncJob(each) for each in await asyncio.to_thread(self._plain.jobs, status=status, kind=kind)]


def crawl(
    *urls: str,
    name: str | None = None,
    new: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[CrawlOptions],
) -> Job:
    """`Client(data=…).crawl(…)`."""
    return Client(data=data, database=database).crawl(*urls, name=name, new=new, **options)


def cases(
    *ranges: str,
    url: str,
    start: int | None = None,
    max_cases: int | None = None,
    name: str | None = None,
    new: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[PaceOptions],
) -> Job:
    """`Client(data=…).cases(…)`."""
    client = Client(data=data, database=database)
    return client.cases(*ranges, url=url, start=start, max_cases=max_cases, name=name, new=new, **options)


def run(
    recipe: str | Path,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    new: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[PaceOptions],
) -> Job:
    """`Client(data=…).run(…)`."""
    return Client(data=data, database=database).run(recipe, params=params, name=name, new=new, **options)


def job(reference: str, *, data: str | Path | None = None, database: str | None = None) -> Job:
    """`Client(data=…).job(…)`."""
    return Client(data=data, database=database).job(reference)


def doctor(*, data: str | Path | None = None, database: str | None = None) -> list[Row]:
    """`Client(data=…).doctor()`."""
    return Client(data=data, database=database).doctor()


def jobs(
    *,
    status: str | None = None,
    kind: str | None = None,
    data: str | Path | None = None,
    database: str | None = None,
) -> list[Job]:
    """`Client(data=…).jobs(…)`."""
    return Client(data=data, database=database).jobs(status=status, kind=kind)


def _settings(data: str | Path | None, database: str | None, config_file: str | Path | None) -> config.Settings:
    """As the command line reads them; the folder by its full name, since programs change their directory."""
    read = config.load(
        data=None if data is None else str(data),
        database=database,
        config=None if config_file is None else str(config_file),
    )
    return replace(read, data=read.data.absolute())
