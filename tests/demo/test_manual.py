"""The `manual` world: the standard proof, the four ways to begin, and the defects of worlds 5 that concern the crawl.

`5_03` is line 3 of the defects there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.commands import holdfast
from demo.proof import KILLS, Proof, proving, summary
from demo.undisturbed import MADE, MANY, Undisturbed, equals_undisturbed, undisturbed_run
from holdfast.demo.stretch import Stretch
from holdfast.model.target import TargetRow

KILL_AT = 300
FAULTS = 2
AT_LENGTH = KILLS > 2  # in `make worlds-long`: the whole book, on both engines, in both weathers
DEPTH = 9 if AT_LENGTH else 1  # with a limit: else a page's depth is that of the way that answers first
REPORT = ("--name", "book", "--report", "--max-attempts", "5", "--max-depth", str(DEPTH))
CELLS = [(backend, dial) for backend in ("sqlite", "postgres") for dial in ("calm", "rough")]
# One kill in each phase, or on the way into it.
FEW = ("asked", "advance.after_commit:1", "settle.after_commit:1", "advance.after_commit:1", "advance.before_commit:1")
DEEPEST = "/early/deep/deeper/deepest"


def expected(oracle: dict[str, Any]) -> dict[str, str]:
    told = {row["url"]: "succeeded" for row in oracle["pages"]}
    told |= dict.fromkeys(oracle["binaries"], "succeeded") | dict.fromkeys(oracle["missing"], "failed")
    return told | dict.fromkeys((*(row["from"] for row in oracle["redirects"]), *oracle["robots"]), "skipped")


def equals_the_oracle(proof: Proof, depth: int | None = None) -> None:
    oracle, rows = proof.world.oracle(depth=depth), proof.rows()
    fates = {url: row.status for url, row in rows.items() if row.rule != "depth" and row.type not in MADE}
    assert fates == expected(oracle), summary(rows, proof.world.url)
    bodies = {url: row.sha256.hex() for url, row in rows.items() if row.sha256 is not None}
    assert {row["url"]: row["sha256"] for row in oracle["pages"]}.items() <= bodies.items()


@pytest.mark.parametrize("dial", ["calm", "rough"])
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_manual_survives_random_kills(
    backend: str, dial: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The standard proof: same keys, same hashes, requests bounded, books balance (worlds 0)."""
    database = request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
    options = ("--max-attempts", "5") if dial == "rough" else ()
    with proving("manual", tmp_path, database=database, dial=dial, options=options) as proof:
        proof.run(seed=len(backend + dial), pages=600)
        equals_the_oracle(proof)
        proof.balances()
        proof.bounded(FAULTS if dial == "rough" else 0)
        proof.asked_for_no_oracle()
        assert proof.killed


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return undisturbed_run("manual", tmp_path_factory.mktemp("undisturbed"), REPORT)


