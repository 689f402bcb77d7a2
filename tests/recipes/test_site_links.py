"""Links sorted into targets, left-out targets and external links, with and without the book's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.keys import canonical, key_of, seed_address
from holdfast.policy.scope import Scope
from holdfast.recipe import Context
from holdfast.recipes.site import links
from holdfast.recipes.site.links import LinkBook, Sorted, resolve

SALT = b"marsh" * 3 + b"!"
PARAMS = {"seeds": ["https://marsh.test/"], "scope": "host", "include": [], "exclude": [], "max_depth": None}


def make_book(**params: Any) -> LinkBook:
    context = Context(params=PARAMS | params, salt=SALT, chunking="key")
    return LinkBook(Scope.of(context.params), context)


def sort(book: LinkBook, hrefs: Sequence[str], page: str = "https://marsh.test/docs/a", base: str = "") -> Sorted:
    here = seed_address(page)
    return book.sort(hrefs, page=here, base=seed_address(base or page), own_key=key_of(here, SALT), depth=2)


def found(sorted_: Sorted) -> list[str]:
    return [each.origin + each.path for each in sorted_.found]


def test_links_come_in_page_order_each_once_and_the_page_itself_is_none() -> None:
    """FRO-06: fragments make no difference, queries do."""
    hrefs = ["b", "/x?page=2", "#top", "b#part", "a", "/docs/a#y", "./b", "/x?page=3", "", "/x"]
    here = sort(make_book(), hrefs)
    assert found(here) == [f"https://marsh.test{path}" for path in ("/docs/b", "/x?page=2", "/x?page=3", "/x")]
    assert here.count == 4


def test_what_leads_out_of_scope_is_external_and_no_target() -> None:
    """SIT-05, FRO-08."""
    here = sort(make_book(), ["https://pond.test/x", "//pond.test/x", "http://marsh.test/y"])
    assert [each.url for each in here.external] == ["https://pond.test/x"]
    assert found(here) == ["http://marsh.test/y"]


def test_what_is_left_out_by_rule_is_a_target_that_says_so() -> None:
    """FRO-08: excluded and too deep links are rows, `skipped`, with their rule."""
    here = sort(make_book(exclude=["/private/*"], include=["/docs/*", "/private/*"]), ["/private/x", "/blog", "b"])
    assert [(each.disposition, each.rule) for each in here.found] == [
        ("excluded", "exclude"),
        ("excluded", "include"),
        ("", ""),
    ]
    deep = sort(make_book(max_depth=1), ["b"])
    assert [(each.depth, each.disposition, each.rule) for each in deep.found] == [(2, "excluded", "depth")]


@pytest.mark.parametrize(
    "href",
    ["javascript:x()", "mailto:a@b.test", "ftp://marsh.test/", "https://me:secret@marsh.test/", "http://", "data:,x",
     "https://marsh.test:99999/", "/" + "x" * 9_000, "about:blank"],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_no_link(href: str) -> None:
    assert sort(make_book(), [href]).count == 0


def test_hrefs_are_relative_to_the_base_and_scope_to_the_page() -> None:
    here = sort(make_book(), ["b", "/c"], base="https://cdn.test/deep/er/")
    assert [each.url for each in here.external] == ["https://cdn.test/deep/er/b", "https://cdn.test/c"]


def test_ten_thousand_links_are_kept_in_page_order_and_the_rest_counted() -> None:
    """FRO-11."""
    here = sort(make_book(), [f"/n/{n}" for n in range(10_250)])
    assert (here.count, here.beyond) == (10_000, 250)
    assert found(here)[-1] == "https://marsh.test/n/9999"


def test_the_cap_counts_links_not_hrefs() -> None:
    hrefs = [f"/n/{n // 2}#{n}" for n in range(20_000)]
    assert (sort(make_book(), hrefs).count, sort(make_book(), hrefs).beyond) == (10_000, 0)


SEGMENTS = st.sampled_from(
    ["a", "b.html", "..", ".", "", "x y", "%2e%2e", "é", "a:b", "https:", "http:", "?q=1", "#f", "\\", "\n", "c?d=/e/",
     "marsh.test", "~u", "-", "%zz", "A", "\t", ";p"]
)  # fmt: skip
HREFS = st.builds(lambda lead, parts: lead + "/".join(parts), st.sampled_from(["", "/", "//", "https://", "?", " "]),
                  st.lists(SEGMENTS, max_size=4))  # fmt: skip
PAGES = st.sampled_from(
    ["https://marsh.test/", "https://marsh.test/docs/a", "https://marsh.test/docs/b?x=/1/2", "http://marsh.test/docs/a"]
)


@given(HREFS, PAGES)
def test_the_short_cut_for_plain_hrefs_agrees_with_the_url_parser(href: str, page: str) -> None:
    address = resolve(href, seed_address(page))
    assert address is None or address == canonical(href, page)


@given(st.lists(st.tuples(PAGES, st.lists(HREFS, max_size=6)), max_size=6))
def test_the_book_changes_nothing_but_the_time(visits: list[tuple[str, list[str]]]) -> None:
    """A link remembered from one page must not be another page's link of the same spelling."""
    book = make_book()
    for page, hrefs in visits:
        assert sort(book, hrefs, page) == sort(make_book(), hrefs, page)


@pytest.mark.parametrize(
    ("href", "on_a", "on_b"),
    [
        ("x", "/docs/x", "/other/x"),
        ("?q=1", "/docs/a?q=1", "/docs/b?q=1"),
        ("https:?q=1", "/docs/a?q=1", "/docs/b?q=1"),
        (" ?q=1", "/docs/a?q=1", "/docs/b?q=1"),
    ],
)
def test_an_href_that_means_another_page_elsewhere_is_not_remembered(href: str, on_a: str, on_b: str) -> None:
    book, other = make_book(), "https://marsh.test/other/c" if href == "x" else "https://marsh.test/docs/b"
    assert found(sort(book, [href], "https://marsh.test/docs/a")) == [f"https://marsh.test{on_a}"]
    assert found(sort(book, [href], other)) == [f"https://marsh.test{on_b}"]


def test_the_book_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Design §5: memory is flat in the size of the frontier."""
    monkeypatch.setattr(links, "BOOK_ENTRIES_MAX", 10)
    book = make_book()
    for n in range(100):
        assert sort(book, ["/nav", f"/n/{n}"]).count == 2
    shelves = [*book._recent.values(), *book._older.values()]
    assert 0 < sum(map(len, shelves)) <= 10
    sort(book, ["/" + "x" * 400])
    assert not any(len(href) > 300 for shelf in book._recent.values() for href in shelf)
