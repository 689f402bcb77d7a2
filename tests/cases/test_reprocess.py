"""`holdfast reprocess`: the recipe again over stored pages. Nothing is fetched or lost, and a kill changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from cases.court import configured, court_job, records
from cli.commands import holdfast
from holdfast.demo.command import ChildCommand
from holdfast.demo.serving import WorldServer
from holdfast.engine.stored import StoredFetch, with_times
from holdfast.model.outcome import Record
from holdfast.recipes.cases import court_records
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until

RECIPE = """
from holdfast.recipe import Recipe, record, target
forum = Recipe("forum")

@forum.plan
def plan(params):
    for n in range(1, 9):
        yield target(params["start"] + f"/post-{n}")

@forum.step("page")
async def page(here, fetch):
    answer = await fetch(here.url)
    %s
    yield record("post", title=answer.css('h1')[0].text%s)
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("court", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb(lambda path: f"<h1>{path}</h1>" + "".join(f'<a href="/post-{n}">{n}</a>' for n in range(1, 9))) as web:
        yield web


def exported(job: hf.Job) -> list[dict[str, Any]]:
    return [dict(row) for row in job.records()]


def test_pages_that_give_the_same_records_stay_byte_for_byte(tmp_path: Path, world: WorldServer) -> None:
    job = court_job(world, tmp_path, "IMM-48-49..IMM-60-49")
    job.run()
    before, asks = exported(job), len(world.asks())
    job.reprocess()
    assert (exported(job), len(world.asks())) == (before, asks)
    job.reprocess("id:T-0")  # nothing fits: nothing is moved
    assert job.status == "completed"


def test_a_parser_that_fails_takes_nothing_away(
    tmp_path: Path, world: WorldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = court_job(world, tmp_path, "IMM-1-49..IMM-6-49")
    job.run()
    before, asks = exported(job), len(world.asks())

    def broken(*_: Any, **__: Any) -> dict[str, Any]:
        raise ValueError("a typing error")

    with monkeypatch.context() as patch:
        patch.setattr(court_records, "record_of", broken)
        job.reprocess()
        assert [row.rule for row in job.targets()] == ["not_reprocessed"] * 6
        assert exported(job) == before
    job.reprocess()
    assert [row.rule for row in job.targets()] == [None] * 6
    assert (exported(job), len(world.asks())) == (before, asks)


def test_a_reprocess_that_is_killed_ends_as_an_undisturbed_one(tmp_path: Path, world: WorldServer) -> None:
    """By the command line, with a changed parser in the environment of the second and third run."""
    file = configured(world, tmp_path)
    where = ["--config", str(file), "--data", str(tmp_path / "data")]
    words = ["cases", "IMM-1-49..IMM-60-49", "--url", "court", "--delay", "0", "--per-host", "8", *where]
    (tmp_path / "changed").mkdir()
    (tmp_path / "changed" / "sitecustomize.py").write_text(
        "import os, time\nimport holdfast.recipes.cases.court_records as court\nold = court.record_of\n"
        "def record_of(detail, **more):\n    time.sleep(float(os.environ.get('PAGE_S', '0')))\n"
        "    made = old(detail, **more)\n"
        "    made['office'] = made['office'].upper()\n    return made\ncourt.record_of = record_of\n"
    )
    changed = {"PYTHONPATH": str(tmp_path / "changed")}
    slow = {**changed, "PAGE_S": "0.05"}  # so that it is seen in its middle
    with ChildCommand(words, said=tmp_path / "first") as first:
        assert first.wait(60) == 0, first.err
    asks = len(world.asks())
    job = hf.Client(data=tmp_path / "data", config_file=file).job("IMM")
    before = records(job)
    with ChildCommand(["reprocess", "IMM", *where], said=tmp_path / "killed", environ=slow) as killed:
        wait_until(lambda: (job.counts.pending > 0 and 5 < job.counts.succeeded < 50) or killed.code is not None, 60)
        died = killed.code is None and killed.kill()
    with ChildCommand(["reprocess", "IMM", *where], said=tmp_path / "again", environ=changed) as again:
        assert again.wait(60) == 0, again.err
    assert died
    assert records(job) == {case: {**row, "office": row["office"].upper()} for case, row in before.items()}
    assert len(world.asks()) == asks
    with ChildCommand(["verify", "IMM", "--deep", *where], said=tmp_path / "verify") as verify:
        assert verify.wait(60) == 0, verify.err


def test_a_recipe_of_ones_own_is_run_over_its_stored_pages(tmp_path: Path, web: FakeWeb) -> None:
    recipe = tmp_path / "forum.py"
    recipe.write_text(RECIPE % ("pass", ""))
    words = ["run", str(recipe), "--name", "forum", "--param", f"start={web.url}", *web.options]
    assert holdfast(*words, cwd=tmp_path).code == 0
    asked = len(web.asked)
    recipe.write_text(RECIPE % ("pass", ".upper()"))
    done = holdfast("reprocess", "forum", cwd=tmp_path)
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in holdfast("export", "forum", "-o", "-", cwd=tmp_path).out.splitlines()]
    assert sorted(line["title"] for line in lines) == [f"/POST-{n}" for n in range(1, 9)]
    recipe.write_text(RECIPE % (f'await fetch("{web.url}/elsewhere")', ""))
    refused = holdfast("reprocess", "forum", cwd=tmp_path)
    assert refused.code == 3, refused.err
    assert "holdfast targets forum --where 'rule:not_reprocessed'" in refused.err
    assert len(web.asked) == asked
    kept = [json.loads(line) for line in holdfast("export", "forum", "-o", "-", cwd=tmp_path).out.splitlines()]
    assert [line["title"] for line in kept] == [line["title"] for line in lines]


def test_a_site_is_run_over_its_stored_pages_and_stays_as_it_is(tmp_path: Path, web: FakeWeb) -> None:
    assert holdfast("crawl", web.url, "--name", "pond", *web.options, cwd=tmp_path).code == 0
    asked = len(web.asked)
    before = holdfast("export", "pond", "-o", "-", cwd=tmp_path).out
    done = holdfast("reprocess", "pond", cwd=tmp_path)
    assert done.code == 0, done.err
    assert holdfast("export", "pond", "-o", "-", cwd=tmp_path).out == before
    assert len(web.asked) == asked


def test_only_a_completed_job_is_run_again(tmp_path: Path, web: FakeWeb) -> None:
    holdfast("crawl", web.url, "--name", "pond", *web.options, "--start-paused", cwd=tmp_path)
    assert holdfast("reprocess", "pond", cwd=tmp_path).code == 6
    assert holdfast("reprocess", "nobody", cwd=tmp_path).code == 5


def test_times_of_a_record_are_those_of_its_bytes() -> None:
    old = (Record("page", b'{"a":1,"fetched_at":"then"}'),)
    new = (Record("page", b'{"a":2,"fetched_at":"now"}'),)
    assert with_times(new, old) == (Record("page", b'{"a":2,"fetched_at":"then"}'),)
    assert with_times(new, ()) == new
    assert StoredFetch.__doc__
