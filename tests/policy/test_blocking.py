"""What is a block page and what only looks like one; how many answers 403 mean us (ERR-02, section 17)."""

from __future__ import annotations

from itertools import combinations

import pytest

from holdfast.model.exchange import Response
from holdfast.policy.blocking import BYTES_MAX, FORBADE_MAX, SIGNS, block_page, blocking

HTML = (("content-type", "text/html; charset=utf-8"),)
CAPTCHA = b"<title>Access Denied</title><h1>Prove that you are no robot</h1><div id=captcha></div>"


def answer(body: bytes, status: int = 200, headers: tuple[tuple[str, str], ...] = HTML) -> Response:
    return Response(url="https://marsh.test/frog", status=status, headers=headers, body=body)


@pytest.mark.parametrize("status", [200, 403, 429, 503])
@pytest.mark.parametrize("signs", list(combinations(SIGNS, 2)))
def test_any_two_signs_on_a_short_page_are_a_block_page(signs: tuple[bytes, bytes], status: int) -> None:
    body = b"<html><body><p>%s</p><p>%s</p></body></html>" % (signs[0].upper(), signs[1])
    assert block_page(answer(body, status)) == f"{signs[0].decode()!r} and {signs[1].decode()!r}"


def test_scripts_and_styles_are_no_text_so_a_challenge_full_of_them_is_still_short() -> None:
    script = b"<script>" + b"var frog = 1; " * 2000 + b"</script><style>" + b"p { } " * 2000 + b"</style>"
    assert block_page(answer(script + CAPTCHA))


@pytest.mark.parametrize(
    "page",
    [
        b"<p>captcha captcha captcha</p>",
        b"<h1>403 Forbidden</h1><p>Access denied.</p>",
        CAPTCHA + b"<p>" + b"How frogs solve it. " * 100,
        CAPTCHA + b"<a href=/pond>pond</a>" * 11,
        CAPTCHA + b" " * BYTES_MAX,
        b"",
    ],
    ids=["one sign", "a plain 403", "an article", "a page with the links of a site", "a large one", "nothing"],
)
def test_what_only_looks_like_one_is_none(page: bytes) -> None:
    assert [block_page(answer(page, status)) for status in (200, 403, 503)] == ["", "", ""]


@pytest.mark.parametrize("status", [201, 302, 404, 500])
def test_an_answer_of_another_status_is_judged_by_its_status(status: int) -> None:
    assert block_page(answer(CAPTCHA, status)) == ""


def test_what_is_no_html_or_says_when_to_come_again_is_no_block_page() -> None:
    assert block_page(answer(CAPTCHA, headers=())) != ""
    assert block_page(answer(CAPTCHA, headers=(("content-type", "application/json"),))) == ""
    assert block_page(answer(CAPTCHA, 429, (*HTML, ("retry-after", "30")))) == ""


def test_a_page_full_of_open_tags_is_looked_at_in_one_pass() -> None:
    assert block_page(answer(b"<script" * 9000 + b"captcha, access denied")) != ""


def test_ten_answers_403_in_a_row_of_one_host_mean_us() -> None:
    assert blocking({}) == ""
    assert blocking({"marsh.test": FORBADE_MAX - 1, "pond.test": FORBADE_MAX - 1}) == ""
    assert blocking({"marsh.test": 1, "pond.test": 12}) == "pond.test blocks us: it answered 403 12 times in a row"
