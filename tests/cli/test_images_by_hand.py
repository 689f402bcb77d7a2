"""Images jobs of a small list, as a person works them: marks, resumes, longer lists, and what is said of each."""

from __future__ import annotations

import io
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest
from PIL import Image

from cli.image_jobs import QUICK, kept, run
from holdfast.demo.engines.pictures import scene

PICTURES = 12


@cache
def picture(number: int) -> bytes:
    out = io.BytesIO()
    scene(7, "pier", number).save(out, "JPEG")
    return out.getvalue()


@cache
def noise() -> bytes:
    """A PNG of 12 MB."""
    out = io.BytesIO()
    Image.frombytes("RGB", (2_000, 2_000), Random(7).randbytes(12_000_000)).save(out, "PNG", compress_level=0)
    return out.getvalue()


class Pictures(BaseHTTPRequestHandler):
    """`/3.jpg` is the third picture; there are twelve, and a large one, `/noise.png`."""

    asked: Counter[str] = Counter()  # noqa: RUF012  one server at a time

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        name = self.path.strip("/").removesuffix(".jpg")
        if name != "noise.png" and (not name.isdigit() or int(name) >= PICTURES):
            self.send_error(404)
            return
        body = picture(int(name)) if name.isdigit() else noise()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who has enough of it hangs up
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def at() -> Iterator[str]:
    Pictures.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def write(folder: Path, *rows: str) -> None:
    (folder / "list.csv").write_text("\n".join(("keyword,url", *rows)) + "\n")


def said(err: str, about: str) -> str:
    """The last line of a summary about that."""
    return [line.strip() for line in err.splitlines() if line.strip().startswith(about)][-1].partition("    ")[0]


def test_an_image_is_thrown_out_by_its_url_and_counted_as_such(at: str, tmp_path: Path) -> None:
    write(tmp_path, *(f"pier,{at}/{number}.jpg" for number in range(4)), f"gone,{at}/99.jpg")
    done = run(tmp_path, "images", "--from", "list.csv", "--per-keyword", "2", "--name", "pier", *QUICK)
    assert said(done.err, "images:") == "images: 2 of 4 kept"
    assert "failed: http_404 1, too_few_images 1" in done.err

    refused = run(tmp_path, "label", "pier", f"{at}/99.jpg", "rejected")
    assert (refused.code != 0, f"pier keeps no image of {at}/99.jpg" in refused.err) == (True, True)
    for number, short in enumerate((1, 1, 2)):
        marked = run(tmp_path, "label", "pier", f"{at}/{number}.jpg", "rejected")
        assert (marked.code, "1 target of pier marked rejected." in marked.err) == (0, True), marked.err
        done = run(tmp_path, "resume", "pier")
        assert f"too_few_images {short}" in done.err, (
            "once for each keyword that is short, however often it was resumed"
        )

    assert set(kept(tmp_path, "pier")["pier"]) == {f"{at}/3.jpg"}
    assert said(done.err, "images:") == "images: 1 of 4 kept"
    groups = run(tmp_path, "status", "pier", "--by", "keyword", "--json").json()["groups"]
    assert [(group["group"], group["images"]["kept"]) for group in groups] == [("pier", 1), ("gone", 0)]
    rows = [
        json.loads(line)
        for line in run(tmp_path, "targets", "pier", "--where", "label:rejected", "--jsonl").out.splitlines()
    ]
    assert {row["type"] for row in rows} == {"image"}
    assert run(tmp_path, "verify", "pier").code == 0


def test_an_image_is_thrown_out_however_its_list_has_spelled_its_url(at: str, tmp_path: Path) -> None:
    """By its download, and by its URL as a browser shows it, under each keyword."""
    loud, plain = at.replace("http://", "HTTP://"), f"{at}/./"
    write(tmp_path, f"old pier,{loud}/0.jpg", f"pier,{plain}0.jpg", f"pier,{loud}/1.jpg", f"pier,{loud}/2.jpg")
    done = run(tmp_path, "images", "--from", "list.csv", "--name", "pier", *QUICK)
    assert said(done.err, "images:") == "images: 4 kept"
    rows = [json.loads(line) for line in run(tmp_path, "targets", "pier", "--jsonl").out.splitlines()]
    [download] = [row["id"] for row in rows if row["type"] == "download" and row["url"] == f"{at}/1.jpg"]

    for named, word, count in ((download, "rejected", 1), (f"{at}/2.jpg", "good", 1), (f"{at}/0.jpg", "rejected", 2)):
        marked = run(tmp_path, "label", "pier", named, word)
        assert (marked.code, f"{count} target" in marked.err) == (0, True), marked.err
    lines = run(tmp_path, "targets", "pier", "--where", "label:*", "--jsonl").out.splitlines()
    marks = [(json.loads(line)["type"], json.loads(line)["label"]) for line in lines]
    assert sorted(marks) == [("image", "good"), *[("image", "rejected")] * 3]
    assert set(kept(tmp_path, "pier")["pier"]) == {f"{loud}/2.jpg"}


