"""Chromium, for jobs whose pages a browser fetches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.clock import SystemClock
from holdfast.model.job import Options
from holdfast.ports import Fetcher
from holdfast.wiring.agent import AGENT

if TYPE_CHECKING:
    from holdfast.fetch.http.route import Route


def browser_fetcher_of(http: Fetcher, options: Options, route: Route, browser: Mapping[str, Any]) -> Fetcher:
    """Chromium, for one job. It is looked for now and started by the first page."""
    check_browser(msgspec.structs.replace(options, browser=True), browser)
    from holdfast.fetch.browser.fetcher import BrowserFetcher
    from holdfast.fetch.browser.limits import BrowserLimits
    from holdfast.fetch.guard import Guard

    limits = BrowserLimits(**browser)
    limits = msgspec.structs.replace(
        limits,
        pages=min(limits.pages, options.concurrency),
        nav_timeout_s=min(limits.nav_timeout_s, options.timeout_s),
        connect_s=min(options.connect_timeout_s, options.timeout_s),
        idle_s=min(options.idle_timeout_s, options.timeout_s),
        bytes_max=options.max_bytes,
    )
    guard = Guard(allow=options.allow, allow_private=options.allow_private, resolve=options.resolve)
    return BrowserFetcher(http, guard, limits, route, options.user_agent or AGENT, clock=SystemClock())


def check_browser(options: Options, browser: Mapping[str, Any]) -> None:
    """BadParams where a job wants a browser and there is none, with what to install."""
    if options.browser:
        from holdfast.fetch.browser.executable import find_executable

        find_executable(browser.get("path", ""))


def browser_version(browser: Mapping[str, Any]) -> str:
    """Which browser would be driven, and that it starts; BadParams says what is missing."""
    from holdfast.fetch.browser.executable import find_executable, version_of

    executable = find_executable(browser.get("path", ""))
    return f"{version_of(executable)} ({executable})"
