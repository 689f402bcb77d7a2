"""Death is proven, never guessed (E6)."""

from __future__ import annotations

import subprocess
import sys

import msgspec

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


def test_an_owner_of_an_earlier_boot_is_dead() -> None:
    assert is_dead(msgspec.structs.replace(this_process(), boot="another"))


def test_an_owner_on_another_host_is_never_called_dead() -> None:
    assert not is_dead(msgspec.structs.replace(this_process(), host="elsewhere", boot="another", pid=1))


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
