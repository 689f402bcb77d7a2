"""`holdfast images`: N distinct images per keyword, as the oracle of the engines world has them (IMG-01 to IMG-11)."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet
import pytest

from cli.image_jobs import QUICK, asked, configure, kept, perfect, run
from cli.schemas import validator
from holdfast.demo.serving import WorldServer
from holdfast.recipes.images.plan import Plan


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    log = tmp_path_factory.mktemp("engines") / "requests.jsonl"
    with WorldServer("engines", log_path=log, pages=60) as server:
        server.set_faults(retry_after_s=0)
        yield server


@pytest.fixture(scope="module")
def pets(world: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a job of two keywords, one of which has too few images, worked to its end."""
    folder = tmp_path_factory.mktemp("pets")
    configure(folder, world)
    done = run(folder, "images", "cat", "dodo", "--per-keyword", "12", "--name", "pets", *QUICK, "-o", "pets/")
    assert done.code == 3, done.err
    assert "Wrote " in done.err
    return folder


def test_what_is_kept_is_what_a_perfect_run_keeps(world: WorldServer, pets: Path) -> None:
    """IMG-04, IMG-06, defect lines 4, 5, 12 and 15 of the engines world."""
    found = kept(pets, "pets")
    assert found["cat"] == perfect(world, "cat", 12)
    assert found["dodo"] == perfect(world, "dodo", 12)
    assert len(found["cat"]) == 12
    assert run(pets, "verify", "pets", "--deep").code == 0


def test_no_page_of_an_engine_and_no_image_is_asked_for_twice(world: WorldServer, pets: Path) -> None:
    searches, images = asked(world)
    assert set(searches.values()) == {1}
    retried = {url for url, times in images.items() if times > 1}
    rows = [json.loads(line) for line in run(pets, "targets", "pets", "--jsonl").out.splitlines()]
    tried = {row["url"] for row in rows if row["type"] == "download" and row["attempts"] > 1}
    assert len(retried) <= len(tried)
    fetched = [row for row in rows if row["type"] == "download" and row["chunk"] == "cat"]
    assert len(fetched) < 60, "candidates that are not needed are not fetched"


def test_a_keyword_with_too_few_images_is_told_and_is_not_complete(pets: Path) -> None:
    """Defect line 6 of the engines world, IMG-05."""
    status = run(pets, "status", "pets", "--json").json()
    assert (status["status"], status["health"]) == ("completed", "partial")
    assert status["failed_by"]["too_few_images"] == 1
    groups = run(pets, "status", "pets", "--by", "keyword", "--json").json()["groups"]
    assert [row["group"] for row in groups] == ["cat", "dodo"]
    assert [row["images"]["kept"] for row in groups] == [12, len(kept(pets, "pets")["dodo"])]
    table = run(pets, "status", "pets", "--by", "keyword,engine").out.splitlines()
    assert table[0].split()[:4] == ["KEYWORD", "ENGINE", "WANTED", "DISCOVERED"]
    assert len(table) == 1 + 2 * 4
    assert "kept" in run(pets, "status", "pets").out


def test_every_url_has_one_fate_and_duplicates_name_the_kept_image(world: WorldServer, pets: Path) -> None:
    rows = [json.loads(line) for line in run(pets, "targets", "pets", "--jsonl").out.splitlines()]
    fates = Counter(row["disposition"] or row["code"] for row in rows if row["type"] in ("image", "download"))
    assert {"image", "downloaded", "surplus"} <= set(fates) <= {
        "image", "duplicate", "downloaded", "rejected", "surplus", "http_404", "http_403", "network_timeout",
    }  # fmt: skip
    verdicts = Counter(row["key"].split(" ")[-1] for row in rows if row["type"] == "image" and row["chunk"] == "cat")
    assert set(verdicts.values()) == {1}, "one verdict on each URL"
    urls = {url for images in kept(pets, "pets").values() for url in images}
    for row in rows:
        if row["disposition"] == "duplicate":
            assert row["rule"].split()[-1] in urls
        if row["disposition"] == "rejected":
            assert row["rule"]


