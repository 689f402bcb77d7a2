"""The parts of an images job put together over the simulated engines, without a ledger: they obtain the oracle.

Covers IMG-04 to IMG-07: the plan asks, the engines read, files are validated and judged.
"""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest

from holdfast.demo.engines.replies import Replies
from holdfast.demo.engines.weather import Weather
from holdfast.demo.engines.world import ENGINE_HOSTS, EnginesWorld
from holdfast.recipes.images.duplicates import Judge, Judgement
from holdfast.recipes.images.engines import engine
from holdfast.recipes.images.plan import Plan, judging_order
from holdfast.recipes.images.validation import Rules, validate
from holdfast.recipes.images.variations import templates

PLAN = Plan(variations=templates(("basic",))[:3], pages=2, seed=4)
ANSWERED = frozenset({"missing", "forbidden", "never_ends"})  # with something that is no file


@pytest.fixture(scope="module")
def world():
    return EnginesWorld(seed=7, port=8080, pool_size=120)


def read(world, replies, question, weather):
    """The candidates of a question, through the very bytes that the engine sends."""
    asked = engine(question.engine, world.origin(question.engine))

    def sent(request):
        parts = urlsplit(request.url)
        query = parse_qs(parts.query, keep_blank_values=True)
        return replies.search(ENGINE_HOSTS[question.engine], parts.path, query, 1, weather).body

    first = asked.token_request(question.query)
    token = asked.read_token(sent(first)) if first else ""
    return asked.read(sent(asked.request(question.query, question.offset, token)), question.offset).candidates


def run(world, keyword, wanted, weather):
    """(question, candidate, judgement, sha256) of each URL, in the order of judging."""
    judge, replies, seen, rows = Judge(wanted), Replies(world), set(), []
    for questions in PLAN.rounds(keyword):
        if judge.is_full:
            break
        found = [(judging_order(q, one.rank), q, one) for q in questions for one in read(world, replies, q, weather)]
        for order, question, candidate in sorted(found, key=lambda one: one[0]):
            if candidate.url in seen:
                continue
            seen.add(candidate.url)
            entry = world.entry_at(urlsplit(candidate.url).path)
            if entry.kind in ANSWERED and not judge.is_full:
                rows.append((question, candidate, Judgement("failed"), ""))
                continue
            body = world.files.body(entry, world.pools[keyword])
            digest, what = sha256(body).hexdigest(), validate(body, Rules())
            verdict = judge.judge(order, candidate.url, digest, what)
            rows.append((question, candidate, verdict, digest))
    return rows


@pytest.mark.parametrize(
    ("keyword", "wanted", "newer"), [("cat", 1000, False), ("cat", 30, True), ("dodo", 5, True), ("unicorn", 5, False)]
)
def test_the_parts_together_obtain_exactly_the_oracle(world, keyword, wanted, newer):
    rounds = [[(q.engine, q.query, q.offset) for q in questions] for questions in PLAN.rounds(keyword)]
    perfect = world.perfect_run(rounds, wanted)

    rows = run(world, keyword, wanted, Weather(newer=newer))

    fates = [(candidate.url, verdict.disposition) for _, candidate, verdict, _ in rows]
    assert fates == [(one["url"], one["disposition"]) for one in perfect["urls"]]
    for (question, candidate, verdict, _), one in zip(rows, perfect["urls"], strict=True):
        assert verdict.duplicate_of == one.get("duplicate_of", "")
        assert verdict.detection_method == one.get("detection_method", "")
        assert [question.engine, question.query, question.offset] == one["question"]
        assert candidate.rank == one["rank"]
        if verdict.disposition == "rejected":
            assert set(verdict.reasons) & set(one["reasons"])
    kept = [digest for _, _, verdict, digest in rows if verdict.disposition == "image"]
    assert kept == [one["sha256"] for one in perfect["kept"]]
    assert len(kept) == wanted or perfect["health"] == "partial"


def test_every_engine_gives_images_although_the_first_alone_has_enough(world):
    rows = run(world, "cat", 30, Weather())

    kept = [question for question, _, verdict, _ in rows if verdict.disposition == "image"]
    assert {question.engine for question in kept} == set(ENGINE_HOSTS)
