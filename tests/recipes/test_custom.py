"""A recipe of one's own: what it may say, and how its yields become one outcome or none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import BadParams, Disallowed, FetchError, HoldfastError, LostLease, PlanFailed
from holdfast.model.artifact import FetchedFile
from holdfast.model.exchange import Headers, Request, Response
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Done, Failed, Outcome, Skipped
from holdfast.model.target import Claimed
from holdfast.recipe import Context, Here, PageFetch, Recipe, Target, Yield, record, skip, target
from holdfast.recipes import catalogue
from holdfast.recipes.custom.fetching import StepPages
from holdfast.recipes.custom.recipe import CustomRecipe

POND = "https://pond.test"
CONTEXT = Context(params={}, salt=b"s" * 16, chunking="host")
Web = dict[str, tuple[int, str]]


def make_recipe(*yields: Yield | BaseException, url: str = f"{POND}/") -> Recipe:
    """A recipe whose only step fetches its page and then yields, or raises, these."""
    pond = Recipe("pond")

    @pond.plan
    def plan(params: dict[str, Any]) -> Iterator[Target]:
        yield target(url)

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        await fetch(here.url)
        for value in yields:
            if isinstance(value, BaseException):
                raise value
            yield value

    return pond


YIELD_LINE = next(
    n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("yield value")
)


def make_claimed(url: str = f"{POND}/", **more: Any) -> Claimed:
    fields = {
        "id": 1, "chunk": 1, "epoch": 1, "key": b"", "url": url, "host": "pond.test", "type": "page", "depth": 2,
        "parent": None, "hops": 0, "attempts": 1, "generation": 1,
    }  # fmt: skip
    return Claimed(**{**fields, **more})


def outcome_of(recipe: Recipe, web: Web | None = None, **more: Any) -> Outcome:
    pages = web or {f"{POND}/": (200, "<h1>Pond</h1>")}

    async def fetch(url: str, headers: Headers = ()) -> Response:
        status, said = pages[url]
        headers = (("location", said),) if 300 <= status < 400 else (("content-type", "text/html"),)
        return Response(url=url, status=status, headers=headers, body=b"" if 300 <= status < 400 else said.encode())

    return asyncio.run(CustomRecipe(recipe, ManualClock()).step(make_claimed(**more), fetch, CONTEXT))


def test_records_and_targets_are_one_outcome_with_the_page_kept() -> None:
    outcome = outcome_of(make_recipe(record(title="Pond"), target("/frog"), target("/frog#legs")))
    assert isinstance(outcome, Done)
    assert (outcome.disposition, [item.doc for item in outcome.records]) == ("record", [b'{"title":"Pond"}'])
    assert [(item.origin + item.path, item.depth, item.type) for item in outcome.found] == [(f"{POND}/frog", 3, "page")]
    assert outcome.body is not None
    assert outcome.body.content == b"<h1>Pond</h1>"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (asyncio.CancelledError(), "CancelledError: what the step waited for was cancelled, and not by Holdfast"),
        (SystemExit("no frogs"), "SystemExit: no frogs"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
def test_a_step_that_raises_what_ends_programs_and_tasks_fails_its_target(raised: BaseException, said: str) -> None:
    outcome = outcome_of(make_recipe(record(title="Pond"), raised))
    assert isinstance(outcome, Failed)
    assert outcome.code == "recipe_error"
    assert outcome.message.startswith(f"{said} (test_custom.py, line ")


def test_a_step_that_is_cancelled_from_outside_has_no_outcome() -> None:
    """It is handed back by who cancelled it."""

    async def fetch(url: str, headers: Headers = ()) -> Response:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        raise AssertionError(url)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(CustomRecipe(make_recipe(), ManualClock()).step(make_claimed(), fetch, CONTEXT))


def test_a_step_that_raises_after_its_yields_leaves_nothing_of_them() -> None:
    outcome = outcome_of(make_recipe(record(title="Pond"), target("/frog"), KeyError("legs")))
    assert isinstance(outcome, Failed)
    assert outcome.code == "recipe_error"
    assert "KeyError: 'legs' (test_custom.py, line" in outcome.message


def test_a_skip_says_why_and_may_lead_on() -> None:
    outcome = outcome_of(make_recipe(skip("no_record"), target("/frog")))
    assert isinstance(outcome, Skipped)
    assert (outcome.disposition, len(outcome.found)) == ("no_record", 1)


def test_only_targets_are_links_and_nothing_at_all_is_empty() -> None:
    led, nothing = outcome_of(make_recipe(target("/frog"))), outcome_of(make_recipe())
    assert isinstance(led, Done)
    assert isinstance(nothing, Done)
    assert (led.disposition, nothing.disposition) == ("links", "empty")


@pytest.mark.parametrize(
    ("yields", "said"),
    [
        ((target("/frog", type="pgae"),), "no step 'pgae'; there are: page; did you mean page?"),
        ((record(a=1), skip()), "records and files or skip(...), not both"),
        (("https://pond.test/frog",), "not 'https://pond.test/frog'"),
        ((target("mailto:frog@pond.test"),), "not an http or https URL"),
    ],
)
def test_what_a_step_may_not_yield_is_its_error(yields: tuple[Any, ...], said: str) -> None:
    outcome = outcome_of(make_recipe(*yields))
    assert isinstance(outcome, Failed)
    assert outcome.code == "recipe_error"
    assert said in outcome.message
    assert outcome.message.endswith(f" (test_custom.py, line {YIELD_LINE})")


@pytest.mark.parametrize("name", ["key", "target", "run", "kind"])
def test_a_record_keeps_the_names_that_say_where_it_comes_from(name: str) -> None:
    """Silently they would have stood in every export instead of the truth."""
    pond = Recipe("pond")
    pond.plan(lambda params: ())

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        yield record(**{"title": "Frog", name: "mine"})

    outcome = outcome_of(pond)
    assert isinstance(outcome, Failed)
    assert outcome.code == "recipe_error"
    assert f"record() cannot have a field {name!r}" in outcome.message
    assert "(test_custom.py, line " in outcome.message


@pytest.mark.parametrize("is_used", [True, False])
@pytest.mark.filterwarnings("error")
def test_a_forgotten_await_is_said_where_it_is_missing(is_used: bool) -> None:
    pond = Recipe("pond")
    pond.plan(lambda params: ())

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        page: Any = fetch(here.url)
        yield record(title=page.text("h1") if is_used else "Frog")

    outcome = outcome_of(pond)
    assert isinstance(outcome, Failed)
    line = page.__code__.co_firstlineno + 2
    assert outcome.message == f"fetch(...) was not awaited: write `await fetch(...)` (test_custom.py, line {line})"


def test_a_selector_of_scrapys_is_answered_with_ours() -> None:
    pond = Recipe("pond")
    pond.plan(lambda params: ())

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        yield record(title=(await fetch(here.url)).text("title::text"))

    outcome = outcome_of(pond)
    assert isinstance(outcome, Failed)
    assert "no ::text or ::attr() here, but element.text" in outcome.message


def test_an_answer_that_is_none_ends_the_attempt_with_its_code() -> None:
    with pytest.raises(FetchError) as refused:
        outcome_of(make_recipe(record(title="Pond")), {f"{POND}/": (503, "busy")})
    assert (refused.value.code, refused.value.status) == ("http_5xx", 503)


def test_redirects_are_followed_and_the_page_is_kept_under_the_targets_url() -> None:
    """FRO-09."""
    web = {f"{POND}/": (302, "/home"), f"{POND}/home": (200, "home")}
    outcome = outcome_of(make_recipe(record(title="Pond")), web)
    assert isinstance(outcome, Done)
    assert outcome.body is not None
    assert (outcome.body.url, outcome.body.content) == (f"{POND}/", b"home")


def test_a_circle_of_redirects_ends() -> None:
    with pytest.raises(FetchError) as refused:
        outcome_of(make_recipe(), {f"{POND}/": (302, "/")})
    assert refused.value.code == "too_many_redirects"


SIGNED = "https://dl.test/7?sig=SECRET"


class Files:
    """The part of `Fetch` that a file is asked of: every address redirects, answers 503, or is forbidden."""

    def __init__(self, answer: int | HoldfastError) -> None:
        self._answer = answer

    async def file(self, request: Request, **limits: Any) -> FetchedFile:
        if isinstance(self._answer, HoldfastError):
            raise self._answer
        return FetchedFile(url=request.url, status=self._answer, headers=(("location", SIGNED),))


@pytest.mark.parametrize("answer", [503, 302, Disallowed(f"robots.txt forbids {SIGNED}", rule="/")])
def test_what_is_said_of_a_file_has_no_signature(answer: int | HoldfastError) -> None:
    """DOC-21."""
    pages = StepPages(make_claimed(), Files(answer), ManualClock())  # type: ignore[arg-type]
    with pytest.raises(HoldfastError) as refused:
        asyncio.run(pages.file(SIGNED, into="FSD7"))
    assert refused.value.message == str(refused.value)
    assert "https://dl.test/7" in refused.value.message
    assert "SECRET" not in refused.value.message


def test_the_own_address_of_a_file_is_told_as_it_stands() -> None:
    pages = StepPages(make_claimed(), Files(503), ManualClock())  # type: ignore[arg-type]
    with pytest.raises(FetchError, match="page=2"):
        asyncio.run(pages.file(f"{POND}/frog.pdf?page=2"))


def test_a_step_cannot_swallow_that_its_chunk_was_lost() -> None:
    """What it yields afterwards must not be settled, whatever it catches."""
    pond = Recipe("pond")

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        try:
            await fetch(here.url)
        except Exception:  # noqa: BLE001 - what a careless author writes
            yield record(title="none")

    pond.plan(lambda params: [])

    async def fetch(url: str, headers: Headers = ()) -> Response:
        raise LostLease("gone")

    with pytest.raises(LostLease):
        asyncio.run(CustomRecipe(pond, ManualClock()).step(make_claimed(), fetch, CONTEXT))


ENDS = [SystemExit("no frogs"), GeneratorExit(), asyncio.CancelledError(), KeyboardInterrupt()]


def planning(raised: BaseException) -> CustomRecipe:
    pond = make_recipe()

    def plan(params: dict[str, Any]) -> Iterator[Target]:
        yield target(f"{POND}/")
        raise raised

    pond.plan_function = plan
    return CustomRecipe(pond, ManualClock())


@pytest.mark.parametrize("raised", ENDS, ids=repr)
def test_a_plan_that_raises_what_ends_programs_has_failed(raised: BaseException) -> None:
    targets = planning(raised).plan(CONTEXT)
    next(targets)
    with pytest.raises(PlanFailed, match=rf"{type(raised).__name__}.* \(test_custom.py, line \d+\)"):
        next(targets)


@pytest.mark.parametrize("raised", ENDS[:-1], ids=repr)
def test_what_a_plan_raises_while_it_is_peeked_at_is_said_when_it_is_planned(raised: BaseException) -> None:
    assert planning(raised).first_urls({}) == ()


def test_an_interrupt_while_a_plan_is_peeked_at_ends_the_command() -> None:
    """That is done before our handlers stand, on the main thread: it is somebody's Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        planning(KeyboardInterrupt()).first_urls({})


