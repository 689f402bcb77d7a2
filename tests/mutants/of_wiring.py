"""Mutants of `wiring` and `clock`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a lost ledger is begun anew",
        "a crawl is not begun anew in silence beside the pages of a ledger that was lost",
        "wiring/ledgers.py",
        (("    has_bodies = settings.segments.is_dir() and not all(", "    has_bodies = False and not all("),),
        "cli/test_damaged_ledger.py -k 'lost_ledger_is_refused'",
    ),
    Mutant(
        "a data folder that all can read",
        "a new data folder is its owner's alone (SEC-09)",
        "wiring/ledgers.py",
        (("            make_directory(folder, mode=PRIVATE)\n", "            make_directory(folder)\n"),),
        "cli/test_access.py -k 'owners_alone'",
    ),
    Mutant(
        "begun without descriptors",
        "under a limit that leaves no room nothing is begun, and that is said (D5)",
        "wiring/sessions.py",
        (("    room = descriptors.make_room(slots)\n", "    room = max(1, descriptors.make_room(slots))\n"),),
        "cli/test_descriptors.py -k 'nothing_can_be_fetched'",
        hangs=True,
    ),
    Mutant(
        "moments in the time of this computer",
        "every time that is shown or exported is in UTC (manual world, line 11)",
        "clock.py",
        (
            (
                "datetime.fromtimestamp(wall_ms / 1000, tz=UTC)",
                "datetime.fromtimestamp(wall_ms / 1000).replace(microsecond=0)",
            ),
        ),
        "demo/test_manual.py -k 5_11",
    ),
)
