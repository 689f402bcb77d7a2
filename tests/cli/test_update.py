"""`--update`: changed scope options are applied to what is still pending, and nothing that is done is lost (ux 3.2)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, put_into, submit
from holdfast.demo.serving import WorldServer


def pages_asked(world: WorldServer) -> list[str]:
    return [ask["key"].removeprefix(world.url) for ask in world.asks() if not ask["key"].endswith("/robots.txt")]


def dispositions(folder: Path) -> dict[str, int]:
    found: dict[str, int] = holdfast("status", "frogs", "--json", cwd=folder).json()["skipped_by"]
    return found


def test_what_is_pending_and_no_longer_wanted_is_skipped_with_the_rule(slow_tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(slow_tree, "--max-pages", "10")
    assert holdfast(*words, cwd=tmp_path).code == 13
    before = len(pages_asked(slow_tree))
    done = holdfast(*words, "--exclude", "/p/*1*", "--update", "--max-pages", "30", cwd=tmp_path)
    assert done.code == 13, done.err
    told = done.err.splitlines()[0]
    assert told.startswith("frogs: exclude none -> /p/*1*; ")
    assert told.endswith(" left out, 0 targets put back.")
    fetched = pages_asked(slow_tree)[before:]
    assert len(fetched) == 20
    assert [path for path in fetched if "1" in path] == []
    assert dispositions(tmp_path)["excluded"] >= int(told.split()[5])
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs")
        left_out = ledger.targets(job.id, where=[("status", True, ("skipped",))])
        assert {(row.disposition, row.rule) for row in left_out} == {("excluded", "exclude")}
        assert "exclude none -> /p/*1*" in [event.because for event in ledger.history(job.id)[0]]
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_what_an_old_rule_left_out_is_fetched_when_it_is_wanted_again(tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(tree, "--max-depth", "1", "--max-pages", "3")
    assert holdfast(*words, cwd=tmp_path).code == 13
    again = crawl_words(tree, "--max-depth", "9", "--max-pages", "1000", "--update", "--json=status,counts")
    done = holdfast(*again, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "frogs: max_depth 1 -> 9; 0 targets left out, " in done.err
    assert (done.json()["status"], done.json()["counts"]["succeeded"]) == ("completed", 60)
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_an_empty_pattern_takes_patterns_back(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--exclude", "/p/1*", "--max-pages", "3"), cwd=tmp_path).code == 13
    excluded = dispositions(tmp_path)["excluded"]
    said = holdfast("explain", "frogs", f"{tree.url}/p/1", cwd=tmp_path)
    assert "holdfast crawl frogs --exclude '' --update" in said.out + said.err
    done = holdfast("crawl", "frogs", "--exclude", "", "--update", "--max-pages", "1000", "--json=counts", cwd=tmp_path)
    assert done.code == 0, done.err
    assert f"frogs: exclude /p/1* -> none; 0 targets left out, {excluded} target" in done.err
    assert done.json()["counts"]["succeeded"] == 60


def test_without_update_another_scope_is_refused_and_nothing_changes(tree: WorldServer, tmp_path: Path) -> None:
    """C4: the difference, the three ways on, exit 6; by `crawl` only, since `resume` has no such option."""
    words = crawl_words(tree, "--max-pages", "3")
    assert holdfast(*words, cwd=tmp_path).code == 13
    done = holdfast(*words, "--scope", "domain", cwd=tmp_path)
    assert done.code == 6
    assert done.err.splitlines()[-3:] == [
        "frogs has another scope:",
        "  scope: host, now domain",
        "Ways on: --update applies it to what is still pending; --new starts over; --name NAME makes another job.",
    ]
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").params["scope"] == "host"


def test_the_same_command_after_an_update_has_the_same_scope(tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(tree, "--exclude", "/p/5*", "--max-pages", "3")
    assert holdfast(*crawl_words(tree, "--max-pages", "3"), cwd=tmp_path).code == 13
    assert holdfast(*words, "--update", cwd=tmp_path).code == 13
    for again in (words, [*words, "--update"]):
        assert "frogs has reached its page limit of 3" in holdfast(*again, cwd=tmp_path).err


def test_a_job_at_work_is_not_updated_under_its_worker(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    done = holdfast(*crawl_words(slow_tree, "--exclude", "/p/1*", "--update"), cwd=tmp_path)
    assert done.code == 6
    assert f"frogs is being worked by pid {crawl.pid} on " in done.err
    crawl.send(signal.SIGINT)
    assert crawl.end().code == 11


@pytest.mark.parametrize(
    ("status", "way"), [("completed", "--mode full --update scans it again in that scope; "), ("cancelled", "")]
)
def test_a_job_with_nothing_pending_is_not_updated(status: str, way: str, tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), status)
    done = holdfast("crawl", "frogs", "--exclude", "/p/1*", "--update", cwd=tmp_path)
    assert done.code == 6
    assert f"frogs is {status}: nothing of it is pending. Ways on: {way}--new starts over; " in done.err


def test_a_completed_job_is_scanned_again_in_another_scope(tree: WorldServer, tmp_path: Path) -> None:
    """The way out that the refusal names."""
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    before = len(pages_asked(tree))
    words = ("crawl", "frogs", "--exclude", "/p/1*", "--mode", "full", "--update", "-o", "frogs.jsonl")
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err.startswith("Scanning frogs again: 60 done")
    assert "Resuming" not in done.err
    fetched = pages_asked(tree)[before:]
    assert [path for path in fetched if path.startswith("/p/1")] == []
    assert len(fetched) == len((tmp_path / "frogs.jsonl").read_text().splitlines()) == 60 - 11
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


def test_other_seeds_make_another_job_whatever_is_updated(tmp_path: Path) -> None:
    words = ["crawl", "https://marsh.test/", "--name", "frogs", "--start-paused"]
    assert holdfast(*words, cwd=tmp_path).code == 0
    done = holdfast("crawl", "https://pond.test/", "--name", "frogs", "--update", cwd=tmp_path)
    assert done.code == 6
    assert done.err.splitlines()[-1] == "Ways on: --new starts over; --name NAME makes another job."
