"""Sitemaps and llms.txt: every form that sites publish, and hostile ones within bounds (SIT-02, H11)."""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.sitemaps import (
    SITEMAP_BYTES_MAX,
    URLS_MAX,
    SitemapRefused,
    names_a_sitemap,
    names_llms_txt,
    read_llms_txt,
    read_sitemap,
)

URLS = ("https://marsh.test/frog?a=1&b=2", "https://marsh.test/toad")
BOMB = gzip.compress(bytes(40_000_000))


def urlset(*urls: str, prefix: str = "", name: str = "urlset", each: str = "url") -> bytes:
    rows = "".join(f"<{prefix}{each}>\n <{prefix}loc>\n{url}</{prefix}loc></{prefix}{each}>" for url in urls)
    return f'<?xml version="1.0"?>\n<{prefix}{name} xmlns="x">{rows}</{prefix}{name}>'.encode()


ESCAPED = tuple(url.replace("&", "&amp;") for url in URLS)


@pytest.mark.parametrize(
    "body",
    [
        urlset(*ESCAPED),
        urlset(*ESCAPED, prefix="sm:"),
        urlset(*(f"<![CDATA[{url}]]>" for url in URLS)),
        gzip.compress(urlset(*ESCAPED)),
        b"\xef\xbb\xbf" + urlset(*ESCAPED),
        urlset(*ESCAPED).decode().encode("utf-16"),
        "\n".join(URLS).encode(),
        "\r\n\r\n".join(("", *URLS, "")).encode(),
        gzip.compress("\n".join(URLS).encode()),
    ],
    ids=["xml", "prefix", "cdata", "gzip", "mark", "utf-16", "text", "blank-lines", "gzipped-text"],
)
def test_a_sitemap_is_read_in_every_form_sit_02(body: bytes) -> None:
    found = read_sitemap(body)
    assert found is not None
    assert (found.urls, found.is_index, found.beyond) == (URLS, False, False)


def test_an_index_names_sitemaps_and_not_pages() -> None:
    found = read_sitemap(urlset("https://marsh.test/a.xml.gz", name="sitemapindex", each="sitemap"))
    assert found is not None
    assert (found.urls, found.is_index) == (("https://marsh.test/a.xml.gz",), True)


def test_pictures_and_translations_of_a_page_are_not_pages() -> None:
    extra = "<image:image><image:loc>https://marsh.test/frog.png</image:loc></image:image>"
    alternate = '<xhtml:link rel="alternate" hreflang="de" href="https://marsh.test/de"/><lastmod>2999-01-01</lastmod>'
    body = urlset("https://marsh.test/frog").replace(b"</url>", f"{extra}{alternate}</url>".encode())
    found = read_sitemap(body)
    assert found is not None
    assert found.urls == ("https://marsh.test/frog",)


@pytest.mark.parametrize(
    "body", [b"", b"<html><p>no</p></html>", b"\x89PNG", b"frog\nhttps://marsh.test/", b"<urlsets>"]
)
def test_what_is_no_sitemap_is_none(body: bytes) -> None:
    assert read_sitemap(body) is None


def test_no_more_than_fifty_thousand_urls_are_taken_h11() -> None:
    for body in (urlset(*map(str, range(URLS_MAX + 1))), b"http://a.test/\n" * (URLS_MAX + 1)):
        found = read_sitemap(body)
        assert found is not None
        assert (len(found.urls), found.beyond) == (URLS_MAX, True)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (BOMB, "bomb"),
        (b"<urlset>" + bytes(SITEMAP_BYTES_MAX), "body_too_large"),
        (gzip.compress(urlset(*URLS))[:-9], "body_incomplete"),
        (b"\x1f\x8bfrog", "answer_unreadable"),
    ],
    ids=["bomb", "huge", "cut", "junk"],
)
def test_a_hostile_sitemap_is_refused_with_a_code_h11(body: bytes, code: str) -> None:
    with pytest.raises(SitemapRefused) as refusal:
        read_sitemap(body)
    assert refusal.value.code == code


def test_a_packed_bomb_is_stopped_before_it_fills_the_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(SitemapRefused):
            read_sitemap(BOMB)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("piece", [b"<loc>", b"<loc><![CDATA[", b"<url", b"<loc >  ", b"&amp;", b"<!--", b"[a]("])
def test_reading_takes_time_linear_in_the_size_h11(piece: bytes) -> None:
    """H11: bounded parse. Twice the size takes about twice the time; a quadratic reader would need minutes."""
    body = b"<urlset>" + piece * (4_000_000 // len(piece))
    began = time.process_time()
    read_sitemap(body)
    read_llms_txt(body.decode())
    assert time.process_time() - began < 10


@pytest.mark.parametrize("place", ["<![CDATA[]]>", "", f"&#{'1' * 5_000};"], ids=["cdata", "empty", "digits"])
def test_a_place_that_is_none_costs_no_other_its_page(place: str) -> None:
    found = read_sitemap(f"<urlset><loc>{place}</loc><loc>https://marsh.test/frog</loc></urlset>".encode())
    assert found is not None
    assert found.urls[1:] == ("https://marsh.test/frog",)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_sitemap_or_none_or_refused(body: bytes) -> None:
    try:
        found = read_sitemap(b"<urlset><loc>" + body)
    except SitemapRefused:
        return
    assert found is None or all(isinstance(url, str) for url in found.urls)


def test_llms_txt_is_a_title_and_its_links() -> None:
    links = "- [Frog](/frog.md): green\n- [Toad](https://a.test/t?x=1 'Toad')\n[Frog](/frog.md)"
    text = f"# The Marsh\n\n> about frogs\n\n## Docs\n{links}"
    assert read_llms_txt(text) == ("The Marsh", ("/frog.md", "https://a.test/t?x=1"))


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/sitemap.xml", True),
        ("/sitemap_index.xml.gz", True),
        ("/en/sitemap-news.txt?x=1", True),
        ("/sitemap/", False),
        ("/about-sitemap.html", False),
        ("/my.xml", False),
    ],
)
def test_a_sitemap_is_known_by_its_name(path: str, named: bool) -> None:
    assert names_a_sitemap(path) is named
    assert names_llms_txt("/llms.txt")
    assert not names_llms_txt("/llms-full.txt")
