"""`crawl --from-warc`: a crawl whose web is WARC files; `--record`: files from which a crawl can be had again."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

import holdfast as hf
from cli.commands import crawl_words, holdfast, ledger_in
from cli.polite_origin import Answer, Origin, linking
from fetch.archives import HOST, site
from holdfast.demo.serving import WorldServer
from servers import need_tool

PAGES = 60
# All but what names a run or a target (keys are salted per ledger, so links of one page come in another order), and
# what is derived from the stored bytes.
KEPT = "url,final_url,title,depth,status_code,fetched_at,content_type,sha256,bytes,links,parent"
DERIVED = "markdown,text,metadata,flags"


def rows(folder: Path, job: str) -> list[str]:
    return sorted(holdfast("export", job, "-o", "-", "--fields", KEPT, cwd=folder).out.splitlines())


def fates(folder: Path, job: str) -> dict[str, tuple[str, str]]:
    """Of every target: its status, and why."""
    listed = map(json.loads, holdfast("targets", job, "--jsonl", cwd=folder).out.splitlines())
    return {row["url"]: (row["status"], row["code"] or row["disposition"]) for row in listed}


def test_every_page_of_an_archive_is_there_as_markdown(tmp_path: Path) -> None:
    """DOC-28, DOC-29: no host of it can be reached, or exists; its robots.txt asks for 60 s between two requests."""
    site(tmp_path / "pond.warc.gz")
    done = holdfast("crawl", "--from-warc", "pond.warc.gz", "--to", "md", "-o", "out/", cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.match(r"Starting J-\w+ pond\n", done.err)
    assert sorted(path.name for path in (tmp_path / "out/frogs.test").glob("*.md")) == [
        "both.md", "chunks.md", "index.md", "packed.md", "same.md", "undone.md",
    ]  # fmt: skip
    assert {json.loads(row)["fetched_at"] for row in rows(tmp_path, "pond")} == {
        "2019-05-01T12:00:00Z",
        "2020-05-01T12:00:00Z",
    }
    assert holdfast("verify", "pond", "--deep", cwd=tmp_path).code == 0


def test_a_crawl_of_an_archive_follows_links_obeys_its_robots_txt_and_names_what_is_not_in_it(tmp_path: Path) -> None:
    """And keeps nothing of it for crawls of the web: neither rules, nor the host's row."""
    site(tmp_path / "pond.warc.gz")
    done = holdfast("crawl", HOST, "--from-warc", "pond.warc.gz", cwd=tmp_path)
    assert done.code == 3, done.err  # one answer was a failure; a link that leads out of the archive is none
    listed = holdfast("targets", "frogs.test", "--jsonl", cwd=tmp_path).out.splitlines()
    found = {row["url"].removeprefix(HOST): row for row in map(json.loads, listed)}
    assert {path: row["code"] or row["disposition"] for path, row in found.items()} == {
        "/": "page", "/chunks": "page", "/packed": "page", "/both": "page", "/same": "page", "/moved": "duplicate",
        "/missing": "not_archived", "/private/x": "robots", "/busy": "http_5xx",
    }  # fmt: skip
    assert {row["host"] for row in found.values()} == {"frogs.test"}
    assert (found["/busy"]["attempts"], found["/missing"]["attempts"]) == (1, 1)
    with ledger_in(tmp_path) as ledger:
        assert ledger.hosts() == []
        assert ledger.query("SELECT origin FROM robots") == []
    assert holdfast("verify", "frogs.test", cwd=tmp_path).code == 0


def test_several_files_are_one_archive_and_patterns_choose_among_its_pages(tmp_path: Path) -> None:
    """As a shell spells `--from-warc *.warc.gz`; what a pattern leaves out is recorded."""
    site(tmp_path / "pond.warc.gz")
    site(tmp_path / "same.warc.gz")
    words = ("crawl", "--from-warc", "pond.warc.gz", "same.warc.gz", "--exclude", "/pack*", "--ignore-robots")
    assert holdfast(*words, cwd=tmp_path).code == 0
    counts = holdfast("status", "pond", "--json", cwd=tmp_path).json()["counts"]
    assert (counts["succeeded"], counts["skipped"]) == (6, 1)


