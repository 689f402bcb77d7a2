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
        "a log that must be written",
        "a disk that takes no more log lines stops no work",
        "blobs/journal.py",
        (
            (
                "        with suppress(OSError):\n            os.write(",
                "        with suppress(KeyError):\n            os.write(",
            ),
        ),
        "blobs/test_journal.py -k cannot_be_written",
    ),
    Mutant(
        "doctor always content",
        "a required check that fails is exit code 9 (DOC-30)",
        "cli/doctor.py",
        (("    return exits.OK if _is_fit(checks) else exits.CHECK_FAILED", "    return exits.OK"),),
        "cli/test_doctor.py -k 'full_disk'",
    ),
    Mutant(
        "plan not compared",
        "a recipe's plan that changed between runs is refused, and nothing is planned twice or left out (TGT-08)",
        "engine/planner.py",
        (("self._to_drop == 0 and self._stored_trail and self._trail", "self._to_drop < 0 and self._trail"),),
        "engine/test_planner.py -k changed_is_refused",
    ),
    Mutant(
        "yields before a raise are kept",
        "a step of a recipe that raises leaves nothing of what it yielded",
        "recipes/custom/step.py",
        (
            (
                "            raise pages.stopped from error\n"
                '        return Failed("recipe_error", pages.not_awaited() or sentence(error))\n',
                "            raise pages.stopped from error\n",
            ),
        ),
        "recipes/test_custom.py -k leaves_nothing_of_them",
    ),
    Mutant(
        "a step swallows its lost lease",
        "a step that catches everything cannot settle a target that its worker has lost",
        "recipes/custom/step.py",
        (("    if pages.stopped is not None:\n        raise pages.stopped\n    if", "    if"),),
        "recipes/test_custom.py -k cannot_swallow",
    ),
    Mutant(
        "a natural key is forgotten",
        "a target with a natural key is one target, whatever its URL (CAS-10)",
        "recipe/contract.py",
        (("        key = key_of_name(name, self.salt) if name else", "        key ="),),
        "ledger/test_conformance_planning.py -k 'sqlite and natural_key'",
    ),
    Mutant(
        "an answer of any status is a page",
        "a step never takes a 503 for a page without links",
        "recipes/custom/fetching.py",
        (("        self._judge(response, frozenset(accept))\n", ""),),
        "recipes/test_custom.py -k ends_the_attempt",
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
        "no limit on what is unpacked",
        "a small answer that unpacks into a huge one is stopped early (H3)",
        "fetch/decode.py",
        (("            self._check_ratio(stage.produced_bytes)\n", ""),),
        "fetch/test_decode.py -k 'bomb_is_stopped and gzip'",
    ),
    Mutant(
        "zstd unpacked in one go",
        "no more than a step is unpacked before it is counted (H3)",
        "fetch/unpackers.py",
        (
            (
                "unpacked = self._stream.decompress(piece, STEP_BYTES)\n            except self._error",
                "unpacked = self._stream.decompress(piece)\n            except self._error",
            ),
        ),
        "fetch/test_decode.py -k 'bomb_is_stopped and zstd'",
    ),
    Mutant(
        "zstd window as the site likes",
        "a site cannot make the crawler reserve memory (RFC 9659)",
        "fetch/unpackers.py",
        (
            (
                "zstd.ZstdDecompressor(options=limit)",
                "zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 31})",
            ),
        ),
        "fetch/test_decode.py -k 'more_memory'",
    ),
    Mutant(
        "a proxy asked for any address",
        "a crawled site cannot reach into your network by way of a proxy (SEC-06)",
        "fetch/http.py",
        (("        address = await names.checked(host, port)\n", "        address = host\n"),),
        "fetch/test_routes.py -k 'not_public_sec_06'",
    ),
    Mutant(
        "secrets for every host",
        "a header with a secret goes only to the origins that the job was given (H5)",
        "fetch/secrets.py",
        (("return self._headers if origin in self._origins else ()", "return self._headers"),),
        "fetch/test_routes.py -k 'nowhere_else_h5'",
    ),
    Mutant(
        "a secret written into a job",
        "a secret of a job file is named, never stored",
        "config/secrets.py",
        (("    if name.strip().lower() in SECRET_HEADERS and", "    if not name and"),),
        "config/test_jobfile.py -k 'refused_by_its_key'",
    ),
    Mutant(
        "a password in an address shown",
        "no screen shows a password (SEC-03)",
        "config/secrets.py",
        ((r"""    return re.sub(_IN_AN_ADDRESS, r"\1:***@", text)""", "    return text"),),
        "config/test_reading.py -k 'never_shown'",
    ),
    Mutant(
        "a misspelled setting ignored",
        "a setting that does not exist is an error, not silence (CFG-01)",
        "config/reading.py",
        (
            (
                '    if row is None:\n        raise BadParams(f"{origin}',
                '    if row is None:\n        return\n        raise BadParams(f"{origin}',
            ),
        ),
        "config/test_reading.py -k 'by_its_name_and_place'",
    ),
    Mutant(
        "a file edited blindly",
        "config set changes the one key that was named, or nothing",
        "config/toml.py",
        (("    if _loads(edited) != _merged(before, key, value):\n", "    if not edited:\n"),),
        "config/test_toml.py -k 'cannot_be_set'",
    ),
    Mutant(
        "a header becomes two",
        "no line break gets into a request (H6)",
        "fetch/headers.py",
        ((" or not _HEADER_VALUE.fullmatch(value)", ""),),
        "fetch/test_http.py -k 'would_become_two'",
    ),
    Mutant(
        "a packed sitemap without a limit",
        "a hostile sitemap costs bounded memory (H11)",
        "policy/sitemaps.py",
        (("        if size >= RATIO_FROM_BYTES and size > RATIO_MAX * len(packed):\n", "        if size < 0:\n"),),
        "policy/test_sitemaps.py -k 'fills_the_memory'",
    ),
    Mutant(
        "indexes without end",
        "a sitemap index that names indexes for ever is not followed (H11)",
        "recipes/site/sitemap.py",
        (("        if here.hops >= LEVELS_MAX:\n", "        if here.hops < 0:\n"),),
        "cli/test_sitemaps.py -k 'deep_indexes'",
    ),
    Mutant(
        "a redirect into your network is any redirect",
        "a page that redirects to a private address is failed and says so (FRO-09)",
        "recipes/site/step.py",
        (("    if refusal is not None:\n", "    if refusal == 0:\n"),),
        "web/test_hostile_web.py -k 'to-a-loopback-address'",
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
        "company joins a suspect",
        "random kills poison nobody: a page counts as alone only when it was (TGT-06)",
        "engine/worker.py",
        (("        if self._alone and self._alone - ", "        if not self and self._alone - "),),
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
        "half a cancel before a snapshot",
        "a cancel that a dead worker owed ends with nothing left pending",
        "engine/snapshots.py",
        (("        acknowledged(ledger, job)\n", "        ledger.acknowledge(job.id, is_dead=is_dead)\n"),),
        "snapshots/test_refusals.py -k the_dead_owed",
    ),
    Mutant(
        "ids given again",
        "a target's id means one target for ever",
        "ledger/reverting.py",
        (("    _spend_ids(tx, newest)\n", ""),),
        "ledger/test_conformance_rolling_back.py -k 'sqlite and another_id'",
    ),
    Mutant(
        "a rolled back job taken up again",
        "a job that was rolled back stays paused until people resume it",
        "engine/session.py",
        (('        if how == "lost" and job.status in ("paused", "cancelled"):\n', '        if how == "":\n'),),
        "cli/test_rollback.py -k 'nevertheless'",
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
        (("            self._parts.make_room()\n", "            pass\n"),),
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
        "ledger/test_conformance_planning.py -k 'nothing_is_finished_while_a_target_is_left and held and sqlite'",
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
        "plan's failure kept to itself",
        "a job whose plan raised comes to its end, however many processes work it",
        "cli/member.py",
        (("        session.on_plan_failed = lambda why: say(PlanFailed(why))\n", ""),),
        "cli/test_run.py -k 'plan_that_raises and 2'",
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
        (('                self._request("pause", "interrupt")\n', "                pass\n"),),
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
        "archive in the order of arrival",
        "a killed crawl exports byte for byte what an undisturbed one does",
        "blobs/archive.py",
        (("in ordered:", "in pages:"),),
        "blobs/test_archive.py -k 'order_of_arrival'",
    ),
    Mutant(
        "read before it is handed out",
        "a consumer of results that is stopped gets what it was handed last once more",
        "engine/stream.py",
        (
            (
                "                yield each.row\n                self._mark = self._mark.after(each)\n",
                "                self._mark = self._mark.after(each)\n                yield each.row\n",
            ),
        ),
        "engine/test_stream.py -k 'goes_on_where_it_was'",
    ),
    Mutant(
        "the end before the last results",
        "a follower of results has all of them when the job has ended",
        "engine/stream.py",
        (
            (
                "                over = is_over()  # asked first: whoever is over by now has committed everything\n"
                "                yield from self._committed()\n",
                "                yield from self._committed()\n                over = is_over()\n",
            ),
        ),
        "engine/test_stream.py -k 'before_the_end'",
    ),
    Mutant(
        "bookmarks go back",
        "two processes under one consumer's name lose nothing that either has read",
        "model/bookmark.py",
        (("            furthest[chunk] = max(no, furthest.get(chunk, 0))\n", "            furthest[chunk] = no\n"),),
        "ledger/test_conformance_views.py -k 'sqlite and never_goes_back'",
    ),
    Mutant(
        "formulas in a table",
        "a spreadsheet executes nothing that a site wrote (DOC-33)",
        "model/cells.py",
        (("    return GUARD + text if text.startswith(FORMULA_STARTS) else text\n", "    return text\n"),),
        "model/test_cells.py -k 'would_execute'",
    ),
    Mutant(
        "rows in any order",
        "an export of a damaged ledger ends, and says that it is damaged",
        "ledger/views.py",
        (("        if here <= before:\n", "        if here <= (0, 0):\n"),),
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
        (("    has_bodies = settings.segments.is_dir() and not all(", "    has_bodies = False and not all("),),
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
        "pause time counted",
        "a time limit counts the time in which a job is worked, and no pause or downtime (PAU-07)",
        "engine/timekeeper.py",
        (
            (
                "time_left_ms(job.options, job.active_ms)",
                "time_left_ms(job.options, clock.wall_ms() - (job.started_at or 0))",
            ),
        ),
        "engine/test_time_limit.py -k pauses_and_downtime",
    ),
    Mutant(
        "robots.txt not obeyed",
        "what robots.txt forbids is not asked for (DOC-27)",
        "engine/fetching.py",
        (("    if rule:\n", "    if rule and not path:\n"),),
        "cli/test_robots.py -k a_seed_that_robots_forbids",
    ),
    Mutant(
        "robots.txt forgotten",
        "robots.txt is asked for once, whoever asks and however often the crawl is killed (E16)",
        "ledger/hosts.py",
        (("    return bool(row[3] > tx.wall() and", "    return bool(row[3] > 2 * tx.wall() and"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and one_worker_asks'",
    ),
    Mutant(
        "page sent in the turn of robots.txt",
        "robots.txt takes a turn at its host like any request",
        "engine/fetching.py",
        (
            (
                "        if self._unused:\n            self._unused = False\n",
                "        if self._unused:\n",
            ),
            ("        self._unused = self._unused and not (own and took_a_while)\n", ""),
        ),
        "cli/test_politeness.py -k 'killed_again_and_again and 1'",
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
        "walk puts back what failed again",
        "a retried target that fails again is not retried for ever (TGT-07)",
        "model/edit.py",
        (("        return no <= self.commits.get(str(chunk), 0)\n", "        return no > 0\n"),),
        "ledger/test_conformance_reopening.py -k 'sqlite and (fails_again or found_and_settled)'",
    ),
    Mutant(
        "finished while a walk stands",
        "a job is not completed with targets that were asked for again (L10)",
        "ledger/finishing.py",
        (('    "AND NOT EXISTS (SELECT 1 FROM walk WHERE job = ?)"', '    "AND ? > 0"'),),
        "ledger/test_conformance_reopening.py -k 'sqlite and not_finished_while'",
    ),
    Mutant(
        "timed out while a walk stands",
        "a rescan of as many pages as the limit fetches them again (L10)",
        "ledger/finishing.py",
        (("        if ending is None and walking(tx, job) is None:", "        if ending is None:"),),
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
        "304 replaces the body",
        "a page that has not changed is served with the bytes that it had",
        "recipes/site/step.py",
        (
            (
                "        return Done(UNCHANGED, status_code=response.status)\n",
                '        again = (Record("page", here.before),)\n'
                "        body = kept_body(here, response, clock.wall_ms())\n"
                '        return Done("page", body=body, records=again, status_code=response.status)\n',
            ),
        ),
        "cli/test_only_new.py -k 'every_answer_is_304'",
    ),
    Mutant(
        "a 304 that nobody asked for",
        "a page is not called unchanged that nobody has",
        "recipes/site/step.py",
        (("    if asking and response.status == NOT_MODIFIED:", "    if response.status == NOT_MODIFIED:"),),
        "recipes/test_site_step.py -k 'nobody_asked_for'",
    ),
    Mutant(
        "versions sent in any form",
        "no stored word becomes another header, or asks for any page at all",
        "recipes/site/validators.py",
        (
            (
                "for name, value, form in pairs if value and form.fullmatch(value))",
                "for name, value, _ in pairs if value)",
            ),
        ),
        "recipes/test_site_step.py -k 'neither_kept_nor_sent'",
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
        "bytes of unchanged pages not missed",
        "`verify` and `doctor` miss the bytes of a page, whichever run fetched them (F1)",
        "audit/segments.py",
        (("THEN (SELECT max(k.gen) FROM body k WHERE k.target = t.id) ELSE t.gen END", "THEN t.gen ELSE t.gen END"),),
        "cli/test_only_new.py -k 'lost_its_bytes'",
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
        "a walk that nobody goes on with",
        "a removal that was killed is carried out by whoever works the job (L10)",
        "engine/session.py",
        (("                await self._thread.insist(self._walk_on)\n", "                pass\n"),),
        "engine/test_session.py -k though_its_asker_died",
        hangs=True,
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
        "amended over another's change",
        "of two people who change a job at once, none loses what the other did",
        "policy/amending.py",
        (("    if any(getattr(stands, name) != ", "    if known is None and any(getattr(stands, name) != "),),
        "ledger/test_conformance_jobs.py -k 'sqlite and the_second_is_refused'",
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
        "a changed scope that nobody goes on with",
        "a change of scope that was killed is carried out by whoever works the job (L10)",
        "engine/session.py",
        (("judge_on(ledger, self._job.id)) is not None:", "None) is not None:"),),
        "engine/test_rescope.py -k that_is_killed",
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
        "older runs streamed again",
        "a crawl to stdout gives what its run brought, each result once",
        "cli/streaming.py",
        (("    return (ledger.everything(job.id), 0)", "    return (Bookmark(), 0)"),),
        "cli/test_export.py -k what_that_run_brought",
    ),
    Mutant(
        "stale whatever the ledger says",
        "a job that was paused is not told to have failed",
        "engine/session.py",
        (('        return job.requested or "lost"\n', '        return "failed"\n'),),
        "engine/test_stale.py -k came_first",
    ),
    Mutant(
        "checkpoints counted by each worker",
        "a checkpoint comes every so many targets of the job, however many work it (CHK-01)",
        "engine/checkpointer.py",
        (("        if self._workers > 1:\n", "        if self._workers < 1:\n"),),
        "engine/test_checkpointer.py",
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
        "failures elsewhere blamed on the target's host",
        "a second host that asks for patience is left alone, and the first is not",
        "engine/execute.py",
        (("hold_host_ms=0 if elsewhere else ruling.hold_host_ms", "hold_host_ms=ruling.hold_host_ms"),),
        "cli/test_step_requests.py -k asks_for_patience",
    ),
    Mutant(
        "no turn at a second host",
        "whatever a step asks for takes its turn at the host it is sent to",
        "engine/fetching.py",
        (
            ("            await self._take(host, claimed, ticket, may_wait)\n", ""),
            ("            await self._in_pace(host, claimed)\n", ""),
        ),
        "cli/test_step_requests.py -k second_host_has_its_own_turns",
    ),
    Mutant(
        "a far turn elsewhere waited for",
        "targets that wait for a second host keep no slot from those that do not need it",
        "engine/fetching.py",
        (
            (
                "            if away and turn.wait_ms > self._far_ms:\n",
                "            if not away and turn.wait_ms < 0:\n",
            ),
            ("monotonic_ms() > give_up_ms:\n", "monotonic_ms() < 0:\n"),
        ),
        "cli/test_step_requests.py -k keep_no_slot",
        hangs=True,
    ),
    Mutant(
        "a slot elsewhere waited for without end",
        "steps of two hosts that wait for each other's slots come to their ends",
        "engine/fetching.py",
        (("monotonic_ms() > give_up_ms:\n", "monotonic_ms() < 0:\n"),),
        "cli/test_step_requests.py -k each_wait_for_a_slot",
        hangs=True,
    ),
    Mutant(
        "a late fetch keeps its turn",
        "a delay is kept between fetches, however long a commit lasted after the claim",
        "engine/worker.py",
        (("now_ms - asked_ms > TURN_KEPT_MS", "now_ms < asked_ms"),),
        "engine/test_worker_pace.py -k long_after_its_claim",
    ),
    Mutant(
        "sha256 of a snapshot not tested",
        "a snapshot of which one byte was changed is refused (D10)",
        "engine/restore.py",
        (("        if digest.hexdigest() != part.sha256:", "        if False:"),),
        "snapshots/test_damage.py -k flipped",
    ),
    Mutant(
        "manifest of a snapshot not tested",
        "a snapshot says what was written, to the last byte of its manifest (D10)",
        "model/snapshot.py",
        (("    if manifest.sealed() != manifest or manifest.encoded() != stored:", "    if False:"),),
        "snapshots/test_damage.py -k 'changed or spaces'",
    ),
    Mutant(
        "snapshot of a job that moves",
        "the rows of a snapshot belong to one instant (F4)",
        "engine/snapshots.py",
        (("    if ledger.standing(job.id) != before:", "    if False:"),),
        "snapshots/test_refusals.py -k changes_while",
    ),
    Mutant(
        "moved before its recipe is loaded",
        "a recipe that cannot be loaded moves no job: what was paused by hand stays paused",
        "cli/starting.py",
        (("                job = with_todays_code(call, ledger, job)\n", ""),),
        "cli/test_run.py -k loaded_moves_no_paused",
    ),
    Mutant(
        "a rescue is a pulse",
        "an interrupted job stands still since its last commit, whoever freed what its dead worker held",
        "ledger/views_events.py",
        ((" AND e.verb <> 'rescue'", ""),),
        "ledger/test_conformance_looks.py -k 'rescue_is_no_pulse and sqlite'",
    ),
    Mutant(
        "provenance overwritten",
        "a record cannot say that it comes from elsewhere than it does",
        "recipe/yields.py",
        (("    if taken := [name for name in FROM_WHERE if name in fields]:", "    if taken := []:"),),
        "recipes/test_custom.py -k keeps_the_names",
    ),
    Mutant(
        "nothing is proven",
        "a proof in which nothing succeeded is none",
        "testing/recipes.py",
        (("undisturbed = _fruitful(calm.finish())", "undisturbed = calm.finish()"),),
        "testing/test_recipes.py -k proof_in_which",
    ),
    Mutant(
        "snapshot while somebody works",
        "a job that is being worked is not copied half-way (F4)",
        "engine/snapshots.py",
        (
            ("    if owner is not None:\n        raise _worked(job, str(owner))\n", ""),
            ("    if before.held:", "    if False:"),
        ),
        "snapshots/test_refusals.py -k is_worked",
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
        "bodies of a refused restore stay",
        "a restore that fails leaves nothing behind, and can be repeated",
        "blobs/shelf.py",
        (("                for path in files:", "                for path in files[:0]:"),),
        "snapshots/test_refusals.py -k before_its_commit",
    ),
    Mutant(
        "names in a snapshot believed",
        "whatever a snapshot names, nothing is written outside the data folder (H13)",
        "model/snapshot.py",
        (("    _check_names(manifest)\n    _check_ids", "    _check_ids"),),
        "snapshots/test_damage.py -k outside",
    ),
    Mutant(
        "ids in a snapshot believed",
        "whatever a snapshot says of its ids, no other job's are used up (H13)",
        "engine/restore.py",
        (("    snapshot.check_ids()\n", ""),),
        "snapshots/test_damage.py -k 'ids or declared'",
    ),
    Mutant(
        "block page taken for a page",
        "a captcha is never stored as a page (JOB-12)",
        "engine/fetching.py",
        (("        if signs:\n", "        if signs and not url:\n"),),
        "cli/test_blocked.py -k 'no_page_and_no_failure and 200'",
    ),
    Mutant(
        "blocked page spent",
        "the page that met a block page is still pending, with all its attempts (JOB-12)",
        "engine/execute.py",
        (("if isinstance(outcome, Failed) and outcome.code in HANDED_BACK:", "if False:"),),
        "cli/test_blocked.py -k 'no_page_and_no_failure and 200'",
    ),
    Mutant(
        "403 counted by nobody",
        "a host that answers 403 again and again pauses the job, and the queue is kept (JOB-12)",
        "engine/worker.py",
        (("(because := blocking(settled.forbade))", "(because := blocking({}))"),),
        "cli/test_blocked.py -k 'ten_times_in_a_row'",
    ),
    Mutant(
        "403 in a row forgotten at an answer that is none",
        "a time-out between two answers 403 does not hide a block (ERR-02)",
        "policy/politeness.py",
        (
            ("            forbade = forbade + 1 if word == FORBADE else 0\n", ""),
            (
                "        elif not (rest_ms",
                "        forbade = forbade + 1 if word == FORBADE else 0\n        if word == FAILED and not (rest_ms",
            ),
        ),
        "ledger/test_conformance_hosts.py -k 'sqlite and TestForbidden'",
    ),
    Mutant(
        "another answer does not end a row of 403",
        "a site where a few pages are forbidden is not blocked (ERR-02)",
        "policy/politeness.py",
        (("forbade + 1 if word == FORBADE else 0", "forbade + (word == FORBADE)"),),
        "ledger/test_conformance_hosts.py -k 'sqlite and TestForbidden'",
    ),
    Mutant(
        "traps followed",
        "a path that repeats itself is not followed for ever (FRO-11, H10)",
        "policy/scope.py",
        (("        cap = trap(address)\n", '        cap = ""\n'),),
        "policy/test_scope.py -k 'trap'",
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
        "cancel now waits for pages in hand",
        "`cancel --now` ends a job at once, however long its pages take",
        "engine/control.py",
        (("    if now:\n", "    if now and job.status != 'in_progress':\n"),),
        "cli/test_control.py -k 'cancel_now'",
    ),
    Mutant(
        "rules dropped by a command that does not repeat them",
        "a rule that leaves targets out of a recipe's job stays until somebody takes it back",
        "cli/run.py",
        (("{**standing, **_rules_typed(call)}", "_rules_typed(call)"),),
        "cli/test_run.py -k 'rule or update'",
    ),
    Mutant(
        "books of a run without what is being settled",
        "a run keeps the numbers of its end, as they stood then",
        "ledger/jobs.py",
        (('    write_tallies(tx)\n    tx.run(\n        "UPDATE run', '    tx.run(\n        "UPDATE run'),),
        "ledger/test_conformance_surveys.py -k 'sqlite and ends_with_a_rescue'",
    ),
    Mutant(
        "unfinished jobs go on unasked",
        "a job that is not to go on by itself after a crash is paused, and its owner is told",
        "cli/resume.py",
        (("        if not call.options.all:\n            jobs", "        if call.options.all:\n            jobs"),),
        "cli/test_control.py -k 'by_itself'",
    ),
    Mutant(
        "moves told twice",
        "whoever reads `--jsonl` is told everything once",
        "engine/news.py",
        (("kinds=MOVES, beyond=self._told))", "kinds=MOVES))"),),
        "cli/test_news.py -k 'twice'",
    ),
    Mutant(
        "moves told behind a moment",
        "a clock that is set back hides no move of `--jsonl`",
        "engine/news.py",
        (
            (
                "every_event(self._ledger, self._job.id, kinds=MOVES, beyond=self._told))",
                "every_event(self._ledger, self._job.id, kinds=MOVES, since=self._at, beyond=self._told))",
            ),
            (
                "        self._told.update(",
                "        self._at = max([self._at, *(row.at for row in rows)])\n        self._told.update(",
            ),
            (
                "        self._told: dict[int, int] = {}",
                "        self._at = 0\n        self._told: dict[int, int] = {}",
            ),
        ),
        "engine/test_news.py",
    ),
    Mutant(
        "targets told from the beginning",
        "`--jsonl` tells what happens, not what had happened",
        "engine/news.py",
        (
            ("        self._mark = ledger.everything(job.id)\n", "        self._mark = Bookmark()\n"),
            ("import Ended\n", "import Bookmark, Ended\n"),
        ),
        "cli/test_news.py -k 'twice'",
    ),
    Mutant(
        "references longer than a number may be",
        "no text of a page or a sitemap costs more than itself (H11)",
        "model/references.py",
        (("    except ValueError:\n", "    except KeyError:\n"),),
        "crash/test_suites.py -k T13",
    ),
    Mutant(
        "a place without a URL",
        "what cannot be read in a sitemap is passed over, and the rest of it is read",
        "policy/sitemaps.py",
        (('match[1] or match[2] or "" for', "match[1] or match[2] for"),),
        "crash/test_suites.py -k T13",
    ),
    Mutant(
        "spaces tried in every two parts",
        "an answer's headers are read in linear time (H11)",
        "recipes/site/charset.py",
        ((r"""r"charset\s*+=\s*+[\"']?\s*+(""", r"""r"charset\s*+=\s*[\"']?\s*("""),),
        "recipes/test_site_charset.py -k header_takes_linear",
    ),
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
