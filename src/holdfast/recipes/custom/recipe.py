"""An author's recipe as the engine calls it: params checked, plan and steps run, their yields made into our values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeVar

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams, PlanFailed
from holdfast.model.job import ONE_PHASE, Phases
from holdfast.model.keys import canonical
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context, Fetch, Recipe, Target
from holdfast.recipe.blame import RAISED, RAISED_IN_A_THREAD, sentence
from holdfast.recipes.custom import rules
from holdfast.recipes.custom.step import found_of, work

T = TypeVar("T")

PEEKED = 100
_TYPES = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class CustomRecipe:
    """Fulfils `recipe.AnyRecipe` around what an author wrote."""

    seeks = False
    names_targets = True
    compares = False

    def __init__(self, recipe: Recipe, clock: Clock) -> None:
        self._recipe, self._clock = recipe, clock
        self.name = recipe.name
        if recipe.plan_function is None:
            raise BadParams(f"the recipe {recipe.name} has no plan", hint=f"@{recipe.name}.plan")
        if not recipe.steps:
            raise BadParams(f"the recipe {recipe.name} has no step", hint=f'@{recipe.name}.step("page")')
        self._plan_function = recipe.plan_function

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Declared params have the type of their default and must be known; without a declaration anything goes."""
        declared, kept, params = self._recipe.params, rules.checked(params), rules.authors(params)
        if declared is None:
            return params | kept
        for name in params:
            if name not in declared:
                near = get_close_matches(name, declared, n=1)
                guess = f"; did you mean {near[0]}?" if near else ""
                raise BadParams(f"{self.name} has no parameter {name!r}{guess}", hint=" ".join(declared))
        missing = [name for name, value in declared.items() if isinstance(value, type) and name not in params]
        if missing:
            raise BadParams(f"{self.name} needs {', '.join(missing)}", hint=f"--param {missing[0]}=...")
        return {name: _typed(name, params.get(name, value), value) for name, value in declared.items()} | kept

    def identity(self, params: dict[str, Any]) -> str:
        return f"{self.name}:{msgspec.json.encode(rules.authors(params), order='sorted').decode()}"

    def default_name(self, params: dict[str, Any]) -> str:
        """The recipe's name, with the host of the first URL among the params where there is one."""
        for value in params.values():
            address = canonical(value) if isinstance(value, str) else None
            if address is not None:
                host = re.sub(r"[^a-z0-9.-]+", "-", address.host).strip("-")
                return f"{self.name}-{host}"[:80]
        return self.name

    def chunking(self, params: dict[str, Any]) -> str:
        """By key where the plan's first targets are all of one host: several workers can then share it (FRO-12)."""
        addresses = [canonical(url) for url in self.first_urls(params)]
        hosts = {address.host for address in addresses if address is not None}
        return "key" if len(hosts) == 1 else "host"

    def chunks(self, params: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        """Where the plan begins, to be refused at once where it must not be fetched."""
        try:  # what it raises is said when it is planned: the job is there then, to be mended and resumed
            return tuple(islice(self._yielded(params, lambda item: item.url), PEEKED))
        except PlanFailed:
            return ()

    def planned_total(self, params: dict[str, Any]) -> int | None:
        if self._recipe.total_function is None:
            return None
        try:
            return int(self._recipe.total_function(rules.authors(params)))
        except RAISED as error:
            raise BadParams(f"{self.name} cannot say how many targets there will be: {sentence(error)}") from error

    def phases(self, params: dict[str, Any]) -> Phases:
        return ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        """With a depth limit, level by level: else what is reached by a long way first would be judged too deep."""
        return rules.max_depth(params) is not None

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """Asked on the ledger's thread."""

        def made(item: Target) -> Found:
            return found_of(self._recipe, context, item, base=None, depth=0)

        return self._yielded(context.params, made, RAISED_IN_A_THREAD)

    def _yielded(
        self, params: Mapping[str, Any], made: Callable[[Target], T], raised: tuple[type[BaseException], ...] = RAISED
    ) -> Iterator[T]:
        """What is made of the targets that the author's plan gives; whatever it raises or gives else is PlanFailed.

        Nothing is yielded inside the `try`: a consumer that stops raises GeneratorExit here, and that is no PlanFailed.
        """

        def checked(item: object) -> T:
            if not isinstance(item, Target):
                raise BadParams(f"a plan yields target(...), not {item!r:.100}")
            return made(item)

        given: Iterable[Target] = ()
        targets: Iterator[T] | None = None
        while True:
            try:
                if targets is None:
                    given = self._plan_function(rules.authors(dict(params)))
                    targets = map(checked, given)
                item = next(targets, None)
            except raised as error:
                raise PlanFailed(sentence(error, given)) from error
            if item is None:
                return
            yield item

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        return await work(self._recipe, here, fetch, context, self._clock)


def _typed(name: str, value: Any, declared: Any) -> Any:
    """A value as its declaration wants it; what was typed on a command line is text."""
    wanted = declared if isinstance(declared, type) else type(declared)
    if wanted not in _TYPES or type(value) is wanted:
        return value
    try:
        return _WORDS[value.lower()] if wanted is bool else wanted(value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadParams(f"the parameter {name} is {_TYPES[wanted]}, not {value!r}") from error
