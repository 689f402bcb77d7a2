"""`--to md -o FOLDER/`: a file per page, brought up to date; nothing of anybody else's is touched."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

import holdfast as hf
from cli.commands import crawl_words, holdfast
from cli.polite_origin import Answer, Origin
from holdfast.demo.serving import WorldServer
from holdfast.views.exports.front_matter import START

PAGES = 60
DATE = ("--date", "2026-01-31")


def page(title: str, body: str, *links: str) -> Answer:
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f"<html lang=en><title>{title}</title><main><h1>{title}</h1>{body}<ul>{anchors}</ul></main>"
    return Answer(200, text.encode(), {"content-type": "text/html"})


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def index_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


def test_a_crawl_gives_a_folder_of_markdown(tree: WorldServer, tmp_path: Path) -> None:
    """SIT-09: pages become Markdown with title, headings and code blocks."""
    done = holdfast(*crawl_words(tree, "--to", "md", "-o", "out/"), cwd=tmp_path)
    assert done.code == 0
    assert f"Writing pages to out/ …\nWrote {PAGES} pages to out/." in done.err
    index = index_of(tmp_path / "out")
    assert len(index) == PAGES == len({line["file"] for line in index})
    assert set(files_in(tmp_path / "out")) == {"index.jsonl", *(line["file"] for line in index)}
    for line in index:
        text = (tmp_path / "out" / str(line["file"])).read_text()
        assert text.startswith(f'---\nurl: "{line["url"]}"\ntitle: "{line["title"]}"\n')
        assert "\n---\n\n# " in text
    assert holdfast("crawl", "frogs", cwd=tmp_path).code == 0, "the job remembers its folder"


def test_equal_answers_give_equal_folders_whatever_was_killed(tree: WorldServer, tmp_path: Path) -> None:
    for name in ("killed", "calm"):
        (tmp_path / name).mkdir()
        fault = {"HOLDFAST_FAULT": "settle.after_commit:3:kill"} if name == "killed" else {}
        first = holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path / name, **fault)
        assert (first.code != 0) == bool(fault)
        assert holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path / name).code == 0
        assert holdfast("export", "frogs", "-o", "dated/", *DATE, cwd=tmp_path / name).code == 0
    one, other = (files_in(tmp_path / name / "dated") for name in ("killed", "calm"))
    assert one == other, "the index as well: it is by URL"
    undated = files_in(tmp_path / "killed" / "out")
    assert {name: file for name, file in undated.items() if name != "index.jsonl"} == {
        name: file for name, file in other.items() if name != "index.jsonl"
    }, "no file says when its page was fetched"


def test_a_second_export_touches_only_what_changed(tmp_path: Path) -> None:
    answers = {"/": page("Pond", "<p>old", "/a", "/b"), "/a": page("A", "<p>same"), "/b": page("B", "<p>gone")}
    with Origin(lambda path: answers.get(path, Answer(404))) as site:
        words = ("crawl", site.url, "--allow-private", "--delay", "0", "--name", "pond", "-o", "out/")
        assert holdfast(*words, cwd=tmp_path).code == 0
        out = tmp_path / "out"
        assert sorted(files_in(out)) == ["a.md", "b.md", "index.jsonl", "index.md"]
        (out / "notes.md").write_text("my own notes")
        before = {name: os.stat(out / name).st_mtime_ns for name in ("a.md", "index.md")}
        answers["/"] = page("Pond", "<p>new", "/a")
        del answers["/b"]
        assert holdfast(*words, "--new", cwd=tmp_path).code == 0
    assert sorted(files_in(out)) == ["a.md", "index.jsonl", "index.md", "notes.md"]
    assert (out / "notes.md").read_text() == "my own notes"
    assert os.stat(out / "a.md").st_mtime_ns == before["a.md"], "a page that did not change is not touched"
    assert "new" in (out / "index.md").read_text()
    assert os.stat(out / "index.md").st_mtime_ns != before["index.md"]


def test_of_pages_with_the_same_name_the_plainest_has_it(tmp_path: Path) -> None:
    """`/` and `/index.html` are one file where they are the same page; other pages get the hash of their URL."""
    answers = {"/a": page("A", "<p>one"), "/a.html": page("A", "<p>other")}
    answers["/a.htm"] = Answer(200, answers["/a"].body, {"content-type": "text/plain"})
    with Origin(lambda path: answers.get(path, Answer(404))) as site:
        second = sha256(f"{site.url}/a.html".encode()).hexdigest()[:10]
        third = sha256(f"{site.url}/a.htm".encode()).hexdigest()[:10]
        answers["/"] = page("Pond", "", "a", "index.html", "a.html", "a.htm", f"a-{second}")
        answers |= {"/index.html": answers["/"], f"/a-{second}": page("A", "<p>mine")}  # named as the other one's file
        words = ("crawl", site.url, "--allow-private", "--delay", "0", "--name", "pond", "-o", "out/")
        assert holdfast(*words, cwd=tmp_path).code == 0
    named = {str(line["url"]).removeprefix(site.url): line["file"] for line in index_of(tmp_path / "out")}
    mine = str(named.pop(f"/a-{second}"))
    assert named == {
        "/": "index.md", "/index.html": "index.md", "/a": "a.md", "/a.html": f"a-{second}.md", "/a.htm": f"a-{third}.md"
    }  # fmt: skip
    files = files_in(tmp_path / "out")
    assert set(files) == {"index.jsonl", mine, *named.values()}
    assert b"mine" in files[mine]
    assert b'/"\n' in files["index.md"].splitlines(keepends=True)[1]
    assert (b"one" in files["a.md"], b"other" in files[f"a-{second}.md"]) == (True, True)


@pytest.mark.parametrize("theirs", [b'{"file": "mine.md"}\n', b"my own notes", b"[]\n", b"\xff\n"])
def test_an_index_of_somebody_elses_is_never_replaced_and_that_is_said_before_the_crawl(
    tmp_path: Path, theirs: bytes
) -> None:
    answers = {"/": page("Pond", "<p>frogs", "/a"), "/a": page("A", "<p>a frog")}
    with Origin(lambda path: answers.get(path, Answer(404))) as site:
        words = ("crawl", site.url, "--allow-private", "--delay", "0", "--name", "pond")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "index.jsonl").write_bytes(theirs)
        refused = holdfast(*words, "-o", "out/", cwd=tmp_path)
        assert (refused.code, holdfast("jobs", "--json", cwd=tmp_path).json()["jobs"]) == (2, [])
        assert "index.jsonl is there already, and no export wrote it" in refused.err
        assert holdfast(*words, cwd=tmp_path).code == 0
    assert holdfast("export", "pond", "-o", "out/", cwd=tmp_path).code == 2
    assert files_in(tmp_path / "out") == {"index.jsonl": theirs}
    (tmp_path / "out" / "index.jsonl").write_bytes(b"")
    assert holdfast("export", "pond", "-o", "out/", cwd=tmp_path).code == 0
    assert [line["file"] for line in index_of(tmp_path / "out")] == ["index.md", "a.md"]


def test_a_file_of_somebody_elses_is_never_replaced(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    assert holdfast("export", "frogs", "-o", "names/", cwd=tmp_path).code == 0
    name = str(index_of(tmp_path / "names")[7]["file"])
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = holdfast("export", "frogs", "-o", "out/", cwd=tmp_path)
    assert done.code == 2
    assert "is there already, and no export wrote it" in done.err
    assert mine.read_text() == "mine"


def test_a_folder_with_results_of_another_job_is_refused_and_stays_as_it_is(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path).code == 0
    before = files_in(tmp_path / "out")
    toads = [word if word != "frogs" else "toads" for word in crawl_words(tree, "--max-pages", "3")]
    assert holdfast(*toads, cwd=tmp_path).code == 13
    done = holdfast("export", "toads", "-o", "out/", cwd=tmp_path)
    assert done.code == 2
    assert "has the results of another job, frogs" in done.err
    assert files_in(tmp_path / "out") == before
    assert holdfast(*crawl_words(tree, "--new", "-o", "out/"), cwd=tmp_path).code == 0, "the same job, begun anew"


def test_what_a_killed_export_left_is_taken_up_by_the_next(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    fault = {"HOLDFAST_FAULT": "export.before_rename:20:kill"}
    assert holdfast("export", "frogs", "-o", "out/", cwd=tmp_path, **fault).code != 0
    left = files_in(tmp_path / "out")
    assert "index.jsonl" not in left
    whole = [file for name, file in left.items() if name.endswith(".md")]
    assert len(whole) == 19
    assert all(file.startswith(START.encode()) and b"\n---\n\n# " in file for file in whole)
    done = holdfast("export", "frogs", "-o", "out/", "--where", "depth:<2", cwd=tmp_path)
    assert done.code == 0
    files = {line["file"] for line in index_of(tmp_path / "out")}
    assert set(files_in(tmp_path / "out")) == {"index.jsonl", *files}, "what the killed one wrote beyond that is gone"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "out.md"), "Markdown is a folder of files"),
        (("-o", "holdfast-data/"), "is a data folder"),
        (("-o", "out/", "--follow"), "cannot be followed"),
        (("-o", "out/", "--fields", "url"), "--fields is for jsonl and csv"),
        (("-o", "nowhere/out/"), "there is no folder"),
    ],
)
def test_what_cannot_be_a_folder_of_markdown_is_refused(
    words: tuple[str, ...], said: str, tree: WorldServer, tmp_path: Path
) -> None:
    assert holdfast(*crawl_words(tree, "--max-pages", "3"), cwd=tmp_path).code in (0, 13)
    done = holdfast("export", "frogs", *words, cwd=tmp_path)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (tmp_path / "out").exists()


def test_markdown_goes_to_stdout_and_to_python(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, "--to", "md", "-o", "-"), cwd=tmp_path)
    assert done.code == 0
    assert done.out.count(START) == PAGES
    job = hf.job("frogs", data=tmp_path / "holdfast-data")
    pages = list(job.records())
    assert all(page.markdown.startswith("# ") for page in pages)
    assert job.export(f"{tmp_path}/out/") == PAGES
    name = next(str(line["file"]) for line in index_of(tmp_path / "out") if line["url"] == pages[0].url)
    assert (tmp_path / "out" / name).read_text().endswith(pages[0].markdown)
