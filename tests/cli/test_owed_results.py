"""A job knows that its results are owed: killed or interrupted while they are written, they are written by the next
command, and nothing claims them before."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, holdfast
from holdfast.demo.serving import WorldServer
from waiting import wait_until

PAGES = 60
KILLED = {"HOLDFAST_FAULT": "export.before_rename:20:kill"}
KILLED_AT_ONCE = {"HOLDFAST_FAULT": "export.before_rename:1:kill"}
KILLED_BEFORE = {"HOLDFAST_FAULT": "advance.after_commit:1:kill"}  # the job is complete, nothing is being written yet


def is_whole(folder: Path) -> bool:
    names = [json.loads(line)["file"] for line in (folder / "index.jsonl").read_text().splitlines()]
    return len(names) == PAGES and all((folder / name).is_file() for name in names if name)


def said(err: str) -> str:
    return err.splitlines()[-1].strip()


@pytest.mark.parametrize("words", [("resume",), ("resume", "frogs"), ("crawl", "frogs")])
def test_a_folder_whose_writing_was_killed_is_written_by_the_next_command(
    words: tuple[str, ...], tree: WorldServer, tmp_path: Path
) -> None:
    killed = holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path, **KILLED)
    assert "Writing pages to out/ …" in killed.err
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "completed"}
    assert not (tmp_path / "out" / "index.jsonl").exists()
    told = "results: out/, NOT written whole: holdfast export frogs -o out/"
    assert told in holdfast("status", "frogs", cwd=tmp_path).out
    done = holdfast(*words, cwd=tmp_path)
    assert (done.code, said(done.err)) == (0, "results: out"), done
    assert is_whole(tmp_path / "out")
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err
    assert "NOT written" not in holdfast("status", "frogs", cwd=tmp_path).out


@pytest.mark.parametrize("fault", [KILLED_AT_ONCE, KILLED_BEFORE])
@pytest.mark.parametrize("words", [(), ("resume",), ("resume", "frogs")])
def test_a_file_whose_writing_was_killed_is_written_by_the_next_command(
    words: tuple[str, ...], fault: dict[str, str], tree: WorldServer, tmp_path: Path
) -> None:
    """Also one that was there before, of an earlier scan; and by the command without its -o."""
    file = tmp_path / "frogs.jsonl"
    assert holdfast(*crawl_words(tree, "-o", "frogs.jsonl"), cwd=tmp_path).code == 0
    file.write_text("earlier\n")
    assert "Completed" not in holdfast("crawl", "frogs", "--mode", "full", cwd=tmp_path, **fault).err
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "completed"}
    assert file.read_text() == "earlier\n"
    done = holdfast(*(words or crawl_words(tree)), cwd=tmp_path)
    assert (done.code, said(done.err)) == (0, "results: frogs.jsonl"), done
    assert len(file.read_text().splitlines()) == PAGES


def test_results_of_a_job_at_its_page_limit_are_owed_as_well(tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(tree, "-o", "frogs.jsonl", "--max-pages", "20")
    assert holdfast(*words, cwd=tmp_path, **KILLED_AT_ONCE).code not in (0, 13)
    assert not (tmp_path / "frogs.jsonl").exists()
    done = holdfast("resume", cwd=tmp_path)
    assert (done.code, "results so far: frogs.jsonl" in done.err) == (13, True), done
    assert len((tmp_path / "frogs.jsonl").read_text().splitlines()) == 20
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err


def test_what_was_removed_by_hand_is_written_again_and_what_is_whole_is_left(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path).code == 0
    index, page = tmp_path / "out" / "index.jsonl", next((tmp_path / "out").rglob("*.md"))
    written = index.stat().st_mtime_ns
    again = holdfast("crawl", "frogs", cwd=tmp_path)
    assert (said(again.err), index.stat().st_mtime_ns) == ("results: out", written)
    page.unlink()
    assert "results: out/, NOT written whole: " in holdfast("status", "frogs", cwd=tmp_path).out
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err, "what people removed they may have meant to"
    assert said(holdfast("crawl", "frogs", cwd=tmp_path).err) == "results: out"
    assert is_whole(tmp_path / "out")


def test_owed_results_that_cannot_be_written_do_not_stop_those_of_the_next_job(
    tree: WorldServer, tmp_path: Path
) -> None:
    holdfast(*crawl_words(tree, "-o", "out/"), cwd=tmp_path, **KILLED)
    toads = [word.replace("frogs", "toads") for word in crawl_words(tree, "-o", "toads.jsonl")]
    holdfast(*toads, cwd=tmp_path, **KILLED_AT_ONCE)
    written = next((tmp_path / "out").rglob("*.md"))
    written.write_text("mine")
    done = holdfast("resume", cwd=tmp_path)
    assert (done.code, "results of frogs are not written: " in done.err) == (2, True), done
    assert written.read_text() == "mine"
    assert len((tmp_path / "toads.jsonl").read_text().splitlines()) == PAGES


def test_an_export_to_the_same_place_pays_what_is_owed_and_a_part_of_it_does_not(
    tree: WorldServer, tmp_path: Path
) -> None:
    holdfast(*crawl_words(tree, "-o", "frogs.jsonl"), cwd=tmp_path, **KILLED_AT_ONCE)
    told = "results: frogs.jsonl, NOT there: holdfast export frogs -o frogs.jsonl"
    assert told in holdfast("status", "frogs", cwd=tmp_path).out
    for part, is_owed in ((("--where", "depth:<2"), True), ((), False)):
        assert holdfast("export", "frogs", "-o", "frogs.jsonl", *part, cwd=tmp_path).code == 0
        assert ("NOT written whole" in holdfast("status", "frogs", cwd=tmp_path).out) is is_owed


def test_results_that_another_command_writes_at_the_moment_are_left_to_it(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / ".index.jsonl.tmp")
    running = Running(*crawl_words(tree, "-o", "out/"), cwd=tmp_path)
    wait_until((tmp_path / "out" / ".index.jsonl.part").exists, 30, "the results are being written")
    for words in (("resume",), ("resume", "frogs")):
        done = holdfast(*words, cwd=tmp_path)
        assert (done.code, "Another command writes the results of frogs at the moment." in done.err) == (0, True), done
    running.stop()
    (tmp_path / "out" / ".index.jsonl.tmp").unlink()
    assert said(holdfast("resume", cwd=tmp_path).err) == "results: out"
    assert is_whole(tmp_path / "out")


def test_ctrl_c_while_results_are_written_says_what_was_not_and_how_to_go_on(tree: WorldServer, tmp_path: Path) -> None:
    """A pipe without a reader in the place of its temporary file holds the writer where it is."""
    (tmp_path / "out").mkdir()
    pipe = tmp_path / "out" / ".index.jsonl.tmp"
    os.mkfifo(pipe)
    for words in (crawl_words(tree, "-o", "out/"), ("export", "frogs", "-o", "out/")):
        running = Running(*words, cwd=tmp_path)
        running.wait_for("Writing pages to out/ …")
        running.send(signal.SIGINT)
        done = running.end()
        again = "the same command" if words[0] == "export" else "holdfast export frogs -o out/"
        assert done.code == 130
        assert said(done.err) == f"Interrupted: out/ was not written to the end. Again: {again}"
        assert ("Completed" in done.err, "NOT written whole" in done.err) == (words[0] == "crawl",) * 2
    pipe.unlink()
    assert said(holdfast("resume", cwd=tmp_path).err) == "results: out"
    assert is_whole(tmp_path / "out")


def test_ctrl_c_while_a_file_is_written_says_that_it_was_not(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--start-paused"), cwd=tmp_path).code == 0
    running = Running("export", "frogs", "-o", "frogs.jsonl", "--follow", cwd=tmp_path)
    running.wait_for("Ctrl-C stops waiting")
    running.send(signal.SIGINT)
    done = running.end()
    assert (done.code, said(done.err)) == (
        130, "Interrupted: frogs.jsonl was not written. Again: the same command"
    )  # fmt: skip
    assert not (tmp_path / "frogs.jsonl").exists()


@pytest.mark.parametrize("to", [(), ("--to", "md")])
def test_markdown_is_refused_a_name_that_ends_in_md(to: tuple[str, ...], tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, "-o", "out.md", *to), cwd=tmp_path)
    assert (done.code, "out.md: Markdown is a folder of files, one per page" in done.err) == (2, True), done
    assert list(tmp_path.iterdir()) == []
