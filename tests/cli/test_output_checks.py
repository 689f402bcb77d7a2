"""A wrong -o is said before a job is made, by every start command, whatever is wrong with it (ux 3.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import holdfast

SITE = "http://127.0.0.1:9"  # nothing answers there: a command that began would not end with code 2
LIST = f"Link,Number\n{SITE}/1.pdf,N-1\n"
IMAGES = f"keyword,url\ncat,{SITE}/1.jpg\n"
STARTS = {
    "crawl": ("crawl", SITE),
    "docs": ("docs", "list.csv", "--columns", "url=Link,id=Number"),
    "cases": ("cases", "T-1-25..T-2-25", "--url", SITE + "/{number}"),
    "images": ("images", "--from", "images.csv"),
}
FOR_IMAGES = "is a form for images"
WRONG = {
    "no suffix": (("results",), "names no form"),
    "another suffix": (("results.txt",), "names no form"),
    "a file where a folder is needed": (("a-file/",), "is a file"),
    "a folder in a file": (("a-file/results.jsonl",), "there is no folder"),
    "no such folder": (("nowhere/results.jsonl",), "there is no folder"),
    "a place that refuses all": (("/proc/results.jsonl",), "cannot be written"),
    "a folder in a place that refuses all": (("/proc/results/",), "cannot be written"),
    "a name that no file can have": (("a" * 300 + ".jsonl",), "File name too long"),
    "many files, to stdout": (("-", "--to", "webdataset"), "a form for images|do not go to stdout"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "list.csv").write_text(LIST)
    (tmp_path / "images.csv").write_text(IMAGES)
    (tmp_path / "a-file").touch()
    return tmp_path


def refused(folder: Path, start: str, *output: str) -> str:
    """What is said of it; nothing was written, and no job made."""
    before = sorted(folder.rglob("*"))
    done = holdfast(*STARTS[start], "--allow-private", "-o", *output, cwd=folder)
    assert (done.code, done.out) == (2, ""), done
    assert sorted(folder.rglob("*")) == before
    return done.err


@pytest.mark.parametrize("start", ["crawl", "docs"])  # the others begin as docs does
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_place_is_said_before_a_job_is_made(folder: Path, start: str, what: str) -> None:
    output, told = WRONG[what]
    said = refused(folder, start, *output)
    assert any(part in said for part in told.split("|")), said


@pytest.mark.parametrize(
    ("start", "output", "told"),
    [
        ("crawl", ("results.html",), FOR_IMAGES),
        ("docs", ("results.html",), FOR_IMAGES),
        ("cases", ("/proc/results.jsonl",), "cannot be written"),
        ("images", ("results.txt",), "names no form"),
        ("cases", ("shards/", "--to", "webdataset"), FOR_IMAGES),
        ("cases", ("results/",), "Markdown is made of the pages of a site"),
        ("images", (".",), "Markdown is a folder|name another folder"),
        ("images", ("./", "--to", "files"), "is not empty"),
        ("images", ("./", "--to", "webdataset"), "has something else in it"),
        ("images", ("-", "--to", "files"), "do not go to stdout"),
    ],
)
def test_a_form_that_is_not_for_the_kind_is_said_before_a_job_is_made(
    folder: Path, start: str, output: tuple[str, ...], told: str
) -> None:
    said = refused(folder, start, *output)
    assert any(part in said for part in told.split("|")), said


@pytest.mark.parametrize(("start", "name"), [("docs", "list.csv"), ("images", "images.csv")])
def test_results_do_not_replace_the_list_that_they_are_made_from(folder: Path, start: str, name: str) -> None:
    text = (folder / name).read_bytes()
    (folder / "link.csv").symlink_to(folder / name)
    for output in (name, "link.csv"):
        assert f"{name} is what the job reads" in refused(folder, start, output)
    assert (folder / name).read_bytes() == text


def test_a_folder_of_another_job_is_said_before_a_job_is_made(folder: Path) -> None:
    """The same job may write there again; one of another name may not, whether it is there or not."""
    words = [*STARTS["docs"], "--allow-private", "--timeout", "1s"]
    assert holdfast(*words, "--name", "first", "--start-paused", cwd=folder).code == 0
    (folder / "files").mkdir()
    (folder / "files" / "audit.json").write_text("{}")
    assert holdfast("export", "first", "-o", "files/", "--format", "files", cwd=folder).code == 0
    again = holdfast(*words, "--name", "first", "--start-paused", "-o", "files/", cwd=folder)
    assert again.code == 0, again
    done = holdfast(*words, "--name", "second", "-o", "files/", cwd=folder)
    assert (done.code, "has the results of another job, first" in done.err) == (2, True), done
    jobs = holdfast("jobs", "--json", cwd=folder).json()["jobs"]
    assert [job["name"] for job in jobs] == ["first"]