@pytest.mark.xdist_group("manual report")
@pytest.mark.parametrize(("backend", "dial"), CELLS if AT_LENGTH else CELLS[-1:])
def test_the_manual_survives_kills_in_every_phase(
    backend: str, dial: str, undisturbed: Undisturbed, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """SIT-01, PAU-10: the report and every export are those of a run that nobody killed (worlds 0)."""
    database = request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
    kills = MANY if AT_LENGTH else FEW
    with proving("manual", tmp_path, database=database, dial=dial, options=REPORT, port=undisturbed.port) as proof:
        proof.run_phases(kills, seed=len(backend + dial), pages=600 if AT_LENGTH else 10)
        equals_the_oracle(proof, DEPTH)
        proof.balances()
        proof.bounded(FAULTS if dial == "rough" else 0)
        proof.asked_for_no_oracle()
        assert proof.killed == len(kills), [each.code for each in proof.stretches]
        equals_undisturbed(proof, tmp_path, undisturbed)
        print(f"manual {backend} {dial}: {proof.told}; equal")


@dataclass
class Killed:
    """A crawl that was killed at page 300, and then resumed to its end."""

    proof: Proof
    at_kill: Stretch
    progress: list[int]
    end: dict[str, TargetRow]


@pytest.fixture(scope="session")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    folder = tmp_path_factory.mktemp("book")
    with proving("manual", folder, options=("--name", "book")) as proof:
        crawler = proof.crawler
        at_kill = crawler.stretch(lambda _: crawler.asks.look() >= KILL_AT)
        progress = [succeeded(proof)]
        proof.stretches.append(at_kill)
        with crawler.start() as crawl:
            for enough in (350, 450, 550):
                crawl.wait_for(lambda enough=enough: crawler.asks.look() >= enough, seconds=60)  # type: ignore[misc]
                progress.append(succeeded(proof))
            assert crawl.wait(120) in (0, 3), crawl.err
        progress.append(succeeded(proof))
        yield Killed(proof, at_kill, progress, proof.rows())


def succeeded(proof: Proof) -> int:
    done = holdfast("status", "book", "--json", *proof.crawler.where, cwd=proof.settings.data)
    return int(done.json()["counts"]["succeeded"])


@pytest.mark.xdist_group("manual killed")
def test_defect_5_01_what_was_stored_is_readable_and_not_fetched_again(killed: Killed) -> None:
    left = killed.at_kill.left
    assert left is not None
    stored = {row.url for row in left.seen if row.status == "succeeded"}
    assert len(stored) > KILL_AT / 2
    assert all(row.sha256 for row in left.seen if row.status == "succeeded")
    asked = killed.proof.asked()
    assert not {url: asked[url] for url in stored if asked[url] != 1}


@pytest.mark.xdist_group("manual killed")
def test_defect_5_02_a_stored_start_page_does_not_end_the_resumed_crawl(killed: Killed) -> None:
    left = killed.at_kill.left
    assert left is not None
    home = killed.proof.world.url + "/"
    assert home in left.settled
    assert killed.proof.asked()[home] == 1
    assert len(killed.end) == 607


@pytest.mark.xdist_group("manual killed")
def test_defect_5_03_the_deep_page_arrives_although_its_parent_was_stored(killed: Killed) -> None:
    """FRO-03: its only way was found before the crash."""
    left = killed.at_kill.left
    assert left is not None
    assert killed.proof.world.url + "/early" in left.settled
    assert killed.end[killed.proof.world.url + DEEPEST].status == "succeeded"


@pytest.mark.xdist_group("manual killed")
def test_defect_5_04_in_flight_is_neither_lost_nor_doubled(killed: Killed) -> None:
    held = killed.at_kill.held
    assert held
    assert {killed.end[url].status for url in held} <= {"succeeded", "skipped", "failed"}
    killed.proof.bounded(0)


@pytest.mark.xdist_group("manual killed")
def test_defect_5_06_progress_never_goes_backwards_and_ends(killed: Killed) -> None:
    """By the job's name: after a kill, while it goes on, and when it is complete."""
    assert killed.progress == sorted(killed.progress)
    assert killed.progress[-1] == 604


def test_defect_5_04_a_failed_url_is_failed_and_retried(tmp_path: Path) -> None:
    """FRO-05: not among what is done; `retry` asks for it once more."""
    with proving("manual", tmp_path, options=("--name", "book", "--max-depth", "1", "--max-attempts", "1")) as proof:
        proof.world.set_faults(unavailable_first=1, under="/sensors/")
        proof.run(0)
        url = f"{proof.world.url}/sensors/"
        assert (proof.rows()[url].status, proof.rows()[url].code) == ("failed", "http_5xx")
        assert holdfast("retry", "book", "--where", "status:failed", *proof.crawler.where, cwd=tmp_path).code == 0
        proof.run(0)
        assert proof.rows()[url].status == "succeeded"
        assert proof.asked()[url] == 2


def test_defect_5_05_a_paused_job_is_still_paused_after_a_restart(tmp_path: Path) -> None:
    with proving("manual", tmp_path, options=("--name", "book", "--delay", "20ms")) as proof:
        crawler = proof.crawler
        with crawler.start() as crawl:
            crawl.wait_for(lambda: crawler.asks.look() >= 50, seconds=60)
            assert holdfast("pause", "book", *crawler.where, cwd=tmp_path).code == 0
            crawl.wait(30)
        asked = crawler.asks.look()
        assert holdfast("resume", *crawler.where, cwd=tmp_path).code == 0
        said = holdfast("status", "book", "--json", *crawler.where, cwd=tmp_path).json()
        assert (said["status"], crawler.asks.look()) == ("paused", asked)


def test_defect_5_07_a_rescan_keeps_the_depth(tmp_path: Path) -> None:
    with proving("manual", tmp_path, options=("--name", "book", "--max-depth", "1")) as proof:
        proof.run(0)
        first = set(proof.rows())
        done = holdfast("crawl", "book", "--mode", "full", *proof.crawler.where, cwd=tmp_path)
        assert done.code == 0, done.err
        assert set(proof.rows()) == first
        equals_the_oracle(proof, depth=1)
        assert {proof.asked()[url] for url, row in proof.rows().items() if row.status == "succeeded"} == {2}


def test_defect_5_08_a_crawl_that_gave_nothing_is_not_complete_in_silence(tmp_path: Path) -> None:
    with proving(
        "manual",
        tmp_path,
        options=(
            "--name",
            "book",
        ),
        start="/guide/lost-at-sea",
    ) as proof:
        with proof.crawler.start() as crawl:
            assert crawl.wait(60) not in (0, None)
        assert "404" in crawl.err + crawl.out


def test_defect_5_10_a_pause_before_the_first_page_gives_a_clear_answer(tmp_path: Path) -> None:
    with proving("manual", tmp_path, options=("--name", "book", "--start-paused")) as proof:
        with proof.crawler.start() as crawl:
            assert crawl.wait(60) == 0, crawl.err
        done = holdfast("pause", "book", *proof.crawler.where, cwd=tmp_path)
        assert done.out + done.err
        done = holdfast("resume", "nobody", *proof.crawler.where, cwd=tmp_path)
        assert done.code != 0
        assert "nobody" in done.err


@pytest.mark.xdist_group("manual killed")
def test_defect_5_11_all_times_are_in_utc(killed: Killed, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    words = ("export", "book", "--format", "jsonl", "-o", str(path), *killed.proof.crawler.where)
    assert holdfast(*words, cwd=tmp_path).code == 0
    times = {json.loads(line)["fetched_at"] for line in path.read_text().splitlines()}
    assert all(time.endswith("Z") for time in times), sorted(times)[:3]


# --- the start URL decides the way (SIT-02)


@pytest.mark.parametrize(
    ("start", "options", "pages"),
    [
        ("/llms.txt", ("--max-depth", "1"), 61),
        ("/llms-full.txt", (), 1),
        ("/sitemap.xml", ("--max-depth", "1"), 598),
        ("/tidepool/firmware/blob/main/README.md", (), 1),
        ("/guide/", ("--max-depth", "0"), 1),
    ],
)
def test_sit_02_the_start_url_decides_the_way(start: str, options: tuple[str, ...], pages: int, tmp_path: Path) -> None:
    """SIT-02: a list of links, one text, a sitemap, a file behind its view, a page."""
    with proving("manual", tmp_path, start=start, options=options) as proof:
        proof.run(0)
        done = [row.url.removeprefix(proof.world.url) for row in proof.rows().values() if row.status == "succeeded"]
        assert len(done) == pages, sorted(done)[:5]
        assert ("/tidepool/firmware/raw/main/README.md" in done) == ("blob" in start)


def test_only_what_changed_is_sent_again(tmp_path: Path) -> None:
    """A later edition: unchanged pages answer 304, what is new is found, what is gone is told."""
    with proving("manual", tmp_path, options=("--name", "book")) as proof:
        proof.run(0)
        before = {row["url"]: row["sha256"] for row in proof.world.oracle()["pages"]}
        proof.world.advance()
        after = {row["url"]: row["sha256"] for row in proof.world.oracle()["pages"]}
        done = holdfast("crawl", "book", "--mode", "new", *proof.crawler.where, cwd=tmp_path)
        assert done.code in (0, 3), done.err
        rows = proof.rows()
        assert {url for url in after if rows[url].status != "succeeded"} == set()
        assert {url: sha256 for url, sha256 in after.items() if rows[url].sha256.hex() != sha256} == {}  # type: ignore[union-attr]
        unchanged = {url for url in before if before[url] == after.get(url)}
        sent = {line["key"] for line in proof.world.log() if line["kind"] == "sent" and line["status"] == 304}
        assert unchanged == sent & unchanged


def test_a_scan_for_what_is_new_extracts_exactly_the_changed_pages(tmp_path: Path) -> None:
    """SIT-01: nothing changed, so no body comes and no page is extracted; then those of the next edition."""
    with proving("manual", tmp_path, options=("--name", "book", "--max-depth", "1", "--report")) as proof:
        proof.run(0)
        before = {row["url"]: row["sha256"] for row in proof.world.oracle(depth=1)["pages"]}
        assert _scanned_again(proof) == (set(), set())
        proof.world.advance()
        after = {row["url"]: row["sha256"] for row in proof.world.oracle(depth=1)["pages"]}
        changed = {url for url in after if after[url] != before.get(url)}
        assert changed
        assert changed < after.keys()
        assert _scanned_again(proof) == (changed, changed)
        proof.balances()


def _scanned_again(proof: Proof) -> tuple[set[str], set[str]]:
    """Pages whose bodies a scan in mode `new` was sent, and pages that it extracted."""
    seen = len(proof.world.log())
    done = holdfast("crawl", "book", "--mode", "new", *proof.crawler.where, cwd=proof.settings.data)
    assert done.code in (0, 3), done.err
    pages = {row["url"] for row in proof.world.oracle(depth=1)["pages"]}
    sent = {line["key"] for line in proof.world.log()[seen:] if line["kind"] == "sent" and line["status"] == 200}
    rows = proof.rows()
    by_id = {f"T-{row.id:x}": url for url, row in rows.items()}
    made = [row for row in rows.values() if row.type == "entities" and row.disposition != "unchanged"]
    return sent & pages, {by_id[str(row.name).rpartition("/")[2]] for row in made}
