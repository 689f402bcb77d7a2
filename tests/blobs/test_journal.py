"""A job's log on the disk: whole lines, bounded, and never in the way of the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.blobs import journal as adapter
from holdfast.blobs.journal import FileJournal, JournalReader, parts_of
from holdfast.clock import ManualClock
from holdfast.model.logline import read_line


def test_lines_are_appended_and_read_in_order(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "logs", "J-1", ManualClock())
    reader = JournalReader(tmp_path / "logs", "J-1")
    journal("info", "RUN", event="start")
    first = list(reader.lines())
    journal("warning", "ERROR", target="T-9")
    second = list(reader.lines())
    journal.close()
    assert [len(first), len(second)] == [1, 1]
    assert "event=start" in first[0]
    assert "free_mb=" in first[0]
    assert "target=T-9" in second[0]
    assert list(reader.lines()) == []


def test_debug_lines_are_written_only_where_they_are_wanted(tmp_path: Path) -> None:
    for debug in (False, True):
        journal = FileJournal(tmp_path, f"J-{debug}", ManualClock(), debug=debug)
        journal("debug", "NAV", target="T-9")
        journal.close()
        assert len(list(JournalReader(tmp_path, f"J-{debug}").lines())) == int(debug)


def test_a_log_is_kept_in_parts_and_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "PART_BYTES_MAX", 200)
    journal = FileJournal(tmp_path, "J-1", ManualClock())
    for n in range(100):
        journal("info", "STATE", n=n)
    journal.close()
    parts = parts_of(tmp_path, "J-1")
    assert len(parts) == adapter.PARTS_KEPT
    numbers = [int(fields["n"]) for line in JournalReader(tmp_path, "J-1").lines() if (fields := read_line(line))]
    assert numbers == list(range(numbers[0], 100))


def test_a_line_that_is_not_whole_yet_comes_the_next_time(tmp_path: Path) -> None:
    reader = JournalReader(tmp_path, "J-1")
    part = tmp_path / "J-1.1.log"
    part.write_bytes(b"one\ntw")
    assert list(reader.lines()) == ["one"]
    with part.open("ab") as file:
        file.write(b"o\n")
    assert list(reader.lines()) == ["two"]


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file in the way")
    journal = FileJournal(tmp_path / "logs", "J-1", ManualClock())
    journal("error", "ERROR", message="nowhere to go")
    journal.close()
    assert (tmp_path / "logs").read_text() == "a file in the way"


def test_a_forked_process_writes_on_a_descriptor_of_its_own(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path, "J-1", ManualClock())
    journal("info", "STATE", who="parent")
    child = os.fork()
    if child == 0:
        journal("info", "STATE", who="child")
        journal.close()
        os._exit(0)
    os.waitpid(child, 0)
    journal("info", "STATE", who="parent")
    journal.close()
    told = [fields["who"] for line in JournalReader(tmp_path, "J-1").lines() if (fields := read_line(line))]
    assert told == ["parent", "child", "parent"]
