"""The page of attacks: what each did to the release before, and what it does now. Numbers come from a file."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from generator.markdown import page, table

TOLD = "nothing: [said to authors of recipes](write-a-recipe.md)"
NOTHING_YET = "Not played yet: `make bench-attacks`."
COLUMNS = {"0.1.0": "before", "now": "now"}
TITLES = {
    1: "Start pages and links",
    2: "Sitemaps and feeds",
    3: "Pages that are not called HTML",
    4: "Texts and queries",
    5: "What a robots.txt and a page ask for",
    6: "What an export holds",
    7: "Commands and exit codes",
    8: "Headers of an answer",
    9: "A robots.txt that costs time",
    10: "A page in a recipe",
    11: "Packed answers",
    13: "A step that does not let go",
    14: "Sites, secrets and settings",
    15: "Snapshots made to deceive",
    16: "Steps, lists, files and a system that gives little",
}
INTRO = """\
Six documentation sites were crawled with 0.1.0, and some 150 hostile scenes were played against it. What went wrong is
below, once more against that release and against the present code, through the command line, the same words for both.

The first sections are sites and users that mean no harm. Of a site the tables tell how many of its pages were asked
for, the start page among them, and the exit code: with 0 the command says that all went well. Where 0.1.0 has no such
option or field, that is what it answers.

Attacks begin with *A robots.txt that costs time*. Each is one command with limits of time and address space. Times are
processor seconds of the whole command. *Loop* is the longest time for which the event loop was held in one turn:
meanwhile no other host gets a request and no Ctrl-C is heard. Attacks without numbers are told by what came of them.

What is [a hostile web](hostile-web.md) is every behaviour of a site and the ending that it must have; here are the ones
that once had another. Two machines that are called alike, on one PostgreSQL, are a test of their own
(`test_machines_with_one_host_name_share_a_job_and_steal_nothing`)."""


def attacks(path: Path) -> str:
    """The whole page; without a run it says so and gives no number."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return page("Attacks and missed pages, before and now", INTRO, *(_told(kept) if kept else [NOTHING_YET]))


def _told(kept: dict[str, Any]) -> list[str]:
    parts = [
        f"Numbers are of {' and '.join(_systems(kept))}; the computer did other work meanwhile. A command that had "
        f"not ended after {kept['cap_s']} s was killed: its numbers are what it had taken by then. Again: "
        '`make bench-attacks`, and for an older checkout `make bench-attacks ARGS="--tree PATH --as before"`.'
    ]
    for point, members in groupby(kept["table"], key=lambda each: each["point"]):
        rows = [(each, kept["rows"][each["what"]]) for each in members]
        head = ("scene", *(_head(title, when, rows) for title, when in COLUMNS.items()), "kept by")
        parts.append(f"## {TITLES[point]}")
        parts.append(table(head, [_row(*row) for row in rows]))
    return parts


def _systems(kept: dict[str, Any]) -> dict[str, None]:
    rows = (ended for row in kept["rows"].values() for ended in row.values())
    return dict.fromkeys(ended["system"] for ended in rows if "system" in ended)


def _head(title: str, when: str, rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """With what was played, and on which day: not every section was played at once."""
    played = dict.fromkeys(f"{ended[when]['commit']}, {ended[when]['at']}" for _, ended in rows if when in ended)
    return f"{title} ({'; '.join(played)})" if played else title


def _row(each: dict[str, Any], ended: dict[str, Any]) -> tuple[object, ...]:
    what = each["what"].replace("|", "\\|")
    return (
        what,
        *(_shown(ended.get(when)) for when in ("before", "now")),
        f"`{each['guard']}`" if each["guard"] else TOLD,
    )


def _shown(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not played"
    said = str(row["said"])
    if "cpu_s" not in row:
        return said
    more = "" if row["in_time"] else "**not ended**: "
    told = "" if said == "not ended" else f"; {said}"
    return f"{more}{row['cpu_s']:.1f} s, {row['peak_mb']:.0f} MB, loop {row['held_s']:.2f} s{told}"
