"""What an images job finds out, as the ledger keeps it: answers of engines, downloads, judgements, kept images.

A judgement is made over these records alone, so every worker comes to the same one at any time.
"""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.plan import Question, judging_order

LIST = "list"  # the engine whose answers are rows of a file

SEARCH, ROWS, DOWNLOAD, JUDGE, IMAGE = "search", "rows", "download", "judge", "image"  # types of targets
MADE = (ROWS, JUDGE, IMAGE)  # that stand for no request
SURPLUS = "surplus"  # the disposition of a candidate that was not needed


class Named(msgspec.Struct, frozen=True, omit_defaults=True):
    """A candidate as it is stored: `order` is its place among those of its keyword."""

    order: int
    rank: int
    url: str
    source_page: str = ""
    thumbnail: str = ""
    title: str = ""
    columns: dict[str, Any] = {}  # of a list: the cells that are kept with the image


class AskedQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question as a target carries it; `rows` are the candidates themselves, where it is put to a list."""

    keyword: str
    engine: str
    round: int
    place: int = 0
    template: str = ""
    query: str = ""
    offset: int = 0
    rows: tuple[Named, ...] = ()

    @classmethod
    def of(cls, question: Question) -> AskedQuestion:
        return cls(
            question.keyword,
            question.engine,
            question.round,
            question.place,
            question.template,
            question.query,
            question.offset,
        )

    def named(self, candidate: Candidate) -> Named:
        """A candidate of the answer, with its place in the order of judging."""
        question = Question(
            self.keyword, 0, self.round, self.place, self.engine, self.template, self.query, self.offset
        )
        return Named(
            judging_order(question, candidate.rank),
            candidate.rank,
            candidate.url,
            candidate.source_page,
            candidate.thumbnail,
            candidate.title,
        )


class QuestionAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a question was answered with. `ends`: later offsets of the same query have nothing."""

    asked: AskedQuestion
    candidates: tuple[Named, ...]
    ends: bool = False
    left_out: int = 0


class Wanted(msgspec.Struct, frozen=True, omit_defaults=True):
    """A candidate to be downloaded, with the question that it answers."""

    candidate: Named
    asked: AskedQuestion


class Downloaded(msgspec.Struct, frozen=True, omit_defaults=True):
    """A valid image that was fetched, before it is judged; its file and its thumbnail are named by their hashes."""

    wanted: Wanted
    sha256: str
    size: int = msgspec.field(name="bytes")
    format: str
    width: int
    height: int
    phash: str
    signature: bytes
    path: str
    thumbnail: str = ""
    frames: int = 1
    trailing_bytes: int = 0
    final_url: str = ""
    media: str = ""


class Rejected(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that is no good, as far as it could be read: its bytes are not kept."""

    sha256: str
    size: int = msgspec.field(name="bytes")
    format: str = ""
    width: int = 0
    height: int = 0


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far the judging of a keyword has come: what was sent for, and how many rounds of questions were asked.

    `sent` are the places of what this judgement sends for, `sent_in_all` counts those of the judgements before, too.
    """

    keyword: str
    sent: tuple[int, ...] = ()
    sent_in_all: int = 0
    rounds: int = 1
    kept: int = 0
    more: bool = False  # there is something to fetch or to ask before the next judgement
    closing: bool = False  # there is not, and it is too little: the next judgement says so
    surplus: int = 0  # candidates that were not needed


class Judging(msgspec.Struct, frozen=True):
    """What a judging target carries: one chain of them for each time that images were asked for."""

    keyword: str
    wave: int = 0
    number: int = 0

    @property
    def name(self) -> str:
        return f"judge {self.wave}.{self.number} {self.keyword}"

    @property
    def next(self) -> Judging:
        return Judging(self.keyword, self.wave, self.number + 1)


class Image(msgspec.Struct, frozen=True):
    """A kept image, as it is exported. `number` is its friendly name in its keyword, given once and for all."""

    keyword: str
    number: int
    engine: str
    rank: int
    path: str
    width: int
    height: int
    phash: str
    url: str
    source_page: str
    sha256: str
    size: int = msgspec.field(name="bytes")
    format: str
    variation: str
    query: str
    offset: int
    title: str
    license: str | None
    thumbnail: str
    order: int
    signature: bytes
    columns: dict[str, Any] = {}


def image_name(number: int, keyword: str, url: str) -> str:
    """What a kept image is called among the targets."""
    return f"image {number:06d} {keyword} {url}"


def surplus_name(keyword: str, url: str) -> str:
    """What a candidate is called that was not needed."""
    return f"surplus {keyword} {url}"


def duplicate_name(keyword: str, url: str) -> str:
    return f"duplicate {keyword} {url}"


def download_name(keyword: str, url: str) -> str:
    """The name has the keyword: each keyword is judged by itself."""
    return f"{keyword} {url}"


def as_json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()