def test_a_list_that_grew_is_refused_in_words_and_its_new_rows_are_another_job(at: str, tmp_path: Path) -> None:
    write(tmp_path, f"pier,{at}/0.jpg")
    assert run(tmp_path, "images", "--from", "list.csv", "--name", "pier", *QUICK, "-o", "set/").code == 0
    again = run(tmp_path, "resume", "pier")
    assert (again.code, "--mode full fetches all again" in again.err) == (0, True), again.err
    assert said(again.err, "results:") == "results: set"

    write(tmp_path, f"pier,{at}/0.jpg", f"pier,{at}/1.jpg")
    refused = run(tmp_path, "images", "--from", "list.csv", "--name", "pier", "--update", *QUICK)
    assert refused.code == 6
    assert "list.csv has changed since the job was begun, and a job keeps its list" in refused.err
    assert "sha256" not in refused.err
    (tmp_path / "more.txt").write_text(f"{at}/0.jpg\n{at}/1.jpg\n")
    more = run(tmp_path, "images", "--from", "more.txt", "--distinct-from", "pier", *QUICK)
    assert more.code == 0, more.err
    assert set(kept(tmp_path, "more")["more"]) == {f"{at}/1.jpg"}
    assert Pictures.asked["/0.jpg"] == 1, "what another job holds is not fetched"


def test_what_a_list_cannot_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("url\nhttp://a.test/1.jpg\n")
    (tmp_path / "words.txt").write_text("# none\n\n")
    engines = run(tmp_path, "images", "--from", "list.csv", "--engines", "bing")
    assert (engines.code, "--engines is for keywords" in engines.err) == (2, True)
    begun = run(tmp_path, "images", "--from", "list.csv", "--start-paused")
    assert begun.code == 0, begun.err
    named = run(tmp_path, "images", "list", "--engines", "bing")
    assert (named.code, "--engines is for keywords" in named.err) == (2, True), named.err
    empty = run(tmp_path, "images", "--keywords", "words.txt")
    assert (empty.code, "words.txt has no keyword" in empty.err) == (2, True)
    missing = run(tmp_path, "images", "--keywords", "gone.txt")
    assert (missing.code, "There is no file gone.txt" in missing.err) == (2, True), missing.err


def test_a_dry_run_of_a_list_says_what_is_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        "pier,http://a.test/1.jpg",
        "pier,http://a.test/2.jpg",
        "gull,http://a.test/3.jpg",
        "gull,ftp://a.test/4",
    )
    done = run(tmp_path, "images", "--from", "list.csv", "--dry-run")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "list.csv: 3 URLs of 2 keywords, 1 row that cannot be used",
        "  pier: 2",
        "  gull: 1",
        "  row 4: no http(s) URL: 'ftp://a.test/4'",
    ]
    assert not (tmp_path / "holdfast-data").exists()


@pytest.mark.parametrize(("limit", "fate"), [((), "image"), (("--max-bytes", "11MB"), "too_many_bytes")])
def test_an_image_may_have_as_many_bytes_as_max_bytes_says(
    at: str, tmp_path: Path, limit: tuple[str, ...], fate: str
) -> None:
    """12 MB are within the 50 MB of an answer, if nothing else is said."""
    (tmp_path / "urls.csv").write_text(f"url\n{at}/noise.png\n{at}/1.jpg\n")
    done = run(tmp_path, "images", "--from", "urls.csv", *limit, *QUICK)

    assert done.code == 0, done.err
    rows = [json.loads(line) for line in run(tmp_path, "targets", "urls", "--jsonl").out.splitlines()]
    fates = {row["disposition"] if row["type"] == "image" else row["rule"] for row in rows if "noise" in row["url"]}
    assert fate in fates


def test_a_file_is_no_keyword(tmp_path: Path) -> None:
    write(tmp_path, "pier,https://images.example/1.jpg")
    done = run(tmp_path, "images", "list.csv")
    assert done.code == 2
    assert "list.csv is a file here; for its URLs: holdfast images --from list.csv" in done.err
    assert run(tmp_path, "status", "--json").json()["jobs"] == []


def test_a_list_of_private_addresses_is_refused_before_a_job_is_made_of_it(tmp_path: Path, at: str) -> None:
    write(tmp_path, f"pier,{at}/0.jpg", f"pier,{at}/1.jpg")
    done = run(tmp_path, "images", "--from", "list.csv", "--name", "piers")
    assert (done.code, "--allow-private" in done.err) == (2, True)
    assert run(tmp_path, "status", "piers").code == 5
    assert run(tmp_path, "images", "--from", "list.csv", "--name", "piers", *QUICK).code == 0


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_what_separates_the_cells_of_a_list_is_found_out(tmp_path: Path, at: str, mark: str) -> None:
    rows = ("Klasse,Link,Was", f"pier,{at}/0.jpg,a", f"pier,{at}/1.jpg,b")
    (tmp_path / "list.csv").write_text("\n".join(rows).replace(",", mark) + "\n")
    words = ("--columns", "url=Link,keyword=Klasse", "--name", "piers", *QUICK)
    done = run(tmp_path, "images", "--from", "list.csv", *words)
    assert (done.code, "2 kept" in done.err or "kept: 2" in done.err) == (0, True), done.err