def test_a_plan_that_nobody_wants_more_of_is_closed_in_silence() -> None:
    closed: list[str] = []
    pond = make_recipe()

    def plan(params: dict[str, Any]) -> Iterator[Target]:
        try:
            yield target(f"{POND}/")
            yield target(f"{POND}/frog")
        finally:
            closed.append("plan")

    pond.plan_function = plan
    targets = CustomRecipe(pond, ManualClock()).plan(CONTEXT)
    next(targets)
    targets.close()  # type: ignore[attr-defined]
    del targets
    assert closed == ["plan"]


def test_a_step_sees_its_key_and_params() -> None:
    seen: list[Here] = []
    pond = Recipe("pond")
    pond.plan(lambda params: [])

    @pond.step("page")
    async def page(here: Here, fetch: PageFetch) -> AsyncIterator[Yield]:
        seen.append(here)
        yield record(name=here.key)

    outcome_of(pond, name="frog-7", params='{"colour":"green"}', attempts=2)
    assert (seen[0].key, seen[0].params, seen[0].attempt) == ("frog-7", {"colour": "green"}, 2)


def test_a_plan_gives_targets_with_keys_priorities_and_params() -> None:
    pond = make_recipe()
    pond.plan_function = lambda params: [target(f"{POND}/{n}", key=f"frog-{n}", params={"n": n}) for n in range(2)]
    first, second = CustomRecipe(pond, ManualClock()).plan(CONTEXT)
    assert (first.name, first.params, first.depth) == ("frog-0", '{"n":0}', 0)
    assert first.key != second.key
    assert first.key != CONTEXT.found(seed_address(f"{POND}/0"), depth=0).key


