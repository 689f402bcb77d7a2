"""Mutants of `config`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
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
        ((r"""re.sub(_IN_AN_ADDRESS, r"\1:***@", text)""", "text"),),
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
        "results over the ledger",
        "an export never takes the place of the ledger or the pages",
        "config/results_file.py",
        (("    if folder in real.parents and real", "    if not path and real"),),
        "cli/test_looking.py -k 'never_lands'",
    ),
    Mutant(
        "two rows are one job",
        "a list is used as a whole, or not at all",
        "config/lists.py",
        (("(first := known.setdefault(check(wish), line)) != line", "(first := len(check(wish))) < 0"),),
        "client/test_jobs.py -k 'same_job'",
    ),
    Mutant(
        "half a password is shown",
        "what is shown of an address has no part of its password",
        "config/secrets.py",
        (
            (
                r'_IN_AN_ADDRESS = r"(?<=://)([^/@\s:]*):([^/\s]*)@"',
                r'_IN_AN_ADDRESS = r"(?<=://)([^/@\s:]*):([^/@\s]*)@"',
            ),
        ),
        "config/test_reading.py -k 'no_part_of_a_password'",
    ),
    Mutant(
        "a stranger's settings obeyed",
        "settings that somebody else could have written are not obeyed unless they are named (SEC-09)",
        "config/reading.py",
        (("        refuse_foreign(near)\n", "        pass\n"),),
        "config/test_trust.py -k 'somebody_else'",
    ),
)
