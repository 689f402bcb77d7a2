"""The cookies of one job, in memory and bounded. libcurl keeps and matches them; it knows no limit of their number.

It looks through all cookies of a domain for each that is set, so a site that sets new ones with every page would take
more time for each page (SEC-07). The oldest go first. libcurl itself drops a cookie of more than 4 kB, takes 50 of an
answer, and knows the public suffixes: none is set for `co.uk`.
"""

from __future__ import annotations

import pycurl

from holdfast.model.exchange import Headers

PER_DOMAIN_MAX = 180  # as browsers have it; RFC 6265 wants 50 at least
ALL_MAX = 3000
LOOK_EVERY = 100  # cookies that were set


class CookieJar:
    """Shared by the handles of one fetcher, and gone with it."""

    def __init__(self) -> None:
        self.share = pycurl.CurlShare()
        self.share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        self.share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_PSL)
        self._set = 0  # since they were counted
        self._own: pycurl.Curl | None = None

    def after(self, curl: pycurl.Curl, headers: Headers) -> None:
        """An exchange of this handle is over; now and then the cookies are counted, and too many thrown away."""
        self._set += sum(name == "set-cookie" for name, _ in headers)
        if self._set < LOOK_EVERY:
            return
        self._set = 0
        lines = curl.getinfo(pycurl.INFO_COOKIELIST)
        kept = bounded(lines)
        if len(kept) < len(lines):
            curl.setopt(pycurl.COOKIELIST, "ALL")  # libcurl's word for: forget them all
            for line in kept:
                curl.setopt(pycurl.COOKIELIST, line)

    def lines(self) -> list[str]:
        """All of them, in the form of Netscape's file."""
        kept: list[str] = self._handle().getinfo(pycurl.INFO_COOKIELIST)
        return kept

    def keep(self, lines: list[str], headers: Headers) -> None:
        """Take in what an answer set that libcurl did not read."""
        for line in lines:
            self._handle().setopt(pycurl.COOKIELIST, line)
        self.after(self._handle(), headers)

    def _handle(self) -> pycurl.Curl:
        """A handle that makes no request: cookies are reached through one."""
        if self._own is None:
            self._own = pycurl.Curl()
            self._own.setopt(pycurl.COOKIEFILE, "")
            self._own.setopt(pycurl.SHARE, self.share)
        return self._own


def bounded(lines: list[str]) -> list[str]:
    """Of cookies in the form of Netscape's file, a domain's oldest first: as many as may be kept."""
    by_domain: dict[str, list[str]] = {}
    for line in lines:
        domain = line.removeprefix("#HttpOnly_").partition("\t")[0].lstrip(".")
        by_domain.setdefault(domain, []).append(line)
    most = PER_DOMAIN_MAX
    while True:
        kept = [line for each in by_domain.values() for line in each[-most:]]
        if len(kept) <= ALL_MAX or most == 1:
            return kept[-ALL_MAX:]
        most //= 2
