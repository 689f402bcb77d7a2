"""Sitemaps and llms.txt: every form that sites publish, and hostile ones within bounds (SIT-02, H11)."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.listings import ENTRIES_MAX, LIST_BYTES_MAX, URLS_MAX, SitemapRefused
from holdfast.policy.sitemaps import (
    Sitemap,
    names_a_sitemap,
    names_llms_txt,
    read_llms_txt,
    read_sitemap,
    read_sitemap_lines,
)

URLS = ("https://marsh.test/frog?a=1&b=2", "https://marsh.test/toad")
BOMB = gzip.compress(bytes(40_000_000))


def urlset(*urls: str, prefix: str = "", name: str = "urlset", each: str = "url") -> bytes:
    rows = "".join(f"<{prefix}{each}>\n <{prefix}loc>\n{url}</{prefix}loc></{prefix}{each}>" for url in urls)
    return f'<?xml version="1.0"?>\n<{prefix}{name} xmlns="x">{rows}</{prefix}{name}>'.encode()


MIXED = b"og?a=1&amp;b=<![CDATA[2]]></loc><loc><![CDATA[https://marsh]]>.test/toad</loc></urlset>"
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
        urlset(*ESCAPED).decode().encode("utf-16-le"),
        urlset(*ESCAPED).decode().encode("utf-16-be"),
        "\ufeff".encode() + "\r".join(URLS).encode(),
        "\n".join(URLS).encode("utf-16"),
        b"".join(gzip.compress(part) for part in (b"<urlset><l", b"oc>https://marsh.test/fr", MIXED)) + bytes(512),
        urlset(*ESCAPED).replace(b"<loc>", b"<loc priority='1>0' note=\"a>b\" >"),
        urlset(*(url.replace("marsh.test/", "marsh.<!-- no -->test<?no?><![CDATA[/]]>") for url in ESCAPED)),
        urlset(*ESCAPED).replace(b"<url>", b"<!-- <url><loc>https://marsh.test/old</loc></url> --><url>", 1),
        urlset(*ESCAPED).replace(b"<urlset", b"<!--" + b"<urlset>" * 9_000 + b"--><?x " + b"y" * 9_000 + b"?><urlset"),
        urlset(*ESCAPED).replace(b' xmlns="x"', b"".join(b' xmlns:n%d="urn:n"' % n for n in range(2_000))),
        urlset(*ESCAPED).replace(b"<urlset", b'<!DOCTYPE urlset [<!ENTITY a "<loc>x</loc>">]><urlset'),
        b"<br/>\n<b>Notice</b>: no <i>disk</i>\n" + urlset(*ESCAPED),
        urlset(*ESCAPED, prefix="sm:")
        .replace(b"sm:urlset", b"urlset")
        .replace(b"xmlns", b"xmlns:sm")
        .replace(b'"x"', b'"http://www.sitemaps.org/schemas/sitemap/0.9"'),
    ],
    ids=[
        "xml",
        "prefix",
        "cdata",
        "gzip",
        "mark",
        "utf-16",
        "text",
        "blank-lines",
        "gzipped-text",
        "utf-16-le",
        "utf-16-be",
        "text-mark",
        "text-utf-16",
        "members",
        "attributes",
        "mixed",
        "comment",
        "late-root",
        "namespaces",
        "doctype",
        "notice",
        "other-prefix",
    ],
)
def test_a_sitemap_is_read_in_every_form_sit_02(body: bytes) -> None:
    """SIT-02, FRO-15."""
    found = read_sitemap(body)
    assert found is not None
    assert found == Sitemap(URLS)


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


def test_no_more_than_fifty_thousand_urls_are_taken_and_the_others_counted_h11() -> None:
    """FRO-15: a place that is listed twice is one."""
    places = [f"http://a.test/{n}" for n in range(URLS_MAX + 7)]
    for body in (urlset(*places, places[0]), "\n".join([*places, places[0]]).encode()):
        found = read_sitemap(body)
        assert found is not None
        assert (found.urls, found.beyond) == (tuple(places[:URLS_MAX]), 7)


RSS = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://marsh.test/</link>
<atom:link href="https://marsh.test/rss.xml" rel="self"/><item><title>Frog</title><link>https://marsh.test/frog?a=1&amp;b=2
</link><guid isPermaLink="true">https://marsh.test/?p=1</guid><enclosure url="https://marsh.test/frog.mp3"/></item>
<item><guid>https://marsh.test/toad</guid><atom:link href="https://marsh.test/no"/></item></channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="https://marsh.test/"><link>x</link>
</channel><item rdf:about="a"><link>https://marsh.test/frog?a=1&amp;b=2</link></item><item><link>https://marsh.test/toad
</link></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://marsh.test/"/><entry><id>https://marsh.test/1</id>
<link rel="alternate" href="https://marsh.test/frog?a=1&amp;b=2"/><link rel="enclosure" href="https://marsh.test/frog.mp3"/>
</entry><entry><link href='https://marsh.test/toad'/><link rel="edit" href="/edit"/></entry></feed>"""


