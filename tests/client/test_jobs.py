"""The facade, as a program uses it: the same call is the same job, and whatever stops it, it goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from holdfast import wiring
from holdfast.config import Settings
from holdfast.demo.serving import WorldServer
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until

PAGES = 40


def crawl(client: hf.Client, world: WorldServer, **more: Any) -> hf.Job:
    return client.crawl(*world.oracle()["seeds"], allow=[world.address], delay=0, **more)


def test_a_job_is_run_and_its_results_are_read(client: hf.Client, tree: WorldServer, tmp_path: Path) -> None:
    job = crawl(client, tree)
    assert (job.status, job.counts.discovered) == ("pending", 0)
    seen: list[hf.Progress] = []
    run = job.run(on_progress=seen.append)
    assert (run.id, run.mode, run.status, run.health, job.status) == ("R-1", "full", "completed", "ok", "completed")
    assert run.coverage is not None
    assert run.coverage["ratio"] == 1.0
    assert seen[-1].counts == job.counts
    assert str(seen[-1]).endswith(" in_flight=0")
    urls = [row.url for row in job.records()]
    assert len(urls) == len(set(urls)) == job.counts.succeeded == PAGES
    assert [row.url for row in job.targets("status:succeeded")] == urls
    assert job.export(tmp_path / "pages.warc.gz") == PAGES
    assert job.verify() == []
    assert job.errors() == []
    assert job.explain(urls[0]).verdict == "fetched"
    assert job.checkpoints()[0].reason == "final"


def test_a_scan_for_what_is_new_begins_no_second_crawl_of_the_same_seeds(client: hf.Client, tree: WorldServer) -> None:
    crawl(client, tree, name="frogs")
    second = crawl(client, tree)
    with pytest.raises(hf.Refused, match="frogs works the same inputs") as refused:
        second.run(mode="new")
    assert refused.value.hint.startswith('did you mean: job("frogs").run(mode="new")')
    assert second.counts.discovered == 0


def test_a_case_is_explained_and_marked_by_its_key(client: hf.Client) -> None:
    with FakeWeb({"/1": "<h1>Case 1</h1>"}) as web:
        job = client.cases("IMM-1-25..IMM-2-25", url=web.url + "/{number}", allow=[web.address], delay=0)
        job.run()
    for reference in ("IMM-2-25", f"{web.url}/2", "/2"):
        found = job.explain(reference)
        assert (found.key, found.verdict, found.disposition) == ("IMM-2-25", "fetched", "no_record")
    job.label("IMM-1-25", "keep")
    assert [row.key for row in job.targets("label:keep")] == ["IMM-1-25"]
    with pytest.raises(hf.NotFound, match="no target of IMM has the key IMM-3-25; a URL begins with http"):
        job.explain("IMM-3-25")


def test_the_same_call_later_is_the_same_job(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree, max_depth=3)
    job.run()
    asked = len(tree.asks())
    again = crawl(client, tree)
    assert again == job
    assert again.run().id == "R-1"
    assert len(tree.asks()) == asked
    assert client.job(job.name) == client.jobs()[0] == job
    with pytest.raises(hf.Refused, match="max_depth: 3, now 2") as refused:
        crawl(client, tree, max_depth=2)
    assert "new=True" in refused.value.hint
    assert refused.value.problem["code"] == "refused"
    anew = crawl(client, tree, max_depth=2, new=True)
    assert anew != job
    assert [each.name for each in client.jobs()] == [f"{job.name}~1", job.name]


def test_a_result_is_marked_and_found_by_its_mark(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    job.run()
    [seed] = job.targets("depth:0")
    job.label(seed.id, "rejected")
    assert [row.url for row in job.targets("label:rejected")] == [seed.url]
    assert len(list(job.records("-label:rejected"))) == PAGES - 1
    job.label(seed.url, None)
    assert list(job.targets("label:rejected")) == []
    with pytest.raises(hf.NotFound):
        job.label("https://marsh.test/nowhere", "keep")


def test_a_completed_job_is_scanned_again_by_its_mode(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    job.run()
    asked = len(tree.asks())
    run = job.run(mode="full")
    assert (run.id, run.mode, job.counts.succeeded) == ("R-2", "full", PAGES)
    assert len(tree.asks()) >= asked + PAGES
    assert len(list(job.records())) == PAGES
    assert {row.change for row in job.diff("R-1", "R-2")} <= {"changed"}
    assert job.verify() == []
    with pytest.raises(hf.BadParams, match="there is no mode 'often'"):
        job.run(mode="often")


def test_every_number_of_a_range_is_accounted_for(client: hf.Client, tree: WorldServer) -> None:
    job = client.cases("IMM-1-25..IMM-5-25", url=tree.url + "/p/{number}", allow=[tree.address], delay=0)
    assert job.run().status == "completed"
    assert job.counts.discovered == 5
    assert sorted(row.key for row in job.records()) == [f"IMM-{n}-25" for n in range(1, 6)]


def test_a_changed_pace_is_applied(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree, concurrency=3)
    same = crawl(client, tree, concurrency=5, timeout="9s")
    assert same == job
    row = same._row()
    assert (row.options.concurrency, row.options.timeout_s) == (5, 9.0)


def test_what_is_given_for_a_completed_job_holds_for_its_next_scan(client: hf.Client, tree: WorldServer) -> None:
    crawl(client, tree, max_pages=5).run()
    job = crawl(client, tree, max_pages=6, concurrency=3)
    assert job.run().status == "timeout"
    assert (job.counts.succeeded, job._row().options.concurrency) == (6, 3)
    done = crawl(client, tree, max_pages=1000)
    done.run()
    again = crawl(client, tree, concurrency=2, max_depth=None)
    assert (again.status, again._row().options.concurrency) == ("completed", 2)


def test_a_completed_job_is_scanned_again_in_another_scope(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    job.run()
    with pytest.raises(hf.Refused) as refused:
        crawl(client, tree, exclude=["/p/1*"])
    assert "update=True" in refused.value.hint
    again = crawl(client, tree, exclude=["/p/1*"], update=True)
    assert (again, again.run().mode) == (job, "full")
    assert [row.url for row in job.records() if "/p/1" in row.url] == []
    assert job.counts.succeeded == PAGES - 11
    assert job.verify() == []


def test_the_options_of_the_command_line_are_there(client: hf.Client) -> None:
    job = client.crawl("https://marsh.test", preset="quick", max_pages=7, sitemap="only", ignore_robots=True)
    row = job._row()
    assert (row.params["max_depth"], row.params["sitemap"]) == (2, "only")
    assert (row.options.max_pages, row.options.delay_ms, row.options.ignore_robots) == (7, 1000, True)
    with closing(wiring.open_ledger(client._settings)) as ledger:
        assert ledger.history(row.id)[0][-1].because == "ignore_robots False -> True"  # it is an audit event
    for wrong in ({"preset": "lazy"}, {"name": "J-7f"}):
        with pytest.raises(hf.BadParams):
            client.crawl("https://marsh.test", **wrong)


@pytest.mark.parametrize("urls", [("banana",), ("https://marsh.test", "banana"), ("",)])
def test_a_bare_word_is_no_site(client: hf.Client, urls: tuple[str, ...]) -> None:
    """As on the command line, where it would be a job's name."""
    with pytest.raises(hf.BadParams, match=f"'{urls[-1]}' is not a URL") as refused:
        client.crawl(*urls)
    assert f"a job by its name: job('{urls[-1]}')" in refused.value.hint
    assert client.jobs() == []


