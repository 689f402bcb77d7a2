"""The client: where the jobs of one data folder are submitted and found. In the process, without any service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from msgspec.structs import replace

from holdfast import config, wiring
from holdfast.client import asked
from holdfast.client.aio import AsyncJob, awaited, awaited_job
from holdfast.client.arguments import refuses_wrong_kinds
from holdfast.client.asking import ACTOR, ClientSubmit, check
from holdfast.client.documents import with_list
from holdfast.client.facade import JobHandle
from holdfast.client.option_types import CrawlOptions, PaceOptions
from holdfast.client.options import read_options
from holdfast.client.values import Row
from holdfast.clock import SystemClock
from holdfast.control.submit import JobRequest, find_or_submit
from holdfast.errors import BadParams, NotFound
from holdfast.model.job import JobFilter
from holdfast.model.keys import seed_address
from holdfast.recipes import catalogue
from holdfast.views.documents import every_host, host_document

if TYPE_CHECKING:
    from types import TracebackType

    from holdfast.config.job_description import JobDescription


@refuses_wrong_kinds("__init__")
class Client:
    """One data folder and its ledger. `with` and `async with` both work; in the second, every method is awaited."""

    def __init__(
        self, *, data: str | Path | None = None, database: str | None = None, config_file: str | Path | None = None
    ) -> None:
        self._settings = _settings(data, database, config_file)
        self._config_file = config_file

    def crawl(
        self,
        *urls: str,
        name: str | None = None,
        new: bool = False,
        update: bool = False,
        **options: Unpack[CrawlOptions],
    ) -> JobHandle:
        """A site job: found by its URLs or its name, or submitted. Nothing is fetched before `run` or `stream`.

        `update=True` applies a changed scope to what is pending; a completed job begins a new scan in that scope.
        """
        return self._submitted(asked.site(self._settings, urls, options, name=name, new=new), update=update)

    def run(
        self,
        recipe: str | Path,
        *,
        params: Mapping[str, Any] | None = None,
        name: str | None = None,
        new: bool = False,
        **options: Unpack[PaceOptions],
    ) -> JobHandle:
        """A job of a recipe of one's own: a file, or `module:recipe`."""
        return self._submitted(asked.own(self._settings, recipe, options, params=params, name=name, new=new))

    def cases(
        self,
        *ranges: str,
        url: str,
        start: int | None = None,
        max_cases: int | None = None,
        name: str | None = None,
        new: bool = False,
        **options: Unpack[PaceOptions],
    ) -> JobHandle:
        """Every number of ranges such as `IMM-1-25..IMM-500-25`; `url` has `{prefix} {number} {year}` in it."""
        given = {**options, "url": url, "start": start, "max_cases": max_cases}
        return self._submitted(asked.start(self._settings, "cases", ranges, given, name=name, new=new))

    def images(
        self,
        *keywords: str,
        per_keyword: int | None = None,
        engines: Sequence[str] | None = None,
        urls: str | Path | None = None,
        columns: Mapping[str, str] | str | None = None,
        save_columns: Sequence[str] | None = None,
        min_size: str | None = None,
        dedupe: str | None = None,
        distinct_from: Sequence[str] | None = None,
        name: str | None = None,
        new: bool = False,
        update: bool = False,
        **options: Unpack[PaceOptions],
    ) -> JobHandle:
        """So many distinct images per keyword, from search engines or from `urls`, a file of keyword and url.

        `columns={"url": "Link", "keyword": "Class"}` says which of its columns is what, `save_columns` what is kept.

        `update=True` applies a higher number, or more keywords, to a job that is there: it goes on from what it has.
        """
        typed: dict[str, Any] = {"per_keyword": per_keyword, "engines": engines, "min_size": min_size, "dedupe": dedupe}
        typed["distinct_from"] = distinct_from
        given: dict[str, Any] = {key: value for key, value in typed.items() if value is not None}
        given |= {"urls": str(urls)} if urls is not None else {}
        of_list = {"columns": columns, "save_columns": save_columns}
        given |= {key: value for key, value in of_list.items() if value is not None}
        wanted = asked.start(self._settings, "images", keywords, {**given, **options}, name=name, new=new)
        return self._submitted(wanted, update=update)

    def docs(
        self,
        list: str | Path,
        *,
        columns: Mapping[str, str] | str | None = None,
        skip_where: str | None = None,
        site: str | None = None,
        hosts: Sequence[str] | None = None,
        limit: int | None = None,
        require_fresh: bool = False,
        accept_jump: bool = False,
        name: str | None = None,
        new: bool = False,
        **options: Unpack[PaceOptions],
    ) -> JobHandle:
        """The documents that a list names: a CSV file, its URL, or a source's name. The list is looked at now.

        `columns={"url": "Link", "id": "Number"}`; `limit` is for the next run: the rest stays pending.
        """
        given = {**options, "columns": columns, "skip_where": skip_where, "site": site, "hosts": hosts}
        wanted = asked.start(self._settings, "documents", [str(list)], given, name=name, new=new)
        return self._submitted(wanted, limit=limit, require_fresh=require_fresh, accept_jump=accept_jump)

    def start(
        self,
        kind: str,
        /,
        *inputs: str,
        name: str | None = None,
        new: bool = False,
        update: bool = False,
        **options: Any,
    ) -> JobHandle:
        """A job of any kind that comes with Holdfast, by the kind's name: `start("cases", "IMM-1-25", url=…)`.

        The options are those of its start command, as a job file has them.
        """
        return self._submitted(asked.start(self._settings, kind, inputs, options, name=name, new=new), update=update)

    def batch(self, path: str | Path, template: str | Path) -> list[JobHandle]:
        """One job per row of a list, by a template (`holdfast run LIST.csv --template FILE.toml`); none is run yet.

        Every row is read and checked before the first job is submitted. What a command does at its end (`output`,
        `fail_on` …) is the program's own affair here.
        """
        from holdfast.config.lists import descriptions_in_list

        rows: list[JobRequest] = []

        def checked(description: JobDescription) -> str:
            rows.append(asked.row(self._settings, description, Path(path).stem))
            check(ledger, rows[-1], self._settings.browser)
            return rows[-1].identity()

        is_new = wiring.is_untouched(self._settings)
        with nullcontext() if is_new else closing(wiring.open_ledger(self._settings)) as ledger:
            descriptions_in_list(Path(path), Path(template), checked)
        return [self._submitted(row) for row in rows]

    def restore(
        self, path: str | Path, *, name: str | None = None, replace: bool = False, trust: bool = False
    ) -> JobHandle:
        """A job from a snapshot. Its name must be free; else give a `name`, or `replace` renames the old job to NAME~1.

        One that wants more than public pages (private addresses, secrets of this computer, a proxy, code of its own) is
        refused and said to, unless `trust` is given.
        """
        from holdfast.control.restore import RestoreOptions
        from holdfast.control.snapshot_file import opened_snapshot, restore_snapshot

        restore_options = RestoreOptions(name, replace, ACTOR, trust)
        storage = wiring.storage(self._settings)
        with opened_snapshot(storage, Path(path)) as snapshot, closing(wiring.open_ledger(self._settings)) as ledger:
            return JobHandle(self._settings, restore_snapshot(storage, ledger, snapshot, restore_options))

    def job(self, reference: str) -> JobHandle:
        """By name, id or a unique beginning of the id; NotFound says what there is."""
        if wiring.is_untouched(self._settings):
            raise NotFound(f"there is no ledger in {self._settings.data} yet, so there are no jobs")
        with closing(wiring.open_to_look(self._settings)) as ledger:
            return JobHandle(self._settings, ledger.job(reference))

    def jobs(self, *, status: str | None = None, kind: str | None = None) -> list[JobHandle]:
        """All jobs of this ledger, oldest first."""
        if wiring.is_untouched(self._settings):
            return []
        with closing(wiring.open_to_look(self._settings)) as ledger:
            rows = ledger.jobs(where=JobFilter(status=status, recipe=kind))
        return [JobHandle(self._settings, row) for row in rows]

    def limits(
        self, host: str | None = None, *, delay: float | str | None = None, concurrency: int | None = None
    ) -> list[Row]:
        """What hosts are owed, for all jobs; with `delay` or `concurrency` that of `host` is set first."""
        pace = read_options({"delay": delay, "concurrency": concurrency}, catalogue.kind(""))[1]
        if pace and host is None:
            raise BadParams("which host is to be limited?", hint='limits("judicial.ky", delay="2s")')
        name = None if host is None else seed_address(host).host
        if not pace and wiring.is_untouched(self._settings):
            return []
        with closing(wiring.open_to_look(self._settings)) as ledger:
            if name is not None and pace:
                because = f"{name}: {', '.join(f'{field} {value}' for field, value in pace.items())}"
                ledger.limit_host(name, **pace, actor=ACTOR, because=because)
            return [Row(host_document(look, SystemClock().wall_ms())) for look in every_host(ledger, name)]

    def doctor(self, *, deep: bool = False) -> list[Row]:
        """Whether everything is in order: checks with `name`, `ok`, `required`, `detail`. `deep` hashes every file."""
        from holdfast.health_checks import examine

        settings, file = self._settings, self._config_file
        named = None if file is None else str(file)
        checks = examine(data=str(settings.data), database=settings.database_url, config_file=named, deep=deep)[1]
        return [
            Row({"name": each.name, "ok": each.ok, "required": each.required, "detail": each.detail}) for each in checks
        ]

    def _submitted(self, wanted: JobRequest, *, update: bool = False, **look: Any) -> JobHandle:
        with closing(wiring.open_ledger(self._settings)) as ledger:
            if catalogue.kind(wanted.recipe.name).has_list:
                wanted = with_list(self._settings, ledger, wanted, **look)
            found = find_or_submit(
                ledger, wanted, ClientSubmit(ledger=ledger, update=update, browser=self._settings.browser), actor=ACTOR
            )
            return JobHandle(self._settings, found)

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
    images = awaited_job(Client.images)
    docs = awaited_job(Client.docs)
    start = awaited_job(Client.start)
    run = awaited_job(Client.run)
    restore = awaited_job(Client.restore)
    job = awaited_job(Client.job)
    limits = awaited(Client.limits)
    doctor = awaited(Client.doctor)

    async def batch(self, path: str | Path, template: str | Path) -> list[AsyncJob]:
        """As Client.batch."""
        return [AsyncJob(each) for each in await asyncio.to_thread(self._plain.batch, path, template)]

    async def jobs(self, *, status: str | None = None, kind: str | None = None) -> list[AsyncJob]:
        """As Client.jobs."""
        return [AsyncJob(each) for each in await asyncio.to_thread(self._plain.jobs, status=status, kind=kind)]


