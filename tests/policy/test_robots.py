"""robots.txt as RFC 9309 reads it (DOC-27, ERR-05)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.robots import ALL_ALLOWED, ROBOTS_BYTES_MAX, read_robots


def barring(text: str, path: str) -> str:
    return read_robots(text.encode()).barring(path)


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /private/", "/private/frog", False),
        ("Disallow: /private/", "/privates", True),
        ("Disallow: /", "/frog", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow:", "/frog", True),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?z", True),
        ("Disallow: /a*/b", "/axx/yy/b/c", False),
        ("Disallow: /fish$", "/fish", False),
        ("Disallow: /fish$", "/fish/", True),
        ("Disallow: *", "/", False),
        ("Disallow: /a*\nAllow: /a/bc", "/a/bc", True),
        ("Disallow: /caf%C3%A9", "/café".encode().decode("utf-8"), False),
        ("Disallow: /café", "/caf%c3%a9/x", False),
        ("Disallow: /%7Efrog", "/~frog/", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("Disallow: /x?page=", "/x?page=2", False),
        ("disallow : /p # all of it", "/p", False),
        ("Disallow: frogs", "/frogs", True),
    ],
)
def test_the_longest_pattern_decides_and_of_two_equal_ones_the_one_that_allows(
    rules: str, path: str, allowed: bool
) -> None:
    assert (barring(f"User-agent: *\n{rules}\n", path) == "") is allowed


def test_the_rule_that_forbids_is_named() -> None:
    assert barring("User-agent: *\nDisallow: /p*\nDisallow: /pri", "/private") == "Disallow: /pri"


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: HoldFast\nDisallow: /a\n",
        "User-agent: holdfast/0.1 (+https://x)\nDisallow: /a\n",
        "User-agent: other\nUser-agent: holdfast\nDisallow: /a\n",
        "User-agent: holdfast\nDisallow: /b\n\nUser-agent: *\nAllow: /\n\nUser-agent: holdfast\nDisallow: /a\n",
        "User-agent: other\nSitemap: https://x.test/s.xml\nUser-agent: holdfast\nDisallow: /a\n",
        "\ufeffUser-agent: holdfast\rDisallow: /a\r",
    ],
)
def test_groups_that_name_our_product_are_one_group(text: str) -> None:
    assert barring(text, "/a") == "Disallow: /a"


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: holdfast\nAllow: /\n\nUser-agent: *\nDisallow: /\n",  # ours wins over everybody's
        "User-agent: holdfaster\nDisallow: /a\n",
        "Disallow: /a\n",  # of no group
        "User-agent: other\nDisallow: /a\nCrawl-delay: 9\n",
        "<html><body>User-agent is a header</body></html>",
        "",
    ],
)
def test_what_is_not_said_to_us_forbids_nothing(text: str) -> None:
    assert barring(text, "/a") == ""
    assert read_robots(text.encode()).crawl_delay_ms is None


@pytest.mark.parametrize(
    ("value", "expected_ms"),
    [("1", 1000), ("0.5", 500), ("600", 60_000), ("inf", 60_000), ("-1", None), ("nan", None), ("soon", None)],
)
def test_a_crawl_delay_is_kept_up_to_a_minute(value: str, expected_ms: int | None) -> None:
    """ERR-05"""
    robots = read_robots(f"User-agent: *\nCrawl-delay: {value}\n".encode())
    assert robots.crawl_delay_ms == expected_ms
    assert robots.barring("/frog") == ""


def test_only_the_first_500_kib_count_and_no_half_line() -> None:
    head = b"User-agent: *\nDisallow: /early\n"
    filler = b"# " + b"x" * (ROBOTS_BYTES_MAX - len(head) - 20) + b"\n"
    robots = read_robots(head + filler + b"Disallow: /late-and-cut\nDisallow: /later\n")
    assert robots.barring("/early") == "Disallow: /early"
    assert robots.barring("/la") == robots.barring("/later") == ""


@given(st.lists(st.tuples(st.booleans(), st.text("ab*$/", max_size=6)), max_size=6), st.text("ab/", max_size=10))
def test_matching_means_what_the_equal_regular_expressions_mean(rules: list[tuple[bool, str]], tail: str) -> None:
    text = "User-agent: *\n" + "".join(f"{'Allow' if ok else 'Disallow'}: /{rule}\n" for ok, rule in rules)
    path = "/" + tail
    matching = [(len(rule), ok) for ok, rule in rules if re.match(_as_regex("/" + rule), path)]
    assert (barring(text, path) == "") is max(matching, default=(0, True))[1]


def _as_regex(pattern: str) -> str:
    anchored = pattern.endswith("$")
    parts = map(re.escape, pattern.removesuffix("$").split("*"))
    return ".*".join(parts) + (r"\Z" if anchored else "")


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(body: bytes) -> None:
    assert read_robots(body).barring("/robots.txt") == ""


def test_a_hostile_file_is_read_and_asked_in_time_that_grows_with_its_size() -> None:
    """H11: a million steps would be seen here as minutes."""
    many = b"User-agent: *\n" + b"".join(b"Disallow: /*a*a*a*%d\n" % n for n in range(20_000))
    robots = read_robots(many)
    assert robots.barring("/" + "a" * 2_000) == ""
    assert robots.weight > 10_000 > ALL_ALLOWED.weight
