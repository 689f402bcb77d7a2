"""The visible text of a page, also of one that was made to be hard to read."""

from __future__ import annotations

import pytest

from holdfast.clock import now_ns
from holdfast.recipes.site.text import visible_text

HTML = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h1>Frogs</h1><p>Two <b>green</b> ones</p>", "Frogs\nTwo green ones"),
        ("<title>no</title><style>p{}</style><script>if (a < b) x()</script>yes<template>no</template>", "yes"),
        ("a<br>b<!-- c <p> -->d", "a\nbd"),
        ("1 < 2 &amp; 3 &gt; 2", "1 < 2 & 3 > 2"),
        ('<p title="a > b">pond</p>', "pond"),
        ("<p title=it's>pond</p>", "pond"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("one\n  two\t three", "one two three"),
        ("<p>cut off <b", "cut off"),
        ("<SCRIPT>no</ScRiPt >yes", "yes"),
        ("<script>never closed", ""),
        ("x<!-- never closed", "x"),
        ("a<svg/>b", "a\nb"),
        ('a<svg width="1" />b<svg><text>no</text></svg>c', "a\nb\nc"),
        ("a<svg class=x/>no</svg>b", "a\nb"),
        ("a<!-- x --!>b", "ab"),
        ("a<!-->b<!--->c<!---->d", "abcd"),
        ("a<!-- x --!-->b", "ab"),
        ("<title/>no</title>yes", "yes"),
        ("<pre>def frog():\n    return 1\n</pre>", "def frog():\n    return 1"),
        ("<p>so\n so:</p><pre>\n  a  b\n\n\tc &lt; d</pre>done", "so so:\n  a  b\n\n\tc < d\ndone"),
        ("<pre><code><span>a</span> =\n  <b>b</b></code></pre>", "a =\n  b"),
        ("<pre>a<br>b<div>c</div>\nd</pre>", "a\nb\nc\n\nd"),
        ("<pre>a\r\n  b\rc&nbsp;d  \n\n</pre>", "a\n  b\nc d"),
        ("<pre>a<pre> b</pre>  c</pre>\n d  e", "a\n b\n  c\nd e"),
        ("<pre>never\n  closed", "never\n  closed"),
        ("</pre>a\n b", "a b"),
        ("<xmp> <b>\n  &amp;</xmp>c", " <b>\n  &amp;\nc"),
        ("<listing>a\n b</listing>", "a\n b"),
        ("<pre> \n </pre>x<textarea>no</textarea>", "x"),
    ],
)
def test_what_a_reader_would_see(page: str, text: str) -> None:
    assert visible_text(page.encode(), HTML) == text


def test_xml_that_is_a_page_is_read_as_one() -> None:
    body = b"<html xmlns='http://www.w3.org/1999/xhtml'><script src='x'/><p>Frogs</p></html>"
    assert visible_text(body, "application/xml") == "Frogs"


def test_plain_text_is_its_own_text_and_a_picture_has_none() -> None:
    assert visible_text("Frösche\n".encode("latin-1"), "text/plain; charset=latin-1") == "Frösche\n"
    assert visible_text(b"\x89PNG", "image/png") is None


@pytest.mark.parametrize(
    "bait",
    [
        "<",
        "<a ",
        "<a b='",
        "<!--",
        "<script>",
        '<a ="',
        "</",
        "&",
        "<b>",
        "<pre>",
        "</pre>",
        "<pre> ",
        "<xmp>",
        "<svg/>",
        "<svg =",
        "<!--x--!>",
        "\r\n",
    ],
)
def test_time_grows_with_the_length_and_not_with_its_square(bait: str) -> None:
    def seconds(times: int) -> float:
        began = now_ns()
        visible_text((bait * times).encode(), HTML)
        return (now_ns() - began) / 1e9

    seconds(1000)
    assert seconds(200_000) < 4
