"""The judgement of a keyword: a function of what was answered and fetched so far. It says what is kept, and what next.

It is made when everything that was sent for is settled, over the records alone: so a crash before, in or after it
changes nothing. What is kept stays kept; a candidate that was late (a retry brought it) is judged behind what is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from holdfast.recipes.images.duplicates import Dedupe, Judge, Judgement, KeptImage
from holdfast.recipes.images.facts import AskedQuestion, Downloaded, Image, Judged, Named, QuestionAnswer
from holdfast.recipes.images.held_elsewhere import HeldImage
from holdfast.recipes.images.plan import Plan
from holdfast.recipes.images.validation import Validation

AHEAD = 1.5  # so many candidates for each image that is missing: about a third is no good
AHEAD_MIN = 6
FETCHED_AT_ONCE = 2_000
LOOKED_AT = 8_000  # candidates whose URLs are looked up among those of other jobs, by one judgement
SURPLUS_ROWS_MAX = 10_000  # of one judgement, as many as links of a page; of a longer list the rest is a number
DRY_ROUNDS = 6  # so many rounds of questions without a new image, and no more are asked


class Facts(msgspec.Struct, frozen=True):
    """What the ledger knows of a keyword when it is judged.

    `sent` are the places of candidates that were sent for, whatever became of them; `before` is the last judgement;
    `rejected` counts kept images that a person threw out; `elsewhere` are images that other jobs hold, those that a
    candidate may be a copy of.
    """

    keyword: str
    answers: Sequence[QuestionAnswer]
    downloads: Sequence[Downloaded]
    images: Sequence[Image]
    before: Judged
    sent: frozenset[int] = frozenset()
    rejected: int = 0
    elsewhere: Sequence[HeldImage] = ()


@dataclass(slots=True)
class JudgingSteps:
    """What follows: images and duplicates by judgement, candidates to fetch, questions to ask, how far that is."""

    images: list[Image] = field(default_factory=list)
    duplicates: list[tuple[Downloaded, Judgement]] = field(default_factory=list)
    fetch: list[tuple[Named, AskedQuestion]] = field(default_factory=list)
    passed: list[tuple[Named, HeldImage]] = field(default_factory=list)  # not fetched: another job has this URL
    ask: list[AskedQuestion] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)  # URLs that are not needed, by the order of judging
    after: Judged = field(default_factory=lambda: Judged(""))
    kept: int = 0

    @property
    def goes_on(self) -> bool:
        return bool(self.fetch or self.passed or self.ask)


def decide(facts: Facts, wanted: int | None, dedupe: Dedupe, plan: Plan | None) -> JudgingSteps:
    """Judge what is there; then send for as many candidates as may be needed, or ask the next questions."""
    decision = JudgingSteps()
    limit = FETCHED_AT_ONCE**3 if wanted is None else wanted + facts.rejected
    _judge(facts, limit, dedupe, decision)
    decision.kept = len(facts.images) + len(decision.images) - facts.rejected
    rounds = facts.before.rounds
    waiting = unsent(facts)
    missing = limit - facts.rejected - decision.kept
    if missing > 0:
        room = min(FETCHED_AT_ONCE, max(AHEAD_MIN, round(missing * AHEAD)))
        _send_for(waiting, room, facts, decision)
        if not decision.fetch and not decision.passed and plan is not None:
            decision.ask, rounds = _next_questions(facts, plan, rounds)
    if missing <= 0:
        decision.surplus += [one.url for one, _ in waiting]
    decision.after = Judged(
        facts.keyword,
        tuple(one.order for one, _ in (*decision.fetch, *decision.passed)),
        facts.before.sent_in_all + len(decision.fetch) + len(decision.passed),
        rounds,
        decision.kept,
        decision.goes_on,
        surplus=len(decision.surplus),
    )
    return decision


def in_order(answers: Iterable[QuestionAnswer]) -> list[tuple[Named, AskedQuestion]]:
    """The candidates of a keyword in the order of judging, each URL where it comes first."""
    every = [(one, answer.asked) for answer in answers for one in answer.candidates]
    first: dict[str, tuple[Named, AskedQuestion]] = {}
    for one, asked in sorted(every, key=lambda pair: pair[0].order):
        first.setdefault(one.url, (one, asked))
    return list(first.values())


def _judge(facts: Facts, limit: int, dedupe: Dedupe, decision: JudgingSteps) -> None:
    judge = Judge(limit, dedupe)
    judge.hold([_as_kept(held) for held in facts.elsewhere])
    for image in sorted(facts.images, key=lambda one: one.number):
        judge.remember(KeptImage(image.number, image.url, image.sha256, int(image.phash, 16), image.signature))
    number = max((image.number for image in facts.images), default=0)
    held = {image.url for image in facts.images}
    turn = number
    for one in sorted(facts.downloads, key=lambda one: one.wanted.candidate.order):
        if one.wanted.candidate.url in held:
            continue
        url = one.wanted.candidate.url
        if judge.is_full:  # fetched ahead, and not needed; a copy of what is kept is told as such, as it was before
            copy = judge.copy_of(url, one.sha256, _validation(one))
            if copy is None:
                decision.surplus.append(url)
            else:
                decision.duplicates.append((one, copy))
            continue
        turn += 1
        ruling = judge.judge(turn, url, one.sha256, _validation(one))
        if ruling.disposition == "duplicate":
            decision.duplicates.append((one, ruling))
        elif ruling.disposition == "image":
            number += 1
            decision.images.append(_image(one, number))


def _send_for(waiting: list[tuple[Named, AskedQuestion]], room: int, facts: Facts, decision: JudgingSteps) -> None:
    """The next candidates in their order; one whose URL another job holds is passed over on the way."""
    held = {one.image.url: one for one in reversed(facts.elsewhere)}
    for candidate, asked in waiting[:LOOKED_AT]:
        if len(decision.fetch) == room:
            return
        if candidate.url in held:
            decision.passed.append((candidate, held[candidate.url]))
        else:
            decision.fetch.append((candidate, asked))


def _as_kept(held: HeldImage) -> KeptImage:
    image = held.image
    return KeptImage(0, held.name, image.sha256, int(image.phash, 16), image.signature)


def unsent(facts: Facts) -> list[tuple[Named, AskedQuestion]]:
    """Candidates that no judgement has sent for: an engine that answers late names some before those that were."""
    sent = {one.url for answer in facts.answers for one in answer.candidates if one.order in facts.sent}
    return [pair for pair in in_order(facts.answers) if pair[0].url not in sent]


def _next_questions(facts: Facts, plan: Plan, rounds: int) -> tuple[list[AskedQuestion], int]:
    """The next round that has a question worth asking, and how many rounds are behind it then.

    An engine that has no more results for a query is not asked for later pages of it.
    """
    if _is_dry(facts, rounds):
        return [], rounds
    ended = {(answer.asked.engine, answer.asked.query): answer.asked.offset for answer in facts.answers if answer.ends}
    for number, questions in enumerate(plan.rounds(facts.keyword)):
        if number < rounds:
            continue
        worth = [one for one in questions if one.offset <= ended.get((one.engine, one.query), one.offset)]
        if worth:
            return [AskedQuestion.of(one) for one in worth], number + 1
    return [], rounds


def _is_dry(facts: Facts, rounds: int) -> bool:
    """Whether the last rounds named no image that was not named before: there is no more to be had by asking on."""
    fresh = max((asked.round for _, asked in in_order(facts.answers)), default=-1)
    return rounds - 1 - fresh >= DRY_ROUNDS


def _validation(one: Downloaded) -> Validation:
    return Validation(
        one.size,
        format=one.format,
        width=one.width,
        height=one.height,
        phash=int(one.phash, 16),
        signature=one.signature,
    )


def _image(one: Downloaded, number: int) -> Image:
    asked, candidate = one.wanted.asked, one.wanted.candidate
    return Image(
        keyword=asked.keyword,
        number=number,
        engine=asked.engine,
        rank=candidate.rank,
        path=one.path,
        width=one.width,
        height=one.height,
        phash=one.phash,
        url=candidate.url,
        source_page=candidate.source_page,
        sha256=one.sha256,
        size=one.size,
        format=one.format,
        variation=asked.template,
        query=asked.query,
        offset=asked.offset,
        title=candidate.title,
        license=None,
        thumbnail=one.thumbnail,
        order=candidate.order,
        signature=one.signature,
        columns=candidate.columns,
    )
