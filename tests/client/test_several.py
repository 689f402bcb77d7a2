"""Several processes for a program: they are handed what it was told, and nothing that others may not read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

import holdfast as hf
from client.test_jobs import crawl
from holdfast import wiring
from holdfast.demo.command import living
from holdfast.demo.serving import WorldServer
from holdfast.dispatch.local import pool_process
from holdfast.dispatch.runners import runner_apart
from waiting import wait_until

PROGRAM = """
import sys
import holdfast as hf
from holdfast import wiring
hf.Client(data=sys.argv[1]).job(sys.argv[2]).run(processes=2)
"""
SECRET = "postgresql://frog:croak@127.0.0.1:1/pond"


def test_what_the_named_file_says_holds_for_several_processes_too(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "pond.toml").write_text("min_free_mb = 999999999\n")
    client = hf.Client(data=tmp_path / "data", config_file=tmp_path / "pond.toml")
    reasons = []
    for processes in (1, 2):
        job = crawl(client, tree, name=f"with-{processes}")
        assert job.run(processes=processes).status == "paused"
        reasons.append(job.because)
    assert reasons[0] == reasons[1]


def test_the_file_that_was_nearest_holds_though_the_program_went_elsewhere(
    tree: WorldServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.toml").write_text("min_free_mb = 999999999\n")
    monkeypatch.chdir(tmp_path)
    client = hf.Client(data="data")
    monkeypatch.chdir("/")
    job = crawl(client, tree)
    assert job.run(processes=2).status == "paused"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_program_dies_its_workers_finish_what_they_have_in_hand_and_go(
    number: signal.Signals, slow_tree: WorldServer, tmp_path: Path
) -> None:
    job = crawl(hf.Client(data=tmp_path / "data"), slow_tree)
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "data"), job.id])
    wait_until(lambda: job.counts.succeeded > 0, 30, "a page")
    workers = descendants(program.pid)
    program.send_signal(number)
    assert program.wait(10) == -number
    assert len(workers) >= 4  # who supervises, the fork server, two workers
    try:
        wait_until(lambda: not workers & {pid for pid, _, _ in living()}, 12, "nobody at work")
    finally:
        for pid in workers & {pid for pid, _, _ in living()}:
            os.kill(pid, signal.SIGKILL)
    assert job.status == "in_progress"
    assert (job.counts.in_progress, job.counts.pending > 0) == (0, True)


def descendants(ancestor: int) -> set[int]:
    """The pids of its children, of theirs, and so on."""
    parents = {pid: parent for pid, parent, _ in living()}
    found: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in {ancestor, *found}} - found:
        found |= more
    return found


def test_the_address_of_the_database_is_on_no_command_line(
    tree: WorldServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEC-06: everybody on the computer reads command lines, and programs that a recipe starts read the environment."""
    seen: list[str] = []
    start = pool_process._started

    def recorded(orders: int, messages: int) -> subprocess.Popen[bytes]:
        child = start(orders, messages)
        seen.append(str(child.args))
        return child

    monkeypatch.setattr(pool_process, "_started", recorded)
    client = hf.Client(data=tmp_path / "data")
    job = crawl(client, tree)
    with closing(wiring.open_ledger(client._settings)) as ledger:
        row = ledger.job(job.id)
    elsewhere = replace(client._settings, database_url=SECRET, outage_s=0)
    runner = runner_apart(elsewhere, row, 2, progress=lambda *_: None, say=lambda words: None, trigger="api")
    with pytest.raises(hf.HoldfastError) as refused:
        runner.run()
    assert len(seen) == 1
    assert "croak" not in seen[0]
    assert "frog" not in seen[0]
    assert "127.0.0.1" in refused.value.message
    assert "croak" not in refused.value.message
