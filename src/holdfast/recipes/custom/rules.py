"""Rules that a person gives a recipe from outside: which of the targets that its steps find are left out, and why.

They are kept among the job's params under a name that no author's parameter can have. What a plan gives is asked for,
so no rule applies to it; a plan alone knows where to begin.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from holdfast.model.keys import canonical
from holdfast.model.target import Found
from holdfast.policy.scope import NO_RULES, RULES, Scope, by_rules

KEY = RULES
BY_RULE = "excluded"


def checked(params: dict[str, Any]) -> dict[str, Any]:
    """The rules of these params, to be kept with them; nothing where there are none. BadParams names a bad pattern."""
    rules = {name: value for name, value in params.get(KEY, {}).items() if value not in (None, [], ())}
    if not rules:
        return {}
    _scope(msgspec.json.encode(rules)).checked()
    return {KEY: rules}


def authors(params: dict[str, Any]) -> dict[str, Any]:
    """The params that are the author's."""
    return {name: value for name, value in params.items() if name != KEY}


def all_of(params: dict[str, Any]) -> dict[str, Any]:
    """Every rule by its name, those that say nothing too."""
    return {**NO_RULES, **params.get(KEY, {})}


def max_depth(params: dict[str, Any]) -> int | None:
    depth: int | None = params.get(KEY, {}).get("max_depth")
    return depth


def judged(found: Found, params: dict[str, Any]) -> Found:
    """The target, left out where a rule says so."""
    rules = params.get(KEY)
    address = canonical(found.origin + found.path) if rules else None
    if address is None:
        return found
    ruling = _scope(msgspec.json.encode(rules)).judge(address, page_host=found.host, depth=found.depth)
    if ruling.kind != BY_RULE:
        return found  # caps are for links that nobody chose; a step chooses
    return msgspec.structs.replace(found, disposition=BY_RULE, rule=ruling.rule)


@lru_cache(16)
def _scope(rules: bytes) -> Scope:
    return by_rules(msgspec.json.decode(rules))
