"""The step of a judging target: reads what its keyword has come to, decides, and sends for what is missing."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from holdfast.model.outcome import Done, Failed, Outcome, Record
from holdfast.model.spelling import count_of
from holdfast.model.target import Claimed, Found, PageRow
from holdfast.policy.marks import REJECTED
from holdfast.recipe import Context
from holdfast.recipes.images import facts, params
from holdfast.recipes.images.distinct_from import CODE as OTHER_JOB_CHANGED
from holdfast.recipes.images.distinct_from import OtherImages, OtherJobChanged
from holdfast.recipes.images.download import wanted_found
from holdfast.recipes.images.duplicates import Judgement
from holdfast.recipes.images.facts import Downloaded, Image, Judged, Judging, QuestionAnswer, as_json
from holdfast.recipes.images.held_elsewhere import HeldImage
from holdfast.recipes.images.judging import LOOKED_AT, SURPLUS_ROWS_MAX, Facts, JudgingSteps, decide, unsent
from holdfast.recipes.images.search import question_found

S = TypeVar("S", bound=msgspec.Struct)


async def judge(here: Claimed, context: Context, others: OtherImages) -> Outcome:
    """All that follows from the judgement is settled with it: images, duplicates, downloads, questions, the next."""
    judging = msgspec.json.decode(here.params, type=Judging)
    assert context.of_chunk is not None
    every = await context.of_chunk(here.chunk, (facts.SEARCH, facts.ROWS, facts.DOWNLOAD, facts.IMAGE, facts.JUDGE))
    rejected = await context.of_chunk(here.chunk, (facts.IMAGE,), label=REJECTED)
    # Apart: of half a million rows it takes longer than a lease may go without being renewed.
    known = await asyncio.to_thread(_known, judging, every, len(rejected))
    try:
        known = replace(known, elsewhere=await _elsewhere(known, context, others))
    except OtherJobChanged as error:
        return Failed(OTHER_JOB_CHANGED, error.message, final=True)
    decision = await asyncio.to_thread(_decided, known, context.params)
    wanted = context.params["per_keyword"]
    is_short = not decision.goes_on and decision.kept < (wanted or 1)
    if is_short and known.before.closing and not decision.images and not _is_judged_later(judging, context):
        told = f"{judging.keyword}: {count_of(decision.kept, 'image')}" + (f" of {wanted}" if wanted else "")
        return Failed("too_few_images", told, final=True)
    found = _found(here, context, judging, decision)
    is_told = known.before.closing and not decision.images  # by the judgement of a later wave
    if is_short and not is_told:  # what was judged is settled with this one; that it is too little, the next one says
        found.append(_next(here, context, judging))
    after = msgspec.structs.replace(decision.after, closing=is_short)
    return Done(
        "judged",
        records=(Record("judged", msgspec.json.encode(after)),),
        found=tuple(found),
        because=f"{decision.kept} kept",
    )


def _is_judged_later(judging: Judging, context: Context) -> bool:
    """Whether more was asked for since: then the last wave of the keyword alone says that it is too little."""
    later = context.params["waves"][judging.wave :]
    return any(judging.keyword in context.params["keywords"][:count] for count in later)


async def _elsewhere(known: Facts, context: Context, others: OtherImages) -> list[HeldImage]:
    if not context.params.get("distinct_from"):
        return []
    held = {image.url for image in known.images}
    looks = [(one.sha256, int(one.phash, 16)) for one in known.downloads if one.wanted.candidate.url not in held]
    return await others.held(context, [one.url for one, _ in unsent(known)[:LOOKED_AT]], looks)


def _decided(known: Facts, given: dict[str, Any]) -> JudgingSteps:
    return decide(known, given["per_keyword"], given["dedupe"], params.plan_params(given))


def _known(judging: Judging, every: list[PageRow], rejected: int) -> Facts:
    judged = _read(every, "judged", Judged)
    return Facts(
        judging.keyword,
        _read(every, "answer", QuestionAnswer),
        _read(every, "download", Downloaded),
        _read(every, "image", Image),
        max(judged, key=lambda one: (one.rounds, one.sent_in_all, one.closing), default=Judged("")),
        frozenset(order for one in judged for order in one.sent),
        rejected=rejected,
    )


def _read(rows: list[PageRow], kind: str, shape: type[S]) -> list[S]:
    return [msgspec.json.decode(row.record, type=shape) for row in rows if row.kind == kind]


def _found(here: Claimed, context: Context, judging: Judging, decision: JudgingSteps) -> list[Found]:
    depth = here.depth + 1
    found = [_image(context, one, depth) for one in decision.images]
    found += [_duplicate(context, one, ruling, depth) for one, ruling in decision.duplicates]
    found += [_passed(context, judging.keyword, one, held, depth) for one, held in decision.passed]
    found += [wanted_found(context, candidate, asked, depth=depth) for candidate, asked in decision.fetch]
    found += [question_found(context, asked, depth=depth) for asked in decision.ask]
    found += [_surplus(context, judging.keyword, url, depth) for url in decision.surplus[:SURPLUS_ROWS_MAX]]
    return [*found, _next(here, context, judging)] if decision.goes_on else found


def _next(here: Claimed, context: Context, judging: Judging) -> Found:
    following = judging.next
    return context.made(
        following.name, type=facts.JUDGE, depth=here.depth + 2, params=as_json(following), chunk=judging.keyword
    )


def _image(context: Context, image: Image, depth: int) -> Found:
    name = facts.image_name(image.number, image.keyword, image.url)
    return context.made(name, type=facts.IMAGE, depth=depth, params=as_json(image), chunk=image.keyword)


def _duplicate(context: Context, one: Downloaded, ruling: Judgement, depth: int) -> Found:
    """Recorded as what it is, naming the image that is kept, how it was recognised and how far apart they are."""
    keyword, url = one.wanted.asked.keyword, one.wanted.candidate.url
    found = context.made(facts.duplicate_name(keyword, url), type=facts.IMAGE, depth=depth, chunk=keyword)
    rule = f"{ruling.detection_method} {ruling.distance} {ruling.duplicate_of}"
    return msgspec.structs.replace(found, disposition="duplicate", rule=rule)


def _passed(context: Context, keyword: str, one: facts.Named, held: HeldImage, depth: int) -> Found:
    """A candidate that was not fetched, because another job has an image of this URL."""
    found = context.made(facts.duplicate_name(keyword, one.url), type=facts.IMAGE, depth=depth, chunk=keyword)
    return msgspec.structs.replace(found, disposition="duplicate", rule=f"url 0 {held.name}")


def _surplus(context: Context, keyword: str, url: str, depth: int) -> Found:
    """A candidate that is not needed, recorded by a name of its own: its download may still be sent for, later on."""
    found = context.made(facts.surplus_name(keyword, url), type=facts.IMAGE, depth=depth, chunk=keyword)
    return msgspec.structs.replace(found, disposition=facts.SURPLUS, rule="enough images are kept")
