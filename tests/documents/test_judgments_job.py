"""The documents job on the judgments world: DOC-02 to DOC-21 and DOC-36 to DOC-38 end to end, and the defects of
earlier systems that worlds.md lists, by their numbers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.schemas import validator
from documents.collecting import CSV, Collector, wanted
from holdfast.demo.serving import WorldServer
from holdfast.recipes.documents.record import FIELDS

FILE, AJAX = "/d/1/", "/wp-admin/admin-ajax.php"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("judgments", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


@pytest.fixture
def collector(world: WorldServer, tmp_path: Path) -> Collector:
    return Collector(tmp_path / "work", world)


def files_asked(world: WorldServer) -> list[str]:
    return [ask["key"] for ask in world.asks() if FILE in ask["key"]]


def lists_asked(world: WorldServer) -> int:
    return sum(ask["key"].endswith(CSV) for ask in world.asks())


def test_every_version_of_the_list_gives_exactly_what_the_oracle_says(world: WorldServer, collector: Collector) -> None:
    """Defects 3, 4, 8, 9, 13, 14 and 16: DOC-02 to DOC-07, DOC-09, DOC-12, DOC-13, DOC-15, DOC-36 to DOC-38."""
    collector.docs()
    first = wanted(world)
    assert collector.held() == first
    assert len(first) == 108
    criminal = {case["token"] for case in world.oracle()["cases"] if case["is_criminal"]}
    assert len(criminal) == 8
    assert not [key for key in files_asked(world) if any(token in key for token in criminal)]

    before = len(files_asked(world)), lists_asked(world)
    collector.docs("--mode", "full")  # the list is unchanged, and everything is held
    assert (len(files_asked(world)), lists_asked(world)) == (before[0], before[1] + 1)
    report = collector.json("report", "judgments")
    assert (report["collection"]["corpus_ratio"], report["runs"][-1]["run_health"], report["health"]) == (
        1.0,
        "ok",
        "ok",
    )
    assert (report["runs"][0]["cases_total"], report["runs"][0]["cases_planned"]) == (116, 108)

    world.order("advance", version="v2")
    told = collector.docs("--mode", "new")
    assert "7 documents more" in told
    assert len(files_asked(world)) == before[0] + 7
    assert collector.held().items() >= wanted(world).items()
    assert len(collector.held()) == 115  # what the list withdrew is kept
    report = collector.json("report", "judgments")
    assert {word: report["versions"][1][word] for word in ("new", "changed", "removed")} == {
        "new": 7, "changed": 4, "removed": 2,
    }  # fmt: skip

    for version in ("v3", "v4"):
        world.order("advance", version=version)
        told = collector.docs("--mode", "new")
        assert "the last good list serves (125 rows, version 2)" in told
    assert len(files_asked(world)) == before[0] + 7
    world.order("advance", version="v5")
    collector.docs("--mode", "new")
    assert len(files_asked(world)) == before[0] + 8
    assert collector.held().items() >= wanted(world).items()
    assert "every check holds" in collector.run("verify", "judgments", "--deep").stdout


def test_an_unchanged_list_costs_one_conditional_request(world: WorldServer, collector: Collector) -> None:
    """Defects 1 and 16."""
    collector.run("sources", "sync", "unreported_judgments")
    told = collector.json("sources", "sync", "unreported_judgments")
    assert (told["is_new_version"], told["version_id"]) == (False, 1)
    assert [line["status"] for line in world.log() if "status" in line and line["key"].endswith(CSV)] == [200, 304]
    world.order("advance", version="v1 again")  # the same bytes without an ETag
    assert collector.json("sources", "sync", "unreported_judgments")["version_id"] == 1
    world.order("advance", version="v2")
    told = collector.json("sources", "sync", "unreported_judgments")
    assert told["is_new_version"]
    validator("source_sync").validate(told)
    validator("source_diff").validate(collector.json("sources", "diff", "unreported_judgments"))
    validator("sources").validate(collector.json("sources"))
    assert (len(told["new_case_ids"]), len(told["changed_case_ids"]), len(told["removed_case_ids"])) == (7, 4, 2)
    assert collector.json("sources", "sync", "public_registers")["version_id"] == 3
    assert (
        collector.json("sources", "sync", "unreported_judgments")["version_id"] == 2
    )  # the other source made it no news


def test_a_crash_between_sync_and_download_loses_no_new_case(world: WorldServer, collector: Collector) -> None:
    """Defects 1, 2, 5, 6 and 8: rows were reordered, and new ones came to the top."""
    collector.docs("--start-paused")
    collector.docs("--limit", "5", expect=13)
    counts = collector.json("status", "judgments")["counts"]
    assert (counts["discovered"], counts["pending"]) == (108, 103)
    world.order("advance", version="v2")
    collector.run("sources", "sync", "unreported_judgments")  # and then the program was killed
    world.order("advance", version="v5")  # published in between
    collector.docs("--mode", "new")
    assert collector.held().items() >= wanted(world).items()
    assert len(files_asked(world)) == len(set(files_asked(world))) == 116  # each once, two since withdrawn among them


def test_nothing_but_the_ledger_and_the_lists_is_needed_to_go_on(world: WorldServer, collector: Collector) -> None:
    """Defects 5 and 7: no log and no export is read."""
    collector.docs("--limit", "10", "-o", "out.jsonl", expect=13)
    shutil.rmtree(collector.folder / "holdfast-data" / "logs", ignore_errors=True)
    (collector.folder / "out.jsonl").unlink()
    collector.docs()
    assert collector.held() == wanted(world)
    report = collector.json("report", "judgments")
    assert report["collection"]["held"] == 108
    shutil.rmtree(collector.folder / "holdfast-data" / "logs")
    assert collector.json("report", "judgments") == report


def test_what_is_kept_of_a_judgment_is_its_file_and_its_normalised_metadata(
    world: WorldServer, collector: Collector
) -> None:
    """DOC-01: the PDF as it came, and what the list says of it in one form; nothing is read out of the text."""
    collector.docs("--limit", "12", expect=13)
    lines = collector.run("export", "judgments", "-o", "-", "--format", "jsonl").stdout.splitlines()
    cases = {case["token"]: case for case in world.oracle()["cases"]}
    assert len(lines) == 12
    for row in map(json.loads, lines):
        case = cases[row["key"]]
        assert set(row) == set(FIELDS)
        assert (row["sha256"], row["bytes"]) == (case["sha256"], case["bytes"])
        assert (collector.folder / "holdfast-data" / row["path"]).read_bytes().startswith(b"%PDF")
        for name in ("title", "cause_number", "court", "category", "subject"):
            assert row["metadata"].get(name, "") == case[name]
        if case["judgment_date"]:
            assert row["metadata"]["judgment_date"] == case["judgment_date"]


def test_a_nonce_that_ends_in_the_middle_costs_no_case(world: WorldServer, collector: Collector) -> None:
    """Defect 10: DOC-17 and DOC-18."""
    world.order("faults", nonce_every=25)
    collector.docs("--max-attempts", "1")
    assert collector.held() == wanted(world)


def test_a_signed_address_that_is_over_is_asked_for_again_within_the_attempt(
    world: WorldServer, collector: Collector
) -> None:
    """DOC-18."""
    world.order("faults", born_expired=0.25)
    collector.docs("--max-attempts", "1", expect=(0, 3))
    assert len(collector.held()) >= 92  # two in a row are rare
    codes = collector.json("status", "judgments")["failed_by"]
    assert set(codes) <= {"invalid_signed_url"}


def test_an_answer_without_an_address_leaves_attempt_and_code(world: WorldServer, collector: Collector) -> None:
    """Defect 11: DOC-34."""
    world.order("faults", ajax_false=1.0)
    collector.docs("--limit", "3", "--max-attempts", "1", expect=(3, 8, 13))
    rows = collector.run("targets", "judgments", "--where", "status:failed", "--jsonl").stdout.splitlines()
    failed = [json.loads(row) for row in rows]
    assert [(row["code"], row["attempts"]) for row in failed] == [("answer_unreadable", 1)] * 3


def test_no_broken_file_is_ever_kept(world: WorldServer, collector: Collector) -> None:
    """DOC-19: the next attempt gets the whole file."""
    world.order("faults", html_for_pdf=0.1, tiny_pdf=0.1, cut_half=0.1, cut_short=0.1)
    collector.docs()
    assert collector.held() == wanted(world)


def test_a_second_start_does_not_take_what_the_first_one_works(world: WorldServer, collector: Collector) -> None:
    """Defect 15: no document is fetched twice."""
    words = collector.command("docs", "unreported_judgments", "--delay", "20ms", "--per-host", "2")
    both = [
        subprocess.Popen(words, cwd=collector.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in "ab"
    ]
    for child in both:
        child.communicate(timeout=120)
    collector.docs()
    assert collector.held() == wanted(world)
    assert len(files_asked(world)) == 108


def test_the_registers_are_a_second_list_on_the_same_mechanism(world: WorldServer, collector: Collector) -> None:
    """DOC-10."""
    collector.run("docs", "public_registers", "--delay", "0", "--per-host", "8")
    registers = {row["token"]: row["sha256"] for row in world.oracle()["registers"]}
    assert collector.held("public-registers") == registers
