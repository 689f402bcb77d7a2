"""The one decision about another attempt (ERR-02, ERR-03, ERR-05)."""

from __future__ import annotations

from random import Random

import pytest

from holdfast.model.codes import CODES
from holdfast.model.outcome import Done, Failed, Outcome, Skipped
from holdfast.policy.retry import KINDS, RETRY_AFTER_MAX_S, Decision, backoff, judge, read_retry_after

NOW = 1_900_000_000_000


def decide(outcome: Outcome, *, attempts: int = 1, max_attempts: int = 3) -> Decision:
    return judge(outcome, attempts=attempts, max_attempts=max_attempts, random=Random(7))


def test_what_did_not_fail_is_settled_as_the_step_said() -> None:
    assert decide(Done("page")).move == "succeed"
    skipped = decide(Skipped("duplicate", "redirects to B"))
    assert (skipped.move, skipped.because, skipped.wait_ms) == ("skip", "redirects to B", None)


@pytest.mark.parametrize("name", CODES)
def test_every_code_gets_a_kind_and_no_code_is_tried_beyond_the_cap(name: str) -> None:
    """ERR-02, ERR-03: one decision point for the whole table, three attempts at most."""
    first, last = decide(Failed(name, "x"), attempts=1), decide(Failed(name, "x"), attempts=3)
    assert first.kind in KINDS
    assert (first.move == "retry") == CODES[name].retryable
    assert (last.move, last.wait_ms) == ("fail", None)
    assert last.kind == ("capped" if CODES[name].retryable else "non_retryable")


def test_a_codes_own_cap_is_kept_where_it_is_lower() -> None:
    assert decide(Failed("bad_response", ""), attempts=1).move == "retry"
    assert decide(Failed("bad_response", ""), attempts=2).kind == "capped"
    assert decide(Failed("bad_response", ""), attempts=1, max_attempts=1).kind == "capped"


def test_a_code_outside_the_table_is_tried_again_as_an_error_of_ours() -> None:
    """ERR-01: the set of codes is closed; a step's own word becomes `internal` and is shown."""
    decision = decide(Failed("gremlins", "boo"))
    assert (decision.kind, decision.code, decision.move) == ("unknown", "internal", "retry")
    assert "gremlins" in decision.because


def test_the_back_off_doubles_up_to_thirty_seconds_and_is_jittered() -> None:
    """ERR-03, DOC-24."""
    for attempts, bare in ((1, 1), (2, 2), (3, 4), (4, 8), (6, 30), (90, 30)):
        waits = [backoff(attempts, Random(seed)) for seed in range(50)]
        assert all(bare * 0.8 <= wait <= min(bare * 1.2, 30) for wait in waits)
        assert len(set(waits)) > 10


def test_a_retry_waits_for_its_back_off() -> None:
    decision = decide(Failed("network_error", "reset"), attempts=2)
    assert decision.wait_ms is not None
    assert 1_600 <= decision.wait_ms <= 2_400
    assert decision.hold_host_ms == 0


@pytest.mark.parametrize("code", ["http_429", "http_5xx"])
def test_retry_after_holds_the_whole_host(code: str) -> None:
    """Section 17: 429 and 5xx slow the host; it waits as long as it asked for."""
    decision = decide(Failed(code, "", 429, retry_after_s=120.0))
    assert decision.hold_host_ms == 120_000
    assert decision.wait_ms == 120_000


def test_an_absurd_retry_after_is_capped_at_a_day() -> None:
    """ERR-05."""
    assert decide(Failed("http_429", "", retry_after_s=3.2e8)).hold_host_ms == 24 * 3_600_000


@pytest.mark.parametrize("asked", [None, float("nan"), -5.0])
def test_without_a_usable_retry_after_the_host_is_held_for_the_back_off(asked: float | None) -> None:
    decision = decide(Failed("http_5xx", "", retry_after_s=asked))
    assert 800 <= decision.hold_host_ms <= 1_200


def test_the_host_is_held_even_when_this_target_has_no_attempts_left() -> None:
    assert decide(Failed("http_429", "", retry_after_s=60.0), attempts=3).hold_host_ms == 60_000


def test_retry_after_of_a_code_that_slows_no_host_delays_only_the_target() -> None:
    decision = decide(Failed("network_timeout", "", retry_after_s=50.0))
    assert (decision.hold_host_ms, decision.wait_ms) == (0, 50_000)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 400, RETRY_AFTER_MAX_S),
        ("Sun, 17 Mar 2030 17:48:50 GMT", 130.0),
        ("Sun, 17 Mar 2020 17:48:50 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", RETRY_AFTER_MAX_S),
        ("soon", None),
        ("-3", None),
        ("1.5", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header, NOW) == seconds
