"""Who this process is, and whether another process is provably dead. Never a guess: in doubt, alive.

Dead is: same host, and either an earlier boot, or the same pid namespace with that pid gone, reused or a zombie.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

from holdfast.model.lease import Owner

_STATE_FIELD = 0
_START_FIELD = 19
HIDDEN = -1


@cache
def boot_id() -> str:
    """This boot of this computer."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@cache
def pid_namespace() -> str:
    return os.readlink("/proc/self/ns/pid")


def this_process() -> Owner:
    pid = os.getpid()
    return Owner(socket.gethostname(), boot_id(), pid_namespace(), pid, _started(pid) or 0)


def is_dead(owner: Owner) -> bool:
    """Whether that process is provably gone."""
    if owner.host != socket.gethostname():
        return False
    if owner.boot != boot_id():
        return True
    if owner.namespace != pid_namespace():
        return False
    return _started(owner.pid) not in (owner.started, HIDDEN)


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
