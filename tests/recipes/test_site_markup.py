"""Tags out of HTML: as a browser's parser reads them, in linear time whatever the page."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from holdfast.demo.manual import write_manual
from holdfast.recipes.site.markup import resolve_references, scan
from holdfast.recipes.site.page import read_page
from holdfast.recipes.site.refresh import read_refresh
from holdfast.recipes.site.text import visible_text

LINKS = (
    "a[href],area[href],iframe[src],link[rel=next],link[rel=PREV],"
    "link[rel=alternate][hreflang]:not([type]),link[rel=alternate][type='text/html']"
)


def hrefs_by_a_tree(text: str) -> tuple[str, ...]:
    """The same links by a parser that builds the tree: right for every page, and not safe for every page."""
    nodes = LexborHTMLParser(f"<!doctype html><body>{text}").css(LINKS)
    found = (node.attrs.get("src" if node.tag == "iframe" else "href") for node in nodes)
    return tuple(dict.fromkeys(href for href in found if href))


@pytest.mark.parametrize(
    ("text", "hrefs"),
    [
        ('<a href="/frog">', ("/frog",)),
        ("<A\n\tHREF = '/frog' >", ("/frog",)),
        ("<a href=/frog>x</a><area href=/pond>", ("/frog", "/pond")),
        ("<a href=/1><a href=/2><a href=/1>", ("/1", "/2")),
        ('<a title=" href=/no" href="/frog">', ("/frog",)),
        ('<a title=" href="/no" href="/frog">', ("/frog",)),
        ("<a title='>' href=/frog>", ("/frog",)),
        ('<a title=5" href="/frog">', ("/frog",)),
        ('<a x= href="/no" href="/frog">', ("/frog",)),
        ("<a href=/first href=/second>", ("/first",)),
        ("<a data-href=/no>", ()),
        ("<abbr href=/no><a-b href=/no>", ()),
        ("<!-- <a href=/no> --><a href=/frog>", ("/frog",)),
        ("<!-- > <a href=/no> --><a href=/frog>", ("/frog",)),
        ("<!--><a href=/frog>", ("/frog",)),
        ("<script>'<a href=/no>'</script><a href=/frog>", ("/frog",)),
        ("<style><a href=/no></style ><a href=/frog>", ("/frog",)),
        ("<textarea><a href=/no></textarea>", ()),
        ("<title><a href=/no></title>", ()),
        ('<div title="<a href=/no>"><a href=/frog>', ("/frog",)),
        ("<a href=/frog", ()),
        ("<a href", ()),
        ('<a href="/a?b=1&amp;c=2">', ("/a?b=1&c=2",)),
        ('<a href="">', ()),
        ("1 < 2 <a href=/frog> <", ("/frog",)),
        ("<iframe src=/pond><a href=/no></iframe><a href=/frog>", ("/pond", "/frog")),
        ("<iframe srcdoc='<a href=/no>'></iframe>", ()),
        ("<noscript><a href=/frog></noscript>", ("/frog",)),
        ("<link rel=next href=/2><link rel='PREV' href=/0>", ("/2", "/0")),
        ("<link rel=alternate hreflang=fi href=/fi>", ("/fi",)),
        ("<link rel=alternate type=text/html href=/m>", ("/m",)),
        ("<link rel=alternate type=application/rss+xml hreflang=fi href=/no>", ()),
        ("<link rel=alternate href=/no><link rel='alternate stylesheet' hreflang=x href=/no>", ()),
        ("<link rel=stylesheet href=/no><link rel=preload href=/no><form action=/no><div data-href=/no>", ()),
        ("<object data=/no></object><embed src=/no><img src=/no><source src=/no>", ()),
    ],
)
def test_links_are_read_by_the_rules_of_html(text: str, hrefs: tuple[str, ...]) -> None:
    assert read_page(text).hrefs == hrefs == hrefs_by_a_tree(text)


PIECES = (
    "<a ", "<a href", "=", '"', "'", ">", "</a>", "<div ", "</div>", "x", "y=1", " ", "/", "\n", "&amp;", "&copy=",
    "&copy;", "&#47;", "&amp", "&notit;", "<!--", "-->", "--!>", "<!", "<?", "<", "<style>", "</style >", "href=",
    'HREF="/u"', "<A\thref='/q'>", "<area href=/ar>", "<p>", "é", "\xa0", "<b", "-", "<link href=a>", "<br/>",
    "<iframe src=/fr>", "</iframe>", "<meta ", '<meta name="x" content="y">', 'content="', "http-equiv", "<main>",
    'class="k"', "<textarea>", "</textarea>", "<br / href=x>", "</x a='>'", ' href="/v" ', "<title>", "</title>",
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_broken_markup_is_read_as_a_tree_builder_reads_it(text: str) -> None:
    assert read_page(text).hrefs == hrefs_by_a_tree(text)


def test_every_page_of_the_manual_is_read_as_it_was_written() -> None:
    pages = [page for page in write_manual(7).library.values() if page.is_html and page.status == 200]
    assert len(pages) > 500
    for page in pages:
        text = page.body.decode()
        assert read_page(text).hrefs == hrefs_by_a_tree(text)
        assert read_page(text).title == page.title


@given(st.text("<>!-/=\"' abASCript\n&;\0", max_size=60))
def test_any_text_gives_a_page(text: str) -> None:
    page = read_page(text)
    assert all(page.hrefs)


# Each is quadratic or worse for a parser that builds a tree: the last one made 2.2 GB out of 33 KB.
HOSTILE = {
    "nested tags": "<div>" * 100_000,
    "attributes": "<a " + " ".join(f"a{n}" for n in range(200_000)) + ">",
    "open tags": "<a " * 200_000,
    "open quotes": "<a href='" * 100_000,
    "open comments": "<!--" * 100_000,
    "brackets": "<" * 300_000,
    "scripts": "<script>" * 100_000,
    "spaces": "<a b" + " " * 500_000 + "c",
    "references": "<a href='" + "&amp" * 100_000 + "'>",
    "open metas": "<meta " * 200_000,
    "metas without an end": '<meta name="x" content="' * 100_000,
    "metas": '<meta name="x" content="y" z>' * 50_000,
    "frames": "<frame src=a>" * 100_000,
    "inner frames": "<iframe src=a>" * 100_000,
    "drawings": "<svg><title>x</title>" * 20_000,
    "formatting": "<p>" + "".join(f"<b id={n}>" for n in range(5_000)) + "<p>x" * 50_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_in_bounded_time_and_its_neighbour_link_is_found(name: str) -> None:
    """S1, worlds §6: 100,000 nested tags succeed; time is linear in the size of the page."""
    assert read_page('<a href="/frog">' + HOSTILE[name]).hrefs[0] == "/frog"


@pytest.mark.parametrize("text", ["<a " + "b c " * 100_000 + "href=/x>", "<p>" + "<b x='1'>" * 50_000])
def test_what_the_matcher_has_to_remember_is_bounded(text: str) -> None:
    """S1: without the counts in the patterns these take a hundred times their size."""
    tracemalloc.start()
    list(scan(text, {}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a&amp;b", "a&b"),
        ("a&ampb", "a&ampb"),
        ("a&amp", "a&"),
        ("a&copy=1", "a&copy=1"),
        ("a&copy;=1", "a©=1"),
        ("&#x2f;&#47", "//"),
        ("&#xD800;", "\ufffd"),
        ("&nosuch;", "&nosuch;"),
    ],
)
def test_references_in_attributes_leave_query_strings_alone(value: str, text: str) -> None:
    assert resolve_references(value) == text


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("&#" + "1" * 5_000 + ";", "\ufffd"),
        ("&#" + "0" * 5_000 + "65;", "A"),
        ("&#" + "0" * 5_000 + ";", "\ufffd"),
        ("&#x" + "1" * 5_000 + ";", "\ufffd"),
    ],
    ids=["digits", "zeros", "nothing", "hexadecimal"],
)
def test_a_reference_of_any_length_is_one_character(reference: str, text: str) -> None:
    """Python makes no number of more than 4,300 digits, and `html.unescape` raised."""
    page = read_page(f"<title>{reference} &amp;</title><a href='/{reference}'>")
    assert (page.title, page.hrefs) == (f"{text} &", (f"/{text}",))
    assert visible_text(f"<p>{reference} &amp;".encode(), "text/html") == f"{text} &"


def test_title_canonical_and_base_are_the_first_ones() -> None:
    page = read_page(
        "<title>\n A  frog &amp;\ta pond </title><base target=_top><base href=/docs/><base href=/no/>"
        "<link rel='alternate' href=/no><link rel='x CANONICAL' href=/frog><link rel=canonical href=/n><title>n</title>"
    )
    assert (page.title, page.base, page.canonical) == ("A frog & a pond", "/docs/", "/frog")


def test_the_title_of_an_icon_is_not_the_pages() -> None:
    assert read_page("<svg><title>logo</title></svg><title>Frog</title>").title == "Frog"
    assert read_page("<p>no title").title is None
    assert len(read_page("<title>" + "x" * 900).title or "") == 500


def test_frames_and_what_stands_beside_them_are_links() -> None:
    """FRO-13: a frameset has no other links, and `noframes` is written for readers without frames, as we are."""
    text = "<frameset><frame src=a.html><FRAME SRC='b.html'><noframes><body><a href=c.html></noframes></frameset>"
    assert read_page(text).hrefs == ("a.html", "b.html", "c.html")
    raw = "".join(f"<{name}><a href=/no></{name}>" for name in ("script", "style", "textarea", "xmp", "noembed"))
    assert read_page(raw + "<iframe><a href=/no></iframe><plaintext><a href=/no>").hrefs == ()


@pytest.mark.parametrize(
    ("content", "seconds", "url"),
    [
        ("0;url=api/index.html", 0, "api/index.html"),
        ("0; URL = '/a b' and more", 0, "/a b"),
        ('5;URL="/x', 5, "/x"),
        ("0;overview-summary.html", 0, "overview-summary.html"),
        ("0,url=/x", 0, "/x"),
        ("0 url=/x", 0, "/x"),
        ("  1.5 ; /x", 1, "/x"),
        (".5; /x", 0, "/x"),
        ("0;'/x'y", 0, "/x"),
        ("0; urls/x", 0, "urls/x"),
        ("0; url", 0, "url"),
        ("0; ur'l", 0, "ur'l"),
        ("300", 300, ""),
        ("0;", 0, ""),
        ("0;url=", 0, ""),
        ("9" * 5_000 + ";/x", 10**9, "/x"),
    ],
)
def test_a_refresh_is_read_by_the_steps_of_the_html_standard(content: str, seconds: int, url: str) -> None:
    """FRO-13."""
    refresh = read_refresh(content)
    assert refresh is not None
    assert (refresh.seconds, refresh.url) == (seconds, url)


@pytest.mark.parametrize("content", ["", "url=/x", "-1;url=/x", "0x;url=/x", "soon; /x", "0url=/x"])
def test_a_refresh_without_a_time_is_none(content: str) -> None:
    assert read_refresh(content) is None


@pytest.mark.parametrize(
    "text",
    [
        '<meta http-equiv="refresh" content="0;url=/x">',
        "<META content='0; /x' HTTP-EQUIV=Refresh>",
        '<meta name="robots-are-fine" content="0;/x" http-equiv="refresh">',
        '<meta name="x" content="0;/x" http-equiv="refresh" />',
        '<meta content="0;&#47;x" Http-Equiv="refresh">',
        '<noscript><meta http-equiv="Refresh" content="0;/x"></noscript>',
        "<meta http-equiv=refresh content=9><meta http-equiv=refresh content=0;/x>",
    ],
)
def test_a_refresh_is_found_however_its_tag_is_written(text: str) -> None:
    """FRO-13."""
    refresh = read_page(f'<meta charset="utf-8"><meta name="a" content="b">{text}<p>').refresh
    assert refresh is not None
    assert refresh.url == "/x"


@pytest.mark.parametrize(
    "text",
    [
        '<!-- <meta http-equiv="refresh" content="0;/x"> -->',
        '<script>"<meta http-equiv=refresh content=0;/x>"</script>',
        '<meta name="refresh" content="0;/x">',
        '<meta property="og:x" content="<meta http-equiv=refresh content=0;/x>">',
    ],
)
def test_what_only_looks_like_a_refresh_is_none(text: str) -> None:
    assert read_page(text).refresh is None


def test_robots_tags_are_read_and_no_other_names() -> None:
    text = (
        '<meta name="robots" content="nofollow"><META NAME=Holdfast CONTENT=noindex><meta name="googlebot" content="x">'
    )
    assert read_page(text).robots == ("nofollow", "noindex")


def test_links_marked_nofollow_are_kept_apart_only_where_asked_for() -> None:
    text = (
        '<a href="/a" rel="nofollow">a</a><a href="/b">b</a><a rel="external NoFollow" href=/c>c</a><a href="/a">a</a>'
    )
    assert read_page(text).hrefs == ("/a", "/b", "/c")
    page = read_page(text, sees_marks=True)
    assert (page.hrefs, page.marked) == (("/b", "/a"), ("/c",))


def test_in_xml_an_element_closed_in_its_tag_has_no_content() -> None:
    text = "<title/><script src='x'/><iframe src='/f'/><a href='/frog'/>"
    assert read_page(text, is_xml=True).hrefs == ("/f", "/frog")
    assert read_page(text).hrefs == ()


def test_the_title_behind_a_drawing_closed_in_its_tag_is_the_pages() -> None:
    assert read_page("<svg/><title>Frog</title>").title == "Frog"
    assert read_page('<svg viewBox="0 0 1 1" /><title>Frog</title>').title == "Frog"
    assert read_page("<svg class=a/><title>logo</title></svg>").title is None


def test_a_tag_knows_where_it_ends() -> None:
    (tag,) = scan("ab<base href=x>", {})
    assert (tag.name, tag.at, tag.get("href"), tag.get("target")) == ("base", 15, "x", None)
