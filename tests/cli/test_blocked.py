"""A site that blocks us pauses the job, with everything that is left (JOB-12, ERR-02; worlds.md 2, defect 15)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.commands import Done, holdfast, ledger_in
from holdfast.audit.verify import verify
from holdfast.testing.fake_web import Answer, FakeWeb, Said

FROGS = [f"/frog/{n}" for n in range(30)]
START = "".join(f"<a href={path}>frog</a>" for path in FROGS)
CAPTCHA = "<title>Access denied</title><p>Please solve the captcha.</p>"
ALONE = ("--concurrency", "1", "--per-host", "1")


class Site:
    """A start page and thirty frogs, which answer as `frog` says, and well once they are `open`."""

    def __init__(self, frog: Callable[[int], Said]) -> None:
        self._frog, self.open = frog, False

    def __call__(self, path: str) -> Said:
        if path == "/":
            return START
        return "<p>a frog</p>" if self.open else self._frog(int(path.rpartition("/")[2]))


def crawl(web: FakeWeb, folder: Path, *more: str, **env: str) -> Done:
    words = ["crawl", web.url, "--name", "frogs", *web.options, "--json", *more]
    return holdfast(*words, cwd=folder, **env)


def rows(folder: Path) -> dict[str, tuple[str, str | None, int]]:
    """path -> (status, code, attempts), with a ledger that verify finds whole."""
    with ledger_in(folder) as ledger:
        job = ledger.job("frogs")
        assert verify(ledger.query, job.id) == []
        return {"/" + row.url.split("/", 3)[3]: (row.status, row.code, row.attempts) for row in ledger.targets(job.id)}


def test_403_ten_times_in_a_row_pauses_the_job_and_resume_goes_on(tmp_path: Path) -> None:
    """JOB-12: paused_by and stop_reason say blocked, because names the host; what is left stays pending."""
    site = Site(lambda n: 403)
    with FakeWeb(site) as web:
        done = crawl(web, tmp_path, *ALONE)
        said = done.json()
        assert (done.code, said["status"], said["paused_by"], said["stop_reason"]) == (
            10,
            "paused",
            "blocked",
            "blocked",
        )
        assert said["because"] == f"{web.address} blocks us: it answered 403 10 times in a row"
        assert f"  because: {web.address} blocks us" in done.err
        assert (said["counts"]["failed"], said["counts"]["pending"], len(web.asked)) == (10, 20, 11)
        site.open = True
        done = holdfast("resume", "frogs", "--json", cwd=tmp_path)
        said = done.json()
        assert (done.code, said["status"], said["counts"]["succeeded"], said["failed_by"]) == (
            3, "completed", 21, {"http_403": 10},
        )  # fmt: skip
        done = holdfast("retry", "frogs", "--where", "code:http_403", "--json", cwd=tmp_path)
        assert (done.code, done.json()["counts"]["succeeded"]) == (0, 31), done.err
    assert {end[0] for end in rows(tmp_path).values()} == {"succeeded"}


def test_one_that_still_blocks_pauses_it_again_after_one_more(tmp_path: Path) -> None:
    """The count is the host's and durable: a new process does not begin at nothing."""
    with FakeWeb(Site(lambda n: 403)) as web:
        assert crawl(web, tmp_path, *ALONE).code == 10
        asked = len(web.asked)
        done = holdfast("resume", "frogs", "--json", cwd=tmp_path)
        assert (done.code, done.json()["paused_by"], len(web.asked) - asked) == (10, "blocked", 1)
        assert done.json()["because"].endswith("answered 403 11 times in a row")


def test_several_processes_count_together_and_all_stop(tmp_path: Path) -> None:
    with FakeWeb(Site(lambda n: 403)) as web:
        done = crawl(web, tmp_path, "--processes", "2")
        said = done.json()
    assert (done.code, said["status"], said["paused_by"]) == (10, "paused", "blocked"), done.err
    assert (said["counts"]["succeeded"], said["counts"]["in_progress"]) == (1, 0)
    assert said["counts"]["failed"] >= 10
    assert said["counts"]["pending"] >= 1


