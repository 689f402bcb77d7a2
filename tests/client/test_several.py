"""Several processes for a program: they are handed what it was told, and nothing that others may not read."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import crawl
from holdfast.client.several import SeveralProcesses
from holdfast.demo.command import living
from holdfast.demo.serving import WorldServer
from waiting import wait_until

PROGRAM = """
import sys
import holdfast as hf
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
    program.send_signal(number)
    assert program.wait(10) == -number
    wait_until(lambda: not at_work(tmp_path / "data"), 20, "nobody at work")
    assert job.status == "in_progress"
    assert (job.counts.in_progress, job.counts.pending > 0) == (0, True)


def at_work(folder: Path) -> list[str]:
    """The command lines that name this folder."""
    lines = []
    for pid, _, _ in living():
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
    return [line for line in lines if str(folder) in line]


def test_the_address_of_the_database_is_on_no_command_line(
    client: hf.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEC-06: everybody on the computer reads command lines. The address arrives all the same, over any other."""
    (tmp_path / "address").write_text("sqlite")
    monkeypatch.setenv("HOLDFAST_DATABASE_URL_FILE", str(tmp_path / "address"))
    command = SeveralProcesses(replace(client._settings, database_url=SECRET), "J-1", 2)
    words = str(command._child.args)
    with pytest.raises(hf.HoldfastError) as refused:
        command.wait(lambda: None)
    assert "--processes" in words
    assert "croak" not in words
    assert "frog" not in words
    assert "127.0.0.1" in refused.value.message
    assert "croak" not in refused.value.message
