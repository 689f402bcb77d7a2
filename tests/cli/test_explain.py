"""`explain`, `frontier`, `status --by` and `diff`: why, what next, how it splits, what changed."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli.commands import CONTROL_CODE, Running, crawl_words, holdfast, ledger_in, submit
from cli.marsh import marsh
from cli.schemas import validator
from holdfast.demo.serving import WorldServer
from holdfast.model.outcome import seal_of
from holdfast.model.states import COUNTED
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until

Place = tuple[Path, str]  # folder, address of the site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A finished crawl with a page of every fate but one."""
    folder = tmp_path_factory.mktemp("marsh")
    with marsh() as address:
        done = holdfast(*marsh_words(address, "/"), "--max-depth", "2", "--exclude", "/tags/*", cwd=folder)
    assert done.code == 0, done.err
    return folder, address


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A crawl that goes on, of which the only page left waits for an hour."""
    folder = tmp_path_factory.mktemp("waiting")
    with marsh() as address:
        crawl = Running(*marsh_words(address, "/patience"), cwd=folder)
        try:
            wait_until(lambda: attempts_of(folder, address) == 1, 30, "the page has been tried")
            yield folder, address
        finally:
            crawl.stop()


def marsh_words(address: str, path: str) -> list[str]:
    return ["crawl", f"http://{address}{path}", "--allow", address, "--delay", "0", "--name", "frogs"]


def attempts_of(folder: Path, address: str) -> int:
    done = holdfast("explain", "frogs", f"http://{address}/busy", "--json=attempts,status", cwd=folder)
    return len(done.json()["attempts"]) if done.code == 0 and done.json()["status"] == "pending" else 0


def why(site: Place, path: str) -> dict[str, Any]:
    folder, address = site
    url = path if "://" in path or path.startswith("T-") else f"http://{address}{path}"
    done = holdfast("explain", "frogs", url, "--json", cwd=folder)
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json()
    return found


def test_a_page_that_was_fetched_says_when_and_where_it_was_found(site: Place) -> None:
    """C9."""
    found = why(site, "/frog")
    assert list(found)[:10] == [
        "schema", "url", "verdict", "status", "because", "rule", "found_on", "depth", "attempts", "undo",
    ]  # fmt: skip
    assert (found["verdict"], found["status"], found["depth"]) == ("fetched", "succeeded", 1)
    assert found["found_on"] == f"http://{site[1]}/"
    assert [(each["n"], each["http_status"]) for each in found["attempts"]] == [(1, 200)]


def test_a_failed_page_says_its_code_its_attempts_and_how_to_retry_it(site: Place) -> None:
    """C9."""
    found = why(site, "/gone")
    assert (found["verdict"], found["code"]) == ("failed", "http_404")
    assert "no such page" in found["because"]
    assert [each["code"] for each in found["attempts"]] == ["http_404"]
    assert found["undo"] == f"holdfast retry frogs --where url:http://{site[1]}/gone"


@pytest.mark.parametrize("path", ["/a,b", "/a*b", "/a?q=1,2&r=*", "/plain"])
def test_the_command_that_changes_a_failure_means_that_target_alone(path: str, tmp_path: Path) -> None:
    pages = ["/a,b", "/a*b", "/axxb", "/a?q=1,2&r=*", "/plain"]
    with FakeWeb({"/": "".join(f'<a href="{page}">a</a>' for page in pages)}) as web:
        holdfast("crawl", f"{web.url}/", *web.options, "--delay", "0", "--name", "frogs", cwd=tmp_path)
        undo = why((tmp_path, web.url.removeprefix("http://")), path)["undo"]
        asked = len(web.asked)
        done = holdfast(*shlex.split(undo)[1:], cwd=tmp_path)
        assert (done.code, web.asked[asked:]) == (0, [path]), undo + done.err


def test_an_excluded_page_names_the_pattern(site: Place) -> None:
    """C9."""
    found = why(site, "/tags/a")
    assert (found["verdict"], found["status"], found["rule"]) == ("excluded", "skipped", "exclude /tags/*")
    assert found["attempts"] == []
    assert "--exclude" in found["undo"]


def test_a_page_that_robots_forbids_names_the_rule(site: Place) -> None:
    """C9."""
    found = why(site, "/private/den")
    assert (found["verdict"], found["disposition"], found["rule"]) == ("robots", "robots", "Disallow: /private/")
    assert found["because"] == f"robots.txt of {site[1]} forbids it: Disallow: /private/"
    assert "--ignore-robots" in found["undo"]
    unknown = why(site, "/private/cave")
    assert (unknown["verdict"], unknown["rule"]) == ("never_found", "Disallow: /private/")


def test_an_exclusion_says_who_added_it_and_when(waiting: Place) -> None:
    """C9: added to a job that runs."""
    folder = waiting[0]
    assert holdfast("exclude", "frogs", "/den/*", cwd=folder).code == 0
    found = why(waiting, "/den/of/otters")
    assert (found["verdict"], found["rule"]) == ("never_found", "exclusion 1: /den/*")
    assert "exclusion 1, /den/*, was added by cli at 20" in found["because"]


def test_what_an_exclusion_left_out_names_it_and_how_to_put_it_back(tmp_path: Path) -> None:
    with marsh() as address:
        crawl = Running(*marsh_words(address, "/patience"), cwd=tmp_path)
        wait_until(lambda: attempts_of(tmp_path, address) == 1, 30, "the page has been tried")
        assert holdfast("exclude", "frogs", "/busy*", cwd=tmp_path).code == 0
        assert crawl.end().code == 0
    found = why((tmp_path, address), "/busy")
    assert (found["verdict"], found["status"], found["rule"]) == ("excluded", "skipped", "exclusion 1: /busy*")
    assert "was added by cli at 20" in found["because"]
    assert found["undo"] == "holdfast exclude frogs --remove 1"


def test_a_redirect_names_where_it_leads(site: Place) -> None:
    """C9."""
    found = why(site, "/old")
    assert (found["verdict"], found["disposition"]) == ("redirected", "duplicate")
    assert found["because"] == f"redirects to http://{site[1]}/frog"
    assert found["undo"] == f"holdfast explain frogs http://{site[1]}/frog"


def test_a_page_beyond_the_depth_says_so(site: Place) -> None:
    """C9."""
    found = why(site, "/frog/leg/toe")
    assert (found["verdict"], found["depth"]) == ("too_deep", 3)
    assert found["because"] == "depth 3 is beyond the limit of 2"
    assert found["undo"] == "holdfast crawl frogs --max-depth 3 --mode full --update"


def test_a_page_that_waits_says_why_and_until_when(waiting: Place) -> None:
    found = why(waiting, "/busy")
    assert (found["verdict"], found["status"]) == ("waiting", "pending")
    assert found["because"].startswith("waits until ") or "backs off until " in found["because"]
    assert found["not_before"] is not None
    assert [each["http_status"] for each in found["attempts"]] == [503]


def test_a_link_out_of_scope_is_judged_again(site: Place) -> None:
    """C9."""
    found = why(site, "https://pond.test/newt")
    assert (found["verdict"], found["status"], found["rule"]) == ("out_of_scope", None, "scope host")
    assert found["found_on"] == f"http://{site[1]}/"
    assert "does not reach pond.test" in found["because"]


@pytest.mark.parametrize(
    ("path", "rule", "says"),
    [
        ("/never", None, "it is in scope and would be fetched, if it were found at depth 2 at most"),
        ("/tags/never", "exclude /tags/*", "the exclude pattern /tags/* would leave it out"),
        ("https://lake.test/", "scope host", "does not reach lake.test"),
    ],
)
def test_an_unknown_url_is_answered_with_what_the_scope_says(
    site: Place, path: str, rule: str | None, says: str
) -> None:
    """C9."""
    found = why(site, path)
    assert (found["verdict"], found["status"], found["rule"]) == ("never_found", None, rule)
    assert found["because"].startswith("no page that was read leads to it. If one did: ")
    assert says in found["because"]


def test_a_target_is_explained_by_its_id_and_by_its_key(site: Place) -> None:
    row = holdfast("targets", "frogs", "--where", "url:*/gone", "--json=id,key,url", cwd=site[0]).json()["targets"][0]
    for reference in (row["id"], row["key"]):
        found = holdfast("explain", "frogs", reference, "--json=url,verdict", cwd=site[0]).json()
        assert found == {"url": row["url"], "verdict": "failed"}
    assert holdfast("explain", "frogs", "T-fffff", cwd=site[0]).code == 5
    wrong = holdfast("explain", "frogs", "ftp://marsh.test/frog", cwd=site[0])
    assert (wrong.code, "is neither a URL nor a target" in wrong.err) == (2, True)


def test_a_path_is_taken_on_the_host_of_the_first_seed(site: Place) -> None:
    for path, verdict in (("/gone", "failed"), ("/frog", "fetched"), ("/never", "never_found")):
        found = holdfast("explain", "frogs", path, "--json=url,verdict", cwd=site[0]).json()
        assert found == {"url": f"http://{site[1]}{path}", "verdict": verdict}


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One page with more links than are followed, read; then the page limit was reached."""
    folder = tmp_path_factory.mktemp("capped")
    links = "".join(f"<a href=/{n}>x</a>" for n in range(10_020))
    with FakeWeb({"/all": f"<html>{links}</html>"}) as web:
        done = holdfast("crawl", f"{web.url}/all", "--name", "frogs", "--max-pages", "1", *web.options, cwd=folder)
        assert done.code == 13, done.err
        yield folder, web.address


