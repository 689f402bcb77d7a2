"""Politeness inside one worker: the last word falls when a fetch begins."""

from __future__ import annotations

from holdfast.engine.pace import Pace

FROG, TOAD = "frog.test", "toad.test"


def test_two_fetches_to_one_host_are_a_delay_less_its_jitter_apart() -> None:
    """DOC-24: the same for documents of a list as for pages."""
    pace = Pace(delay_ms=1000, jitter=0.2)
    pace.started(FROG, 5_000)
    assert pace.wait_ms(FROG, 5_000) == 800
    assert pace.wait_ms(FROG, 5_800) == 0
    assert pace.wait_ms(TOAD, 5_000) == 0


def test_without_a_delay_nobody_waits_and_nothing_is_remembered() -> None:
    pace = Pace(delay_ms=0, jitter=0.2)
    pace.started(FROG, 5_000)
    assert pace.wait_ms(FROG, 5_000) == 0


def test_what_waits_for_a_host_that_asked_for_patience_is_handed_back() -> None:
    pace = Pace(delay_ms=0, jitter=0.0)
    pace.hold(FROG, 60_000, 5_000)
    assert pace.is_held(FROG, 5_000)
    assert not pace.is_held(TOAD, 5_000)
    assert not pace.is_held(FROG, 64_500), "a second more can be waited for"
    assert pace.wait_ms(FROG, 64_500) == 500


def test_a_shorter_hold_does_not_shorten_a_longer_one() -> None:
    pace = Pace(delay_ms=0, jitter=0.0)
    pace.hold(FROG, 60_000, 5_000)
    pace.hold(FROG, 1_000, 6_000)
    assert pace.wait_ms(FROG, 6_000) == 59_000


def test_hosts_that_need_no_waiting_are_forgotten() -> None:
    pace = Pace(delay_ms=1000, jitter=0.0)
    for n in range(100):
        pace.started(f"h{n}.test", n)
    pace.forget(["h7.test"], 2_000)
    assert pace._next_ms.keys() == {"h7.test"}


def test_while_we_have_nothing_to_fetch_with_no_host_is_asked() -> None:
    pace = Pace(delay_ms=0, jitter=0.0)
    assert pace.run_short(5_000) == 250
    assert (pace.wait_ms(FROG, 5_000), pace.wait_ms(TOAD, 5_100)) == (250, 150)
    assert pace.wait_ms(FROG, 5_250) == 0
    assert not pace.is_held(FROG, 5_000), "it is not the host that asked for patience"


def test_a_shortage_that_lasts_is_waited_for_longer_each_time_and_fetches_that_failed_together_count_once() -> None:
    pace, now, waits = Pace(delay_ms=0, jitter=0.0), 5_000, []
    for _ in range(9):
        waits.append(pace.run_short(now))
        assert pace.run_short(now + 3) == 0
        now += waits[-1] + 10
    assert waits == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]


def test_a_shortage_after_one_that_is_over_is_a_first_one() -> None:
    pace = Pace(delay_ms=0, jitter=0.0)
    for now in (5_000, 5_250):
        pace.run_short(now)
    assert pace.run_short(5_750 + 501) == 250
