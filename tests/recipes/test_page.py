"""A page as a recipe's step sees it: text, elements, links, JSON, and no tree made of what would burst it."""

from __future__ import annotations

import pytest

from holdfast.errors import BadParams, FetchError
from holdfast.model.exchange import Response
from holdfast.recipe import Page
from holdfast.recipe.weight import too_heavy
from holdfast.recipes.site.charset import decode

POND = """
<base href="/pond/"><h1> Common
 <b>frog</b></h1>
<a class="next" href="2#end">next</a><a class="next" href="2">again</a><a class="next">no link</a>
<a href="mailto:frog@pond.test">write</a><a href="https://marsh.test/">marsh</a><img src="frog.png">
<p class="post" data-id="7">croak</p><p class="post">splash</p>
"""


def make_page(body: str | bytes = POND, **headers: str) -> Page:
    content = body.encode() if isinstance(body, str) else body
    said = tuple({"content-type": "text/html; charset=utf-8", **headers}.items())
    return Page(Response(url="https://pond.test/a/b", status=200, headers=said, body=content), decode)


def test_the_text_of_the_first_match_has_single_spaces() -> None:
    assert make_page().text("h1") == "Common frog"
    assert make_page().text("h2") is None
    assert make_page().text("h2", "none") == "none"


def test_links_are_absolute_without_fragment_and_each_once() -> None:
    assert make_page().links("a.next") == ["https://pond.test/pond/2"]
    assert make_page().links() == ["https://pond.test/pond/2", "https://marsh.test/"]


def test_a_selector_finds_elements_with_text_attributes_and_urls() -> None:
    first, second = make_page().css("p.post")
    assert (first.text, first.attr("data-id"), second.attr("data-id")) == ("croak", "7", None)
    [image] = make_page().css("img")
    assert image.url == "https://pond.test/pond/frog.png"


def test_elements_can_be_searched_in_turn() -> None:
    page = make_page("<div class=row><span>a</span></div><div class=row><span>b</span></div>")
    assert [row.css("span")[0].text for row in page.css(".row")] == ["a", "b"]


def test_a_selector_that_is_none_says_so() -> None:
    with pytest.raises(BadParams, match="no CSS selector"):
        make_page().css("a[[")


def test_json_is_read_and_what_is_none_has_a_code() -> None:
    assert make_page('{"frogs": [1, 2]}').json() == {"frogs": [1, 2]}
    with pytest.raises(FetchError) as refused:
        make_page("<html>").json()
    assert refused.value.code == "answer_unreadable"


def test_text_is_decoded_as_the_header_says() -> None:
    page = make_page("<h1>gr\u00fcn</h1>".encode("latin-1"), **{"content-type": "text/html; charset=iso-8859-1"})
    assert page.text("h1") == "gr\u00fcn"


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 100_000,
        "".join(f"<b id={n}>" for n in range(3_000)) + "<p>" * 3_000,
        "<a " + " ".join(f"x{n}=1" for n in range(200_000)) + ">",
        "<p>" * 4_000_000,
    ],
    ids=["nested", "formatting", "attributes", "large"],
)
def test_html_that_would_burst_a_tree_is_not_parsed(hostile: str) -> None:
    with pytest.raises(FetchError) as refused:
        make_page(hostile).css("a")
    assert refused.value.code == "answer_unreadable"


def test_a_large_ordinary_page_is_parsed() -> None:
    row = '<tr><td><a class="x" href="/f?id=1&amp;q=2" title="a > b"><b>frog</b></a><td>text<br><img src=i></tr>\n'
    text = f"<table>{row * 20_000}</table>"
    assert too_heavy(text) == ""
    assert len(make_page(text).css("a.x")) == 20_000
