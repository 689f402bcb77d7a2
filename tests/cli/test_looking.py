"""Commands that only look: status, targets, export, verify, help, and `holdfast` alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from cli.commands import PROGRAM, Running, crawl_words, environment, holdfast, ledger_in, put_into, submit
from holdfast.cli.arguments import SWITCHES, WITH_VALUE, Globals, take_globals
from holdfast.cli.commands.status import INTERRUPTED, REQUESTED, STOPPED, WORDS
from holdfast.cli.commands.table import COMMANDS, Command, command
from holdfast.cli.commands.targets import FIELDS
from holdfast.cli.parser import Parser
from holdfast.clock import iso
from holdfast.demo.serving import WorldServer
from holdfast.engine.liveness import is_dead
from holdfast.model.job import REQUESTS
from holdfast.model.states import JOB
from holdfast.policy.filters import JOB_STATES
from waiting import wait_until

CPU_S_MAX = 0.3
# fmt: off
EVERYWHERE = (
    "--data", "marsh", "--database", "sqlite:pond.db", "--server", "http://127.0.0.1:1", "-C", "frogs.toml",
    "--env-file", "frogs.env", "--plain", "-q", "-v", "-y", "--no-input", "--no-color",
)
# fmt: on


@pytest.fixture(scope="module")
def crawled(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished crawl of which one page failed and some were too deep."""
    folder = tmp_path_factory.mktemp("crawled")
    done = holdfast(*crawl_words(tree, f"{tree.url}/p/60", "--max-depth", "2"), cwd=folder)
    assert done.code == 3, done.err
    return folder


def test_holdfast_alone_gives_examples_and_makes_no_folder(tmp_path: Path) -> None:
    done = holdfast(cwd=tmp_path)
    assert done.code == 0
    assert "No jobs in holdfast-data yet." in done.out
    assert done.out.count("\n  holdfast ") == 4
    assert list(tmp_path.iterdir()) == []


def test_holdfast_alone_shows_what_is_there(crawled: Path) -> None:
    first, second = holdfast(cwd=crawled).out.splitlines()[:2]
    assert first.split() == ["JOB", "ID", "KIND", "STATE", "DONE", "LEFT", "FAILED", "SINCE"]
    assert second.startswith("frogs  J-")


def test_status_is_one_screen(crawled: Path) -> None:
    lines = holdfast("status", "frogs", cwd=crawled).out.splitlines()
    assert lines[0].startswith("frogs  J-")
    assert lines[1].startswith("Done: ")
    assert lines[2].startswith("discovered ")
    assert "  failed: http_404 1" in lines
    assert (
        lines[-1]
        == "allowed: holdfast crawl frogs --mode new, holdfast crawl frogs --mode full, holdfast retry frogs, "
        "holdfast rollback frogs CHECKPOINT"
    )
    assert len(lines) < 12


