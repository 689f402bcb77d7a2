"""`--distinct-from JOB`: whose images count as held. Which ones is fixed when the job is submitted, by commit numbers.

What the other job keeps later changes nothing. Where its images of then are gone (it was deleted, or rolled back) the
judgement fails and says so: no other set of images is ever kept in silence. See docs/decisions/0098.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import BadParams, HoldfastError, NotFound
from holdfast.recipe import Context
from holdfast.recipes.images import facts
from holdfast.recipes.images.held_elsewhere import HeldImage, HeldIndex, read_image

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.model.look import Generation
    from holdfast.ports import Ledger

CODE = "other_job_changed"
JOBS_MAX = 100
ROWS_AT_ONCE = 500
Place = tuple[int, int, int]  # target, generation, n


class OtherJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job as it was when this one was submitted. A word that was typed has only `job`, until it is looked up."""

    job: str
    commits: dict[str, int] = {}
    images: int = -1
    sha256: str = ""


class OtherJobChanged(HoldfastError):
    """The images that were to be left out are not there as they were."""


def checked(given: Any) -> list[dict[str, Any]]:
    """As params have them: words as they were typed, or jobs that were looked up."""
    words = [given] if isinstance(given, str) else list(given or ())
    if len(words) > JOBS_MAX:
        raise BadParams(f"--distinct-from takes at most {JOBS_MAX} jobs")
    others = [OtherJob(one) if isinstance(one, str) else msgspec.convert(one, OtherJob) for one in words]
    return [msgspec.to_builtins(one) for one in {one.job: one for one in others}.values()]


def settled(ledger: Ledger | None, params: dict[str, Any], earlier: Job | None, recipe: str) -> dict[str, Any]:
    """The params of a job to submit, with every other job as it is now; those of `earlier`, which is there, stay."""
    before = {one["job"]: one for one in (earlier.params.get("distinct_from") or () if earlier else ())}
    found: dict[str, dict[str, Any]] = {}
    for given in params["distinct_from"]:
        if given["job"] in before:  # by its id: it may be gone by now, and stays what it was
            found[given["job"]] = before[given["job"]]
            continue
        if ledger is None:
            raise NotFound(f"there is no job {given['job']!r} whose images could be left out")
        other = ledger.job(given["job"])
        if other.recipe != recipe:
            raise BadParams(f"--distinct-from takes images jobs; {other.name} is a job of the recipe {other.recipe!r}")
        if earlier is not None and other.id == earlier.id:
            raise BadParams(f"{other.name} cannot be distinct from itself")
        found[other.uid] = before.get(other.uid) or msgspec.to_builtins(_fixed(ledger, other))
    return {**params, "distinct_from": list(found.values())}


def _fixed(ledger: Ledger, other: Job) -> OtherJob:
    commits = {str(chunk): no for chunk, no in ledger.everything(other.id).commits.items()}
    index = HeldIndex()
    after: Place = (0, 0, -1)
    while rows := ledger.generations(other.id, facts.IMAGE, commits=commits, after=after, limit=ROWS_AT_ONCE):
        after = _added(index, rows, after)
    return OtherJob(other.uid, commits, len(index), index.digest)


def _added(index: HeldIndex, rows: Sequence[Generation], after: Place) -> Place:
    """Each target once, by its first record; the place behind them."""
    last = after[0]
    for row in rows:
        if row.target != last:
            index.add(row.target, read_image(row.doc))
        last = row.target
    return last, rows[-1].generation, rows[-1].n


class OtherImages:
    """What the other jobs of one job keep; each is read once, when it is first asked for."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, str], HeldIndex] = {}
        self._reading = asyncio.Lock()

    async def held(self, context: Context, urls: Iterable[str], looks: Iterable[tuple[str, int]]) -> list[HeldImage]:
        """What a candidate of these URLs, or of these bytes and looks, may be a copy of; always in the same order."""
        others = [msgspec.convert(one, OtherJob) for one in context.params.get("distinct_from") or ()]
        if not others:
            return []
        urls, looks, found = list(urls), list(looks), []
        for other in others:
            index = await self._index(context, other)
            targets = await asyncio.to_thread(_candidates, index, urls, looks)
            found += [
                HeldImage(other.job, row.target, read_image(row.doc)) async for row in _rows(context, other, targets)
            ]
        return found

    async def _index(self, context: Context, other: OtherJob) -> HeldIndex:
        async with self._reading:
            name = other.job, other.sha256
            if name not in self._indexes:
                self._indexes[name] = await _read(context, other)
            return self._indexes[name]


async def _read(context: Context, other: OtherJob) -> HeldIndex:
    index, after = HeldIndex(), (0, 0, -1)
    while rows := await _of(context, other, after, ROWS_AT_ONCE):
        after = await asyncio.to_thread(_added, index, rows, after)
    if (len(index), index.digest) != (other.images, other.sha256):
        told = f"of the {other.images} images that {other.job} had when this job began, {len(index)} are there"
        raise OtherJobChanged(f"{told}, or others: it was rolled back or changed")
    return index


def _candidates(index: HeldIndex, urls: Iterable[str], looks: Iterable[tuple[str, int]]) -> list[int]:
    targets = {target for url in urls for target in index.by_url(url)}
    targets |= {target for digest, phash in looks for target in index.like(digest, phash)}
    return sorted(targets)


async def _rows(context: Context, other: OtherJob, targets: Iterable[int]) -> AsyncIterator[Generation]:
    for target in targets:
        for row in await _of(context, other, (target, -1, -1), 1):
            yield row


async def _of(context: Context, other: OtherJob, after: Place, limit: int) -> list[Generation]:
    assert context.of_job is not None
    try:
        return await context.of_job(other.job, facts.IMAGE, other.commits, after, limit)
    except NotFound as error:
        raise OtherJobChanged(f"the job {other.job}, whose images are left out, is not in this ledger") from error
