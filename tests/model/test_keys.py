"""Canonical URLs and the keys made from them: when two URLs are one target (FRO-02, FRO-06)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadParams
from holdfast.model.keys import KEY_BYTES, canonical, chunk_of_host, chunk_of_key, key_of, seed_address

SALT = b"a" * 16


def url_of(text: str, base: str | None = None) -> str | None:
    address = canonical(text, base)
    return address.url if address else None


def key(url: str, salt: bytes = SALT) -> bytes:
    return key_of(seed_address(url), salt)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTPS://Marsh.TEST", "https://marsh.test/"),
        ("https://marsh.test:443/a", "https://marsh.test/a"),
        ("http://marsh.test:8080/a", "http://marsh.test:8080/a"),
        ("https://marsh.test/a/./b/../c", "https://marsh.test/a/c"),
        ("https://marsh.test/%7Efrog%2f", "https://marsh.test/%7Efrog%2f"),
        ("https://marsh.test/ä b", "https://marsh.test/%C3%A4%20b"),
        ("https://marsh.test/a?b=1&a=2", "https://marsh.test/a?b=1&a=2"),
        ("https://marsh.test/a?", "https://marsh.test/a?"),
        ("https://marsh.test/A//b;x=1", "https://marsh.test/A//b;x=1"),
        ("https://bücher.test/", "https://xn--bcher-kva.test/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ("https:\\\\marsh.test\\a", "https://marsh.test/a"),
        ("  https://marsh.test/a\n/b ", "https://marsh.test/a/b"),
    ],
)
def test_the_canonical_form_is_the_serialisation_of_the_url_standard(text: str, url: str) -> None:
    """FRO-06: WHATWG, the fragment dropped, and nothing else."""
    assert url_of(text) == url


PARTS = st.sampled_from(
    ["http://", "https://", "a.test", "marsh", "xn--a.test", "127.0.0.1", "127.1", "0x7f.1", "1.2.3.4.5", "256.1.1.1",
     "01.2.3.4", "a.1", "-a.test", "a-.test", ":80", ":443", ":8080", ":08", ":70000", ":", "/", "//", ".", "..", "/./",
     "/..", "a", "b.html", "~x", "%2e", "%2E%2e/", "?", "?q=1&r=%20", "&", "=", "'", "@", "ä", " ", "A.TEST", "#x"]
)  # fmt: skip


@given(st.lists(PARTS, min_size=1, max_size=8).map("".join))
@settings(max_examples=2000)
def test_the_short_cut_for_plain_urls_agrees_with_the_url_parser(url: str) -> None:
    """Joined to a base that it cannot need, a URL goes the long way."""
    for text in (url, f"http://{url}", f"https://a.test:8080{url}", f"http://10.0.0.1/{url}"):
        if text.startswith(("http://", "https://")):
            assert canonical(text) == canonical(text, "about:blank")


def test_queries_distinguish_pages_and_fragments_do_not() -> None:
    """FRO-06."""
    assert url_of("https://marsh.test/news?page=2#x") == "https://marsh.test/news?page=2"
    assert (
        len({url_of(f"https://marsh.test/news{query}") for query in ("", "?page=1", "?page=2", "?utm_source=x")}) == 4
    )


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("g", "http://a/b/c/g"),
        ("./g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("../../../g", "http://a/g"),
        ("http:g", "http://a/b/c/g"),
    ],
)
def test_an_href_is_relative_to_its_page(href: str, url: str) -> None:
    assert url_of(href, "http://a/b/c/d;p?q") == url


@pytest.mark.parametrize(
    "text",
    ["", "frog", "ftp://marsh.test/", "mailto:a@b.test", "javascript:x", "https://", "https://u@marsh.test/",
     "https://u:p@marsh.test/", "https://marsh.test:99999/", "https://ma rsh.test/", "http://a/" + "x" * 9_000],
)  # fmt: skip
def test_what_cannot_be_asked_for_has_no_address(text: str) -> None:
    assert canonical(text) is None


@given(st.text(min_size=1, max_size=40), st.sampled_from(["https://marsh.test/a/b?c", "http://a:81/"]))
def test_canonical_is_idempotent_and_its_parts_make_the_whole(text: str, base: str) -> None:
    address = canonical(text, base)
    if address is not None:
        assert canonical(address.url) == address
        assert address.url == address.origin + address.path
        assert "#" not in address.url
        assert address.origin.endswith(f"//{address.host}")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org/docs", "https://example.org/docs"),
        (" http://a.test ", "http://a.test/"),
        ("a.test:81", "https://a.test:81/"),
        ("127.0.0.1:8191", "http://127.0.0.1:8191/"),
        ("localhost:8000/docs", "http://localhost:8000/docs"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("127.0.0.1:443", "https://127.0.0.1/"),
        ("192.0.2.7", "https://192.0.2.7/"),
    ],
)
def test_what_a_person_types_is_read_kindly(typed: str, url: str) -> None:
    assert seed_address(typed).url == url


@pytest.mark.parametrize(
    "typed", ["", "a b.test", "https://a.test/\nx", "ftp://a.test", "u:p@a.test", "https://a.test/\x00"]
)
def test_what_is_no_url_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(BadParams) as refused:
        seed_address(typed)
    assert refused.value.hint.startswith("holdfast crawl ")


def test_a_key_has_128_bits_and_depends_on_every_part_of_the_url() -> None:
    """FRO-02: no two of these collide by construction: each is hashed whole, host and scheme included."""
    urls = ["https://a.test/x", "http://a.test/x", "https://b.test/x", "https://a.test/X", "https://a.test/x/",
            "https://a.test/x?", "https://a.test/?x", "https://a.test:81/x", "https://a.test//x"]  # fmt: skip
    keys = {key(url) for url in urls}
    assert len(keys) == len(urls)
    assert {len(each) for each in keys} == {KEY_BYTES}


@given(st.lists(st.text("ab/?.", max_size=8), min_size=2, max_size=8))
def test_two_addresses_have_one_key_only_if_they_are_one(paths: list[str]) -> None:
    addresses = [address for path in paths if (address := canonical(f"https://a.test/{path}"))]
    assert len({key_of(each, SALT) for each in addresses}) == len({each.url for each in addresses})


def test_the_salt_makes_keys_that_a_site_cannot_foresee() -> None:
    mine, theirs = key("https://a.test/x"), key("https://a.test/x", b"b" * 16)
    assert mine[:4] != theirs[:4]
    assert mine[4:] != theirs[4:]
    assert mine == key("https://a.test/x")


def test_keys_of_one_directory_lie_together() -> None:
    near = {key(f"https://a.test/docs/{name}")[:4] for name in ("a", "b.html", "c?x=/1/2", "")}
    assert len(near) == 1
    assert {key("https://a.test/other/a")[:4], key("https://b.test/docs/a")[:4]}.isdisjoint(near)


def test_keys_of_one_directory_are_spread_over_all_chunks() -> None:
    """FRO-12: one site can use several workers."""
    assert {chunk_of_key(key(f"https://a.test/docs/{n}"), 16) for n in range(400)} == set(range(16))


def test_hosts_are_spread_over_all_chunks_and_always_alike() -> None:
    assert {chunk_of_host(f"h{n}.test", 16) for n in range(400)} == set(range(16))
    assert chunk_of_host("marsh.test", 16) == chunk_of_host("marsh.test", 16)