def test_the_folder_has_each_image_under_a_name_that_the_manifest_explains(pets: Path) -> None:
    """IMG-08, defect line 2 of the engines world."""
    rows = [json.loads(line) for line in (pets / "pets/manifest.jsonl").read_text().splitlines()]
    assert {row["file"] for row in rows} == {
        str(path.relative_to(pets / "pets")) for path in (pets / "pets").glob("*/*")
    }
    for row in rows:
        assert sha256((pets / "pets" / row["file"]).read_bytes()).hexdigest() == row["sha256"]
    table = list(csv.DictReader(io.StringIO((pets / "pets/manifest.csv").read_text())))
    assert [line["file"] for line in table] == [row["file"] for row in rows]
    assert {"url", "engine", "query", "rank", "source_page", "sha256", "bytes", "license"} <= set(table[0])
    assert rows[0]["file"] == "cat/0001" + Path(rows[0]["file"]).suffix


def test_documents_of_a_level_are_shown_as_they_are_and_as_they_were(pets: Path) -> None:
    """CHK-07, ux 3.1: by --level, now or as of a checkpoint, and from Python."""
    import holdfast as hf

    for level in ("job", "chunk", "engine", "download", "summary", "keyword"):
        document = run(pets, "checkpoints", "pets", "--level", level, "--json").json()
        validator("level").validate(document)
        assert document["documents"]
        assert document["documents"][0].get("type", level) == level
    first = run(pets, "checkpoints", "pets", "--level", "chunk", "--show", "1", "--json").json()
    assert (first["checkpoint"], [row["status"] for row in first["documents"]]) == (1, ["in_progress"] * 2)
    assert [row["keyword"] for row in first["documents"]] == ["cat", "dodo"]
    shown = run(pets, "checkpoints", "pets", "--level", "chunk", "--status", "completed")
    assert ["cat" in shown.out, "TARGET IMAGES" in shown.out] == [True, True]
    assert run(pets, "checkpoints", "pets", "--status", "completed").code == 2
    assert run(pets, "checkpoints", "pets", "--level", "page").code == 2
    with hf.Client(data=pets / "holdfast-data") as client:
        job = client.job("pets")
        assert [row.keyword for row in job.checkpoint_documents("chunk", number=1)] == ["cat", "dodo"]
        assert len(job.breakdown("keyword", "engine")["groups"]) == 2 * 4 + 2
        assert job.resume_answer()["chunks_to_retry"] == []


def test_an_engine_that_blocks_us_is_left_alone_and_the_others_bring_the_images(tmp_path: Path) -> None:
    """worlds.md 3, ERR-02: the set is that of a perfect run without it; the job pauses when none is left."""
    with WorldServer("engines", log_path=tmp_path / "requests.jsonl", pages=60) as world:
        world.set_faults(retry_after_s=0, blocking=1)
        configure(tmp_path, world)
        done = run(tmp_path, "images", "barn owl", "--per-keyword", "6", "--name", "owls", *QUICK)
        assert done.code == 3, done.err
        assert "left alone: google (google blocks us: it answered 200 with a block page" in done.err
        assert "holdfast retry owls --where code:engine_blocked,too_few_images" in run(tmp_path, "status", "owls").out
        rounds = [[(q.engine, q.query, q.offset) for q in each] for each in Plan(OTHERS).rounds("barn owl")]
        wanted = {row["url"]: row["sha256"] for row in world.perfect_run(rounds[:9], 6)["kept"]}
        assert kept(tmp_path, "owls")["barn owl"] == wanted
        searches, _ = asked(world)
        assert sum(n for url, n in searches.items() if url.startswith(world.oracle()["engines"]["google"][7:])) == 1
        world.set_faults(retry_after_s=0, blocking=4)
        stopped = run(tmp_path, "images", "teapot", "--per-keyword", "3", "--name", "pots", *QUICK)
        status = run(tmp_path, "status", "pots", "--json").json()
        assert (stopped.code, status["status"], status["paused_by"]) == (10, "paused", "blocked")
        assert "every search engine blocks us" in status["because"]
        world.set_faults(retry_after_s=0)
        again = run(tmp_path, "resume", "pots", "--strategy", "auto")
        assert again.code in (0, 3), again.err
        assert len(kept(tmp_path, "pots")["teapot"]) == 3