def test_a_killed_crawl_of_an_archive_goes_on_where_it_was(tree: WorldServer, tmp_path: Path) -> None:
    """Of our own export, with every page in it once."""
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    assert holdfast("export", "frogs", "-o", "frogs.warc.gz", cwd=tmp_path).code == 0
    words = ("crawl", *tree.oracle()["seeds"], "--from-warc", "frogs.warc.gz", "--name", "again")
    assert holdfast(*words, cwd=tmp_path, HOLDFAST_FAULT="settle.after_commit:4:kill").code != 0
    done = holdfast(*words, cwd=tmp_path)
    assert "Resuming again" in done.err
    assert done.code == 0
    assert rows(tmp_path, "again") == rows(tmp_path, "frogs")
    assert len(rows(tmp_path, "again")) == PAGES


def test_an_archive_of_wget_gives_what_the_site_gave(tmp_path: Path) -> None:
    pages = {"/": linking("/a", "/b/"), "/a": linking("/"), "/b/": linking("/a", "/gone")}
    missing = Answer(404, b"gone", {"content-type": "text/html"})
    with Origin(lambda path: pages.get(path, missing)) as origin:
        wget = (need_tool("wget"), "-q", "-r", "--warc-file=w", "-P", "mirror", f"{origin.url}/")
        assert subprocess.run(wget, cwd=tmp_path, check=False).returncode in (0, 8)  # 8: a page was missing
        live = ("crawl", f"{origin.url}/", "--allow", origin.address, "--delay", "0", "--name", "live")
        assert holdfast(*live, cwd=tmp_path).code == 0
    replayed = ("crawl", f"{origin.url}/", "--from-warc", "w.warc.gz", "--name", "replayed")
    assert holdfast(*replayed, cwd=tmp_path).code == 0
    stored = [[json.loads(row) for row in rows(tmp_path, job)] for job in ("live", "replayed")]
    assert len(stored[0]) == len(pages)
    assert [row["sha256"] for row in stored[0]] == [row["sha256"] for row in stored[1]]
    assert fates(tmp_path, "live") == fates(tmp_path, "replayed")


def _pond(path: str) -> Answer:
    pages = {
        "/robots.txt": Answer(200, b"User-agent: *\nDisallow: /private\n", {"content-type": "text/plain"}),
        "/": linking("/a", "/moved", "/gone", "/private", "/broken"),
        "/a": linking("/b", "/"),
        "/b": linking("/a"),
        "/moved": Answer(302, b"", {"location": "/a"}),
        "/broken": Answer(500, b"no", {"content-type": "text/plain"}),
    }
    return pages.get(path, Answer(404, b"gone", {"content-type": "text/html"}))


def test_a_recorded_job_gives_the_same_results_when_it_is_replayed(tmp_path: Path) -> None:
    """DOC-28: every line of the export to the byte but for `run` and `target`, and every target its fate."""
    (tmp_path / "there").mkdir()
    with Origin(_pond) as origin:
        words = ("crawl", f"{origin.url}/", "--allow", origin.address, "--delay", "0", "--max-attempts", "1")
        assert holdfast(*words, "--name", "pond", "--record", cwd=tmp_path).code == 3  # /broken
    (recording,) = (tmp_path / "holdfast-data/recordings").iterdir()
    again = ("crawl", f"{origin.url}/", "--from-warc", str(recording), "--name", "pond")
    there = tmp_path / "there"
    assert holdfast(*again, cwd=there).code == 3
    assert rows(there, "pond") == rows(tmp_path, "pond")
    assert fates(there, "pond") == fates(tmp_path, "pond")
    assert len(fates(there, "pond")) == 7
    for name, more in (("pond.jsonl", ("--fields", f"{KEPT},{DERIVED}")), ("pond.warc.gz", ())):
        for folder in (tmp_path, there):
            words = ("export", "pond", "-o", name, "--date", "2026-01-31", *more)
            assert holdfast(*words, cwd=folder).code == 0
        assert (tmp_path / name).read_bytes() == (there / name).read_bytes()


