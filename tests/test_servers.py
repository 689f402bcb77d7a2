"""The PostgreSQL of the tests: durable, empty for every test, gone with the test process."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from conftest import suite_of
from holdfast.testing import postgres as postgres_module
from holdfast.testing.postgres import PostgresNotStarted, start_postgres, temporary_postgres
from servers import cannot_run, fresh_schema

START_AND_TELL = """
import sys
from holdfast.testing.postgres import temporary_postgres
with temporary_postgres() as postgres:
    print(postgres.directory, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
def test_postgres_is_as_durable_as_in_production(pg_url: str, setting: str) -> None:
    with psycopg.connect(pg_url) as connection:
        assert connection.execute(f"SHOW {setting}").fetchone() == ("on",)


def test_a_fresh_schema_is_empty_and_takes_tables(pg_schema_url: str) -> None:
    with psycopg.connect(pg_schema_url) as connection:
        connection.execute("CREATE TABLE frog (name text)")
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    assert tables == [("frog",)]


def test_two_schemas_do_not_see_each_other_and_leave_nothing(pg_url: str) -> None:
    with fresh_schema(pg_url) as one, fresh_schema(pg_url) as other:
        with psycopg.connect(one) as connection:
            connection.execute("CREATE TABLE frog (name text)")
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT to_regclass('frog')").fetchone() == (None,)
    names = [url.rpartition("%3D")[2] for url in (one, other)]
    with psycopg.connect(pg_url) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = ANY(%s)", [names]).fetchall() == []


def test_a_committed_row_survives_kill_minus_nine_of_the_server(tmp_path: Path) -> None:
    with start_postgres(tmp_path) as postgres:
        with psycopg.connect(postgres.url) as connection:
            connection.execute("CREATE TABLE frog (name text)")
            connection.execute("INSERT INTO frog VALUES ('Marsh')")
        postgres.kill()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(postgres.url)
        postgres.start()
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT name FROM frog").fetchall() == [("Marsh",)]


def test_the_server_and_its_files_go_when_the_test_process_is_killed() -> None:
    argv = [sys.executable, "-c", START_AND_TELL]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        directory = Path(child.stdout.readline().strip())
        server_pid = int((directory / "data" / "postmaster.pid").read_text().split()[0])
        keeper_pid = parent_of(server_pid)
        child.send_signal(signal.SIGKILL)
    wait_until_gone(keeper_pid)
    assert not Path(f"/proc/{server_pid}").exists()
    assert not directory.exists()


def test_stopping_removes_a_temporary_server_and_may_be_repeated() -> None:
    postgres = temporary_postgres()
    assert postgres.directory.exists()
    postgres.stop()
    postgres.stop()
    assert not postgres.directory.exists()


def test_a_command_gets_the_url_and_its_exit_code_is_handed_on() -> None:
    connect = "import psycopg, sys; psycopg.connect(sys.argv[1]).close(); sys.exit(3)"
    assert postgres_module.main([sys.executable, "-c", connect, "{url}"]) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has privileges to drop")
def test_it_also_starts_where_user_namespaces_are_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_module, "UNSHARE", ("false",))
    with temporary_postgres() as postgres, psycopg.connect(postgres.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_cluster_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "somebody elses file").touch()
    with pytest.raises(PostgresNotStarted, match="exists but is not empty"):
        start_postgres(tmp_path)


def test_a_missing_tool_fails_in_ci_and_is_skipped_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="strace is not installed"):
        cannot_run("strace is not installed")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="strace is not installed"):
        cannot_run("strace is not installed")


def test_a_suite_is_named_by_its_folder() -> None:
    assert suite_of("tests/crash/test_kill.py::test_it") == "crash"
    assert suite_of("tests/test_servers.py::test_it") == "test_servers.py"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_until_gone(pid: int) -> None:
    """Waits for a process that is not our child: its pidfd becomes readable when it ends."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 30)[0], f"process {pid} still runs"
    finally:
        os.close(descriptor)
