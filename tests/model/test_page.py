"""The JSONL export's object: its keys and their order are a contract."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.errors import Corrupt
from holdfast.model.page import PAGE_FIELDS, page_object
from holdfast.model.target import PageRow

RECORD: dict[str, Any] = {
    "final_url": "https://marsh.test/frog/7/",
    "title": "Frog 7",
    "status_code": 200,
    "fetched_at": 1_772_373_600_123,
    "content_type": "text/html; charset=utf-8",
    "links": 30,
    "canonical": None,
}
ROW = PageRow(
    target=255,
    url="https://marsh.test/frog/7",
    depth=2,
    parent_url="https://marsh.test/",
    record=json.dumps(RECORD).encode(),
    segment="J-1/w1-1.warc.gz",
    offset=0,
    length=900,
    size=14_000,
    sha256=bytes(range(32)),
    media="text/html",
    found_at=1_772_373_500_000,
    run=4,
)


def test_the_keys_of_a_page_are_these_in_this_order() -> None:
    keys = "url final_url title depth status_code fetched_at content_type sha256 bytes links parent markdown run target"
    assert list(page_object(ROW)) == keys.split()
    assert (*keys.split(), "text", "metadata", "flags") == PAGE_FIELDS  # which are derived, and come last


def test_a_page_is_told_in_the_words_of_the_export() -> None:
    assert page_object(ROW) == {
        "url": "https://marsh.test/frog/7",
        "final_url": "https://marsh.test/frog/7/",
        "title": "Frog 7",
        "depth": 2,
        "status_code": 200,
        "fetched_at": "2026-03-01T14:00:00.123Z",
        "content_type": "text/html; charset=utf-8",
        "sha256": bytes(range(32)).hex(),
        "bytes": 14_000,
        "links": 30,
        "parent": "https://marsh.test/",
        "markdown": None,
        "run": "R-4",
        "target": "T-ff",
    }


def test_a_seed_has_no_parent_and_a_page_may_have_no_title() -> None:
    untitled = json.dumps({**RECORD, "title": None, "content_type": None}).encode()
    page = page_object(replace(ROW, parent_url=None, record=untitled))
    assert (page["parent"], page["title"], page["content_type"]) == (None, None, None)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"\xff",
        b'{"final_url":"\xff"}',
        b'{"frog":' + b"[" * 100_000,
        json.dumps({**RECORD, "links": "30"}).encode(),
        json.dumps({**RECORD, "fetched_at": 10**18}).encode(),
    ],
)
def test_a_record_that_cannot_be_read_is_corrupt_and_names_its_target(record: bytes) -> None:
    with pytest.raises(Corrupt, match="page record of T-ff"):
        page_object(replace(ROW, record=record))
