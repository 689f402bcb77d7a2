"""Globs and regular expressions that people write about addresses."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadParams
from holdfast.policy.patterns import glob_matches, read_pattern


@pytest.mark.parametrize(
    ("glob", "text", "fits"),
    [
        ("/guide/*", "/guide/frogs/7", True),
        ("/guide/*", "/guides", False),
        ("*.pdf", "/a/b.pdf", True),
        ("*", "", True),
        ("/a", "/a", True),
        ("/a", "/ab", False),
        ("/a*a", "/a", False),
        ("*/v1/*/index", "/docs/v1/frog/index", True),
        ("/x?page=*", "/x?page=2", True),
        ("/[ab]", "/a", False),
    ],
)
def test_only_the_star_is_special_and_it_crosses_slashes(glob: str, text: str, fits: bool) -> None:
    assert glob_matches(glob, text) is fits


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_a_glob_means_what_the_equal_regular_expression_means(glob: str, text: str) -> None:
    equal = re.compile(".*".join(map(re.escape, glob.split("*"))))
    assert glob_matches(glob, text) == bool(equal.fullmatch(text))


def test_a_glob_is_tried_on_the_path_with_and_without_its_query() -> None:
    pattern = read_pattern("*.pdf")
    assert pattern.matches("/tide.pdf?download=1")
    assert read_pattern("/news?page=*").matches("/news?page=2")


def test_a_glob_that_can_match_no_path_is_refused_with_the_likely_meaning() -> None:
    with pytest.raises(BadParams) as refused:
        read_pattern("private/*")
    assert refused.value.hint == "/private/* or *private/*"


def test_a_regular_expression_is_searched_in_path_and_query() -> None:
    assert read_pattern(r"re:[?&]page=\d+$").matches("/news?page=12")
    assert not read_pattern(r"re:^/guide/").matches("/old/guide/")


@pytest.mark.parametrize("text", ["re:(", "re:*a", "re:[", r"re:(?P<x>a)(?P<x>b)", "re:a{99999999999999}"])
def test_a_broken_regular_expression_is_refused(text: str) -> None:
    with pytest.raises(BadParams):
        read_pattern(text)


@pytest.mark.parametrize("text", ["re:" + "(" * 450 + ")" * 450, "re:a{" + "9" * 5_000 + "}"], ids=["deep", "often"])
def test_an_expression_beyond_what_python_can_look_into_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="no regular expression"):
        read_pattern(text)


def test_what_an_expression_may_mean_one_day_is_no_concern_of_its_reader() -> None:
    """Python warns of `[[`, in a line on the screen of whoever typed it."""
    assert read_pattern("re:[[ab]$").matches("/[")


@pytest.mark.parametrize("text", ["re:(a+)+$", "re:(a|aa)*$", r"re:(a*)\1", "re:((ab)?)+x", "re:(?:[^/]+/)*index$"])
def test_a_pattern_that_a_hostile_url_could_hang_is_refused(text: str) -> None:
    """H11: a repeat or a choice inside a repeat takes exponential time on the wrong text."""
    with pytest.raises(BadParams, match="for ever"):
        read_pattern(text)


@pytest.mark.parametrize(
    "text", ["re:^/(?:[^/]++/)*index$", r"re:^/\d{4}/", "re:(?:/en|/fr)?/guide", r"re:(\d{4}-){2}"]
)
def test_ordinary_patterns_are_let_through(text: str) -> None:
    assert str(read_pattern(text)) == text
