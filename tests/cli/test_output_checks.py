"""A wrong -o is said before a job is made, by every start command, whatever is wrong with it (ux 3.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast as hf
from cli.commands import holdfast
from holdfast.errors import BadParams

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
        ("cases", ("results/",), "--fields +markdown"),
        ("crawl", ("x.jsonl", "--to", "md"), "--to md writes a folder, and x.jsonl is the name of a file: -o x/"),
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


def test_nothing_of_a_job_that_is_there_replaces_its_list(folder: Path) -> None:
    """An export, a report, a start command that names the job, a file remembered from before, and Python."""
    assert holdfast(*STARTS["docs"], "--allow-private", "--start-paused", "--name", "list", cwd=folder).code == 0
    text = (folder / "list.csv").read_bytes()
    for words in (
        ("export", "list", "-o", "list.csv"),
        ("report", "list", "-o", "list.csv", "--format", "md"),
        ("docs", "list", "-o", "list.csv", "--allow-private"),
    ):
        done = holdfast(*words, cwd=folder)
        assert (done.code, "list.csv is what the job reads" in done.err) == (2, True), (words, done)
    with pytest.raises(BadParams, match="is what the job reads"):
        hf.Client(data=folder / "holdfast-data").job("list").export(folder / "list.csv")
    assert (folder / "list.csv").read_bytes() == text


@pytest.mark.parametrize("name", ["documents.csv", "documents.jsonl", "audit.json"])
def test_tables_do_not_replace_a_file_of_somebody_else(folder: Path, name: str) -> None:
    """Neither those of a start command nor of an export; after an export they are its own."""
    (folder / "files").mkdir()
    (folder / "files" / name).write_text("mine")
    assert f"{name} is there already, and no export wrote it" in refused(folder, "docs", "files/")
    assert holdfast(*STARTS["docs"], "--allow-private", "--start-paused", "--name", "list", cwd=folder).code == 0
    done = holdfast("export", "list", "-o", "files/", cwd=folder)
    assert (done.code, "no export wrote it" in done.err) == (2, True), done
    assert [(path.name, path.read_text()) for path in (folder / "files").iterdir()] == [(name, "mine")]
    for _ in range(2):
        assert holdfast("export", "list", "-o", "others/", cwd=folder).code == 0


def test_tables_do_not_replace_the_list_that_lies_in_their_folder(folder: Path) -> None:
    """Also where the folder is that of an earlier export."""
    words = ("docs", "documents.csv", *STARTS["docs"][2:], "--allow-private", "--name", "list")
    (folder / "documents.csv").write_text(LIST)
    done = holdfast(*words, "-o", "./", cwd=folder)
    assert (done.code, "documents.csv is what the job reads" in done.err) == (2, True), done
    assert holdfast(*words, "--start-paused", cwd=folder).code == 0
    (folder / "documents.csv").unlink()
    assert holdfast("export", "list", "-o", "./", cwd=folder).code == 0
    (folder / "documents.csv").write_text(LIST)
    done = holdfast(*words, "-o", "./", cwd=folder)
    assert (done.code, "documents.csv is what the job reads" in done.err) == (2, True), done
    assert (folder / "documents.csv").read_text() == LIST


@pytest.mark.parametrize("number", [1, 3, 5])
def test_an_export_of_files_that_is_killed_is_completed_by_the_next(folder: Path, number: int) -> None:
    """It writes the mark, a note, two tables and the audit."""
    assert holdfast(*STARTS["docs"], "--allow-private", "--start-paused", "--name", "list", cwd=folder).code == 0
    fault = {"HOLDFAST_FAULT": f"export.before_rename:{number}:kill"}
    assert holdfast("export", "list", "-o", "files/", cwd=folder, **fault).code not in (0, 2)
    assert not (folder / "files" / "audit.json").exists()
    assert holdfast("export", "list", "-o", "files/", cwd=folder).code == 0
    assert (folder / "files" / "audit.json").exists()


def test_a_folder_of_another_job_is_said_before_a_job_is_made(folder: Path) -> None:
    """The same job may write there again; one of another name may not, whether it is there or not."""
    words = [*STARTS["docs"], "--allow-private", "--timeout", "1s"]
    assert holdfast(*words, "--name", "first", "--start-paused", cwd=folder).code == 0
    (folder / "files").mkdir()
    (folder / "files" / "mine.json").write_text("{}")
    assert holdfast("export", "first", "-o", "files/", "--format", "files", cwd=folder).code == 0
    again = holdfast(*words, "--name", "first", "--start-paused", "-o", "files/", cwd=folder)
    assert again.code == 0, again
    done = holdfast(*words, "--name", "second", "-o", "files/", cwd=folder)
    assert (done.code, "has the results of another job, first" in done.err) == (2, True), done
    jobs = holdfast("jobs", "--json", cwd=folder).json()["jobs"]
    assert [job["name"] for job in jobs] == ["first"]
