"""A documents job and its list: which list is meant, its newest version, and a job that grows by what that brings.

Every surface asks here. The list is kept first, then the job refers to it in one commit: a crash between the two costs
nothing, because the next start finds that the job does not know the newest version yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from holdfast.clock import Clock
from holdfast.control.list_look import from_file, from_url
from holdfast.control.list_store import ListStore
from holdfast.control.list_sync import Synced, count_planned, sync
from holdfast.control.list_turns import HostTurns
from holdfast.control.reopen import rescan, walked
from holdfast.control.webhook import WEBHOOK
from holdfast.engine.liveness import is_dead
from holdfast.engine.patience import repeated
from holdfast.engine.recovery import VERB_TRIES, holder_of
from holdfast.errors import BadParams
from holdfast.model.job import Grown, Job, JobFilter, Options
from holdfast.model.keys import canonical, origin_of
from holdfast.ports import Fetcher, Hosts, Ledger
from holdfast.recipes.documents.kind import KIND
from holdfast.recipes.documents.list_file import ListFile, ListShape
from holdfast.recipes.documents.versions import SOURCES

if TYPE_CHECKING:
    from random import Random

# Lists that are known by name. A table sources.NAME of the configuration has the last word.
KNOWN_SOURCES: Mapping[str, Mapping[str, Any]] = {
    "unreported_judgments": {
        "url": "https://www.judicial.ky/wp-content/uploads/box_files/judgments.csv",
        "site": "https://www.judicial.ky/",
        "hosts": ["box.com"],
    },
    "public_registers": {
        "url": "https://www.judicial.ky/wp-content/uploads/box_files/public-registers.csv",
        "site": "https://www.judicial.ky/",
        "hosts": ["box.com"],
    },
}
TRIGGERS = (WEBHOOK, "schedule")  # besides the surfaces themselves
assert set(KNOWN_SOURCES) == set(SOURCES)


class ListAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Where lists are kept, and how one is fetched."""

    store: ListStore
    open_fetcher: Callable[[str], Fetcher]
    clock: Clock
    hosts: Hosts
    options: Options  # of the job, perhaps one that is still to be made
    random: Callable[[], Random]  # for jitter
    refuse: Callable[[ListFile], None] = lambda listed: None  # BadParams, where no job is to be made of this list
    require_fresh: bool = False
    accept_jump: bool = False


def meant_list(word: str, configured: Mapping[str, Mapping[str, Any]], *, must: bool = True) -> dict[str, Any] | None:
    """The params that a word for a list stands for: a file, a URL, or a source. None (or BadParams): it is none."""
    if "://" in word:
        address = canonical(word)
        if address is None:
            raise BadParams(f"{word!r} is not an http or https URL of a list")
        return {"list": address.url}
    path = Path(word).expanduser()
    if path.is_file():
        return {"list": str(path.absolute())}
    known = {**KNOWN_SOURCES, **configured}
    if word in known and known[word].get("url"):
        source = known[word]
        site = source.get("site") or origin_of(source["url"]) + "/"
        return {"list": source["url"], "source": word, "site": site, "hosts": list(source.get("hosts", ()))}
    if not must:
        return None
    if path.is_dir():
        raise BadParams(f"{word} is a folder; a list is a file")
    raise BadParams(
        f"there is no list {word!r}: no such file, job or source",
        hint=f"a CSV file, its URL, or {', '.join(configured)}" if configured else "a CSV file or its URL",
    )


def followed_list(ledger: Ledger | None, word: str, name: str | None) -> dict[str, Any] | None:
    """The params that a path stands for whose file is not there, where it means a job: the last good list serves.

    A job that was given a name is meant where the name is typed, too.
    """
    place = str(Path(word).expanduser().absolute())
    meant = JobFilter(name=name) if name else JobFilter(identity=f"{KIND.name}:{place}")
    jobs = [] if ledger is None else ledger.jobs(where=meant)
    return {"list": place} if any(job.params.get("list") == place for job in jobs) else None


def synced(access: ListAccess, params: dict[str, Any], known: Job | None) -> tuple[dict[str, Any], Synced]:
    """The params with the newest version of the list behind those that the job knows; and what the look gave."""
    shape, place = ListShape.of(params), params["list"]
    look = from_file(Path(place))
    if "://" in place:
        opened = partial(access.open_fetcher, place)
        turns = HostTurns(access.hosts, access.options, access.clock, access.random())
        look = from_url(place, opened, access.clock, turns, ignore_robots=access.options.ignore_robots)
    found = sync(
        access.store, params["source"], place, shape, look, access.clock, check=partial(_check_named, params),
        refuse=access.refuse, require_fresh=access.require_fresh, accept_jump=access.accept_jump,
    )  # fmt: skip
    names = list(known.params["versions"]) if known is not None else []
    if found.version.file_path in names[-1:]:
        return {**params, "versions": names, "planned": known.params["planned"] if known else 0}, found
    names.append(found.version.file_path)
    is_counted = len(names) == 1 and found.documents is not None
    count = found.documents if is_counted else count_planned(access.store, names, shape)
    return {**params, "versions": names, "planned": count}, found


def _check_named(params: dict[str, Any], listed: ListFile) -> None:
    """Its rows have addresses, or there is a site that gives them."""
    if not listed.is_direct and not params["site"]:
        raise BadParams(
            f"no column of this list has the addresses of its files: {', '.join(listed.header)}",
            hint="--columns url=COLUMN; where a site gives the addresses by a token, --site URL",
        )


def limited(ledger: Ledger, known: Job | None, limit: int | None) -> int | None:
    """The page limit of a job that may get so many more: what is done counts, what is put back does not.

    A rescan that stands is carried out first: until then the targets that it puts back are still counted as done.
    """
    if limit is None or known is None:
        return limit
    walked(ledger, known, "rescan")
    counts = ledger.books(known.id)[1]
    put_back = known.status == "completed" or ledger.walking(known.id) is not None
    return limit + counts.succeeded + (0 if put_back else counts.failed)


def grow(ledger: Ledger, job: Job, params: dict[str, Any], *, mode: str, artifacts: Path, actor: str) -> Job:
    """The job with a new version of its list behind those that it has, its plan going on. A completed job is opened
    again, with what had failed. A job that a process works stays as it is: its next start grows it.
    """
    if job.params == params or job.status == "cancelled" or holder_of(ledger, job) is not None:
        return job
    if job.status == "completed":
        where = KIND.scanned(ledger, replace(job, params=params), mode, artifacts, 0)
        job = rescan(ledger, job, mode=mode, where=where, actor=actor, because="its list has changed")
    added = params["planned"] - job.params["planned"]
    repeated(lambda: ledger.rescue(job.id, is_dead=is_dead), tries=VERB_TRIES)
    job = ledger.job(job.id)
    grown = Grown((), params["planned"], more=True)
    because = f"a new version of its list: {added} more" if added else "a new version of its list"
    return repeated(lambda: ledger.rescope(job, params, actor=actor, because=because, grown=grown), tries=VERB_TRIES)
