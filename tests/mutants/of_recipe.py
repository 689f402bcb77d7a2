"""Mutants of `recipe`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a natural key is forgotten",
        "a target with a natural key is one target, whatever its URL (CAS-10)",
        "recipe/contract.py",
        (("        key = key_of_name(name, self.salt) if name else", "        key ="),),
        "ledger/test_conformance_planning.py -k 'sqlite and natural_key'",
    ),
    Mutant(
        "provenance overwritten",
        "a record cannot say that it comes from elsewhere than it does",
        "recipe/yields.py",
        (("    if taken := [name for name in FROM_WHERE if name in fields]:", "    if taken := []:"),),
        "recipes/test_custom.py -k keeps_the_names",
    ),
    Mutant(
        "any cancelling is ours",
        "a page is handed back unspent only where we interrupted it",
        "recipe/blame.py",
        (("    return task is None or not task.cancelling()\n", "    return task is None\n"),),
        "engine/test_session.py -k 'ends_programs'",
    ),
    Mutant(
        "an exit of a recipe is ours",
        "a recipe that exits fails its target or its plan, never the command",
        "recipe/blame.py",
        (("RAISED = (Exception, SystemExit, ", "RAISED = (Exception, "),),
        "recipes/test_custom.py -k 'a_plan_that_raises_what_ends_programs'",
    ),
    Mutant(
        "any end tag makes a page lighter",
        "no small page grows into a tree of gigabytes (SEC-07)",
        "recipe/open_elements.py",
        (("            self._loosen(*self.formatting.pop()[1:])\n", "            self.formatting.pop()\n"),),
        "recipes/test_page.py -k 'hostile_shape and any'",
    ),
    Mutant(
        "a tree of any depth",
        "a page nested so deeply that its tree takes seconds is refused (SEC-07)",
        "recipe/weight.py",
        (("        if elements.work > WORK_MAX:\n", "        if elements.work > 100 * WORK_MAX:\n"),),
        "recipes/test_page.py -k 'just_under'",
    ),
    Mutant(
        "a tree of any number of elements",
        "a page whose tree takes more than its memory is refused (SEC-07)",
        "recipe/weight.py",
        (("        if elements.nodes > NODES_MAX:\n", "        if elements.nodes > 100 * NODES_MAX:\n"),),
        "recipes/test_page.py -k 'just_under'",
    ),
)