@pytest.mark.parametrize(
    "text", [RSS, RDF, ATOM, ATOM.replace("<", "<a:").replace("<a:/", "</a:").replace("xmlns", "xmlns:a")]
)
def test_a_feed_is_a_list_of_what_its_entries_lead_to_fro_15(text: str) -> None:
    """FRO-15: not of the site that it is the feed of, and not of what is attached to an entry."""
    assert read_sitemap(text.encode()) == Sitemap(URLS)
    assert read_sitemap(gzip.compress(text.encode())) == Sitemap(URLS)


def test_an_entry_that_leads_nowhere_is_counted_fro_15() -> None:
    no_link = "<item><title>x</title><guid isPermaLink='false'>https://marsh.test/no</guid></item><item/>"
    found = read_sitemap(RSS.replace("<item>", no_link + "<item>", 1).encode())
    assert found == Sitemap(URLS, unreadable=1)
    found = read_sitemap(urlset("", "x" * 9_000, "https://marsh.test/frog", "<b>", "&host;/toad"))
    assert found == Sitemap(("https://marsh.test/frog",), unreadable=4)
    assert read_sitemap("\n".join([*URLS * 5, "frog"]).encode()) == Sitemap(URLS, unreadable=1)


def test_no_part_of_a_url_is_taken_for_one_wherever_a_list_is_cut_fro_15() -> None:
    """FRO-15: packed or not, in every form: whatever is taken stands in the whole list, and a cut one says so."""
    for whole in (urlset(*ESCAPED), RSS.encode(), RDF.encode(), ATOM.encode(), "\n".join((*URLS, "")).encode()):
        for end in range(60, len(whole)):
            taken = [found for body in (whole[:end], packed_and_cut(whole[:end])) if (found := read_sitemap(body))]
            assert all(set(found.urls) <= set(URLS) or body_is_lines(whole) for found in taken)
        found = read_sitemap(packed_and_cut(whole[:-12]))
        assert found is not None
        assert set(found.urls) <= set(URLS)
        assert "gzip ends too early" in found.cut


def packed_and_cut(whole: bytes) -> bytes:
    """Everything is in it, and the end of the gzip is not."""
    packing = zlib.compressobj(wbits=31)
    return packing.compress(whole) + packing.flush(zlib.Z_SYNC_FLUSH)


def body_is_lines(whole: bytes) -> bool:
    return not whole.lstrip().startswith(b"<")


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        (gzip.compress(urlset(*ESCAPED))[:-9], "gzip ends too early"),
        (gzip.compress(urlset(*ESCAPED)) + gzip.compress(urlset("http://a.test/"))[:-8] + bytes(8), "gzip is damaged"),
        (gzip.compress(urlset(*ESCAPED)) + b"frog", "what follows its gzip is none"),
        (urlset(*ESCAPED).removesuffix(b"</urlset>"), "ends before its <urlset>"),
        (urlset(*ESCAPED).replace(b"</urlset>", b"<!-- </urlset>"), "ends before its <urlset>"),
        (gzip.compress(urlset(*ESCAPED)) + gzip.compress(b"") * 100_000, "more than 100,000 members"),
    ],
    ids=["cut", "damaged", "followed", "no-end", "comment", "members"],
)
def test_a_list_that_is_cut_says_so_and_gives_what_it_has_fro_15(body: bytes, cut: str) -> None:
    found = read_sitemap(body)
    assert found is not None
    assert found.urls[:1] == URLS[:1]
    assert cut in found.cut


def test_a_reference_is_one_where_it_ends_as_such() -> None:
    """`&copy=` is a parameter of a page; browsers would make a sign of it."""
    found = read_sitemap(
        urlset("<![CDATA[https://marsh.test/?a=1&copy=2]]>", "https://marsh.test/&#x66;&eacute;&apos;")
    )
    assert found is not None
    assert found.urls == ("https://marsh.test/?a=1&copy=2", "https://marsh.test/f\xe9'")


