"""Mutants of `model`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
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
        "walk puts back what failed again",
        "a retried target that fails again is not retried for ever (TGT-07)",
        "model/edit.py",
        (("        return no <= self.commits.get(str(chunk), 0)\n", "        return no > 0\n"),),
        "ledger/test_conformance_reopening.py -k 'sqlite and (fails_again or found_and_settled)'",
    ),
    Mutant(
        "manifest of a snapshot not tested",
        "a snapshot says what was written, to the last byte of its manifest (D10)",
        "model/snapshot.py",
        (("    if manifest.sealed() != manifest or manifest.encoded() != stored:", "    if False:"),),
        "snapshots/test_damage.py -k 'changed or spaces'",
    ),
    Mutant(
        "names in a snapshot believed",
        "whatever a snapshot names, nothing is written outside the data folder (H13)",
        "model/snapshot.py",
        (("    _check_names(manifest)\n    _check_ids", "    _check_ids"),),
        "snapshots/test_damage.py -k outside",
    ),
    Mutant(
        "references longer than a number may be",
        "no text of a page or a sitemap costs more than itself (H11)",
        "model/references.py",
        (("    except ValueError:\n", "    except KeyError:\n"),),
        "crash/test_suites.py -k T13",
    ),
    Mutant(
        "any name in a snapshot",
        "a job's name from elsewhere is not a command of a shell (SEC-10)",
        "model/snapshot.py",
        (("    wrong += [] if is_stored_name(manifest.name) else [manifest.name]\n", ""),),
        "snapshots/test_hostile.py -k 'no_job_can_have'",
    ),
    Mutant(
        "a name printed into a command as it stands",
        "what people copy into a shell is one command (SEC-10)",
        "model/spelling.py",
        (("    return shlex.quote(text)", "    return text"),),
        "model/test_spelling.py -k 'one_word'",
    ),
    Mutant(
        "a list of this computer for a job from elsewhere",
        "a restored job reads no list of this computer before a person agrees (SEC-10)",
        "model/demands.py",
        (
            (
                "    lines += _list((params or {}).get(LIST))\n",
                "",
            ),
        ),
        "snapshots/test_hostile.py -k 'list_on_this'",
    ),
    Mutant(
        "an option without words is nothing to be told",
        "what a job from elsewhere wants is told, also where its option says no words for it (SEC-10)",
        "model/demands.py",
        (('        yield f"{name}: {value}"\n', "        return\n"),),
        "snapshots/test_hostile.py -k 'calls and harmless'",
    ),
    Mutant(
        "files of this computer for a job from elsewhere",
        "a restored job reads no WARC files of this computer before a person agrees",
        "model/demands.py",
        (('        lines += _said("reads these files of this computer: {}")(ARCHIVES, archives)\n', "        pass\n"),),
        "cli/test_from_warc.py -k 'from_elsewhere'",
    ),
    Mutant(
        "half a case is not asked for again",
        "a case that was shown in part only is asked for again, and not dropped (CAS-07)",
        "model/codes.py",
        (('or gave no settled answer about it", True)', 'or gave no settled answer about it", False)'),),
        "recipes/test_cases_form.py -k gone_when_it_is_clicked",
    ),
    Mutant(
        "credentials follow a redirect",
        "a header that a step sends goes to no origin that a redirect leads to (H5, SEC-08)",
        "model/exchange.py",
        (("        if origin_of(url) not in origins_of(self.url):\n", "        if not url:\n"),),
        "engine/test_files.py -k no_credentials",
    ),
    Mutant(
        "a date of the second of the answer",
        "a page or list that changes twice within a second is fetched again",
        "model/exchange.py",
        (('return "" if then == headers.get("date") else then', "return then"),),
        "recipes/test_site_step.py -k second_of_the_answer",
    ),
    Mutant(
        "every file has the same name",
        "files that come in at once never overwrite each other (engines world, line 3)",
        "model/artifact.py",
        (('    return f"{BY_HASH}/{digits[:2]}/{digits}"\n', '    return f"{BY_HASH}/{digits[:0]}image"\n'),),
        "recipes/images/test_downloads.py -k at_once",
    ),
    Mutant(
        "a budget for answers that fills the memory",
        "large answers at once cost a crawl less than 300 MB (SEC-07)",
        "model/job_options.py",
        (("    bytes_in_flight: int = 48_000_000", "    bytes_in_flight: int = 256_000_000"),),
        "cli/test_bodies_in_memory.py",
    ),
)