OTHERS = ("bing", "baidu", "duckduckgo")


def names_in(shard: Path) -> list[str]:
    with tarfile.open(shard) as tar:
        return tar.getnames()


def test_exports_carry_the_images_and_the_same_job_gives_the_same_bytes(pets: Path) -> None:
    before: dict[str, bytes] = {}
    for _ in range(2):
        for name in ("a.zip", "a.parquet", "a.html", "a.csv"):
            done = run(pets, "export", "pets", "-o", name)
            assert done.code == 0, done.err
        done = run(
            pets, "export", "pets", "-o", "shards/", "--format", "webdataset", "--shard", "5", "--split", "60/40"
        )
        assert done.code == 0, done.err
        now = {path.name: path.read_bytes() for path in (pets / "a.zip", pets / "a.html", *(pets / "shards").iterdir())}
        assert now == (before or now)
        before = now
    archive = zipfile.ZipFile(io.BytesIO(now["a.zip"]))
    assert archive.testzip() is None
    assert "manifest.jsonl" in archive.namelist()
    total = len(archive.namelist()) - 1
    samples = [name for shard in (pets / "shards").iterdir() for name in names_in(shard)]
    assert len(samples) == 3 * total
    assert {path.name.partition("-")[0] for path in (pets / "shards").iterdir()} == {"train", "val"}
    assert now["a.html"].count(b"<li ") == total
    assert now["a.html"].count(b"data:image/jpeg;base64,") == total


READER = """
import json, sys, webdataset
from hashlib import sha256
for sample in webdataset.WebDataset(sys.argv[1:], shardshuffle=False):
    picture = next(sample[name] for name in ("jpg", "png", "gif", "webp", "bmp", "tiff") if name in sample)
    print(json.dumps([sha256(picture).hexdigest(), json.loads(sample["json"])["sha256"], sample["txt"].decode()]))
"""


def test_parquet_and_shards_are_read_by_the_programs_of_the_field(pets: Path) -> None:
    assert run(pets, "export", "pets", "-o", "b.parquet").code == 0
    table = pyarrow.parquet.read_table(pets / "b.parquet")
    assert run(pets, "export", "pets", "-o", "read/", "--format", "webdataset", "--shard", "10").code == 0
    shards = sorted(str(path) for path in (pets / "read").iterdir())
    asks = [sys.executable, "-c", READER, *shards]  # apart: that package leaves its files open
    done = subprocess.run(asks, capture_output=True, text=True, check=True, cwd=pets)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    by_hash = dict(zip(table["sha256"].to_pylist(), table["keyword"].to_pylist(), strict=True))
    assert {found: keyword for found, _, keyword in samples} == by_hash
    assert all(found == told for found, told, _ in samples)
    assert len(samples) == table.num_rows


