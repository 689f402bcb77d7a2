"""The questions of an images job, known before the first is asked: keywords × variations × offsets × engines.

A round is one variation at one page, put to every engine. Rounds come in a stored order, so every engine has work
from the first round on, however few images are wanted and however many variations there are; and a resumed job asks the
questions that are left, the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.recipes.images.engines import ENGINES
from holdfast.recipes.images.engines import engine as engine_named
from holdfast.recipes.images.seeded import shuffled
from holdfast.recipes.images.variations import formatted, templates

KEYWORD_CHARACTERS_MAX = 200
PAGES_MAX = 10
PAGES = 3

_PLACE_BITS = 4  # engines in a round
_RANK_BITS = 28  # of the engine `list`, whose rank is its line


class Question(msgspec.Struct, frozen=True):
    """One search: the target (engine, variation, offset) of IMG-01. `position` counts from 0 in its keyword."""

    keyword: str
    position: int
    round: int
    place: int  # among the engines of its round
    engine: str
    template: str
    query: str
    offset: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Its identity in the job: asked once, whatever happens."""
        return self.keyword, self.engine, self.query, self.offset


class Plan(msgspec.Struct, frozen=True):
    """What is stored with the job, once (IMG-10); `questions` is a pure function of it.

    `seed` orders the variations behind the plain keyword; None leaves them as they were named.
    """

    engines: tuple[str, ...] = ENGINES
    variations: tuple[str, ...] = templates()
    pages: int = PAGES
    seed: int | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.engines if name not in ENGINES]
        if unknown or not self.engines or len(set(self.engines)) < len(self.engines):
            raise BadParams(f"engines are some of {', '.join(ENGINES)}, each once; not {', '.join(self.engines)!r}")
        if not self.variations or not 1 <= self.pages <= PAGES_MAX:
            raise BadParams(f"a plan has at least one variation and 1 to {PAGES_MAX} pages of each")

    def questions(self, keyword: str, start: int = 0) -> Iterator[Question]:
        """From a position on: the cursor of a planner that died is where it goes on."""
        normal_keyword(keyword)
        ordered = self.ordered_variations()
        sizes = [engine_named(name).page_size for name in self.engines]
        width = len(self.engines)
        for number, (variation, page) in enumerate(self._rounds()):
            for place, name in enumerate(self.engines):
                position = number * width + place
                if position >= start:
                    template = ordered[variation]
                    query = formatted(template, keyword)
                    yield Question(keyword, position, number, place, name, template, query, page * sizes[place])

    def rounds(self, keyword: str) -> Iterator[list[Question]]:
        """The same questions, round by round."""
        questions = self.questions(keyword)
        while together := list(islice(questions, len(self.engines))):
            yield together

    def ordered_variations(self) -> tuple[str, ...]:
        """The plain keyword stays first: its results are the best there are."""
        first, *others = self.variations
        return (first, *others) if self.seed is None else (first, *shuffled(others, self.seed))

    @property
    def questions_per_keyword(self) -> int:
        return len(self.variations) * self.pages * len(self.engines)

    @property
    def engine_config(self) -> dict[str, dict[str, Any]]:
        """Of the engine documents (IMG-02): offsets from the first page to behind the last, and their step."""
        sizes = {name: engine_named(name).page_size for name in self.engines}
        return {name: {"offset_range": [0, size * self.pages], "variation_step": size} for name, size in sizes.items()}

    def params(self) -> dict[str, Any]:
        """As it is stored; `plan_of` reads it."""
        return {
            "engines": list(self.engines),
            "variations": list(self.variations),
            "pages": self.pages,
            "seed": self.seed,
        }

    def _rounds(self) -> list[tuple[int, int]]:
        """(variation, page), diagonal by diagonal: early variations deeply before late ones at all, and both soon."""
        pairs = [(variation, page) for variation in range(len(self.variations)) for page in range(self.pages)]
        return sorted(pairs, key=lambda pair: (pair[0] + pair[1], pair[1]))


def normal_keyword(text: str) -> str:
    """A keyword as chunks and rows are named by it: however it was typed or stands in a list, it is the same one."""
    keyword = " ".join(text.split())
    if not 1 <= len(keyword) <= KEYWORD_CHARACTERS_MAX or not keyword.isprintable():
        raise BadParams(f"a keyword has 1 to {KEYWORD_CHARACTERS_MAX} printable characters, not {keyword[:60]!r}")
    return keyword


def plan_of(params: Mapping[str, Any]) -> Plan:
    """The plan that `Plan.params` was stored from; BadParams for anything else."""
    try:
        return Plan(tuple(params["engines"]), tuple(params["variations"]), int(params["pages"]), params["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadParams(f"no plan of an images job: {error}") from None


def judging_order(question: Question, rank: int) -> int:
    """Where a candidate stands among all of its keyword: by round, then rank, then engine.

    Strictly rising in that order, unique in a keyword, below 2^63. A candidate may be judged when every question of its
    round and of earlier rounds is settled, and every candidate with a smaller number.
    """
    if not 0 <= rank < 1 << _RANK_BITS:
        raise ValueError(f"a rank is below {1 << _RANK_BITS}, not {rank}")
    return (question.round << _RANK_BITS | rank) << _PLACE_BITS | question.place