def test_a_running_job_that_nobody_works_is_said_to_be_interrupted(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        assert "Queued: no worker has begun it, since " in holdfast("status", "frogs", cwd=tmp_path).out
        ledger.open_run(job.id, mode="full", trigger="cli")
    done = holdfast("status", "frogs", cwd=tmp_path)
    assert "Interrupted: no process works it, since " in done.out
    assert "allowed: holdfast resume frogs, " in done.out


def test_a_job_is_found_by_its_id_and_by_the_beginning_of_it(crawled: Path) -> None:
    uid = holdfast("status", "frogs", "--json=id", cwd=crawled).json()["id"]
    assert holdfast("status", uid[:4], "--json=name", cwd=crawled).json() == {"name": "frogs"}


def test_targets_have_these_fields_in_this_order(crawled: Path) -> None:
    """TGT-01: as ux 3.4 spells them."""
    rows = [json.loads(line) for line in holdfast("targets", "frogs", "--jsonl", cwd=crawled).out.splitlines()]
    assert all(list(row) == list(FIELDS) for row in rows)
    counts = holdfast("status", "frogs", "--json", cwd=crawled).json()["counts"]
    assert len(rows) == counts["discovered"]
    for status in ("succeeded", "failed", "skipped"):
        assert sum(row["status"] == status for row in rows) == counts[status]
    child = next(row for row in rows if row["depth"] == 2)
    assert child["parent"] in {row["id"] for row in rows}
    assert child["id"].startswith("T-")
    assert child["chunk"].startswith("C-")


def test_targets_can_be_filtered_and_limited(crawled: Path) -> None:
    [failed] = holdfast("targets", "frogs", "--where", "status:failed", "--json", cwd=crawled).json()["targets"]
    assert (failed["code"], failed["because"] is not None) == ("http_404", True)
    limited = holdfast("targets", "frogs", "--limit", "2", "--json=id,status", cwd=crawled).json()
    assert limited["schema"] == "holdfast.targets/1"
    assert limited["next_cursor"] == limited["targets"][-1]["id"]
    assert list(limited["targets"][0]) == ["id", "status"]
    table = holdfast("targets", "frogs", "--where", "rule:depth", "--limit", "3", cwd=crawled)
    assert len(table.out.splitlines()) == 4
    assert "skipped  excluded depth" in table.out
    assert "The first 3 are shown." in table.err


def test_an_export_has_each_page_once_and_is_written_whole(crawled: Path) -> None:
    (crawled / "out").mkdir()
    done = holdfast("export", "frogs", "-o", "out/frogs.jsonl", "--format", "jsonl", "--json", cwd=crawled)
    rows = [json.loads(line) for line in (crawled / "out" / "frogs.jsonl").read_text().splitlines()]
    assert (done.code, done.json()["rows"]) == (0, len(rows))
    assert len({row["url"] for row in rows}) == len(rows) == 13
    assert [file.name for file in (crawled / "out").iterdir()] == ["frogs.jsonl"]
    assert holdfast("export", "frogs", "-o", "-", cwd=crawled).out == (crawled / "out" / "frogs.jsonl").read_text()


def test_an_export_of_an_unfinished_job_says_how_much_is_missing(slow_tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger, slow_tree)
    from cli.commands import Running

    crawl = Running("crawl", "frogs", cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    crawl.end()
    pending = holdfast("status", "frogs", "--json", cwd=tmp_path).json()["counts"]["pending"]
    done = holdfast("export", "frogs", "-o", "frogs.jsonl", cwd=tmp_path)
    assert done.err.startswith(f"partial: {pending} pending\n")


@pytest.mark.parametrize("output", [".", "/dev/null"])
def test_only_a_regular_file_is_written(output: str, crawled: Path) -> None:
    done = holdfast("export", "frogs", "-o", output, "--format", "jsonl", cwd=crawled)
    assert done.code == 2
    assert Path("/dev/null").is_char_device()


def test_a_reader_that_goes_away_is_no_error(crawled: Path) -> None:
    script = f"{' '.join(PROGRAM)} targets frogs --jsonl | head -n 1; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", script], cwd=crawled, env=environment(), capture_output=True, text=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr.strip() in ("0", "141")


def test_verify_finds_nothing_and_then_a_missing_body(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    done = holdfast("verify", "frogs", "--deep", cwd=tmp_path)
    assert (done.code, done.out) == (0, "frogs: every check holds, 4 bodies read.\n")
    [segment] = [file for file in (tmp_path / "holdfast-data" / "segments").rglob("*") if file.is_file()]
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-100] + bytes(100))
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    damaged = holdfast("verify", "frogs", "--deep", "--json", cwd=tmp_path)
    assert damaged.code == 9
    [finding] = damaged.json()["findings"]
    assert finding["check"] == "F1"
    assert "/p/" in finding["detail"]


