"""Mutants of `policy`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "suspects in company",
        "one killer does not spend its neighbours' attempts (TGT-06)",
        "policy/recovery.py",
        (("        return Rescue(State.SOLO, True, deaths)\n", "        return Rescue(State.READY, True, deaths)\n"),),
        "engine/test_session.py -k 'suspects'",
    ),
    Mutant(
        "a packed sitemap without a limit",
        "a hostile sitemap costs bounded memory (H11)",
        "policy/listings.py",
        (("    if size >= RATIO_FROM_BYTES and size > RATIO_MAX * packed:\n", "    if size < 0:\n"),),
        "policy/test_sitemaps.py -k 'fills_the_memory'",
    ),
    Mutant(
        "every worker has the whole concurrency",
        "--concurrency is the total over all processes",
        "policy/leasing.py",
        (("max(1, share(workers, options.concurrency, place=place))", "options.concurrency"),),
        "engine/test_several.py -k 'concurrency_is_the_total'",
    ),
    Mutant(
        "amended over another's change",
        "of two people who change a job at once, none loses what the other did",
        "policy/amending.py",
        (("    if any(getattr(stands, name) != ", "    if known is None and any(getattr(stands, name) != "),),
        "ledger/test_conformance_jobs.py -k 'sqlite and the_second_is_refused'",
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
        "a place without a URL",
        "what cannot be read in a sitemap is passed over, and the rest of it is read",
        "policy/listings.py",
        (("        if not url or len(url)", "        if len(url)"), (' or url[0] == "&":', ":")),
        "policy/test_sitemaps.py -k 'place_that_is_none'",
    ),
    Mutant(
        "expressions by backtracking",
        "no link makes a pattern slow (SEC-07)",
        "policy/expressions.py",
        (("            if fast is not None:\n", "            if fast is not None and not reason and False:\n"),),
        "policy/test_patterns.py -k 'makes_a_pattern_slow'",
    ),
    Mutant(
        "a path of any length for a pattern that backtracks",
        "an expression that backtracks is tried on paths that it takes bounded time for, and on no others (SEC-07)",
        "policy/patterns.py",
        (("lambda path: len(path) <= path_max and found_in(path)", "lambda path: found_in(path)"),),
        "policy/test_patterns.py -k 'bounded_time_for'",
    ),
    Mutant(
        "a long path left out by an include that was not tried",
        "a path too long for a pattern is fetched, and that is told (SEC-07)",
        "policy/scope.py",
        ((" and not self._untried(address.path):\n", ":\n"),),
        "policy/test_scope.py -k 'too_long_for_a_pattern'",
    ),
    Mutant(
        "the first gzip member alone",
        "a sitemap of several gzip members is read whole (FRO-15)",
        "policy/listings.py",
        (("    for _ in range(MEMBERS_MAX):\n", "    for _ in range(1):\n"),),
        "policy/test_sitemaps.py -k 'members'",
    ),
    Mutant(
        "half a URL of a list that is cut",
        "only complete entries of a list count (FRO-15)",
        "policy/sitemaps.py",
        (("        if end == len(text) and gathered.cut:\n", "        if end < 0:\n"),),
        "policy/test_sitemaps.py -k 'no_part_of_a_url'",
    ),
    Mutant(
        "entries that are commented out",
        "what is commented out of a sitemap is not fetched (FRO-15)",
        "policy/markup.py",
        (("                at = _passed(self._text, mark[1], mark.end())\n", "                at = mark.end()\n"),),
        "policy/test_sitemaps.py -k 'every_form and comment'",
    ),
    Mutant(
        "a list without an end of its entries",
        "a list of any make costs bounded time (SEC-07)",
        "policy/listings.py",
        (("        if self.looked_at <= ENTRIES_MAX:\n", "        if self.looked_at:\n"),),
        "policy/test_sitemaps.py -k 'reading_ends_after'",
    ),
    Mutant(
        "one odd character makes every URL four times as large",
        "the URLs of one list have bounded room (SEC-07)",
        "policy/listings.py",
        ((" and self._room >= 0:\n", ":\n"),),
        "policy/test_sitemaps.py -k 'any_make and wide'",
    ),
    Mutant(
        "a dead end is a good end",
        "a crawl that got no further than its start page is not called good (FRO-13)",
        "policy/health.py",
        (('    if health == "ok" and dead_end:', "    if False:"),),
        "policy/test_health.py -k 'dead_end_is_suspicious'",
    ),
    Mutant(
        "rules with a star asked without a limit",
        "a hostile robots.txt does not hold the crawl up: a link is checked in bounded time (SEC-07)",
        "policy/robots_rules.py",
        (("                if budget < 0:\n", "                if budget is None:\n"),),
        "policy/test_robots.py -k 'takes_too_long'",
    ),
    Mutant(
        "a starred name means everybody",
        "a group for other robots is not read as one for all (SEC-07)",
        "policy/robots.py",
        (("if rest != value and (not rest or", "if rest != value and (True or"),),
        "policy/test_robots.py -k 'not_plain_or_not_to_us'",
    ),
)
