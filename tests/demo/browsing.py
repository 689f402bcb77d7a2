"""A page of a real Chromium for tests of worlds. Without one the test fails: a skipped browser proves nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def browser_page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert found, "no Chromium: apt-get install chromium, or name it in CHROMIUM"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--no-proxy-server"]
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        try:
            yield browser.new_page(accept_downloads=True)
        finally:
            browser.close()
