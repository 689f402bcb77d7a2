"""Every mutant, from one table per package of the program; and the core that `make test` plays."""

from __future__ import annotations

import importlib
from pathlib import Path

from mutants.mutant import Mutant

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("of_*.py"))
MUTANTS: tuple[Mutant, ...] = tuple(
    row for table in TABLES for row in importlib.import_module(f"mutants.{table}").MUTANTS
)

# Played with every change, the others by `make mutants`: lines without which saved work is lost, doubled or lied about.
CORE = (
    "no epoch test",
    "epoch before key look-up",
    "batch grows on retry",
    "found links outside the settle",
    "attempts not spent at claim",
    "pause read from the job row",
    "cache learns before commit",
    "commit without FULL",
    "live file not guarded",
    "finished without the books",
    "suspects in company",
    "dead owner not recognised",
    "segment not fsynced before the commit",
    "rename without an fsync of its folder",
    "renewal without its fence",
    "short write taken for a whole one",
    "failed fsync forgiven",
    "claims on a disk that is low",
    "checkpoint's checksum not tested",
    "finished though another worker has a page in hand",
    "claim not bounded by the page limit",
    "pause time counted",
    "robots.txt not obeyed",
    "finished while a walk stands",
    "no undo row",
    "links not judged",
    "bookmarks go back",
    "plan not compared",
)