def test_robots_txt_may_name_any_number_of_sitemaps_fro_15() -> None:
    """FRO-15: whoever they are said to, and beyond the part of the file whose rules count."""
    lines = [f"Sitemap: https://x.test/{n}.xml" for n in range(40_000)]
    text = "\ufeffsitemap : https://x.test/a.xml # first\r\nUser-agent: other\nDisallow: /\n" + "\n".join(lines)
    found = read_sitemap_lines((text + "\nSitemap:\nSitemap: https://x.test/0.xml").encode())
    assert (len(found.urls), found.urls[0], found.unreadable) == (40_001, "https://x.test/a.xml", 1)
    many = read_sitemap_lines("\n".join(f"Sitemap: /{n}" for n in range(URLS_MAX + 3)).encode())
    assert (len(many.urls), many.beyond) == (URLS_MAX, 3)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (BOMB, "bomb"),
        (b"<urlset>" + bytes(LIST_BYTES_MAX), "body_too_large"),
        (b"\x1f\x8bfrog", "answer_unreadable"),
        (gzip.compress(urlset(*URLS))[:-8] + bytes(8), "answer_unreadable"),
    ],
    ids=["bomb", "huge", "junk", "damaged"],
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


PIECES = [
    b"<loc>", b"<loc><![CDATA[", b"<url", b"<loc >  ", b"&amp;", b"<!--", b"[a](", b"<loc a='", b"<a/>", b"<!---->",
    b"<loc>x</loc>", b"<loc>a<!---->", b"<loc>a<", b"<item><link>", b"xmlns:a", b"<![CDATA[]]>", b"<!DOCTYPE [", b"<?>",
]  # fmt: skip
HEADS = [b"<urlset>", b"<rss>", b"<feed ", b"<x>", b"http://a.test/\n"]


@pytest.mark.parametrize("piece", PIECES)
def test_reading_takes_time_linear_in_the_size_h11(piece: bytes) -> None:
    """H11: bounded parse. Twice the size takes about twice the time; a quadratic reader would need minutes."""
    began = time.process_time()
    for head in HEADS:
        read_sitemap(head + piece * (4_000_000 // len(piece)))
    assert time.process_time() - began < 12
    read_llms_txt((piece * (4_000_000 // len(piece))).decode())
    assert time.process_time() - began < 16


def short_lines() -> bytes:
    return gzip.compress(b"http://a.test/\n" * 10 + random.Random(7).randbytes(16_600_000).hex("\n", 1).encode(), 1)


def wide() -> bytes:
    """One odd character per URL: as texts of Python's, they take four bytes for each."""
    return b"<urlset>" + b"".join(b"<loc>/%d%s\xf0\x9f\x90\xb8</loc>" % (n, b"x" * 900) for n in range(50_000))


def empty() -> bytes:
    return b"<urlset>" + b"<loc/>" * 8_300_000


def in_utf_16() -> bytes:
    return ("<rss>" + "<item><link>http://a.test/</link></item>" * 600_000).encode("utf-16")


MEASURED = """
import sys, time
from pathlib import Path
from holdfast.policy.sitemaps import read_sitemap
def peak():  # not getrusage: that remembers the peak of the process that started this one
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
body = Path(sys.argv[1]).read_bytes()
before, began = peak(), time.process_time()
found = read_sitemap(body)
print(peak() - before, time.process_time() - began)
assert found is not None
"""


@pytest.mark.parametrize("make", [short_lines, wide, empty, in_utf_16])
def test_a_list_of_any_make_costs_bounded_memory_and_time_sec_07(make: Callable[[], bytes], tmp_path: Path) -> None:
    """SEC-07: a list of short lines, 50 MB when unpacked, took 1.4 GB of memory."""
    (tmp_path / "list").write_bytes(make())
    run = [sys.executable, "-c", MEASURED, str(tmp_path / "list")]
    kilobytes, seconds = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert int(kilobytes) < 100_000
    assert float(seconds) < 15


@pytest.mark.parametrize("piece", [b"<loc/>", b"<!---->", b"<loc><!---->"])
def test_reading_ends_after_as_many_elements_as_no_honest_list_has_sec_07(piece: bytes) -> None:
    found = read_sitemap(urlset(*ESCAPED).replace(b"</urlset>", piece * (ENTRIES_MAX + 1) + b"</urlset>"))
    assert found is not None
    assert (found.urls, found.cut) == (URLS, "reading ended after 500,000 lines or elements")


@pytest.mark.parametrize("place", ["<![CDATA[]]>", "", f"&#{'1' * 5_000};"], ids=["cdata", "empty", "digits"])
def test_a_place_that_is_none_costs_no_other_its_page(place: str) -> None:
    found = read_sitemap(f"<urlset><loc>{place}</loc><loc>https://marsh.test/frog</loc></urlset>".encode())
    assert found is not None
    assert found.urls[-1:] == ("https://marsh.test/frog",)
    assert "" not in found.urls


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
