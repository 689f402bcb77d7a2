"""Mutants of `views`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "one file of two pages",
        "pages of the same name share a file only where they are the same page",
        "views/exports/markdown.py",
        (("    return one[0] == other[0] and one[2]", "    return True or one[2]"),),
        "cli/test_export_markdown.py -k 'the_plainest_has_it'",
    ),
    Mutant(
        "the home page with a hash",
        "of pages of the same name, the one with the plainest URL has it",
        "views/exports/file_names.py",
        (("    return len(url), url\n", "    return -len(url), url\n"),),
        "cli/test_export_markdown.py -k 'the_plainest_has_it'",
    ),
    Mutant(
        "a page named as another one's file",
        "no page can have the file name that another gets by its hash",
        "views/exports/file_names.py",
        ((" or _LIKE_A_HASH.search(name)", ""),),
        "cli/test_export_markdown.py -k 'the_plainest_has_it'",
    ),
    Mutant(
        "files that say when",
        "a page of the same content gives the same Markdown file, whatever was fetched again",
        "views/exports/front_matter.py",
        (('"depth", "duplicate_of"', '"depth", "fetched_at", "duplicate_of"'),),
        "cli/test_export_markdown.py -k 'whatever_was_killed'",
    ),
    Mutant(
        "dated in the order of discovery",
        "with --date, equal answers give equal files of every form",
        "views/results.py",
        (("        return self.dated_ms is not None\n", "        return False\n"),),
        "cli/test_export_forms.py -k 'every_form'",
    ),
    Mutant(
        "read before it is handed out",
        "a consumer of results that is stopped gets what it was handed last once more",
        "views/stream.py",
        (
            (
                "                yield each.row\n                self._mark = self._mark.after(each)\n",
                "                self._mark = self._mark.after(each)\n                yield each.row\n",
            ),
        ),
        "views/test_stream.py -k 'goes_on_where_it_was'",
    ),
    Mutant(
        "the end before the last results",
        "a follower of results has all of them when the job has ended",
        "views/stream.py",
        (
            (
                "                over = is_over()  # asked first: a worker that is over has committed everything\n"
                "                yield from self._committed()\n",
                "                yield from self._committed()\n                over = is_over()\n",
            ),
        ),
        "views/test_stream.py -k 'before_the_end'",
    ),
    Mutant(
        "moves told twice",
        "whoever reads `--jsonl` is told everything once",
        "views/job_events.py",
        (("        found, self._untold = self._untold, []\n", "        found = self._untold\n"),),
        "cli/test_job_events.py -k 'twice'",
    ),
    Mutant(
        "a run ends before its targets",
        "who reads `--jsonl` up to the end of a run has read every target of it",
        "views/job_events.py",
        (("        told.append(told.pop(runs[-1]))\n", "        told.insert(0, told.pop(runs[-1]))\n"),),
        "views/test_job_events.py -k 'behind_its_targets'",
    ),
    Mutant(
        "events in the order of their kinds",
        "`--jsonl` tells what happened in the order in which it happened",
        "views/job_events.py",
        (('list(merge(*rising, key=attrgetter("when")))', "[each for rows in rising for each in rows]"),),
        "views/test_job_events.py -k 'in_the_order'",
    ),
    Mutant(
        "moves told behind a moment",
        "a clock that is set back hides no move of `--jsonl`",
        "views/job_events.py",
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
        "views/test_job_events.py",
    ),
    Mutant(
        "targets told from the beginning",
        "`--jsonl` tells what happens, not what had happened",
        "views/job_events.py",
        (
            ("        self._mark = ledger.everything(job.id)\n", "        self._mark = Bookmark()\n"),
            ("import EndedTarget\n", "import Bookmark, EndedTarget\n"),
        ),
        "cli/test_job_events.py -k 'twice'",
    ),
    Mutant(
        "pages without their text",
        "every page of a site is exported with its text",
        "views/results.py",
        (("usual = (self.kind.columns or ()) if self.fields.only is None else ()", "usual = ()"),),
        "cli/test_export.py -k 'comes_with_its_text'",
    ),
    Mutant(
        "lost texts in silence",
        "pages whose stored bytes cannot be read are counted, and told",
        "views/results.py",
        (('self.unread["damaged"] += 1', "pass"),),
        "cli/test_export.py -k 'bytes_are_lost'",
    ),
    Mutant(
        "made targets are exported as pages",
        "an export of a site has its pages and nothing that later phases made of them",
        "views/results.py",
        (("        wanted = self.kind.exported\n", '        wanted = ""\n'),),
        "cli/test_report.py -k three_forms",
    ),
    Mutant(
        "crawled words are markup",
        "what was crawled is text in a report, whatever stands in it",
        "views/reports/html.py",
        (('    words = escape(statement["text"])\n', '    words = statement["text"]\n'),),
        "views/test_reports.py -k brings_no_script",
    ),
    Mutant(
        "any file of the right length",
        "an export takes no other file for one of its own, and replaces none",
        "views/exports/files.py",
        (("return digest.digest() == row.sha256", "return True"),),
        "documents/test_direct_lists.py -k 'under_the_name'",
    ),
    Mutant(
        "a member for every target",
        "a file that several targets share is in an archive once",
        "views/exports/files.py",
        (
            (
                "            if row.path != last:\n",
                "            if True:\n",
            ),
        ),
        "cli/test_export_forms.py -k 'several_targets'",
    ),
    Mutant(
        "a folder is anybody's",
        "an export removes no results of another job",
        "views/exports/exporter.py",
        (("    refuse_folder_of_another(storage, job.name, job.uid, path)\n", ""),),
        "cli/test_export_markdown.py -k 'of_another_job'",
    ),
    Mutant(
        "an export sorts its images in memory",
        "the memory of an export of images does not grow with their number",
        "views/exports/named_files.py",
        (("storage.in_order(every, kind=Naming, key=lambda naming: naming)", "sorted(every)"),),
        "views/test_image_folder_safety.py -k 'in_memory'",
    ),
    Mutant(
        "any index is ours",
        "an export of Markdown replaces no index.jsonl that no export wrote",
        "views/exports/markdown.py",
        (("        msgspec.json.decode(line, type=_IndexLine)\n", "        pass\n"),),
        "cli/test_export_markdown.py -k 'index_of_somebody'",
    ),
    Mutant(
        "a manifest makes a folder ours",
        "an export of images writes into no folder of somebody else, and removes nothing there",
        "views/exports/folder.py",
        (("    check_early(asked.results.kind, path)\n", ""),),
        "cli/test_export_images.py -k 'somebody_else'",
    ),
    Mutant(
        "a folder of another data folder is ours",
        "two data folders that export images to one place do not remove each other's",
        "views/exports/folder_owner.py",
        (("mark.uid != uid and (note is None or note.uid != mark.uid)", "mark.uid != uid and note is None"),),
        "cli/test_export_images.py -k 'another_data_folder'",
    ),
    Mutant(
        "changed images are removed",
        "an export of images removes no file whose bytes it did not write",
        "views/exports/folder.py",
        ((" and _digest(storage, path) in each.ours:", ":"),),
        "views/test_image_folder_safety.py -k 'changed_stays'",
    ),
    Mutant(
        "a mark at the end",
        "an export of images that is killed is completed by the same command",
        "views/exports/folder.py",
        (
            (
                "    mark_folder(asked.storage, asked.results.job, path)\n"
                "    return write_folder(asked.results, asked.storage, path)\n",
                "    written = write_folder(asked.results, asked.storage, path)\n"
                "    mark_folder(asked.storage, asked.results.job, path)\n    return written\n",
            ),
        ),
        "cli/test_export_images.py -k 'is_killed and 5'",
    ),
    Mutant(
        "tables over files of others",
        "an export of files replaces no table that no export wrote",
        "views/exports/files.py",
        (("        if (path / name).exists():\n", "        if False:\n"),),
        "cli/test_output_checks.py -k 'somebody_else and audit'",
    ),
    Mutant(
        "others' shards are taken for ours",
        "an export of shards removes no file that no export of ours wrote",
        "views/exports/webdataset.py",
        (("first is not None and first.uname == MARK", "first is not None"),),
        "views/test_shards.py -k somebody_else",
    ),
    Mutant(
        "keys of samples begin anew in each part",
        "no two samples of a set have one key (IMG-08)",
        "views/exports/webdataset.py",
        (('key = f"{part}-{number:09d}" if part else f"{number:09d}"', 'key = f"{number:09d}"'),),
        "views/test_shards.py -k one_key",
    ),
    Mutant(
        "an index that is not sorted",
        "viewers of web archives find every page of a WACZ file",
        "views/exports/wacz.py",
        (("asked.storage.in_order(index, kind=IndexLine, key=lambda line: line)", "list(index)[::-1]"),),
        "cli/test_wacz.py -k 'where_the_index_says'",
    ),
    Mutant(
        "an export of files tells paths of the data folder",
        "a path in an exported table leads to the file beside it (DOC-33)",
        "views/results.py",
        (("            whole[PATH] = path.removeprefix(ARTIFACTS)\n", "            whole[PATH] = path\n"),),
        "documents/test_direct_lists.py -k 'rows_become'",
    ),
    Mutant(
        "a copy counts as kept",
        "the numbers of an images job are those of its rows, by keyword and by engine (IMG-05)",
        "views/images/reading.py",
        (('            return "duplicates"\n', '            return "kept"\n'),),
        "views/test_images.py -k 'balance and sqlite'",
    ),
    Mutant(
        "surplus is pending for ever",
        "a keyword that is done has nothing pending (IMG-05)",
        "views/images/reading.py",
        (('            self.beyond = "surplus" if', '            self.beyond = "pending" if'),),
        "views/test_images.py -k 'balance and sqlite'",
    ),
    Mutant(
        "the first minute is a pace",
        "a resume estimates only what it knows (PAU-11)",
        "views/images/job.py",
        (("    if job.active_ms < AVERAGE_MS_MIN or", "    if not job.active_ms < 0 and"),),
        "views/test_images.py -k 'resume and sqlite'",
    ),
    Mutant(
        "a damaged checkpoint is the present",
        "a document of a damaged checkpoint is refused, not made up (engines world, line 9; CHK-06)",
        "views/history.py",
        (("row.number != number or row.point is None or", "row.number != number or"),),
        "recipes/images/test_defects.py -k damaged_checkpoint",
    ),
    Mutant(
        "only the newest report is kept",
        "every rescan makes a version of its own, and all can be read (company world, line 14)",
        "views/reports/versions.py",
        (("for number, row in enumerate(rows, 1)]", "for number, row in enumerate(rows[-1:], 1)]"),),
        "crash/test_report_phases.py -k 'next_version and sqlite'",
    ),
    Mutant(
        "files are numbered as they are exported",
        "a file keeps its name, whatever is thrown out (engines world, line 2)",
        "views/exports/image_files.py",
        (
            (
                "        self._folders: dict[str, str] = {}\n",
                "        self._folders: dict[str, str] = {}\n        self._given: dict[str, int] = {}\n",
            ),
            (
                "        extension = EXTENSIONS",
                "        number = self._given[image['keyword']] = self._given.get(image['keyword'], 0) + 1\n"
                "        extension = EXTENSIONS",
            ),
            ("{image['number']:0{", "{number:0{"),
        ),
        "views/test_image_folder.py -k thrown_out",
    ),
    Mutant(
        "folders are named in the order of the alphabet",
        "a keyword that is added later renames no file (engines world, line 2)",
        "views/exports/folder.py",
        (('FileNames(results.job.params["keywords"])', "FileNames()"),),
        "views/test_image_folder.py -k added_later",
    ),
    Mutant(
        "a keyword without an image is completed",
        "a keyword without an image has failed, and says so (engines world, line 6)",
        "views/images/chunk.py",
        (('return "completed" if keyword.kept else "failed"', 'return "completed"'),),
        "recipes/images/test_defects.py -k without_an_image",
    ),
    Mutant(
        "every export begins its folder anew",
        "what was written before a restart stays, and another worker goes on with it (engines world, line 10)",
        "views/exports/folder.py",
        (("    if not path.exists():\n        return False\n", "    return False\n"),),
        "views/test_image_folder.py -k over_deaths",
    ),
)
