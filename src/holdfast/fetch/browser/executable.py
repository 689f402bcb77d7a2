"""Which Chromium is driven: one that is on this computer already. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec

from holdfast.errors import BadParams
from holdfast.model.spelling import install

# The headless shell first: it is lighter, and asks no server of its maker for anything.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EXTRA = install("browser")
PACKAGE = "apt-get install chromium"
VERSION_S_MAX = 30


def find_executable(path: str = "") -> str:
    """The path of a Chromium; BadParams says what is missing, and how it is got."""
    if find_spec("playwright") is None:
        raise BadParams("--browser needs Playwright, which is not installed", hint=EXTRA)
    if path:
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
        raise BadParams(f"browser.path: {path} is not a program that can be started", hint=PACKAGE)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise BadParams(
            "--browser needs Chromium, which is not installed", hint=f"{PACKAGE}, or HOLDFAST_BROWSER__PATH=FILE"
        )
    return found


def version_of(executable: str) -> str:
    """What it says of itself; BadParams where it cannot be started."""
    try:
        done = subprocess.run(
            [executable, "--version"], capture_output=True, text=True, timeout=VERSION_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadParams(f"{executable} cannot be started: {error}") from error
    if done.returncode:
        raise BadParams(f"{executable} cannot be started: {(done.stderr or done.stdout).strip()[:200]}")
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else executable