def test_a_page_that_a_page_limit_left_pending_says_so_and_how_to_go_on(capped: Place) -> None:
    found = why(capped, "/17")
    assert (found["verdict"], found["status"], found["rule"]) == ("over_cap", "pending", "max_pages 1")
    assert found["because"] == "found, and not fetched: the page limit of 1 is reached"
    assert found["undo"] == "holdfast resume frogs --extend-pages 100"


def test_a_page_behind_the_links_that_are_followed_is_not_called_never_found(capped: Place) -> None:
    found = why(capped, "/10019")
    assert (found["verdict"], found["status"], found["rule"]) == ("over_cap", None, "links per page")
    assert f"http://{capped[1]}/all has 10020 of them and 10000 are followed on a page" in found["because"]
    outside = why(capped, "https://lake.test/10019")
    assert outside["verdict"] == "never_found"
    assert "; 10000 found ones are not read yet. If one did: " in outside["because"]


@pytest.mark.parametrize(
    ("old", "new", "sealed", "told"),
    [
        (b'"links":10000', b'"links":10001', False, "is not what was stored"),
        (b'"links":', b'"links";', False, "is not what was stored"),
        (b'"links":', b'"links";', True, "cannot be read: "),
        (b'"links":', b'"l\xffnks":', True, "cannot be read: "),
    ],
)
def test_a_damaged_record_of_a_page_with_more_links_is_told_as_damage(
    capped: Place, tmp_path: Path, old: bytes, new: bytes, sealed: bool, told: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(capped[0], folder)
    with closing(sqlite3.connect(folder / "holdfast-data" / "ledger.db")) as ledger, ledger:
        [(target, doc)] = ledger.execute("SELECT target, doc FROM record").fetchall()
        damaged = doc.replace(old, new)
        assert damaged != doc
        ledger.execute("UPDATE record SET doc = ?", (damaged,))
        if sealed:
            ledger.execute("UPDATE record SET seal = ?", (seal_of(damaged),))
    done = holdfast("explain", "frogs", f"http://{capped[1]}/10019", cwd=folder)
    assert (done.code, done.out) == (9, "")
    assert f"he page record of T-{target:x} {told}" in done.err
    assert "Unexpected" not in done.err


@pytest.mark.parametrize("text", ["garbage", "not a url", "pond.test", "0" * 32])
def test_what_is_neither_a_key_nor_a_url_is_refused(site: Place, text: str) -> None:
    done = holdfast("explain", "frogs", text, cwd=site[0])
    assert (done.code, done.out) == (5, "")
    assert f"No target of frogs has the key {text}; a URL begins with http" in done.err


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A finished range of cases: 1 is there, 2 is a gap, 3 is refused."""
    folder = tmp_path_factory.mktemp("court")
    with FakeWeb({"/case/1?y=25": "<h1>Case 1</h1>", "/case/3?y=25": 403}) as web:
        template = web.url + "/case/{number}?y={year}"
        done = holdfast("cases", "IMM-1-25..IMM-3-25", "--url", template, *web.options, cwd=folder)
        assert done.code == 3, done.err
        return folder, web.address


@pytest.mark.parametrize(
    ("number", "verdict", "disposition", "code"),
    [(1, "fetched", "record", None), (2, "fetched", "no_record", None), (3, "failed", None, "http_403")],
)
def test_a_case_is_explained_by_its_key_its_url_and_its_path(
    court: Place, number: int, verdict: str, disposition: str | None, code: str | None
) -> None:
    """C9: a target that has a key of its own is found by all that a person would type."""
    folder, address = court
    key, path = f"IMM-{number}-25", f"/case/{number}?y=25"
    url = f"http://{address}{path}"
    fields = "--json=url,key,verdict,disposition,code"
    for reference in (key, url, path, f"{url}#ruling"):
        found = holdfast("explain", "IMM", reference, fields, cwd=folder).json()
        told = {"url": url, "key": key, "verdict": verdict, "disposition": disposition, "code": code}
        assert found == told, reference


def test_a_case_that_is_not_of_the_job_is_refused_and_its_url_never_found(court: Place) -> None:
    folder, address = court
    missing = holdfast("explain", "IMM", "IMM-4-25", cwd=folder)
    assert (missing.code, "No target of IMM has the key IMM-4-25" in missing.err) == (5, True)
    for reference in (f"http://{address}/case/4?y=25", "/case/4?y=25", f"http://{address}/case/*"):
        found = holdfast("explain", "IMM", reference, "--json=verdict", cwd=folder).json()
        assert found == {"verdict": "never_found"}, reference


def test_people_get_it_as_text_without_control_codes(site: Place) -> None:
    """C6."""
    done = holdfast("explain", "frogs", f"http://{site[1]}/gone", cwd=site[0])
    lines = done.out.splitlines()
    assert lines[0] == f"http://{site[1]}/gone"
    assert lines[1].startswith("failed: http_404 (no such page) after 1 attempt: HTTP 404")
    assert f"  found on: http://{site[1]}/" in lines
    assert CONTROL_CODE.search(done.out) is None


def test_a_pending_page_of_a_job_that_does_not_run_says_so(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = submit(ledger)
        assert ledger.books(job.id)[1].discovered == 0
    found = holdfast("explain", "frogs", "https://marsh.test/", "--json", cwd=tmp_path).json()
    assert found["verdict"] == "never_found"


def test_the_frontier_shows_groups_and_what_comes_next(waiting: Place) -> None:
    folder, address = waiting
    found = holdfast("frontier", "frogs", "--json", cwd=folder).json()
    [group] = found["groups"]
    assert (group["group"], group["pending"]) == (address, 1)
    assert group["not_before"] is not None
    assert f"{address} backs off until " in group["because"]
    [row] = found["targets"]
    assert (row["url"], row["depth"]) == (f"http://{address}/busy", 1)
    assert row["because"] is not None
    by_depth = holdfast("frontier", "frogs", "--by", "depth", "--json=groups", cwd=folder).json()["groups"]
    assert [(row["group"], row["pending"]) for row in by_depth] == [("1", 1)]
    by_pattern = holdfast("frontier", "frogs", "--by", "pattern", cwd=folder)
    assert f"http://{address}/busy" in by_pattern.out.splitlines()[1]


def test_the_limit_of_the_frontier_holds_for_its_groups(tree: WorldServer, tmp_path: Path) -> None:
    """What it leaves out is counted; programs that name no limit get every group."""
    assert holdfast(*crawl_words(tree, "--max-pages", "5"), cwd=tmp_path).code == 13
    words = ("frontier", "frogs", "--by", "depth")
    every = holdfast(*words, "--json", cwd=tmp_path).json()
    more = len(every["groups"]) - 1
    assert (more > 0, every["groups_left_out"]) == (True, 0)
    one = holdfast(*words, "--json", "--limit", "1", cwd=tmp_path).json()
    assert (one["groups"], one["groups_left_out"]) == (every["groups"][:1], more)
    lines = holdfast(*words, "--limit", "1", cwd=tmp_path).out.splitlines()
    assert lines[0].startswith("PENDING")
    assert lines[2].startswith(f"… and {more} group")
    assert lines[2].endswith(f" more: --limit {more + 1}")


def test_an_empty_frontier_says_so(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    assert holdfast("frontier", "frogs", cwd=tmp_path).err == "Nothing of frogs is pending.\n"


@pytest.mark.parametrize("by", ["host", "code", "disposition", "depth", "chunk"])
def test_a_breakdown_sums_to_the_whole(site: Place, by: str) -> None:
    whole = holdfast("status", "frogs", "--json=counts", cwd=site[0]).json()["counts"]
    groups = holdfast("status", "frogs", "--by", by, "--json", cwd=site[0]).json()["groups"]
    for name in ("discovered", *COUNTED):
        assert sum(group[name] for group in groups) == whole[name]
    assert all(group["discovered"] == sum(group[name] for name in COUNTED) for group in groups)
    table = holdfast("status", "frogs", "--by", by, cwd=site[0]).out.splitlines()
    assert table[0].split()[:2] == [by.upper(), "DISCOVERED"]
    assert len(table) == len(groups) + 1


def test_a_breakdown_needs_a_job(tmp_path: Path) -> None:
    assert holdfast("status", "--by", "host", cwd=tmp_path).code == 2


def test_a_diff_names_what_a_later_run_brought(tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(tree, "--delay", "500ms"), cwd=tmp_path)
    wait_until(lambda: len(targets(tmp_path)) > 3, 30, "some pages are done")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    crawl.end()
    before = {row["url"] for row in targets(tmp_path)}
    assert holdfast("crawl", "frogs", "--delay", "0", cwd=tmp_path).code == 0
    after = {row["url"] for row in targets(tmp_path)}
    found = holdfast("diff", "frogs", "R-1", "R-2", "--json", cwd=tmp_path).json()
    validator("diff").validate(found)
    assert {row["url"] for row in found["added"]} == after - before
    assert (found["removed"], found["changed"]) == ([], [])
    assert all(row["sha256_after"] for row in found["added"])
    told = holdfast("diff", "frogs", "R-1", "2", cwd=tmp_path)
    assert f"frogs from R-1 to R-2: {len(after - before)} added, 0 removed, 0 changed." in told.err
    lines = holdfast("diff", "frogs", "R-1", "R-2", "--jsonl", cwd=tmp_path).out.splitlines()
    assert [json.loads(line)["change"] for line in lines] == ["added"] * len(after - before)


def test_a_diff_refuses_runs_that_are_not_there_or_in_the_wrong_order(site: Place) -> None:
    missing = holdfast("diff", "frogs", "R-1", "R-9", cwd=site[0])
    assert (missing.code, "it has R-1 to R-1" in missing.err) == (5, True)
    assert holdfast("diff", "frogs", "R-1", "R-1", cwd=site[0]).code == 2
    assert holdfast("diff", "frogs", "first", "R-1", cwd=site[0]).code == 2


def targets(folder: Path) -> list[dict[str, Any]]:
    done = holdfast("targets", "frogs", "--where", "status:succeeded", "--json=url", cwd=folder)
    rows: list[dict[str, Any]] = done.json()["targets"] if done.code == 0 else []
    return rows