def test_an_export_makes_no_folders_and_overwrites_nothing_of_ours(client: hf.Client, tmp_path: Path) -> None:
    """In the words of the command line."""
    job = client.crawl("https://marsh.test")
    wanted = tmp_path / "nowhere" / "pages.csv"
    with pytest.raises(hf.BadParams) as refused:
        job.export(wanted)
    assert refused.value.message == f"{wanted}: there is no folder {wanted.parent}"
    assert refused.value.hint == f"mkdir -p {wanted.parent}"
    assert not wanted.parent.exists()
    with pytest.raises(hf.BadParams, match="the data folder keeps its own"):
        job.export(tmp_path / "data" / "segments" / "pages.csv")


def test_a_list_is_a_batch_of_jobs(client: hf.Client, tmp_path: Path) -> None:
    (tmp_path / "ponds.csv").write_text("pond,pages\nnorth,3\nsouth,5\n")
    template = 'name = "{pond}"\nseeds = ["https://{pond}.test/"]\ndelay = "2s"\noutput = "{pond}.jsonl"\n'
    (tmp_path / "pond.toml").write_text(template + 'header = ["Accept-Language: en"]\n')
    jobs = client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml")
    assert [(job.name, job.status) for job in jobs] == [("north", "pending"), ("south", "pending")]
    options = jobs[1]._row().options
    assert (options.batch, options.delay_ms, options.headers) == ("ponds", 2000, (("Accept-Language", "en"),))
    assert client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml") == jobs
    (tmp_path / "pond.toml").write_text('name = "{pond}"\nseeds = ["ftp://{pond}.test/"]\n')
    with pytest.raises(hf.BadParams, match=r"ponds\.csv:2: 'ftp://north\.test/' is not an http"):
        client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml")


