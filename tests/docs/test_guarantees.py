"""Whatever guarantees.md calls a proof exists: tests by name, mutants of the table, laws of the audit."""

from __future__ import annotations

import ast
import re
from functools import cache

from docs.reading import DOCS, text_of
from holdfast.audit.verify import check_names
from mutants.mutants import MUTANTS
from tidy.source_tree import ROOT

WITH_A_WITNESS = {"L1", "L3", "O3"}


def promises() -> dict[str, dict[str, list[str]]]:
    """Heading -> kind of proof -> names."""
    by_hand = text_of(DOCS / "guarantees.md").partition("\n## Not claimed")[0]
    sections = re.split(r"^## ", by_hand, flags=re.MULTILINE)[1:]
    return {section.partition("\n")[0]: proofs(section) for section in sections}


def proofs(section: str) -> dict[str, list[str]]:
    bullets = re.findall(r"^- (\w+): ((?:.|\n  )*)", section, re.MULTILINE)
    return {kind: re.findall(r"`([^`]+)`", names) for kind, names in bullets}


def named(kind: str) -> set[str]:
    return {name for section in promises().values() for name in section.get(kind, ())}


@cache
def existing_tests() -> frozenset[str]:
    """Every test function of the project and of the suites that it ships."""
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests" / "conformance").rglob("*.py")]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, functions)}
    return frozenset(name for name in names if name.startswith("test_"))


def test_every_promise_names_a_test() -> None:
    assert len(promises()) > 10
    assert [promise for promise, found in promises().items() if not found.get("Tests")] == []


def test_every_test_that_is_named_exists() -> None:
    assert named("Tests") - existing_tests() == set()


def test_every_mutant_that_is_named_exists() -> None:
    """That each one of the table is shown at all is the business of the generated part of the page."""
    assert named("Mutants")
    assert named("Mutants") - {mutant.name for mutant in MUTANTS} == set()


def test_every_law_that_is_named_is_checked_by_verify_or_needs_a_witness() -> None:
    laws = {name.partition(".")[0] for name in check_names()} | WITH_A_WITNESS
    assert named("Laws") - laws == set()


def test_nothing_is_promised_that_reports_may_not_say() -> None:
    said = " ".join(text_of(path).lower() for path in (ROOT / "README.md", DOCS / "guarantees.md"))
    assert not re.search(r"100 ?% (safe|reliable)|never loses|guaranteed exactly once", said)
