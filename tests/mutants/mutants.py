"""Mutants: each removes one protective line and names the test that must then fail.

Production code has no switch that turns safety off, so a mutant is an edit of a copy of the tree. A row whose `old`
text is no longer found exactly once breaks the build, like a mutant that survives.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`guarantee` is what a user loses without the line; `test` must fail, and nothing else is asked of it.

    A test that comes to no end has judged nothing, unless that is what the line prevents: then the row says `hangs`.
    """

    name: str
    guarantee: str
    file: str
    edits: tuple[tuple[str, str], ...]
    test: str
    hangs: bool = False


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
                "        found, external = self.targets.sift(verdict.found), self.external.sift(verdict.external)\n",
                "        found, external = self.targets.sift(verdict.found), self.external.sift(verdict.external)\n"
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
        hangs=True,
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
        hangs=True,
    ),
    Mutant(
        "stored links are sent again",
        "links that every page repeats cost no look-up",
        "engine/group.py",
        (("self.targets.sift(verdict.found), ", "verdict.found, "),),
        "engine/test_group.py -k 'not_sent_again'",
    ),
    Mutant(
        "results over the ledger",
        "an export never takes the place of the ledger or the pages",
        "cli/outputs.py",
        (("    if folder in real.parents and real", "    if not path and real"),),
        "cli/test_looking.py -k 'never_lands'",
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
        "segment not fsynced before the commit",
        "a page recorded as done has its bytes after a power cut (F1)",
        "blobs/segments.py",
        (("        self._disk.fdatasync(self._descriptor)\n", "        pass\n"),),
        "crash/test_power_cut.py -k 'told_is_saved'",
    ),
    Mutant(
        "rename without an fsync of its folder",
        "an export that was written does not turn into the old one by a power cut (F1)",
        "blobs/publish.py",
        (
            (
                "        sync_directory(path.parent, disk=disk)\n    except OSError as error:\n        raise refusal(",
                "    except OSError as error:\n        raise refusal(",
            ),
        ),
        "crash/test_power_cut.py -k 'export'",
    ),
    Mutant(
        "new segment's folder not fsynced",
        "the file that a row refers to has its name on the disk (F1)",
        "blobs/segments.py",
        (("            sync_directory(directory, disk=self._disk)\n", ""),),
        "blobs/test_segments.py -k 'names_durable_first'",
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
    # What failing calls and full disks must find.
    Mutant(
        "short write taken for a whole one",
        "no byte of a page is left out because the disk took less than it was given (D5)",
        "blobs/segments.py",
        (
            (
                "            self._offset += written\n            rest = rest[written:]\n",
                "            self._offset += len(rest)\n            return\n",
            ),
        ),
        "blobs/test_segments.py -k 'short_writes'",
    ),
    Mutant(
        "interrupted write gives up",
        "a signal during a write costs no page (D5)",
        "blobs/segments.py",
        (
            (
                "            except InterruptedError:\n                continue\n",
                "            finally:\n                pass\n",
            ),
        ),
        "blobs/test_segments.py -k 'interrupted_write'",
    ),
    Mutant(
        "failed fsync forgiven",
        "what the disk did not confirm is not recorded as done (D3)",
        "blobs/segments.py",
        (
            (
                "        self._disk.fdatasync(self._descriptor)\n",
                "        with suppress(OSError):\n            self._disk.fdatasync(self._descriptor)\n",
            ),
        ),
        "blobs/test_segments.py -k 'never_written_again'",
    ),
    Mutant(
        "segment used again after an error",
        "a file whose fsync failed is trusted no more (D3)",
        "blobs/segments.py",
        (("            self.close()\n        return refusal(", "        return refusal("),),
        "blobs/test_segments.py -k 'never_written_again'",
    ),
    Mutant(
        "no room is any error",
        "a full disk is said to be one, wherever it shows (D2)",
        "blobs/publish.py",
        (("NO_ROOM = frozenset({errno.ENOSPC, ", "NO_ROOM = frozenset({"),),
        "blobs/test_segments.py -k 'no_room_is_said'",
    ),
    Mutant(
        "full disk keeps what nobody refers to",
        "on a full disk the ledger gets the room to write its pause (D2)",
        "blobs/segments.py",
        (("                self._segment.give_back(self._root)\n", "                pass\n"),),
        "blobs/test_segments.py -k 'gets_back_the_room'",
    ),
    Mutant(
        "full disk ends the run without a pause",
        "what cannot be saved pauses the job, and the same command goes on (D2)",
        "engine/session.py",
        (
            ('        except DiskFull:\n            how = "disk_full"\n', "        except ZeroDivisionError:\n"),
            ("            self.not_saved = 0 if", '            how, self.not_saved = "", 0 if'),
        ),
        "engine/test_session.py -k 'a_full_disk_pauses'",
    ),
    Mutant(
        "claims on a disk that is low",
        "nothing is fetched that there may be no room to keep (D2)",
        "engine/worker.py",
        (("        if not self.has_room():\n", "        if not self.options:\n"),),
        "engine/test_session.py -k 'below_the_free_space_limit'",
    ),
    Mutant(
        "reserve not given up",
        "on a full disk there is room to write the pause itself (D2)",
        "engine/session.py",
        (("            self._parts.make_room()\n", ""),),
        "crash/test_suites.py -k 'without_room_pauses'",
    ),
    Mutant(
        "checkpoint's checksum not tested",
        "a damaged checkpoint is not taken for a whole one: the one before it serves (F3)",
        "ledger/books.py",
        (("    if sha256(document).digest() != checksum:\n", "    if not checksum:\n"),),
        "crash/test_damage.py -k 'spoiled_checkpoint'",
    ),
    Mutant(
        "verify trusts a checkpoint's checksum",
        "a damaged checkpoint is told (F3)",
        "audit/checkpoints.py",
        (("    whole = sha256(document).digest() == checksum", "    whole = bool(checksum)"),),
        "crash/test_damage.py -k 'spoiled_checkpoint'",
    ),
    Mutant(
        "body's hash not tested",
        "what was spoiled on the disk is not handed out as the page (F1)",
        "blobs/warc.py",
        (("    if sha256(content).digest() != reference.sha256:\n", "    if not content and reference.size:\n"),),
        "crash/test_damage.py -k 'each_others_place'",
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
        "ledger/finishing.py",
        ((" AND (l.todo > 0 OR l.held > 0))", " AND l.todo > 0)"),),
        "engine/test_several.py -k 'nobody_is_finished'",
    ),
    Mutant(
        "a session without the control ends when it is drained",
        "links that others find in its part of the job are followed",
        "engine/session.py",
        (('        return None if job.status == "in_progress" else job\n', "        return job\n"),),
        "engine/test_several.py -k 'stays_until_the_job_is_over'",
    ),
    Mutant(
        "killed worker not replaced",
        "the death of one worker process is made good by the command itself",
        "cli/supervisor.py",
        (("        if not self._crew.refill(gone):\n", "        if not gone:\n"),),
        "crash/test_processes.py -k 'killed_worker_is_replaced'",
        hangs=True,
    ),
    Mutant(
        "worker outlives its supervisor",
        "whatever was killed, the same command goes on at once",
        "cli/nursery.py",
        (("    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)\n", ""),),
        "crash/test_processes.py -k 'workers_die_with_their_supervisor'",
    ),
    Mutant(
        "Ctrl-C kills the workers",
        "the first Ctrl-C pauses, also where several processes work",
        "cli/nursery.py",
        (("        signal.signal(number, signal.SIG_IGN)\n", "        signal.signal(number, signal.SIG_DFL)\n"),),
        "crash/test_processes.py -k 'from_the_terminal'",
    ),
    Mutant(
        "workers sent away before the pause is saved",
        "a pause is saved at once, also where several processes work",
        "cli/supervisor.py",
        (("                self._request_pause()\n", "                pass\n"),),
        "crash/test_processes.py -k 'one_interrupt_pauses_all'",
    ),
    Mutant(
        "every worker has the whole concurrency",
        "--concurrency is the total over all processes",
        "policy/leasing.py",
        (("max(1, share(workers, options.concurrency, place=place))", "options.concurrency"),),
        "engine/test_several.py -k 'concurrency_is_the_total'",
    ),
    Mutant(
        "every worker counts the job's time",
        "a job's active time runs once, however many work it",
        "engine/heartbeat.py",
        (("        return max(0, spent) if self._counts_time else 0\n", "        return max(0, spent)\n"),),
        "engine/test_several.py -k 'counts_the_time'",
    ),
    Mutant(
        "rows in any order",
        "an export of a damaged ledger ends, and says that it is damaged",
        "ledger/views.py",
        (("        if row[0] <= before:\n", "        if row[0] <= 0:\n"),),
        "ledger/test_damaged_file.py -k 'in_no_order'",
    ),
    Mutant(
        "a damaged file is not asked for",
        "a damaged ledger is called damaged, and not a crash after which the same command goes on",
        "cli/crashes.py",
        (("        if damage is not None:\n", "        if damage is error:\n"),),
        "cli/test_damaged_ledger.py -k 'belong_elsewhere'",
    ),
    Mutant(
        "a lost ledger is begun anew",
        "a crawl is not begun anew in silence beside the pages of a ledger that was lost",
        "wiring.py",
        (
            (
                "    has_bodies = settings.segments.is_dir() and any(settings.segments.iterdir())\n",
                "    has_bodies = False\n",
            ),
        ),
        "cli/test_damaged_ledger.py -k 'lost_ledger_is_refused'",
    ),
    Mutant(
        "no descriptor spends an attempt",
        "running out of descriptors fails no page (D5)",
        "engine/execute.py",
        (("outcome.code in HANDED_BACK:\n", 'outcome.code == "":\n'),),
        "engine/test_session.py -k 'no_descriptors'",
    ),
    Mutant(
        "no rest without descriptors",
        "a crawl that has nothing to fetch with waits, each time longer",
        "engine/pace.py",
        (("        self._short_until_ms = now_ms + self._short_ms\n", "        self._short_until_ms = now_ms\n"),),
        "engine/test_session.py -k 'no_descriptors'",
    ),
    Mutant(
        "an unwritable screen stops the crawl",
        "a message that cannot be shown stops no work",
        "cli/voice.py",
        (
            (
                "        except (OSError, ValueError):  # a full disk behind 2>",
                "        except FileNotFoundError:  # a full disk behind 2>",
            ),
        ),
        "cli/test_unwritable_screen.py -k 'goes_on_to_its_end'",
    ),
)