BAD_ROWS = {
    "a seed that is none": ("banana", "'banana' is not a URL"),
    "a scheme of its own": ("ftp://south.test/", "'ftp://south.test/' is not an http or https URL"),
    "a private address": (
        "http://127.0.0.1:1/",
        "127.0.0.1 is a private address; refused. To allow: allow_private=True",
    ),
}


@pytest.mark.parametrize("what", BAD_ROWS)
def test_all_rows_of_a_list_are_checked_before_the_first_job(what: str, client: hf.Client, tmp_path: Path) -> None:
    """As the command checks them: what is wrong with a row is said with its line, and nothing is stored."""
    seed, said = BAD_ROWS[what]
    (tmp_path / "ponds.csv").write_text(
        f"pond,seed\nnorth,https://north.test/\neast,https://east.test/\nsouth,{seed}\n"
    )
    (tmp_path / "pond.toml").write_text('name = "{pond}"\nseeds = ["{seed}"]\n')
    for _ in range(2):
        with pytest.raises(hf.BadParams) as refused:
            client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml")
        assert refused.value.message.startswith(f"{tmp_path / 'ponds.csv'}:4: {said}")
        assert refused.value.message.endswith("; nothing was begun")
        assert not (tmp_path / "data").exists()


def test_two_rows_that_are_the_same_job_are_refused_before_the_first_is_submitted(
    client: hf.Client, tmp_path: Path
) -> None:
    (tmp_path / "ponds.csv").write_text("pond\nnorth\nsouth\n")
    (tmp_path / "pond.toml").write_text('seeds = ["https://a.test/"]\ninclude = ["/{pond}/*"]\n')
    with pytest.raises(hf.BadParams, match=r"ponds\.csv:3: it is the job of line 2 too"):
        client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml")
    assert client.jobs() == []


def test_a_row_for_a_job_with_other_inputs_keeps_the_rows_before_it_from_being_submitted(
    client: hf.Client, tmp_path: Path
) -> None:
    south = client.crawl("https://south.test/", name="south")
    (tmp_path / "ponds.csv").write_text("pond\nnorth\nsouth\n")
    (tmp_path / "pond.toml").write_text('name = "{pond}"\nseeds = ["https://{pond}.test/pages"]\n')
    with pytest.raises(hf.BadParams, match=r"ponds\.csv:3: south has other inputs:"):
        client.batch(tmp_path / "ponds.csv", tmp_path / "pond.toml")
    assert client.jobs() == [south]