def test_verify_sees_a_cut_or_missing_segment_without_reading_it(tree: WorldServer, tmp_path: Path) -> None:
    """F1: "every check holds" is not said over pages whose bytes are gone."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    [segment] = [file for file in (tmp_path / "holdfast-data" / "segments").rglob("*") if file.is_file()]
    segment.write_bytes(segment.read_bytes()[:-100])
    cut = holdfast("verify", "frogs", cwd=tmp_path)
    assert (cut.code, "before" in cut.err) == (9, True)
    segment.unlink()
    gone = holdfast("verify", "frogs", cwd=tmp_path)
    assert (gone.code, "is missing: 4 pages without bytes" in gone.err) == (9, True)


@pytest.mark.parametrize(
    "name",
    ["ledger.db", "segments/x.jsonl", "reserve", "recordings/J-1/a.jsonl", "archives/J-1.db", "exports/x", "backups/x"],
)
def test_an_export_never_lands_beside_the_ledger(crawled: Path, name: str) -> None:
    done = holdfast("export", "frogs", "-o", f"holdfast-data/{name}", "--format", "jsonl", cwd=crawled)
    assert (done.code, "the data folder keeps its own" in done.err) == (2, True)
    assert holdfast("status", "frogs", cwd=crawled).code == 0


@pytest.mark.parametrize("name", ["ledger.db", "ledger.db-wal", "segments/J-1/x-1.warc.gz", "snapshots/x.jsonl"])
@pytest.mark.parametrize("database", ["sqlite", "elsewhere"])
def test_results_never_land_in_another_data_folder(tree: WorldServer, tmp_path: Path, name: str, database: str) -> None:
    """Refused before the crawl begins, also through a link, also where that folder's ledger is a PostgreSQL."""
    other = tmp_path / "other"
    other.mkdir()
    if database == "sqlite":
        (other / "ledger.db").write_bytes(b"SQLite format 3")
    else:
        (other / "segments" / "J-1").mkdir(parents=True)
    (tmp_path / "link").symlink_to(other)
    before = {path: path.stat().st_size for path in other.rglob("*")}
    asked = len(tree.asks())
    for folder in ("other", "link"):
        done = holdfast(*crawl_words(tree, "-o", f"{folder}/{name}", "--to", "jsonl"), cwd=tmp_path)
        assert (done.code, "the data folder keeps its own" in done.err) == (2, True)
    assert (len(tree.asks()), {path: path.stat().st_size for path in other.rglob("*")}) == (asked, before)


def test_results_that_could_not_be_written_are_refused_before_the_crawl(tree: WorldServer, tmp_path: Path) -> None:
    before = len(tree.asks())
    done = holdfast(*crawl_words(tree, "-o", "nowhere/frogs.jsonl"), cwd=tmp_path)
    assert (done.code, "there is no folder" in done.err) == (2, True)
    assert len(tree.asks()) == before


def test_a_mistyped_job_gets_a_suggestion(crawled: Path) -> None:
    assert "did you mean frogs?" in holdfast("status", "frgos", cwd=crawled).err
    assert "did you mean frogs? a site is named by its URL" in holdfast("crawl", "frgos", cwd=crawled).err


def test_a_job_that_nobody_works_says_so_to_programs_too(slow_tree: WorldServer, tmp_path: Path) -> None:
    from cli.commands import Running

    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    assert "no process" not in holdfast("status", "frogs", "--json", cwd=tmp_path).json()["because"]
    crawl.send(signal.SIGKILL)
    crawl.end()
    found = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    assert found["because"] == "no process works it; to go on: holdfast resume frogs"


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_help_begins_with_an_example_and_every_example_parses(row: Command) -> None:
    """C14: by the parser of the command that it shows, which may be another one."""
    assert parser_of(row).format_help().splitlines()[:2] == ["Example:", f"  {row.examples[0]}"]
    for example in row.examples:
        words = shlex.split(example.partition(" | ")[0])
        shown = command(words[1])
        assert shown is not None, example
        parser_of(shown).read(take_globals(words[2:])[1])


def parser_of(row: Command) -> Parser:
    parser = Parser(row.name, row.summary, row.examples)
    import_module(f"holdfast.cli.commands.{row.module}").arguments(parser)
    return parser


def test_the_overview_names_every_command(tmp_path: Path) -> None:
    done = holdfast("--help", cwd=tmp_path)
    assert done.code == 0
    assert all(f"\n  {row.usage}" in done.out for row in COMMANDS)
    assert holdfast("help", "crawl", cwd=tmp_path).out == holdfast("crawl", "--help", cwd=tmp_path).out


def test_the_help_of_crawl_says_that_robots_are_obeyed(tmp_path: Path) -> None:
    assert "robots.txt is read and obeyed" in holdfast("crawl", "-h", cwd=tmp_path).out


