"""Which links belong to a site, and which of those are left out."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import BadParams
from holdfast.model.keys import seed_address
from holdfast.policy.scope import Ruling, Scope, judge_of


def make_scope(**params: Any) -> Scope:
    plain = {"seeds": ["https://marsh.test/"], "scope": "host", "include": [], "exclude": [], "max_depth": None}
    return Scope.of(plain | params)


def judge(scope: Scope, url: str, *, page_host: str = "marsh.test", depth: int = 1) -> Ruling:
    return scope.judge(seed_address(url), page_host=page_host, depth=depth)


@pytest.mark.parametrize(
    ("kind", "url", "ruling"),
    [
        ("host", "https://marsh.test/frog/7", "in"),
        ("host", "http://marsh.test/frog/7", "in"),
        ("host", "https://marsh.test:8443/", "external"),
        ("host", "https://pond.marsh.test/", "external"),
        ("host", "https://notmarsh.test/", "external"),
        ("domain", "https://pond.marsh.test/", "in"),
        ("domain", "https://marsh.test/", "in"),
        ("domain", "https://notmarsh.test/", "external"),
        ("any", "https://elsewhere.test/", "in"),
    ],
)
def test_a_link_belongs_to_the_site_by_its_host(kind: str, url: str, ruling: str) -> None:
    assert judge(make_scope(scope=kind), url).kind == ruling


def test_scope_follows_the_host_that_a_seed_was_redirected_to() -> None:
    """FRO-09: the page stands on the new host, so its neighbours there belong to the site."""
    scope = make_scope()
    assert judge(scope, "https://www.marsh.test/a", page_host="www.marsh.test").kind == "in"
    assert judge(scope, "https://www.marsh.test/a", page_host="marsh.test").kind == "external"


def test_a_domain_is_the_seeds_host_without_its_www() -> None:
    scope = make_scope(seeds=["https://www.marsh.test/"], scope="domain")
    assert judge(scope, "https://pond.marsh.test/", page_host="www.marsh.test").kind == "in"


def test_a_prefix_is_the_directory_of_a_seed() -> None:
    scope = make_scope(seeds=["https://marsh.test/docs/start.html?x=/1"], scope="prefix")
    assert judge(scope, "https://marsh.test/docs/frog").kind == "in"
    assert judge(scope, "https://marsh.test/docs2/frog").kind == "external"
    assert judge(scope, "https://other.test/docs/frog").kind == "external"


def test_a_trap_is_beyond_a_cap_whatever_the_patterns_say_and_no_changed_scope_reopens_it() -> None:
    """FRO-11."""
    scope = make_scope(exclude=["/a/*"])
    assert judge(scope, "https://marsh.test/a/a/a/a") == Ruling("limit", "repeated_path")
    assert judge(scope, "https://elsewhere.test/a/a/a/a").kind == "external"
    params = {"seeds": ["https://marsh.test/"], "scope": "host", "include": [], "exclude": [], "max_depth": None}
    assert judge_of(params)("https://marsh.test/a/a/a/a", 1, "https://marsh.test/") == ""


def test_exclude_wins_over_include() -> None:
    scope = make_scope(include=["/docs/*"], exclude=["*/draft/*"])
    assert judge(scope, "https://marsh.test/docs/frog") == Ruling("in")
    assert judge(scope, "https://marsh.test/docs/draft/frog") == Ruling("excluded", "exclude")
    assert judge(scope, "https://marsh.test/blog") == Ruling("excluded", "include")


def test_a_path_too_long_for_a_pattern_is_fetched_unless_another_leaves_it_out_sec_07() -> None:
    """SEC-07: a page too many is better than one that is lost."""
    short, long = "https://marsh.test/x", "https://marsh.test/" + "x" * 2_000
    for patterns in ({"exclude": ["re:(?=.*.*!)y"]}, {"include": ["re:(?=.*.*!)y", "/y*"]}):
        scope = make_scope(**patterns)
        assert judge(scope, long) == Ruling("in")
        assert judge(scope, short).rule in ("", "include")
    assert judge(make_scope(exclude=["re:(?=.*.*!)y", "/x*"]), long) == Ruling("excluded", "exclude")


def test_a_pattern_of_no_use_is_refused_to_a_job_that_is_asked_for() -> None:
    with pytest.raises(BadParams, match="for ever"):
        make_scope(exclude=["re:(?=.*.*!)y"]).checked()
    assert make_scope(exclude=["re:^/(?!en/)"]).checked()


def test_what_is_too_deep_is_excluded_by_the_rule_depth() -> None:
    """FRO-08, ux 3.2: links beyond `--max-depth` are `excluded`, rule `depth`; seeds are depth 0."""
    scope = make_scope(max_depth=2)
    assert judge(scope, "https://marsh.test/a", depth=2).kind == "in"
    assert judge(scope, "https://marsh.test/a", depth=3) == Ruling("excluded", "depth")
    assert judge(make_scope(max_depth=0), "https://marsh.test/a") == Ruling("excluded", "depth")


def test_what_belongs_elsewhere_is_external_whatever_the_patterns_say() -> None:
    assert judge(make_scope(include=["/x"], max_depth=0), "https://elsewhere.test/y").kind == "external"


def test_an_unknown_scope_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(BadParams, match="host, domain, prefix, any"):
        make_scope(scope="galaxy")