def test_more_images_later_go_on_from_those_that_are_there(world: WorldServer, tmp_path: Path) -> None:
    """IMG-04, defect line 7: raising the number fetches nothing again and keeps what is kept."""
    configure(tmp_path, world)
    begin = ("images", "kelp", *QUICK)
    assert run(tmp_path, *begin, "--per-keyword", "5").code in (0, 3)
    first = kept(tmp_path, "kelp")["kelp"]
    before = asked(world)
    refused = run(tmp_path, *begin, "--per-keyword", "9")
    assert (refused.code, "per_keyword: 5, now 9" in refused.err) == (6, True)
    more = run(tmp_path, *begin, "--per-keyword", "9", "--update")
    assert more.code in (0, 3), more.err
    second = kept(tmp_path, "kelp")["kelp"]
    assert first.items() <= second.items()
    assert second == perfect(world, "kelp", 9)
    assert asked(world)[0] == before[0], "no engine was asked again"
    assert not [url for url, times in (asked(world)[1] - before[1]).items() if url in before[1] and times > 1]
    wider = run(tmp_path, "images", "kelp", "teapot", "--name", "kelp", "--per-keyword", "9", *QUICK, "--update")
    assert wider.code in (0, 3), wider.err
    assert kept(tmp_path, "kelp")["teapot"] == perfect(world, "teapot", 9)
    assert run(tmp_path, "verify", "kelp").code == 0


def test_an_image_that_a_person_throws_out_is_replaced(world: WorldServer, tmp_path: Path) -> None:
    configure(tmp_path, world)
    assert run(tmp_path, "images", "lighthouse", *QUICK, "--per-keyword", "4").code in (0, 3)
    before = run(tmp_path, "export", "lighthouse", "-o", "-").out.splitlines()
    thrown = json.loads(before[0])
    marked = run(tmp_path, "label", "lighthouse", thrown["target"], "rejected")
    assert (marked.code, "holdfast resume lighthouse" in marked.err) == (0, True)
    done = run(tmp_path, "resume", "lighthouse")
    assert done.code in (0, 3), done.err
    after = kept(tmp_path, "lighthouse")["lighthouse"]
    assert thrown["url"] not in after
    assert len(after) == 4
    assert {json.loads(line)["url"] for line in before} - {thrown["url"]} < set(after)
    assert set(after) | {thrown["url"]} == set(perfect(world, "lighthouse", 5))


