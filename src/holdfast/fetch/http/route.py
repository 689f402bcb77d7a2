"""How exchanges leave this computer: directly or through a proxy, trusting which roots, with or without cookies."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec
import pycurl

from holdfast.fetch.cookies import CookieJar
from holdfast.fetch.guard import Guard
from holdfast.roots import system_roots

# The user names the proxy, not a page, so it may have a private address; a metadata address is refused.
TO_THE_PROXY = Guard(allow_private=True)


class Route(msgspec.Struct, frozen=True):
    """`proxy` is a URL with scheme and port, or empty. `jar` is the cookies of one job, shared by its handles.

    `more_roots` are certificates in PEM form, trusted besides those of `ca_file`, which is the system's if not given.
    """

    ca_file: str | None = None
    proxy: str = ""
    jar: CookieJar | None = None
    more_roots: bytes = b""

    def apply(self, curl: pycurl.Curl) -> None:
        """Set up a handle. Proxies of the environment are ignored, with a proxy of our own as without."""
        curl.setopt(pycurl.PROXY, self.proxy)
        curl.setopt(pycurl.NOPROXY, "" if self.proxy else "*")
        curl.setopt(pycurl.SSL_VERIFYPEER, 1)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2)
        roots = self._roots()
        if all_roots := self._blob(roots):  # libcurl takes one file; a blob costs some milliseconds per connection
            curl.setopt(pycurl.CAINFO_BLOB, all_roots)
            curl.setopt(pycurl.PROXY_CAINFO_BLOB, all_roots)
        elif roots is not None:
            curl.setopt(pycurl.CAINFO, roots)
            curl.setopt(pycurl.PROXY_CAINFO, roots)
        if self.jar is not None:
            curl.setopt(pycurl.COOKIEFILE, "")  # no file: this is how libcurl is told to keep cookies at all
            curl.setopt(pycurl.SHARE, self.jar.share)

    def tls_context(self) -> ssl.SSLContext:
        """The same trust, for a connection that is not libcurl's."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies the chain and the name
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as libcurl does: a given certificate is trust enough
        context.set_alpn_protocols(["http/1.1"])
        roots = self._roots()
        if roots is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(roots)
        if self.more_roots:
            context.load_verify_locations(cadata=self.more_roots.decode("ascii", "ignore"))
        return context

    def _blob(self, roots: str | None) -> bytes:
        """The system's roots and ours; empty where there are none of ours."""
        if not self.more_roots or roots is None:
            return self.more_roots
        return Path(roots).read_bytes() + b"\n" + self.more_roots

    def _roots(self) -> str | None:
        return self.ca_file or system_roots()

    @property
    def pins(self) -> bool:
        """Whether the proxy can be told the very address that was checked: SOCKS can, HTTP proxies want the name."""
        return self.proxy.startswith("socks5:")