@pytest.mark.parametrize("words", [("--version",), ("crawl", "--version"), ("--version", "status")])
def test_the_version_is_said_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    """C14: a whole start, in processor time, so that a busy computer does not decide."""
    with subprocess.Popen([*PROGRAM, *words], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.read() == b"holdfast 0.1.0\n"
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    assert 0 < used.ru_utime + used.ru_stime < CPU_S_MAX


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_global_options_stand_before_and_after_every_command(row: Command, tmp_path: Path) -> None:
    """C14: both are understood, so both fail alike on the option that does not exist."""
    before = holdfast(*EVERYWHERE, "--jsonl", row.name, "--frog", cwd=tmp_path)
    after = holdfast(row.name, "--frog", *EVERYWHERE, "--json", cwd=tmp_path)
    assert (before.code, before.err) == (after.code, after.err)
    assert before.code == 2
    assert before.problem()["detail"].startswith(f"{row.name} has no option --frog")


def test_every_global_option_is_among_them() -> None:
    """But --json and --jsonl, which are a choice, and --version, which says it and does nothing else."""
    tried = {(WITH_VALUE | SWITCHES)[word] for word in EVERYWHERE if word.startswith("-")}
    assert tried == set(Globals._fields) - {"fields", "jsonl", "version"}


def test_an_interrupted_job_stands_still_since_its_last_commit(tmp_path: Path, slow_tree: WorldServer) -> None:
    """Not since its run began; freeing what the dead worker held does not change that."""
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    with ledger_in(tmp_path) as ledger:
        wait_until(lambda: bool(ledger.jobs()) and ledger.books(ledger.jobs()[0].id)[1].succeeded > 20, 30)
        crawl.stop()
        job = ledger.job("frogs")
        died_at = ledger.pulse(job.id)
        assert died_at > job.since
        before = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
        assert ledger.rescue(job.id, is_dead=is_dead).chunks
    after = holdfast("status", "frogs", "--json", cwd=tmp_path).json()
    listed = holdfast("status", "--json", cwd=tmp_path).json()["jobs"][0]
    assert before["since"] == after["since"] == listed["since"] == iso(died_at)
    [line] = holdfast("events", "frogs", "--type", "lease.rescued", cwd=tmp_path).out.splitlines()[1:]
    assert re.search(r" died \([0-9]+ chunks\)$", line)  # a worker holds many chunks, and it died once
    assert len(holdfast("events", "frogs", "--type", "lease.rescued", "--jsonl", cwd=tmp_path).out.splitlines()) > 1


def test_what_was_only_queued_is_not_interrupted(crawled: Path) -> None:
    assert holdfast("retry", "frogs", "--queue-only", cwd=crawled).code == 0
    assert (
        holdfast("status", "frogs", cwd=crawled)
        .out.splitlines()[1]
        .startswith("Queued: no worker has begun it, since ")
    )
    assert holdfast("resume", "frogs", cwd=crawled).code == 3


def test_jobs_are_filtered_by_the_words_that_the_screen_prints(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        for status in JOB.states:
            put_into(ledger, submit(ledger, name=status), status)
        killed = put_into(ledger, submit(ledger, name="killed"), "in_progress")
        ledger.open_run(killed.id, mode="full", trigger="cli")

    def names(*words: str) -> set[str]:
        return {row["name"] for row in holdfast("jobs", *words, "--json", cwd=tmp_path).json()["jobs"]}

    assert names("--status", "done") == names("--status", "completed") == {"completed"}
    assert names("--status", "interrupted") == {"killed"}
    assert names("--status", "interrupted,paused") == {"killed", "paused"}
    assert names("--where", "state:queued") == {"pending", "in_progress"}
    refused = holdfast("jobs", "--where", "status:done", cwd=tmp_path)
    assert (refused.code, "did you mean state:done?" in refused.err) == (2, True)


def test_every_word_of_the_column_can_be_asked_for() -> None:
    printed = {*WORDS.values(), *REQUESTED.values(), INTERRUPTED, STOPPED}
    assert {word.lower() for word in printed} == set(JOB_STATES)
    assert set(REQUESTED) == set(REQUESTS)
