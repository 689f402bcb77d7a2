"""Globs and regular expressions that people write about addresses."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadParams
from holdfast.model.edit import Exclusion
from holdfast.model.keys import URL_LENGTH_MAX
from holdfast.policy.exclusion import ExclusionRules
from holdfast.policy.patterns import PATH_USUAL, glob_matches, of_use, read_pattern, untried


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


DEEP = "(" * 450 + ")" * 450


@pytest.mark.parametrize("text", [f"re:(?!x){DEEP}", "re:a{" + "9" * 5_000 + "}"], ids=["deep", "often"])
def test_an_expression_beyond_what_python_can_look_into_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="not a regular expression"):
        read_pattern(text)


@pytest.mark.parametrize("text", ["re:^/(?!a)" + "a?" * 4_000, "re:^/([^/]++/)*" + ":" * 10_000])
def test_an_expression_of_any_length_is_read_in_bounded_time_sec_07(text: str) -> None:
    assert read_pattern(text).path_max < PATH_USUAL
    assert min(seconds_to_read(text) for _ in range(3)) < 0.5  # one of them may have met a collection of garbage


def seconds_to_read(text: str) -> float:
    began = time.process_time()
    read_pattern(text)
    return time.process_time() - began


def test_an_expression_that_is_too_long_to_be_read_at_once_is_refused_sec_07() -> None:
    with pytest.raises(BadParams, match="60,003 characters; at most 20,000 are read"):
        read_pattern("re:^/+" + ":" * 60_000)


def test_what_an_expression_may_mean_one_day_is_no_concern_of_its_reader() -> None:
    """Python warns of `[[`, in a line on the screen of whoever typed it."""
    assert read_pattern("re:[[ab]$").matches("/[")
    assert not read_pattern("re:^/[[:alpha:]]$").matches("/x")
    assert read_pattern("re:^/[[:alpha:]]$").matches("/:]")


HOSTILE = ["/" + "a/" * 389 + "b", "/" + "a" * 2_000, "/" + "a/b" * 690, "/" + "?a=1&" * 400]
SLOW = [
    r"re:/.*/.*/.*/.*\.pdf$",
    "re:(a+)+$",
    "re:(a|aa)*$",
    "re:((ab)?)+x",
    "re:(?:[^/]+/)*index$",
    "re:" + "a*" * 20 + "$",
    "re:" + ".{0,100}" * 8 + "!",
    "*/" * 40 + "x",
    "/*" + "a*" * 100 + "b",
]


@pytest.mark.parametrize("text", SLOW)
def test_no_url_makes_a_pattern_slow_sec_07(text: str) -> None:
    """SEC-07: by backtracking, the first of these took half a minute for one link of 780 characters."""
    pattern = of_use(read_pattern(text))
    began = time.process_time()
    for path in HOSTILE:
        assert not pattern.matches(path + "#") or text in ("re:(a+)+$", "re:(a|aa)*$", "re:" + "a*" * 20 + "$")
    assert time.process_time() - began < 0.5


LOOKING = [r"re:^/(?!private/)", r"re:^(?!.*private).*$", r"re:(?<!-draft)\.html$", "re:^/(?:[^/]++/)*index$"]
SHORT_ALONE = [r"re:(?!x)/.*/.*/.*/.*\.pdf$", "re:(?=.*.*!)y", "re:(?!x)" + "a*" * 12 + "$", "re:(?:[^/]++/)*index$"]


@pytest.mark.parametrize("text", LOOKING + SHORT_ALONE)
def test_what_re2_cannot_read_is_tried_on_paths_it_takes_bounded_time_for_sec_07(text: str) -> None:
    """SEC-07: a path beyond that is not tried: it fits no exclusion, and it is told."""
    pattern = read_pattern(text)
    within = [path[: pattern.path_max] for path in HOSTILE]
    began = time.process_time()
    for path in within:
        pattern.matches(path)
    assert time.process_time() - began < 0.5
    assert not pattern.matches("/" + "x" * pattern.path_max)
    assert pattern.leaves_untried("/" + "x" * pattern.path_max)
    assert ("is not tried on" in untried(pattern)) is (pattern.path_max < URL_LENGTH_MAX)


def test_a_standing_exclusion_leaves_out_no_path_that_it_was_not_tried_on() -> None:
    exclusion = Exclusion(n=1, pattern="(?=.*.*!)y", syntax="regex", generation=None, actor="ann", at=0)
    rules = ExclusionRules([exclusion])
    assert rules.rule_for("/!y" + "x" * 2_000) is None
    assert rules.rule_for("/y!") == "exclusion 1"


@pytest.mark.parametrize("text", SHORT_ALONE)
def test_a_pattern_for_short_paths_alone_is_refused_to_a_new_job_and_still_read_for_an_old_one(text: str) -> None:
    assert read_pattern(text).path_max < PATH_USUAL
    with pytest.raises(BadParams, match="for ever on a URL of more than") as refused:
        of_use(read_pattern(text))
    assert "(?!" in (refused.value.hint or "")


@pytest.mark.parametrize("text", [r"re:(a*)\1", "re:(?!x)(a+)+$", "re:(?=(?:a|aa)*$)x"])
def test_a_pattern_that_a_hostile_url_could_hang_is_refused(text: str) -> None:
    """H11: a repeat or a choice inside a repeat takes exponential time where RE2 cannot read the rest."""
    with pytest.raises(BadParams, match="for ever"):
        read_pattern(text)


@pytest.mark.parametrize(
    "text",
    ["re:^/(?:[^/]++/)*index$", r"re:^/\d{4}/", "re:(?:/en|/fr)?/guide", r"re:(\d{4}-){2}", f"re:{DEEP}", *LOOKING],
)
def test_ordinary_patterns_are_let_through(text: str) -> None:
    assert str(of_use(read_pattern(text))) == text


ATOMS = st.sampled_from([*"ab/.^$", "a*", "b+", ".?", "[^/]", "[ab]", r"\b", r"\w", "a{,2}", "b{1,2}", "(?i)A"])


@given(st.lists(ATOMS, max_size=6), st.text("abA/.:[", max_size=8))
def test_an_expression_means_what_python_says_whichever_engine_searches(atoms: list[str], path: str) -> None:
    source = "".join(sorted(atoms, key=lambda atom: atom != "(?i)A"))
    try:
        meant = bool(re.search(source, path))
    except re.error:
        return
    assert bool(read_pattern("re:" + source).matches(path)) is meant
