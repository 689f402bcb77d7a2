"""Mutants of `config`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a secret written into a job",
        "a secret of a job file is named, never stored",
        "config/secrets.py",
        (("    if is_secret(name.strip(), value.strip()) and", "    if not name and"),),
        "config/test_jobfile.py -k 'refused_by_its_key'",
    ),
    Mutant(
        "a password in an address shown",
        "no screen shows a password (SEC-03)",
        "config/secrets.py",
        (("""{before.partition(':')[0]}:***@""", "{before}@"),),
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
        (("for folder in real.parents):", "for folder in ()):"),),
        "cli/test_looking.py -k 'never_lands'",
    ),
    Mutant(
        "a place that refuses is found out late",
        "results that could not be written are refused before a job is made",
        "config/results_file.py",
        (("    _probe(path, real.parent)\n", ""),),
        "cli/test_output_checks.py -k 'wrong_place and refuses'",
    ),
    Mutant(
        "two rows are one job",
        "a list is used as a whole, or not at all",
        "config/lists.py",
        (("(first := known.setdefault(check(description), line)) != line", "(first := len(check(description))) < 0"),),
        "client/test_jobs.py -k 'same_job'",
    ),
    Mutant(
        "half a password is shown",
        "what is shown of an address has no part of its password",
        "config/secrets.py",
        (("(rest if mark else text).rpartition(", "(rest if mark else text).partition("),),
        "config/test_reading.py -k 'no_part_of_a_password'",
    ),
    Mutant(
        "typed headers for every host",
        "a header typed for a job goes to the origins of its seeds only (SEC-08)",
        "config/headers.py",
        (("        or not (anywhere or name.lower() in HARMLESS_HEADERS)\n", ""),),
        "cli/test_headers.py -k 'go_to_the_seeds_alone'",
    ),
    Mutant(
        "secrets told by their names only",
        "a secret is not stored in the clear, whatever its header is called (SEC-08)",
        "config/secrets.py",
        (("    return _SECRET_VALUE.fullmatch(value) is not None\n", "    return False\n"),),
        "cli/test_headers.py -k 'by_its_name_or_its_looks'",
    ),
    Mutant(
        "what may be a secret for every host",
        "a typed value that may be a secret goes to every host by no wish (SEC-08)",
        "config/secrets.py",
        (("    return looks or is_secret(name, value)\n", "    return is_secret(name, value)\n"),),
        "cli/test_headers.py -k 'may_be_a_secret'",
    ),
    Mutant(
        "results in the place of a ledger",
        "no results file takes the place of what a data folder keeps, this one or another",
        "config/results_file.py",
        ((' or (folder / "ledger.db").exists()', ""),),
        "cli/test_looking.py -k 'another_data_folder'",
    ),
    Mutant(
        "cells name secrets",
        "a cell of a list names no environment variable and no file whose contents are sent to a site",
        "config/rows.py",
        (("if _names_secret(key, after) and not", "if not _names_secret(key, after) and not"),),
        "cli/test_batch.py -k 'beyond_its_job'",
    ),
    Mutant(
        "cells choose secrets",
        "a cell chooses no environment variable, and no file outside of the folder that the template names",
        "config/rows.py",
        (("        _refuse_choice(key, _reference(key, before), _reference(key, after), folder)\n", ""),),
        "cli/test_batch.py -k 'beyond_its_job'",
    ),
    Mutant(
        "cells lead outside",
        "a cell of a list leads no output out of the folder that the template names",
        "config/rows.py",
        (("if _is_path(key) and after != STDOUT and", "if key in () and"),),
        "cli/test_batch.py -k 'beyond_its_job'",
    ),
    Mutant(
        "a stranger's settings obeyed",
        "settings that somebody else could have written are not obeyed unless they are named (SEC-09)",
        "config/reading.py",
        (("        refuse_foreign(near)\n", "        pass\n"),),
        "config/test_trust.py -k 'somebody_else'",
    ),
    Mutant(
        "whoever owns a folder is obeyed in it",
        "settings of the owner of the working folder are obeyed by root alone (SEC-09)",
        "config/trust.py",
        (("    if os.geteuid() != ROOT:\n", "    if not mine:\n"),),
        "config/test_trust.py -k 'owner_of_the_folder'",
    ),
    Mutant(
        "a key with a range of its own",
        "an option of a job has one range, typed, in a job file and in Python",
        "config/jobfile.py",
        (("        read = row.type.read(value)\n", "        read = value\n"),),
        "config/test_jobfile.py -k 'refused_by_its_key'",
    ),
    Mutant(
        "a setting that no row makes",
        "the setting that is an option's default is made from the option's row",
        "config/table.py",
        (("            pace=stored.field,\n", ""),),
        "config/test_options.py -k 'defaults_of_jobs'",
    ),
    Mutant(
        "cells name keys",
        "a cell of a list names no key of a service: what may name a secret, the option's row says",
        "config/rows.py",
        (
            (
                "    if row is not None and not row.option.is_secret:\n",
                '    if row is not None and key not in ("header", "proxy"):\n',
            ),
        ),
        "cli/test_batch.py -k 'beyond_its_job and model_key'",
    ),
    Mutant(
        "files of keys where a command runs",
        "a file that a job file names is beside that file, one with a secret, too",
        "config/jobfile.py",
        (('    return f"{before} {placed(rest, folder)}".lstrip()\n', "    return value\n"),),
        "config/test_jobfile.py -k 'with_a_secret'",
    ),
)
