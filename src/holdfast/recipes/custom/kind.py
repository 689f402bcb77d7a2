"""Jobs of a recipe of somebody's own, started by `run`."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.option import SHORTHAND, Option
from holdfast.model.value_types import PARAMS
from holdfast.recipe.kind import Kind
from holdfast.recipes.custom import rules
from holdfast.recipes.link_options import EXCLUDE, INCLUDE, MAX_DEPTH

HEADING = "what is left out of what the steps find (what the plan gives is asked for)"


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip() or name.startswith("_"):
        raise ValueError(f"{text!r} must be NAME=VALUE")
    return name.strip(), value


KIND = Kind(
    name="",  # each has the name of its recipe
    options=(
        Option(
            "params", PARAMS, "parameters of a recipe of one's own", "--param", part=SHORTHAND, metavar="K=V",
            typed=_pair, help="repeatable; a parameter of the recipe",
        ),
        replace(INCLUDE, heading=HEADING, python=""),
        replace(EXCLUDE, heading=HEADING, python=""),
        replace(MAX_DEPTH, heading=HEADING, python="", help="targets beyond; what is planned is 0"),
    ),
    scope=(rules.KEY,),
    scope_of=rules.all_of,
    whole=lambda params: {**params, rules.KEY: params.get(rules.KEY, {})},
)  # fmt: skip
