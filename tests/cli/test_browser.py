"""`--browser` as a user has it: pages that scripts make, kill -9 of browser and crawler, no Chromium at all."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast as hf
from cli.commands import Running, holdfast, ledger_in, until_some_are_done
from cli.test_doctor import checks
from fetch.browsing import need_chromium, processes_with
from holdfast.testing import Answer, FakeWeb
from waiting import wait_until

PAGES = 6
LINKS = "for (let n = 0; n < 6; n++) document.write(`<a href=/frog/${n}>frog</a>`)"
FROG = "<title>no frog</title><script>document.title = 'frog ' + location.pathname</script>"


@pytest.fixture
def pond() -> Iterator[FakeWeb]:
    need_chromium()

    def answer(path: str) -> object:
        if path == "/":
            return f"<title>pond</title><body><script>{LINKS}</script>"
        return FROG if path.startswith("/frog/") else 404

    with FakeWeb(answer) as web:  # type: ignore[arg-type]
        yield web


def words(web: FakeWeb, *more: str) -> list[str]:
    address = web.url.removeprefix("http://")
    return ["crawl", f"{web.url}/", "--allow", address, "--name", "pond", "--delay", "0", *more]


def titles(folder: Path) -> list[str]:
    done = holdfast("export", "pond", "-o", "-", cwd=folder)
    return sorted(json.loads(line)["title"] for line in done.out.splitlines())


ALL = sorted(["pond", *(f"frog /frog/{n}" for n in range(PAGES))])


def test_a_page_that_scripts_make_is_empty_without_and_whole_with_browser(pond: FakeWeb, tmp_path: Path) -> None:
    assert holdfast(*words(pond), cwd=tmp_path).code == 3
    assert titles(tmp_path) == ["pond"]
    done = holdfast(*words(pond, "--browser", "--new"), cwd=tmp_path)
    assert (done.code, titles(tmp_path)) == (0, ALL), done.err
    hf.Client(data=str(tmp_path / "holdfast-data")).crawl(
        f"{pond.url}/", browser=True, name="python", allow_private=True
    )
    with ledger_in(tmp_path) as ledger:
        assert [job.options.browser for job in ledger.jobs()] == [False, True, True]


def test_a_browser_killed_in_the_middle_costs_no_page_and_no_attempt(pond: FakeWeb, tmp_path: Path) -> None:
    mark = secrets.token_hex(8)
    running = _marked(mark, *words(pond, "--browser", "--delay", "100ms"), cwd=tmp_path)
    until_some_are_done(tmp_path, 3)
    os.kill(_browsers(mark)[0], signal.SIGKILL)
    done = running.end()
    assert (done.code, titles(tmp_path)) == (0, ALL), done.err
    with ledger_in(tmp_path) as ledger:
        assert ledger.query("SELECT max(attempts) FROM target") == [(1,)]
    wait_until(lambda: not processes_with(mark), 30, "no process is left")


def test_no_browser_outlives_a_crawler_that_was_killed(pond: FakeWeb, tmp_path: Path) -> None:
    """DOC-26."""
    mark = secrets.token_hex(8)
    running = _marked(mark, *words(pond, "--browser", "--delay", "300ms"), cwd=tmp_path)
    until_some_are_done(tmp_path, 2)
    assert _browsers(mark)
    running.stop()
    wait_until(lambda: not processes_with(mark), 30, "no process is left")
    done = holdfast(*words(pond), cwd=tmp_path)  # the job knows that it is worked by a browser
    assert (done.code, titles(tmp_path)) == (0, ALL), done.err
    assert holdfast("verify", "pond", cwd=tmp_path).code == 0


COURT = """
from holdfast.recipe import Recipe, record, target

court = Recipe("court", params={"start": str})

@court.plan
def plan(params):
    for name in ("bufo", "secret"):
        yield target(params["start"] + "/search?" + name, type="search", params={"name": name})

@court.step("search")
async def search(here, fetch):
    async with fetch.page() as page:
        await page.goto(here.url)
        await page.fill("input", here.params["name"])
        await page.click("button")
        await page.wait_for("h1")
        yield record(title=await page.evaluate("document.querySelector('h1').innerText"))
"""


def test_a_recipe_fills_in_a_form_and_robots_txt_holds_for_where_it_leads(tmp_path: Path) -> None:
    """DOC-16."""
    need_chromium()
    form = "<form onsubmit=\"location = '/found/' + q.value; return false\"><input id=q><button>go</button></form>"

    pages = {
        "/robots.txt": Answer("User-agent: *\nDisallow: /found/secret", headers={"Content-Type": "text/plain"}),
        **{f"/search?{name}": form for name in ("bufo", "secret")},
        **{f"/found/{name}": f"<h1>{name}</h1>" for name in ("bufo", "secret")},
    }
    (tmp_path / "court.py").write_text(COURT)
    with FakeWeb(pages) as web:
        address = web.url.removeprefix("http://")
        words = ("run", "court.py", "--param", f"start={web.url}", "--name", "pond", "--delay", "0", "--allow", address)
        done = holdfast(*words, cwd=tmp_path)
        assert "/found/secret" not in web.asked
    assert done.code == 0, done.err
    assert titles(tmp_path) == ["bufo"]
    rows = [json.loads(line) for line in holdfast("targets", "pond", "--jsonl", cwd=tmp_path).out.splitlines()]
    assert sorted((row["status"], row.get("disposition")) for row in rows) == [
        ("skipped", "robots"),
        ("succeeded", "record"),
    ]


def test_without_chromium_no_job_is_begun_and_what_to_install_is_said(tmp_path: Path) -> None:
    missing = {"HOLDFAST_BROWSER__PATH": str(tmp_path / "chromium")}
    done = holdfast("crawl", "pond.test", "--browser", cwd=tmp_path, **missing)
    assert done.code == 2
    assert "apt-get install chromium" in done.err
    with ledger_in(tmp_path) as ledger:
        assert ledger.jobs() == []
    found = checks(tmp_path, **missing)["browser"]
    assert (found["ok"], found["required"]) == (False, False)


def test_doctor_says_which_browser_is_driven(tmp_path: Path) -> None:
    """DOC-30."""
    need_chromium()
    found = checks(tmp_path)["browser"]
    assert found["ok"], found
    assert "hrom" in found["detail"]


def _marked(mark: str, *words: str, cwd: Path) -> Running:
    """A command whose processes can be told from all others."""
    running = Running(*words, cwd=cwd, POND=mark)
    running.wait_for("Starting")
    return running


def _browsers(mark: str) -> list[int]:
    """The first process of each browser."""
    pids = processes_with(mark)
    return [pid for pid in pids if (line := _line(pid)) and "--remote-debugging-pipe" in line and "--type=" not in line]


def _line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