@pytest.fixture(scope="module")
def urls(world: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of every image of two keywords, and a row that cannot be used."""
    path = tmp_path_factory.mktemp("list") / "urls.csv"
    rows = [(word, row["url"]) for word in ("tide pool", "dodo") for row in world.oracle()["keywords"][word]]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("keyword", "url"), *rows, ("dodo", "ftp://nowhere.test/a.jpg")])
    return path


def test_a_list_becomes_a_dataset(world: WorldServer, urls: Path, tmp_path: Path) -> None:
    """IMG-11: every row has its fate, all that is good and distinct is kept."""
    configure(tmp_path, world)
    done = run(tmp_path, "images", "--from", str(urls), *QUICK, "-o", "set/")
    assert done.code == 3, done.err
    rows = [json.loads(line) for line in (tmp_path / "set/manifest.jsonl").read_text().splitlines()]
    assert {row["keyword"] for row in rows} == {"tide pool", "dodo"}
    assert {row["engine"] for row in rows} == {"list"}
    assert len({row["sha256"] for row in rows}) == len(rows)
    targets = [json.loads(line) for line in run(tmp_path, "targets", "urls", "--jsonl").out.splitlines()]
    assert len([row for row in targets if row["type"] == "download"]) == 72
    bad = [row for row in targets if row["key"] == "row 73"]
    assert [(row["disposition"], "ftp://" in row["rule"]) for row in bad] == [("rejected", True)]
    again = run(tmp_path, "images", "--from", str(urls), *QUICK, "-o", "set/")
    assert "is complete" in again.err


@pytest.mark.parametrize(
    ("names", "words"), [(("url", "caption"), ()), (("Link", "Alt"), ("--columns", "url=Link,caption=Alt"))]
)
def test_captions_and_saved_columns_of_a_list_are_in_every_export(
    world: WorldServer, tmp_path: Path, names: tuple[str, str], words: tuple[str, ...]
) -> None:
    """IMG-11, as img2dataset's `caption_col` and `save_additional_columns`."""
    configure(tmp_path, world)
    seen = list(perfect(world, "lighthouse", 5))[:3]
    rows = [(*names, "similarity"), *((url, f"-the {n}", n / 8) for n, url in enumerate(seen))]
    with (tmp_path / "urls.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    done = run(tmp_path, "images", "--from", "urls.csv", *words, "--save-columns", "similarity", *QUICK, "-o", "set/")
    assert done.code == 0, done.err
    said = [json.loads(line) for line in (tmp_path / "set/metadata.jsonl").read_text().splitlines()]
    assert [(row["url"], row["text"], row["similarity"]) for row in said] == [
        (url, f"-the {n}", str(n / 8)) for n, url in enumerate(seen)
    ]
    assert all((tmp_path / "set" / row["file_name"]).is_file() for row in said)
    assert run(tmp_path, "export", "urls", "-o", "shards/", "--format", "webdataset").code == 0
    with tarfile.open(tmp_path / "shards/000000.tar") as tar:
        texts = [tar.extractfile(name).read() for name in tar.getnames() if name.endswith(".txt")]  # type: ignore[union-attr]
        objects = [json.load(tar.extractfile(name)) for name in tar.getnames() if name.endswith(".json")]  # type: ignore[arg-type]
    assert texts == [b"-the 0", b"-the 1", b"-the 2"]
    assert [row["columns"] for row in objects] == [{"similarity": str(n / 8)} for n in range(3)]


def test_a_list_of_which_a_few_are_wanted_leaves_the_others_alone(
    world: WorldServer, urls: Path, tmp_path: Path
) -> None:
    configure(tmp_path, world)
    assert run(tmp_path, "images", "--from", str(urls), *QUICK, "--per-keyword", "3").code in (0, 3)
    found = kept(tmp_path, "urls")
    assert {keyword: len(images) for keyword, images in found.items()} == {"tide pool": 3, "dodo": 3}
    targets = [json.loads(line) for line in run(tmp_path, "targets", "urls", "--jsonl").out.splitlines()]
    assert len([row for row in targets if row["type"] == "download"]) < 30


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "images needs a keyword"),
        (("",), "a keyword has 1 to 200 printable characters, not ''"),
        (("x" * 201,), "a keyword has 1 to 200 printable characters, not 'xxx"),
        (("cat", "--engines", "altavista"), "there is no engine 'altavista'"),
        (("cat", "--per-keyword", "0"), "--per-keyword: must be from 1 to 1000000, not 0"),
        (("cat", "--min-size", "big"), "--min-size"),
        (("cat", "--dedupe", "fuzzy"), "--dedupe"),
        (("--from", "nowhere.csv"), "there is no file"),
        (("--from", "names.csv"), "names.csv has no column url"),
        (("--from", "list.md"), "is not a list of images"),
        (("--from", "good.csv", "--save-columns", "mood"), "no column 'mood' to save"),
        (("cat", "--save-columns", "mood"), "--save-columns is for a list"),
        (("--from", "good.csv", "--columns", "url=Lnk"), "no column 'Lnk'; it has:"),
        (("--from", "good.csv", "--columns", "link=url"), "--columns has no field 'link'"),
        (("cat", "--columns", "url=Link"), "--columns is for a list"),
        (("cat", "--from", "good.csv"), "a list brings its own keywords"),
        (("--keywords", "nowhere.txt"), "there is no file"),
        (("cat", "--per-keyword", "-3"), "--per-keyword"),
        (("cat", "--per-keyword", "many"), "--per-keyword"),
        (("--from", "empty.csv"), "names no image"),
        (("cat", "-o", "missing/set/"), "there is no folder"),
        (("cat", "-o", "good.csv/"), "is a file"),
        (("cat", "-o", "/proc/set/"), "the folder /proc cannot be written"),
        (("--keywords", "blank.txt"), "blank.txt has no keyword"),
        (("cat", "--to", "webdataset"), "needs a folder"),
    ],
)
def test_bad_input_is_told_and_makes_no_job(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "names.csv").write_text("keyword,name\ncat,one\n")
    (tmp_path / "good.csv").write_text("keyword,url\ncat,https://a.test/1.jpg\n")
    (tmp_path / "list.md").write_text("https://a.test/1.jpg\n")
    (tmp_path / "blank.txt").write_text("\n \n")
    (tmp_path / "empty.csv").write_text("keyword,url\ncat,not a url\n")
    done = run(tmp_path, "images", *words)
    assert (done.code, said.lower() in done.err.lower()) == (2, True), done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "holdfast-data/ledger.db").exists() or not run(tmp_path, "jobs", "--json").json()["jobs"]


