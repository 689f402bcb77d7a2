"""Blocks of evidence: what the selftest measured, what `verify` checks, and which test catches which mutant."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator.markdown import table

from holdfast.audit.checks import CHECKS
from holdfast.audit.invariants import INVARIANTS
from holdfast.audit.verify import check_names

NOTHING_YET = "Not measured yet for this version. Measure it on your own computer: `holdfast selftest --kill 20`."
HEAD = ("ledger", "pages", "kills", "lost", "doubled", "fetched again", "once done", "restart, p95", "where and when")
LEGEND = """\
*Kills* are SIGKILLs delivered to the crawling process at random moments; with several, to one worker and to all in
turns. *Fetched again* are pages that were in flight when it died; *once done* are pages asked for although they were
recorded as done; *restart* is the time from starting the command again to its first request. N kills without a loss
mean, at 95 %, a rate below about 3/N per kill. Each row is the output of `holdfast selftest --json`, kept in
[docs/selftest-results.json](docs/selftest-results.json)."""


def read_results(path: Path) -> list[dict[str, Any]]:
    """The documents of `holdfast selftest --json`, one after the other; none where nothing was measured yet."""
    if not path.exists():
        return []
    text, found = path.read_text(encoding="utf-8").strip(), []
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found


def measured(results: Sequence[dict[str, Any]]) -> str:
    """Every number with its N, its bound, and where it was measured; no number where nothing was."""
    return f"{table(HEAD, map(_result, results))}\n{LEGEND}" if results else NOTHING_YET


def _result(result: dict[str, Any]) -> tuple[object, ...]:
    scope, again, bound = result["scope"], result["fetched_again"], result["loss_per_kill_below"]
    return (
        scope["ledger"] + (f", {result['processes']} processes" if result.get("processes", 1) > 1 else ""),
        result["pages"],
        result["kills"]["delivered"],
        f"{result['lost']} (< {bound:.2g} per kill)" if bound and not result["lost"] else result["lost"],
        result["doubled"],
        f"{again['total']}, at most {again['max_per_kill']} per kill",
        result["fetched_once_done"],
        f"{result['restart_to_first_fetch_s']['p95']:.2f} s",
        f"{scope['system']}, {scope['python']}, {scope['lease']}, {scope['at'][:10]}",
    )


def laws() -> str:
    """What `holdfast verify` checks, in its own order."""
    says = {law.name: law.says for law in INVARIANTS} | {check.name: check.says for check in CHECKS}
    return table(("law", "says"), [(f"`{name}`", says[name]) for name in check_names()])


def mutants(path: Path) -> str:
    rows = [(f"`{row.name}`", _plain(row.guarantee), f"`{row.test}`") for row in read_mutants(path)]
    return table(("mutant", "what its line protects", "caught by"), rows)


def _plain(guarantee: str) -> str:
    """Without the number of a requirement; that of a law stays, since the laws are on the same page."""
    return re.sub(r" \((?![LF]\d+\))[^()]*\)$", "", guarantee)


def read_mutants(path: Path) -> tuple[Any, ...]:
    """The table of mutants. The tests are not an installed package, so their folder is made importable here."""
    if str(path.parents[1]) not in sys.path:
        sys.path.append(str(path.parents[1]))
    return tuple(importlib.import_module("mutants.mutants").MUTANTS)
