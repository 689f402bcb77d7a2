"""`holdfast run`: a recipe of one's own is a job like any other, found again, resumed, and never half settled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import Done, Running, holdfast, ledger_in, submit
from cli.ponds import BOARDS, FORUM, THREADS, forum_page, forum_words, write
from holdfast.testing.fake_web import Answer, FakeWeb
from waiting import wait_until

WITH_POSTS = sum(1 for n in range(THREADS, (BOARDS + 1) * THREADS) if n % 4)


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb(forum_page) as web:
        yield web


def exported(folder: Path, job: str = "frogs") -> list[dict[str, object]]:
    return [json.loads(line) for line in holdfast("export", job, "-o", "-", cwd=folder).out.splitlines()]


def refused(done: Done, code: int, *words: str) -> None:
    assert done.code == code, done.err
    for word in words:
        assert word in done.err


def test_the_recipe_of_the_manual_gives_its_records_once(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    done = holdfast(*forum_words(web, "-o", "out.jsonl"), cwd=tmp_path)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len({row["title"] for row in rows}) == len(rows) == WITH_POSTS
    assert sorted(web.asked) == sorted(set(web.asked))
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0
    counts = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    assert counts["kind"] == "forum"
    assert counts["skipped_by"] == {"no_record": BOARDS * THREADS - WITH_POSTS}


def test_the_same_command_again_says_that_it_is_complete(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    holdfast(*forum_words(web), cwd=tmp_path)
    asked = len(web.asked)
    done = holdfast(*forum_words(web), cwd=tmp_path)
    assert "frogs is complete" in done.err
    assert holdfast("run", "frogs", cwd=tmp_path).code == 0
    assert len(web.asked) == asked


def test_without_a_name_the_job_is_known_by_recipe_and_params(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    words = ["run", "forum.py", "--param", f"start={web.url}/b/1", *web.options]
    assert "Starting" in holdfast(*words, cwd=tmp_path).err
    assert "is complete" in holdfast(*words, cwd=tmp_path).err
    other = ["run", "forum.py", "--param", f"start={web.url}/b/6", *web.options]
    assert "Starting" in holdfast(*other, cwd=tmp_path).err


def test_a_killed_run_goes_on_and_asks_for_nothing_that_was_settled(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    running = Running(*forum_words(web, "--delay", "20ms", "--per-host", "1"), cwd=tmp_path)
    web.wait_for(25, gone=lambda: False)
    running.stop()
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs").id
        settled = {row.url for row in ledger.targets(job) if row.status in ("succeeded", "skipped")}
    before = len(web.asked)
    assert settled
    done = holdfast("resume", "frogs", cwd=tmp_path)
    assert done.code == 0, done.err
    assert not settled & {web.url + path for path in web.asked[before:]}
    assert len(exported(tmp_path)) == WITH_POSTS


def test_two_processes_share_a_recipe_of_one_host(tmp_path: Path, web: FakeWeb) -> None:
    """FRO-12."""
    write(tmp_path)
    done = holdfast(*forum_words(web, "--processes", "2"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(exported(tmp_path)) == WITH_POSTS


def test_a_step_that_raises_fails_its_target_only(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path, FORUM.replace('page.text("h1")', "page.text('h1') if here.url[-1] != '7' else here.nothing"))
    done = holdfast(*forum_words(web, "--max-attempts", "1"), cwd=tmp_path)
    assert done.code == 3
    rows = [json.loads(line) for line in holdfast("targets", "frogs", "--jsonl", cwd=tmp_path).out.splitlines()]
    failed = [row for row in rows if row["status"] == "failed"]
    assert {row["code"] for row in failed} == {"recipe_error"}
    assert len(failed) == BOARDS
    assert "AttributeError" in failed[0]["because"]
    assert "forum.py, line" in failed[0]["because"]
    assert f"  recipe_error {BOARDS}, the first: AttributeError: " in done.err
    assert "  after the recipe is mended: holdfast retry frogs --where code:recipe_error" in done.err


def test_a_seed_whose_step_raises_was_fetched_and_says_what_was_raised(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path, FORUM.replace('page.links("a.thread")', "page.nothing"))
    done = holdfast(*forum_words(web, "--max-attempts", "1"), cwd=tmp_path)
    refused(done, 8, "because: no seed could be worked: recipe_error")
    said = "AttributeError: 'Page' object has no attribute 'nothing' (forum.py, line 12)"
    assert f"\n  recipe_error 1: {said}\n" in done.err


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_recipe_that_exits_fails_where_it_does_so_and_not_the_command(
    tmp_path: Path, web: FakeWeb, processes: str
) -> None:
    """`sys.exit()` in a step, then in the plan, then outside of both, and in a task that a step began."""
    words = forum_words(web, "--max-attempts", "1", "--processes", processes)
    exits = "__import__('sys').exit('no frogs')"
    write(tmp_path, FORUM.replace('page.text("h1")', f"page.text('h1') if here.url[-1] != '7' else {exits}"))
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 3, done.err
    assert f"  recipe_error {BOARDS}, the first: SystemExit: no frogs (forum.py, line " in done.err
    write(tmp_path, FORUM.replace("    yield target(params", f"    {exits}\n    yield target(params"))
    refused(holdfast(*words, "--new", cwd=tmp_path), 8, "the plan failed: SystemExit: no frogs (forum.py, line ")
    write(tmp_path, f"{FORUM}\n{exits}\n")
    refused(holdfast(*words, "--new", cwd=tmp_path), 2, "forum.py cannot be loaded: SystemExit: no frogs (forum.py")
    task = f"asyncio.get_running_loop().create_task(asyncio.to_thread(lambda: {exits}))"
    write(tmp_path, "import asyncio\n" + FORUM.replace('page.text("h1")', f"await {task}"))
    refused(holdfast(*words, "--new", cwd=tmp_path), 1, "a task that the recipe began raised SystemExit: no frogs")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_plan_that_raises_fails_the_job_and_goes_on_when_mended(tmp_path: Path, web: FakeWeb, processes: str) -> None:
    """ux 3.5: exit 8."""
    write(tmp_path, FORUM.replace("    yield target(params", "    params['pages'] = 1 / 0\n    yield target(params"))
    done = holdfast(*forum_words(web, "--processes", processes), cwd=tmp_path)
    refused(done, 8, "the plan failed: ZeroDivisionError", "forum.py, line 7")
    assert "holdfast worker" not in done.err
    write(tmp_path)
    mended = holdfast(*forum_words(web), cwd=tmp_path)
    assert mended.code == 0, mended.err
    assert "has changed" in mended.err
    assert len(exported(tmp_path)) == WITH_POSTS


@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_a_plan_gave_before_it_raised_is_worked_to_its_end(tmp_path: Path, web: FakeWeb, processes: str) -> None:
    write(tmp_path, FORUM.replace('type="board")\n\n', 'type="board")\n    print("croak", end="")\n    1 / 0\n\n', 1))
    done = holdfast(*forum_words(web, "--processes", processes), cwd=tmp_path)
    refused(done, 8, "the plan failed: ZeroDivisionError")
    assert len(exported(tmp_path)) == WITH_POSTS
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).code == 0


KILLED_FIRST = """    import os, pathlib, signal
    command, killed = pathlib.Path("command"), pathlib.Path("killed")
    if not command.exists():  # the command looks at the plan before its workers do
        command.write_text(str(os.getpid()))
    elif command.read_text() != str(os.getpid()) and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    1 / 0
