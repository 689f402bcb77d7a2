"""`make hostile`: plays every behaviour, prints what came of each, and keeps it for docs/hostile-web.md.

Words choose those whose names contain one of them. With `--keep` they take their places among the rows that are kept,
each with the day and the commit that it was played at.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from web.behaviours import BEHAVIOURS
from web.play import COMMAND_S_MAX, Outcome, played

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "hostile-web.json"


def main(words: list[str]) -> int:
    keeps, words = "--keep" in words or not words, [word for word in words if word != "--keep"]
    chosen = [row for row in BEHAVIOURS if not words or any(word in row.name for word in words)]
    began, rows, wrong = monotonic(), list[dict[str, Any]](), 0
    with tempfile.TemporaryDirectory() as folder, played(chosen, Path(folder), at_once=2) as found:
        for outcome in (found[row.name].result(COMMAND_S_MAX * 10) for row in chosen):
            wrong += bool(outcome.wrong)
            rows.append(_row(outcome))
            print(f"{outcome.behaviour.what:45} {outcome.ended:22} {outcome.seconds:5.1f} s {outcome.rss_mb:4.0f} MB")
            for sentence in outcome.wrong:
                print(f"    wrong: {sentence}")
    print(f"{len(rows)} behaviours, {wrong} wrong, {monotonic() - began:.0f} s")
    if keeps and not wrong:
        kept = {**_scope(), "rows": rows} if not words else _among_others(rows)
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return min(wrong, 1)


def _among_others(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What was kept, with these rows in their places."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    scope = _scope()
    played = {row["what"]: {**row, "at": scope["at"], "commit": scope["commit"]} for row in rows}
    every = {row["what"]: row for row in kept["rows"]} | played
    return {**kept, "rows": [every[row.what] for row in BEHAVIOURS if row.what in every]}


def _row(outcome: Outcome) -> dict[str, Any]:
    row = outcome.behaviour
    return {
        "group": row.group,
        "what": row.what,
        "ends": outcome.ended,
        "because": outcome.reason.partition("; attempt")[0],
        "asked": outcome.asked,
        "seconds": round(outcome.seconds, 1),
        "rss_mb": round(outcome.rss_mb),
        "neighbour": outcome.neighbour,
    }


def _scope() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "load": round(os.getloadavg()[1], 1),  # above 2 or 3, the computer did other work meanwhile
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