def crawl(
    *urls: str,
    name: str | None = None,
    new: bool = False,
    update: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[CrawlOptions],
) -> JobHandle:
    """`Client(data=…).crawl(…)`."""
    return Client(data=data, database=database).crawl(*urls, name=name, new=new, update=update, **options)


def batch(
    path: str | Path, template: str | Path, *, data: str | Path | None = None, database: str | None = None
) -> list[JobHandle]:
    """`Client(data=…).batch(…)`."""
    return Client(data=data, database=database).batch(path, template)


def images(
    *keywords: str,
    per_keyword: int | None = None,
    engines: Sequence[str] | None = None,
    urls: str | Path | None = None,
    columns: Mapping[str, str] | str | None = None,
    save_columns: Sequence[str] | None = None,
    min_size: str | None = None,
    dedupe: str | None = None,
    distinct_from: Sequence[str] | None = None,
    name: str | None = None,
    new: bool = False,
    update: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[PaceOptions],
) -> JobHandle:
    """`Client(data=…).images(…)`."""
    client = Client(data=data, database=database)
    return client.images(
        *keywords,
        per_keyword=per_keyword,
        engines=engines,
        urls=urls,
        columns=columns,
        save_columns=save_columns,
        min_size=min_size,
        dedupe=dedupe,
        distinct_from=distinct_from,
        name=name,
        new=new,
        update=update,
        **options,
    )


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
) -> JobHandle:
    """`Client(data=…).cases(…)`."""
    client = Client(data=data, database=database)
    return client.cases(*ranges, url=url, start=start, max_cases=max_cases, name=name, new=new, **options)


