"""The page of fault suites gives a number only with its N and its scope, and hides no failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generator.reliability import NOTHING_YET, reliability

ROW: dict[str, Any] = {
    "suite": "T6", "title": "frogs in the dark", "planned": 3000, "started": 310, "delivered": 300, "failures": 0,
    "failed": [], "bound": 0.01, "seconds": 75, "seed": 4, "command": "make crash-long SUITE=T6 TRIALS=300 SEED=4",
    "scope": {
        "workload": "40 ponds", "filesystem": "ext4", "system": "Linux 6", "python": "Python 3", "sqlite": "SQLite 3",
        "at": "2026-01-02T03:04:05Z", "commit": "f409",
    },
}  # fmt: skip


def shown(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "results.json"
    path.write_text(json.dumps(rows))
    return reliability(path)


def test_without_a_result_no_number_is_given(tmp_path: Path) -> None:
    assert NOTHING_YET in reliability(tmp_path / "nothing.json")
    assert "| **" not in reliability(tmp_path / "nothing.json")


def test_a_result_is_given_with_its_n_its_bound_and_where(tmp_path: Path) -> None:
    page = shown(tmp_path, ROW)
    assert "| **T6** | frogs in the dark | 310 | 300 | 0 | < 1 % | 75 | 4 |" in page
    assert (
        "- **T6**: 40 ponds, ext4, Linux 6, Python 3, SQLite 3; 2026-01-02, commit f409. "
        "`make crash-long SUITE=T6 TRIALS=300 SEED=4`\n"
    ) in page


def test_a_failure_is_shown_and_takes_the_bound_away(tmp_path: Path) -> None:
    failed = [{"seed": 17, "fault": "a heron at midnight"}]
    page = shown(tmp_path, ROW | {"failures": 1, "bound": None, "failed": failed})
    assert "| 310 | 300 | 1 | – | 75 | 4 |" in page
    assert "\n  - failed with seed 17: a heron at midnight\n" in page