def test_a_site_where_some_pages_are_forbidden_is_not_blocked(tmp_path: Path) -> None:
    with FakeWeb(Site(lambda n: 403 if n < 9 else "<p>a frog</p>")) as web:
        done = crawl(web, tmp_path, *ALONE)
    assert (done.code, done.json()["status"], done.json()["failed_by"]) == (3, "completed", {"http_403": 9})


@pytest.mark.parametrize("status", [200, 403, 503])
def test_three_block_pages_in_a_row_pause_and_are_no_pages_and_no_failures(tmp_path: Path, status: int) -> None:
    """JOB-12: no false success, no attempt spent; the pages that met it are fetched after the block is over."""
    site = Site(lambda n: Answer(CAPTCHA, status=status))
    with FakeWeb(site) as web:
        done = crawl(web, tmp_path, *ALONE)
        said = done.json()
        assert (done.code, said["paused_by"], said["stop_reason"], len(web.asked)) == (10, "blocked", "blocked", 4)
        assert said["because"] == (
            f"{web.address} blocks us: it answered {status} with a block page ('captcha' and 'access denied')"
        )
        ends = rows(tmp_path)
        assert ends.pop("/") == ("succeeded", None, 1)
        assert list(ends.values()) == [("pending", None, 0)] * 30
        tried = web.asked[-1]
        why = holdfast("explain", "frogs", tried, "--json", cwd=tmp_path).json()
        assert (why["verdict"], why["undo"]) == ("waiting", "holdfast resume frogs")
        assert [(each["outcome"], each["message"][:8]) for each in why["attempts"]] == [("handed_back", "blocked:")]
        site.open = True
        assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert rows(tmp_path) == dict.fromkeys(("/", *FROGS), ("succeeded", None, 1))


def test_who_wants_such_answers_taken_like_any_other_says_so(tmp_path: Path) -> None:
    """`http.detect_blocks = false`, also after the job was paused."""
    with FakeWeb(Site(lambda n: 403 if n % 2 else CAPTCHA)) as web:
        assert crawl(web, tmp_path).code == 10
        done = crawl(web, tmp_path, HOLDFAST_HTTP__DETECT_BLOCKS="false")
        assert "detect" in done.err
    assert (done.code, done.json()["failed_by"]) == (3, {"http_403": 15})
    assert done.json()["counts"]["succeeded"] == 16


RECIPE = """
from holdfast.recipe import Recipe, record, target

frogs = Recipe("frogs")

@frogs.plan
def plan(params):
    yield target(params["start"])

@frogs.step("page")
async def page(here, fetch):
    try:
        await fetch(here.url)
    except Exception:
        yield record(frog="none")
"""


def test_a_step_that_catches_everything_does_not_hide_a_block_page(tmp_path: Path) -> None:
    (tmp_path / "frogs.py").write_text(RECIPE)
    with FakeWeb(lambda path: CAPTCHA) as web:
        words = ["run", "frogs.py", "--param", f"start={web.url}/", *web.options, "--name", "frogs", "--json"]
        done = holdfast(*words, cwd=tmp_path)
    assert (done.code, done.json()["paused_by"]) == (10, "blocked"), done.err
    assert rows(tmp_path) == {"/": ("pending", None, 0)}


def test_a_block_page_is_no_missing_case(tmp_path: Path) -> None:
    """worlds.md 2, defect 15: it keeps the queue, and records no miss."""
    with FakeWeb(lambda path: CAPTCHA) as web:
        words = ["cases", "IMM-1-49..IMM-5-49", "--url", web.url + "/{number}", *web.options, "--json", *ALONE]
        done = holdfast(*words, cwd=tmp_path)
    said = json.loads(done.out)
    assert (done.code, said["paused_by"], said["counts"]["pending"]) == (10, "blocked", 5), done.err
    assert said["skipped_by"] == {}


HELP = "<title>Help</title><p>If a captcha says: access denied, solve it.</p>"


