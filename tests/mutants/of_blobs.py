"""Mutants of `blobs`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
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
        "body not fsynced before the commit",
        "a row never refers to bytes that are not on the disk (F1)",
        "blobs/segments.py",
        (("        self._disk.fdatasync(self._descriptor)\n", "        pass\n"),),
        "blobs/test_segments.py -k 'a_group_costs_one_fsync'",
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
                "        if through is None:\n            sync_directory(path.parent, disk=disk)\n",
                "",
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
        "what a killed export left stays",
        "a killed export leaves nothing beside its output for longer than until the next one",
        "blobs/publish.py",
        (("            sweep(path)\n", ""),),
        "blobs/test_publish.py -k is_swept",
    ),
    Mutant(
        "swept though it is locked",
        "the file of an export that still writes is nobody else's to remove",
        "blobs/publish.py",
        (("            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", ""),),
        "blobs/test_publish.py -k still_writes",
    ),
    Mutant(
        "let go of before the rename",
        "an export that is whole gets to its place, whoever else writes to it",
        "blobs/publish.py",
        (
            (
                '                point("export.before_rename")\n                os.replace(temporary, path)  #',
                '            point("export.before_rename")\n            os.replace(temporary, path)  #',
            ),
        ),
        "blobs/test_publish.py -k held_until",
    ),
    Mutant(
        "swept by a name without a lock",
        "where files cannot be locked, nobody takes the living for the dead",
        "blobs/publish.py",
        (
            (
                "    os.close(descriptor)\n    temporary.unlink(missing_ok=True)\n"
                "    return _new_file(path.parent, mode)\n",
                "    return temporary, descriptor\n",
            ),
        ),
        "blobs/test_publish.py -k cannot_be_locked",
    ),
    Mutant(
        "written to though it was swept",
        "an export gets to its place, whoever began to write to it at the same moment",
        "blobs/publish.py",
        (
            (
                "        if os.fstat(descriptor).st_nlink:\n            return",
                "        if descriptor:\n            return",
            ),
        ),
        "blobs/test_publish.py -k before_it_was_locked",
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
        "body's hash not tested",
        "what was spoiled on the disk is not handed out as the page (F1)",
        "blobs/warc.py",
        (("    if sha256(content).digest() != reference.sha256:\n", "    if not content and reference.size:\n"),),
        "crash/test_damage.py -k 'each_others_place'",
    ),
    Mutant(
        "archive in the order of arrival",
        "a killed crawl exports byte for byte what an undisturbed one does",
        "blobs/archive.py",
        (("in ordered:", "in pages:"),),
        "blobs/test_archive.py -k 'order_of_arrival'",
    ),
    Mutant(
        "bodies of a refused restore stay",
        "a restore that fails leaves nothing behind, and can be repeated",
        "blobs/shelf.py",
        (("                for path in files:", "                for path in files[:0]:"),),
        "snapshots/test_refusals.py -k before_its_commit",
    ),
    Mutant(
        "another ledger's pages are left over",
        "a repair removes only what is provably nobody's (SEC-10)",
        "blobs/leftovers.py",
        (("Leftover(folder, read_mark(file.fileno()) == self._mark)", "Leftover(folder, True)"),),
        "cli/test_looks_change_nothing.py -k 'killed_restore'",
    ),
    Mutant(
        "a folder's foreign file is replaced",
        "an export to a folder replaces no file that no export wrote",
        "blobs/folder.py",
        (("            if before is not None and not before.startswith(self._start):\n", "            if False:\n"),),
        "cli/test_export_markdown.py -k 'somebody_elses'",
    ),
    Mutant(
        "a file gets its name before it is on the disk",
        "a row never refers to a file that is not on the disk (F1)",
        "blobs/partial.py",
        (("            self._confirm(self._disk.fsync)\n", "            pass\n"),),
        "engine/test_files.py -k 'durable_before'",
    ),
    Mutant(
        "a file's folder not fsynced",
        "the file that a row refers to has its name on the disk (F1)",
        "blobs/artifacts.py",
        (("        self._together(self._sync_folder, [self._root / each for each in named])\n", ""),),
        "engine/test_files.py -k 'durable_before'",
    ),
    Mutant(
        "files of a group get their names one after the other",
        "all files of a commit are on the disk before the first has its name (F1)",
        "blobs/artifacts.py",
        (
            ("        self._together(Partial.make_durable, [partial for _, partial in files])\n", ""),
            (
                "            self._make_folder((self._root / wanted).parent)\n",
                "            self._make_folder((self._root / wanted).parent)\n            partial.make_durable()\n",
            ),
        ),
        "engine/test_files.py -k 'of_a_group'",
    ),
    Mutant(
        "a file of a repeated group is looked for under its old name",
        "a commit that was refused for a moment is repeated, not given up (F1)",
        "blobs/artifacts.py",
        (("        if not path.exists() or not has_hash(path, digest):\n            raise\n", "        raise\n"),),
        "engine/test_files.py -k 'repeated and by_hash'",
    ),
    Mutant(
        "another version is written under the old one's note",
        "a file is continued only as the version that lies there (D6)",
        "blobs/partial.py",
        (
            (
                "            _unlink(self._note_path)\n            os.ftruncate(self._descriptor, 0)\n",
                "            os.ftruncate(self._descriptor, 0)\n",
            ),
        ),
        "engine/test_files.py -k 'note_of_another'",
    ),
    Mutant(
        "a small file that was cut off has no note",
        "what came in of a file is not asked for again after a failed try (D6)",
        "blobs/partial.py",
        (("                if not self._noted:\n                    self.sync(self._written)\n", ""),),
        "engine/test_files.py -k 'small_file_that_was_cut_off'",
    ),
    Mutant(
        "the rest of a file that is held is not written",
        "the file that gets its name has all its bytes (F1)",
        "blobs/partial.py",
        (("        self._flush()\n        self._wait()\n", "        self._wait()\n"),),
        "engine/test_files.py -k 'kept_by_its_hash'",
    ),
    Mutant(
        "a small file that is held is confirmed before it is written",
        "no row says done of a file that only this program's memory has (F1)",
        "blobs/partial.py",
        (
            (
                '        self.settle()\n        point("file.before_fsync")\n',
                "        self._descriptor = self._descriptor if self._descriptor >= 0 else self._made()\n"
                '        point("file.before_fsync")\n',
            ),
        ),
        "engine/test_files.py -k 'small_file_is_written'",
    ),
    Mutant(
        "the rest of a small file is written behind what the disk refused",
        "a commit that was refused for a moment is repeated with all bytes of its files (F1)",
        "blobs/partial.py",
        (("                self._written = 0  # all", "                self._held = []  # all"),),
        "blobs/test_partial.py -k 'refused_for_a_moment'",
    ),
    Mutant(
        "bytes whose sync failed are continued",
        "what the disk did not confirm is not trusted again, however the next fsync ends (D3)",
        "blobs/partial.py",
        (("            self._is_spoilt = True\n            _unlink(self._note_path)\n", ""),),
        "blobs/test_partial.py",
    ),
    Mutant(
        "a file of a repeated group is not looked for beside another",
        "a commit that was refused for a moment is repeated, also where the file's key was taken (DOC-20)",
        "blobs/artifacts.py",
        (("        for name in (wanted, other):\n", "        for name in (wanted,):\n"),),
        "engine/test_files.py -k 'beside_another'",
    ),
    Mutant(
        "a record's headers have no limit",
        "a hostile WARC file costs no more than its records may (PRF-08)",
        "blobs/web_archive/records.py",
        (("    if end is None or len(lines) > HEAD_LINES_MAX:\n", "    if end is None:\n"),),
        "fetch/test_archive.py -k 'endless_headers'",
    ),
    Mutant(
        "a plain archive is read as far as the largest answer might go",
        "of a WARC file only the record that is wanted is read (PRF-08)",
        "blobs/web_archive/records.py",
        (("    taken = file.read(READ_BYTES)\n", "    taken = file.read(HEAD_BYTES_MAX + block_bytes_max)\n"),),
        "fetch/test_archive.py -k 'plain_file_only'",
    ),
    Mutant(
        "exported files get their names before they are on the disk",
        "an exported file is whole under its name (D1)",
        "blobs/batch.py",
        (("            self._together(lambda item: self._disk.fsync(item[2].fileno()), made)\n", ""),),
        "blobs/test_batch.py -k 'before_any'",
    ),
    Mutant(
        "the folder of exported files is not fsynced",
        "an exported file has its name on the disk (D1)",
        "blobs/batch.py",
        (("            self._together(lambda folder: sync_directory(folder, disk=self._disk), folders)\n", ""),),
        "blobs/test_batch.py -k 'before_any'",
    ),
    Mutant(
        "what living writers fill is swept",
        "two exports to one folder do not take each other's files away",
        "blobs/batch.py",
        (("                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", ""),),
        "blobs/test_batch.py -k 'living'",
    ),
    Mutant(
        "bytes that were never synced are trusted after a power cut",
        "a continued file has no bytes that the disk made up (D6)",
        "blobs/partial.py",
        (("known = there if note.boot == self._boot else min(there, note.synced)", "known = there"),),
        "engine/test_files.py -k 'power_cut'",
    ),
    Mutant(
        "a small file is written into what lies there",
        "the file that gets its name has its own bytes and no others (F1)",
        "blobs/partial.py",
        (("os.O_CREAT | os.O_EXCL | os.O_RDWR", "os.O_CREAT | os.O_RDWR"), (" and there.st_size == 0:", ":")),
        "blobs/test_partial.py -k 'killed_worker_left'",
    ),
    Mutant(
        "a small file that was swept is written all the same",
        "the file that gets its name is the one that was written (F1)",
        "blobs/partial.py",
        (("        if there.st_nlink == 1 and there.st_size == 0:\n", "        if there.st_size == 0:\n"),),
        "blobs/test_partial.py -k 'swept_before'",
    ),
    Mutant(
        "a small file is written into what came before its lock",
        "the file that gets its name has its own bytes and no others (F1)",
        "blobs/partial.py",
        (("        if there.st_nlink == 1 and there.st_size == 0:\n", "        if there.st_nlink == 1:\n"),),
        "blobs/test_partial.py -k 'written_to_before'",
    ),
    Mutant(
        "every run of a sort stays open",
        "rows without end are sorted with few files open",
        "blobs/spill.py",
        (("            if len(levels[level]) == RUNS_MAX:\n", "            if False:\n"),),
        "blobs/test_spill.py",
    ),
    Mutant(
        "a file replaces another under its key",
        "no file that a row refers to is replaced by other bytes (DOC-20)",
        "blobs/artifacts.py",
        (("    if is_ours:\n        _replaced(", "    if True:\n        _replaced("),),
        "engine/test_files.py -k 'never_replaced'",
    ),
    Mutant(
        "a published file is written to by the next try",
        "a file that has its name is never changed (F1)",
        "blobs/partial.py",
        (("if os.fstat(descriptor).st_nlink > 1:", "if False:"),),
        "engine/test_files.py -k 'killed_writer_shares'",
    ),
    Mutant(
        "another archive under the same job",
        "a job that reads WARC files never goes on in others: its plan counts pages by their place",
        "blobs/web_archive/archive.py",
        (("            raise Refused(\n", "            str(\n"), ("                hint=", "                errors=")),
        "fetch/test_archive.py -k 'have_changed'",
    ),
    Mutant(
        "an answer to a form taken for a page",
        "what a WARC file has of other requests than GET is never taken for the page",
        "blobs/web_archive/index.py",
        (('    "DELETE FROM answer WHERE record IN (SELECT record FROM other)",\n', ""),),
        "fetch/test_archive.py -k 'has_not_is_no_page'",
    ),
    Mutant(
        "an archive read in part, in silence",
        "a WARC file that is cut off is used as far as it goes, and that is said",
        "blobs/web_archive/index.py",
        (('            told = f"not read', '            f"not read'),),
        "fetch/test_archive.py -k 'cut_off'",
    ),
)
