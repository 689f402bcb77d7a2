"""URLs that no end comes of (H10, FRO-11)."""

from __future__ import annotations

import pytest

from costs import cpu_s
from holdfast.model.keys import seed_address
from holdfast.policy.traps import URL_MAX, trap

LONG = "https://marsh.test/" + "x" * (URL_MAX - len("https://marsh.test/"))


@pytest.mark.parametrize(
    "path",
    ["/a/a/a/a", "/a/a/a/a/", "/docs/a/a/a/a?page=2", "/x/a/b/a/b/a/b/a/b/y", "/1/2/3/4" * 4, "/a/a/a/a/b", "/a" * 500],
)
def test_a_path_that_repeats_itself_more_than_three_times_is_one(path: str) -> None:
    assert trap(seed_address("https://marsh.test" + path)) == "repeated_path"


@pytest.mark.parametrize(
    "path",
    [
        "/", "/a/a/a", "/a/a/a/ab", "/ba/a/a/a", "/a/b/a/b/a/b/a", "/2026/01/01/01", "/a/x/a/x/a/y/a/y", "/a/b/c/d/e/f",
        "/go?to=/a/a/a/a/a", "////", "/1/2/3/4/5" * 4,
    ],
)  # fmt: skip
def test_a_path_that_an_honest_site_has_is_none(path: str) -> None:
    assert trap(seed_address("https://marsh.test" + path)) == ""


def test_an_address_that_grows_is_one() -> None:
    assert trap(seed_address(LONG)) == ""
    assert trap(seed_address(LONG + "x")) == "url_length"


def test_the_longest_path_is_judged_at_once() -> None:
    """H11: a pattern over hostile input takes no time that grows faster than its length."""
    shapes = ("/a/b/c/d/e", "/ab", "/" + "x" * 300, "//", "/a/a/a/b")
    hostile = [seed_address("https://marsh.test" + (shape * URL_MAX)[: URL_MAX - 20]) for shape in shapes]
    assert cpu_s(lambda: [trap(address) for address in hostile], 0.5) < 0.5
