"""One name, one public class: a reader who searches for a class finds one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from tidy.source_tree import Module, our_package


def collisions(modules: Iterable[Module]) -> list[str]:
    """Each name of several public classes, with the places that define it. Nested classes count."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{module.path}:{node.lineno}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def test_no_two_public_classes_have_one_name() -> None:
    found = collisions(our_package().values())
    assert not found, "\ngive one of them the noun that says what it is:\n" + "\n".join(found)


def test_a_collision_is_found_and_a_private_class_is_none() -> None:
    def module(path: str, code: str) -> Module:
        return Module(path, path, False, ast.parse(code), code)

    found = collisions(
        [
            module("model/pond.py", "class Frog: ...\nclass _Spawn: ..."),
            module("views/pond.py", "def f():\n    class Frog: ...\nclass _Spawn: ..."),
        ]
    )
    assert found == ["Frog: model/pond.py:1, views/pond.py:2"]
