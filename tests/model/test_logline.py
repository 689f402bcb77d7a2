"""A line of the log: one search finds it, it cannot steer a terminal, and programs read it back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.logline import LEVELS, PHASES, log_line, read_line

AT_MS = 1_772_373_600_123
LINE = (
    "2026-03-01T14:00:00.123Z WARNING [HOLDFAST][ERROR] job=J-7f3a target=T-9 code=http_404 "
    'message="HTTP 404; not tried"'
)


def test_a_line_has_its_stable_form() -> None:
    """LOG-01."""
    fields = {
        "job": "J-7f3a",
        "target": "T-9",
        "code": "http_404",
        "disposition": None,
        "message": "HTTP 404; not tried",
    }
    assert log_line(AT_MS, "warning", "ERROR", fields) == LINE


def test_a_line_is_read_back() -> None:
    assert read_line(LINE) == {
        "at": "2026-03-01T14:00:00.123Z", "level": "warning", "phase": "ERROR", "job": "J-7f3a", "target": "T-9",
        "code": "http_404", "message": "HTTP 404; not tried",
    }  # fmt: skip


def test_what_is_no_line_or_cut_off_is_not_read() -> None:
    assert read_line("something else") is None
    assert read_line(LINE[:-5]) is None


@pytest.mark.parametrize("value", [r'"\q"', '"\x0b"', r'"\u12"', r'"\ufrog"'])
def test_a_line_that_was_garbled_inside_a_value_is_none_of_ours(value: str) -> None:
    assert read_line(f"{LINE} more={value}") is None


@given(st.text(), st.sampled_from(LEVELS), st.sampled_from(PHASES))
def test_any_text_stays_in_its_line_and_comes_back(text: str, level: str, phase: str) -> None:
    line = log_line(AT_MS, level, phase, {"message": text})
    assert line.isprintable()
    assert line.isascii()
    found = read_line(line)
    assert found is not None
    assert found["message"] == text[:2000]
