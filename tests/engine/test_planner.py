"""Planning: a plan goes on behind its cursor, is held to what it gave before, and keeps what it gave when it raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.clock import ManualClock
from holdfast.engine.liveness import is_dead, this_process
from holdfast.engine.planner import AHEAD_MAX, BATCH_MAX, Planner
from holdfast.errors import Refused
from holdfast.model.job import JobSpec
from holdfast.model.lease import Lease
from holdfast.recipe import Context, Recipe, Target, target
from holdfast.recipes.custom.recipe import CustomRecipe
from oracle.ledger import MemoryLedger, MemoryStore

POND = "https://pond.test"


class Desk:
    """A started job in memory, whose plan is leased."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.ledger = MemoryLedger(self.store, ManualClock(), "boot-1")
        spec = JobSpec(recipe="pond", name="pond", identity="pond:", params={}, chunking="key")
        self.job = self.ledger.submit(spec)[0].id
        self.ledger.move(self.job, "start", actor="user", because="test")
        self.context = Context(params={}, salt=self.ledger.salt(), chunking="key")

    def planner(self, *plan: str | Exception) -> Planner:
        """A planner as a new process has it: it has leased the plan anew, and nobody told it anything."""
        pond = Recipe("pond")
        pond.steps["page"] = _nothing
        pond.plan_function = lambda params: _given(plan)
        return Planner(CustomRecipe(pond, ManualClock()), self.context, self.job, self._lease())

    def _lease(self) -> Lease:
        leases = self.ledger.lease(self.job, this_process(), life_s=30, want=16, is_dead=is_dead)
        return next(lease for lease in leases if lease.kind == "plan")

    def run(self, planner: Planner, cursor: int = 1_000_000) -> None:
        """Until enough is planned, or so much."""
        while planner.advance(self.ledger) and self.ledger.plan(self.job)[0] < cursor:
            continue

    def urls(self) -> set[str]:
        return {row.url for row in self.ledger.targets(self.job, limit=100_000)}


async def _nothing(here: Any, fetch: Any) -> Any:
    for value in ():
        yield value


def _given(plan: tuple[str | Exception, ...]) -> Iterator[Target]:
    for item in plan:
        if isinstance(item, Exception):
            raise item
        yield target(item)


def urls(n: int, first: int = 0) -> list[str]:
    return [f"{POND}/{number}" for number in range(first, n)]


def test_a_plan_goes_on_behind_its_cursor() -> None:
    """TGT-08."""
    desk = Desk()
    desk.run(desk.planner(*urls(1200)), cursor=1000)
    assert desk.ledger.plan(desk.job)[:2] == (2 * BATCH_MAX, False)
    desk.run(desk.planner(*urls(1200)))
    assert desk.ledger.plan(desk.job)[:2] == (1200, True)
    assert desk.urls() == set(urls(1200))


@pytest.mark.parametrize(
    "changed",
    [
        [f"{POND}/new", *urls(1200)],
        urls(1200, first=1),
        [*urls(499), f"{POND}/other", *urls(1200, first=500)],
        urls(300),
    ],
    ids=["one more before", "one fewer", "another", "too few"],
)
def test_a_plan_that_changed_is_refused_and_stores_nothing(changed: list[str]) -> None:
    """TGT-08: a rolling hash of its keys tells."""
    desk = Desk()
    desk.run(desk.planner(*urls(1200)), cursor=500)
    with pytest.raises(Refused, match="is not the one that gave the first 500 targets"):
        desk.run(desk.planner(*changed))
    assert desk.ledger.plan(desk.job)[:2] == (BATCH_MAX, False)
    assert desk.urls() == set(urls(BATCH_MAX))


def test_a_plan_that_came_from_another_ledger_goes_on_and_is_held_to_what_it_gives_here() -> None:
    """Its trail was made of keys that are others here; from the next batch on there is one again."""
    desk = Desk()
    desk.run(desk.planner(*urls(1800)), cursor=500)
    plans = desk.store.tables.plans
    plans[desk.job] = replace(plans[desk.job], trail=b"")
    desk.run(desk.planner(*urls(1800)), cursor=1000)
    with pytest.raises(Refused, match="is not the one that gave the first 1000 targets"):
        desk.run(desk.planner(*urls(1800, first=3)))
    desk.run(desk.planner(*urls(1800)))
    assert desk.urls() == set(urls(1800))


def test_a_plan_may_grow_behind_what_it_gave() -> None:
    desk = Desk()
    desk.run(desk.planner(*urls(700)), cursor=500)
    desk.run(desk.planner(*urls(900)))
    assert desk.urls() == set(urls(900))


def test_a_plan_that_raises_keeps_what_it_gave_before() -> None:
    desk = Desk()
    planner = desk.planner(*urls(3), KeyError("frog"))
    desk.run(planner)
    assert desk.urls() == set(urls(3))
    assert planner.done
    assert "KeyError: 'frog'" in planner.failed
    assert desk.ledger.plan(desk.job)[:2] == (3, False)
    desk.run(desk.planner(*urls(5)))
    assert desk.ledger.plan(desk.job)[:2] == (5, True)


def test_a_planner_stays_a_little_ahead_of_the_work() -> None:
    """TGT-08: at most 10,000 pending, and one batch."""
    desk = Desk()
    desk.run(desk.planner(*urls(12_000)))
    pending = desk.ledger.books(desk.job)[1].pending
    assert AHEAD_MAX < pending <= AHEAD_MAX + BATCH_MAX