def test_python_has_images_too(world: WorldServer, tmp_path: Path) -> None:
    import holdfast as hf

    configure(tmp_path, world)
    with hf.Client(data=tmp_path / "data", config_file=tmp_path / "holdfast.toml") as client:
        pace = {"allow_private": True, "delay": 0, "concurrency": 16}
        job = client.images("teapot", per_keyword=3, engines=["bing", "google"], **pace)
        job.run()
        job.export(tmp_path / "teapots.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "teapots.jsonl").read_text().splitlines()]
        assert len(rows) == 3
        assert {row["engine"] for row in rows} <= {"bing", "google"}
        job = client.images("teapot", per_keyword=5, engines=["bing", "google"], update=True, **pace)
        job.run()
        assert job.counts.succeeded > 5


def test_a_second_set_leaves_out_what_the_first_one_keeps(world: WorldServer, tmp_path: Path) -> None:
    """IMG-06 across jobs: from the command line, a job file and Python; the same command later goes on."""
    import holdfast as hf

    configure(tmp_path, world)
    words = ("--per-keyword", "4", "--engines", "bing,google", *QUICK)
    assert run(tmp_path, "images", "teapot", "--name", "first", *words).code == 0
    table = 'kind = "images"\nkeywords = ["teapot"]\nname = "second"\ndistinct_from = ["first"]\nper_keyword = 4\n'
    (tmp_path / "second.toml").write_text(table + 'engines = ["bing", "google"]\n')
    assert run(tmp_path, "run", "second.toml", *QUICK).code == 0
    first, second = kept(tmp_path, "first")["teapot"], kept(tmp_path, "second")["teapot"]
    assert len(first) == len(second) == 4
    assert not {*first, *first.values()} & {*second, *second.values()}
    rows = [json.loads(line) for line in run(tmp_path, "targets", "second", "--jsonl").out.splitlines()]
    rules = [row["rule"].split() for row in rows if row["disposition"] == "duplicate"]
    uid = run(tmp_path, "status", "first", "--json").json()["id"]
    assert {(rule[2], rule[3] in first) for rule in rules if rule[0] == "url"} == {(uid, True)}
    assert run(tmp_path, "verify", "second").code == 0
    again = run(tmp_path, "images", "teapot", "--name", "second", "--distinct-from", "first", *words)
    assert again.code == 0, again.err
    other = run(tmp_path, "images", "teapot", "--name", "second", *words)
    assert (other.code, "other parameters" in other.err) == (6, True), other.err
    with hf.Client(data=tmp_path / "holdfast-data", config_file=tmp_path / "holdfast.toml") as client:
        asked_for = {"per_keyword": 4, "engines": ["bing", "google"], "allow_private": True}
        job = client.images("teapot", name="third", distinct_from=["first", "second"], **asked_for)
        job.run()
        job.export(tmp_path / "third.jsonl")
    third = {json.loads(line)["sha256"] for line in (tmp_path / "third.jsonl").read_text().splitlines()}
    assert len(third) == 4
    assert not third & {*first.values(), *second.values()}
    refused = run(tmp_path, "images", "teapot", "--name", "fourth", "--distinct-from", "nobody", *words)
    assert (refused.code, "nobody" in refused.err) == (5, True), refused.err
