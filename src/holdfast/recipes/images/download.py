"""One candidate fetched: streamed into a file, decoded in a process of its own, and kept with a thumbnail if valid."""

from __future__ import annotations

import asyncio
import os
import weakref
from functools import cached_property
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, FetchError
from holdfast.model.artifact import FetchedFile, Keep, content_path
from holdfast.model.keys import canonical
from holdfast.model.outcome import Done, Outcome, Record, Skipped
from holdfast.model.redaction import redacted_end
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch
from holdfast.recipes.custom.fetching import StepPages
from holdfast.recipes.images import facts, params
from holdfast.recipes.images.facts import AskedQuestion, Downloaded, Named, Rejected, Wanted, as_json
from holdfast.recipes.images.validation import EXTENSIONS, Rules, Validation
from holdfast.recipes.images.validation_process import ValidationPool

THUMBNAIL_PX = 192
TOTAL_S = 120.0  # for one file, however slowly it drips
MEDIA = {name: f"image/{'jpeg' if extension == 'jpg' else extension}" for name, extension in EXTENSIONS.items()}
TOO_LARGE = "body_too_large"


def wanted_found(context: Context, candidate: Named, asked: AskedQuestion, *, depth: int) -> Found:
    """A candidate as a target."""
    address = canonical(candidate.url)
    if address is None:  # was looked at before it was stored
        raise BadParams(f"{candidate.url!r} is not an http or https URL")
    wanted = Wanted(candidate, msgspec.structs.replace(asked, rows=()))
    return context.named(
        address,
        type=facts.DOWNLOAD,
        name=facts.download_name(asked.keyword, candidate.url),
        depth=depth,
        params=as_json(wanted),
        chunk=asked.keyword,
    )


def rules_of(given: dict[str, Any], bytes_max: int) -> Rules:
    width, height = params.sides(given["min_size"])
    return Rules(bytes_max=bytes_max, width_min=width, height_min=height, thumbnail_px=THUMBNAIL_PX)


class ImageDownloads:
    """Works download targets; its decoders live as long as it does."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @cached_property
    def _pool(self) -> ValidationPool:
        pool = ValidationPool(min(2, os.cpu_count() or 1))
        weakref.finalize(self, pool.close)
        return pool

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        wanted = msgspec.json.decode(here.params, type=Wanted)
        rules = rules_of(context.params, context.max_bytes)
        pages = StepPages(here, fetch, self._clock)
        try:
            fetched = await pages.file(here.url, max_bytes=rules.bytes_max, total_s=TOTAL_S)
        except FetchError as error:
            if error.code != TOO_LARGE:
                raise
            return Skipped("rejected", error.message, rule="too_many_bytes", status_code=error.status)
        found = (await asyncio.to_thread(self._pool.check, [str(fetched.path)], rules))[0]
        if not found.is_valid:
            return _rejected(fetched, found)
        return _kept(wanted, fetched, found, redacted_end(here.url, fetched.url))


def _rejected(fetched: FetchedFile, found: Validation) -> Outcome:
    record = Rejected(fetched.sha256.hex(), fetched.size, found.format, found.width, found.height)
    return Skipped(
        "rejected",
        found.message or found.errors[0],
        rule=",".join(found.errors),
        status_code=fetched.status,
        records=(Record("rejected", msgspec.json.encode(record)),),
    )


def _kept(wanted: Wanted, fetched: FetchedFile, found: Validation, final_url: str) -> Outcome:
    from hashlib import sha256

    assert found.phash is not None
    thumbnail = sha256(found.thumbnail).digest()
    record = Downloaded(
        wanted=wanted,
        sha256=fetched.sha256.hex(),
        size=fetched.size,
        format=found.format,
        width=found.width,
        height=found.height,
        phash=f"{found.phash:016x}",
        signature=found.signature,
        path=content_path(fetched.sha256),
        thumbnail=content_path(thumbnail),
        frames=found.frames,
        trailing_bytes=found.trailing_bytes,
        final_url=final_url,
        media=fetched.media,
    )
    return Done(
        "downloaded",
        records=(Record("download", msgspec.json.encode(record)),),
        files=(
            Keep(fetched, role="image", media=MEDIA[found.format]),
            Keep(found.thumbnail, role="thumbnail", media="image/jpeg"),
        ),
        status_code=fetched.status,
    )
