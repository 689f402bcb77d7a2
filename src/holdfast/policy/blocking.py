"""Whether a site blocks us, decided purely: by a page that says so, or by 403 again and again.

A block page is short and leads nowhere, whatever its status says: an article about captchas is long, and a page of the
site has the site's links. A host that answers 403 ten times in a row, over all pages and jobs, with no other answer
between, means us and not the pages. Both concern everything that is left, so the job pauses instead of failing page
after page. An answer that names its own end (Retry-After) asks for patience, and is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.model.exchange import Response

FORBADE_MAX = 10
STATUSES = frozenset({200, 403, 429, 503})
MEDIA = frozenset({"", "text/html", "application/xhtml+xml"})
SIGNS = (b"captcha", b"access denied", b"too many requests", b"rate limit", b"checking your browser")
SIGNS_MIN = 2
BYTES_MAX = 65_536
LINKS_MAX = 10
TEXT_MAX = 1_500  # characters that a reader sees
_UNSEEN = (b"script", b"style", b"svg")


def block_page(response: Response) -> str:
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
