"""Mutants of `wiring`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a lost ledger is begun anew",
        "a crawl is not begun anew in silence beside the pages of a ledger that was lost",
        "wiring.py",
        (("    has_bodies = settings.segments.is_dir() and not all(", "    has_bodies = False and not all("),),
        "cli/test_damaged_ledger.py -k 'lost_ledger_is_refused'",
    ),
    Mutant(
        "a data folder that all can read",
        "a new data folder is its owner's alone (SEC-09)",
        "wiring.py",
        (("            make_directory(folder, mode=PRIVATE)\n", "            make_directory(folder)\n"),),
        "cli/test_access.py -k 'owners_alone'",
    ),
    Mutant(
        "begun without descriptors",
        "under a limit that leaves no room nothing is begun, and that is said (D5)",
        "wiring.py",
        (("    room = descriptors.make_room(slots)\n", "    room = max(1, descriptors.make_room(slots))\n"),),
        "cli/test_descriptors.py -k 'nothing_can_be_fetched'",
        hangs=True,
    ),
    Mutant(
        "broken laws are only told",
        "of a snapshot that breaks a law only damaged checkpoints are restored, and told (SEC-10)",
        "wiring.py",
        (('OF_CHECKPOINTS = "F3."', 'OF_CHECKPOINTS = "F"'),),
        "snapshots/test_hostile.py -k 'break_a_law and sqlite'",
    ),
)
