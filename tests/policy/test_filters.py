"""The filter grammar for targets (ux.md 5.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.errors import BadParams
from holdfast.model.target import TargetRow
from holdfast.policy.filters import JOBS, KEYS, TARGETS, FilterText, Grammar, matches, parse, reading, resolved

FROG = TargetRow(
    id=7,
    key=b"k" * 16,
    url="https://marsh.test/frog/7?a=1,2",
    type="page",
    status="failed",
    disposition=None,
    rule=None,
    code="http_404",
    depth=3,
    parent=1,
    host="marsh.test",
    chunk=4,
    generation=0,
    attempts=2,
    not_before=None,
    because=None,
    found_at=None,
    settled_at=None,
    sha256=None,
)


def test_a_filter_becomes_conditions_as_the_ledger_reads_them() -> None:
    assert parse('status:failed,skipped -code:http_404  depth:>2 url:"*/a b,c*"') == [
        ("status", True, ("failed", "skipped")),
        ("code", False, ("http_404",)),
        ("depth", True, (">2",)),
        ("url", True, ("*/a b,c*",)),
    ]


@pytest.mark.parametrize(
    ("text", "grammar", "says", "hint"),
    [
        ("code:htp_404", TARGETS, "no target has the code 'htp_404'; did you mean http_404?", "http_429 http_5xx"),
        ("-code:bogus", TARGETS, "no target has the code 'bogus'", "one of: network_timeout"),
        ("code:http_404,zzz*", TARGETS, "no target has the code 'zzz*'", "poison"),
        ("status:done", TARGETS, "no target has the status 'done'", "one of: pending in_progress succeeded"),
        ("health:fine", JOBS, "no job has the health 'fine'", "one of: ok partial failed suspicious"),
        ("stale:yes", JOBS, "no job has the stale 'yes'", "one of: true false"),
    ],
)
def test_a_word_that_no_row_can_have_is_refused_with_those_that_there_are(
    text: str, grammar: Grammar, says: str, hint: str
) -> None:
    with pytest.raises(BadParams) as refused:
        parse(text, grammar)
    assert refused.value.message.startswith(says)
    assert hint in refused.value.hint


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_filter_lets_everything_through(text: str) -> None:
    assert parse(text) == []
    assert matches(FROG, parse(text))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("status:failed", True),
        ("status:failed code:http_404", True),
        ("status:failed code:http_403", False),
        ("code:http_403,http_404", True),
        ("-code:http_404", False),
        ("-rule:depth", True),
        ("rule:depth", False),
        ("rule:*", False),
        ("-rule:*", True),
        ("code:http_*", True),
        ("url:*/frog/*", True),
        ("url:*/FROG/*", False),
        ('url:"https://marsh.test/frog/7?a=1,2"', True),
        ("url:https://marsh.test/frog/7", False),
        ("host:*.test", True),
        ("depth:3", True),
        ("depth:>2", True),
        ("depth:>=3 depth:<=3", True),
        ("depth:>3", False),
        ("depth:<3", False),
        ("-depth:>3", True),
        ("depth:1,>2", True),
        ("attempts:<3", True),
        ("status:running", False),
        ("type:page", True),
    ],
)
def test_space_is_and_comma_is_or_minus_is_not(text: str, fits: bool) -> None:
    assert matches(FROG, parse(text)) is fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("settled:<2h", True),
        ("settled:<30m", False),
        ("settled:>30m", True),
        ("settled:>1d", False),
        ("settled:2h", True),
        ("-settled:<2h", False),
        ("found:>=2030-03-17T00:00:00Z", True),
        ("found:<2030-03-17", False),
        ("found:>2030-03-17T16:46:39+00:00", True),
        ("found:<1h,>3h", True),
        ("id:T-7", True),
        ("id:T-8", False),
        ("parent:T-1", True),
        ("parent:1", True),
        ("parent:T-2", False),
        ("chunk:C-4", True),
        ("run:R-3", True),
        ("run:R-4,R-5", False),
        ("bytes:>1kB bytes:<=1.5kB", True),
        ("bytes:1500B", True),
        ("label:keep*", True),
        ("-label:rejected", True),
        ("status:fail*", True),
        ("status:*", True),
        ("status:s*", False),
    ],
)
def test_ages_moments_ids_sizes_and_marks(text: str, fits: bool) -> None:
    now = 1_900_000_000_000  # 2030-03-17T17:46:40Z
    row = replace(FROG, found_at=now - 3_600_000, settled_at=now - 3_600_000, size=1_500, run=3, label="keeper")
    row = replace(row, found_at=now - 4 * 3_600_000) if "3h" in text else row
    assert matches(row, resolved(parse(text), now)) is fits


def test_what_was_meant_stays_meant_when_time_goes_on() -> None:
    meant = resolved(parse("settled:<2h"), 1_900_000_000_000)
    assert resolved(meant, 1_900_100_000_000) == meant == [("settled", True, (">@1899992800000",))]


def test_a_target_that_was_never_settled_fits_no_age() -> None:
    assert not matches(FROG, resolved(parse("settled:<2h"), 1_900_000_000_000))
    assert matches(FROG, resolved(parse("-settled:<2h"), 1_900_000_000_000))


def test_words_of_other_systems_are_read_as_ours() -> None:
    assert parse("status:running,success") == [("status", True, ("in_progress", "succeeded"))]
    assert matches(replace(FROG, status="succeeded"), parse("status:downloaded"))


def test_an_unknown_key_is_refused_with_the_keys_and_a_guess() -> None:
    with pytest.raises(BadParams, match="did you mean status") as refused:
        parse("statis:failed")
    assert all(key in refused.value.hint for key in KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "frog", "status:", "status:a", "code:a,,b", "code:a,", "code:,a", 'url:"a', "depth:deep", "depth:>", ":x",
        'code:""', "depth:>99999999999999999", "attempts:*", "-", "settled:soon", "found:>2026-13-01", "parent:C-1",
        "run:R-x", "chunk:-1", "bytes:>1ZB", "depth:1.5", "depth:1MB",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadParams):
        parse(text)


@pytest.mark.parametrize("text", ["found:<999999999999w", "found:>@99999999999999999", "settled:>=900000000d"])
def test_an_age_that_no_ledger_can_compare_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="needs an age or a moment"):
        parse(text)


def test_bytes_that_are_no_text_are_refused_before_a_ledger_is_asked_for_them() -> None:
    typed = b"url:*caf\xe9*".decode("utf-8", "surrogateescape")
    with pytest.raises(BadParams, match="not text"):
        parse(typed)


def test_how_a_value_is_meant_is_said_in_one_place() -> None:
    assert reading("depth", ">=3") == FilterText(">=", 3)
    assert reading("url", ">=3") == FilterText("=", ">=3")
    assert reading("host", "*.test") == FilterText("*", "*.test")


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        conditions = parse(text)
    except BadParams:
        return
    assert matches(FROG, conditions) in (True, False)
