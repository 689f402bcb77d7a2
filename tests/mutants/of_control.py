"""Mutants of `control`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "half a cancel before a snapshot",
        "a cancel that a dead worker owed ends with nothing left pending",
        "control/snapshot.py",
        (("        acknowledged(ledger, job)\n", "        ledger.acknowledge(job.id, is_dead=is_dead)\n"),),
        "snapshots/test_refusals.py -k the_dead_owed",
    ),
    Mutant(
        "sha256 of a snapshot not tested",
        "a snapshot of which one byte was changed is refused (D10)",
        "control/restore.py",
        (("        if digest.hexdigest() != part.sha256:", "        if False:"),),
        "snapshots/test_damage.py -k flipped",
    ),
    Mutant(
        "snapshot of a job that moves",
        "the rows of a snapshot belong to one instant (F4)",
        "control/snapshot.py",
        (("    if ledger.standing(job.id) != before:", "    if False:"),),
        "snapshots/test_refusals.py -k changes_while",
    ),
    Mutant(
        "lost pages dropped from a snapshot",
        "a snapshot has every page that its job's results are made of, or there is none (SNP-05)",
        "control/losses.py",
        (("        for page in pages:\n", "        for page in ():\n"),),
        "cli/test_snapshot.py -k served_as_they_were",
    ),
    Mutant(
        "lost bodies dropped from a snapshot",
        "a restored job has every byte that `verify` looks for (SNP-05)",
        "control/losses.py",
        (("        for row in targets:\n", "        for row in ():\n"),),
        "snapshots/test_refusals.py -k though_it_has_no_record",
    ),
    Mutant(
        "lost bytes demanded for ever",
        "a job whose lost pages were fetched again can be carried elsewhere",
        "control/losses.py",
        (
            ("            if counts in self._found:\n                yield self._found[counts]\n", ""),
            ("        for page in pages:\n", "        yield from self._found.values()\n        for page in pages:\n"),
        ),
        "cli/test_snapshot.py -k 'lost_pages and unlink'",
    ),
    Mutant(
        "the loss of an unchanged page",
        "a page that the site called unchanged stands by its last body, and a snapshot has it",
        "control/losses.py",
        (("        if is_lost or target in self._newest:\n", "        if is_lost:\n"),),
        "control/test_losses.py -k unchanged",
    ),
    Mutant(
        "snapshot while somebody works",
        "a job that is being worked is not copied half-way (F4)",
        "control/snapshot.py",
        (
            ("    if owner is not None:\n        raise _worked(job, str(owner))\n", ""),
            ("    if before.held:", "    if False:"),
        ),
        "snapshots/test_refusals.py -k is_worked",
    ),
    Mutant(
        "ids in a snapshot believed",
        "whatever a snapshot says of its ids, no other job's are used up (H13)",
        "control/restore.py",
        (("    snapshot.check_rows()\n", ""),),
        "snapshots/test_damage.py -k 'ids or declared'",
    ),
    Mutant(
        "cancel now waits for pages in hand",
        "`cancel --now` ends a job at once, however long its pages take",
        "control/stopping.py",
        (("    if now:\n", "    if now and job.status != 'in_progress':\n"),),
        "cli/test_control.py -k 'cancel_now'",
    ),
    Mutant(
        "a second crawl in silence",
        "a mode for earlier runs begins no second job of the same inputs",
        "control/submit.py",
        (('OF_EARLIER_RUNS = ("new", "resume")', "OF_EARLIER_RUNS = ()"),),
        "cli/test_starting_again.py -k 'begins_no_second_crawl'",
    ),
    Mutant(
        "a snapshot unpacked without a budget",
        "a small snapshot costs little memory, whatever it unpacks to (SEC-10)",
        "control/unpacking.py",
        (("        if self._left < 0:", "        if False:"), ("            if left < 0:", "            if False:")),
        "snapshots/test_hostile.py -k 'small_file and many'",
    ),
    Mutant(
        "what a snapshot wants is taken unasked",
        "a job from elsewhere reads, runs and reaches nothing here without a word (SEC-10)",
        "control/restore.py",
        (("    _refuse_unasked(snapshot, restore_options)\n", ""),),
        "snapshots/test_hostile.py -k 'needs_a_word'",
    ),
)
