"""The harness for recipe authors: its web says what it was told, and its proof fails where it must."""

from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path

import pytest

from cli.ponds import forum_page, write
from holdfast.testing import Answer, FakeWeb, prove, run_recipe

ONCE = """
import itertools
from holdfast.recipe import Recipe, record, target
pond = Recipe("pond", params={"start": str})
times = itertools.count()

@pond.plan
def plan(params):
    for n in range(60):
        yield target(f"{params['start']}/{n}")

@pond.step("page")
async def page(here, fetch):
    await fetch(here.url)
    yield record(url=here.url, seen=next(times) < 5)
"""


def get(web: FakeWeb, path: str, host: str = "") -> tuple[int, bytes, str]:
    connection = HTTPConnection(web.address, timeout=10)
    connection.request("GET", path, headers={"Host": host or web.address})
    answer = connection.getresponse()
    said = answer.status, answer.read(), answer.headers["Content-Type"]
    connection.close()
    return said


def test_a_fake_web_answers_as_it_was_told() -> None:
    pages = {
        "/": "<h1>Pond</h1>",
        "/api?page=2": {"frogs": [1]},
        "/gone": 410,
        "/raw": Answer(b"\x00", 203, {"Content-Type": "image/frog"}),
        "http://marsh.test/": "marsh",
    }
    with FakeWeb(pages) as web:
        assert get(web, "/") == (200, b"<h1>Pond</h1>", "text/html; charset=utf-8")
        assert get(web, "/api?page=2") == (200, b'{"frogs":[1]}', "application/json")
        assert get(web, "/gone")[0] == 410
        assert get(web, "/none")[0] == 404
        assert get(web, "/raw") == (203, b"\x00", "image/frog")
        assert get(web, "/", host="marsh.test")[1] == b"marsh"
        assert web.asked == ["/", "/api?page=2", "/gone", "/none", "/raw", "http://marsh.test/"]
        assert f"marsh.test={web.address}" in web.options


def test_a_recipe_is_run_against_names_that_only_the_fake_web_knows(tmp_path: Path) -> None:
    with FakeWeb({"http://pond.test/b/1": '<a class=thread href="/t/1">t</a>', "http://pond.test/t/1": "none"}) as web:
        worked = run_recipe(write(tmp_path), web, start="http://pond.test/b/1")
    assert worked.by_status() == {"succeeded": 1, "skipped": 1}


def test_a_recipe_that_holds_is_proven(tmp_path: Path) -> None:
    with FakeWeb(forum_page) as web:
        proof = prove(write(tmp_path), web, kills=3, seed=11, start=f"{web.url}/b/1")
    assert proof.records
    assert proof.asked_again == ()
    assert len(proof.killed.targets) == len(proof.undisturbed.targets)


def test_a_recipe_whose_results_depend_on_the_process_is_found_out(tmp_path: Path) -> None:
    """It counts in memory what a kill makes it forget: the two runs cannot agree."""
    with FakeWeb(lambda path: "page") as web, pytest.raises(AssertionError, match="gave other records"):
        prove(write(tmp_path, ONCE), web, kills=2, start=web.url)


def test_a_recipe_that_cannot_be_run_says_why(tmp_path: Path) -> None:
    with FakeWeb({}) as web, pytest.raises(AssertionError, match="needs start"):
        run_recipe(write(tmp_path), web)


def test_a_proof_in_which_nothing_succeeded_is_none(tmp_path: Path) -> None:
    """Two runs that both fail at their seed are alike."""
    with FakeWeb({}) as web, pytest.raises(AssertionError, match="no target succeeded, so nothing would be proven"):
        prove(write(tmp_path), web, start=f"{web.url}/b/1")
