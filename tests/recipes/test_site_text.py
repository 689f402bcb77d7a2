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
    ],
)
def test_what_a_reader_would_see(page: str, text: str) -> None:
    assert visible_text(page.encode(), HTML) == text


def test_plain_text_is_its_own_text_and_a_picture_has_none() -> None:
    assert visible_text("Frösche\n".encode("latin-1"), "text/plain; charset=latin-1") == "Frösche\n"
    assert visible_text(b"\x89PNG", "image/png") is None


@pytest.mark.parametrize("bait", ["<", "<a ", "<a b='", "<!--", "<script>", '<a ="', "</", "&", "<b>"])
def test_time_grows_with_the_length_and_not_with_its_square(bait: str) -> None:
    def seconds(times: int) -> float:
        began = now_ns()
        visible_text((bait * times).encode(), HTML)
        return (now_ns() - began) / 1e9

    seconds(1000)
    assert seconds(200_000) < 4