def test_a_help_page_about_captchas_is_a_page_and_pauses_nothing(tmp_path: Path) -> None:
    """JOB-12: one page that looks like a block, among good ones, is looked at again and taken as it is."""
    with FakeWeb(Site(lambda n: HELP if n == 3 else "<p>a frog</p>")) as web:
        done = crawl(web, tmp_path, *ALONE)
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 31), done.err
    assert web.asked.count("/frog/3") == 2
    assert "/frog/3 looks like a block page ('captcha' and 'access denied'), but" in done.err
    assert rows(tmp_path)["/frog/3"] == ("succeeded", None, 1)


def test_a_help_page_that_is_left_over_is_taken_by_a_resume(tmp_path: Path) -> None:
    """After a pause it is the only page: what the host gave before speaks for it."""
    with FakeWeb(Site(lambda n: HELP if n == 29 else "<p>a frog</p>")) as web:
        assert crawl(web, tmp_path, *ALONE, "--max-pages", "30").code == 13
        done = holdfast("resume", "frogs", "--extend-pages", "9", "--json", cwd=tmp_path)
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 31), done.err


@pytest.mark.parametrize("status", [200, 403])
def test_a_site_that_shows_nothing_but_a_block_page_is_blocked(tmp_path: Path, status: int) -> None:
    """JOB-12: the seed alone, looked at twice; no good page speaks for it."""
    with FakeWeb(lambda path: Answer(CAPTCHA, status=status)) as web:
        done = crawl(web, tmp_path)
    assert (done.code, done.json()["paused_by"], web.asked) == (10, "blocked", ["/", "/"]), done.err
    assert rows(tmp_path) == {"/": ("pending", None, 0)}


def test_redirects_to_one_captcha_are_a_block(tmp_path: Path) -> None:
    """The captcha is one page however many lead to it, and a redirect is no good answer."""

    def said(path: str) -> Said:
        if path == "/":
            return START
        return CAPTCHA if path == "/captcha" else Answer(status=302, headers={"Location": "/captcha"})

    with FakeWeb(said) as web:
        done = crawl(web, tmp_path, *ALONE)
    assert (done.code, done.json()["paused_by"]) == (10, "blocked"), done.err
    assert rows(tmp_path)["/captcha"] == ("pending", None, 0)


def test_a_host_that_blocks_is_left_alone_while_others_are_asked(tmp_path: Path) -> None:
    """JOB-12: the job goes on with the other host, and pauses when nothing else is left."""
    toad = START.replace("frog/", "toad/")
    with (
        FakeWeb(lambda path: toad if path == "/" else "<p>a toad</p>") as toads,
        FakeWeb(Site(lambda n: CAPTCHA)) as web,
    ):
        options = ("--scope", "any", *toads.options, *web.options, "--per-host", "1")
        done = holdfast("crawl", web.url, toads.url, "--name", "frogs", *options, "--json", cwd=tmp_path)
    said = done.json()
    assert (done.code, said["paused_by"]) == (10, "blocked"), done.err
    assert said["because"].startswith(f"{web.address} blocks us: it answered 200 with a block page")
    assert (len(toads.asked), said["counts"]["succeeded"]) == (31, 32), done.err
    assert (said["counts"]["failed"], said["counts"]["pending"]) == (0, 30)


def test_a_host_that_blocks_by_one_page_pauses_the_job_when_no_other_is_left(tmp_path: Path) -> None:
    """JOB-12: all its pages lead to one captcha; the job waited for it, ten minutes, with nothing to do."""
    toad = START.replace("frog/", "toad/")

    def frog(path: str) -> Said:
        return CAPTCHA if path == "/captcha" else Answer(status=302, headers={"Location": "/captcha"})

    with FakeWeb(lambda path: toad if path == "/" else "<p>a toad</p>") as toads, FakeWeb(frog) as web:
        options = ("--scope", "any", *toads.options, *web.options, "--per-host", "1", "--delay", "0.15")
        options = (*options, "--time-limit", "30s")
        seeds = [f"{web.url}/{n}" for n in range(2)]
        done = holdfast("crawl", *seeds, toads.url, "--name", "frogs", *options, "--json", cwd=tmp_path)
    assert (done.code, done.json()["paused_by"]) == (10, "blocked"), done.err
    assert len(toads.asked) == 31
