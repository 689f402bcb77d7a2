"""Cookies in the form of Netscape's file: which of them a URL is sent, and what a `Set-Cookie` becomes.

libcurl does both itself for the answers that it reads; this is for the others. A cookie is kept for the host that set
it and no other: libcurl judges no `Domain` that it is told in this form, so a whole suffix could be claimed.
"""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import parsedate_to_datetime

from holdfast.fetch.guard import endpoint_of
from holdfast.model.exchange import Headers

# The first three are libcurl's own limits.
PER_ANSWER_MAX = 50
COOKIE_BYTES_MAX = 4096
HEADER_BYTES_MAX = 8190
AGE_S_MAX = 400 * 86_400
FORGET = 1  # a moment that has passed


def cookies_for(url: str, lines: Iterable[str], wall_ms: int) -> str:
    """The value of `Cookie` for a request to this URL; empty where there is none to be sent."""
    value = ""
    for line in lines:
        *where, name, content = line.removeprefix("#HttpOnly_").split("\t")
        pair = f"{name}={content}"
        if _fits(url, where, wall_ms) and len(value) + len(pair) < HEADER_BYTES_MAX:
            value = f"{value}; {pair}" if value else pair
    return value


def lines_of(url: str, headers: Headers, wall_ms: int) -> list[str]:
    """What this answer sets, as far as it may be kept."""
    texts = [value for name, value in headers if name == "set-cookie"][:PER_ANSWER_MAX]
    return [line for text in texts if (line := _line(url, text, wall_ms))]


def _fits(url: str, where: list[str], wall_ms: int) -> bool:
    domain, tail, below, secure, until_s = where
    host, path, is_secure = _parts(url)
    domain = domain.lstrip(".")
    return (
        (host == domain or (tail == "TRUE" and host.endswith(f".{domain}")))
        and (path == below or path.startswith(f"{below.rstrip('/')}/"))
        and (is_secure or secure == "FALSE")
        and (until_s == "0" or int(until_s) * 1000 > wall_ms)
    )


def _line(url: str, text: str, wall_ms: int) -> str | None:
    pair, *rest = text.split(";")
    name, equals, value = (part.strip() for part in pair.partition("="))
    host, path, is_secure = _parts(url)
    settings = {key.strip().lower(): setting.strip() for key, _, setting in (part.partition("=") for part in rest)}
    if not equals or not name or len(pair) > COOKIE_BYTES_MAX or not (text.isprintable() and text.isascii()):
        return None
    if "secure" in settings and not is_secure:
        return None
    below = settings.get("path", "")
    if not below.startswith("/"):
        below = path.rpartition("/")[0] or "/"
    secure = "TRUE" if "secure" in settings else "FALSE"
    return "\t".join((host, "FALSE", below, secure, str(_until_s(settings, wall_ms)), name, value))


def _until_s(settings: dict[str, str], wall_ms: int) -> int:
    """When it ends; 0 for a cookie that ends with the job."""
    age = settings.get("max-age", "")
    if age.lstrip("-").isdecimal():
        return wall_ms // 1000 + min(int(age[:9]), AGE_S_MAX) if age.isdecimal() and int(age[:9]) else FORGET
    try:
        return max(FORGET, int(parsedate_to_datetime(settings["expires"]).timestamp()))
    except (KeyError, ValueError, OverflowError):
        return 0


def _parts(url: str) -> tuple[str, str, bool]:
    path = url[url.index("/", len("https://")) :].partition("?")[0]
    return endpoint_of(url)[0], path, url.startswith("https:")
