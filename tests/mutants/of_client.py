"""Mutants of `client`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "rows of a list are submitted one by one",
        "in Python, too, a list is used as a whole, or not at all",
        "client/core.py",
        (("            check(ledger, rows[-1], self._settings.browser)\n", ""),),
        "client/test_jobs.py -k 'rows_of_a_list or other_inputs_keeps'",
    ),
    Mutant(
        "Python looks only where it can write",
        "a job in a folder that cannot be written can be looked at from Python",
        "client/facade.py",
        (("with closing(wiring.open_to_look(self._settings))", "with closing(wiring.open_ledger(self._settings))"),),
        "client/test_sealed_folder.py -k 'looked_at'",
    ),
    Mutant(
        "arguments of any kind are let in",
        "in Python every error of Holdfast is a HoldfastError, whatever it was handed",
        "client/arguments.py",
        (("    if not _fits(value, wanted):\n", "    if value is wanted:\n"),),
        "client/test_arguments.py",
    ),
    Mutant(
        "options of a kind unread",
        "an option of one kind has its range and its form in Python, too",
        "client/options.py",
        (
            (
                "        read = _read(name, value, row)\n",
                "        read = _read(name, value, row) if row.stored else value\n",
            ),
        ),
        "client/test_arguments.py -k 'range_of_their_row or keeps_them'",
    ),
)
