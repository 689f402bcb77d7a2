"""The page of hostile behaviours: what the outside did, how the crawl took it. Numbers come from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from generator.markdown import page, table

NOTHING_YET = "Not played yet: `make hostile`."
HEAD = ("what the site does", "how the page ends", "and why", "requests", "seconds", "peak MB")
INTRO = """\
Sites break every rule there is, some on purpose. Here each behaviour has a made-up host of its own, with a start page
that links to a page behaving so and to a harmless **neighbour**. The real command, `holdfast crawl`, is run on each,
from its start to its end, under a limit on its memory. A row counts only if the page ended as it must, `holdfast
verify` found nothing, and the neighbour was fetched.

*Seconds* and *peak MB* are of the whole command, its start included, two at a time on two cores; a load average above
three says that the computer did other work meanwhile. *Requests* are those for the page by the site's own count. Pages
were tried again where the cause allows it; rows about deadlines were played with `--timeout 1s --max-attempts 1`, those
about a deadline of its own with `HOLDFAST_HTTP__FIRST_BYTE_TIMEOUT=1s` or `HOLDFAST_HTTP__IDLE_TIMEOUT=1s`. Where the
site blocks us the job is what ends: paused by `blocked`, its pages still pending. A page that kills its worker was
played with the same command again and again until it ended by itself.

One million distinct links take more than 10 MB however short they are, so such a page is the row *HTML over 10 MB*;
what becomes of links beyond the 10,000th is the row *500,000 links*. What the codes mean is in
[failure codes](failure-codes.md)."""


def hostile_web(path: Path) -> str:
    """The whole page; without a run it says so and gives no number."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return page("A hostile web", INTRO, *(_told(kept) if kept else [NOTHING_YET]))


def _told(kept: dict[str, Any]) -> Iterator[str]:
    rows = kept["rows"]
    fetched = sum(row["neighbour"] == "succeeded" for row in rows)
    slowest, largest = max(row["seconds"] for row in rows), max(row["rss_mb"] for row in rows)
    yield (
        f"**{len(rows)} behaviours, {fetched} neighbours fetched.** Slowest {slowest:g} s, largest {largest} MB. "
        f"{kept['system']}, load average {kept['load']:g}; {kept['at'][:10]}, commit {kept['commit']}. "
        f"{_later(rows)}Again: `make hostile`."
    )
    for group, members in groupby(rows, key=lambda row: row["group"]):
        yield f"## {group.capitalize()}"
        yield table(HEAD, map(_row, members))


def _later(rows: list[dict[str, Any]]) -> str:
    """Rows that were played at another time than the rest say so."""
    times = sorted({(row["at"][:10], row["commit"]) for row in rows if "commit" in row})
    played = [(sum(row.get("commit") == commit for row in rows), at, commit) for at, commit in times]
    return "".join(f"{n} of them on {at}, commit {commit}. " for n, at, commit in played)


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    because = row["because"].removeprefix(f"{row['ends']}: ").replace("|", "\\|")
    shown = because if len(because) <= 90 else because[:89] + "…"
    return (row["what"], f"`{row['ends']}`", shown, row["asked"], f"{row['seconds']:.1f}", row["rss_mb"])
