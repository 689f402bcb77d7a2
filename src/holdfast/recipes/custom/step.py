"""One target worked by an author's step: everything it yields is gathered, and is settled together when it has ended.

If the step raises, nothing that it yielded before exists.
"""

from __future__ import annotations

from contextlib import aclosing
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, FetchError, HoldfastError, UsageError
from holdfast.model.artifact import Keep
from holdfast.model.keys import canonical
from holdfast.model.outcome import Body, Done, Failed, Outcome, Skipped
from holdfast.model.outcome import Record as KeptRecord
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch, Here, Recipe, Record, Skip, Target
from holdfast.recipe.blame import is_theirs, sentence
from holdfast.recipes.custom.fetching import StepPages
from holdfast.recipes.custom.rules import judged

YIELDS_MAX = 100_000
DISPOSITIONS = {(True, True): "record", (True, False): "record", (False, True): "links", (False, False): "empty"}


class StepYields:
    """What a step has yielded so far, in our own values."""

    def __init__(self, recipe: Recipe, here: Claimed, context: Context) -> None:
        self._recipe, self._here, self._context = recipe, here, context
        self.found: dict[bytes, Found] = {}
        self.records: list[KeptRecord] = []
        self.files: list[Keep] = []
        self.skip: Skip | None = None
        self._count = 0

    def add(self, value: object) -> None:
        self._count += 1
        if self._count > YIELDS_MAX:
            raise BadParams(f"a step may yield {YIELDS_MAX:,} times at most; a plan may yield any number")
        if isinstance(value, Target):
            found = found_of(self._recipe, self._context, value, base=self._here.url, depth=self._here.depth + 1)
            self.found.setdefault(found.key, judged(found, self._context.params))
        elif isinstance(value, Record):
            self.records.append(KeptRecord(value.kind, value.doc))
        elif isinstance(value, Keep):
            self.files.append(value)
            self.records.append(_record_of(value))
        elif isinstance(value, Skip):
            self.skip = value
        else:
            raise BadParams(f"a step yields target(...), record(...), file(...) or skip(...), not {value!r:.100}")
        if self.skip is not None and self.records:
            raise BadParams("a step yields records and files or skip(...), not both")

    def outcome(self, pages: StepPages, now_ms: int) -> Outcome:
        found, status = tuple(self.found.values()), pages.status
        if self.skip is not None:
            because = self.skip.because or f"the recipe says {self.skip.disposition}"
            return Skipped(self.skip.disposition, because, found=found, status_code=status)
        return Done(
            DISPOSITIONS[bool(self.records), bool(found)],
            body=_body(self._here, pages, now_ms),
            records=tuple(self.records),
            found=found,
            status_code=status,
            files=tuple(self.files),
        )


async def work(recipe: Recipe, here: Claimed, fetch: Fetch, context: Context, clock: Clock) -> Outcome:
    """Run the step of this target's type to its end."""
    pages = StepPages(here, fetch, clock)
    gathered = StepYields(recipe, here, context)
    try:
        step = recipe.steps[recipe.type_of(Target(url=here.url, type=here.type))]
        async with aclosing(step(_seen(here), pages)) as values:  # type: ignore[type-var]
            try:
                async for value in values:
                    gathered.add(value)
            except UsageError as error:
                return Failed("recipe_error", sentence(error, values))
    except FetchError:
        raise
    except UsageError as error:
        return Failed("recipe_error", sentence(error))
    except HoldfastError:
        raise
    except BaseException as error:
        if not is_theirs(error):
            raise
        if pages.stopped is not None:
            raise pages.stopped from error
        return Failed("recipe_error", pages.not_awaited() or sentence(error))
    if pages.stopped is not None:
        raise pages.stopped
    if forgotten := pages.not_awaited():
        return Failed("recipe_error", forgotten)
    return gathered.outcome(pages, clock.wall_ms())


def found_of(recipe: Recipe, context: Context, value: Target, *, base: str | None, depth: int) -> Found:
    address = canonical(value.url.strip(), base)
    if address is None:
        raise BadParams(f"target() was given {value.url!r:.200}, which is not an http or https URL")
    return context.named(
        address,
        type=recipe.type_of(value),
        depth=depth if value.depth is None else value.depth,
        priority=value.priority,
        name=value.key,
        params=value.params,
    )


def _record_of(keep: Keep) -> KeptRecord:
    """What exports say of a file. Its path is the ledger's to say: it may depend on what has the name already."""
    source = keep.source
    digest, size = (sha256(source).digest(), len(source)) if isinstance(source, bytes) else (source.sha256, source.size)
    said = {"role": keep.role, "name": keep.name or None, "size": size, "sha256": digest.hex(), "media": keep.media}
    return KeptRecord("file", msgspec.json.encode(said | {"from": keep.url.partition("?")[0] or None}))


def _seen(here: Claimed) -> Here:
    params: dict[str, Any] = msgspec.json.decode(here.params) if here.params else {}
    return Here(
        url=here.url, type=here.type, key=here.name, depth=here.depth, attempt=here.attempts, params=params
    )  # fmt: skip


def _body(here: Claimed, pages: StepPages, now_ms: int) -> Body | None:
    """The answer to the target's own URL, kept so that a mended step can be run over it again."""
    page = pages.own
    if page is None:
        return None
    return Body(here.url, page.status, page.headers, page.body, sha256(page.body).digest(), page.media, now_ms)
