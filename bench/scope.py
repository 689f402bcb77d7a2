"""Where and with what it was measured: a number without its scope is a rumour."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import sqlite3
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.contestants.scripts import PYTHON

PEERS = ("aiohttp", "scrapy", "selectolax", "twisted")
OURS = ("holdfast", "pycurl", "ada-url")
ASK = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"


def scope(root: Path, folder: Path) -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1),
        "system": _system(),
        "kernel": platform.release(),
        "filesystem": _said("stat", "-f", "-c", "%T", str(folder)),
        "python": platform.python_version(),
        "versions": {
            **{name: version(name) for name in OURS},
            "sqlite": sqlite3.sqlite_version,
            "nginx": re.sub(r".*nginx/(\S+).*", r"\1", _said("nginx", "-v"), flags=re.DOTALL),
            **_peers(),
        },
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _said("git", "-C", str(root), "rev-parse", "--short=12", "HEAD"),
        "changed": bool(_said("git", "-C", str(root), "status", "--porcelain", "--", "src", "bench")),
    }


def _cpu() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _peers() -> dict[str, str]:
    if not PYTHON.exists():
        return {}
    found: dict[str, str] = json.loads(_said(str(PYTHON), "-c", ASK, *PEERS))
    return found


def _said(*argv: str) -> str:
    """What a command prints, on either stream; empty where it is not there."""
    environ = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin"}
    try:
        ended = subprocess.run(argv, check=False, capture_output=True, text=True, env=environ)
    except FileNotFoundError:
        return ""
    return (ended.stdout or ended.stderr).strip()
