"""Jobs that crawl a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadParams
from holdfast.model.keys import looks_like_url, seed_address
from holdfast.model.option import INPUT, Option
from holdfast.model.page import PAGE_FIELDS, page_object, wants_no_index
from holdfast.model.value_types import TEXTS
from holdfast.recipe.kind import Kind
from holdfast.recipes.site.notes import notes
from holdfast.recipes.site.options import OPTIONS, SCOPE
from holdfast.recipes.site.presets import PRESETS

if TYPE_CHECKING:
    from holdfast.clock import Clock
    from holdfast.recipe import AnyRecipe


def _recipe(clock: Clock) -> AnyRecipe:
    from holdfast.recipes.site.recipe import SiteRecipe

    return SiteRecipe(clock)


def _given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    if not inputs and not options.get("from_warc"):
        raise BadParams("a site needs a URL to begin with", hint="https://docs.example.dev")
    for word in inputs:
        if not looks_like_url(word):
            raise BadParams(f"{word!r} is not a URL", hint="https://docs.example.dev")
    return {**options, "seeds": list(inputs)}


def _home(params: Mapping[str, Any]) -> str | None:
    return seed_address(params["seeds"][0]).origin if params["seeds"] else None


KIND = Kind(
    name="site",
    recipe=_recipe,
    command="crawl",
    noun="page",
    inputs="seeds",
    input_keys=(Option("seeds", TEXTS, "the URLs to begin with", part=INPUT),),
    options=OPTIONS,
    presets=PRESETS,
    given=_given,
    scope=SCOPE,
    fixed=("from_warc",),
    follows_links=True,
    modes=("full", "new"),
    keeps_cookies=False,
    names_targets=False,
    home=_home,
    result=page_object,
    columns=PAGE_FIELDS,
    on_request={"noindex": wants_no_index},
    exported="page",
    has_reports=True,
    streams=("jsonl", "csv", "md"),
    notes=notes,
)