"""


def test_a_plan_that_raises_fails_the_job_though_its_first_worker_was_killed(tmp_path: Path, web: FakeWeb) -> None:
    """Who takes its place runs the plan again, which raises again."""
    write(tmp_path, FORUM.replace("    yield target(params", KILLED_FIRST + "    yield target(params"))
    done = holdfast(*forum_words(web, "--processes", "2"), cwd=tmp_path)
    refused(done, 8, "the plan failed: ZeroDivisionError", "died of signal 9")


LIST = """
import os
from holdfast.recipe import Recipe, record, target
forum = Recipe("forum", params={"start": str})

@forum.plan
def plan(params):
    for n in range(12_000):
        yield target(f"{params['start']}?{os.environ.get('FIRST', '')}{n}")

@forum.step("page")
async def page(here, fetch):
    await fetch(here.url)
    yield record(url=here.url)
"""


def test_a_plan_that_changed_between_runs_is_refused_aloud(tmp_path: Path) -> None:
    """TGT-08: it must give the same targets in the same order; the planner is at most 10,000 ahead."""
    write(tmp_path, LIST)
    with FakeWeb(lambda path: "page") as web:
        running = Running(*forum_words(web, "--delay", "20ms"), cwd=tmp_path)
        web.wait_for(5, gone=lambda: False)
        with ledger_in(tmp_path) as ledger:
            job = ledger.job("frogs").id
            wait_until(lambda: ledger.plan(job)[0] > 10_000, 60)
            running.stop()
            cursor = ledger.plan(job)[0]
        assert cursor < 11_000
        changed = holdfast("resume", "frogs", cwd=tmp_path, FIRST="x")
        refused(changed, 6, f"is not the one that gave the first {cursor} targets", "--new")
        before = len(web.asked)
        again = Running("resume", "frogs", cwd=tmp_path)
        web.wait_for(before + 5, gone=lambda: False)
        again.stop()
    with ledger_in(tmp_path) as ledger:
        assert ledger.books(job)[1].discovered == ledger.plan(job)[0] >= cursor


def test_changed_code_is_said_and_goes_on(tmp_path: Path, web: FakeWeb) -> None:
    """E17."""
    write(tmp_path)
    holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
    write(tmp_path, FORUM + "\n# mended\n")
    done = holdfast(*forum_words(web), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "the code of forum.py:forum has changed" in done.err


def test_another_pace_and_code_of_a_scan_are_applied_and_said(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    assert holdfast(*forum_words(web), cwd=tmp_path).code == 0
    write(tmp_path, FORUM + "\n# mended\n")
    left = holdfast(*forum_words(web, "--per-host", "3"), cwd=tmp_path)
    first, second, third = left.err.splitlines()[:3]
    assert first.startswith("frogs: the code of forum.py:forum has changed since; holdfast run frogs --mode full works")
    assert second == "frogs: per_host 8 -> 3 (kept for its next scan)"
    assert third.startswith("frogs is complete: ")
    done = holdfast(*forum_words(web, "--per-host", "4", "--mode", "full"), cwd=tmp_path)
    assert done.code == 0, done.err
    said = "per_host 3 -> 4; the code of forum.py:forum has changed; it is worked by the new code"
    assert done.err.splitlines()[0] == f"frogs: {said}"
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs")
        assert said in [event.because for event in ledger.history(job.id)[0]]
    assert job.options.per_host == 4


def test_a_missing_recipe_is_named_and_loses_nothing(tmp_path: Path, web: FakeWeb) -> None:
    """E17."""
    path = write(tmp_path)
    holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
    path.unlink()
    refused(holdfast("resume", "frogs", cwd=tmp_path), 2, str(path), "nothing of the job is lost")
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    write(tmp_path, name="moved.py")
    done = holdfast(*forum_words(web, file="moved.py"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(exported(tmp_path)) == WITH_POSTS


def test_other_params_under_the_same_name_are_refused(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
    words = ["run", "forum.py", "--param", f"start={web.url}/b/2", "--name", "frogs"]
    refused(holdfast(*words, *web.options, cwd=tmp_path), 6, "other parameters", "/b/1", "/b/2", "--new")
    done = holdfast(*words, *web.options, "--new", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "kept as frogs~1" in done.err


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("forum = 1", [], "forum.py has no recipe"),
        ("def x(:", [], "cannot be loaded: SyntaxError"),
        ("import no_such_module", [], "No module named 'no_such_module' (forum.py, line 1)"),
        (FORUM + '\nother = Recipe("other")\n', [], "several recipes: forum, other"),
        (FORUM, [], "forum needs start"),
        (FORUM, ["--param", "start=x", "--param", "strat=y"], "did you mean start?"),
        (FORUM, ["--param", "start"], "NAME=VALUE"),
        (FORUM, ["--param", "start=http://127.0.0.1:9/"], "127.0.0.1"),
    ],
)
def test_what_cannot_be_run_is_said_and_makes_no_job(tmp_path: Path, text: str, words: list[str], said: str) -> None:
    write(tmp_path, text)
    refused(holdfast("run", "forum.py", *words, cwd=tmp_path), 2, said)
    assert "No jobs" in holdfast("status", cwd=tmp_path).err


def test_what_is_no_recipe_and_no_job_is_said(tmp_path: Path) -> None:
    refused(holdfast("run", "frogs", cwd=tmp_path), 2, "no recipe 'frogs'")
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    refused(
        holdfast("run", "frogz", cwd=tmp_path), 2, "no recipe 'frogz', and no job of that name; did you mean frogs?"
    )
    refused(holdfast("run", "none.py", cwd=tmp_path), 2, "none.py cannot be read")
    refused(holdfast("run", "no.such:recipe", cwd=tmp_path), 2, "he module no.such cannot be loaded")


def test_a_recipe_of_a_module_is_run(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path, name="ponds_of_mine.py")
    done = holdfast(*forum_words(web, file="ponds_of_mine:forum"), cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.code == 0, done.err
    assert len(exported(tmp_path)) == WITH_POSTS


def test_a_recipe_of_an_installed_package_is_run_by_its_name(tmp_path: Path, web: FakeWeb) -> None:
    """The entry point group `holdfast.recipes`."""
    write(tmp_path, name="ponds_of_mine.py")
    about = tmp_path / "ponds-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ponds\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[holdfast.recipes]\nforum = ponds_of_mine:forum\n")
    done = holdfast(*forum_words(web, file="forum"), cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.code == 0, done.err
    assert len(exported(tmp_path)) == WITH_POSTS


def test_rules_from_outside_leave_out_what_steps_find(tmp_path: Path, web: FakeWeb) -> None:
    """ux 3.2: --exclude, --max-depth; as rows, with their rule."""
    write(tmp_path)
    words = forum_words(web, "--exclude", "/t/1*", "--max-depth", "3")
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in holdfast("targets", "frogs", "--jsonl", cwd=tmp_path).out.splitlines()]
    by_rule = {rule: {row["url"] for row in rows if row["rule"] == rule} for rule in ("exclude", "depth")}
    assert by_rule["exclude"] == {f"{web.url}/t/{n}" for n in range(10, 20)}
    assert by_rule["depth"] == {f"{web.url}/b/5", *(f"{web.url}/t/{n}" for n in range(40, 50))}
    assert not any(path.startswith("/t/1") for path in web.asked)
    again = holdfast(*forum_words(web, "--max-depth", "9"), cwd=tmp_path)
    refused(again, 6, "another scope", "max_depth: 3, now 9", "--update", "--new")
    assert "exclude" not in again.err
    assert holdfast("run", "frogs", cwd=tmp_path).code == 0


def test_an_update_judges_what_is_pending_by_the_rules_of_now(tmp_path: Path, web: FakeWeb) -> None:
    """ux 3.2: what is no longer wanted is skipped with its rule, what is wanted again fetched; the rest stays."""
    write(tmp_path)
    assert holdfast(*forum_words(web, "--max-depth", "1", "--max-pages", "3"), cwd=tmp_path).code == 13
    asked = len(web.asked)
    more = ("--max-depth", "3", "--exclude", "/t/1*", "--max-pages", "1000", "--update")
    done = holdfast(*forum_words(web, *more), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "frogs: exclude none -> /t/1*, max_depth 1 -> 3; " in done.err
    assert not any(path.startswith("/t/1") for path in web.asked[asked:])
    rows = [json.loads(line) for line in holdfast("targets", "frogs", "--jsonl", cwd=tmp_path).out.splitlines()]
    by_rule = {rule: {row["url"] for row in rows if row["rule"] == rule} for rule in ("exclude", "depth")}
    assert by_rule["exclude"] == {f"{web.url}/t/{n}" for n in range(10, 20)} - {web.url + path for path in web.asked}
    assert by_rule["depth"] == {f"{web.url}/b/5", *(f"{web.url}/t/{n}" for n in range(40, 50))}
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_an_update_of_a_complete_job_scans_it_again_by_the_rules_of_now(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    assert holdfast(*forum_words(web, "--exclude", "/t/1*"), cwd=tmp_path).code == 0
    words = forum_words(web, "--exclude", "", "--update")
    refused(holdfast(*words, cwd=tmp_path), 6, "frogs is completed: nothing of it is pending", "--mode full --update")
    done = holdfast(*words, "--mode", "full", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Resuming" not in done.err
    assert {f"/t/{n}" for n in range(10, 20)} <= set(web.asked)
    again = holdfast(*forum_words(web), cwd=tmp_path)
    assert (again.code, "frogs is complete" in again.err) == (0, True)


def test_robots_txt_is_obeyed_by_recipes_too(tmp_path: Path) -> None:
    write(tmp_path)
    pages = {
        "/robots.txt": Answer("User-agent: *\nDisallow: /t/2\n", headers={"Content-Type": "text/plain"}),
        "/b/1": '<a class=thread href="/t/1">a</a><a class=thread href="/t/2">b</a>',
        "/t/1": "<h1>one</h1><p class=post>",
    }
    with FakeWeb(pages) as web:
        holdfast(*forum_words(web), cwd=tmp_path)
        assert "/t/2" not in web.asked
    assert holdfast("status", "frogs", "--json=skipped_by", cwd=tmp_path).json() == {"skipped_by": {"robots": 1}}


def test_a_cancelled_recipe_names_its_own_command(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
    holdfast("cancel", "frogs", cwd=tmp_path)
    refused(holdfast("resume", "frogs", cwd=tmp_path), 6, "holdfast run frogs --new")


def test_a_recipe_that_moved_is_named_by_its_new_place_alone(tmp_path: Path, web: FakeWeb) -> None:
    """The command that a refused `resume` prints is enough: the job knows its own parameters."""
    path = write(tmp_path)
    holdfast(*forum_words(web, "--start-paused", "--exclude", "/t/1*"), cwd=tmp_path)
    path.rename(tmp_path / "moved.py")
    refused(holdfast("resume", "frogs", cwd=tmp_path), 2, "holdfast run FILE.py --name frogs")
    done = holdfast("run", "moved.py", "--name", "frogs", cwd=tmp_path)
    assert done.code == 0, done.err
    assert f"the recipe is now at {tmp_path}/moved.py:forum" in done.err
    assert not any(path.startswith("/t/1") for path in web.asked)


def test_a_new_job_of_a_name_inherits_nothing(tmp_path: Path, web: FakeWeb) -> None:
    write(tmp_path)
    holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
    refused(holdfast("run", "forum.py", "--name", "frogs", "--new", cwd=tmp_path), 2, "forum needs start")


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (
            "    yield target('http://x.test/1', type='board')\n    raise ValueError('croak')",
            "ValueError: croak (forum.py, line 8)",
        ),
        ("    yield 'http://x.test/'", "a plan yields target(...), not 'http://x.test/'"),
    ],
)
def test_a_plan_that_cannot_be_shown_is_the_authors_mistake(tmp_path: Path, plan: str, said: str) -> None:
    write(tmp_path, FORUM.replace('    yield target(params["start"], type="board")', plan))
    done = holdfast("run", "forum.py", "--param", "start=x", "--dry-run", cwd=tmp_path)
    refused(done, 2, "he plan of forum failed: ", said)
    assert "Unexpected" not in done.err
    assert not (tmp_path / "holdfast-data").exists()


BROKEN = FORUM + "\n1 / 0\n"


@pytest.mark.parametrize("words", [["resume", "frogs"], ["resume", "--all"], ["resume", "frogs", "--extend", "1h"]])
def test_a_recipe_that_cannot_be_loaded_moves_no_paused_job(tmp_path: Path, web: FakeWeb, words: list[str]) -> None:
    write(tmp_path)
    holdfast(*forum_words(web, "--time-limit", "1h"), cwd=tmp_path)
    holdfast(*forum_words(web, "--new", "--start-paused"), cwd=tmp_path)
    with ledger_in(tmp_path) as ledger:
        job = ledger.move(ledger.job("frogs").id, "start", actor="test", because="test")
        ledger.request(job.id, "pause", actor="test", because="test", paused_by="user")
        before = ledger.acknowledge(job.id, is_dead=lambda owner: True)
    assert before is not None
    write(tmp_path, BROKEN)
    refused(holdfast(*words, cwd=tmp_path), 2, "forum.py cannot be loaded: ZeroDivisionError")
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs") == before
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err


def test_a_retry_with_a_recipe_that_cannot_be_loaded_moves_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    with FakeWeb({"/b/1": '<a class=thread href="/t/1">'}) as web:
        assert holdfast(*forum_words(web), cwd=tmp_path).code == 0
    write(tmp_path, BROKEN)
    refused(holdfast("retry", "frogs", cwd=tmp_path), 2, "forum.py cannot be loaded: ZeroDivisionError")
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").status == "completed"


@pytest.mark.parametrize("verb", ["resume", "retry"])
def test_every_command_that_works_a_job_says_that_its_code_has_changed(tmp_path: Path, verb: str) -> None:
    """E17: also those that are not told where the code lies."""
    write(tmp_path)
    with FakeWeb({"/b/1": '<a class=thread href="/t/1">'}) as web:
        if verb == "resume":
            holdfast(*forum_words(web, "--start-paused"), cwd=tmp_path)
        else:
            holdfast(*forum_words(web), cwd=tmp_path)
        write(tmp_path, FORUM + "\n# mended\n")
        said = "frogs: the code of forum.py:forum has changed; what is done stays done, the rest is worked by the new"
        assert said in holdfast(verb, "frogs", cwd=tmp_path).err
        assert "has changed" not in holdfast("retry", "frogs", cwd=tmp_path).err
