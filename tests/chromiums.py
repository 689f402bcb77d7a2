"""Chromium killed under a crawler, and the crawler after it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand


def browsers_of(pid: int) -> list[int]:
    """Chromium's own processes below this one, its helpers (`--type=…`) left out."""
    found: list[int] = []
    for child in _children(pid):
        with suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            name = words[0].rpartition(b"/")[2]
            if name.startswith((b"chrom", b"headless")) and not any(word.startswith(b"--type=") for word in words):
                found.append(child)
        found += browsers_of(child)
    return found


def kill_browsers(pid: int) -> int:
    """kill -9; how many there were."""
    there = browsers_of(pid)
    for each in there:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    return len(there)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def killed_in_turn(
    words: Sequence[str], folder: Path, asks: Asks, dice: Random, *, kills: int, between: int
) -> tuple[int, int]:
    """Half of so many kills are of the browser, after which the crawler goes on, and half of the crawler; each after
    at most `between` requests of its own. (kills of crawlers, kills of browsers): it may have ended before."""
    crawlers = browsers = 0
    for n in range(max(1, kills // 2)):
        with ChildCommand(words, said=folder / f"said-{n}") as command:
            for kill in ("browser", "crawler"):
                enough = asks.look() + dice.randint(between // 2, between)
                command.wait_for(lambda enough=enough: asks.look() >= enough, seconds=100)  # type: ignore[misc]
                if command.code is not None:
                    return crawlers, browsers
                if kill == "browser":
                    browsers += kill_browsers(command.pid) > 0
                else:
                    crawlers += command.kill()
    return crawlers, browsers
