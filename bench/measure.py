"""A child process, measured from outside: wall time from exec to exit, CPU by wait4, memory from /proc.

CPU is that of the child and of every descendant it waited for. It never looks inside the child or opens its files.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY_S = 0.05
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

Watch = Callable[[int], None]  # called with the child's pid at every look


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run cost. `others_share` is what foreign processes took of all cores meanwhile: the noise."""

    exit: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    others_share: float
    began_at: float


def measured(
    argv: Sequence[str],
    *,
    output: Path,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    watches: Sequence[Watch] = (),
    ours: Sequence[Callable[[], float]] = (),
    cpu: Cpu | None = None,
) -> Measured:
    """Run a command to its end. `output` gets what it prints, and beside it OUTPUT.err its complaints.

    `ours` are CPU counters of processes that belong to the run, such as the server: they are no noise. `cpu` is one of
    the `watches`, given where the command has children that it does not wait for.
    """
    memory = Memory()
    before, ours_before = busy_s(), sum(counter() for counter in ours)
    with output.open("wb") as sink, output.with_suffix(".err").open("wb") as errors:
        began_at, began = time.time(), time.perf_counter()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=errors, cwd=cwd, env=environ)
        try:
            ended, status, usage = _watched(child.pid, (memory.look, *watches))
        except BaseException:
            child.kill()
            child.wait()
            raise
    child.returncode = os.waitstatus_to_exitcode(status)
    wall_s, cpu_s = ended - began, max(usage.ru_utime + usage.ru_stime, cpu.seconds if cpu is not None else 0.0)
    ours_s = cpu_s + sum(counter() for counter in ours) - ours_before
    others_s = max(0.0, busy_s() - before - ours_s)
    cores = os.cpu_count() or 1
    return Measured(child.returncode, wall_s, cpu_s, memory.peak_mb, others_s / (wall_s * cores), began_at)


def _watched(pid: int, watches: Sequence[Watch]) -> tuple[float, int, resource.struct_rusage]:
    """Look now and then until the child has ended; (perf_counter at its end, wait status, what it used)."""
    handle = os.pidfd_open(pid)
    try:
        while not select.select([handle], [], [], LOOK_EVERY_S)[0]:
            for watch in watches:
                watch(pid)
        ended = time.perf_counter()
        _, status, usage = os.wait4(pid, 0)
    finally:
        os.close(handle)
    return ended, status, usage


class Memory:
    """The sum of the VmHWM of a process and its descendants, each as last seen.

    Not ru_maxrss: the kernel carries the size of whoever forked over the exec, so a small child looks like its parent.
    """

    def __init__(self) -> None:
        self._peaks_kb: dict[int, int] = {}

    def look(self, pid: int) -> None:
        for one in family(pid):
            self._peaks_kb[one] = max(self._peaks_kb.get(one, 0), _status_kb(one, "VmHWM"))

    @property
    def peak_mb(self) -> float:
        return sum(self._peaks_kb.values()) / 1024


class Cpu:
    """User and system time of a process and its descendants, each as last seen, however they end.

    `wait4` leaves out the children of a child that did not wait for them.
    """

    def __init__(self) -> None:
        self._ticks: dict[int, int] = {}

    def look(self, pid: int) -> None:
        for one in family(pid):
            self._ticks[one] = max(self._ticks.get(one, 0), _ticks(one, waited_for=False))

    @property
    def seconds(self) -> float:
        return sum(self._ticks.values()) / TICKS_PER_S


class LargestFile:
    """The largest size of a file while a child ran, by stat alone: opening a ledger's file would break its locks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.bytes_max = 0

    def look(self, _pid: int) -> None:
        try:
            self.bytes_max = max(self.bytes_max, self._path.stat().st_size)
        except FileNotFoundError:
            return


def family(pid: int) -> list[int]:
    """The process and its descendants; those that are gone are left out."""
    found = [pid]
    for one in found:
        try:
            threads = list(Path(f"/proc/{one}/task").iterdir())
            found += [int(child) for thread in threads for child in (thread / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def cpu_s_of(pid: int) -> float:
    """User and system time of a living process, its living descendants and those already waited for."""
    return sum(_ticks(one) for one in family(pid)) / TICKS_PER_S


def busy_s() -> float:
    """What all cores together have worked since boot."""
    words = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq = map(int, words[:7])
    return (user + nice + system + irq + softirq) / TICKS_PER_S


def _ticks(pid: int, *, waited_for: bool = True) -> int:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, after_name[11 : 15 if waited_for else 13]))


def _status_kb(pid: int, field: str) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = [line for line in text.splitlines() if line.startswith(f"{field}:")]
    return int(found[0].split()[1]) if found else 0
