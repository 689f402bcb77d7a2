"""The bars that were set before anything was measured, and whether the numbers clear them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CHECKPOINT_MS_MAX = 0.3
CHECKPOINT_SHARE_MAX = 0.03
SCRIPT_CPU_MAX = 0.75
SCRIPT_RATE_MIN = 1.5
SCRAPY_RATE_MIN = 15.0
READER_SLOWER_MAX = 0.1
PROCESSES_CPU_MAX = 1.15
PROCESSES_RATE_MIN = 1.25
PROCESSES_BUSY_MIN = 0.9


@dataclass(frozen=True, slots=True)
class Target:
    says: str
    measured: str
    met: bool


def targets(results: dict[str, Any]) -> list[Target]:
    """Those for which there are numbers."""
    rows = {row["contestant"]: row for row in results["rows"]}
    return [
        *_speed(rows),
        *_checkpoints(results.get("checkpoints") or []),
        *_processes(rows.get("processes")),
        *_reader(rows),
    ]


def _speed(rows: dict[str, dict[str, Any]]) -> Iterator[Target]:
    holdfast, scrapy = rows.get("holdfast"), rows.get("scrapy")
    if holdfast and holdfast["against"]:
        cpu, rate = holdfast["against"]["cpu_per_1000"], holdfast["against"]["pages_per_s"]
        yield Target(
            f"CPU per 1000 pages ≤ {SCRIPT_CPU_MAX} × the hand-written script's, which keeps nothing",
            f"{cpu:.2f} ×",
            cpu <= SCRIPT_CPU_MAX,
        )
        yield Target(f"≥ {SCRIPT_RATE_MIN} × its pages/s", f"{rate:.2f} ×", rate >= SCRIPT_RATE_MIN)
    if scrapy and scrapy["against_holdfast"]:
        times = 1 / scrapy["against_holdfast"]["pages_per_s"]
        yield Target(f"≥ {SCRAPY_RATE_MIN:g} × Scrapy JOBDIR's pages/s", f"{times:.1f} ×", times >= SCRAPY_RATE_MIN)


def _checkpoints(sizes: list[dict[str, Any]]) -> Iterator[Target]:
    for size in sizes:
        wall_ms, crawl = size["settles"]["wall_ms_median"], size["crawl"]
        share = crawl["cpu_s"] / crawl["process_cpu_s"]
        yield Target(
            f"a checkpoint inside a settle, {size['targets']:,} targets: median ≤ {CHECKPOINT_MS_MAX} ms",
            f"{wall_ms:.2f} ms",
            wall_ms <= CHECKPOINT_MS_MAX,
        )
        yield Target(
            f"checkpoints' share of the crawl's CPU, {size['targets']:,} targets: ≤ {CHECKPOINT_SHARE_MAX:.0%}",
            f"{share:.2%}",
            share <= CHECKPOINT_SHARE_MAX,
        )


def _processes(row: dict[str, Any] | None) -> Iterator[Target]:
    against = row and row["against_holdfast"]
    if not row or not against:
        return
    cpu, rate, busy = against["cpu_per_1000"], against["pages_per_s"], row["busy_share"]
    yield Target(
        f"two processes: CPU per 1000 pages ≤ {PROCESSES_CPU_MAX} × one process's",
        f"{cpu:.2f} ×",
        cpu <= PROCESSES_CPU_MAX,
    )
    yield Target(
        f"two processes: ≥ {PROCESSES_RATE_MIN} × one process's pages/s, or all cores ≥ {PROCESSES_BUSY_MIN:.0%} busy",
        f"{rate:.2f} ×, {busy:.0%} busy",
        rate >= PROCESSES_RATE_MIN or busy >= PROCESSES_BUSY_MIN,
    )


def _reader(rows: dict[str, dict[str, Any]]) -> Iterator[Target]:
    reader = rows.get("reader", {}).get("reader")
    if reader:
        yield Target(
            "every reading of a running crawl balances",
            f"{reader['unbalanced']} of {reader['polls']} did not",
            reader["unbalanced"] == 0 and reader["readings"] > 1,
        )
    against = rows.get("reader", {}).get("against_holdfast")
    if against:
        slower = 1 - against["pages_per_s"]
        yield Target(
            f"a reader that asks ten times a second slows the crawl by < {READER_SLOWER_MAX:.0%}",
            f"{slower:.0%}",
            slower < READER_SLOWER_MAX,
        )
