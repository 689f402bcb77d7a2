"""The site client that works the list page in a browser, for sites that tell a script from a person (DOC-16 to DOC-18).

The page is loaded as a person loads it, its cookie banner accepted, and the request for an address is sent from within
it. The page stays where it is for the cases that follow, as long as the site knows its session; so a case costs the
site one request, in the turn that its claim took.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from weakref import WeakKeyDictionary

from holdfast.errors import Disallowed, FetchError
from holdfast.model.browsing import BrowserPage
from holdfast.model.exchange import Response
from holdfast.model.keys import Address, canonical
from holdfast.recipe import Fetch
from holdfast.recipes.documents.signed import ANSWER_BYTES_MAX, nonce_in, request_form
from holdfast.recipes.documents.site_client import AJAX_PATH, REFRESHES_MAX, read_signed, refuse_page
from holdfast.recipes.paged import in_page

_HTML = (("content-type", "text/html; charset=utf-8"),)
# Clicked by script: an animation of the banner must not keep the click off.
_ACCEPT = """() => {
  const word = /^(accept|agree|allow)( all)?( cookies)?$/i;
  const accept = [...document.querySelectorAll('button, a[role=button], input[type=button]')]
    .find(one => word.test((one.textContent || one.value || '').trim()) && one.checkVisibility());
  if (accept) accept.click();
}"""
_ASK = """async ([url, form, most]) => {
  try {
    const answer = await fetch(url, {method: 'POST', body: new URLSearchParams(form), credentials: 'same-origin',
                                     headers: {'X-Requested-With': 'XMLHttpRequest'}});
    const body = (await answer.text()).slice(0, most);
    return {status: answer.status, body, type: answer.headers.get('content-type') || '',
            wait: answer.headers.get('retry-after')};
  } catch (error) {
    return {status: 0, body: String(error)};
  }
}"""


class BrowserClient:
    """Fulfils `site_client.DocumentSiteClient`. `barring` names the robots rule that forbids an address: a request from
    within a page is asked for by the page, and nothing else would look."""

    def __init__(
        self, page: str, *, hosts: Collection[str] = (), barring: Callable[[Address], str] = lambda _: ""
    ) -> None:
        self.home = page
        self._ajax = canonical(AJAX_PATH, page)
        self._hosts, self._barring = tuple(hosts), barring
        self._nonces = WeakKeyDictionary[BrowserPage, str]()  # of pages that are loaded, each with its own cookies

    async def address(self, token: str, fetch: Fetch, now_ms: int) -> str:
        """A browser that dies is replaced within the attempt: to ask for an address again does no harm."""
        return await in_page(fetch, lambda page: self._asked(page, token, now_ms), keep=self.home)

    async def _asked(self, page: BrowserPage, token: str, now_ms: int) -> str:
        for _ in range(REFRESHES_MAX + 1):
            nonce = self._nonces.get(page) or await self._loaded(page, now_ms)
            response = await self._answer(page, token, nonce)
            answer = read_signed(response, self._hosts, now_ms)
            if answer.url:
                return answer.url
            if answer.code != "session_expired":
                raise FetchError(answer.code, answer.message, status=response.status)
            del self._nonces[page]
        raise FetchError("session_expired", "the site refuses every new session, too")

    async def _loaded(self, page: BrowserPage, now_ms: int) -> str:
        """The nonce of the page, freshly loaded, with its cookie banner out of the way."""
        status = await page.goto(self.home)
        html = await page.content()
        loaded = Response(url=self.home, status=status, headers=_HTML, body=html.encode("utf-8", "replace"))
        refuse_page(loaded, now_ms)
        nonce = nonce_in(html)
        if nonce is None:
            raise FetchError("answer_unreadable", f"no nonce in {self.home}", status=status)
        await page.evaluate(_ACCEPT)
        self._nonces[page] = nonce
        return nonce

    async def _answer(self, page: BrowserPage, token: str, nonce: str) -> Response:
        assert self._ajax is not None
        if rule := self._barring(self._ajax):
            raise Disallowed(f"robots.txt forbids {self._ajax.url}", rule=rule)
        got = await page.evaluate(_ASK, [self._ajax.url, request_form(token, nonce), ANSWER_BYTES_MAX])
        if not got["status"]:
            raise FetchError("network_error", f"browser: {self._ajax.url}: {got['body'][:200]}")
        headers = (("content-type", got["type"]), *((("retry-after", got["wait"]),) if got["wait"] else ()))
        return Response(url=self._ajax.url, status=got["status"], headers=headers, body=got["body"].encode())
