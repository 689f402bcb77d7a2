"""Whether a site blocks us, decided purely: by pages that say so, or by 403 again and again.

A block page is short and leads nowhere, whatever its status says: an article about captchas is long, and a page of the
site has the site's links. One alone may be a help page: three different pages of a host that look so, with no good page
between, mean us. So does a host that answers 403 ten times in a row, over all pages and jobs, with no other answer
between. Both concern everything that is left of the host. An answer that names its own end (Retry-After) asks for
patience, and is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

FORBADE_MAX = 10
LOOKALIKES_MAX = 3
HOSTS_KEPT = 1000
FORGIVEN_KEPT = 1000
LOOK_AGAIN, A_PAGE, ALONE, A_BLOCK = "look again", "a page", "alone", "a block"
STATUSES = frozenset({200, 403, 429, 503})
MEDIA = frozenset({"", "text/html", "application/xhtml+xml"})
SIGNS = (b"captcha", b"access denied", b"too many requests", b"rate limit", b"checking your browser")
SIGNS_MIN = 2
BYTES_MAX = 65_536
LINKS_MAX = 10
TEXT_MAX = 1_500  # characters that a reader sees
_UNSEEN = (b"script", b"style", b"svg")


class Answered(Protocol):
    """What an answer is judged by: a `Response`, or a page made of one."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...

    @property
    def media(self) -> str: ...

    def header(self, name: str) -> str | None: ...


def block_page(response: Answered) -> str:
    """What shows that this answer is a block page, for people; "" where it is none.

    Every page comes by here: one with the links of a site is let go at the eleventh.
    """
    body = response.body
    if (
        len(body) > BYTES_MAX
        or response.status not in STATUSES
        or len(body.split(b"<a ", LINKS_MAX + 1)) > LINKS_MAX + 1
    ):
        return ""
    lower = body.lower()
    signs = [sign.decode() for sign in SIGNS if sign in lower]
    if len(signs) < SIGNS_MIN or response.media not in MEDIA or response.header("retry-after") is not None:
        return ""
    return " and ".join(f"{sign!r}" for sign in signs) if _seen(lower) <= TEXT_MAX else ""


class Lookalikes:
    """Pages of each host that look like a block page, and what became of the host meanwhile.

    Kept in memory and for a while only: what is forgotten is asked for once more, and then counted again.
    """

    def __init__(self) -> None:
        self.by_host: dict[str, dict[str, int]] = {}  # in a row: URL -> how many other answers there were by then
        self._others: dict[str, int] = {}  # answers that are neither good nor look like a block: redirects, 403
        self._forgiven: dict[str, None] = {}  # URLs after which the host gave a good page

    def answered(self, host: str, status: int) -> None:
        """The host gave an answer that does not look like a block."""
        if host not in self.by_host:
            return
        if not is_good(status):
            self._others[host] = self._others.get(host, 0) + 1
            return
        self._others.pop(host, None)
        self._forgiven.update(dict.fromkeys(self.by_host.pop(host)))
        while len(self._forgiven) > FORGIVEN_KEPT:
            del self._forgiven[next(iter(self._forgiven))]

    def met(self, host: str, url: str) -> str:
        """What to make of a page that looks like a block: LOOK_AGAIN later, A_PAGE, or A_BLOCK.

        Seen again, it is a page if the host gave a good one meanwhile. If the host was asked for nothing else it is
        ALONE: a page, where the host ever gave a good one.
        """
        if url in self._forgiven:
            del self._forgiven[url]
            return A_PAGE
        row, others = self.by_host.setdefault(host, {}), self._others.get(host, 0)
        if url in row and len(row) < LOOKALIKES_MAX:
            return ALONE if row[url] == others else A_BLOCK
        row[url] = others
        if len(self.by_host) > HOSTS_KEPT:
            oldest = next(iter(self.by_host))
            del self.by_host[oldest]
            self._others.pop(oldest, None)
        if len(row) < LOOKALIKES_MAX:
            return LOOK_AGAIN
        if len(row) > LOOKALIKES_MAX:
            del row[next(iter(row))]
        return A_BLOCK


def is_good(status: int) -> bool:
    """Whether this is how a site answers that does not mind us; a redirect may lead to a captcha."""
    return 200 <= status < 300 or status in (304, 404, 410)


def blocking(forbade: Mapping[str, int]) -> str:
    """Why the job is to pause, by how often hosts answered 403 in a row; "" where it need not."""
    host, times = max(forbade.items(), key=lambda pair: pair[1], default=("", 0))
    return f"{host} blocks us: it answered 403 {times} times in a row" if times >= FORBADE_MAX else ""


def _seen(html: bytes) -> int:
    """About how much text a reader sees, in one pass over any bytes."""
    seen, unseen = 0, b""
    for piece in html.split(b"<"):
        tag, _, text = piece.partition(b">")
        if unseen:
            unseen = b"" if tag.startswith(b"/" + unseen) else unseen
        else:
            unseen = next((name for name in _UNSEEN if tag.startswith(name)), b"")
        if not unseen:
            seen += len(b" ".join(text.split()))
    return seen
