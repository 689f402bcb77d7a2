"""What an images job knows, sorted out for its documents: keywords, their questions, and every URL with its fate.

Read from the rows in one pass, as they are now or as they were at a checkpoint. A URL belongs to the question that
names it first in the order of judging, so each is counted once: by its keyword, its engine and its question.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from holdfast.model.job import Job
from holdfast.model.look import Detail
from holdfast.model.record import Checkpoint
from holdfast.policy.marks import REJECTED
from holdfast.ports import Surveys
from holdfast.recipes.images import facts
from holdfast.recipes.images.facts import AskedQuestion, Named, QuestionAnswer

QUESTIONS = (facts.SEARCH, facts.ROWS)
WITH_FILES = (*QUESTIONS, facts.DOWNLOAD)
# What becomes of a URL. All of them sum to `discovered`.
FATES = ("kept", "duplicates", "rejected", "failed", "skipped", "surplus", "pending")


class GotImage(msgspec.Struct, frozen=True, gc=False):
    """Of a download's record, what documents need; the rest is not decoded."""

    sha256: str
    size: int = msgspec.field(name="bytes")
    format: str
    width: int
    height: int
    path: str


_answer = msgspec.json.Decoder(QuestionAnswer)
_asked = msgspec.json.Decoder(AskedQuestion)
_got = msgspec.json.Decoder(GotImage)


@dataclass(slots=True)
class QuestionView:
    """One question to one engine, or a page of a list; `urls` are those that it names first."""

    row: Detail
    asked: AskedQuestion
    answer: QuestionAnswer | None
    urls: list[UrlView] = field(default_factory=list)


@dataclass(slots=True)
class UrlView:
    """One URL of a keyword: how it was named, its download, and how that was judged."""

    named: Named
    question: QuestionView
    keyword: KeywordView
    download: Detail | None = None
    verdict: Detail | None = None  # its image or its duplicate

    @property
    def got(self) -> GotImage | None:
        """What was downloaded, in a view that was read `WITH_FILES`; None where nothing valid was."""
        row = self.download
        return _got.decode(row.record) if row is not None and row.record and row.status == "succeeded" else None

    @property
    def was_downloaded(self) -> bool:
        return self.download is not None and self.download.status == "succeeded"

    @property
    def fate(self) -> str:
        row, verdict = self.download, self.verdict
        if row is None:  # a copy that was not fetched is one whose URL another job holds
            is_copy = verdict is not None and verdict.disposition == "duplicate"
            return "duplicates" if is_copy else self.keyword.beyond
        if row.is_open:
            return "pending"
        if row.status == "failed":
            return "failed"
        if row.status != "succeeded":
            return "rejected" if row.disposition == "rejected" else "skipped"
        if verdict is None or verdict.is_open:
            return "pending" if verdict is not None else self.keyword.beyond
        if verdict.disposition == "duplicate":
            return "duplicates"
        return "rejected" if verdict.label == REJECTED else "kept"


@dataclass
class KeywordView:
    """A keyword is a chunk. `wanted` None: every image of a list."""

    name: str
    chunk: int
    index: int
    wanted: int | None
    questions: list[QuestionView] = field(default_factory=list)
    urls: dict[str, UrlView] = field(default_factory=dict)
    judgements: list[Detail] = field(default_factory=list)
    rows: list[Detail] = field(default_factory=list)
    beyond: str = "pending"  # the fate of a URL that was not sent for, or not judged

    @property
    def is_done(self) -> bool:
        return self.beyond != "pending"

    @cached_property
    def kept(self) -> int:
        return sum(1 for url in self.urls.values() if url.fate == "kept")

    def settle(self) -> None:
        """A URL that nothing was decided about is still to come, not needed, or the job ended before its turn."""
        if self.judgements and not any(row.is_open for row in self.rows):
            self.beyond = "surplus" if self.judgements[-1].status == "succeeded" else "skipped"


class ImagesView(msgspec.Struct, frozen=True):
    """An images job as of now, or as of `point`."""

    job: Job
    point: Checkpoint | None
    keywords: list[KeywordView]

    @property
    def engines(self) -> tuple[str, ...]:
        return tuple(self.job.params["engines"])


def read(
    ledger: Surveys, job: Job, point: Checkpoint | None = None, *, records_of: tuple[str, ...] = QUESTIONS
) -> ImagesView:
    """All of a job, as of one instant. Records of downloads are most of its bytes, and only one level shows them."""
    names = ledger.chunk_names(job.id)
    keywords = {
        chunk: KeywordView(name, chunk, index, job.params["per_keyword"])
        for index, (chunk, name) in enumerate(names.items())
    }
    commits = None if point is None else point.commits
    for row in ledger.details(job.id, commits=commits, params_of=QUESTIONS, records_of=records_of):
        keyword = keywords[row.chunk]
        keyword.rows.append(row)
        if row.type == facts.JUDGE:
            keyword.judgements.append(row)
    for keyword in keywords.values():
        keyword.settle()
        _sort_out(keyword)
    return ImagesView(job, point, list(keywords.values()))


def named_by(row: Detail) -> str:
    """KeywordView and URL of a download, of an image or of what was recorded beside them."""
    if row.type == facts.DOWNLOAD:
        return row.name
    is_numbered = row.disposition not in ("duplicate", facts.SURPLUS)
    return row.name.split(" ", 2 if is_numbered else 1)[-1]


def _sort_out(keyword: KeywordView) -> None:
    downloads: dict[str, Detail] = {}
    verdicts: dict[str, Detail] = {}
    behind = len(keyword.name) + 1
    for row in keyword.rows:
        if row.type == facts.DOWNLOAD:
            downloads[named_by(row)[behind:]] = row
        elif row.type == facts.IMAGE and row.disposition != facts.SURPLUS:
            verdicts[named_by(row)[behind:]] = row
        elif row.type in QUESTIONS and row.params:  # a bad row of a list has none
            answer = _answer.decode(row.record) if row.record else None
            keyword.questions.append(QuestionView(row, answer.asked if answer else _asked.decode(row.params), answer))
    keyword.questions.sort(key=lambda one: (one.asked.round, one.asked.place))
    answered = [(question, question.answer) for question in keyword.questions if question.answer is not None]
    named = [(one, question) for question, answer in answered for one in answer.candidates]
    for one, question in sorted(named, key=lambda pair: pair[0].order):
        if one.url not in keyword.urls:
            url = UrlView(one, question, keyword, downloads.get(one.url), verdicts.get(one.url))
            keyword.urls[one.url] = url
            question.urls.append(url)
