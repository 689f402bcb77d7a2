"""How a browser is kept within bounds: its deadlines, how many pages it has open, when it is replaced by a new one."""

from __future__ import annotations

import msgspec


class BrowserLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The settings `browser.*`, and the budgets of a job that they meet."""

    path: str = ""  # of the executable; empty: looked for
    sandbox: bool = True
    nav_timeout_s: float = 25.0
    quiet_s: float = 0.3  # without any request, until a page counts as loaded
    settle_wait_s: float = 0.0
    selector_timeout_s: float = 20.0
    click_timeout_s: float = 5.0
    post_click_wait_s: float = 0.0
    pages: int = 4  # at once
    recycle_pages: int = 500
    recycle_mb: int = 1500
    process_mb: int = 2000  # of a page, or any other process of the browser
    images: bool = False
    connect_s: float = 10.0
    idle_s: float = 20.0
    bytes_max: int = 50_000_000  # of the rendered page, and of one connection
