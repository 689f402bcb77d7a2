"""What a spreadsheet reads is text, never a formula; what a CSV reader reads is what was written."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.cells import FORMULA_STARTS, csv_line


def read(line: bytes) -> list[str]:
    [row] = csv.reader(io.StringIO(line.decode(), newline=""))
    return row


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_a_text_that_a_spreadsheet_would_execute_is_guarded(start: str) -> None:
    """DOC-33, ux 6.3."""
    assert read(csv_line([f"{start}cmd|' /C calc'!A0"])) == [f"'{start}cmd|' /C calc'!A0"]


def test_a_number_stays_a_number_and_null_is_empty() -> None:
    assert csv_line([-5, 2.5, None, True, "a"]) == b"-5,2.5,,true,a\r\n"


def test_lists_and_objects_are_their_json() -> None:
    assert read(csv_line([["=1", 2], {"a": None}])) == ['["=1",2]', '{"a":null}']


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=1))
def test_any_text_comes_back_with_at_most_its_guard(texts: list[str]) -> None:
    """RFC 4180."""
    line = csv_line([*texts, "end"])
    assert line.endswith(b"\r\n")
    for got, text in zip(read(line), texts, strict=False):
        assert got == (f"'{text}" if text.startswith(FORMULA_STARTS) else text)
    assert len(read(line)) == len(texts) + 1
