"""Short ways to say what became of a claimed target."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from holdfast.model.outcome import UNCHANGED, BodyRef, Record, Verdict
from holdfast.model.target import Claimed

BEGAN_AT = 1_900_000_000_000
ENDED_AT = BEGAN_AT + 250


def verdict(here: Claimed, move: str, **more: Any) -> Verdict:
    return Verdict(target=here.id, move=move, began_at=BEGAN_AT, ended_at=ENDED_AT, **more)


def succeed(here: Claimed, **more: Any) -> Verdict:
    """A page without bytes; `page` makes one with a body and its record."""
    return verdict(here, "succeed", **{"disposition": "page", "status_code": 200, **more})


def page(here: Claimed, content: bytes = b"<h1>Frogs</h1>", **more: Any) -> Verdict:
    body = BodyRef("marsh-1.warc.gz", 128, 64, len(content), sha256(content).digest(), "text/html")
    return succeed(here, body=body, bytes=len(content), records=(Record("page", b'{"title":"Frogs"}'),), **more)


def unchanged(here: Claimed) -> Verdict:
    """By the site's word: nothing new to keep."""
    return succeed(here, disposition=UNCHANGED, status_code=304)


def skip(here: Claimed, **more: Any) -> Verdict:
    return verdict(here, "skip", **{"disposition": "duplicate", "because": "redirects to the pond", **more})


def fail(here: Claimed, **more: Any) -> Verdict:
    return verdict(here, "fail", **{"code": "http_404", "because": "no such page", "status_code": 404, **more})


def retry(here: Claimed, **more: Any) -> Verdict:
    """At once, unless `wait_ms` is given."""
    return verdict(here, "retry", **{"code": "http_5xx", "because": "the host has trouble", **more})


def hand_back(here: Claimed, **more: Any) -> Verdict:
    return verdict(here, "hand_back", **{"because": "stopped before its end", **more})
