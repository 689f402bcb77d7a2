"""Mutants of `testing`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "nothing is proven",
        "a proof in which nothing succeeded is none",
        "testing/recipes.py",
        (("undisturbed = _fruitful(calm.finish())", "undisturbed = calm.finish()"),),
        "testing/test_recipes.py -k proof_in_which",
    ),
)
