"""The address guard's decisions, without a socket (H1, SEC-06)."""

from __future__ import annotations

import pytest

from holdfast.errors import BadParams
from holdfast.fetch.guard import Guard


def listed(text: str) -> list[str]:
    return text.split()


PRIVATE = listed("""
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
    172.16.0.1 172.31.255.255 192.0.0.8 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
    :: ::1 fc00::1 fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 64:ff9b:1::1
    ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:192.168.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 2002:7f00:1:: 2002:a00:1::
""")
RESERVED = listed("""
    192.0.2.1 192.88.99.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    ::2 ::127.0.0.1 100::1 2001::1 2001:1ff::1 2001:db8::1 3fff::1 4000::1 ff02::1 64:ff9b::224.0.0.1
""")
PUBLIC = listed("""
    1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
    172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
    2606:4700::1111 2a00::1 ::ffff:1.1.1.1 64:ff9b::1.1.1.1 2002:101:101::
""")


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_refused_unless_all_private_ones_are_allowed(address: str) -> None:
    sentence = f"{address} is a private address; refused. To allow: --allow-private"
    assert Guard().refusal(address, 80) == sentence
    assert Guard(allow_private=True).refusal(address, 80) is None


@pytest.mark.parametrize("address", RESERVED)
def test_a_reserved_address_is_refused_whatever_is_allowed(address: str) -> None:
    assert Guard(allow_private=True).refusal(address, 80) == f"{address} is a reserved address; refused"


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_connected_to(address: str) -> None:
    assert Guard().refusal(address, 80) is None


METADATA = listed("""
    169.254.169.254 169.254.170.2 169.254.170.23 169.254.0.1 169.254.42.42 169.254.255.255 100.100.100.200 168.63.129.16
    192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd00:ec2::254%eth0 fd20:ce::254 fd00:42::42
    ::ffff:169.254.169.254 ::ffff:0:169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b::192.0.0.192 2002:a9fe:a9fe::1
    ::ffff:100.100.100.200 64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:a9:fe:a9fe::
    64:ff9b:1:0:a9:fea9:fe00::
""")


@pytest.mark.parametrize("address", METADATA)
def test_a_metadata_address_is_never_let_through(address: str) -> None:
    """SEC-06: in none of its forms, whatever is allowed."""
    bracketed = f"[{address}]:80" if ":" in address else f"{address}:80"
    guard = Guard(allow=(bracketed,), allow_private=True, resolve={"cloud.test": bracketed})
    assert guard.refusal(address, 80) == f"{address} is a cloud-metadata address; always refused"


def test_an_allowed_endpoint_is_exactly_that_address_and_port() -> None:
    guard = Guard(allow=("127.0.0.1:8123", "[::1]:8124"))
    assert guard.refusal("127.0.0.1", 8123) is None
    assert guard.refusal("::ffff:127.0.0.1", 8123) is None
    assert guard.refusal("::1", 8124) is None
    for address, port in (("127.0.0.1", 8124), ("127.0.0.2", 8123), ("::1", 8123)):
        assert guard.refusal(address, port)


def test_a_mapped_name_is_told_to_libcurl_and_its_endpoint_is_allowed() -> None:
    guard = Guard(resolve={"World.test.": "127.0.0.1:8123", "six.test": "[::1]:8124"})
    assert guard.mappings() == ["world.test::127.0.0.1:8123", "six.test::[::1]:8124"]
    assert guard.refusal("127.0.0.1", 8123) is None
    assert guard.refusal("127.0.0.1", 80)


@pytest.mark.parametrize("text", ["127.0.0.1", "localhost:80", "127.0.0.1:frog", "127.0.0.1:0", "1.1.1.1:65536", ""])
def test_what_is_no_endpoint_cannot_be_allowed(text: str) -> None:
    with pytest.raises(BadParams, match="port"):
        Guard(allow=(text,))


@pytest.mark.parametrize(
    ("seed", "address"),
    [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/frog", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://[::1]:8123/", "::1"),
        ("http://[::ffff:10.0.0.1]/", "::ffff:a00:1"),
        ("https://192.168.0.1/", "192.168.0.1"),
        ("http://localhost:8123/", "127.0.0.1"),
        ("http://frog.localhost./", "127.0.0.1"),
    ],
)
def test_a_private_seed_is_refused_before_any_request(seed: str, address: str) -> None:
    assert Guard().check_seed(seed) == f"{address} is a private address; refused. To allow: --allow-private"
    assert Guard(allow_private=True).check_seed(seed) is None


@pytest.mark.parametrize(
    "seed", ["https://marsh.test/", "http://1.1.1.1/", "http://nolocalhost/", "not a url", "http://[2606:4700::1]/"]
)
def test_a_seed_with_a_name_or_a_public_address_is_not_refused(seed: str) -> None:
    assert Guard().check_seed(seed) is None


def test_a_seed_at_an_allowed_endpoint_is_not_refused() -> None:
    guard = Guard(
        allow=("127.0.0.1:8123", "[::1]:8125", "10.0.0.1:443", "10.0.0.2:80"), resolve={"a.localhost": "127.0.0.1:1"}
    )
    for seed in (
        "http://127.0.0.1:8123/",
        "http://localhost:8123/",
        "http://localhost:8125/",
        "https://10.0.0.1/",
        "http://10.0.0.2/",
    ):
        assert guard.check_seed(seed) is None
    assert guard.check_seed("http://a.localhost/") is None
    for seed in ("http://127.0.0.1:8124/", "http://localhost/", "http://10.0.0.1/", "https://10.0.0.2/"):
        assert guard.check_seed(seed)
