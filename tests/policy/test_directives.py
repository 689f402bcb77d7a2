"""What a page asks of crawlers in its robots tags and X-Robots-Tag headers."""

from __future__ import annotations

import pytest

from holdfast.policy.directives import Directives, read_directives


@pytest.mark.parametrize(
    ("words", "nofollow", "noindex"),
    [
        ("", False, False),
        ("index, follow", False, False),
        ("nofollow", True, False),
        ("NoIndex,NOFOLLOW", True, True),
        ("none", True, True),
        ("noarchive noindex", False, True),
        ("nofollowing", False, False),
        ("max-snippet:-1, nofollow", True, False),
    ],
)
def test_tags_and_headers_say_the_same(words: str, nofollow: bool, noindex: bool) -> None:
    asked = Directives(nofollow, noindex)
    assert read_directives((words,), ()) == asked
    assert read_directives((), (words,)) == asked


@pytest.mark.parametrize(
    ("header", "nofollow"),
    [
        ("googlebot: nofollow", False),
        ("googlebot: noindex, nofollow", False),
        ("Holdfast: nofollow", True),
        ("otherbot: noindex, holdfast: nofollow", True),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", True),
    ],
)
def test_what_stands_behind_a_crawlers_name_is_meant_for_that_one(header: str, nofollow: bool) -> None:
    assert read_directives((), (header,)).nofollow == nofollow


def test_of_several_the_strictest_counts() -> None:
    assert read_directives(("all", "noindex"), ("follow", "nofollow")) == Directives(True, True)
