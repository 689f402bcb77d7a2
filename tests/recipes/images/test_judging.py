"""The judgement of a keyword as a function: which candidates it sends for, and which are not needed."""

from __future__ import annotations

from itertools import permutations

from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.facts import AskedQuestion, Downloaded, Judged, QuestionAnswer, Wanted
from holdfast.recipes.images.judging import Facts, decide
from holdfast.recipes.images.perceptual import SIGNATURE_BYTES

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


def downloaded(place: int, phash: int) -> Downloaded:
    candidate, asked = ANSWERS[place].candidates[0], GOOGLE[place]
    return Downloaded(
        Wanted(candidate, asked), f"{place:064x}", 5_000, "JPEG", 300, 300, f"{phash:016x}", bytes(SIGNATURE_BYTES), "a"
    )


def test_what_is_kept_does_not_depend_on_which_file_came_first() -> None:
    """Defect line 15 of the engines world: g1 is like g0 and like g2, which are not alike; whoever is first is kept."""
    downloads = [downloaded(0, 0), downloaded(1, 0b1111), downloaded(2, 0b1111_1111)]
    for came in permutations(downloads):
        facts = Facts("cat", ANSWERS, came, (), Judged("cat", rounds=3))
        decision = decide(facts, 50, "perceptual", None)
        assert names([image.url for image in decision.images]) == ["g0", "g2"]
        assert [image.number for image in decision.images] == [1, 2]
        [(copy, ruling)] = decision.duplicates
        assert names([copy.wanted.candidate.url, ruling.duplicate_of]) == ["g1", "g0"]


def test_a_keyword_that_has_enough_sends_for_nothing() -> None:
    """Defect line 4 of the engines world: what is left is told as surplus."""
    facts = Facts("cat", ANSWERS, [downloaded(0, 0)], (), Judged("cat", rounds=3), frozenset({0}))
    decision = decide(facts, 1, "perceptual", None)
    assert (len(decision.images), decision.goes_on) == (1, False)
    assert "g1" in names(decision.surplus)
