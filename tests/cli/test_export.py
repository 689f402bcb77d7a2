"""`holdfast export` and `-o`: every form, chosen rows and fields, read by programs that are not ours."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
from warcio.archiveiterator import ArchiveIterator

import holdfast as hf
from cli.commands import PROGRAM, Running, crawl_words, environment, holdfast, ledger_in, put_into, submit
from cli.polite_origin import Answer, Origin, linking
from holdfast.demo.serving import WorldServer
from holdfast.model.cells import cell
from holdfast.model.page import PAGE_FIELDS
from waiting import wait_until

PAGES = 60
# In a process of its own: its import warns, and here warnings are errors.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator, WarcRecordType
for record in ArchiveIterator(open(sys.argv[1], "rb"), record_types=WarcRecordType.response):
    print(record.headers["WARC-Target-URI"])
"""


@pytest.fixture(scope="module")
def frogs(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished job."""
    folder = tmp_path_factory.mktemp("frogs")
    assert holdfast(*crawl_words(tree), cwd=folder).code == 0
    return folder


def urls_in(folder: Path) -> list[str]:
    return [json.loads(line)["url"] for line in holdfast("export", "frogs", "-o", "-", cwd=folder).out.splitlines()]


def test_a_csv_export_is_the_same_rows_as_the_jsonl_export(frogs: Path) -> None:
    """DOC-33."""
    done = holdfast("export", "frogs", "-o", "frogs.csv", cwd=frogs)
    assert done.code == 0
    assert f"Wrote {PAGES} pages to " in done.err
    with (frogs / "frogs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in holdfast("export", "frogs", "-o", "-", cwd=frogs).out.splitlines()]
    assert tuple(rows[0]) == PAGE_FIELDS
    assert rows == [{name: cell(value) for name, value in line.items()} for line in lines]


def test_every_page_comes_with_its_text_unless_other_fields_are_named(tree: WorldServer, tmp_path: Path) -> None:
    """The first command that a user types gives content: as a file, as a table, as a stream."""
    streamed = holdfast(*crawl_words(tree, "-o", "-"), cwd=tmp_path)
    assert (streamed.code, len(streamed.out.splitlines())) == (0, PAGES)
    for name in ("frogs.jsonl", "frogs.csv"):
        assert holdfast("export", "frogs", "-o", name, cwd=tmp_path).code == 0
    pages = [json.loads(line) for line in (tmp_path / "frogs.jsonl").read_text().splitlines()]
    assert all(tuple(page) == PAGE_FIELDS for page in pages)
    assert all(page["text"] and "<" not in page["text"] for page in pages)
    assert all(page["markdown"].startswith("# ") and page["flags"] == [] for page in pages)
    assert all(page["metadata"]["title"] == page["title"] for page in pages)
    texts = {page["url"]: page["text"] for page in pages}
    assert texts == {page["url"]: page["text"] for page in map(json.loads, streamed.out.splitlines())}
    with (tmp_path / "frogs.csv").open(newline="", encoding="utf-8") as file:
        assert texts == {row["url"]: row["text"] for row in csv.DictReader(file)}
    titles = holdfast("export", "frogs", "-o", "-", "--fields", "url,title", cwd=tmp_path).out.splitlines()
    assert {tuple(json.loads(line)) for line in titles} == {("url", "title")}


@pytest.mark.parametrize("way", ["missing", "damaged"])
def test_pages_whose_bytes_are_lost_are_exported_without_text_and_told(
    way: str, tree: WorldServer, tmp_path: Path
) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    [segment] = (tmp_path / "holdfast-data" / "segments").rglob("*.warc.gz")
    if way == "missing":
        segment.unlink()
    else:
        segment.write_bytes(bytes(segment.stat().st_size))
    done = holdfast("export", "frogs", "-o", "-", cwd=tmp_path)
    assert done.code == 0
    assert [json.loads(line)["text"] for line in done.out.splitlines()] == [None] * PAGES
    told = (
        f"text is null for {PAGES} pages, whose stored bytes are {way} ({PAGES}). Which: holdfast verify frogs --deep"
    )
    assert told in done.err


def test_a_warc_export_passes_every_reader_and_holds_every_page(frogs: Path) -> None:
    """`warcio check`, `gzip -t`, and two readers that list every page."""
    assert holdfast("export", "frogs", "-o", "frogs.warc.gz", "--format", "warc", cwd=frogs).code == 0
    path = frogs / "frogs.warc.gz"
    subprocess.run(["gzip", "-t", str(path)], check=True)
    subprocess.run([str(Path(sys.executable).parent / "warcio"), "check", str(path)], check=True)
    with path.open("rb") as file:
        by_warcio = [r.rec_headers.get_header("WARC-Target-URI") for r in ArchiveIterator(file, check_digests="raise")]
    told = subprocess.run([sys.executable, "-c", FASTWARC, str(path)], capture_output=True, text=True, check=True)
    by_fastwarc = told.stdout.splitlines()
    assert by_fastwarc == by_warcio[1:] == sorted(urls_in(frogs))
    assert len(by_fastwarc) == PAGES


def test_the_bodies_of_a_warc_export_are_those_that_the_other_export_names(frogs: Path) -> None:
    """PER-15."""
    from hashlib import sha256

    assert holdfast("export", "frogs", "-o", "bodies.warc.gz", cwd=frogs).code == 0
    with (frogs / "bodies.warc.gz").open("rb") as file:
        found = {
            record.rec_headers.get_header("WARC-Target-URI"): sha256(record.content_stream().read()).hexdigest()
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }
    lines = [json.loads(line) for line in holdfast("export", "frogs", "-o", "-", cwd=frogs).out.splitlines()]
    assert found == {line["url"]: line["sha256"] for line in lines}


@pytest.mark.parametrize("form", ["jsonl", "csv", "warc"])
def test_the_same_ledger_gives_the_same_bytes(form: str, frogs: Path) -> None:
    for name in ("one", "two"):
        assert holdfast("export", "frogs", "-o", f"{name}.{form}", "--to", form, cwd=frogs).code == 0
    assert (frogs / f"one.{form}").read_bytes() == (frogs / f"two.{form}").read_bytes()


def test_only_what_was_asked_for_is_exported(frogs: Path) -> None:
    done = holdfast("export", "frogs", "-o", "-", "--where", "depth:1", "--fields", "depth,url,+text", cwd=frogs)
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines
    assert {tuple(line) for line in lines} == {("depth", "url", "text")}
    assert {line["depth"] for line in lines} == {1}
    assert all(line["text"] and "<" not in line["text"] for line in lines)


def test_an_export_may_leave_pages_with_the_same_bytes_out(tmp_path: Path) -> None:
    """`/` and `/index.html` are two pages of one content: marked, or left out, in every form; a stream cannot know."""
    same, other = linking("/index.html", "/other"), linking("/")
    with Origin(lambda path: {"/": same, "/index.html": same, "/other": other}.get(path, Answer(404))) as origin:
        words = ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs"]
        assert holdfast(*words, cwd=tmp_path).code == 0
        home = f"{origin.url}/"
    marked = holdfast("export", "frogs", "-o", "-", "--fields", "url,duplicate_of", cwd=tmp_path).out.splitlines()
    assert {tuple(json.loads(line).values()) for line in marked} == {
        (home, None), (f"{home}index.html", home), (f"{home}other", None),
    }  # fmt: skip
    for name in ("frogs.jsonl", "frogs.csv", "frogs.warc.gz"):
        assert "Wrote 2 pages" in holdfast("export", "frogs", "-o", name, "--distinct", cwd=tmp_path).err
    job = hf.job("frogs", data=tmp_path / "holdfast-data")
    assert [page.url for page in job.records(distinct=True)] == [home, f"{home}other"]
    assert job.export(tmp_path / "distinct.csv", distinct=True) == 2
    done = holdfast("export", "frogs", "-o", "-", "--distinct", "--follow", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")


def test_pages_that_want_no_index_say_so_where_that_field_is_named(tmp_path: Path) -> None:
    """By a tag or by a header: so that they can be left out of what is published."""
    by_tag = Answer(200, b"<meta name=robots content=noindex>frog", {"content-type": "text/html"})
    by_header = Answer(200, b"toad", {"content-type": "text/plain", "x-robots-tag": "noindex"})
    pages = {"/": linking("/tag", "/header"), "/tag": by_tag, "/header": by_header}
    with Origin(lambda path: pages.get(path, Answer(404))) as origin:
        words = ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--name", "frogs"]
        assert holdfast(*words, cwd=tmp_path).code == 0
        told = {f"{origin.url}{path}": path != "/" for path in pages}
    lines = holdfast("export", "frogs", "-o", "-", "--fields", "url,noindex", cwd=tmp_path).out.splitlines()
    assert {row["url"]: row["noindex"] for row in map(json.loads, lines)} == told
    assert holdfast("export", "frogs", "-o", "frogs.parquet", "--fields", "+noindex", cwd=tmp_path).code == 0
    rows = pyarrow.parquet.read_table(tmp_path / "frogs.parquet").to_pylist()
    assert {row["url"]: row["noindex"] for row in rows} == told
    assert "noindex" not in holdfast("export", "frogs", "-o", "-", cwd=tmp_path).out


def test_one_page_is_not_called_pages(frogs: Path) -> None:
    done = holdfast("export", "frogs", "-o", "one.jsonl", "--where", "depth:0", cwd=frogs)
    assert "Wrote 1 page to " in done.err


def test_a_filter_chooses_the_pages_of_a_warc_export_too(frogs: Path) -> None:
    assert holdfast("export", "frogs", "-o", "seed.warc.gz", "--where", "depth:0", cwd=frogs).code == 0
    with (frogs / "seed.warc.gz").open("rb") as file:
        assert [record.rec_type for record in ArchiveIterator(file)] == ["warcinfo", "response"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-o", "x.html"), "contact sheet is a form for images"),
        (("-o", "x", "--format", "webdataset"), "ebdataset is a form for images"),
        (("-o", "x.md"), "Markdown is a folder of files"),
        (("-o", "x.warc"), "-o x.warc.gz"),
        (("-o", "x.jsonl", "--fields", "titel"), "did you mean title?"),
        (("-o", "x.jsonl", "--fields", "url,,title"), "empty name"),
        (("-o", "x.jsonl", "--where", "pond:1"), "No target has the filter key 'pond'"),
        (("-o", "x.warc.gz", "--fields", "url"), "--fields is for jsonl and csv"),
        (("-o", "x.warc.gz", "--date", "yesterday"), "'yesterday' is not a moment"),
    ],
)
def test_what_cannot_be_exported_is_said_and_no_file_is_made(
    words: tuple[str, ...], sentence: str, frogs: Path
) -> None:
    done = holdfast("export", "frogs", *words, cwd=frogs)
    assert done.code == 2
    assert sentence in done.err
    assert not list(frogs.glob("x*"))


def test_a_crawl_writes_csv_and_warc_as_well(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "-o", "frogs.warc.gz"), cwd=tmp_path).code == 0
    subprocess.run(["gzip", "-t", str(tmp_path / "frogs.warc.gz")], check=True)
    done = holdfast("crawl", "frogs", "--to", "csv", "-o", "-", cwd=tmp_path)
    assert len(list(csv.reader(io.StringIO(done.out)))) == PAGES + 1


def test_a_job_remembers_its_file_and_whoever_goes_on_writes_it_again(tree: WorldServer, tmp_path: Path) -> None:
    """Stopped half-way, the file would else be what it was then, for ever."""
    (tmp_path / "out").mkdir()
    done = holdfast(*crawl_words(tree, "-o", "out/frogs.jsonl", "--max-pages", "20"), cwd=tmp_path)
    file = tmp_path / "out" / "frogs.jsonl"
    assert (done.code, len(file.read_text().splitlines())) == (13, 20)
    document = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    assert document["output"] == {"path": str(file), "format": "jsonl"}
    assert str(file) in holdfast("status", "frogs", cwd=tmp_path).out
    more = holdfast("resume", "frogs", "--extend-pages", "20", cwd=tmp_path)
    assert len(file.read_text().splitlines()) == 40
    assert "results so far: out/frogs.jsonl" in more.err
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "out").rename(elsewhere)
    last = holdfast("resume", "frogs", "--extend-pages", "20", cwd=tmp_path)
    assert last.code == 0, last.err
    assert f"Results are not written: {file}: there is no folder {file.parent}" in last.err
    assert last.err.splitlines()[-1].startswith("  results: holdfast export frogs")


def test_an_unfinished_job_says_what_is_missing(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "paused")
    crawl = holdfast("export", "frogs", "-o", "frogs.csv", cwd=tmp_path)
    assert crawl.code == 0
    assert "partial" not in crawl.err  # nothing is planned yet, so nothing is pending


def test_a_killed_crawl_exports_byte_for_byte_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    """Two folders, two ledgers, one world: kill -9 leaves no trace in the archive."""
    with WorldServer("tree", pages=300, delay_ms=5, log_path=tmp_path / "requests.jsonl") as world:
        for name in ("calm", "killed"):
            (tmp_path / name).mkdir()
        assert holdfast(*crawl_words(world), cwd=tmp_path / "calm").code == 0
        for done in (60, 150):
            crawl = Running(*crawl_words(world), cwd=tmp_path / "killed")
            wait_until(lambda done=done: len_done(tmp_path / "killed") >= done, 30)  # type: ignore[misc]
            crawl.stop()
        partial = holdfast("export", "frogs", "-o", "part.warc.gz", cwd=tmp_path / "killed")
        assert "partial: " in partial.err
        assert holdfast(*crawl_words(world), cwd=tmp_path / "killed").code == 0
    archives = []
    for name in ("calm", "killed"):
        words = ("export", "frogs", "-o", "frogs.warc.gz", "--date", "2026-01-01")
        assert holdfast(*words, cwd=tmp_path / name).code == 0
        archives.append((tmp_path / name / "frogs.warc.gz").read_bytes())
    assert archives[0] == archives[1]
    assert len([r for r in ArchiveIterator(io.BytesIO(archives[0])) if r.rec_type == "response"]) == 300


def test_follow_gives_each_result_once_it_is_committed_and_ends_with_the_job(tmp_path: Path) -> None:
    with WorldServer("tree", pages=200, delay_ms=10, log_path=tmp_path / "requests.jsonl") as world:
        crawl = Running(*crawl_words(world), cwd=tmp_path)
        wait_until(lambda: len_done(tmp_path) > 0, 30)
        world.set_faults(slow_share=1.0, slow_ms=1000)  # so that the job is not over before it was seen at work
        follow = Following("export", "frogs", "-o", "-", "--follow", "--fields", "url", cwd=tmp_path)
        first = json.loads(follow.line())["url"]
        assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "in_progress"}
        world.set_faults()
        urls = [first, *(json.loads(line)["url"] for line in follow.rest())]
        assert crawl.end().code == 0
    assert sorted(urls) == sorted(urls_in(tmp_path))
    assert len(urls) == 200


def test_a_crawl_to_stdout_gives_results_while_it_works(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Following(*crawl_words(slow_tree, "-o", "-"), cwd=tmp_path)
    lines = [crawl.line() for _ in range(20)]
    assert len_done(tmp_path) >= 20
    crawl.close()  # the reader is gone, so the crawl stops and says so; what it saved stays
    assert crawl.code() in (141, 11)
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    urls = {json.loads(line)["url"] for line in lines}
    assert len(urls) == 20
    assert urls <= set(urls_in(tmp_path))


def test_a_later_crawl_to_stdout_gives_what_that_run_brought_each_once(tree: WorldServer, tmp_path: Path) -> None:
    """Also a third one; where nothing is worked, the results as they are."""
    words = ("crawl", "frogs", "-o", "-")
    assert holdfast(*crawl_words(tree, "--max-pages", "20"), cwd=tmp_path).code == 13
    rows = [json.loads(line) for line in holdfast(*words, "--max-pages", "30", cwd=tmp_path).out.splitlines()]
    assert (len(rows), {row["run"] for row in rows}) == (10, {"R-2"})
    rows = [json.loads(line) for line in holdfast(*words, "--max-pages", "1000", cwd=tmp_path).out.splitlines()]
    assert (len(rows), {row["run"] for row in rows}) == (30, {"R-3"})
    rows = [json.loads(line) for line in holdfast(*words, "--mode", "full", cwd=tmp_path).out.splitlines()]
    assert (len(rows), len({row["url"] for row in rows}), {row["run"] for row in rows}) == (60, 60, {"R-4"})
    rows = [json.loads(line) for line in holdfast(*words, cwd=tmp_path).out.splitlines()]
    assert (len(rows), {row["run"] for row in rows}) == (60, {"R-4"})


def test_what_a_run_brought_that_was_cut_off_comes_again(tree: WorldServer, tmp_path: Path) -> None:
    """Nobody knows how much of it was read."""
    killed = holdfast(*crawl_words(tree, "-o", "-"), cwd=tmp_path, HOLDFAST_FAULT="settle.after_commit:3:kill")
    assert killed.code == -signal.SIGKILL
    assert 0 < len_done(tmp_path) < PAGES
    done = holdfast("crawl", "frogs", "-o", "-", cwd=tmp_path)
    assert done.code == 0
    urls = [json.loads(line)["url"] for line in done.out.splitlines()]
    assert sorted(urls) == sorted(urls_in(tmp_path))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("-o", "x.warc.gz", "--follow"), "--follow is for jsonl and csv")],
)
def test_what_cannot_be_followed_is_said(words: tuple[str, ...], sentence: str, frogs: Path) -> None:
    done = holdfast("export", "frogs", *words, cwd=frogs)
    assert done.code == 2
    assert sentence in done.err


class Following:
    """A command whose stdout is read line by line while it works."""

    def __init__(self, *words: str, cwd: Path) -> None:
        self._child = subprocess.Popen(
            [*PROGRAM, *words], cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._child.stdout is not None
        self._out = self._child.stdout

    def line(self) -> str:
        return self._out.readline()

    def rest(self) -> list[str]:
        lines = self._out.readlines()
        assert self.code() == 0
        self.close()
        return lines

    def close(self) -> None:
        self._out.close()

    def code(self) -> int:
        return self._child.wait(timeout=60)


def len_done(folder: Path) -> int:
    if not (folder / "holdfast-data" / "ledger.db").exists():
        return 0
    with ledger_in(folder) as ledger:
        jobs = ledger.jobs()
        return ledger.books(jobs[0].id)[1].succeeded if jobs else 0
