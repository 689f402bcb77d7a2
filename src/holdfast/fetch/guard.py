"""The address guard: which addresses a fetch may connect to. It decides purely, resolves no name and opens no socket.

The decision that counts is made when a socket is opened, on the address libcurl is about to connect to, so that neither
a name that changes its answer nor an odd spelling gets past it. A name with several addresses is judged one socket at a
time: its public addresses may be used, the others are never connected to. That is enough, because no request leaves
for an address that was not judged, and it is kinder to hosts that publish a stray private record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import ada_url

from holdfast.errors import BadParams

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

DEFAULT_PORTS = {"http:": 80, "https:": 443}

# Our own table and not `is_global`: that one has changed its mind between patch releases of Python.
# "private" is what --allow-private lets through; "reserved" has no servers; first match counts.
_TABLE: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "private"),  # Linux connects 0.0.0.0 to itself
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private"),  # shared by carriers' customers
        ("127.0.0.0/8", "private"),
        ("169.254.0.0/16", "reserved"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "private"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "private"),  # benchmarks, and what some local proxies answer
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/3", "reserved"),  # multicast, class E, broadcast
        ("0.0.0.0/0", "public"),
        ("::/127", "private"),
        ("64:ff9b:1::/48", "private"),
        ("fc00::/7", "private"),
        ("fe80::/10", "private"),
        ("fec0::/10", "private"),
        ("2001::/23", "reserved"),  # Teredo and its kin
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
        ("2000::/3", "public"),
        ("::/0", "reserved"),
    )
)
# IPv6 forms that carry an IPv4 address, and by how many bits it is shifted: the one inside is what gets connected to.
_CARRIERS: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
# A network's own translator may carry an IPv4 address at any of these shifts (RFC 6052); octet 8 is skipped in between.
_TRANSLATED = IPv6Network("64:ff9b:1::/48")
# They hand out a cloud machine's credentials. No setting lets them through.
METADATA: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # AWS, Azure, Google and nearly all others, each with addresses of its own
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254/128",  # Google
        "fd00:42::42/128",  # Scaleway
    )
)


class Guard:
    """What a job may connect to beyond public addresses.

    `allow` names single endpoints (`127.0.0.1:8123`), `resolve` maps a host name, with any port, to an endpoint, which
    is thereby allowed; `allow_private` lets all private addresses through. None of them reaches a metadata address.
    """

    def __init__(
        self, allow: Sequence[str] = (), *, allow_private: bool = False, resolve: Mapping[str, str] | None = None
    ) -> None:
        self._allow_private = allow_private
        self._resolve = {_name(name): _endpoint(text) for name, text in (resolve or {}).items()}
        self._allowed = frozenset(_endpoint(text) for text in allow) | frozenset(self._resolve.values())

    def refusal(self, host: str, port: int) -> str | None:
        """Why this address must not be connected to, as a sentence; None where it may."""
        address = plain_address(host)
        if _is_metadata(address):
            return f"{host} is a cloud-metadata address; always refused"
        kind = kind_of(address)
        if kind == "public" or (address, port) in self._allowed:
            return None
        if kind == "private":
            return None if self._allow_private else f"{host} is a private address; refused. To allow: --allow-private"
        return f"{host} is a reserved address; refused"

    def check_seed(self, url: str) -> str | None:
        """The refusal of a URL whose host is an address or localhost, before any request; None for other names."""
        try:
            host, port = endpoint_of(url)
        except ValueError:
            return None
        if self.maps(host):
            return None
        if _name(host).rpartition(".")[2] == "localhost":
            refusals = [self.refusal(loopback, port) for loopback in ("127.0.0.1", "::1")]
            return refusals[0] if all(refusals) else None
        try:
            ip_address(host)
        except ValueError:
            return None
        return self.refusal(host, port)

    def maps(self, host: str) -> bool:
        """Whether `resolve` says where this host is."""
        return _name(host) in self._resolve

    def mapped(self, host: str) -> tuple[str, int] | None:
        """The endpoint that `resolve` says this host has. Like every other, it is still to be judged."""
        endpoint = self._resolve.get(_name(host))
        return None if endpoint is None else (str(endpoint[0]), endpoint[1])

    def mappings(self) -> list[str]:
        """`resolve` in the words of libcurl's CONNECT_TO: this host with any port goes to that endpoint."""
        return [
            f"{name}::[{address}]:{port}" if address.version == 6 else f"{name}::{address}:{port}"
            for name, (address, port) in self._resolve.items()
        ]


def endpoint_of(url: str) -> tuple[str, int]:
    """The host, an IPv6 address without its brackets, and the port that a URL leads to; ValueError where it is none."""
    parts = ada_url.URL(url)
    return parts.hostname.strip("[]"), int(parts.port or DEFAULT_PORTS.get(parts.protocol, 0))


def kind_of(address: Address) -> str:
    """`public`, `private` or `reserved`."""
    return next(kind for network, kind in _TABLE if address in network)


def plain_address(host: str) -> Address:
    """The address that is really meant: without a scope, and taken out of an IPv6 form that carries an IPv4 one."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        for network, shift in _CARRIERS:
            if address in network:
                return IPv4Address((int(address) >> shift) & 0xFFFF_FFFF)
    return address


def _is_metadata(address: Address) -> bool:
    return any(inside in network for inside in (address, *_translated(address)) for network in METADATA)


def _translated(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses that this may mean to the translator of a network."""
    if address not in _TRANSLATED:
        return ()
    octets = address.packed
    without = octets[:8] + octets[9:]
    return tuple(IPv4Address(part) for part in (without[6:10], without[7:11], without[8:12], octets[12:]))


def _endpoint(text: str) -> tuple[Address, int]:
    host, _, port = text.rpartition(":")
    try:
        endpoint = plain_address(host.removeprefix("[").removesuffix("]")), int(port)
    except ValueError:
        raise BadParams(f"{text!r} is not an address:port; write 127.0.0.1:8123 or [::1]:8123") from None
    if not 0 < endpoint[1] < 65536:
        raise BadParams(f"{text!r} has no port between 1 and 65535")
    return endpoint


def _name(host: str) -> str:
    return host.lower().rstrip(".")
