"""Canonical URLs and the 128-bit keys made from them. The only place that decides when two URLs are one target.

The canonical form is the WHATWG serialisation with the fragment dropped and nothing else: a key is for ever.
A key is `H32(origin + directory) || H96(url)`, salted per ledger: links of one page land near each other in the
index, and a hostile site cannot craft two URLs with one key.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b

import ada_url
import msgspec

from holdfast.errors import BadParams

SALT_BYTES = 16
KEY_BYTES = 16
URL_LENGTH_MAX = 8_192
SCHEMES = ("http:", "https:")
DIRECTORIES_REMEMBERED = 4_096
NAMED = "name:\0"  # no URL begins like this, so no name shares a key with one
# An address with a port is a server under development, and hardly ever one with a certificate.
_TYPED_PORT = re.compile(r"(?:https?://)?[^/?#]*:([0-9]+)(?=[/?#]|$)", re.IGNORECASE)
PORT_MAX = 65_535
_SERVED_HERE = re.compile(r"(?:localhost|[0-9]+(?:\.[0-9]+){3}|\[[0-9a-fA-F:.]+\]):(?!443(?![0-9]))[0-9]+(?![^/?#])")
_LAST_DIGITS = re.compile(r"\d{3}(?!\d)")

# What the URL parser would leave as it is, and it costs twenty times as much as a look; a test compares the two.
PLAIN_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+"
PLAIN_PATH = rf"(?:/{PLAIN_SEGMENT})*+/?+(?:\?[A-Za-z0-9_.~=&%+,:/-]*+)?+"
_NAME = r"(?:(?!xn--)[a-z0-9][a-z0-9-]*+\.)*+(?!xn--)[a-z]++"
_QUAD = r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|(?=[:/]))){4}"
_PORT = r":(?!80/|443/)(?:[1-9]\d{0,3}|[1-5]\d{4})"
_PLAIN_URL = re.compile(rf"https?://(?:{_NAME}|{_QUAD})(?:{_PORT})?(?=/){PLAIN_PATH}", re.ASCII)


class Address(msgspec.Struct, frozen=True, gc=False):
    """A canonical URL in the parts that the ledger stores: `url == origin + path`."""

    url: str
    origin: str
    host: str
    path: str


def canonical(url: str, base: str | None = None) -> Address | None:
    """The address of `url` (seen on page `base`), or None if it is not an http(s) URL that can be fetched."""
    if base is None and is_plain(url):
        return _split(url)
    try:
        joined = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        return None
    href = joined.partition("#")[0]
    if len(href) > URL_LENGTH_MAX:
        return None
    return _split(href)


def is_plain(url: str) -> bool:
    """Whether a URL is certainly canonical, told without parsing it. False says nothing."""
    return len(url) <= URL_LENGTH_MAX and _PLAIN_URL.fullmatch(url) is not None


def origin_of(url: str) -> str:
    """Scheme and authority of a canonical URL."""
    return url[: url.index("/", len("https://"))]


def origins_of(url: str) -> tuple[str, ...]:
    """Its origin, and those that may be told the same secrets: an http origin on its usual port includes its https
    twin, never the reverse. None of what is not an http or https URL."""
    address = canonical(url)
    if address is None:
        return ()
    usual_http = address.origin.startswith("http:") and ":" not in address.host
    return (address.origin, f"https://{address.host}") if usual_http else (address.origin,)


def address_of(url: str, host: str) -> Address:
    """The parts of a URL that is canonical already, as the ledger's are."""
    origin = origin_of(url)
    return Address(url, origin, host, url[len(origin) :])


def _split(href: str) -> Address | None:
    scheme, separator, rest = href.partition("//")
    if scheme not in SCHEMES or not separator:
        return None
    slash = rest.find("/")
    authority, path = (rest, "/") if slash < 0 else (rest[:slash], rest[slash:])
    host = authority.rpartition("@")[2]
    if not host or host != authority:  # credentials in a URL are never carried along
        return None
    return Address(href, f"{scheme}//{host}", host, path)


def seed_address(text: str) -> Address:
    """The address of a URL that a person typed; `example.org/docs` is read as https, `127.0.0.1:8000` as http."""
    typed = text.strip()
    scheme = "http" if _SERVED_HERE.match(typed) else "https"
    address = canonical(typed if "://" in typed else f"{scheme}://{typed}")
    port = _TYPED_PORT.match(typed)
    if address is None and port is not None and (len(port[1]) > 5 or int(port[1]) > PORT_MAX):
        raise BadParams(f"{text!r}: a port is a number up to {PORT_MAX}")
    if address is None or any(ord(char) < 33 for char in typed):
        raise BadParams(f"{text!r} is not an http or https URL", hint="holdfast crawl https://docs.example.dev")
    return address


def looks_like_url(word: str) -> bool:
    """Whether a person who typed this meant a URL: a bare word is a job's name, or a slip."""
    return any(mark in word for mark in "./:") or word == "localhost"


def key_of(address: Address, salt: bytes) -> bytes:
    """The target's key: near its neighbours by directory, apart from everything by URL."""
    directory = address.path.partition("?")[0].rpartition("/")[0]
    near = _near(address.origin + directory, salt)
    return near + blake2b(address.url.encode(), digest_size=KEY_BYTES - 4, key=salt).digest()


def key_of_name(name: str, salt: bytes) -> bytes:
    """The key of a target that is known by a name: numbers that differ in their last three digits lie together."""
    near = _near(NAMED + _LAST_DIGITS.sub("", name), salt)
    return near + blake2b((NAMED + name).encode(), digest_size=KEY_BYTES - 4, key=salt).digest()


@lru_cache(DIRECTORIES_REMEMBERED)
def _near(directory: str, salt: bytes) -> bytes:
    return blake2b(directory.encode(), digest_size=4, key=salt).digest()


def chunk_of_key(key: bytes, chunks: int) -> int:
    """The share of the keys that this key lies in, for jobs whose scope is one host."""
    return key[-1] % chunks


def chunk_of_host(host: str, chunks: int) -> int:
    """The share that a host lies in; unsalted, so that a restored job keeps its chunks."""
    return blake2b(host.encode(), digest_size=4).digest()[0] % chunks
