"""Each hostile behaviour of the outside against the real crawler: right code, bounded, its neighbour fetched (T15)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from tidy.source_tree import ROOT
from web.behaviours import BEHAVIOURS, EVERY_CHANGE, TWINS, Behaviour
from web.play import Outcome, played

WAIT_S_MAX = 100
pytestmark = pytest.mark.xdist_group("hostile-web")


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Outcome]]]:
    """Those that were chosen are played a few at once, in the order of the tests that wait for them."""
    chosen = [row for row in EVERY_CHANGE if any(f"[{row.name}]" in item.name for item in request.session.items)]
    with played(chosen, tmp_path_factory.mktemp("web")) as found:
        yield found


@pytest.mark.parametrize("row", EVERY_CHANGE, ids=lambda row: row.name)
def test_a_hostile_answer_ends_in_its_code_within_bounds_and_its_neighbour_is_fetched(
    row: Behaviour, outcomes: dict[str, Future[Outcome]]
) -> None:
    """ERR-01, ERR-05; among them a block (JOB-12), a trap (FRO-11) and a page that kills its worker (TGT-06)."""
    outcome = outcomes[row.name].result(WAIT_S_MAX)
    assert outcome.wrong == (), outcome.said


def test_every_behaviour_has_a_host_of_its_own() -> None:
    assert len({row.name for row in BEHAVIOURS}) == len(BEHAVIOURS)
    assert {row.what for row in BEHAVIOURS} >= TWINS


def test_every_behaviour_was_played_as_the_page_says() -> None:
    """The kept run holds every row of the table, with the ending that the row demands."""
    kept = json.loads((ROOT / "docs" / "hostile-web.json").read_text(encoding="utf-8"))["rows"]
    assert {row["what"]: row["ends"] for row in kept} == {row.what: row.ends for row in BEHAVIOURS}
    assert {row["neighbour"] for row in kept} == {"succeeded"}
