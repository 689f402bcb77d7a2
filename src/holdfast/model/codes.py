"""Failure codes: one closed table. Every failure of a target carries one of these, and policy reads only this.

`attempts` is the cap of tries for that cause (0: as many as the job allows); `slows_host` makes the host back off;
`pauses_job` means the cause concerns everything, so that the job waits instead of failing one target after another;
`hands_back` that no attempt is spent: the target is given back, and where the job does not pause, the worker begins
nothing for a while.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import Corrupt


@dataclass(frozen=True, slots=True)
class Code:
    name: str
    meaning: str
    retryable: bool
    attempts: int = 0
    fault: str = "source"
    slows_host: bool = False
    pauses_job: bool = False
    hands_back: bool = False


_ROWS = (
    Code("network_timeout", "a deadline passed: connect, first byte, idle or total (the message says which)", True),
    Code("network_error", "the connection was refused, reset or cut", True),
    Code("dns_error", "the name could not be resolved", True),
    Code("body_incomplete", "the body ended before its declared length", True),
    Code("tls_error", "no trustworthy TLS connection", False),
    Code("body_too_large", "the decoded body passed the size limit", False),
    Code("bomb", "a small answer unpacked into a huge one, or encodings were nested too deeply", False),
    Code("too_many_redirects", "more than ten redirects", False),
    Code("blocked_address", "the address is private, loopback, link-local or otherwise not public", False),
    Code("bad_url", "no usable http or https URL", False, fault="input"),
    Code("bad_response", "no valid HTTP, or an answer that was not asked for", True, attempts=2),
    Code("robots_unreachable", "robots.txt could not be read", True),
    Code("http_429", "the host asks for patience", True, slows_host=True),
    Code("http_5xx", "the host has trouble", True, slows_host=True),
    Code("http_401", "sign-in wanted", False),
    Code("http_403", "forbidden", False),
    Code("http_404", "no such page", False),
    Code("http_410", "no such page any more", False),
    Code("http_4xx", "the request was refused", False),
    Code(
        "blocked",
        "block pages or endless 403: the site means us",
        False,
        pauses_job=True,
        hands_back=True,
    ),
    Code("recipe_error", "a recipe step raised", True, fault="recipe"),
    Code("answer_unreadable", "the answer has not the expected shape", True, attempts=2),
    Code("disk_full", "no room to save", False, fault="ours", pauses_job=True, hands_back=True),
    Code("no_resources", "our computer had no descriptors or memory for it", True, fault="ours", hands_back=True),
    Code("poison", "killed its worker three times, alone", False),
    Code("stale", "no progress for too long while it was worked", False, fault="ours"),
    Code("lost_lease", "the chunk went to another worker", True, fault="ours"),
    Code("internal", "an error of ours", True, fault="ours"),
)
CODES: dict[str, Code] = {row.name: row for row in _ROWS}


def code(name: str) -> Code:
    """The row of a code; a name outside the table is damage."""
    try:
        return CODES[name]
    except KeyError:
        raise Corrupt(f"unknown failure code {name!r}") from None


def code_of_status(status: int) -> str | None:
    """The failure code of an HTTP status, None for 2xx and 3xx, which are not failures by themselves."""
    if status in (401, 403, 404, 410, 429):
        return f"http_{status}"
    if status == 206:
        return "bad_response"
    if 200 <= status < 400:
        return "bad_response" if status == 304 else None
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "bad_response"
