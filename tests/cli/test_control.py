"""Pause, cancel and resume while a process works the job, and of several jobs at once (PAU-01, JOB-12)."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import msgspec

from cli.commands import DEADLINE_S, Running, crawl_words, holdfast, ledger_in, put_into, submit, until_some_are_done
from cli.schemas import validator
from holdfast.demo.serving import WorldServer
from holdfast.testing.fake_web import FakeWeb


def test_a_refusal_as_json_is_a_problem_with_the_allowed_actions(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "paused")
    done = holdfast("pause", "frogs", "--json", cwd=tmp_path)
    problem = done.problem()
    assert (done.code, done.out) == (6, "")
    assert (problem["status"], problem["code"]) == (409, "illegal_move")
    assert problem["allowed_actions"] == ["resume", "cancel", "restart", "retry", "rollback"]
    assert problem["detail"].startswith("Cannot pause frogs: it is paused. Allowed: holdfast resume frogs, ")


def test_a_pause_waits_for_the_worker_and_the_worker_says_who_paused_it(slow_tree: WorldServer, tmp_path: Path) -> None:
    """PAU-01, PAU-02, JOB-12."""
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    done = holdfast("pause", "frogs", "--json=status,paused_by", cwd=tmp_path)
    assert done.err.startswith(f"Pausing frogs: pid {crawl.pid} on ")
    assert (done.code, done.json()) == (0, {"status": "paused", "paused_by": "user"})
    ended = crawl.end()
    assert ended.code == 10
    assert ended.err.splitlines()[-2].startswith("Paused  frogs  R-1   discovered ")


def test_a_cancel_ends_a_running_job_and_its_books_balance(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    until_some_are_done(tmp_path)
    assert holdfast("cancel", "frogs", cwd=tmp_path).code == 0
    assert crawl.end().code == 6
    counts = holdfast("status", "frogs", "--json", cwd=tmp_path).json()["counts"]
    assert (counts["pending"], counts["in_progress"]) == (0, 0)
    assert counts["cancelled"] > 0
    assert counts["discovered"] == sum(counts.values()) - counts["discovered"]


def test_a_cancel_now_waits_for_no_page_and_takes_no_late_one(tmp_path: Path) -> None:
    """ux 3.1: with a deadline of minutes for the pages in hand it is over at once, and stays as it was said."""
    (tmp_path / "holdfast.toml").write_text('pause_deadline = "300s"\n')
    answers = Event()

    def page(path: str) -> str:
        assert path == "/" or answers.wait(DEADLINE_S)
        return '<a href="/slow">slow</a>'

    with FakeWeb(page) as web:
        words = ["crawl", f"{web.url}/", "--name", "frogs", *web.options]
        crawl = Running(*words, cwd=tmp_path)
        try:
            assert web.wait_for(2, gone=lambda: crawl.is_over)
            assert holdfast("cancel", "frogs", "--now", cwd=tmp_path, HOLDFAST_PAUSE_DEADLINE="0s").code == 0
            before = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
            answers.set()
            assert crawl.end().code == 6
        finally:
            answers.set()
            crawl.stop()
    after = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    assert before["status"] == after["status"] == "cancelled"
    assert before["counts"] == after["counts"]
    assert (after["counts"]["succeeded"], after["counts"]["cancelled"], after["recoveries"]) == (1, 1, 0)
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_a_resume_answers_what_it_was_about_to_do(tree: WorldServer, tmp_path: Path) -> None:
    """PAU-11: which chunks had work left and which had none, beside how the job stands at the end."""
    assert holdfast(*crawl_words(tree, "--max-pages", "10"), cwd=tmp_path).code == 13
    with ledger_in(tmp_path) as ledger:
        left = dict(ledger.open_chunks(ledger.job("frogs").id))
    answer = holdfast("resume", "frogs", "--extend-pages", "1000", "--json", cwd=tmp_path).json()
    validator("job").validate(answer)
    assert (answer["id"], answer["status"], answer["resume_strategy"]) == (answer["id"], "completed", "incremental")
    assert answer["chunks_to_retry"] == sum(1 for n in left.values() if n) > 0
    assert answer["chunks_to_skip"] == answer["chunks_completed"] == sum(1 for n in left.values() if not n)
    assert (answer["chunks_active"], answer["estimated_remaining_time"]) == (0, None)
    assert answer["created_at"] < answer["resume_started_at"] < answer["finished_at"]
    again = holdfast("resume", "frogs", "--strategy", "none", "--json=resume_strategy,chunks_to_retry", cwd=tmp_path)
    assert again.json()["resume_strategy"] == "full"


def test_a_resume_of_several_jobs_answers_in_one_document(tree: WorldServer, tmp_path: Path) -> None:
    """ux 3.4: one document at the end, a list without JOB; fields are those of its rows."""
    with ledger_in(tmp_path) as ledger:
        for name in ("frogs", "toads", "newts"):
            put_into(ledger, submit(ledger, tree, name), "paused" if name == "newts" else "in_progress")
    answer = holdfast("resume", "--json", cwd=tmp_path).json()
    validator("jobs").validate(answer)
    told = [(job["name"], job["status"], job["resume_strategy"]) for job in answer["jobs"]]
    assert sorted(told) == [("frogs", "completed", "incremental"), ("toads", "completed", "incremental")]
    assert holdfast("resume", "--all", "--json=name", cwd=tmp_path).json()["jobs"] == [{"name": "newts"}]
    assert holdfast("resume", "--json", cwd=tmp_path).json()["jobs"] == []


def test_resume_alone_takes_up_what_was_interrupted_and_nothing_else(tree: WorldServer, tmp_path: Path) -> None:
    """JOB-12, PAU-05: a job the user paused stays paused; --all means it too."""
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree, "crashed"), "in_progress")
        put_into(ledger, submit(ledger, tree, "rested"), "paused")
        submit(ledger, tree, "waiting")
    done = holdfast("resume", cwd=tmp_path)
    assert (done.code, done.err.count("Resuming")) == (0, 1)
    assert "Resuming crashed: " in done.err
    everything = holdfast("resume", "--all", cwd=tmp_path)
    assert (everything.code, everything.err.count("Resuming")) == (0, 1)
    assert "Resuming rested: " in everything.err
    states = {job["name"]: job["status"] for job in holdfast("status", "--json", cwd=tmp_path).json()["jobs"]}
    assert states == {"crashed": "completed", "rested": "completed", "waiting": "pending"}


def test_a_job_that_is_not_to_go_on_by_itself_is_paused_and_said(tree: WorldServer, tmp_path: Path) -> None:
    """PAU-05, JOB-12: with auto_resume off; by its name, or with --all, it goes on as any other."""
    (tmp_path / "holdfast.toml").write_text("auto_resume = false\n")
    for name in ("frogs", "toads"):
        assert holdfast(*crawl_words(tree)[:-1], name, "--start-paused", cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        for job in ledger.jobs():
            put_into(ledger, job, "in_progress")
    done = holdfast("resume", cwd=tmp_path)
    assert done.code == 0
    assert done.err.count("auto_resume is off: it is paused. To go on: holdfast resume ") == 2
    found = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    assert (found["status"], found["paused_by"], found["auto_resume"]) == ("paused", "auto_resume", False)
    assert found["because"] == "found unfinished, and auto_resume is off"
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err
    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert "Resuming toads: " in holdfast("resume", "--all", cwd=tmp_path).err


def test_resume_with_nothing_to_do_says_so(tmp_path: Path) -> None:
    """PAU-14."""
    assert holdfast("resume", cwd=tmp_path).err == (
        "Nothing to resume: no job was stopped by a crash, SIGTERM or Ctrl-C.\n"
    )
    assert list(tmp_path.iterdir()) == []
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "paused")
    done = holdfast("resume", cwd=tmp_path)
    assert done.err.endswith("1 job paused: frogs; --all resumes them too.\n")
    assert done.code == 0


def test_one_job_that_cannot_go_on_does_not_stop_the_others(tree: WorldServer, tmp_path: Path) -> None:
    """ERR-04. `holdfast resume` after a reboot: the job is named with its reason, and the next one is taken up."""
    with ledger_in(tmp_path) as ledger:
        for name, headers in (("bad", (("Authorization", "env:NO_SUCH_NAME"),)), ("good", ())):
            job = submit(ledger, tree, name=name)
            ledger.amend(
                job, options=msgspec.structs.replace(job.options, headers=headers), actor="test", because="test"
            )
            ledger.move(job.id, "start", actor="test", because="test")
    done = holdfast("resume", cwd=tmp_path)
    assert "bad cannot go on: header Authorization: the environment has no NO_SUCH_NAME" in done.err
    assert "Completed  good" in done.err
    assert done.code == 2


def test_a_header_that_cannot_be_read_is_refused_before_it_is_kept(tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(tree, "--start-paused")
    assert holdfast(*words, cwd=tmp_path).code == 0
    refused = holdfast(*words, "--header", "Authorization: env:NO_SUCH_NAME", cwd=tmp_path)
    assert refused.code == 2
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").options.headers == ()
