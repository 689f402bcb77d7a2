"""Durations and sizes as people type them, and lengths of time as they read them."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from holdfast.cli.screen.values import ago, duration, moment, share, show_duration, show_size, size, span, whole

HOUR_S = 3600.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("2s", 2), ("30m", 1800), ("2h", 7200), ("7", 7), ("1.5", 1.5), ("0", 0), ("0.25s", 0.25)],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert duration(0, 3 * HOUR_S)(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "2 days", "-1s", "1e3", "nan", "inf", "2S", "1,5s", "2s2s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a duration such as 500ms"):
        duration(0, HOUR_S)(text)


def test_a_duration_out_of_range_names_the_range_in_the_same_words() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^must be from 500ms to 1h, not 2h$"):
        duration(0.5, HOUR_S)("2h")


@pytest.mark.parametrize(
    ("text", "count"), [("10kB", 10_000), ("1.5GB", 1_500_000_000), ("50MB", 50_000_000), ("512", 512), ("1tb", 10**12)]
)
def test_a_size_is_read_in_bytes(text: str, count: int) -> None:
    assert size(1, 10**13)(text) == count


@pytest.mark.parametrize("text", ["", "MB", "10KiB", "-1", "ten", "1e6"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a size such as 10kB"):
        size(1, 10**13)(text)


@pytest.mark.parametrize("text", ["1.5", "", "one", "١"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        whole(0, 3)(text)


@pytest.mark.parametrize(("text", "means"), [("never", "never"), ("any", "any"), ("5%", 0.05), ("0.5%", 0.005)])
def test_a_share_of_failures_is_read(text: str, means: str | float) -> None:
    assert share(text) == means


@pytest.mark.parametrize("text", ["5", "101%", "-1%", "all"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        share(text)


@pytest.mark.parametrize("seconds", [0, 0.5, 0.25, 1, 2, 90, 1800, 7200])
def test_a_shown_duration_reads_back_as_the_same(seconds: float) -> None:
    assert duration(0, 3 * HOUR_S)(show_duration(seconds)) == seconds


@pytest.mark.parametrize("count", [1, 999, 10_000, 50_000_000, 1_500_000_000, 10**12])
def test_a_shown_size_reads_back_as_the_same(count: int) -> None:
    assert size(1, 10**13)(show_size(count)) == count


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (9.9, "9 s"), (60, "1 min"), (3599, "59 min"), (7200, "2 h"), (47 * HOUR_S, "47 h"), (1e6, "11 d")],
)
def test_a_span_has_one_unit(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_moments_are_utc_and_carry_their_date_once_it_matters() -> None:
    now_ms = 1_772_375_460_000
    assert moment(now_ms - 60_000, now_ms) == "14:30 UTC"
    assert moment(now_ms - 3 * 86_400_000, now_ms) == "2026-02-26 14:31 UTC"
    assert ago(now_ms - 7_200_000, now_ms) == "2 h ago"
