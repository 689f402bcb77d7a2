"""The page of attacks: every row was played before and now, and what keeps each from coming back is a test."""

from __future__ import annotations

import json

from docs.reading import DOCS
from docs.test_guarantees import existing_tests

KEPT = json.loads((DOCS / "attacks.json").read_text(encoding="utf-8"))
HELD_S_MAX = 0.5
PEAK_MB_MAX = 300


def test_every_attack_was_played_before_and_now_and_its_test_exists() -> None:
    assert {row["point"] for row in KEPT["table"]} == set(range(1, 17)) - {12}  # that one is told in the introduction
    assert len(KEPT["table"]) > 70
    assert {row["guard"] for row in KEPT["table"]} - {""} - existing_tests() == set()
    assert all(KEPT["rows"][row["what"]].keys() == {"before", "now"} for row in KEPT["table"])


def test_no_attack_holds_the_loop_or_fills_the_memory_now() -> None:
    """SEC-07, of the run that is kept: the page would tell of it."""
    taken = [ended["now"] for ended in KEPT["rows"].values() if "cpu_s" in ended["now"]]
    assert len(taken) > 10
    assert all(took["in_time"] for took in taken)
    assert max(took["held_s"] for took in taken) < HELD_S_MAX
    assert max(took["peak_mb"] for took in taken) < PEAK_MB_MAX
