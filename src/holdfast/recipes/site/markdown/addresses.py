"""Where links and images of a page lead, as they can stand in Markdown: absolute, and without a sign that ends them."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

LENGTH_MAX = 8_000
REFUSED = frozenset(("file", "javascript", "vbscript", "data", "blob", "about", "filesystem", "view-source"))
_UNSAFE = re.compile(r"[\x00-\x20\x7f<>\\`\u2028\u2029]")
_BLANK = re.compile(r"[\t\n\r]")


class Addresses:
    """Resolves the links of one page against its base."""

    def __init__(self, url: str, base: str = "") -> None:
        self.page = url.partition("#")[0]
        self._base = _joined(url, base) or url if base else url
        self._known: dict[str, str | None] = {}

    def absolute(self, link: str) -> str | None:
        """None for what leads nowhere: a script, a place on the same page, what no URL can be made of."""
        if link not in self._known:
            if len(self._known) > 20_000:
                self._known.clear()
            self._known[link] = self._resolved(link)
        return self._known[link]

    def _resolved(self, link: str) -> str | None:
        link = _BLANK.sub("", link.strip())
        if not link or link.startswith("#") or len(link) > LENGTH_MAX:
            return None
        url = _joined(self._base, link)
        if url is None or urlsplit(url).scheme.lower() in REFUSED:
            return None
        url = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), url)
        return url if _is_balanced(url) else url.replace("(", "%28").replace(")", "%29")


def _joined(base: str, link: str) -> str | None:
    try:
        url = urljoin(base, link)
        urlsplit(url)
    except ValueError:
        return None
    return url


def _is_balanced(url: str) -> bool:
    """Whether its parentheses close each other in order, as Markdown wants them."""
    depth = 0
    for sign in url:
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        if depth < 0 or depth > 30:
            return False
    return depth == 0
