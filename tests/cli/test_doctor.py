"""`doctor` finds what is wrong and says what to do; `db` copies, checks and upgrades the ledger."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, put_into, submit
from cli.schemas import validator
from holdfast.demo.serving import WorldServer
from holdfast.ledger.schema import SCHEMA_VERSION
from waiting import wait_until


def checks(folder: Path, *words: str, code: int = 0, **env: str) -> dict[str, dict[str, Any]]:
    done = holdfast("doctor", *words, "--json", cwd=folder, **env)
    assert done.code == code, done.err + done.out
    answer = done.json()
    validator("health").validate(answer)
    assert answer["ok"] == (code == 0)
    return {row["name"]: row for row in answer["checks"]}


def test_an_empty_place_is_in_order_and_stays_empty(tmp_path: Path) -> None:
    found = checks(tmp_path)
    assert found["data folder"]["detail"] == "holdfast-data is not there yet; the first job makes it"
    assert found["ledger"]["detail"] == "none yet; the first job makes it"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["reeds/data", "/proc/holdfast/data"])
def test_a_data_folder_that_the_first_job_could_not_make_is_a_finding(place: str, tmp_path: Path) -> None:
    (tmp_path / "reeds").write_text("green")
    found = checks(tmp_path, "--data", place, code=9)
    assert found["data folder"]["detail"].startswith(f"{place} cannot be made: ")
    assert holdfast("crawl", "marsh.test", "--data", place, cwd=tmp_path).code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["reeds"]


def test_a_healthy_crawl_passes_every_check(tree: WorldServer, tmp_path: Path) -> None:
    """DOC-30."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    found = checks(tmp_path)
    assert list(found) == [
        "configuration", "data folder", "access", "disk room", "ledger", "ledger settings", "ledger file",
        "stored pages", "left over", "checkpoints", "workers", "browser",
    ]  # fmt: skip
    assert all(row["ok"] for name, row in found.items() if name != "browser")
    assert f"schema {SCHEMA_VERSION}" in found["ledger"]["detail"]
    assert found["ledger settings"]["detail"] == "journal_mode = wal, synchronous = 2, foreign_keys = 1"
    table = holdfast("doctor", cwd=tmp_path)
    assert (table.code, table.out.count(" ok ")) == (0, sum(row["ok"] for row in found.values()))


def test_settings_that_cannot_be_read_are_the_first_finding(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("no_such_setting = 1\n")
    found = checks(tmp_path, code=9)
    assert list(found) == ["configuration"]
    assert "no_such_setting" in found["configuration"]["detail"]


def test_names_of_an_older_roll_out_are_called_obsolete(tmp_path: Path) -> None:
    """CFG-02."""
    detail = checks(tmp_path, HOLDFAST_USE_DB_REPORTING="1")["configuration"]["detail"]
    assert "HOLDFAST_USE_DB_REPORTING is obsolete" in detail


def test_a_full_disk_is_found(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "0"), cwd=tmp_path).code == 0
    found = checks(tmp_path, code=9, HOLDFAST_MIN_FREE_MB="999999999")
    assert not found["disk room"]["ok"]
    assert "999999999 are wanted" in found["disk room"]["detail"]


def test_a_ledger_that_cannot_be_reached_is_found(tmp_path: Path) -> None:
    found = checks(tmp_path, "--database", "postgresql://127.0.0.1:1/nowhere", code=9)
    assert not found["ledger"]["ok"]


def test_a_damaged_ledger_is_found(tmp_path: Path) -> None:
    (tmp_path / "holdfast-data").mkdir()
    (tmp_path / "holdfast-data" / "ledger.db").write_bytes(b"this was a ledger once" * 400)
    found = checks(tmp_path, code=9)
    assert "damaged" in found["ledger"]["detail"]


