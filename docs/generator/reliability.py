"""The page of fault suites: what each did to the program, how often, and what came of it. Numbers come from a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator.markdown import page, table

NOTHING_YET = "No suite has been played at length yet: `make crash-long`."
HEAD = ("suite", "what is done to it", "started", "delivered", "failed", "bound, 95 %", "seconds", "seed")
INTRO = """\
A **trial** is a fresh seed, a fault that was *delivered* (a trace, a signal or a log shows it), and checkers that ran
afterwards. Most trials end with the differential oracle: the same command is run again, and in the end every page, its
bytes, the export and the books must be those of a crawl that nobody disturbed; `holdfast verify` must be content; and
by the site's own log no page was asked for that was already recorded as done.

*Started*, *delivered* and *failed* are three numbers: a fault that missed its moment is no trial, and a suite that was
not run has no row here. N trials without a failure mean, at 95 %, a rate below about 3/N per trial. Suites that go
through a list (every k-th system call, every fault point) have no such bound where they were played to their end: then
the list is the claim. After a failure N starts again at zero.

`make crash` plays every suite at a small size, with every change; `make crash-long` plays them at length and writes
this table. That the checks can fail is shown by the [mutants](guarantees.md#the-mutants)."""


def reliability(path: Path) -> str:
    """The whole page; without results it says so and gives no number."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return page("What was done to it", INTRO, *(_told(rows) if rows else [NOTHING_YET]))


def _told(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [table(HEAD, map(_row, rows)), "## Scope and repetition", *map(_scope, rows)]


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    bound = "–" if row["bound"] is None else f"< {100 * row['bound']:.2g} %"
    numbers = (row["started"], row["delivered"], row["failures"], bound, row["seconds"], row["seed"])
    return (f"**{row['suite']}**", row["title"], *numbers)


def _scope(row: dict[str, Any]) -> str:
    scope = row["scope"]
    where = ", ".join(scope[name] for name in ("workload", "filesystem", "system", "python", "sqlite"))
    failed = "".join(f"\n  - failed with seed {each['seed']}: {each['fault']}" for each in row["failed"])
    return f"- **{row['suite']}**: {where}; {scope['at'][:10]}, commit {scope['commit']}. `{row['command']}`{failed}"
