"""The memory of a browser's processes, and which of them is killed because it takes too much.

A browser survives the death of each process but its first. Pages of different tabs share none, so the end of a page's
process costs that page and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

LOOK_EVERY_S = 0.25
TOGETHER = 2  # times the memory of one process, for all of them
PAGE = "renderer"
_OF_ITS_OWN = ("RssAnon:", "RssShmem:", "VmSwap:")  # not the program's text, which all of them share


class BrowserProcess(msgspec.Struct, frozen=True):
    pid: int
    kind: str  # `renderer` is that of a page, or of a frame of one
    mb: float


def too_large(processes: Sequence[BrowserProcess], process_mb: int) -> BrowserProcess | None:
    """The one to be killed: the largest, where it passes its bound or all together pass theirs."""
    if not processes:
        return None
    largest = max(processes, key=lambda process: process.mb)
    together = sum(process.mb for process in processes)
    return largest if largest.mb > process_mb or together > TOGETHER * process_mb else None


def memory_mb(pid: int) -> float:
    """Of this process alone, also what of it is swapped out; 0 where that cannot be told."""
    kb = 0
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(_OF_ITS_OWN):
                kb += int(line.split()[1])
    return kb / 1000
