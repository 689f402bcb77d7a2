"""The results as a table on the terminal. Text only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.targets import Target

HEAD = (
    "",
    "pages/s",
    "CPU s/1000",
    "apart",
    "start-up",
    "MB",
    "busy",
    "others",
    "pages/s vs aiohttp",
    "CPU vs",
    "apart",
)


def shown(results: dict[str, Any], found: Sequence[Target]) -> str:
    rows = [HEAD, *(_row(row) for row in results["rows"])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = [_line(row, widths) for row in rows] if results["rows"] else []
    lines += [f"{row['contestant']}: {_facts(row)}" for row in results["rows"] if _facts(row)]
    lines += [f"{'met ' if target.met else 'MISS'}  {target.says}: {target.measured}" for target in found]
    profile = results.get("profile") or {"rows": []}
    lines += [f"{row['share']:6.1%}  {row['thread']:9} {row['function']}  {row['where']}" for row in profile["rows"]]
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    against = row["against"] or {}
    ratios = [against.get(name) for name in ("pages_per_s", "cpu_per_1000", "cpu_per_1000_apart")]
    return (
        row["title"], f"{row['pages_per_s']:.0f}", f"{row['cpu_per_1000']:.3f}", f"{row['cpu_per_1000_apart']:.3f}",
        f"{row['startup_cpu_s']:.2f} s", f"{row['peak_mb']:.0f}", f"{row['busy_share']:.0%}",
        f"{row['others_share_max']:.0%}", *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
    )  # fmt: skip


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
    return "  ".join(cells).rstrip()


def _facts(row: dict[str, Any]) -> str:
    names = ("wal_mb_max", "stored_mb", "postgres_cpu_s", "lock_wait_ms", "reader")
    return ", ".join(f"{name} {_value(row[name])}" for name in names if name in row)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_value(one)}" for name, one in value.items())
    return f"{value:.2f}" if isinstance(value, float) else str(value)
