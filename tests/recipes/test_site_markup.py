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
from holdfast.recipes.site.sniffing import is_html
from holdfast.recipes.site.text import visible_text


def hrefs_by_a_tree(text: str) -> tuple[str, ...]:
    """The same links by a parser that builds the tree: right for every page, and not safe for every page."""
    nodes = LexborHTMLParser(f"<!doctype html><body>{text}").css("a[href],area[href]")
    return tuple(dict.fromkeys(href for node in nodes if (href := node.attrs.get("href"))))


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
    ],
)
def test_links_are_read_by_the_rules_of_html(text: str, hrefs: tuple[str, ...]) -> None:
    assert read_page(text).hrefs == hrefs == hrefs_by_a_tree(text)


PIECES = (
    "<a ", "<a href", "=", '"', "'", ">", "</a>", "<div ", "</div>", "x", "y=1", " ", "/", "\n", "&amp;", "&copy=",
    "&copy;", "&#47;", "&amp", "&notit;", "<!--", "-->", "--!>", "<!", "<?", "<", "<style>", "</style >", "href=",
    'HREF="/u"', "<A\thref='/q'>", "<area href=/ar>", "<p>", "é", "\xa0", "<b", "-", "<link href=a>", "<br/>",
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


def test_what_says_it_is_html_is_read_and_what_says_nothing_is_looked_at() -> None:
    assert is_html("text/html", b"")
    assert is_html("application/xhtml+xml", b"")
    assert not is_html("text/plain", b"<html>")
    assert is_html("", b"\n <!DOCTYPE html><p>")
    assert not is_html("", b"%PDF-1.7")


def test_a_tag_knows_where_it_ends() -> None:
    (tag,) = scan("ab<base href=x>", {})
    assert (tag.name, tag.at, tag.get("href"), tag.get("target")) == ("base", 15, "x", None)
