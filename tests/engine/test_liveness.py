"""Death is proven, never guessed (E6)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from holdfast.engine import liveness
from holdfast.engine.liveness import is_dead, this_process


def test_this_process_is_alive() -> None:
    assert not is_dead(this_process())


def test_a_process_that_ended_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = msgspec.structs.replace(this_process(), pid=child.pid, started=_start_of(child.pid))
    assert not is_dead(owner)
    child.kill()
    child.communicate()
    assert is_dead(owner)


def test_a_killed_process_that_nobody_has_waited_for_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = msgspec.structs.replace(this_process(), pid=child.pid, started=_start_of(child.pid))
    child.kill()
    child.stdin.close()  # type: ignore[union-attr]
    while _state_of(child.pid) not in ("Z", None):
        continue
    assert is_dead(owner)
    child.wait()


def test_a_pid_that_went_to_another_process_is_dead() -> None:
    assert is_dead(msgspec.structs.replace(this_process(), started=1))


@pytest.mark.parametrize("started", [liveness.HIDDEN, 0])
def test_a_process_that_could_not_read_when_it_began_is_alive_while_its_pid_is(started: int) -> None:
    """It had no descriptor left for that: else it would take its own leases from itself, for ever."""
    assert not is_dead(msgspec.structs.replace(this_process(), started=started))


def test_a_process_that_could_not_read_its_machines_id_is_known_all_the_same() -> None:
    """A disk that fails hides no death."""
    number = this_process().namespace.partition(" ")[0]
    assert is_dead(msgspec.structs.replace(this_process(), namespace=number, started=1))


def test_an_owner_of_another_boot_is_never_called_dead_though_the_host_is_called_alike() -> None:
    """PAU-16: two machines, or containers, may have one name."""
    assert not is_dead(msgspec.structs.replace(this_process(), boot="another", started=1))


def test_the_host_name_proves_nothing_either_way() -> None:
    """PAU-16: a computer that was given another name still knows its own dead."""
    assert is_dead(msgspec.structs.replace(this_process(), host="elsewhere", started=1))
    assert not is_dead(msgspec.structs.replace(this_process(), host="elsewhere"))


def test_an_owner_with_another_machine_id_is_never_called_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAU-16: machines that were restored from one memory snapshot have one boot id, and each has its own pids."""
    gone = msgspec.structs.replace(this_process(), started=1)
    assert is_dead(gone)
    (tmp_path / "machine-id").write_text("4f1c\n")
    monkeypatch.setattr(liveness, "MACHINE_ID_FILES", (str(tmp_path / "machine-id"),))
    liveness.pid_namespace.cache_clear()
    try:
        assert not is_dead(gone)
        assert this_process().namespace.endswith(" 4f1c")
    finally:
        liveness.pid_namespace.cache_clear()


def test_an_owner_in_another_pid_namespace_is_never_called_dead() -> None:
    assert not is_dead(msgspec.structs.replace(this_process(), namespace="pid:[1]", started=1))


def _fields(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def _start_of(pid: int) -> int:
    fields = _fields(pid)
    assert fields is not None
    return int(fields[19])


def _state_of(pid: int) -> str | None:
    fields = _fields(pid)
    return None if fields is None else fields[0]
