"""What is a block page and what only looks like one; how many answers 403 mean us (ERR-02, section 17)."""

from __future__ import annotations

from itertools import combinations

import pytest

from holdfast.model.exchange import Response
from holdfast.policy.blocking import (
    A_BLOCK,
    A_PAGE,
    ALONE,
    BYTES_MAX,
    FORBADE_MAX,
    FORGIVEN_KEPT,
    HOSTS_KEPT,
    LOOK_AGAIN,
    SIGNS,
    Lookalikes,
    block_page,
    blocking,
)

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


def test_three_different_pages_in_a_row_are_a_block_and_so_is_each_after_them() -> None:
    seen = Lookalikes()
    assert [seen.met("marsh.test", url) for url in "abcde"] == [LOOK_AGAIN, LOOK_AGAIN, A_BLOCK, A_BLOCK, A_BLOCK]
    assert seen.met("pond.test", "a") == LOOK_AGAIN


@pytest.mark.parametrize("status", [200, 304, 404])
def test_a_good_page_between_makes_those_before_it_pages(status: int) -> None:
    seen = Lookalikes()
    assert [seen.met("marsh.test", url) for url in "ab"] == [LOOK_AGAIN, LOOK_AGAIN]
    seen.answered("pond.test", status)
    seen.answered("marsh.test", status)
    assert [seen.met("marsh.test", url) for url in "abc"] == [A_PAGE, A_PAGE, LOOK_AGAIN]


def test_a_page_seen_again_is_alone_where_nothing_else_was_asked() -> None:
    seen = Lookalikes()
    assert [seen.met("marsh.test", "a") for _ in range(2)] == [LOOK_AGAIN, ALONE]


@pytest.mark.parametrize("status", [302, 403, 429, 503])
def test_other_answers_speak_for_no_page(status: int) -> None:
    """Behind a redirect there may be the captcha itself."""
    seen = Lookalikes()
    seen.met("marsh.test", "a")
    seen.answered("marsh.test", status)
    assert seen.met("marsh.test", "a") == A_BLOCK


def test_what_is_remembered_of_pages_and_hosts_is_bounded() -> None:
    seen = Lookalikes()
    for n in range(3 * HOSTS_KEPT):
        seen.met(f"{n}.test", "a")
    assert len(seen.by_host) == HOSTS_KEPT
    for n in range(3 * FORGIVEN_KEPT):
        seen.met("marsh.test", str(n))
        seen.answered("marsh.test", 200)
    assert len(seen._forgiven) == FORGIVEN_KEPT
    for n in range(100):
        seen.met("pond.test", str(n))
    assert len(seen.by_host["pond.test"]) == 3
