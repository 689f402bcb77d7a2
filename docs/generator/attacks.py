"""The page of attacks: what each did to the release before, and what it does now. Numbers come from a file."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from generator.markdown import page, table

TOLD = "nothing: [said to authors of recipes](write-a-recipe.md)"
NOTHING_YET = "Not played yet: `make bench-attacks`."
HEAD = ("attack", "0.1.0", "now", "kept by")
TITLES = {
    9: "robots.txt",
    10: "A page in a recipe",
    11: "Packed answers",
    13: "A step that does not let go",
    14: "Sites, secrets and settings",
    15: "Snapshots made to deceive",
    16: "Steps, lists, files and a system that gives little",
}
INTRO = """\
Some 150 hostile scenes were played against 0.1.0; those that did harm are below, once more against that release and
against the present code, through the command line, the same words for both. Each is one command with limits of time and
address space. Times are processor seconds of the whole command. *Loop* is the longest time for which the event loop was
held in one turn: meanwhile no other host gets a request and no Ctrl-C is heard. Attacks without numbers are told by
what came of them.

What is [a hostile web](hostile-web.md) is every behaviour of a site and the ending that it must have; here are the ones
that once had another. Two machines that are called alike, on one PostgreSQL, are a test of their own
(`test_machines_with_one_host_name_share_a_job_and_steal_nothing`)."""


def attacks(path: Path) -> str:
    """The whole page; without a run it says so and gives no number."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return page("Attacks, before and now", INTRO, *(_told(kept) if kept else [NOTHING_YET]))


def _told(kept: dict[str, Any]) -> list[str]:
    before, now = (kept["played"][when] for when in ("before", "now"))
    parts = [
        f"0.1.0 is commit {before['commit']}, played {before['at'][:10]}; *now* is commit {now['commit']}, "
        f"{now['at'][:10]}. {kept['system']}; the computer did other work meanwhile. A command that had not ended "
        f"after {kept['cap_s']} s was killed: its numbers are what it had taken by then. Again: `make bench-attacks`, "
        'and for an older checkout `make bench-attacks ARGS="--tree PATH --as before"`.'
    ]
    for point, members in groupby(kept["table"], key=lambda each: each["point"]):
        parts.append(f"## {TITLES[point]}")
        parts.append(table(HEAD, [_row(each, kept["rows"][each["what"]]) for each in members]))
    return parts


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
