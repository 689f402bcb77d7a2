"""The closed table of failure codes (ERR-01, section 17)."""

from __future__ import annotations

import pytest

from holdfast.errors import Corrupt
from holdfast.model.codes import CODES, code, code_of_status


def test_every_code_is_a_word_with_a_meaning_and_somebodys_fault() -> None:
    for name, row in CODES.items():
        assert name == row.name
        assert name.replace("_", "").isalnum()
        assert row.meaning
        assert row.fault in ("source", "input", "recipe", "ours")


def test_what_section_17_says_about_another_try() -> None:
    never = (
        "tls_error body_too_large bomb too_many_redirects blocked_address bad_url http_401 http_403 http_404 http_410"
    )
    never += " http_4xx blocked disk_full poison stale click_timeout not_stored not_archived too_few_images"
    never += " engine_blocked other_job_changed"
    assert {name for name, row in CODES.items() if not row.retryable} == set(never.split())
    assert {name for name, row in CODES.items() if row.slows_host} == {"http_429", "http_5xx"}
    assert {name for name, row in CODES.items() if row.pauses_job} == {"blocked", "disk_full"}
    handed_back = {"blocked", "disk_full", "no_resources", "browser_launch_failed"}
    assert {name for name, row in CODES.items() if row.hands_back} == handed_back
    tried_twice = {"bad_response", "answer_unreadable", "browser_crashed", "element_not_found"}
    assert {name for name, row in CODES.items() if row.attempts} == tried_twice


def test_a_name_outside_the_table_is_damage() -> None:
    """ERR-01."""
    assert code("poison").meaning.startswith("killed its worker")
    with pytest.raises(Corrupt, match="gremlins"):
        code("gremlins")


@pytest.mark.parametrize("status", range(100, 700))
def test_every_http_status_is_a_code_of_the_table_or_no_failure(status: int) -> None:
    name = code_of_status(status)
    if name is None:
        assert 200 <= status < 400
        assert status not in (206, 304)
    else:
        assert name in CODES


@pytest.mark.parametrize(
    ("status", "name"),
    [(200, None), (301, None), (206, "bad_response"), (304, "bad_response"), (401, "http_401"), (410, "http_410"),
     (429, "http_429"), (503, "http_5xx"), (600, "bad_response"), (100, "bad_response")],
)  # fmt: skip
def test_a_status_has_the_code_that_the_table_gives(status: int, name: str | None) -> None:
    assert code_of_status(status) == name
