"""The site recipe's params, identity, name, chunks and plan."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import BadParams
from holdfast.model.job import check_name
from holdfast.recipe import AnyRecipe, Context
from holdfast.recipes.site.recipe import SITES_KEPT, SiteRecipe

RECIPE = SiteRecipe(ManualClock())


def check(*seeds: str, **params: Any) -> dict[str, Any]:
    return RECIPE.check({"seeds": list(seeds)} | params)


def test_it_is_a_recipe() -> None:
    recipe: AnyRecipe = RECIPE
    assert (recipe.name, recipe.phases({}).names) == ("site", ("crawling",))


def test_params_come_out_canonical_with_defaults_and_stay_so() -> None:
    checked = check("Docs.X.dev", "https://docs.x.dev/#top", "http://docs.x.dev/a/../b")
    assert checked == {
        "seeds": ["https://docs.x.dev/", "http://docs.x.dev/b"],
        "scope": "host",
        "include": [],
        "exclude": [],
        "max_depth": None,
        "sitemap": "off",
    }
    assert RECIPE.check(checked) == checked


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"seeds": []},
        {"seeds": "https://marsh.test"},
        {"seeds": [7]},
        {"seeds": ["ftp://marsh.test"]},
        {"seeds": ["https://u:p@marsh.test"]},
        {"seeds": ["marsh.test"], "scope": "galaxy"},
        {"seeds": ["marsh.test"], "max_depth": -1},
        {"seeds": ["marsh.test"], "max_depth": True},
        {"seeds": ["marsh.test"], "max_depth": "2"},
        {"seeds": ["marsh.test"], "include": "/x"},
        {"seeds": ["marsh.test"], "exclude": ["re:("]},
    ],
)
def test_what_cannot_be_used_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadParams):
        RECIPE.check(params)


def test_an_unknown_parameter_is_refused_with_a_guess() -> None:
    with pytest.raises(BadParams, match="did you mean max_depth"):
        check("marsh.test", max_dept=2)


def test_the_order_of_seeds_makes_no_other_job() -> None:
    assert RECIPE.identity(check("b.test", "a.test")) == RECIPE.identity(check("https://a.test/", "https://b.test/"))
    assert RECIPE.identity(check("a.test")) == "site:https://a.test/"
    assert RECIPE.identity(check("a.test")) != RECIPE.identity(check("a.test/docs"))


@pytest.mark.parametrize(
    ("seed", "name"),
    [
        ("https://docs.x.dev/guide", "docs.x.dev"),
        ("http://127.0.0.1:8123/", "127.0.0.1-8123"),
        ("http://[::1]:8123/", "1-8123"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
    ],
)
def test_a_job_is_named_after_the_host_of_its_first_seed(seed: str, name: str) -> None:
    assert RECIPE.default_name(check(seed, "https://other.test")) == name


@pytest.mark.parametrize(
    ("host", "name"), [("[::]", "site"), ("..", "site"), ("_", "site"), (".frog", "frog"), ("a" * 300, "a" * 80)]
)
def test_a_host_that_gives_no_name_gives_none_that_nobody_can_type(host: str, name: str) -> None:
    assert check_name(RECIPE.default_name(check(f"http://{host}/"))) == name


@pytest.mark.parametrize(
    ("seeds", "scope", "chunking"),
    [
        (["a.test", "a.test/b"], "host", "key"),
        (["a.test"], "prefix", "key"),
        (["a.test"], "domain", "host"),
        (["a.test"], "any", "host"),
        (["a.test", "b.test"], "host", "host"),
    ],
)
def test_a_job_of_one_host_is_cut_by_key(seeds: list[str], scope: str, chunking: str) -> None:
    """FRO-12."""
    assert RECIPE.chunking(check(*seeds, scope=scope)) == chunking


def test_the_plan_is_the_seeds_in_order_at_depth_zero_every_time() -> None:
    """TGT-08: a resumed planner counts what was yielded."""
    context = Context(params=check("b.test", "a.test/x", "c.test"), salt=b"s" * 16, chunking="host")
    plan = list(RECIPE.plan(context))
    assert [each.origin + each.path for each in plan] == ["https://b.test/", "https://a.test/x", "https://c.test/"]
    assert {(each.depth, each.hops, each.disposition) for each in plan} == {(0, 0, "")}
    assert plan == list(RECIPE.plan(context))


def test_jobs_in_hand_are_told_apart_and_their_number_is_bounded() -> None:
    recipe = SiteRecipe(ManualClock())
    contexts = [Context(params=check(f"h{n}.test"), salt=b"s" * 16, chunking="key") for n in range(3 * SITES_KEPT)]
    for context in contexts:
        site = recipe._site(context)
        assert recipe._site(context) is site
        assert site.scope.hosts == {context.params["seeds"][0].removeprefix("https://").rstrip("/")}
    assert len(recipe._sites) <= SITES_KEPT
