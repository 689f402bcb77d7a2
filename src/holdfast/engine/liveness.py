"""The identity of this process, and whether another process is provably dead. Never a guess: in doubt, alive.

Dead is: the same start of the same machine and the same pid namespace, with that pid gone, reused or a zombie. Another
boot proves nothing here: two machines may be called alike. Only a ledger in a local file can conclude from it that the
owner is gone, because one kernel at a time has that file. The host name is for people to read.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

from holdfast.model.lease import Owner

_STATE_FIELD = 0
_START_FIELD = 19
HIDDEN = -1
MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
MACHINE_ID_LENGTH_MAX = 64


@cache
def boot_id() -> str:
    """This boot of this computer."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@cache
def pid_namespace() -> str:
    """Where a pid of ours means something: the kernel's number of it, and the machine id.

    The kernel's number alone is the same on every machine, and machines that were restored from one memory snapshot
    have the boot id in common; an image without a machine id has an empty one.
    """
    return f"{os.readlink('/proc/self/ns/pid')} {_machine_id()}".rstrip()


def _machine_id() -> str:
    for path in MACHINE_ID_FILES:
        with suppress(OSError):
            if text := Path(path).read_text(errors="replace").strip():
                return text[:MACHINE_ID_LENGTH_MAX]
    return ""


def this_process() -> Owner:
    pid = os.getpid()
    return Owner(socket.gethostname(), boot_id(), pid_namespace(), pid, _started(pid) or 0)


def is_dead(owner: Owner) -> bool:
    """Whether that process is provably gone. One that could not read when it began is only known by its pid."""
    if not is_here(owner):
        return False
    started = _started(owner.pid)
    return started is None or (started != HIDDEN and owner.started > 0 and started != owner.started)


def is_here(owner: Owner) -> bool:
    """Whether its pid is one that we can look up: the same start of the same machine, the same pid namespace."""
    return owner.boot == boot_id() and _is_same(owner.namespace, pid_namespace())


def _is_same(one: str, other: str) -> bool:
    """The kernel's numbers, and the machines where both could read theirs: a disk that fails must not hide a death."""
    (number, _, machine), (its_number, _, its_machine) = one.partition(" "), other.partition(" ")
    return number == its_number and (machine == its_machine or not (machine and its_machine))


def _is_gone(pid: int) -> bool:
    """Where /proc hides the processes of others, a signal that may not be sent still proves that one is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _started(pid: int) -> int | None:
    """When the process with this pid began, in clock ticks since boot; None where there is no living one."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None if _is_gone(pid) else HIDDEN
    fields = text.rpartition(")")[2].split()  # the name before it may contain spaces and brackets
    return None if fields[_STATE_FIELD] in "ZX" else int(fields[_START_FIELD])
