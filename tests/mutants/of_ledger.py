"""Mutants of `ledger`."""

from __future__ import annotations

from mutants.mutant import Mutant

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
            ("    known = None if is_next else _replayed(tx, batch)\n", "    known = None\n"),
            ('return _replayed(tx, batch) or Answer("lost")', 'return Answer("lost")'),
        ),
        "ledger/test_conformance_settling.py -k 'sqlite and TestKey'",
    ),
    Mutant(
        "overwritten rows taken for what they were",
        "the lists of a checkpoint stay as they were, whatever was retried or excluded since (CHK-04)",
        "ledger/views_asof.py",
        (
            (
                "AND {'' if settled else 'NOT '}({_DONE} OR EXISTS (SELECT 1 {_DONE_THEN}))",
                "AND {'' if settled else 'NOT '}{_DONE}",
            ),
        ),
        "ledger/test_conformance_looks.py -k 'sqlite and overwrote'",
    ),
    Mutant(
        "lists as of now",
        "what was found after a checkpoint is not in its lists (CHK-09)",
        "ledger/views_asof.py",
        (("v.no >= t.found_no", "v.no >= 0"),),
        "ledger/test_conformance_looks.py -k 'sqlite and stay_as_they_were'",
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
                "        return self._write(verb, lambda tx: settling.settle(tx, job, batches, wish, checkpoint, "
                "per_host_max))\n",
                "        import msgspec\n"
                "        from holdfast.ledger import links\n"
                "        bare = [msgspec.structs.replace(batch, verdicts=tuple(msgspec.structs.replace(v, found=()) "
                "for v in batch.verdicts)) for batch in batches]\n"
                "        answer = self._write(verb, lambda tx: settling.settle(tx, job, bare, wish, checkpoint))\n"
                "        rows = [(b.chunk, b.no, v.target, f) for b in batches for v in b.verdicts for f in v.found]\n"
                "        phases = {b.chunk: answer.answers[b.chunk].phase for b in batches}\n"
                '        self._write("links", lambda tx: links.add_todo(tx, links.insert_found(tx, job, rows, '
                "phases)))\n"
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
        "migration without a transaction",
        "a migration is whole or has not happened (D12)",
        "ledger/sqlite.py",
        (
            (
                '        self._connection.execute("BEGIN IMMEDIATE")\n        try:\n            if (self._version()',
                "        try:\n            if (self._version()",
            ),
            (
                '                self._stamp(version)\n            self._connection.execute("COMMIT")\n',
                "                self._stamp(version)\n",
            ),
        ),
        "crash/test_suites.py -k 'T11-0'",
    ),
    Mutant(
        "finished without the books",
        '"finished" is said only when nothing is pending (L10)',
        "ledger/advancing.py",
        (("zip(PHASES, row[2:], strict=True) if is_busy)", "zip(PHASES, row[2:], strict=True) if not is_busy < 2)"),),
        "ledger/test_conformance_planning.py -k 'sqlite and TestFinish'",
    ),
    Mutant(
        "checkpoints do not take turns",
        "two workers whose checkpoints are due at once both settle (F3)",
        "ledger/settling.py",
        (("    if checkpoint or per_host_max or (wish", "    if per_host_max or (wish"),),
        "ledger/test_checkpoint_race.py -k 'waits'",
    ),
    Mutant(
        "a suspect claimed as it was seen",
        "an exclusion that meets the claim of a suspect loses no other target",
        "ledger/claiming.py",
        (('"t.id = ? AND t.state = 2", (target,)', '"t.id = ?", (target,)'),),
        "ledger/test_suspect_race.py",
    ),
    Mutant(
        "a failed job keeps its failed seeds",
        "after the cause was mended, the same command goes on (JOB-03)",
        "ledger/jobs.py",
        (('    if step.source == "failed":\n', "    if not step:\n"),),
        "engine/test_session.py -k 'goes_on_after_the_cause'",
    ),
    # Going back to a checkpoint.
    Mutant(
        "epochs stay in a rollback",
        "who worked a job that was rolled back changes nothing more, however late (E18)",
        "ledger/rolling_back.py",
        (("SET epoch = epoch + 1, no = no + 1", "SET no = no + 1"),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and idle_chunk'",
    ),
    Mutant(
        "what was found since stays",
        "a rollback brings the counts of its checkpoint (C12)",
        "ledger/reverting.py",
        (("    drops = _drop_found(tx, job, control, commits)\n", "    drops = 0\n"),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and counts_of_the_checkpoint'",
    ),
    Mutant(
        "before-images forgotten",
        "what was retried since a checkpoint stands again as it stood",
        "ledger/reverting.py",
        (("_then(images.get(row[0], row[3:]), ", "_then(row[3:], "),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and retried_since'",
    ),
    Mutant(
        "any before-image taken for the oldest",
        "what was rescanned twice stands again as it stood first, whatever the clock said (E13)",
        "ledger/reverting.py",
        (("target: min(images, key", "target: max(images, key"),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and rescanned_twice'",
    ),
    Mutant(
        "nobody's id comes back as a page",
        "a rollback to before a rescan brings the counts of its checkpoint, and the job can end (C12)",
        "ledger/reverting.py",
        (('AND +t.job = ? ORDER BY t.id"\n    rows', 'AND ? > 0 ORDER BY t.id"\n    rows'),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and rescanned_since'",
    ),
    Mutant(
        "a limit that no version counts",
        "a job's version is the number of its events (L12)",
        "ledger/hosts.py",
        (('        tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))\n', ""),),
        "ledger/test_conformance_hosts.py -k 'sqlite and jobs_it_concerns'",
    ),
    Mutant(
        "a full disk by one name only",
        "a disk that fills up is said to be full, with exit code 14 (D1)",
        "ledger/sqlite.py",
        ((" or (_code(error) == sqlite3.SQLITE_IOERR_SHMSIZE and _has_no_room_left(path.parent))", ""),),
        "cli/test_bad_input.py -k 'full_at_the_start and 16'",
    ),
    Mutant(
        "ids given again",
        "a target's id means one target for ever",
        "ledger/reverting.py",
        (("    _spend_ids(tx, newest)\n", ""),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and another_id'",
    ),
    # What a power cut, a damaged file and a fight between workers must find.
    Mutant(
        "NORMAL and nobody asserts FULL",
        "what a crawl was told is saved survives a power cut (L1)",
        "ledger/sqlite.py",
        (
            ('    "synchronous": "FULL",\n', '    "synchronous": "NORMAL",\n'),
            ('"synchronous": 2, "foreign_keys": 1}', '"synchronous": 1, "foreign_keys": 1}'),
        ),
        "crash/test_power_cut.py -k 'told_is_saved'",
    ),
    Mutant(
        "lease never renewed",
        "a worker that is alive keeps its leases, however long the job takes (PAU-15)",
        "ledger/leases.py",
        (
            (
                'f"UPDATE chunk SET until = ? WHERE {STILL_OURS}',
                'f"UPDATE chunk SET until = min(until, ?) WHERE {STILL_OURS}',
            ),
        ),
        "crash/test_fighting.py -k 'not_taken_from_a_live_worker'",
    ),
    Mutant(
        "renewal without its fence",
        "a worker that lost its chunk does not take it for its own (L5)",
        "ledger/leases.py",
        (("SET until = ? WHERE {STILL_OURS}", "SET until = ? WHERE id = ? AND ? > 0"),),
        "ledger/test_conformance_leases.py -k 'sqlite and renew'",
    ),
    # What only a long story of several processes shows: T2 must find it, whatever other tests do.
    Mutant(
        "rows of a renewal not counted",
        "a worker that slept past its lease is not told that its chunk is still its own (L5)",
        "ledger/leases.py",
        (
            (
                "        if row is not None:\n            kept.append(lease_from(row))\n    if kept and active_ms",
                "        kept.append(item if row is None else lease_from(row))\n    if kept and active_ms",
            ),
        ),
        "crash/test_simulation.py -k storms_break_nothing",
    ),
    Mutant(
        "a request as the worker knew it",
        "no page is claimed by a worker that has not heard of the pause yet (L11)",
        "ledger/claiming.py",
        (
            (
                'return Answer("settled", row.no, row.requested, row.phase)',
                'return Answer("settled", row.no, lease.requested, row.phase)',
            ),
            (
                'self._answers[lease.chunk] = Answer("settled", row[0], row[1], row[2])',
                'self._answers[lease.chunk] = Answer("settled", row[0], lease.requested, row[2])',
            ),
        ),
        "crash/test_simulation.py -k storms_break_nothing",
    ),
    Mutant(
        "a lease over before its time",
        "a chunk is not taken from a worker that may still use it (L5)",
        "ledger/leases.py",
        (("row[14] <= tx.lease_now()", "row[14] <= tx.lease_now() + 3000"),),
        "crash/test_simulation.py -k storms_break_nothing",
    ),
    Mutant(
        "the end of a lease taken for a mismatch",
        "the late settle of a worker that lost its chunk stops no job (E4)",
        "ledger/settling.py",
        (("    if row[2] in ENDS_OF_A_LEASE:\n", "    if row[2] in ():\n"),),
        "crash/test_simulation.py -k storms_break_nothing",
    ),
    Mutant(
        "a rescued lane is not woken",
        "what a dead worker held is claimed again (L13)",
        "ledger/returning.py",
        (("due = CASE WHEN due > ? THEN ? ELSE due END ", "due = CASE WHEN due > ? THEN due + 0 * ? ELSE due END "),),
        "crash/test_simulation.py -k storms_break_nothing",
    ),
    Mutant(
        "links counted by a damaged record",
        "a damaged record is told as damage by `explain`, too",
        "ledger/views_surveys.py",
        (("(target, unsealed(target, doc, seal)) for", "(target, bytes(doc)) for"),),
        "cli/test_explain.py -k damaged_record",
    ),
    Mutant(
        "checkpoint's checksum not tested",
        "a damaged checkpoint is not taken for a whole one: the one before it serves (F3)",
        "ledger/books.py",
        (("    if sha256(document).digest() != checksum:\n", "    if not checksum:\n"),),
        "crash/test_damage.py -k 'spoiled_checkpoint'",
    ),
    Mutant(
        "rows of a settle not counted",
        "a page is settled once, or the whole group is refused (L2)",
        "ledger/settling.py",
        (("        if touched != len(batch.verdicts):\n", "        if touched > len(batch.verdicts):\n"),),
        "crash/test_touched_rows.py -k 'settles_one_page_twice'",
    ),
    Mutant(
        "row of a plan not counted",
        "one part of a plan is stored once, whoever planned it (L9)",
        "ledger/settling.py",
        (("        if moved != 1:\n", "        if moved > 1:\n"),),
        "crash/test_touched_rows.py -k 'plan_that_does_not_stand'",
    ),
    # Several worker processes on one job.
    Mutant(
        "finished though another worker has a page in hand",
        "nobody says that a job is complete while a page may still yield links (L10)",
        "ledger/advancing.py",
        ((" AND (l.todo > 0 OR l.held > 0))", " AND l.todo > 0)"),),
        "ledger/test_conformance_planning.py -k 'nothing_is_finished_while_a_target_is_left and held and sqlite'",
    ),
    Mutant(
        "a server that stands still is waited for without end",
        "a database that keeps its connections and says nothing is taken for away (D14)",
        "ledger/watchdog.py",
        (("                    _hang_up(self._talking)\n", "                    pass\n"),),
        "ledger/test_watchdog.py -k 'hung_up'",
        hangs=True,
    ),
    Mutant(
        "a broken connection is used again",
        "a database that comes back is spoken to anew, whatever the last words were (D14)",
        "ledger/postgres.py",
        (("            if isinstance(told, LedgerUnavailable):\n                self._hang_up()\n", ""),),
        "ledger/test_watchdog.py -k 'mid_pipeline'",
    ),
    Mutant(
        "a database that is not there is waited for",
        "only what may pass by itself is waited for; a wrong setting is said at once (D14)",
        "ledger/postgres_refusals.py",
        (("    if code == NO_DATABASE:\n", "    if code == '':\n"),),
        "cli/test_exits.py -k 'database_that_is_not_there'",
    ),
    Mutant(
        "a server is understood in English only",
        "a wrong setting is said at once, in whichever language the server refuses it (D14)",
        "ledger/postgres_refusals.py",
        (("    code = _sqlstate_heard(conninfo)\n", "    code = None\n"),),
        "ledger/test_postgres_refusals.py -k 'another_language'",
    ),
    Mutant(
        "an address of a database is shown with its password",
        "what is said of an address that cannot be read holds no password",
        "ledger/postgres_address.py",
        (('cannot be read: {wrong}"', 'cannot be read: {wrong}: {url}"'),),
        "cli/test_exits.py -k 'its_password_is_not_shown'",
    ),
    Mutant(
        "one time for all answers of a transaction",
        "a long transaction that gets its answers is left alone",
        "ledger/postgres.py",
        (
            (
                "        self._watchdog.heard()\n"
                "        return self._connection.execute(_dialect(sql), parameters or None).fetchall()\n",
                "        return self._connection.execute(_dialect(sql), parameters or None).fetchall()\n",
            ),
        ),
        "ledger/test_watchdog.py -k 'many_answers'",
    ),
    Mutant(
        "rows in any order",
        "an export of a damaged ledger ends, and says that it is damaged",
        "ledger/views.py",
        (("        if here <= before:\n", "        if here <= (0, 0):\n"),),
        "ledger/test_damaged_file.py -k 'in_no_order'",
    ),
    Mutant(
        "claim not bounded by the page limit",
        "no claim leads beyond the page limit (PAU-08)",
        "ledger/claiming.py",
        (("(room if self._pages_left is None else min(room, self._pages_left))", "room"),),
        "ledger/test_conformance_limits.py -k 'sqlite and TestPageLimit'",
    ),
    Mutant(
        "claims under a limit take no turns",
        "two processes that claim at once stay within the page limit (PAU-08)",
        "ledger/settling.py",
        (("        tx.take_turns(job)  # before any row", "        pass  # before any row"),),
        "ledger/test_limit_race.py",
    ),
    Mutant(
        "robots.txt forgotten",
        "robots.txt is asked for once, whoever asks and however often the crawl is killed (E16)",
        "ledger/hosts.py",
        (("    return bool(row[3] > tx.wall() and", "    return bool(row[3] > 2 * tx.wall() and"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and one_worker_asks'",
    ),
    Mutant(
        "next free moment not stored",
        "whoever comes after a kill keeps the delay of the one who was killed (E16)",
        "ledger/claiming.py",
        (
            (
                "SET busy = busy + ?, next_at = ?, set_at = ?",
                "SET busy = busy + ?, next_at = next_at + 0 * ?, set_at = ?",
            ),
        ),
        "cli/test_politeness.py -k 'killed_again_and_again and 1'",
    ),
    Mutant(
        "next free moment forgotten with the dead",
        "what a worker left behind comes back at the host's pace, not at once (E16)",
        "ledger/returning.py",
        (("SET busy = busy - ? WHERE id = ?", "SET next_at = 0, busy = busy - ? WHERE id = ?"),),
        "cli/test_politeness.py -k 'killed_again_and_again and 1'",
    ),
    Mutant(
        "Crawl-delay not kept",
        "a host's Crawl-delay is kept by every worker (ERR-05)",
        "ledger/claiming.py",
        (("max(delay_ms or 0, crawl_delay_ms or 0)", "max(delay_ms or 0, 0)"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and a_crawl_delay_holds'",
    ),
    Mutant(
        "breaker never opens",
        "a host that fails again and again gets a rest (ERR-05)",
        "ledger/settling.py",
        (("        if rest_ms:\n", "        if rest_ms < 0:\n"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and five_failures'",
    ),
    Mutant(
        "visits outlive their worker",
        "a dead worker keeps no slot of a host that it only visited",
        "ledger/leases.py",
        (("    returning.end_visits(chunk)\n    poisoned", "    poisoned"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and dead_workers_visits'",
    ),
    Mutant(
        "a changed scope leaves out seeds",
        "what was planned is fetched whatever the scope says",
        "ledger/rescoping.py",
        (
            ("if row[5] is not None and _is_open(row)]", "if _is_open(row)]"),
            ("sorted({row[5] for row in rows})", "sorted({row[5] or row[0] for row in rows})"),
            ("pages[row[5]])", "pages[row[5] or row[0]])"),
        ),
        "ledger/test_conformance_rescoping.py -k 'sqlite and judged_again'",
    ),
    Mutant(
        "finished while a walk stands",
        "a job is not completed with targets that were asked for again (L10)",
        "ledger/advancing.py",
        (("EXISTS (SELECT 1 FROM walk WHERE job = ?), ", "? < 0, "),),
        "ledger/test_conformance_reopening.py -k 'sqlite and not_finished_while'",
    ),
    Mutant(
        "timed out while a walk stands",
        "a rescan of as many pages as the limit fetches them again (L10)",
        "policy/phases.py",
        (("    if work.walks or phase in busy", "    if (work.walks and not work.limited) or phase in busy"),),
        "ledger/test_conformance_limits.py -k 'sqlite and while_a_walk_stands'",
    ),
    Mutant(
        "no undo row",
        "what a verb overwrites is kept, and old checkpoints stay true (F3)",
        "ledger/undoing.py",
        (
            (
                "    keep(tx, control, verb, rows, actor=actor)\n    _renew(tx, [row[0] for row in rows])\n    for ",
                "    _renew(tx, [row[0] for row in rows])\n    for ",
            ),
        ),
        "ledger/test_conformance_reopening.py -k 'sqlite and new_generation'",
    ),
    Mutant(
        "a failed rescan drops the page",
        "a page that could not be had this time is exported as it last was",
        "ledger/views.py",
        (("(t.state <> 5 AND t.gen > 1", "(t.state < 4 AND t.gen > 1"),),
        "ledger/test_conformance_reopening.py -k 'sqlite and as_it_last_was'",
    ),
    Mutant(
        "gone pages come back",
        "a page that the site said is gone is not exported again",
        "ledger/views.py",
        (("((a.gen > r.gen AND a.status_code IN (404, 410)) OR", "(a.gen < 0 OR"),),
        "ledger/test_conformance_reopening.py -k 'sqlite and come_back_with_trouble'",
    ),
    Mutant(
        "compared in a full scan",
        "`--mode full` asks for everything plainly, whatever a worker believes that began before it",
        "ledger/comparing.py",
        (("JOIN plan p ON p.job = t.job AND p.mode = ?", "JOIN plan p ON p.job = t.job AND p.mode || ? <> ''"),),
        "ledger/test_conformance_comparing.py -k 'sqlite and unless_the_job_is_scanned_so'",
    ),
    Mutant(
        "what was gone is compared",
        "a page that was gone meanwhile is fetched whole when it is back",
        "ledger/comparing.py",
        (('({{ids}}) AND {LAST_GOOD}"', '({{ids}})"'),),
        "ledger/test_conformance_comparing.py -k 'sqlite and gone_meanwhile'",
    ),
    Mutant(
        "lost bytes taken for unchanged",
        "a page whose bytes are lost is fetched whole, although a scan found it unchanged since",
        "ledger/views.py",
        (("OR (a.gen >= r.gen AND u.verb = 'mend')", "OR (a.gen = r.gen AND u.verb = 'mend')"),),
        "ledger/test_conformance_comparing.py -k 'sqlite and lost_its_bytes'",
    ),
    Mutant(
        "a file overrules what was typed",
        "a host's limit that a person set holds at the next start, whatever holdfast.toml said before",
        "ledger/hosts.py",
        (('f"AND (said_{column} IS NULL OR said_{column} <> ?)"', '"AND ? IS NOT NULL"'),),
        "ledger/test_conformance_hosts.py -k 'sqlite and said_last'",
    ),
    Mutant(
        "retry beyond its filter",
        "retry touches exactly what the list shows (C10)",
        "ledger/reopening.py",
        (("AND {AGAIN[kind]}{extra} ORDER BY t.id", "AND {AGAIN[kind]} ORDER BY t.id"), ("(*part, *values)", "part")),
        "ledger/test_conformance_reopening.py -k 'sqlite and exactly_what'",
    ),
    Mutant(
        "removed without a walk",
        "a job is not completed without what a removed exclusion had left out (L10)",
        "ledger/excluding.py",
        (('        if before.status != "completed":\n', '        if before.status == "completed":\n'),),
        "ledger/test_conformance_excluding.py -k 'sqlite and before_what_was_asked_back'",
    ),
    Mutant(
        "a rule overwritten without its image",
        "what a verb overwrites is kept, a rule too (F3)",
        "ledger/excluding.py",
        (
            (
                'n=len(rows))\n    keep(tx, control, "exclude", rows, actor=actor)\n',
                "n=len(rows))\n",
            ),
        ),
        "ledger/test_conformance_rescoping.py -k 'sqlite and image_of_before'",
    ),
    Mutant(
        "leased while a changed scope is applied",
        "targets are left out by the scope that the job has, and by no other",
        "ledger/leases.py",
        ((' or walking(tx, job, "rescope") is not None:', ":"),),
        "ledger/test_conformance_rescoping.py -k 'sqlite and nobody_works'",
    ),
    Mutant(
        "a scope changed under its worker",
        "a scope that is refused has left nothing out",
        "ledger/rescoping.py",
        (("AND owner_pid IS NOT NULL LIMIT 1", "AND owner_pid < 0 LIMIT 1"),),
        "ledger/test_conformance_rescoping.py -k 'sqlite and somebody_holds'",
    ),
    Mutant(
        "places counted behind the filter",
        "a reader that goes on under another filter misses nothing",
        "ledger/streams.py",
        (
            (
                "Fresh(chunk, row[-2], row[-1], result_from(row)) for row in rows]",
                "Fresh(chunk, row[-2], place, result_from(row)) for place, row in enumerate(rows)]",
            ),
        ),
        "ledger/test_conformance_views.py -k 'sqlite and under_another_filter'",
    ),
    Mutant(
        "restart keeps spent attempts",
        "a restart is from the beginning: what was pending after a try has every attempt again",
        "ledger/reopening.py",
        (('if kind == "restart" else []', "if not kind else []"),),
        "ledger/test_conformance_reopening.py -k 'sqlite and begins_with_every_attempt'",
    ),
    Mutant(
        "restart forgets a later try",
        "an attempt that was spent after a restart stays spent",
        "ledger/reopening.py",
        (
            (
                "    return [row[2:] for row in rows if doc.covers(row[0], row[1])]",
                "    return [row[2:] for row in rows]",
            ),
        ),
        "ledger/test_conformance_reopening.py -k 'sqlite and keeps_that_attempt'",
    ),
    Mutant(
        "links not judged",
        "a worker that does not know an exclusion enqueues nothing against it",
        "ledger/links.py",
        (("    if rules is not None:\n", "    if rules is not None and not found:\n"),),
        "ledger/test_conformance_excluding.py -k 'sqlite and (found_later or planned_later)'",
    ),
    Mutant(
        "excluded targets claimed",
        "what comes back after an exclusion is not fetched",
        "ledger/claiming.py",
        (("        if rows and self._rules is not None:\n", "        if rows and self._rules is None:\n"),),
        "ledger/test_conformance_excluding.py -k 'sqlite and (comes_back or suspect_that_fits)'",
    ),
    Mutant(
        "a rescue is a pulse",
        "an interrupted job stands still since its last commit, whoever freed what its dead worker held",
        "ledger/views_events.py",
        ((" AND e.verb <> 'rescue'", ""),),
        "ledger/test_conformance_looks.py -k 'rescue_is_no_pulse and sqlite'",
    ),
    Mutant(
        "keys kept from another ledger",
        "a restored job knows its targets: none is found and fetched a second time (L2)",
        "ledger/restoring.py",
        (('            row["key"] = self._key(', "            self._key("),),
        "snapshots/test_round_trip.py -k 'every_job and sqlite'",
    ),
    Mutant(
        "a restored job goes on by itself",
        "what is restored waits to be asked: two copies of a job do not crawl at once (E18)",
        "ledger/restoring.py",
        (
            (
                '    if before.status == "in_progress":\n        step = ',
                '    if before.status == "moving":\n        step = ',
            ),
        ),
        "snapshots/test_round_trip.py -k waits_to_be_asked",
    ),
    Mutant(
        "targets per host not capped",
        "a site without an end fills the job up to the cap of its host, and no further (FRO-11, H10)",
        "ledger/links.py",
        (("        first = capped(tx, job, first, per_host_max)\n", "        pass\n"),),
        "ledger/test_conformance_limits.py -k 'sqlite and TargetsPerHost'",
    ),
    Mutant(
        "targets per host remembered from another run",
        "rows that came or went since the last run are counted before a cap is applied (FRO-11)",
        "ledger/jobs.py",
        (('    tx.run("DELETE FROM host_total WHERE job = ?", (job,))\n', ""),),
        "ledger/test_conformance_limits.py -k 'sqlite and TargetsPerHost'",
    ),
    Mutant(
        "books of a run without what is being settled",
        "a run keeps the numbers of its end, as they stood then",
        "ledger/jobs.py",
        (('    write_tallies(tx)\n    tx.run(\n        "UPDATE run', '    tx.run(\n        "UPDATE run'),),
        "ledger/test_conformance_surveys.py -k 'sqlite and ends_with_a_rescue'",
    ),
    Mutant(
        "a diff of two runs knows only today",
        "what two runs differ in stays so, whatever later runs bring",
        "ledger/views_surveys.py",
        (("    then = _overwritten(tx, younger, run)\n", "    then = {}\n"),),
        "cli/test_only_new.py -k 'stays_as_it_was'",
    ),
    Mutant(
        "a file that is looked at may change",
        "who looks at a ledger that cannot be written is told nothing that is of two times",
        "ledger/sqlite_look.py",
        (("        if self._stands_still and (", "        if not self._stands_still and ("),),
        "ledger/test_sqlite_look.py -k 'began_to_change'",
    ),
    Mutant(
        "what is in a -wal is not looked at",
        "a ledger that cannot be written is shown with what a killed process committed last",
        "ledger/sqlite_look.py",
        (("'&immutable=1' * self._stands_still", "'&immutable=1'"),),
        "ledger/test_sqlite_look.py -k 'where_a_wal_stands'",
    ),
    Mutant(
        "a ledger is opened without a watch",
        "a database that stands still while a ledger is opened is taken for away (D14)",
        "ledger/postgres.py",
        (
            (
                "        with self._watchdog.over(connection.fileno()), connection.transaction():\n"
                '            connection.execute("SELECT pg_advisory_xact_lock',
                '        with connection.transaction():\n            connection.execute("SELECT pg_advisory_xact_lock',
            ),
        ),
        "ledger/test_watchdog.py -k 'while_a_ledger_is_opened'",
    ),
    Mutant(
        "removed twice",
        "`diff` names a page as removed once: where it was held at the end of the earlier run",
        "ledger/views_surveys.py",
        (("was_held = row[2] is not None and row[0] not in was_gone", "was_held = row[2] is not None"),),
        "ledger/test_conformance_surveys.py -k 'sqlite and gone_in_the_earlier_run'",
    ),
    Mutant(
        "lawless rows committed",
        "rows that were made up are refused before the commit (SEC-10)",
        "ledger/restoring.py",
        (("    _refuse_lawless(tx, made, judge)\n", ""),),
        "snapshots/test_hostile.py -k 'break_a_law and sqlite'",
    ),
    Mutant(
        "a ledger that all can read",
        "the ledger's files are as private as their folder (SEC-09)",
        "ledger/sqlite.py",
        (("        make_file(self._path)\n", ""),),
        "cli/test_access.py -k 'owners_alone'",
    ),
    Mutant(
        "a look upgrades",
        "who looks at an older ledger leaves it as it is",
        "ledger/sqlite.py",
        (("version < SCHEMA_VERSION and not upgrades:", "version < SCHEMA_VERSION and False:"),),
        "cli/test_looks_change_nothing.py -k 'older_ledger_says'",
    ),
)
