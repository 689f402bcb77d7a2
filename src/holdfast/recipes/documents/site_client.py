"""Finds the address of a document that its list names only by a token (DOC-16).

`DocumentSiteClient` is the seam. `WordPressClient` fulfils it over plain HTTP: it loads the list page for nonce and
cookies, posts the token, and reads the signed address. `browser_client.BrowserClient` does the same within a page of
Chromium.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Protocol

from holdfast.errors import Blocked, FetchError
from holdfast.model.codes import code_of_status
from holdfast.model.exchange import Request, Response
from holdfast.model.keys import canonical
from holdfast.policy.blocking import block_page
from holdfast.policy.retry import read_retry_after
from holdfast.recipe import Fetch
from holdfast.recipes.documents.signed import SignedAnswer, nonce_in, read_answer, request_form

AJAX_PATH = "/wp-admin/admin-ajax.php"
PAGES = {
    "unreported_judgments": "/judgments/unreported-judgments/",
    "public_registers": "/public-registers/",
}
FORBIDDEN = 403
REFRESHES_MAX = 6  # within one attempt: a nonce may end while its request is on the way, and others share it
_AS_SCRIPT = (("X-Requested-With", "XMLHttpRequest"),)


class DocumentSiteClient(Protocol):
    """One site. `address` is called once per attempt, and again where the address it gave had expired."""

    home: str  # any URL of the site: its host is where the turns are taken

    async def address(self, token: str, fetch: Fetch, now_ms: int) -> str:
        """The signed address of a document. FetchError has the failure code; a session that ended is renewed
        within the attempt and is not a failure."""


class WordPressClient:
    """The judgments site's shape. One object serves every attempt of a job in this process; cookies are the
    fetcher's."""

    def __init__(self, page: str, *, hosts: Collection[str] = ()) -> None:
        self.home = page
        self._ajax = canonical(AJAX_PATH, page)
        self._hosts = tuple(hosts)
        self._nonce = ""
        self._loading = asyncio.Lock()

    async def address(self, token: str, fetch: Fetch, now_ms: int) -> str:
        assert self._ajax is not None
        for _ in range(REFRESHES_MAX + 1):
            nonce = await self._good_nonce(fetch, now_ms)
            response = await fetch.send(Request.form(self._ajax.url, request_form(token, nonce), _AS_SCRIPT))
            answer = read_signed(response, self._hosts, now_ms)
            if answer.url:
                return answer.url
            if answer.code != "session_expired":
                raise FetchError(answer.code, answer.message, status=response.status)
            self._forget(nonce)
        raise FetchError("session_expired", "the site refuses every new session, too")

    async def _good_nonce(self, fetch: Fetch, now_ms: int) -> str:
        """The nonce that was last seen; the page is loaded by the first who needs one, and the others wait for it."""
        async with self._loading:
            if not self._nonce:
                page = await fetch(self.home)
                refuse_page(page, now_ms)
                found = nonce_in(page.body.decode("utf-8", "replace"))
                if found is None:
                    raise FetchError("answer_unreadable", f"no nonce in {self.home}", status=page.status)
                self._nonce = found
            return self._nonce

    def _forget(self, nonce: str) -> None:
        """Unless somebody has a newer one already."""
        if self._nonce == nonce:
            self._nonce = ""


def read_signed(response: Response, hosts: Collection[str], now_ms: int) -> SignedAnswer:
    """What the site says to a request for an address; FetchError where its status says it."""
    refuse_block(response)
    if response.status != FORBIDDEN:
        refuse_status(response, now_ms)
    return read_answer(response.status, response.body, hosts)


def refuse_page(page: Response, now_ms: int) -> None:
    """Every case goes by this page: a block page in its place, or 403, means us and not the case."""
    refuse_block(page)
    if page.status == FORBIDDEN:
        raise Blocked(f"{page.url} answered 403: the site blocks this crawler")
    refuse_status(page, now_ms)


def refuse_block(response: Response) -> None:
    if signs := block_page(response):
        raise Blocked(
            f"{response.url} answered {response.status} with a block page ({signs}): the site blocks this crawler"
        )


def refuse_status(response: Response, now_ms: int) -> None:
    code = code_of_status(response.status)
    if code is None and 200 <= response.status < 300:
        return
    raise FetchError(
        code or "bad_response",
        f"HTTP {response.status} at {response.url}",
        status=response.status,
        retry_after_s=read_retry_after(response.header("retry-after"), now_ms),
    )
