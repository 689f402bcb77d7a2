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
        (("        _sweep(path)\n", ""),),
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
)
