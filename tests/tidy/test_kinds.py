"""What a kind of job is stands in its `Kind`: outside recipes/ nothing compares the recipe of a job with a name."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from holdfast.recipes.catalogue import ENTRIES, NAMES, kind
from tidy.source_tree import Module, our_package


def comparisons(module: Module) -> Iterator[str]:
    """Where a recipe is compared, or a kind with a name, each as `path:line`. `is None` asks for no name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare) and not _asks_for_none(node):
            parts = [each for part in (node.left, *node.comparators) for each in _parts(part)]
        elif isinstance(node, ast.Match):
            patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
            parts = [*_parts(node.subject), *(each.value for each in patterns if isinstance(each, ast.MatchValue))]
        else:
            continue
        if any(map(_is_recipe, parts)) or (any(map(_is_kind, parts)) and any(map(_names_a_kind, parts))):
            yield f"{module.path}:{node.lineno}"


def _asks_for_none(node: ast.Compare) -> bool:
    return any(isinstance(each, ast.Constant) and each.value is None for each in node.comparators)


def _parts(node: ast.expr) -> list[ast.expr]:
    return [node, *node.elts] if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def _is_recipe(node: ast.expr) -> bool:
    """`job.recipe`, `row["recipe"]`, `recipe.name`, `asked.recipe.name`, `KIND.name`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "recipe"
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "recipe" or (node.attr == "name" and _name(node.value).lower() in ("kind", "recipe"))


def _is_kind(node: ast.expr) -> bool:
    """`kind`, `job.kind`, `recipe`. Other things are called a kind too, so only names of kinds count beside it."""
    return _name(node) in ("kind", "recipe")


def _names_a_kind(node: ast.expr) -> bool:
    """`"site"`, or a constant called after it."""
    if isinstance(node, ast.Constant):
        return node.value in NAMES
    return _name(node).isupper() and _name(node).lower() in NAMES


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_nothing_outside_recipes_compares_the_recipe_of_a_job() -> None:
    modules = [module for module in our_package().values() if module.part != "recipes"]
    found = [each for module in modules for each in comparisons(module)]
    assert found == [], "ask catalogue.kind_of(job), or catalogue.is_of(job, name)"


@pytest.mark.parametrize(
    "code",
    ['job.recipe == "site"', "job.recipe != SITE", "job.recipe in catalogue.NAMES", 'kind in ("site", x)',
     '(verb, job.recipe) == ("rescan", SITE)', 'description.kind == "cases"', "self.kind == CASES",
     'match job.recipe:\n    case "site": pass', "job.recipe == recipe.name", "named.recipe == recipe", "a == b.recipe",
     'row["recipe"] != name', "name == KIND.name", "asked.recipe.name in names", 'match kind:\n    case "site": pass'],
)  # fmt: skip
def test_such_comparisons_are_found(code: str) -> None:
    assert list(comparisons(Module("cli/x.py", "holdfast.cli.x", False, ast.parse(code), code)))


@pytest.mark.parametrize("code", ['asked.get("iax") == "images"', 'lease.kind == "work"', "kind.recipe is None"])
def test_words_that_are_no_kinds_are_let_be(code: str) -> None:
    assert not list(comparisons(Module("cli/x.py", "holdfast.cli.x", False, ast.parse(code), code)))


def test_the_catalogue_and_every_kind_load_without_the_code_of_a_recipe() -> None:
    code = (
        "import sys; from holdfast.recipes import catalogue; "
        "ours = lambda: {name for name in sys.modules if name.startswith('holdfast.recipes.')}; "
        "print(sorted(ours())); catalogue.every_kind(); "
        "print([name for name in ours() if name.endswith(('.recipe', '.step'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['holdfast.recipes.catalogue']", "[]"]


@pytest.mark.parametrize("recipe", [*NAMES, "somebodys.py"])
def test_a_process_of_which_workers_are_forked_loads_the_recipe_of_its_job_alone(recipe: str) -> None:
    code = (
        f"import sys; from holdfast.wiring import load_adapters; from holdfast.config import Settings; "
        f"load_adapters(Settings(), {recipe!r}); "
        "print([name for name in sys.modules if name.startswith('holdfast.recipes.') and name.endswith('.recipe')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([f"holdfast.recipes.{recipe}.recipe"] if recipe in NAMES else [])


def test_every_entry_says_of_itself_what_its_kind_says() -> None:
    assert [(kind(entry.name).name, kind(entry.name).command) for entry in ENTRIES] == [
        (entry.name, entry.command) for entry in ENTRIES
    ]
