"""The judgement of a keyword as a function: which candidates it sends for, and which are not needed."""

from __future__ import annotations

from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.facts import AskedQuestion, Judged, QuestionAnswer
from holdfast.recipes.images.judging import Facts, decide

GOOGLE = [AskedQuestion("cat", "google", number, place=1) for number in range(3)]
BING = AskedQuestion("cat", "bing", 0)


def answer(asked: AskedQuestion, *names: str) -> QuestionAnswer:
    named = [asked.named(Candidate(f"https://i.test/{name}", rank, "")) for rank, name in enumerate(names)]
    return QuestionAnswer(asked, tuple(named), ends=True)


ANSWERS = [answer(asked, f"g{asked.round}", "both") for asked in GOOGLE]
LATE = answer(BING, "b0", "both", "b1")


def names(urls: list[str]) -> list[str]:
    return [url.rpartition("/")[2] for url in urls]


def test_candidates_of_a_late_answer_are_sent_for_once() -> None:
    """IMG-04: google's rounds are at their end, then bing answers the first one."""
    first = decide(Facts("cat", ANSWERS, (), (), Judged("cat", rounds=3)), 50, "exact", None)
    assert names([one.url for one, _ in first.fetch]) == ["g0", "both", "g1", "g2"]
    sent = frozenset(first.after.sent)
    late = decide(Facts("cat", [*ANSWERS, LATE], (), (), first.after, sent), 50, "exact", None)
    assert names([one.url for one, _ in late.fetch]) == ["b0", "b1"], "and nothing again"
    assert late.after.sent_in_all == 6
    last = decide(Facts("cat", [*ANSWERS, LATE], (), (), late.after, sent | {*late.after.sent}), 50, "exact", None)
    assert not last.goes_on


def test_candidates_of_a_late_answer_that_are_not_needed_are_told() -> None:
    first = decide(Facts("cat", ANSWERS, (), (), Judged("cat", rounds=3)), 50, "exact", None)
    late = decide(Facts("cat", [*ANSWERS, LATE], (), (), first.after, frozenset(first.after.sent)), 0, "exact", None)
    assert names(late.surplus) == ["b0", "b1"]
