"""How exchanges leave this computer: directly or through a proxy, trusting which roots, with or without cookies."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pycurl

from holdfast.fetch.guard import Guard

# Where distributions keep the roots of trust; the wheel's libcurl was built for only one of them.
CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# A proxy is named by whoever runs the crawl and not by a page, so it may be at home; a metadata address is none.
TO_THE_PROXY = Guard(allow_private=True)


@dataclass(frozen=True, slots=True)
class Route:
    """`proxy` is a URL with scheme and port, or empty. `jar` is the cookies of one job, shared by its handles."""

    ca_file: str | None = None
    proxy: str = ""
    jar: pycurl.CurlShare | None = None

    def apply(self, curl: pycurl.Curl) -> None:
        """Set up a handle. Proxies of the environment are ignored, with a proxy of our own as without."""
        curl.setopt(pycurl.PROXY, self.proxy)
        curl.setopt(pycurl.NOPROXY, "" if self.proxy else "*")
        curl.setopt(pycurl.SSL_VERIFYPEER, 1)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2)
        roots = self.ca_file or next((path for path in CA_FILES if os.path.exists(path)), None)
        if roots is not None:
            curl.setopt(pycurl.CAINFO, roots)
            curl.setopt(pycurl.PROXY_CAINFO, roots)
        if self.jar is not None:
            curl.setopt(pycurl.COOKIEFILE, "")  # no file: this is how libcurl is told to keep cookies at all
            curl.setopt(pycurl.SHARE, self.jar)

    @property
    def pins(self) -> bool:
        """Whether the proxy can be told the very address that was checked: SOCKS can, HTTP proxies want the name."""
        return self.proxy.startswith("socks5:")


def cookie_jar() -> pycurl.CurlShare:
    """Cookies in memory, gone with the fetcher. libcurl knows the public suffixes: none is set for `co.uk`."""
    jar = pycurl.CurlShare()
    jar.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
    jar.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_PSL)
    return jar
