"""Mutants of `views`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
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
                "                over = is_over()  # asked first: whoever is over by now has committed everything\n"
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
        (("(TEXT in names or (self.fields.only is None and self.job.recipe == SITE))", "TEXT in names"),),
        "cli/test_export.py -k 'comes_with_its_text'",
    ),
    Mutant(
        "lost texts in silence",
        "pages whose stored bytes cannot be read are counted, and told",
        "views/results.py",
        (('self.unread["damaged"] += 1', "pass"),),
        "cli/test_export.py -k 'bytes_are_lost'",
    ),
)
