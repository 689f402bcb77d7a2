"""Mutants: each removes one protective line and names the test that must then fail.

Production code has no switch that turns safety off, so a mutant is an edit of a copy of the tree. A row whose `old`
text is no longer found exactly once breaks the build, like a mutant that survives.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`guarantee` is what a user loses without the line; `test` must fail, and nothing else is asked of it."""

    name: str
    guarantee: str
    file: str
    edits: tuple[tuple[str, str], ...]
    test: str


MUTANTS = (
    Mutant(
        "no epoch test",
        "a worker that lost its chunk changes nothing (L5)",
        "ledger/claiming.py",
        (
            (
                'STILL_OURS = "id = ? AND epoch = ? AND owner_pid IS NOT NULL"',
                'STILL_OURS = "id = ? AND ? > 0 AND owner_pid IS NOT NULL"',
            ),
        ),
        "ledger/test_conformance_settling.py -k 'sqlite and TestFence'",
    ),
    Mutant(
        "epoch before key look-up",
        "a settle whose reply was lost is not taken for a lost lease (E8)",
        "ledger/settling.py",
        (
            ("    known = _replayed(tx, batch)\n", "    known = None\n"),
            ('return _replayed(tx, batch) or Answer("lost")', 'return Answer("lost")'),
        ),
        "ledger/test_conformance_settling.py -k 'sqlite and TestKey'",
    ),
    Mutant(
        "batch grows on retry",
        "a page that joined a repeated batch is never acked unstored (ledger.md g1)",
        "ledger/settling.py",
        (("    if bytes(row[1]) != batch.digest:\n", "    if not row:\n"),),
        "ledger/test_conformance_races.py -k 'sqlite and g1'",
    ),
    Mutant(
        "found links outside the settle",
        "a page recorded as done has its links stored with it (FRO-03)",
        "ledger/sql.py",
        (
            (
                "        return self._write(verb, lambda tx: settling.settle(tx, job, batches, wish, checkpoint))\n",
                "        import msgspec\n"
                "        from holdfast.ledger import links\n"
                "        bare = [msgspec.structs.replace(batch, verdicts=tuple(msgspec.structs.replace(v, found=()) "
                "for v in batch.verdicts)) for batch in batches]\n"
                "        answer = self._write(verb, lambda tx: settling.settle(tx, job, bare, wish, checkpoint))\n"
                "        rows = [(b.chunk, b.no, v.target, f) for b in batches for v in b.verdicts for f in v.found]\n"
                "        phases = {b.chunk: answer.answers[b.chunk].phase for b in batches}\n"
                '        self._write("links", lambda tx: links.insert_found(tx, job, rows, phases))\n'
                "        return answer\n",
            ),
        ),
        "engine/test_group.py -k 'links_are_stored_in_the_commit_of_their_page'",
    ),
    Mutant(
        "attempts not spent at claim",
        "a page that kills its worker is counted (TGT-06)",
        "ledger/claiming.py",
        (("SET state = 3, attempts = attempts + 1, held_epoch", "SET state = 3, held_epoch"),),
        "ledger/test_conformance_settling.py -k 'sqlite and test_a_claim_spends_an_attempt'",
    ),
    Mutant(
        "pause read from the job row",
        "no page is claimed after a pause was acked (L11)",
        "ledger/jobs.py",
        (
            ('        tx.run("UPDATE chunk SET requested = ? WHERE id = ?", (action, chunk))\n', "        pass\n"),
            ("ORDER BY id {tx.lock('chunk')}\", (job,)):", 'ORDER BY id", (job,)):'),
        ),
        "ledger/test_pause_race.py",
    ),
    Mutant(
        "cache learns before commit",
        "a link of a refused settle is brought again by the next page (FRO-03)",
        "engine/group.py",
        (
            (
                "        found = tuple(item for item in verdict.found if item.key not in self.targets)\n",
                "        found = tuple(item for item in verdict.found if item.key not in self.targets)\n"
                "        self.targets.learn(item.key for item in found)\n",
            ),
        ),
        "engine/test_group.py -k 'test_race_g7'",
    ),
    Mutant(
        "commit without FULL",
        "an acked commit survives a power cut (C1)",
        "ledger/sqlite.py",
        (('    "synchronous": "FULL",\n', '    "synchronous": "NORMAL",\n'),),
        "ledger/test_sqlite_file.py -k 'settings'",
    ),
    Mutant(
        "live file not guarded",
        "no Python code drops the ledger's locks by opening its file (D1)",
        "ledger/sqlite.py",
        (("        guard(path)\n", ""),),
        "ledger/test_sqlite_file.py -k 'live_ledger'",
    ),
    Mutant(
        "finished without the books",
        '"finished" is said only when nothing is pending (L10)',
        "ledger/finishing.py",
        (("    if drained is None or not drained[0]:\n", "    if drained is None:\n"),),
        "ledger/test_conformance_planning.py -k 'sqlite and TestFinish'",
    ),
    Mutant(
        "suspects in company",
        "one killer does not spend its neighbours' attempts (TGT-06)",
        "policy/recovery.py",
        (("        return Rescue(State.SOLO, True, deaths)\n", "        return Rescue(State.READY, True, deaths)\n"),),
        "engine/test_session.py -k 'suspects'",
    ),
    Mutant(
        "dead owner not recognised",
        "a crashed worker's chunks are free at once, not after the lease's life (E6)",
        "engine/liveness.py",
        (("    return _started(owner.pid) not in (owner.started, HIDDEN)\n", "    return False\n"),),
        "engine/test_liveness.py",
    ),
    Mutant(
        "depth limit without levels",
        "a page within the depth limit is fetched whichever way to it answers first (FRO-04)",
        "recipes/site/recipe.py",
        (('        return params.get("max_depth") is not None\n', "        return False\n"),),
        "engine/test_session.py -k 'depth_limit'",
    ),
    Mutant(
        "body not fsynced before the commit",
        "a row never refers to bytes that are not on the disk (F1)",
        "blobs/segments.py",
        (("        self._disk.fdatasync(self._descriptor)\n", "        pass\n"),),
        "blobs/test_segments.py -k 'a_group_costs_one_fsync'",
    ),
    Mutant(
        "checkpoints do not take turns",
        "two workers whose checkpoints are due at once both settle (F3)",
        "ledger/books.py",
        (("    tx.take_turns(job)\n", ""),),
        "ledger/test_checkpoint_race.py -k 'waits'",
    ),
    Mutant(
        "company joins a suspect",
        "random kills poison nobody: a page counts as alone only when it was (TGT-06)",
        "engine/worker.py",
        (("        if self._alone:\n", "        if False:\n"),),
        "crash/test_random_kills.py -k 'nothing_else_in_flight'",
    ),
    Mutant(
        "a failed job keeps its failed seeds",
        "after the cause was mended, the same command goes on (JOB-03)",
        "ledger/jobs.py",
        (('    if step.source == "failed":\n', "    if not step:\n"),),
        "engine/test_session.py -k 'goes_on_after_the_cause'",
    ),
    Mutant(
        "dead slots are not given back",
        "a killed job does not keep a host from the others",
        "engine/control.py",
        (("        if any(holder.lapsed or is_dead(holder.owner) for", "        if job is None and any(holder for"),),
        "engine/test_session.py -k 'another_jobs_dead_worker'",
    ),
    Mutant(
        "delay from the claim only",
        "two fetches to a host are never sooner than the delay less its jitter",
        "engine/worker.py",
        (("            elif self.pace.wait_ms(claimed.host, now) > 0:\n", "            elif not claimed:\n"),),
        "engine/test_worker_pace.py -k 'not_sent_together'",
    ),
    Mutant(
        "the queue ignores patience",
        "what is queued is not sent to a host that has just asked for patience",
        "engine/worker.py",
        (("            if self.pace.is_held(claimed.host, now):\n", "            if not claimed:\n"),),
        "engine/test_worker_pace.py -k 'handed_back_unsent'",
    ),
    Mutant(
        "fetches of a lost chunk go on",
        "a worker that lost a page stops asking the site for it (E5)",
        "engine/worker.py",
        (("                self._running[target].cancel()\n", "                pass\n"),),
        "engine/test_session.py -k 'lost_chunk_are_given_up'",
    ),
    Mutant(
        "stored links are sent again",
        "links that every page repeats cost no look-up",
        "engine/group.py",
        (("in verdict.found if item.key not in self.targets)", "in verdict.found)"),),
        "engine/test_group.py -k 'not_sent_again'",
    ),
    Mutant(
        "results over the ledger",
        "an export never takes the place of the ledger or the pages",
        "cli/outputs.py",
        (("    if folder in real.parents and real", "    if not path and real"),),
        "cli/test_looking.py -k 'never_lands'",
    ),
)