def test_a_recording_has_every_exchange_and_no_secret(tmp_path: Path) -> None:
    """Requests, robots.txt, redirects and failures; what was typed as a header is not in it."""
    with Origin(_pond) as origin:
        words = (
            "crawl",
            f"{origin.url}/",
            "--allow",
            origin.address,
            "--delay",
            "0",
            "--max-attempts",
            "1",
            "--record",
        )
        secret = ("--header", "Authorization: env:POND_TOKEN")
        assert holdfast(*words, *secret, "--name", "pond", cwd=tmp_path, POND_TOKEN="Bearer 4711").code == 3
        asked = sorted(origin.paths())
    (file,) = (tmp_path / "holdfast-data/recordings").rglob("*.warc.gz")
    kinds: dict[str, list[str]] = {"request": [], "response": []}
    with file.open("rb") as opened:
        for record in ArchiveIterator(opened):
            kinds[record.rec_type].append(record.rec_headers["WARC-Target-URI"].removeprefix(origin.url))
            assert b"4711" not in record.content_stream().read()
            assert "4711" not in str(record.http_headers)
    assert sorted(kinds["request"]) == sorted(kinds["response"]) == asked
    assert {"/robots.txt", "/moved", "/gone", "/broken"} <= set(asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from-warc", "missing.warc.gz"), "here is no file missing.warc.gz"),
        (("--from-warc", "page.warc"), "page.warc is no WARC file"),
        (("--from-warc", "pond.warc.gz", "--browser"), "an archive answers"),
        (("--from-warc", "pond.warc.gz", "--record"), "an archive answers"),
        (("--from-warc", "pond.warc.gz", "--sitemap", "only"), "needs a URL to begin with"),
    ],
)
def test_an_archive_that_cannot_be_read_is_said_before_there_is_a_job(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    site(tmp_path / "pond.warc.gz")
    (tmp_path / "page.warc").write_bytes(b"<html>")
    done = holdfast("crawl", *words, cwd=tmp_path)
    assert (done.code, said in done.err) == (2, True), done.err
    assert holdfast("jobs", "--json", cwd=tmp_path).json()["jobs"] == []


def test_a_cut_archive_is_used_as_far_as_it_goes_and_that_is_said(tmp_path: Path) -> None:
    whole = site(tmp_path / "pond.warc.gz").read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[:-40])
    done = holdfast("crawl", "--from-warc", "cut.warc.gz", cwd=tmp_path)
    assert done.code == 0
    assert "cut.warc.gz: not read to its end: it ends within the record at byte " in done.err


def test_a_job_never_goes_on_in_another_archive(tmp_path: Path) -> None:
    """Nor does one of the web go on in one: its targets wait for hosts, those of an archive do not."""
    site(tmp_path / "pond.warc.gz")
    site(tmp_path / "other.warc.gz")
    words = ("crawl", HOST, "--name", "pond", "--start-paused")
    assert holdfast(*words, cwd=tmp_path).code == 0
    for more in (("--from-warc", "pond.warc.gz"), ("--from-warc", "pond.warc.gz", "--update")):
        done = holdfast(*words, *more, cwd=tmp_path)
        assert (done.code, "pond has another scope" in done.err, "--update applies" in done.err) == (6, True, False)


def test_explain_knows_that_an_archive_has_no_such_page(tmp_path: Path) -> None:
    site(tmp_path / "pond.warc.gz")
    assert holdfast("crawl", "--from-warc", "pond.warc.gz", cwd=tmp_path).code == 0
    said = holdfast("explain", "pond", f"{HOST}/nowhere", cwd=tmp_path)
    assert (said.code, "they have none under this URL" in said.out) == (0, True), said


def test_python_reads_an_archive_too(tmp_path: Path) -> None:
    site(tmp_path / "pond.warc.gz")
    job = hf.crawl(from_warc=[str(tmp_path / "pond.warc.gz")], data=tmp_path / "data")
    assert job.run().counts.succeeded == 6


def test_a_job_from_elsewhere_reads_no_file_of_this_computer_unasked(tmp_path: Path) -> None:
    """A snapshot is data: which files it would read is said, and a person agrees or not."""
    site(tmp_path / "pond.warc.gz")
    assert holdfast("crawl", "--from-warc", "pond.warc.gz", cwd=tmp_path).code == 0
    assert holdfast("snapshot", "pond", "-o", "pond.tar", cwd=tmp_path).code == 0
    (tmp_path / "there").mkdir()
    refused = holdfast("restore", "../pond.tar", cwd=tmp_path / "there")
    assert refused.code == 6, refused.err
    assert f"from_warc: reads these files of this computer: {tmp_path}/pond.warc.gz" in refused.err
    assert holdfast("restore", "../pond.tar", "--trust", cwd=tmp_path / "there").code == 0


def test_reprocess_of_an_archived_site_reads_what_is_stored(tmp_path: Path) -> None:
    site(tmp_path / "pond.warc.gz")
    assert holdfast("crawl", "--from-warc", "pond.warc.gz", cwd=tmp_path).code == 0
    before = rows(tmp_path, "pond")
    done = holdfast("reprocess", "pond", cwd=tmp_path)
    assert done.code == 0, done.err
    assert rows(tmp_path, "pond") == before
