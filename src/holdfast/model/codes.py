"""Failure codes: one closed table. Every failure of a target carries one of these, and policy reads only this.

`attempts` is the cap of tries for that cause (0: as many as the job allows); `slows_host` makes the host back off;
`pauses_job` means the cause concerns everything, so that the job waits instead of failing one target after another;
`hands_back` that no attempt is spent: the target is given back, and where the job does not pause, the worker begins
nothing for a while.
"""

from __future__ import annotations

import msgspec

from holdfast.errors import Corrupt


class Code(msgspec.Struct, frozen=True):
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
    Code("bomb", "a small answer became huge, unpacked or rendered, or encodings were nested too deeply", False),
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
        "block pages or repeated 403: the site blocks this crawler",
        False,
        pauses_job=True,
        hands_back=True,
    ),
    Code("recipe_error", "a recipe step raised", True, fault="recipe"),
    Code("answer_unreadable", "the answer has not the expected shape", True, attempts=2),
    Code("engine_blocked", "a search engine blocks us, and the others are asked", False),
    Code("too_few_images", "fewer images than wanted, and nothing more to try", False),
    Code("other_job_changed", "the images of another job, which are left out, are not those of the beginning", False),
    Code("incomplete_record", "the site showed a part of the case only, or gave no settled answer about it", True),
    Code("malformed_pdf", "no PDF, or one that is cut off or does not open", True),
    Code("session_expired", "the site knows our session no more, and gave no new one", True),
    Code("invalid_signed_url", "the site named an address where it serves no files, or one that had expired", True),
    Code("disk_full", "no room to save", False, fault="ours", pauses_job=True, hands_back=True),
    Code("no_resources", "our computer had no descriptors, memory or time for it", True, fault="ours", hands_back=True),
    Code("browser_launch_failed", "Chromium did not start", True, fault="ours", hands_back=True),
    Code("browser_crashed", "Chromium died under the page, again and again", True, attempts=2),
    Code("element_not_found", "what was waited for did not come up on the page", True, attempts=2),
    Code("click_timeout", "what was found on the page could not be clicked", False),
    Code(
        "not_stored", "it was not kept, and nothing is fetched while stored pages are run again", False, fault="recipe"
    ),
    Code("not_archived", "the archive that the job reads has no answer for this URL", False, fault="input"),
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
