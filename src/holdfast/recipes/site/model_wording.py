"""Sections worded by a model, one question at a time, each paid for once.

An answer is stored as the record of its section, under what was asked. The next question waits until that is committed:
a kill costs the one that is under way, and no other. A rescan, which makes sections again, finds the answers there.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import Clock
from holdfast.model.target import Claimed
from holdfast.ports import LanguageModel, ModelFailed
from holdfast.recipe import Context
from holdfast.recipes.site.made_types import SECTION

if TYPE_CHECKING:
    from holdfast.recipes.site.analysis.section import Section

LENGTH_MAX = 300  # of why a section was not worded
LOOK_EVERY_S = 0.05
COMMITTED_S_MAX = 30.0  # a commit that takes longer is not waited for: the answer is settled, or its lease is lost


class Wording:
    """Of one job. It keeps what the model has answered so far."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self._answers: dict[tuple[str, str], Section] = {}
        self._last: tuple[int, int, bytes] | None = None  # chunk, target and record of what is perhaps not committed

    async def recall(self, context: Context) -> None:
        """Take up the answers that are stored, also those of sections which a rescan puts back."""
        from holdfast.recipes.site.analysis.section import Section

        self._last = None
        if context.model is not None:
            rows = [row.record async for row in context.results((SECTION,))]
            sections = [msgspec.json.decode(record, type=Section) for record in rows]
            self._answers = {(each.key, each.prompt): each for each in sections if each.prompt}

    async def of(self, section: Section, here: Claimed, context: Context, model: LanguageModel) -> Section:
        """In the model's words; in those of the rules where it has none that can be used, and says so."""
        from holdfast.recipes.site.analysis.wording import hash_of, question

        text = question(section)
        prompt = hash_of(section, text, model.name)
        known = self._answers.get((section.key, prompt))
        if known is not None or not text:
            return known or section
        async with self._lock:
            await self._committed(context)
            section = await _asked(section, text, model, prompt)
            self._last = here.chunk, here.id, msgspec.json.encode(section)
        return section

    async def _committed(self, context: Context) -> None:
        """Until the last answer is stored."""
        if self._last is None or context.of_chunk is None:
            return
        chunk, target, record = self._last
        until_ms = self._clock.monotonic_ms() + COMMITTED_S_MAX * 1000
        while self._clock.monotonic_ms() < until_ms:
            rows = await context.of_chunk(chunk, (SECTION,))
            if any(row.target == target and row.record == record for row in rows):
                break
            await self._clock.wait(LOOK_EVERY_S)
        self._last = None


async def _asked(section: Section, text: str, model: LanguageModel, prompt: str) -> Section:
    from holdfast.recipes.site.analysis.wording import INSTRUCTIONS, Nonsense, worded

    try:
        return worded(section, await model.answer(INSTRUCTIONS, text), model.name, prompt)
    except (ModelFailed, Nonsense) as error:
        return msgspec.structs.replace(section, not_worded=f"{model.name}: {error}"[:LENGTH_MAX])
