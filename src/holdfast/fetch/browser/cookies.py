"""Cookies carried between the job's jar, which libcurl keeps, and a browser: one jar for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.fetch.cookies import CookieJar

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Cookie

HTTP_ONLY = "#HttpOnly_"
FIELDS = 7


async def into_browser(jar: CookieJar, context: BrowserContext) -> None:
    wanted = [cookie for line in jar.lines() if (cookie := read_line(line)) is not None]
    await context.clear_cookies()
    if wanted:
        await context.add_cookies(wanted)


async def into_jar(context: BrowserContext, jar: CookieJar) -> None:
    jar.keep([line_of(cookie) for cookie in await context.cookies()], ())


def read_line(line: str) -> Any:
    """A line of Netscape's file as the browser takes it; None where it is none."""
    fields = line.removeprefix(HTTP_ONLY).split("\t")
    if len(fields) != FIELDS or not fields[5]:
        return None
    domain, subdomains, path, secure, expires, name, value = fields
    return {
        "name": name,
        "value": value,
        "domain": f".{domain.lstrip('.')}" if subdomains == "TRUE" else domain.lstrip("."),
        "path": path,
        "secure": secure == "TRUE",
        "httpOnly": line.startswith(HTTP_ONLY),
        "expires": float(expires) if int(expires) > 0 else -1,
    }


def line_of(cookie: Cookie) -> str:
    """A cookie of the browser as a line of Netscape's file."""
    domain = cookie.get("domain", "")
    fields = (
        domain,
        "TRUE" if domain.startswith(".") else "FALSE",
        cookie.get("path", "/"),
        "TRUE" if cookie.get("secure") else "FALSE",
        str(max(0, round(cookie.get("expires", 0)))),
        cookie.get("name", ""),
        cookie.get("value", ""),
    )
    return (HTTP_ONLY if cookie.get("httpOnly") else "") + "\t".join(fields)
