"""The `images` recipe: N good, distinct images per keyword, from search engines or from a list of addresses.

A keyword is a chunk, worked in levels: questions are asked, candidates are fetched, and when all of that is settled a
judgement is made over the records, which says what is kept and what the next level is. See docs/decisions/0077.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, PlanFailed
from holdfast.model.job import FETCHING, Phases
from holdfast.model.keys import canonical
from holdfast.model.outcome import Done, Failed, Outcome, Record
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch
from holdfast.recipes.images import candidate_list, facts, params
from holdfast.recipes.images.distinct_from import OtherImages
from holdfast.recipes.images.download import ImageDownloads
from holdfast.recipes.images.facts import AskedQuestion, Judging, QuestionAnswer, as_json
from holdfast.recipes.images.held_engines import HeldEngines
from holdfast.recipes.images.judgement import judge
from holdfast.recipes.images.search import question_found, search

ROWS_PER_PAGE = 100  # of a list: as many candidates as an engine's answer has
WAVE_DEPTH = 10_000  # a later wave of judging comes behind everything that is under way
BAD_ROW = "rejected"


class ImagesRecipe:
    """Fulfils `recipe.AnyRecipe`. Params: see params.py."""

    name = "images"
    seeks = True
    names_targets = True
    compares = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._downloads = ImageDownloads(clock)
        self._held = HeldEngines(clock)
        self._others = OtherImages()

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        return params.checked(given)

    def identity(self, given: dict[str, Any]) -> str:
        if given["list"]:
            return f"images:{given['list']['path']}"
        return f"images:{' '.join(given['engines'])} {'; '.join(sorted(given['keywords']))}"

    def default_name(self, given: dict[str, Any]) -> str:
        word = Path(given["list"]["path"]).stem if given["list"] else given["keywords"][0]
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in word).strip("-")
        return plain[:60] or "images"

    def chunking(self, given: dict[str, Any]) -> str:
        return "key"

    def chunks(self, given: dict[str, Any]) -> tuple[str, ...]:
        return tuple(given["keywords"])

    def first_urls(self, given: dict[str, Any]) -> tuple[str, ...]:
        return tuple(given["origins"].values())

    def planned_total(self, given: dict[str, Any]) -> int | None:
        return None

    def phases(self, given: dict[str, Any]) -> Phases:
        return Phases((FETCHING,), facts.MADE)

    def in_levels(self, given: dict[str, Any]) -> bool:
        return True

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        return islice(self._planned(context), start, None)

    def _planned(self, context: Context) -> Iterator[Found]:
        """What is asked first, and a judgement of each keyword; then, behind it all, one for each later wave."""
        keywords = context.params["keywords"]
        if context.params["list"]:
            yield from rows_of(context)
        opened = 0
        for wave, count in enumerate((*context.params["waves"], len(keywords))):
            for keyword in keywords[opened:count]:
                yield from self._opening(context, keyword)
            opened = max(opened, count)
            if wave < len(context.params["waves"]):
                for keyword in keywords[:count]:
                    yield judging_found(context, Judging(keyword, wave + 1), depth=WAVE_DEPTH * (wave + 1))

    def _opening(self, context: Context, keyword: str) -> Iterator[Found]:
        plan = params.plan_params(context.params)
        if plan is not None:
            for question in next(plan.rounds(keyword)):
                yield question_found(context, AskedQuestion.of(question), depth=0)
        yield judging_found(context, Judging(keyword), depth=1)

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        if here.type == facts.DOWNLOAD:
            return await self._downloads.step(here, fetch, context)
        if here.type == facts.SEARCH:
            return await search(here, fetch, context, self._clock, self._held)
        if here.type == facts.JUDGE:
            return await judge(here, context, self._others)
        return _as_carried(here)


def _as_carried(here: Claimed) -> Outcome:
    """A page of a list, or an image that was judged: what it says is in its params."""
    if here.type == facts.ROWS:
        asked = msgspec.json.decode(here.params, type=AskedQuestion)
        answer = QuestionAnswer(msgspec.structs.replace(asked, rows=()), asked.rows, ends=True)
        return Done("rows", records=(Record("answer", msgspec.json.encode(answer)),))
    if here.type == facts.IMAGE:
        return Done("image", records=(Record("image", here.params.encode()),))
    return Failed("recipe_error", f"no step for a target of type {here.type!r}", final=True)


def rows_of(context: Context) -> Iterator[Found]:
    """A list as pages of candidates by keyword, and a row that cannot be used as what it is: rejected, with why."""
    given = context.params["list"]
    path = Path(given["path"])
    try:
        if candidate_list.digest_of(path) != given["sha256"]:
            raise BadParams(f"the list {path} is not the one that the job was begun with")
        yield from _pages(context, path)
    except BadParams as error:
        raise PlanFailed(error.message) from error


def _pages(context: Context, path: Path) -> Iterator[Found]:
    waiting: dict[str, list[facts.Named]] = {}
    pages: dict[str, int] = {}

    def page(keyword: str) -> Found:
        rows = tuple(waiting.pop(keyword))
        number = pages[keyword] = pages.get(keyword, -1) + 1
        asked = AskedQuestion(keyword, facts.LIST, number, offset=rows[0].rank, rows=rows)
        name = f"rows {number} {keyword}"
        return context.made(name, type=facts.ROWS, params=as_json(asked), chunk=keyword)

    given = context.params["list"]
    save, columns = given.get("columns", ()), given.get("mapping", {})
    for row in candidate_list.read_list(path, keyword=path.stem, save=save, columns=columns):
        if row.candidate is None or canonical(row.candidate.url) is None:
            yield _bad_row(context, row)
            continue
        asked = AskedQuestion(row.keyword, facts.LIST, pages.get(row.keyword, -1) + 1)
        named = msgspec.structs.replace(asked.named(row.candidate), columns=dict(row.columns))
        waiting.setdefault(row.keyword, []).append(named)
        if len(waiting[row.keyword]) == ROWS_PER_PAGE:
            yield page(row.keyword)
    for keyword in list(waiting):
        yield page(keyword)


def _bad_row(context: Context, row: candidate_list.ListRow) -> Found:
    keyword = row.keyword if row.keyword in context.chunks else next(iter(context.chunks))
    found = context.made(f"row {row.number + 1}", type=facts.ROWS, chunk=keyword)
    return msgspec.structs.replace(found, disposition=BAD_ROW, rule=(row.why or "no usable URL")[:200])


def judging_found(context: Context, judging: Judging, *, depth: int) -> Found:
    return context.made(judging.name, type=facts.JUDGE, depth=depth, params=as_json(judging), chunk=judging.keyword)
