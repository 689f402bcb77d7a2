"""How a WordPress site with signed file addresses is read (DOC-16): the nonce of a page, the answer to a request.

Parses only. The caller keeps cookies and nonce together, because a nonce is valid only with the cookies of its page.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection
from typing import Any

import msgspec

from holdfast.model.keys import Address, canonical

ACTION = "dl_bfile"
URL_KEYS = ("fid", "url", "download_url", "link")
ANSWER_BYTES_MAX = 1_000_000
_NONCE = re.compile(r"""(?:["']?(?:security|_nonce)["']?\s*:|data-security\s*=)\s*["']([0-9a-f]{10})["']""")
_URL = re.compile(r"""https?://[^\s"'<>\\]+""")


class SignedAnswer(msgspec.Struct, frozen=True):
    """`url` is where the file is; else `code` is a failure code of DOC-18 or §17 and `message` says what came."""

    url: str = ""
    code: str = ""
    message: str = ""


def nonce_in(page: str) -> str | None:
    """The nonce of a list page in any of its known forms; None: the page has none, or is another page."""
    found = _NONCE.search(page)
    return found[1] if found else None


def request_form(token: str, nonce: str) -> dict[str, str]:
    """The fields of the request for a token's address, to be sent as XMLHttpRequest with the cookies of the page."""
    return {"action": ACTION, "fid": token, "fname": token, "security": nonce}


def read_answer(status: int, body: bytes, hosts: Collection[str] = ()) -> SignedAnswer:
    """What the site says. `hosts` are those that may serve files (`127.0.0.2:8123`, `box.com` with all below it).

    403 and the bare `-1` mean that nonce or cookies are no longer good: the page is loaded again within the attempt.
    The caller handles other statuses.
    """
    text = body[:ANSWER_BYTES_MAX].decode("utf-8", "replace").strip()
    if status == 403 or text == "-1":
        return SignedAnswer(code="session_expired", message="the site refuses the nonce or the cookies")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):  # nested as deep as no honest answer is
        answer = None
    if isinstance(answer, dict):
        return _of_json(answer, hosts)
    found = _URL.search(html.unescape(text)) if text.startswith("<") and hosts else None
    address = canonical(found[0]) if found else None
    if address is not None and _is_allowed(address, hosts):
        return SignedAnswer(url=address.url)
    return SignedAnswer(code="answer_unreadable", message=f"no address in {text[:80]!r}")


def _of_json(answer: dict[str, Any], hosts: Collection[str]) -> SignedAnswer:
    data = answer.get("data")
    if not answer.get("success"):
        return SignedAnswer(code="answer_unreadable", message=f"the site gives no address: {json.dumps(data)[:80]}")
    named: dict[str, Any] = data if isinstance(data, dict) else {"url": data}
    texts = [named[key] for key in URL_KEYS if isinstance(named.get(key), str)]
    url = next((text for text in texts if "://" in text), "")
    if not url:
        return SignedAnswer(code="answer_unreadable", message=f"no address in {json.dumps(data)[:80]}")
    address = canonical(url)
    if address is None or not _is_allowed(address, hosts):
        host = address.host if address else "no host"
        return SignedAnswer(code="invalid_signed_url", message=f"the address is at {host}, where no files are served")
    return SignedAnswer(url=address.url)


def _is_allowed(address: Address, hosts: Collection[str]) -> bool:
    """Judged by the address as it will be asked, not as it is spelled. Without named hosts any will do here; the
    address guard of the fetcher judges them all the same.
    """
    netloc = address.origin.partition("://")[2]
    name = netloc.partition(":")[0]
    return not hosts or any(netloc == host or name == host or name.endswith(f".{host}") for host in hosts)
