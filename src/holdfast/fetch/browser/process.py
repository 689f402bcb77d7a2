"""One Chromium with the driver that speaks to it: started, looked at, ended without a trace.

The driver reads from a pipe of ours and Chromium from a pipe of the driver's: when this process is killed, the pipes
close and both end by themselves. What does not end when it is told to is killed, with all of its processes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.clock import Clock
from holdfast.cores import every_core
from holdfast.errors import FetchError
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.memory import LOOK_EVERY_S, PAGE, BrowserProcess, memory_mb, too_large

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Playwright

log = logging.getLogger(__name__)

LAUNCH_S = 60.0
CLOSE_S = 5.0
FLAGS = (
    "--proxy-bypass-list=<-loopback>",  # not even this computer is reached without the gate
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # names are resolved by the gate
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # in the headless shell
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-remote-fonts",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--no-pings",
)


class Chromium:
    """A running browser. `in_use` counts the tabs that are given out, `pages` those that were worked."""

    def __init__(self, driver: Playwright, browser: Browser, root: CDPSession, pid: int) -> None:
        self._driver, self.browser, self._root, self.pid = driver, browser, root, pid
        self.in_use = self.pages = 0
        self.is_retired = self.is_ending = False
        self._watch: asyncio.Task[None] | None = None
        self._page_killed_at: float | None = None

    @classmethod
    async def start(cls, executable: str, gate_port: int, limits: BrowserLimits, clock: Clock) -> Chromium:
        """FetchError `browser_launch_failed` where it does not come up."""
        from playwright.async_api import Error, async_playwright

        driver = browser = None
        try:
            async with asyncio.timeout(LAUNCH_S):
                with every_core():
                    driver = await async_playwright().start()
                browser = await driver.chromium.launch(
                    executable_path=executable,
                    headless=True,
                    chromium_sandbox=limits.sandbox and os.geteuid() != 0,  # root can have no sandbox
                    handle_sigint=False,  # Ctrl-C lets pages in hand come to their end
                    handle_sigterm=False,
                    handle_sighup=False,
                    timeout=0,
                    args=[f"--proxy-server=socks5://127.0.0.1:{gate_port}", *flags_of(limits)],
                )
                root = await browser.new_browser_cdp_session()
                rows = (await root.send("SystemInfo.getProcessInfo"))["processInfo"]
                pid = next(int(row["id"]) for row in rows if row["type"] == "browser")
        except (Error, TimeoutError, OSError, StopIteration) as error:
            await _end(driver, browser)
            hint = "; without its sandbox: HOLDFAST_BROWSER__SANDBOX=false" if "sandbox" in str(error).lower() else ""
            told = (str(error).strip() or f"not there after {LAUNCH_S:g} s").splitlines()[0]
            raise FetchError("browser_launch_failed", f"{executable}: {told[:300]}{hint}") from error
        except BaseException:
            await _end(driver, browser)
            raise
        log.debug("started %s as process %d", executable, pid)
        chromium = cls(driver, browser, root, pid)
        chromium._watch = asyncio.create_task(chromium._stay_small(limits.process_mb, clock))
        return chromium

    @property
    def is_alive(self) -> bool:
        return self.browser.is_connected()

    async def memory_mb(self) -> float:
        """Of all its processes, what they share counted once; 0 where that cannot be told."""
        return sum(_pss_kb(pid) for pid, _ in await self._processes()) / 1000

    def was_too_large(self) -> bool:
        """Of a page that has just crashed: whether that was because of its memory. Said once."""
        killed_at, self._page_killed_at = self._page_killed_at, None
        return killed_at is not None and asyncio.get_running_loop().time() - killed_at < CLOSE_S

    async def _stay_small(self, process_mb: int, clock: Clock) -> None:
        """Kill what takes too much memory, before it is that of the whole computer."""
        while self.is_alive:
            await clock.wait(LOOK_EVERY_S)
            if not self.in_use:
                continue
            sized = [BrowserProcess(pid, kind, memory_mb(pid)) for pid, kind in await self._processes()]
            killed = too_large(sized, process_mb)
            if killed is None:
                continue
            log.warning("a %s process of the browser took %d MB and was killed", killed.kind, killed.mb)
            if killed.kind == PAGE and killed.mb > process_mb:
                self._page_killed_at = asyncio.get_running_loop().time()
            _kill(killed.pid, group=killed.pid == self.pid)

    async def _processes(self) -> list[tuple[int, str]]:
        """With what each is for."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(CLOSE_S):
                rows = (await self._root.send("SystemInfo.getProcessInfo"))["processInfo"]
        except (Error, TimeoutError):
            return []
        return [(int(row["id"]), str(row["type"])) for row in rows]

    async def close(self) -> None:
        """Asked to end, and killed where it does not."""
        if self._watch is not None:
            self._watch.cancel()
        driver_pid = _parent_of(self.pid)
        await _end(self._driver, self.browser)
        _kill(self.pid, group=True)
        if driver_pid is not None and driver_pid != os.getpid():
            _kill(driver_pid, group=False)


def flags_of(limits: BrowserLimits) -> tuple[str, ...]:
    return FLAGS if limits.images else (*FLAGS, "--blink-settings=imagesEnabled=false")


async def _end(driver: Playwright | None, browser: Browser | None) -> None:
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            if browser is not None:
                await browser.close()
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            if driver is not None:
                await driver.stop()


def _kill(pid: int, *, group: bool) -> None:
    """Only what is still the browser: a number may have been given to another process since."""
    with suppress(OSError):
        name = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"chrom" in name or b"playwright" in name:
            (os.killpg if group and os.getpgid(pid) == pid else os.kill)(pid, signal.SIGKILL)


def _parent_of(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None


def _pss_kb(pid: int) -> int:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
