"""A site's nonces and answers, as the judgments world gives them and as it gives them on a bad day."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.demo.judgments.pages import error_page, list_page
from holdfast.errors import FetchError
from holdfast.model.exchange import Headers, Request, Response
from holdfast.model.redaction import redacted
from holdfast.recipes.documents.signed import nonce_in, read_answer, request_form
from holdfast.recipes.documents.site_client import REFRESHES_MAX, WordPressClient

URL = "http://127.0.0.2:81/d/1/FSD1/download?expires=9&signature=ab"
HOSTS = ("127.0.0.2:81", "box.test")


@pytest.mark.parametrize("form", range(4))
def test_the_nonce_is_found_in_each_of_its_forms(form: int) -> None:
    """DOC-16."""
    page = list_page(
        title="T", table_id="judgment-registers", header=("A",), rows=[], nonce="0123456789", form=form
    ).decode()
    assert nonce_in(page) == "0123456789"
    assert nonce_in(error_page("Busy").decode()) is None


@pytest.mark.parametrize("key", ["fid", "url", "download_url", "link"])
def test_the_address_is_found_under_each_key_with_its_slashes_escaped(key: str) -> None:
    body = json.dumps({"success": True, "data": {key: URL}}).replace("/", "\\/").encode()
    assert read_answer(200, body, HOSTS).url == URL


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (403, b"-1", "session_expired"),
        (200, b"-1", "session_expired"),
        (200, b"0", "answer_unreadable"),
        (200, b"", "answer_unreadable"),
        (200, error_page("Error"), "answer_unreadable"),
        (200, b'{"success": false, "data": {"message": "File not found"}}', "answer_unreadable"),
        (200, b'{"success": true, "data": {}}', "answer_unreadable"),
        (200, b'{"success": true, "data": null}', "answer_unreadable"),
        (200, b'{"success": true, "data": {"fid": "https://evil.test/x"}}', "invalid_signed_url"),
        (200, b'{"success": true, "data": {"fid": "https://notbox.test/x"}}', "invalid_signed_url"),
        (200, b'{"success": true, "data": {"fid": "ftp://box.test/x"}}', "invalid_signed_url"),
        (200, b'{"success": true, "data": {"fid": "https://box.test@evil.test/x"}}', "invalid_signed_url"),
        (200, b'{"success": true, "data": {"fid": "https://[box.test/x"}}', "invalid_signed_url"),
        (200, b'{"success": true, "data": {"fid": "https://evil.test\\\\@box.test/x"}}', "invalid_signed_url"),
        (200, b"<a href='http://[box.test/'>", "answer_unreadable"),
        (200, b"[" * 200_000, "answer_unreadable"),
        (200, b'{"success": true, "data": {"fid": "https://dl.box.test/x"}}', ""),
        (200, b'<html><a href="https://dl.box.test/x?a=1&amp;b=2">file</a></html>', ""),
    ],
)
def test_every_answer_has_its_code(status: int, body: bytes, code: str) -> None:
    found = read_answer(status, body, HOSTS)
    assert found.code == code
    assert bool(found.url) == (not code)


@given(st.binary(max_size=300))
def test_any_answer_is_an_address_or_a_code(body: bytes) -> None:
    found = read_answer(200, body)
    assert bool(found.url) != bool(found.code)


def test_a_request_names_the_token_and_logs_have_no_signature() -> None:
    assert request_form("FSD1", "0123456789")["fname"] == "FSD1"
    assert redacted(URL) == "http://127.0.0.2:81/d/1/FSD1/download"


class Site:
    """Fulfils as much of Fetch as is needed. A nonce is good for so many requests, then the page has another one."""

    def __init__(self, requests_per_nonce: int) -> None:
        self.requests_per_nonce = requests_per_nonce
        self.loads = self.requests = 0

    async def __call__(self, url: str, headers: Headers = ()) -> Response:
        self.loads, self.requests = self.loads + 1, 0
        return Response(url=url, status=200, headers=(), body=b'{"security":"%010x"}' % self.loads)

    async def send(self, request: Request) -> Response:
        self.requests += 1
        is_good = f"security={self.loads:010x}".encode() in request.body and self.requests <= self.requests_per_nonce
        body = json.dumps({"success": True, "data": {"fid": URL}}).encode() if is_good else b"-1"
        return Response(url=request.url, status=200 if is_good else 403, headers=(), body=body)

    def addresses(self, count: int) -> list[str]:
        client = WordPressClient("https://court.example/judgments/", hosts=HOSTS)

        async def ask() -> list[str]:
            return [await client.address(f"T{n}", self, 0) for n in range(count)]  # type: ignore[arg-type]

        return asyncio.run(ask())


def test_a_nonce_that_ends_in_the_middle_is_renewed_and_every_later_case_succeeds() -> None:
    """DOC-18; worlds 1, line 10."""
    site = Site(requests_per_nonce=4)
    assert site.addresses(12) == [URL] * 12
    assert site.loads == 3


def test_a_site_that_refuses_every_nonce_is_asked_so_often_and_no_more() -> None:
    site = Site(requests_per_nonce=0)
    with pytest.raises(FetchError) as told:
        site.addresses(1)
    assert (told.value.code, site.loads) == ("session_expired", REFRESHES_MAX + 1)
