"""How recipes are written: a name, a plan, and one step per type of target. It only keeps what the author said.

forum = Recipe("forum")

@forum.plan
def plan(params): yield target(params["start"], type="board")

@forum.step("board")
async def board(here, fetch): ...
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

import msgspec

from holdfast.errors import BadParams
from holdfast.model.artifact import FILE_BYTES_MAX, FetchedFile
from holdfast.model.browsing import BrowserPage
from holdfast.recipe.page import Page
from holdfast.recipe.yields import Target, Yield, is_text

NAME_LENGTH_MAX = 40
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
Params = dict[str, Any]


class Here(msgspec.Struct, frozen=True, kw_only=True):
    """The target that a step works; `key` is its natural key and empty without one, `attempt` counts from 1."""

    url: str
    type: str
    key: str = ""
    depth: int = 0
    attempt: int = 1
    params: Params = {}


class PageFetch(Protocol):
    """The network as a step is handed it: robots.txt, delay, limits and address checks are inside."""

    async def __call__(
        self,
        url: str,
        *,
        accept: Iterable[int] = (),
        method: str = "",
        data: Mapping[str, str] | bytes | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """The page at a URL, which may be relative to the target's; redirects are followed.

        `data` posts a form (a dict) or bytes, `json` posts a value as JSON; `method` says otherwise. Anything but 2xx
        ends the attempt with its failure code, unless its status is in `accept`.
        """

    async def file(
        self,
        url: str,
        *,
        into: str = "",
        max_bytes: int = FILE_BYTES_MAX,
        total_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> FetchedFile:
        """The body of an answer in a file, however large: `yield file(...)` keeps it. A try that was cut off is
        continued by the next one; `into` names the file where its URL changes from one try to the next."""

    def page(self) -> AbstractAsyncContextManager[BrowserPage]:
        """A page in a browser, worked by hand: `async with fetch.page() as page`, then `await page.goto(url)`, `fill`,
        `click`, `wait_for`, `content`."""


PlanFunction = Callable[[Params], Iterable[Target]]
StepFunction = Callable[[Here, PageFetch], AsyncIterator[Yield]]
P = TypeVar("P", bound=PlanFunction)
S = TypeVar("S", bound=StepFunction)
T = TypeVar("T", bound=Callable[[Params], int])


class Recipe:
    """Code that knows one kind of source. `params` may declare its parameters: a default value each, or a type."""

    def __init__(self, name: str, *, params: Mapping[str, Any] | None = None) -> None:
        if not is_text(name, NAME_LENGTH_MAX) or _NAME.fullmatch(name) is None:
            raise BadParams(f"{name!r} cannot be a recipe's name: small letters, digits, - and _, at most 40")
        self.name = name
        self.params = None if params is None else dict(params)
        self.plan_function: PlanFunction | None = None
        self.total_function: Callable[[Params], int] | None = None
        self.steps: dict[str, StepFunction] = {}

    def plan(self, function: P) -> P:
        """Decorator: the targets to begin with, from the params; always the same in the same order."""
        if self.plan_function is not None:
            raise BadParams(f"the recipe {self.name} has two plans; it can have one")
        self.plan_function = function
        return function

    def total(self, function: T) -> T:
        """Decorator: how many targets there will be in all, where that is known; it gives a percentage."""
        self.total_function = function
        return function

    def step(self, type: str = "") -> Callable[[S], S]:
        """Decorator: how a target of this type is worked. The function is `async def` and yields."""
        if not is_text(type, NAME_LENGTH_MAX) or not type:
            raise BadParams(f'a step of {self.name} needs the type of its targets: @{self.name}.step("page")')
        if type in self.steps:
            raise BadParams(f"the recipe {self.name} has two steps for {type!r}")

        def keep(function: S) -> S:
            yields: bool = inspect.isasyncgenfunction(function)
            if not yields:
                raise BadParams(f"the step {type!r} of {self.name} must be an `async def` that yields something")
            self.steps[type] = function
            return function

        return keep

    def type_of(self, target: Target) -> str:
        """The step that works a target; BadParams where there is none of that name."""
        if target.type in self.steps:
            return target.type
        if not target.type and len(self.steps) == 1:
            return next(iter(self.steps))
        there = ", ".join(self.steps) or "none"
        if not target.type:
            raise BadParams(f"a target of {self.name} must name its type; there are: {there}")
        near = get_close_matches(target.type, self.steps, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadParams(f"the recipe {self.name} has no step {target.type!r}; there are: {there}{guess}")

    def __repr__(self) -> str:
        return f"Recipe({self.name!r}, steps={list(self.steps)})"
