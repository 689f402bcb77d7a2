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
        "policy/sitemaps.py",
        (("        if size >= RATIO_FROM_BYTES and size > RATIO_MAX * len(packed):\n", "        if size < 0:\n"),),
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
        "policy/sitemaps.py",
        (('match[1] or match[2] or "" for', "match[1] or match[2] for"),),
        "crash/test_suites.py -k T13",
    ),
    Mutant(
        "rules with a star asked without a limit",
        "a hostile robots.txt does not hold the crawl up: a link is checked in bounded time (SEC-07)",
        "policy/robots_rules.py",
        (
            ("                if budget < 0:\n", "                if budget is None:\n"),
            ("        if sum(map(len, lists)) > LIKELY_MAX:\n", "        if lists is None:\n"),
        ),
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
