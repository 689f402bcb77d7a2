"""What the site's own log proves about a crawl that was killed: each offence is seen, a clean crawl shows none."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.audit.witness import (
    Death,
    Seen,
    asked_more_than_attempts,
    differences,
    doubled,
    fetched_after_settled,
    lost,
    never_asked,
)

FROG, NEWT, TOAD = (f"https://marsh.test/{name}" for name in ("frog", "newt", "toad"))
ROBOTS = "https://marsh.test/robots.txt"
KILL = Death(at_ns=30, settled=frozenset({FROG}))
SEEN = [Seen(FROG, "succeeded", "aa", 1), Seen(NEWT, "succeeded", "bb", 2), Seen(TOAD, "failed", None, 1)]


def asks(*lines: tuple[int, str]) -> list[dict[str, object]]:
    return [{"kind": "ask", "at_ns": at_ns, "key": key} for at_ns, key in lines]


CLEAN = asks((5, ROBOTS), (10, FROG), (20, NEWT), (40, ROBOTS), (41, NEWT), (50, TOAD))


def urls(lines: Iterable[object]) -> list[object]:
    return [line["key"] for line in lines]  # type: ignore[index]


def test_a_clean_crawl_has_no_offenders() -> None:
    assert fetched_after_settled(CLEAN, [KILL]) == []
    assert asked_more_than_attempts(CLEAN, SEEN) == []
    assert lost([FROG, NEWT], SEEN) == []
    assert never_asked(CLEAN, SEEN) == []


def test_a_request_after_its_settle_is_seen() -> None:
    late = asks((31, FROG))
    assert fetched_after_settled([*CLEAN, *late], [KILL]) == late


def test_a_request_before_the_death_is_none_after_it() -> None:
    assert fetched_after_settled(asks((29, FROG), (30, FROG)), [KILL]) == []


def test_a_page_settled_before_an_earlier_death_counts_in_every_later_life() -> None:
    second = Death(at_ns=60, settled=frozenset())
    assert urls(fetched_after_settled(asks((70, FROG)), [second, KILL])) == [FROG]


def test_a_page_asked_for_more_often_than_claimed_is_seen() -> None:
    assert asked_more_than_attempts([*CLEAN, *asks((90, TOAD))], SEEN) == [(TOAD, 2, 1)]


def test_a_page_that_is_missing_or_failed_is_lost() -> None:
    assert lost([FROG, TOAD, "https://marsh.test/heron"], SEEN) == ["https://marsh.test/heron", TOAD]


def test_a_result_that_nobody_fetched_is_seen() -> None:
    assert never_asked(asks((10, FROG)), SEEN) == [NEWT]


def test_a_page_exported_twice_is_seen() -> None:
    assert doubled([FROG, NEWT, FROG]) == [FROG]
    assert doubled([FROG, NEWT]) == []


def test_two_runs_with_the_same_results_do_not_differ() -> None:
    assert differences(SEEN, [replace(row, attempts=9) for row in reversed(SEEN)]) == ([], [])


def test_another_body_another_status_and_a_missing_page_are_differences() -> None:
    stormy = [replace(SEEN[0], sha256="cc"), replace(SEEN[2], status="skipped")]
    only_calm, only_stormy = differences(SEEN, stormy)
    assert only_calm == [(FROG, "aa", "succeeded"), (NEWT, "bb", "succeeded"), (TOAD, None, "failed")]
    assert only_stormy == [(FROG, "cc", "succeeded"), (TOAD, None, "skipped")]
