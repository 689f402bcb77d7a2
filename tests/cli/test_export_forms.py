"""Parquet and ZIP, near duplicates, and results for a consumer that comes back (SIT-09)."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pyarrow.parquet
import pytest

import holdfast as hf
from cli.commands import PROGRAM, crawl_words, environment, holdfast
from cli.polite_origin import Answer, Origin
from documents.shelf import serving
from holdfast.demo.serving import WorldServer
from holdfast.engine.near_duplicates import BITS_MAX, near_copies, simhash

PAGES = 60
DATE = ("--date", "2026-01-31")
STABLE = ("--fields", "url,title,depth,status_code,fetched_at,sha256,bytes,links,markdown,text,metadata,flags")
FORMS = ("jsonl", "csv", "parquet", "zip", "warc.gz", "wacz")
PROSE = " ".join(f"frog {n} sits on leaf {n * n} of the pond" for n in range(60))


@pytest.fixture(scope="module")
def frogs(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frogs")
    assert holdfast(*crawl_words(tree), cwd=folder).code == 0
    return folder


def test_a_parquet_file_has_the_rows_of_the_jsonl_export_with_their_types(frogs: Path) -> None:
    assert holdfast("export", "frogs", "-o", "frogs.parquet", cwd=frogs).code == 0
    table = pyarrow.parquet.read_table(frogs / "frogs.parquet")
    lines = [json.loads(line) for line in holdfast("export", "frogs", "-o", "-", cwd=frogs).out.splitlines()]
    rows = [{**row, "metadata": json.loads(row["metadata"])} for row in table.to_pylist()]
    assert rows == lines
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["depth"], types["title"], types["flags"]) == ("int64", "string", "list<element: string>")
    assert hf.job("frogs", data=frogs / "holdfast-data").export(frogs / "again.parquet", fields="url,depth") == PAGES


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-o", "x.csv", "--split", "80/20"), "--split is for webdataset, and these results are csv"),
        (("-o", "x/", "--format", "md", "--shard", "5"), "--shard is for webdataset, and these results are md"),
    ],
)
def test_shards_and_parts_are_asked_for_of_shards_alone(frogs: Path, words: tuple[str, ...], sentence: str) -> None:
    done = holdfast("export", "frogs", *words, cwd=frogs)
    assert (done.code, sentence.lower() in done.err.lower()) == (2, True), done.err
    assert not (frogs / words[1]).exists()
    job = hf.job("frogs", data=frogs / "holdfast-data")
    with pytest.raises(hf.BadParams, match="is for webdataset"):
        job.export(frogs / "x.csv", shard=5)


def test_a_zip_file_is_the_folder_of_markdown(frogs: Path) -> None:
    for place in ("frogs.zip", "out/"):
        assert holdfast("export", "frogs", "-o", place, cwd=frogs).code == 0
    with zipfile.ZipFile(frogs / "frogs.zip") as archive:
        assert archive.testzip() is None
        packed = {name: archive.read(name) for name in archive.namelist()}
    out = frogs / "out"
    assert packed == {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert len(packed) == PAGES + 1


def test_equal_answers_give_equal_files_of_every_form(tree: WorldServer, tmp_path: Path) -> None:
    """Killed half-way or not; --date leaves out when, and names the order."""
    for name, fault in (("killed", {"HOLDFAST_FAULT": "settle.after_commit:4:kill"}), ("calm", {})):
        (tmp_path / name).mkdir()
        assert (holdfast(*crawl_words(tree), cwd=tmp_path / name, **fault).code != 0) == bool(fault)
        assert holdfast(*crawl_words(tree), cwd=tmp_path / name).code == 0
        for form in FORMS:
            fields = STABLE if form in ("jsonl", "csv", "parquet") else ()
            assert holdfast("export", "frogs", "-o", f"it.{form}", *DATE, *fields, cwd=tmp_path / name).code == 0
    differing = [
        form for form in FORMS if len({(tmp_path / n / f"it.{form}").read_bytes() for n in ("killed", "calm")}) > 1
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "x.parquet", "--follow"), "cannot be followed"),
        (("-o", "x.zip", "--follow"), "cannot be followed"),
        (("-o", "x.wacz", "--follow"), "when all results are there"),
        (("-o", "x.zip", "--fields", "url"), "--fields is for jsonl and csv"),
        (("-o", "x.jsonl", "--consumer", "me"), "--follow -o -"),
        (("-o", "-", "--follow", "--distinct-text"), "when all results are there"),
    ],
)
def test_what_cannot_be_written_so_is_refused(words: tuple[str, ...], said: str, frogs: Path) -> None:
    done = holdfast("export", "frogs", *words, cwd=frogs)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (frogs / "x.zip").exists()


def test_a_consumer_that_comes_back_reads_on_where_it_stopped(frogs: Path) -> None:
    follow = ("export", "frogs", "-o", "-", "--follow", "--fields", "url", "--consumer", "indexer")
    assert len(holdfast(*follow, cwd=frogs).out.splitlines()) == PAGES
    assert holdfast(*follow, cwd=frogs).out == ""
    assert len(holdfast(*follow[:-1], "another", cwd=frogs).out.splitlines()) == PAGES


def test_a_consumer_that_is_killed_misses_nothing(frogs: Path) -> None:
    """At least once: `export --follow --consumer embed` in a pipe whose reader died under it."""
    words = ("export", "frogs", "-o", "-", "--follow", "--fields", "url", "--consumer", "embed")
    child = subprocess.Popen([*PROGRAM, *words], cwd=frogs, env=environment(), stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout:
        read = [child.stdout.readline().decode() for _ in range(10)]
        child.kill()
        child.wait()
        read += child.stdout.read().decode().splitlines(keepends=True)
    rest = holdfast(*words, cwd=frogs).out.splitlines(keepends=True)
    assert len({*read, *rest}) == PAGES
    assert holdfast(*words, cwd=frogs).out == ""


def page(text: str, *links: str) -> Answer:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    html = f"<title>t</title><nav>{anchors}</nav><main><p>{text}</main>"
    return Answer(200, html.encode(), {"content-type": "text/html"})


def test_pages_of_nearly_the_same_text_are_marked_or_left_out(tmp_path: Path) -> None:
    """SIT-09: near duplicates."""
    others = {f"/{n}": page(" ".join(f"toad {n} walks {n * k} steps" for k in range(40))) for n in range(5)}
    answers = {
        "/": page("short", "/a", "/b", *others),
        "/a": page(PROSE),
        "/b": page(PROSE + " Printed today."),
        **others,
    }
    with Origin(lambda path: answers.get(path, Answer(404))) as site:
        words = ("crawl", site.url, "--allow-private", "--delay", "0", "--name", "pond", "--sitemap", "off")
        assert holdfast(*words, cwd=tmp_path).code == 0
        said = holdfast("export", "pond", "-o", "-", "--fields", "url,near_duplicate_of", cwd=tmp_path).out
        marked = {row["url"]: row["near_duplicate_of"] for row in map(json.loads, said.splitlines())}
        named = {url: of for url, of in marked.items() if of}
        assert named in ({f"{site.url}/b": f"{site.url}/a"}, {f"{site.url}/a": f"{site.url}/b"})
        left = holdfast("export", "pond", "-o", "-", "--distinct-text", "--fields", "url", cwd=tmp_path).out
        assert {json.loads(line)["url"] for line in left.splitlines()} == set(marked) - set(named)
        assert holdfast("export", "pond", "-o", "out/", "--fields", "+near_duplicate_of", cwd=tmp_path).code == 0
        index = [json.loads(line) for line in (tmp_path / "out" / "index.jsonl").read_text().splitlines()]
        assert {line["url"]: line["near_duplicate_of"] for line in index} == marked


def test_near_copies_are_those_within_a_few_bits_and_named_by_the_first() -> None:
    one = simhash(PROSE)
    near = (int.from_bytes(one, "big") ^ 0b111).to_bytes(8, "big")
    far = (int.from_bytes(one, "big") ^ 0xF0F0).to_bytes(8, "big")
    texts = [(one, 1, "u1"), (far, 2, "u2"), (near, 3, "u3"), (b"", 4, "u4"), (b"", 5, "u5")]
    found = list(near_copies(iter(texts), lambda rows, key: iter(sorted(rows, key=key))))
    assert [(target, url) for _, target, url in found] == [(3, "u1")]
    assert (int.from_bytes(simhash(PROSE + " one word"), "big") ^ int.from_bytes(one, "big")).bit_count() <= BITS_MAX
    assert simhash("too short") == b""


SHARED = """
from holdfast.recipe import Recipe, file, record, target

twins = Recipe("twins", params={"site": str})


@twins.plan
def plan(params):
    for n in range(2):
        yield target(f"{params['site']}/{n}.txt", type="twin", key=f"twin-{n}")


@twins.step("twin")
async def twin(here, fetch):
    yield file(await fetch.file(here.url), "text")
    yield record(twin=here.key)
"""


def test_a_file_that_several_targets_share_is_in_an_archive_once(tmp_path: Path) -> None:
    (tmp_path / "twins.py").write_text(SHARED)
    with serving(tmp_path / "www") as shelf:
        for n in range(2):
            (shelf.root / f"{n}.txt").write_text("the same")
        words = ("--name", "twins", f"--param=site={shelf.url}", "--allow-private", "--delay", "0", "--ignore-robots")
        done = holdfast("run", str(tmp_path / "twins.py"), *words, cwd=tmp_path)
        assert done.code == 0, done.err
    assert holdfast("export", "twins", "-o", "twins.zip", cwd=tmp_path).code == 0
    with zipfile.ZipFile(tmp_path / "twins.zip") as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)) == 4  # the file, two tables, the audit
