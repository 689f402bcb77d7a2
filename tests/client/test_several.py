"""Several processes for a program: they are handed what it was told, and nothing that others may not read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import crawl
from holdfast.client.several import Command
from holdfast.demo.serving import WorldServer

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


def test_the_address_of_the_database_is_on_no_command_line(
    client: hf.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEC-06: everybody on the computer reads command lines. The address arrives all the same, over any other."""
    (tmp_path / "address").write_text("sqlite")
    monkeypatch.setenv("HOLDFAST_DATABASE_URL_FILE", str(tmp_path / "address"))
    command = Command(replace(client._settings, database_url=SECRET), "J-1", 2)
    words = str(command._child.args)
    with pytest.raises(hf.HoldfastError) as refused:
        command.wait(lambda: None)
    assert "--processes" in words
    assert "croak" not in words
    assert "frog" not in words
    assert "127.0.0.1" in refused.value.message
    assert "croak" not in refused.value.message
