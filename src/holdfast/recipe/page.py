"""An answer as a step sees it: status, body, text, and what CSS selectors or JSON find in it; parsed when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import BadParams, FetchError
from holdfast.model.exchange import Response
from holdfast.model.keys import canonical
from holdfast.recipe.weight import too_heavy

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

HTML_BYTES_MAX = 10_000_000
Decode = Callable[[bytes, str], str]


class Element:
    """One element that a selector found."""

    __slots__ = ("_node", "_page")

    def __init__(self, node: LexborNode, page: Page) -> None:
        self._node, self._page = node, page

    @property
    def text(self) -> str:
        """Its text and that of everything in it, white space made single."""
        return " ".join(self._node.text(deep=True, separator=" ").split())

    def attr(self, name: str, default: str | None = None) -> str | None:
        value = self._node.attributes.get(name, default)
        return default if value is None else value

    @property
    def url(self) -> str | None:
        """Where its `href` or `src` leads, absolute; None where it has none or leads to no page."""
        return self._page.resolve(self.attr("href") or self.attr("src") or "")

    def css(self, selector: str) -> list[Element]:
        return [Element(node, self._page) for node in _selected(self._node, selector)]

    def __repr__(self) -> str:
        return f"<{self._node.tag} {self.text[:40]!r}>"


class Page:
    """A fetched page. `url` is where it was found after redirects; `asked` is what the step asked for."""

    __slots__ = ("_base", "_decode", "_response", "_text", "_tree", "asked")

    def __init__(self, response: Response, decode: Decode, asked: str = "") -> None:
        self._response, self._decode = response, decode
        self.asked = asked or response.url
        self._text: str | None = None
        self._tree: LexborHTMLParser | None = None
        self._base: str | None = None

    @property
    def url(self) -> str:
        return self._response.url

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return self._response.headers

    @property
    def body(self) -> bytes:
        return self._response.body

    @property
    def media(self) -> str:
        """`text/html`, `application/json`, …; empty where the answer did not say."""
        return self._response.media

    def header(self, name: str) -> str | None:
        return self._response.header(name.lower())

    @property
    def html(self) -> str:
        """The body as text, decoded as a browser would."""
        if self._text is None:
            self._text = self._decode(self.body, self.header("content-type") or "")
        return self._text

    def css(self, selector: str) -> list[Element]:
        """Every element that the selector finds, in page order."""
        return [Element(node, self) for node in _selected(self._parsed(), selector)]

    def text(self, selector: str, default: str | None = None) -> str | None:
        """The text of the first element that the selector finds, white space made single."""
        found = self.css(selector)
        return found[0].text if found else default

    def links(self, selector: str = "a") -> list[str]:
        """Where the elements that the selector finds lead: absolute http(s) URLs without fragment, each once."""
        urls = (self.resolve(element.attr("href") or "") for element in self.css(selector))
        return list(dict.fromkeys(url for url in urls if url))

    def json(self) -> Any:
        """The body as JSON; where it is none, the attempt ends with the code `answer_unreadable`."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FetchError("answer_unreadable", f"{self.url} is not JSON: {error}") from error

    def resolve(self, link: str) -> str | None:
        """An absolute URL for a link of this page; None if it is not an http(s) link."""
        if not link.strip():
            return None
        address = canonical(link.strip(), self._base or self.url)
        return None if address is None else address.url

    def _parsed(self) -> LexborHTMLParser:
        if self._tree is None:
            from selectolax.lexbor import LexborHTMLParser

            if len(self.body) > HTML_BYTES_MAX:
                raise FetchError("answer_unreadable", f"HTML over {HTML_BYTES_MAX // 1_000_000} MB is not parsed")
            if heavy := too_heavy(self.html):
                raise FetchError("answer_unreadable", f"this HTML is not parsed: {heavy}")
            self._tree = LexborHTMLParser(self.html)
            base = self._tree.css_first("base[href]")
            address = canonical(base.attributes.get("href") or "", self.url) if base is not None else None
            self._base = address.url if address else self.url
        return self._tree

    def __repr__(self) -> str:
        return f"<Page {self.status} {self.url}>"


def _selected(node: LexborHTMLParser | LexborNode, selector: str) -> list[LexborNode]:
    try:
        return list(node.css(selector))
    except Exception as error:
        scrapys = ": no ::text or ::attr() here, but element.text and element.attr('href')" if "::" in selector else ""
        raise BadParams(f"{selector!r} is not a CSS selector{scrapys or f': {error}'}") from error
