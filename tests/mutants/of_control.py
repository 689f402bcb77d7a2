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
        (("    _refuse_unasked(wanted, restore_options)\n", ""),),
        "snapshots/test_hostile.py -k 'needs_a_word'",
    ),
    Mutant(
        "broken laws are only told",
        "of a snapshot that breaks a law only damaged checkpoints are restored, and told (SEC-10)",
        "control/snapshot_file.py",
        (('OF_CHECKPOINTS = "F3."', 'OF_CHECKPOINTS = "F"'),),
        "snapshots/test_hostile.py -k 'break_a_law and sqlite'",
    ),
    Mutant(
        "a new version of a list is only planned by the start that found it",
        "a crash between the sync of a list and the first download loses no new document (DOC-13)",
        "control/documents.py",
        (("    if found.version.file_path in names[-1:]:\n", "    if names and not found.is_new_version:\n"),),
        "control/test_documents.py -k not_planned",
    ),
    Mutant(
        "unchanged bytes are synced as a new version",
        "an unchanged list makes no new version, with an ETag or without one (DOC-03)",
        "control/list_sync.py",
        ((" or (got.body and sha256(got.body).hexdigest() == good.sha256)", ""),),
        "documents/test_judgments_job.py -k unchanged_list",
    ),
    Mutant(
        "rows are left out in silence",
        "rows of a list that give no document are told (DOC-04)",
        "control/list_sync.py",
        (("told=_left_out(place, sounded), ", ""),),
        "documents/test_direct_lists.py -k 'told_with_their_lines'",
    ),
    Mutant(
        "every list is believed",
        "a list that disappears, breaks or doubles is told, and the last good one serves (DOC-04)",
        "control/list_sync.py",
        (("        _refuse_unsound(sounded, good, accept_jump=accept_jump)\n", ""),),
        "documents/test_direct_lists.py -k disappears",
    ),
    Mutant(
        "a snapshot without the lists",
        "a documents job that is restored elsewhere knows every version of its list (SNP-05)",
        "control/list_copies.py",
        (("    if not catalogue.kind_of(job).has_list:\n", "    if job:\n"),),
        "documents/test_snapshots.py -k 'knows_every_version and sqlite'",
    ),
    Mutant(
        "an older list of a snapshot serves",
        "a restore never puts an older list in the place of a newer one",
        "control/list_copies.py",
        (("if line.fetched_at_ms > newest_ms]", "]"),),
        "documents/test_snapshots.py -k follows_the_list",
    ),
    Mutant(
        "lists that somebody sent serve other jobs",
        "a source that is followed here takes newer lists of a snapshot by a word only (SEC-10)",
        "control/restore.py",
        (
            (
                "*(offered.demands(lists) if offered and lists else ())",
                "*()",
            ),
        ),
        "documents/test_snapshots.py -k followed_source",
    ),
    Mutant(
        "an ETag that somebody sent",
        "no line of a snapshot keeps a source from ever seeing a new list (SEC-10)",
        "control/list_copies.py",
        (
            (
                'etag="", last_modified="", ',
                "",
            ),
        ),
        "documents/test_snapshots.py -k 'bear_out and server'",
    ),
    Mutant(
        "a snapshot names lists elsewhere",
        "no line of a snapshot makes a file outside of the data folder a list",
        "control/list_copies.py",
        ((" if came.get(line.file_path) == line.sha256]", "]"),),
        "documents/test_snapshots.py -k 'bear_out and (leads_out or hash)'",
    ),
    Mutant(
        "a webhook takes as many as it asks for",
        "a run that a webhook starts takes 50 new documents at most (NOT-05)",
        "control/webhook.py",
        (("else min(asked, NEW_LIMIT_MAX)", "else asked"),),
        "documents/test_webhook.py -k bounded",
    ),
    Mutant(
        "a clamped limit is not told",
        "a limit that was clamped is an event of the job (NOT-05)",
        "control/webhook.py",
        (("    if clamped(asked):\n", "    if asked == 0:\n"),),
        "documents/test_webhook.py -k command_line",
    ),
    Mutant(
        "a job knows the newest list alone",
        "a crash right after the sync of a list loses no case, also when another version comes in between (DOC-13)",
        "control/documents.py",
        (('    names = list(known.params["versions"]) if known is not None else []\n', "    names: list[str] = []\n"),),
        "control/test_documents.py -k forgets_nothing",
    ),
    Mutant(
        "a list that cannot be had ends the run",
        "a list that cannot be had is told, and the last good one serves (DOC-04)",
        "control/list_sync.py",
        (("        if good is None or require_fresh:\n", "        if judged:\n"),),
        "documents/test_direct_lists.py -k disappears",
    ),
    Mutant(
        "a doubled list is taken",
        "a list that doubled at once is not believed (DOC-04)",
        "control/list_sync.py",
        (
            (
                "    if sounded.rows >= JUMP * good.row_count or sounded.rows * JUMP <= good.row_count:\n",
                "    if sounded.rows * JUMP <= good.row_count:\n",
            ),
        ),
        "documents/test_direct_lists.py -k disappears",
    ),
    Mutant(
        "a list is asked for without conditions",
        "an unchanged list with ETag costs one conditional request (DOC-02)",
        "control/list_look.py",
        (('            conditions.append(("If-None-Match", good.etag))\n', "            pass\n"),),
        "documents/test_judgments_job.py -k unchanged_list",
    ),
    Mutant(
        "a list that was synced again is a new version",
        "a list with the same bytes makes no new version, so a resume finds what is unfinished (worlds 1, line 1)",
        "control/list_sync.py",
        (
            (
                "(got.is_unchanged or (got.body and sha256(got.body).hexdigest() == good.sha256)):\n",
                "got.is_unchanged:\n",
            ),
        ),
        "control/test_documents.py -k forgets_nothing",
    ),
)