def test_a_plan_that_raises_says_where() -> None:
    pond = make_recipe()
    pond.plan_function = lambda params: [target(params["start"])]
    with pytest.raises(PlanFailed, match=r"KeyError: 'start' \(test_custom.py, line \d+\)"):
        list(CustomRecipe(pond, ManualClock()).plan(CONTEXT))


def test_a_plan_of_one_host_is_cut_by_key_and_one_of_several_by_host() -> None:
    """FRO-12."""
    one, several = make_recipe(), make_recipe()
    several.plan_function = lambda params: [target(f"{POND}/"), target("https://marsh.test/")]
    assert CustomRecipe(one, ManualClock()).chunking({}) == "key"
    assert CustomRecipe(several, ManualClock()).chunking({}) == "host"


def test_declared_params_are_checked_and_typed() -> None:
    pond = make_recipe()
    pond.params = {"start": str, "pages": 10, "deep": False}
    recipe = CustomRecipe(pond, ManualClock())
    assert recipe.check({"start": "x", "pages": "3", "deep": "yes"}) == {"start": "x", "pages": 3, "deep": True}
    assert recipe.check({"start": "x"})["pages"] == 10
    for params, said in (
        ({}, "needs start"),
        ({"start": "x", "page": "3"}, "did you mean pages"),
        ({"start": "x", "pages": "many"}, "whole number"),
    ):
        with pytest.raises(BadParams, match=said):
            recipe.check(params)


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_a_recipe_with_the_name_of_a_kind_is_refused_when_it_is_located(name: str, tmp_path: Path) -> None:
    code = tmp_path / "pond.py"
    code.write_text(f"from holdfast.recipe import Recipe\n\npond = Recipe({name!r})\n")
    with pytest.raises(BadParams, match=f"'{name}' is the name of a recipe that comes with Holdfast; choose another"):
        catalogue.locate(str(code))


def test_a_recipe_that_cannot_work_is_refused_when_it_is_written() -> None:
    pond = Recipe("pond")
    with pytest.raises(BadParams, match="has no plan"):
        CustomRecipe(pond, ManualClock())
    with pytest.raises(BadParams, match="small letters"):
        Recipe("My Forum")
    for wrong in (pond.step, lambda _: pond.step()):  # `@pond.step` and `@pond.step()`
        with pytest.raises(BadParams, match=r'needs the type of its targets: @.*\.step\("page"\)'):
            wrong(lambda here, fetch: None)  # type: ignore[arg-type]
    with pytest.raises(BadParams, match="must be an `async def`"):
        pond.step("page")(lambda here, fetch: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(BadParams, match="cannot be kept as JSON"):
        record(frog=object())