def docs(
    list: str | Path,
    *,
    columns: Mapping[str, str] | str | None = None,
    skip_where: str | None = None,
    site: str | None = None,
    hosts: Sequence[str] | None = None,
    limit: int | None = None,
    require_fresh: bool = False,
    accept_jump: bool = False,
    name: str | None = None,
    new: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[PaceOptions],
) -> JobHandle:
    """`Client(data=…).docs(…)`."""
    return Client(data=data, database=database).docs(
        list,
        columns=columns,
        skip_where=skip_where,
        site=site,
        hosts=hosts,
        limit=limit,
        require_fresh=require_fresh,
        accept_jump=accept_jump,
        name=name,
        new=new,
        **options,
    )


def run(
    recipe: str | Path,
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    new: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
    **options: Unpack[PaceOptions],
) -> JobHandle:
    """`Client(data=…).run(…)`."""
    return Client(data=data, database=database).run(recipe, params=params, name=name, new=new, **options)


def restore(
    path: str | Path,
    *,
    name: str | None = None,
    replace: bool = False,
    trust: bool = False,
    data: str | Path | None = None,
    database: str | None = None,
) -> JobHandle:
    """`Client(data=…).restore(…)`."""
    return Client(data=data, database=database).restore(path, name=name, replace=replace, trust=trust)


def job(reference: str, *, data: str | Path | None = None, database: str | None = None) -> JobHandle:
    """`Client(data=…).job(…)`."""
    return Client(data=data, database=database).job(reference)


def limits(
    host: str | None = None,
    *,
    delay: float | str | None = None,
    concurrency: int | None = None,
    data: str | Path | None = None,
    database: str | None = None,
) -> list[Row]:
    """`Client(data=…).limits(…)`."""
    return Client(data=data, database=database).limits(host, delay=delay, concurrency=concurrency)


def doctor(*, deep: bool = False, data: str | Path | None = None, database: str | None = None) -> list[Row]:
    """`Client(data=…).doctor()`."""
    return Client(data=data, database=database).doctor(deep=deep)


def jobs(
    *,
    status: str | None = None,
    kind: str | None = None,
    data: str | Path | None = None,
    database: str | None = None,
) -> list[JobHandle]:
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