def test_several_processes_work_a_job(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    seen: list[hf.Progress] = []
    assert job.run(processes=2, on_progress=seen.append).status == "completed"
    assert seen[-1].counts.succeeded == PAGES
    with pytest.raises(hf.BadParams, match="processes: must be from 1 to 16"):
        job.run(processes=17)


def test_a_range_of_a_hundred_thousand_is_submitted_at_once(client: hf.Client) -> None:
    """CAS-09: by the processor's time, which no neighbour on this computer can take away; and it is one plan row."""
    began = time.process_time()
    job = client.cases("IMM-1-25..IMM-99999-25", url="https://court.test/{prefix}-{number}-{year}")
    assert time.process_time() - began < 1.0
    with closing(wiring.open_ledger(client._settings)) as ledger:
        assert ledger.query("SELECT job, cursor, done FROM plan") == [(job._key, 0, 0)]
        assert ledger.query("SELECT count(*) FROM target") == [(0,)]


def test_reading_makes_no_folder(client: hf.Client, tmp_path: Path) -> None:
    assert client.jobs() == client.limits() == client.limits("judicial.ky") == []
    with pytest.raises(hf.NotFound, match="yet, so there are no jobs"):
        client.job("pond")
    assert not (tmp_path / "data").exists()
    (tmp_path / "data" / "segments" / "J-1").mkdir(parents=True)
    for read in (client.jobs, client.limits, lambda: client.job("pond")):
        with pytest.raises(hf.HoldfastError, match="knows of no job"):
            read()
    with pytest.raises(hf.BadParams, match="is a file"):
        hf.Client(data=__file__).jobs()


def test_a_host_is_limited_for_all_jobs(client: hf.Client) -> None:
    [look] = client.limits("judicial.ky", delay="2s", concurrency=1)
    assert (look.host, look.delay_seconds, look.concurrency) == ("judicial.ky", 2.0, 1)
    assert client.limits() == [look]
    with pytest.raises(hf.BadParams, match="which host"):
        client.limits(delay=1)


def test_a_filter_that_cannot_be_used_is_refused_before_anything_is_read(client: hf.Client) -> None:
    job = client.crawl("https://marsh.test")
    for read in (job.targets, job.records):
        with pytest.raises(hf.BadParams, match="bogus"):
            read("bogus:1")


def test_rows_show_what_they_are_about(client: hf.Client) -> None:
    with FakeWeb({"/": '<a href="/gone">x</a>'}) as web:
        job = client.crawl(web.url, allow=[web.address], delay=0)
        job.run()
    [failures] = job.errors()
    assert repr(failures) == f"<code='http_404' host='{web.address}' count=1>"
    assert repr(job.explain(web.url)).startswith(f"<{web.url}/ ")
    assert "verdict='fetched'" in repr(job.explain(web.url))


def test_a_page_limit_ends_it_and_more_pages_go_on(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree, max_pages=10)
    assert job.run().status == "timeout"
    assert job.counts.succeeded == 10
    assert job.resume(extend_pages=5).stop_reason == "page_limit"
    assert job.counts.succeeded == 15


def test_a_job_is_carried_to_another_folder_by_a_snapshot(client: hf.Client, tree: WorldServer, tmp_path: Path) -> None:
    job = crawl(client, tree, max_pages=12)
    job.run()
    path = job.snapshot()
    assert path.parent == tmp_path / "data" / "snapshots" / job.id
    with pytest.raises(hf.Refused, match="already"):
        client.restore(path, trust=True)
    with pytest.raises(hf.Refused, match=f"fetches from these private addresses: {tree.address}"):
        client.restore(path, name="another")
    carried = hf.restore(job.snapshot(tmp_path / "frogs.tar"), trust=True, data=tmp_path / "other")
    assert (carried.id, carried.counts.succeeded, carried.verify()) == (job.id, 12, [])
    carried.resume(extend_pages=1000)
    job.resume(extend_pages=1000)
    assert {row.sha256 for row in carried.records()} == {row.sha256 for row in job.records()}
    assert carried.verify() == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delya": 1}, "did you mean delay?"),
        ({"delay": "soon"}, "delay: 'soon' is not a duration"),
        ({"concurrency": 0}, "concurrency: must be from 1 to 256"),
        ({"headers": {"Authorization": "secret"}}, "headers: Authorization would be stored in the clear"),
        ({"cookies": "yes"}, "cookies: 'yes' is given; wanted is True or False"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(client: hf.Client, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(hf.BadParams) as refused:
        client.crawl("https://marsh.test/", **options)
    assert sentence in refused.value.message
    assert client.jobs() == []


def test_failures_are_queued_again_and_traps_are_excluded(client: hf.Client, tmp_path: Path) -> None:
    with WorldServer("manual", delay_ms=0, log_path=tmp_path / "requests.jsonl") as world:
        job = crawl(client, world, max_depth=1)
        left_out = job.exclude("/v1/*")
        run = job.run()
        assert job.counts.failed == len(list(job.targets("status:failed"))) == sum(row.count for row in job.errors())
        assert job.retry("code:tls_error") == 0
        requeued = job.retry()
        assert requeued == (run.counts.failed if run.counts else 0)
        assert job.counts.failed == 0 or not requeued
        job.run()
    assert left_out == 0
    assert not [row.url for row in job.targets("status:succeeded") if "/v1/" in row.url.removesuffix("/v1/")]
    assert job.verify() == []


def test_what_would_be_queued_or_left_out_is_foretold(client: hf.Client) -> None:
    with FakeWeb({"/": '<a href="/a">a</a><a href="/gone">gone</a><a href="/b">b</a>', "/a": "a", "/b": "b"}) as web:
        job = client.crawl(f"{web.url}/", allow=[web.address], delay=0, max_pages=1)
        job.run()
        assert (job.exclude("^/[ab]$", regex=True, dry_run=True), job.counts.skipped) == (2, 0)
        assert (job.exclude("^/[ab]$", regex=True), job.counts.skipped) == (2, 2)
        job.resume(extend_pages=10)
        assert (job.retry(dry_run=True), job.counts.failed) == (1, 1)
        assert (job.retry("code:tls_error", dry_run=True), job.retry(), job.counts.failed) == (0, 1, 0)


def test_every_run_keeps_its_numbers(client: hf.Client) -> None:
    """JOB-05, JOB-06: what failed then, by code, whatever was done about it since."""
    pages: dict[str, Any] = {"/": '<a href="/a">a</a><a href="/gone">gone</a>', "/a": "a"}
    with FakeWeb(pages) as web:
        job = client.crawl(f"{web.url}/", allow=[web.address], delay=0)
        job.run()
        pages["/gone"] = "back"
        job.retry()
        job.run()
    second, first = job.runs()
    assert (first.error_counts, first.error_summary, first.health) == ({"http_404": 1}, "http_404 1", "partial")
    assert (second.error_counts, second.error_summary, second.health) == ({}, None, "ok")
    assert first.coverage is not None
    assert (first.coverage["total"], first.coverage["succeeded"], first.coverage["failed"]) == (3, 2, 1)
    document = first.document
    assert (document["run_id"], document["job_id"], document["params"]) == ("R-1", job.id, job.document()["params"])
    assert {name: n for name, n in document.items() if name.startswith("targets_") and n} == {
        "targets_total": 3, "targets_succeeded": 2, "targets_failed": 1,
    }  # fmt: skip


def test_a_private_address_is_refused_and_no_job_is_made(client: hf.Client) -> None:
    """C7, in Python."""
    with pytest.raises(hf.BadParams, match="allow_private=True"):
        client.crawl("http://127.0.0.1:9/")
    assert client.jobs() == []


def test_another_thread_pauses_what_this_one_runs(client: hf.Client, slow_tree: WorldServer) -> None:
    job = crawl(client, slow_tree)
    pausing = threading.Thread(target=lambda: (wait_until(lambda: job.counts.succeeded > 3, 30), job.pause()))
    pausing.start()
    assert job.run().status == "paused"
    pausing.join()
    assert job.status == "paused"
    assert job.counts.in_progress == 0
    with pytest.raises(hf.IllegalMove):
        job.pause()
    job.cancel()
    assert (job.status, job.counts.pending) == ("cancelled", 0)


def test_an_error_in_on_progress_stops_the_run_and_is_raised(client: hf.Client, slow_tree: WorldServer) -> None:
    job = crawl(client, slow_tree)

    def stumble(progress: hf.Progress) -> None:
        if progress.counts.succeeded:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        job.run(on_progress=stumble)
    assert job.verify() == []
    assert "no process works it" in job.because


SCRIPT = """
import sys, holdfast as hf
job = hf.crawl(sys.argv[1], allow=[sys.argv[2]], delay=0, data=sys.argv[3])
print("ready", flush=True)
run = job.run()
print(run.status, job.because)
"""


def test_ctrl_c_pauses_and_returns_the_run(client: hf.Client, slow_tree: WorldServer, tmp_path: Path) -> None:
    [seed] = slow_tree.oracle()["seeds"]
    words = [sys.executable, "-c", SCRIPT, seed, slow_tree.address, str(tmp_path / "data")]
    program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    job = crawl(client, slow_tree)
    wait_until(lambda: job.counts.succeeded > 3, 30)
    program.send_signal(signal.SIGINT)
    out, _ = program.communicate(timeout=60)
    assert out.splitlines() == ["ready", "paused paused by Ctrl-C"]
    assert program.returncode == 0
    assert job.status == "paused"


def test_the_doctor_answers_with_its_checks(client: hf.Client) -> None:
    checks = client.doctor()
    assert "ledger" in {check.name for check in checks}
    assert all(check.ok for check in checks if check.required)


def test_what_a_site_wrote_is_text_in_a_notebook(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    job.name = "<script>"
    card = job._repr_html_()
    assert "<script" not in card
    assert job.id in card
    assert "discovered 0 = 0 succeeded" in card
    assert repr(job).startswith(f"<Job <script> {job.id} site pending: 0 done, 0 left, 0 failed; ")


def test_what_the_settings_say_about_a_host_holds_in_python_too(tree: WorldServer, tmp_path: Path) -> None:
    """CFG-01: the same settings, whatever the entry point."""
    (tmp_path / "holdfast.toml").write_text(
        f'max_attempts = 7\nhosts."{tree.address}" = {{ delay = "3ms", concurrency = 3 }}\n'
    )
    client = hf.Client(data=tmp_path / "data", config_file=tmp_path / "holdfast.toml")
    job = crawl(client, tree, max_depth=1)
    assert job.run().status == "completed"
    with closing(wiring.open_ledger(Settings(data=tmp_path / "data"))) as ledger:
        [host] = ledger.hosts(host=tree.address)
        assert ledger.job(job.name).options.max_attempts == 7
    assert (host.delay_ms, host.concurrency) == (3, 3)


def test_a_configuration_that_cannot_be_used_is_refused_in_python_too(tmp_path: Path) -> None:
    """CFG-01."""
    (tmp_path / "holdfast.toml").write_text("min_free_mb = -1\n")
    with pytest.raises(hf.HoldfastError, match="min_free_mb: must be from 0"):
        hf.Client(data=tmp_path / "data", config_file=tmp_path / "holdfast.toml")
    assert not (tmp_path / "data").exists()


def test_a_job_goes_back_to_a_checkpoint(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree, max_pages=10)
    job.run()
    number = job.checkpoints()[0].number
    job.resume(extend_pages=1000)
    assert job.counts.succeeded == PAGES
    told = job.rollback(number, dry_run=True)
    assert (job.counts.succeeded, told.counts["succeeded"], told.snapshot) == (PAGES, 10, None)
    copy = client.job(job.rollback(number, fork="tadpoles").job)
    assert (copy.name, copy.status, copy.counts.seven()) == ("tadpoles", "paused", told.counts)
    assert job.counts.succeeded == PAGES
    done = job.rollback(number)
    assert (done.requeues, done.drops, done.counts) == (told.requeues, told.drops, job.counts.seven())
    assert (job.status, job.because, Path(done.snapshot).exists()) == (
        "paused",
        f"rolled back to checkpoint {number}",
        True,
    )
    assert job.run().status == "completed"
    assert (job.counts.succeeded, job.verify()) == (PAGES, [])


@pytest.mark.parametrize("columns", [{"url": "Link", "keyword": "Class"}, "url=Link,keyword=Class"])
def test_images_of_a_list_whose_columns_have_other_names(client: hf.Client, tmp_path: Path, columns: Any) -> None:
    """IMG-11"""
    birds = tmp_path / "birds.csv"
    birds.write_text("Link,Class\nhttps://a.test/1.jpg,heron\n")
    params = client.images(urls=birds, columns=columns)._row().params
    assert (params["keywords"], params["list"]["mapping"]) == (["heron"], {"url": "Link", "keyword": "Class"})
    with pytest.raises(hf.BadParams, match="columns has no field 'link'"):
        client.images(urls=birds, columns={"link": "Link"})