def test_missing_pages_are_found_and_named(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    [segment] = [file for file in (tmp_path / "holdfast-data" / "segments").rglob("*") if file.is_file()]
    segment.unlink()
    found = checks(tmp_path, code=9)
    assert "is missing: 4 pages without bytes" in found["stored pages"]["detail"]


def test_repair_has_lost_pages_fetched_again_and_says_so(tree: WorldServer, tmp_path: Path) -> None:
    """D8: the targets are pending again, with the reason, and the books and the bytes are whole after a resume."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    [segment] = [file for file in (tmp_path / "holdfast-data" / "segments").rglob("*") if file.is_file()]
    segment.unlink()
    done = holdfast("doctor", "--repair", cwd=tmp_path)
    told = "Put 4 pages of frogs back, whose stored bytes are gone. To fetch them: holdfast resume frogs"
    assert (done.code, told in done.err) == (0, True), done.err
    rows = holdfast("targets", "frogs", "--where", "status:pending", "--json=because", cwd=tmp_path).json()["targets"]
    assert rows == [{"because": "its stored bytes are gone"}] * 4
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert holdfast("verify", "frogs", "--deep", cwd=tmp_path).out == "frogs: every check holds, 4 bodies read.\n"
    assert checks(tmp_path)["stored pages"]["ok"]


def test_a_damaged_checkpoint_is_told_and_fails_nothing(tree: WorldServer, tmp_path: Path) -> None:
    """CHK-06: rows are the truth, so it is not required."""
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    with sqlite3.connect(tmp_path / "holdfast-data" / "ledger.db") as ledger:
        ledger.execute("UPDATE checkpoint SET doc = x'7b'")
    ledger.close()
    found = checks(tmp_path)
    assert (found["checkpoints"]["ok"], found["checkpoints"]["required"]) == (False, False)


def test_repair_frees_what_a_dead_worker_holds_and_says_so(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    wait_until(lambda: in_progress(tmp_path) > 0, 30, "pages are in flight")
    crawl.send(signal.SIGKILL)
    crawl.end()
    assert "a dead worker holds frogs" in checks(tmp_path)["workers"]["detail"]
    before = in_progress(tmp_path)
    done = holdfast("doctor", "--repair", cwd=tmp_path)
    assert done.err == f"Freed frogs from its dead worker: 0 lost, {before} in flight are fetched again.\n"
    assert checks(tmp_path)["workers"]["ok"]
    assert in_progress(tmp_path) == 0
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0
    assert holdfast("doctor", "--repair", cwd=tmp_path).err == "Nothing was mended.\n"


def test_repair_carries_out_a_pause_that_nobody_is_left_to_hear(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), "in_progress")
        ledger.request(job.id, "pause", actor="user", because="asked for")
    done = holdfast("doctor", "--repair", "--json", cwd=tmp_path)
    assert done.json()["repaired"] == ["Carried out the pause that was asked of frogs: it is paused."]
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "paused"}


def test_a_backup_is_a_ledger_of_its_own(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    (tmp_path / "copy").mkdir()
    done = holdfast("db", "backup", "-o", "copy/ledger.db", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    validator("db").validate(done.json())
    assert [file.name for file in (tmp_path / "copy").iterdir()] == ["ledger.db"]
    counts = [
        holdfast("status", "frogs", "--json=counts", "--data", data, cwd=tmp_path).out
        for data in ("copy", "holdfast-data")
    ]
    assert counts[0] == counts[1]
    again = holdfast("db", "backup", "-o", "copy/ledger.db", cwd=tmp_path)
    assert (again.code, "a backup overwrites nothing" in again.err) == (2, True)
    assert holdfast("db", "backup", cwd=tmp_path).code == 0
    [made] = (tmp_path / "holdfast-data" / "backups").iterdir()
    assert made.suffix == ".db"


def test_a_check_of_the_whole_ledger_finds_what_does_not_balance(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    done = holdfast("db", "check", cwd=tmp_path)
    assert (done.code, done.out) == (0, "The ledger is whole: 1 job, every check holds.\n")
    with sqlite3.connect(tmp_path / "holdfast-data" / "ledger.db") as ledger:
        ledger.execute("UPDATE tally SET n = n + 1 WHERE status = 'succeeded'")
    ledger.close()
    broken = holdfast("db", "check", "--json", cwd=tmp_path)
    assert (broken.code, broken.json()["ok"]) == (9, False)
    assert broken.json()["findings"][0].startswith("frogs: ")


def test_an_upgrade_of_a_ledger_of_today_changes_nothing(tmp_path: Path) -> None:
    """PER-14."""
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    done = holdfast("db", "upgrade", cwd=tmp_path)
    assert (done.code, done.out) == (0, f"The ledger has schema {SCHEMA_VERSION} already; nothing was changed.\n")


def test_a_postgres_ledger_of_an_older_version_is_upgraded_by_command_only(pg_schema_url: str, tmp_path: Path) -> None:
    """PER-14: exit 9 that names the command, then the command."""
    import psycopg

    from holdfast.ledger.postgres import WORDS
    from holdfast.ledger.schema import LEDGER_TABLE, statements

    with psycopg.connect(pg_schema_url, autocommit=True) as connection:
        for statement in statements(1, WORDS):
            connection.execute(statement.encode())
        connection.execute(LEDGER_TABLE.format(**WORDS).encode())
        connection.execute("INSERT INTO ledger VALUES ('marsh', 1, '\\x00112233445566778899aabbccddeeff', 0)")
    refused = holdfast("jobs", "--database", pg_schema_url, cwd=tmp_path)
    assert (refused.code, "holdfast db upgrade" in refused.err) == (9, True)
    done = holdfast("db", "upgrade", "--database", pg_schema_url, "--json", cwd=tmp_path)
    assert (done.code, done.json()["from"], done.json()["to"]) == (0, 1, SCHEMA_VERSION), done.err
    assert holdfast("jobs", "--database", pg_schema_url, "--json", cwd=tmp_path).json()["jobs"] == []
    assert holdfast("doctor", "--database", pg_schema_url, cwd=tmp_path).code == 0


def test_a_postgres_ledger_is_not_copied_by_us(pg_schema_url: str, tmp_path: Path) -> None:
    assert holdfast("jobs", "--database", pg_schema_url, cwd=tmp_path).code == 0
    done = holdfast("db", "backup", "--database", pg_schema_url, cwd=tmp_path)
    assert (done.code, "pg_dump" in done.err) == (2, True)


@pytest.mark.parametrize("action", ["check", "backup", "upgrade"])
def test_without_a_ledger_there_is_nothing_to_do(action: str, tmp_path: Path) -> None:
    assert holdfast("db", action, cwd=tmp_path).code == 5
    assert list(tmp_path.iterdir()) == []


def in_progress(folder: Path) -> int:
    done = holdfast("status", "frogs", "--json=counts", cwd=folder)
    return int(json.loads(done.out)["counts"]["in_progress"]) if done.code == 0 else 0
