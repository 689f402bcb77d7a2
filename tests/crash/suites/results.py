"""A report as a row that may be published: the numbers, and what they are worth nothing without, their scope."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from crash.suites.suite import Report, Suite
from holdfast.clock import SystemClock, iso
from holdfast.ledger.sqlite import filesystem_of
from tidy.source_tree import ROOT

RESULTS = ROOT / "docs" / "reliability-results.json"


def row(suite: Suite, report: Report, where: dict[str, str]) -> dict[str, Any]:
    """One suite, played once; `where` was asked before it began.

    A bound is given only where nothing failed: a failure is never averaged away.
    """
    return {
        "suite": suite.name,
        "title": suite.title,
        "planned": suite.full,
        "started": report.started,
        "delivered": report.delivered,
        "failures": len(report.failures),
        "failed": [{"seed": trial.seed, "fault": trial.fault} for trial in report.failures],
        "bound": None if report.failures else report.bound,
        "seconds": round(report.seconds),
        "seed": report.seed,
        "command": command(suite.name, report.delivered, report.seed),
        "scope": {"workload": suite.scope, **where},
    }


def command(name: str, trials: int, seed: int) -> str:
    """What repeats it."""
    return f"make crash-long SUITE={name} TRIALS={trials} SEED={seed}"


def merged(path: Path, new: dict[str, Any]) -> str:
    """The file's next text: one row per suite, the newest."""
    rows = {each["suite"]: each for each in json.loads(path.read_text())} if path.exists() else {}
    rows[new["suite"]] = new
    ordered = sorted(rows.values(), key=lambda each: _by_number(each["suite"]))
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def _by_number(name: str) -> tuple[int, str]:
    """T4 before T10."""
    digits = "".join(letter for letter in name.partition("-")[0] if letter.isdigit())
    return int(digits or 0), name


def where_and_when(folder: Path) -> dict[str, str]:
    return {
        "filesystem": filesystem_of(folder),
        "system": f"{platform.system()} {platform.release()}, {os.cpu_count()} cores",
        "python": f"Python {platform.python_version()}",
        "sqlite": f"SQLite {sqlite3.sqlite_version}",
        "at": str(iso(SystemClock().wall_ms() // 1000 * 1000)),
        "commit": _commit(),
    }


def _commit() -> str:
    """The commit that was played, with a mark where the tree had changes of its own. Pages, such as the one that the
    suite before this one has written, are not played."""
    commit = _git("describe", "--always")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return f"{commit or 'unknown'}{'-dirty' if changed else ''}"


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()
